//! Why a request is refused.

use crate::contract::error::{ErrorBody, Message, Violation};

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ApiError {
    /// No key, or an unknown one: 401.
    #[error("the API key is missing or not valid; send it as Authorization: Bearer <API_KEY>")]
    Unauthorized { key_sent: bool },
    /// The account's plan has no API access: 403.
    #[error("the plan of this account has no API access")]
    NoApiAccess,
    /// The key lacks the `data` scope: 403.
    #[error("the key lacks the data scope")]
    MissingScope,
    /// A quota of the account is used up: 429.
    #[error("the account is over a request limit; wait {retry_after_secs} s")]
    OverLimit { retry_after_secs: u64 },
    /// Broken rules, all of one status: 400 or 403.
    #[error("{}", message_of(.0))]
    Broken(Vec<Violation>),
    /// No such business, county or detail: 404.
    #[error("{0}")]
    NotFound(String),
}

impl ApiError {
    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::Unauthorized { .. } => 401,
            Self::NoApiAccess | Self::MissingScope => 403,
            Self::OverLimit { .. } => 429,
            Self::Broken(violations) => violations.first().map_or(400, |violation| violation.status),
            Self::NotFound(_) => 404,
        }
    }

    /// The error body; one text for one problem, a list for several.
    pub(crate) fn body(&self, docs_url: &str) -> ErrorBody {
        let message = match self {
            Self::Broken(violations) => message_of(violations),
            other => Message::One(other.to_string()),
        };
        ErrorBody { status_code: self.status(), message, docs_url: docs_url.to_owned() }
    }
}

impl From<Vec<Violation>> for ApiError {
    fn from(violations: Vec<Violation>) -> Self {
        Self::Broken(violations)
    }
}

fn message_of(violations: &[Violation]) -> Message {
    Message::from_list(violations.iter().map(|violation| violation.message.clone()).collect())
}
