//! Records, events and rows of one business.
//!
//! # Files, in reading order
//!
//! - [`event`]: one event
//! - [`record`]: one business in one file
//! - [`packed`]: records and events in few bytes, for the spool
//! - [`rows`]: the rows of a business
//! - `difference`: what differs between two states of a business
//! - [`stored`]: records and events as the lake stores them
//! - [`merge`]: records and events of a business over time

mod difference;
pub mod event;
pub mod merge;
pub mod packed;
pub mod record;
pub mod rows;
pub mod stored;
