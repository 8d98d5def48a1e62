//! The account record, `GET /v1/me`, which has no `data` wrapper.
//!
//! Source: API document, "Account record".

use serde::{Deserialize, Serialize};

/// Key, scopes, caps, and requests that remain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Kind of key; a client key reports `client`.
    pub kind: String,
    /// Key id.
    pub id: String,
    /// Scopes, for example `data`.
    pub scopes: Vec<String>,
    /// Caps of the account.
    pub limits: AccountLimits,
    /// Requests left in each window.
    pub remaining: Remaining,
}

/// Request caps of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountLimits {
    /// Requests a minute.
    pub per_minute: u32,
    /// Requests an Eastern day.
    pub per_day: u32,
    /// Requests an Eastern month.
    pub per_month: u32,
}

/// Requests left in each window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remaining {
    /// Left this minute.
    pub minute: u32,
    /// Left this Eastern day.
    pub day: u32,
    /// Left this Eastern month.
    pub month: u32,
}
