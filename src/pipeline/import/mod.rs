//! A run that imports the state's files instead of reading the API.
//!
//! # Files, in reading order
//!
//! - `known`: what the lake has read, and which dates follow from that
//! - `sets`: what only all files of a quarterly set show
//! - `folder`: the files of `[import] folder`, wherever it is, and which of them are read
//! - `places`: the month of each business and event
//! - `month`: the merge of one month
//! - `batches`: rows of a month, as the lake has them and as they become
//! - `months`: the merge of all months, by several threads
//! - `load`: files of a folder → the next snapshot
//! - `coverage`: how complete each day is
//! - `run`: the order of such a run

mod batches;
mod coverage;
mod folder;
pub(super) mod known;
mod load;
mod month;
mod months;
mod places;
pub(super) mod run;
mod sets;
