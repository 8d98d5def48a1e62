//! Maintenance of a lake without the API.
//!
//! # Files, in reading order
//!
//! - `status`: snapshots, coverage, requests and runs of a lake
//! - `replay`: rebuilding a run's snapshots from its archived pages
//! - `prefix_losses`: prefixes of the register that lost rows
//! - `repair`: repairing damaged files

mod prefix_losses;
pub(crate) mod repair;
pub(crate) mod replay;
pub(crate) mod status;
