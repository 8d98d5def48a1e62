//! Wrappers of answers: pages of lists, and single records.
//!
//! Source: API document, "Pagination block".

use serde::{Deserialize, Serialize};

/// Where a page stands in its listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pagination {
    /// The limit applied, after reduction to the plan's rows per call.
    pub limit: u32,
    /// Rows before this page.
    pub offset: u32,
    /// Whether rows follow this page.
    pub has_more: bool,
    /// All matching rows.
    pub total: u64,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// The rows, in the order of the listing.
    pub data: Vec<T>,
    /// Where they stand.
    pub pagination: Pagination,
}

/// An answer whose `data` is one record, or a list that is not paginated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data<T> {
    /// The record or the whole list.
    pub data: T,
}
