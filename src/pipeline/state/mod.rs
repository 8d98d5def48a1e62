//! What a run learns and the next one uses. It is stored in the commit, so that data and state change together.
//!
//! # Files, in reading order
//!
//! - `run_state`: the state of a lake after a run: its source, days, look-ups, backoff
//! - [`registry`]: how far the register has been read
//! - `newest_lists`: which lists and counts are the newest
//! - `learn`: what a run learned about days
//! - `provenance`: how a snapshot was made, for replays

mod learn;
pub(super) mod newest_lists;
pub(super) mod provenance;
pub mod registry;
pub(super) mod run_state;

pub(crate) use run_state::RunState;
pub use run_state::SourceKind;
