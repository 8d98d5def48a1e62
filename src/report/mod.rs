//! The report of a snapshot: one self-contained HTML file, made from plain values without I/O.
//!
//! No script, font or picture from another place: the page's content security policy forbids them. Every
//! text from the lake is escaped, because anyone can file a name.
//!
//! # Files, in reading order
//!
//! - `data`: the values that the report shows
//! - `page`: the page and its sections
//! - `calendar`: the calendar of complete days
//! - `chart`: bars by day and weekday
//! - `map`: the map of counties
//! - `table`: the figures of the run, tables of figures
//! - `number`: numbers as people read them

mod calendar;
mod chart;
mod data;
mod map;
mod number;
mod page;
mod table;

pub(crate) use data::{IncompleteDay, RegisterFacts, ReportData, RunFacts, TableRows};
pub(crate) use page::render;
