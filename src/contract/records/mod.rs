//! The records of a page of a listing, read in one pass where they have the documented form, and as sent where one has another.
//!
//! Source: API document, "Business summary record".
//!
//! # Files, in reading order
//!
//! - `record_text`: one record as JSON
//! - `layout`: records that differ in their texts alone
//! - `summaries`: a page's records

mod layout;
mod record_text;
mod summaries;

pub(crate) use summaries::{ListedPage, Records, Summaries, SummaryText};
