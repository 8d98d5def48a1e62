//! The twelve operations of the API. They know neither HTTP nor MCP: a caller and arguments in, a JSON body or an error out.
//!
//! A request reads one view: an index and the counts of one Eastern day. A new snapshot or a new day swaps the view
//! (`arc-swap`); requests that have started finish on the old one, and no request waits for a lock.
//!
//! # Files, in reading order
//!
//! - `operations`: an index with the answers that change once a day, the operations that read it, why one is refused
//! - `api`: the service: keys, quotas, the current view, and the choice of the operation

mod api;
mod operations;

pub(super) use api::{Clock, Service, Versioned};
pub(super) use operations::{ApiError, NextPage};
