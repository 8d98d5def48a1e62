//! The account record, `GET /v1/me`, which has no `data` wrapper.
//!
//! Source: API document, "Account record".

use serde::{Deserialize, Serialize};

/// Key, scopes, caps, and requests that remain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct Account {
    /// Kind of key; a client key reports `client`.
    pub kind: String,
    pub id: String,
    /// Scopes, for example `data`.
    pub scopes: Vec<String>,
    pub limits: AccountLimits,
    pub remaining: Remaining,
}

/// Request caps of an account; days and months are Eastern ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct AccountLimits {
    pub per_minute: u32,
    pub per_day: u32,
    pub per_month: u32,
}

/// Requests left in each window; days and months are Eastern ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remaining {
    /// Requests left this minute.
    pub minute: u32,
    /// Requests left this Eastern day.
    pub day: u32,
    /// Requests left this Eastern month.
    pub month: u32,
}
