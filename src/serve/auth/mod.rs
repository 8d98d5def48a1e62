//! Who may call the API, and how often.
//!
//! The server stores digests of keys, never keys. Limits belong to an account; all its keys share one count.
//!
//! # Files, in reading order
//!
//! - [`key_file`]: accounts and keys in TOML
//! - `key_text`: changes of its text that keep comments and layout
//! - `replace_file`: a new text that keeps owner, mode and links
//! - [`access`]: key → caller, and the limits of a test instance
//! - [`usage_meter`]: request counts that survive a crash

pub(super) mod access;
pub(super) mod key_file;
mod key_text;
mod replace_file;
pub(super) mod usage_meter;

pub(crate) use access::Accounts;
pub(super) use access::Caller;
pub use access::LimitOverride;
pub use key_file::KeysError;
pub(crate) use key_file::{KeyFile, KeyRequest};
pub(super) use usage_meter::Meter;
pub use usage_meter::MeterError;
