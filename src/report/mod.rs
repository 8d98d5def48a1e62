//! The report of a snapshot: one HTML file that needs nothing else, from plain values, without I/O.
//!
//! No script, no font, no picture from elsewhere: the content security policy of the page forbids all of them. Every
//! text of the lake is escaped, since names and counties are what strangers typed.

mod calendar;
mod chart;
mod data;
mod map;
mod number;
mod page;
mod run;
mod table;

pub use data::{IncompleteDay, RegisterFacts, ReportData, RunFacts, TableRows};
pub use page::render;
