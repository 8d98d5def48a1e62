//! TODO page.

pub mod change_rate;
pub mod cost;
pub mod day_range;
