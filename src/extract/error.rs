//! Why extraction stopped.

use crate::client::ClientError;

/// What extraction returns.
pub(crate) type Result<T, E = ExtractError> = std::result::Result<T, E>;

/// Why the archive of pages or the store of rows failed.
pub(crate) type StoreError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ExtractError {
    /// A request gave no usable answer, or may not be sent.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// An answer could not be archived, or rows could not be handed over.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// A request under way whose answer never came; only a bug causes this.
    #[error("the request GET {target} was lost")]
    Lost { target: String },
    /// A page that does not answer its request.
    #[error("GET {target} answered outside its contract: {reason}")]
    WrongPage { target: String, reason: String },
    /// Pages that contradict each other in the same way each time they are read.
    #[error("GET {target} answered outside its contract: {reason}")]
    NoProgress { target: String, reason: String },
}

impl ExtractError {
    /// Whether the API rejected the query (400): a value that it does not accept, a day to come, or an offset above the plan's
    /// max offset. The caller knows which of them its query contains.
    pub(crate) fn is_rejected_query(&self) -> bool {
        self.is_refused_with(400)
    }

    pub(crate) fn is_refused_with(&self, status: u16) -> bool {
        matches!(self, Self::Client(ClientError::Refused { status: refused, .. }) if *refused == status)
    }
}
