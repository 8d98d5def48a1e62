//! Reads the API completely within its limits: which requests to send, in which order, and the proof that no row is missing.
//!
//! The API lists rows in pages, up to a maximum offset. What one query can reach (rows per call plus max offset) is its
//! *reach*. A listing larger than that is read by the date walk ([`listing`]), and single days over reach are split by filters
//! ([`query`], [`plan`]). Every listing is checked: distinct ids must equal the API's `total`.
//!
//! The order of requests depends on answers alone. A run that was killed sends the same requests again, and the archive answers
//! those that were answered before ([`fetch`]).
//!
//! Knows no Arrow and no disk.
//!
//! # Files, in reading order
//!
//! - [`error`]: why extraction stopped
//! - [`fetch`]: sends one request after another; answers from the archive when it can
//! - `alongside`: drives requests during other work
//! - `reference`: account, lists, counts, and the plan's limits
//! - [`query`]: a query over a range of days, its rows, and the narrower queries it can be split into
//! - [`plan`]: which days are read together, and what reading costs
//! - [`listing`]: one listing, read completely and checked
//! - [`registry`]: all names with a prefix, of any age
//! - [`detail`]: one business: its details, its officers

mod alongside;
pub mod detail;
pub mod error;
pub mod fetch;
pub mod listing;
pub mod plan;
pub mod query;
pub mod reference;
pub mod registry;

pub(crate) use error::ExtractError;
pub use reference::PlanOverride;
