//! Which days are read together, how days over reach are split, and what reading costs (pure).
//!
//! The date walk reads a long range of days with at most half a page extra. Only a single day over reach
//! needs a split by a filter. So days are grouped into ranges: days within reach are walked, days over reach are read in parts. The dimension of
//! the split is the one with the least expected cost: half a page for each part, the cost of parts that are over reach
//! themselves, and the search for rows that no part returned.
//!
//! # Files, in reading order
//!
//! - [`cost`]: what is known of a query, the split with the least cost, and the requests that reading takes
//! - [`day_range`]: which days are read together
//! - [`change_rate`]: how often days change after they were read, learned from earlier runs

pub mod change_rate;
pub mod cost;
pub mod day_range;
