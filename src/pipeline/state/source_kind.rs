//! The two kinds of API that a lake can be filled from.

use serde::{Deserialize, Serialize};

/// What kind of API filled a lake; a lake never holds rows of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// The sample that the program serves itself.
    Embedded,
    /// An account's API.
    Account,
}

impl std::fmt::Display for SourceKind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Embedded => "the embedded sample",
            Self::Account => "an account's API",
        })
    }
}
