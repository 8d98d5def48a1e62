//! One stage of a run and its cost.

use serde::Serialize;

pub(crate) const REFERENCE: &str = "reference";

/// One stage of a run and its cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct StagePrice {
    pub(crate) name: String,
    /// Queries, each read to its end.
    pub(crate) slices: u64,
    pub(crate) rows: u64,
    pub(crate) requests: u64,
}

impl StagePrice {
    /// A stage that sends `requests` for `rows` rows, one query each.
    pub(crate) fn new(name: &str, rows: u64, requests: u64) -> Self {
        Self { name: name.to_owned(), slices: requests, rows, requests }
    }
}
