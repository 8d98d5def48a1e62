//! One stage of a run and its cost.

use serde::Serialize;

pub(crate) const REFERENCE: &str = "reference";

/// One stage of a run and its cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StagePrice {
    /// Name of the stage.
    pub name: String,
    /// Queries, each read to its end.
    pub slices: u64,
    /// Rows that it reads.
    pub rows: u64,
    /// Requests that it sends.
    pub requests: u64,
}

impl StagePrice {
    /// A stage that sends `requests` for `rows` rows, one query each.
    pub(crate) fn new(name: &str, rows: u64, requests: u64) -> Self {
        Self { name: name.to_owned(), slices: requests, rows, requests }
    }
}
