//! A query over a range of days: its filter, the rows it would return, and the narrower queries it can be split into.
//!
//! Extraction keeps, of every row, what a filter can compare ([`row`], [`row_set`]). So it can count the rows of any query
//! without a request. How rows are distributed over the values of a filter is learned from them ([`histogram`]). It predicts
//! how many rows each part of a query has ([`split`]).
//!
//! # Files, in reading order
//!
//! - [`row`]: what is kept of a row
//! - `slice`: a filter over a range of days
//! - [`row_set`]: the rows of one listing, by id and by day
//! - [`histogram`]: how rows are distributed over sectors, types, ZIP prefixes and cities
//! - [`split`]: the narrower filters of a query along one dimension

pub mod histogram;
pub mod row;
pub mod row_set;
pub mod slice;
pub mod split;
