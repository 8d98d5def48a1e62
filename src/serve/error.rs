//! Why a server could not start, or failed when it ended.

use super::auth::{KeysError, MeterError};
use super::load::LoadError;
use crate::lake::LakeError;
use std::path::PathBuf;

/// Error of a server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The lake has no snapshot yet.
    #[error("the lake {0} has no current snapshot; `sunlake run` makes one")]
    NoSnapshot(PathBuf),
    /// The link to the current snapshot cannot be read.
    #[error("cannot read {0}: {1}")]
    Unreadable(PathBuf, #[source] std::io::Error),
    /// The lake in an object store cannot be read.
    #[error(transparent)]
    Lake(#[from] LakeError),
    /// The snapshot cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The key file cannot be used.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The request counts cannot be kept.
    #[error(transparent)]
    Meter(#[from] MeterError),
    /// The listener has no address.
    #[error("the listener has no address: {0}")]
    Listener(std::io::Error),
    /// The thread that loads the snapshot panicked.
    #[error("loading the snapshot failed: {0}")]
    Panicked(#[from] tokio::task::JoinError),
}
