//! Errors on the wire, and the rules a request broke.
//!
//! Source: API document, "Errors".

use serde::{Deserialize, Serialize};

/// A rule that a request broke, described for its sender.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Violation {
    /// HTTP status: 400, or 403 for a day before the plan's window.
    pub status: u16,
    /// Parameter it concerns; empty for a rule that concerns several.
    pub parameter: &'static str,
    /// The parameter, its value, and the values that are allowed.
    pub message: String,
}

impl Violation {
    /// A broken rule of the query: status 400.
    pub fn invalid(parameter: &'static str, message: impl Into<String>) -> Self {
        Self { status: 400, parameter, message: message.into() }
    }

    /// A day before the plan's window: status 403.
    pub fn before_window(parameter: &'static str, message: impl Into<String>) -> Self {
        Self { status: 403, parameter, message: message.into() }
    }
}

/// `message` of an error: a text, or a list when several parameters are wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Message {
    /// One problem.
    One(String),
    /// Several problems.
    Many(Vec<String>),
}

impl Message {
    /// One text for one problem, a list for several.
    pub fn from_list(mut messages: Vec<String>) -> Self {
        match messages.len() {
            1 => Self::One(messages.remove(0)),
            _ => Self::Many(messages),
        }
    }
}

impl std::fmt::Display for Message {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::One(text) => out.write_str(text),
            Self::Many(texts) => out.write_str(&texts.join("; ")),
        }
    }
}

/// Body of every failed call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct ErrorBody {
    #[serde(rename = "statusCode")]
    pub status_code: u16,
    pub message: Message,
    /// Link to the full reference in Markdown.
    pub docs_url: String,
}
