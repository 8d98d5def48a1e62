//! Wrappers of responses: pages of lists, and single records.
//!
//! Source: API document, "Pagination block".

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Position of a page in its listing.
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
    /// Their position in the listing.
    pub pagination: Pagination,
}

/// A response whose `data` is one record, or a list without pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data<T> {
    /// The record or the list.
    pub data: T,
}

/// The content of a JSON text without escapes, not copied; none for another text or another value.
pub(crate) fn plain_text(value: &RawValue) -> Option<&str> {
    let text = value.get().strip_prefix('"')?.strip_suffix('"')?;
    (!text.contains('\\')).then_some(text)
}
