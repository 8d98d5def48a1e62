//! API answers → rows and rejects. One bad record never stops a run.
//!
//! Every record of an answer becomes either a row or a [`Reject`]. Texts are kept as sent,
//! with their spaces and spelling; only document numbers change to upper case, and a column of its own has the city
//! in one spelling. A field that the API document
//! does not list goes to `extra` and is counted; an unknown value is kept.
//!
//! # Files, in reading order
//!
//! - `field`: one JSON object, field by field
//! - `answer`: one answer, cut into records; records that cannot be normalized
//! - `city`: one spelling for each city
//! - `business`: records of a listing
//! - `summary`: those of the documented form
//! - `detail`: records of a look-up: a business, its officers
//! - `open_values`: values never seen before

mod answer;
mod business;
mod city;
mod detail;
mod field;
mod open_values;
mod summary;

pub use answer::{Place, Reject};
pub use business::{NormalizedPage, normalize_page};
pub use city::city_clean;
pub use detail::{NormalizedDetail, NormalizedOfficers, normalize_detail, normalize_officers};
pub use field::UnknownFields;
pub use open_values::OpenValues;
pub(crate) use summary::SummaryReader;
