//! API answers → rows and rejects. One bad record never stops a run.
//!
//! Every record of an answer becomes either a row or a [`Reject`]. Texts are kept as sent,
//! with their spaces and spelling; only document numbers change to upper case. A field that the API document
//! does not list goes to `extra` and is counted; an unknown value is kept.
//!
//! # Files, in reading order
//!
//! - `answer`: one answer, cut into records
//! - `field`: one JSON object, field by field
//! - `business`: records of a listing
//! - `detail`: records of a look-up
//! - `officer`: officers of a business
//! - `reject`: records that cannot be normalized
//! - `open_values`: values never seen before

mod answer;
mod business;
mod detail;
mod field;
mod officer;
mod open_values;
mod reject;

pub use business::{NormalizedPage, normalize_page};
pub use detail::{NormalizedDetail, normalize_detail};
pub use field::UnknownFields;
pub use officer::{NormalizedOfficers, normalize_officers};
pub use open_values::OpenValues;
pub use reject::{Place, Reject};
