//! Who may call the API, and how often.
//!
//! The server stores digests of keys, never keys. Limits belong to an account; all its keys share one count.
//!
//! # Files, in reading order
//!
//! - [`key_file`]: accounts and keys in TOML
//! - [`limit_override`]: limits of a test instance
//! - [`access`]: key → caller
//! - [`usage_meter`]: request counts that survive a crash

pub(super) mod access;
pub(super) mod key_file;
mod limit_override;
pub(super) mod usage_meter;

pub(crate) use access::Accounts;
pub(super) use access::Caller;
pub use key_file::KeysError;
pub(crate) use key_file::{KeyFile, KeyRequest};
pub use limit_override::LimitOverride;
pub(super) use usage_meter::Meter;
pub use usage_meter::MeterError;
