//! What a run learns and the next one uses. It is stored in the commit, so that data and state change together.
//!
//! # Files, in reading order
//!
//! - `run_state`: the state of a lake after a run
//! - `source_kind`: the two kinds of API
//! - [`registry`]: how far the register has been read
//! - [`enrich`]: results of look-ups that are not rows
//! - `read_backoff`: backoff of days whose readings stay incomplete
//! - `newest_lists`: which lists and counts are the newest
//! - `learn`: what a run learned about days
//! - `provenance`: how a snapshot was made, for replays

pub(crate) mod enrich;
mod learn;
pub(super) mod newest_lists;
pub(super) mod provenance;
pub(super) mod read_backoff;
pub mod registry;
pub(super) mod run_state;
pub(super) mod source_kind;

pub(crate) use run_state::RunState;
pub use source_kind::SourceKind;
