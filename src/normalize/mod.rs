//! Answers as received → rows, and rejects. One bad record never stops a run.
//!
//! Every record of an answer becomes a row or a [`Reject`], never both and never neither. Texts are kept as sent,
//! spaces and spelling included; only document numbers are brought to upper case. A field that the API document
//! does not know goes to `extra` and is counted; a value never seen before is kept.

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
