//! The twelve operations of the API. They know neither HTTP nor MCP: a caller and arguments in, a JSON body or an error out.
//!
//! A request reads one view: an index and the counts of one Eastern day. A new snapshot or a new day swaps the view
//! (`arc-swap`); requests that have started finish on the old one, and no request waits for a lock.
//!
//! # Files, in reading order
//!
//! - `error`: why a request is refused
//! - `operations`: an index with the answers that change once a day, and the operations that read it
//! - `api`: the service: keys, quotas, the current view, and the choice of the operation

mod api;
mod error;
mod operations;

pub(super) use api::{Clock, Service};
pub(super) use error::ApiError;
