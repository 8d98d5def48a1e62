//! Who may call the API, and how often.
//!
//! The server stores digests of keys, never keys. Limits belong to an account; all its keys share one count.
//!
//! # Files, in reading order
//!
//! - [`key_file`]: accounts and keys in TOML
//! - `keys_error`: why they cannot be used or changed
//! - `unique`: what may be in it once only
//! - `key_text`: changes of its text that keep comments and layout
//! - `replace_file`: a new text that keeps owner, mode and links
//! - `erased_key`: a key closed on a full disk
//! - [`access`]: key → caller, and the limits of a test instance
//! - `counted`: the result of a count, the metrics and the errors
//! - `usage_file`: request counts on disk, a line an account
//! - `usage_account`: the counts of an account, and what the file has of them
//! - `usage_writer`: that file while a server writes it
//! - `file_counts`: request counts in a file, which survive a crash
//! - `shared`: request counts in a store that several servers share
//! - [`usage_meter`]: one or the other, by one call a request
//! - `last_use`: when each key was used last

mod access;
mod counted;
mod erased_key;
mod file_counts;
mod key_file;
mod key_text;
mod keys_error;
mod last_use;
mod replace_file;
mod shared;
mod unique;
mod usage_account;
mod usage_file;
mod usage_meter;
mod usage_writer;

pub(crate) use access::Accounts;
pub(super) use access::Caller;
pub use access::LimitOverride;
pub use counted::MeterError;
pub(super) use counted::{Admission, UsageMetrics, Use};
pub(super) use file_counts::FileCounts;
pub(crate) use key_file::{KEY_PREFIX, KeyFile, KeyRecord, KeyRequest, KeyState};
pub use keys_error::KeysError;
pub(crate) use last_use::{LastUse, LastUses};
pub(super) use shared::SharedCounts;
pub(crate) use shared::{AddressError, StoreAddress, last_uses};
pub(super) use usage_meter::Meter;
