//! Request counts in Redis or Valkey, which several servers share, because limits belong to the account.
//!
//! An account has one hash, `sunlake:usage:{ACCOUNT}`. A request is one call of one script, which is atomic. The clock is the store's.
//!
//! # Files, in reading order
//!
//! - [`address`]: where the store is
//! - [`fault`]: why a store cannot be used
//! - [`script`]: the call of `count.lua`, and its reply
//! - [`counts`]: the counts, the connection, and a store that cannot be used
//! - [`uses`]: when each key was used last

mod address;
mod counts;
mod fault;
#[cfg(test)]
#[path = "../../../../tests/it/support/free_port.rs"]
mod free_port;
#[cfg(test)]
#[expect(dead_code, reason = "the tests of the binary use the rest")]
#[path = "../../../../tests/it/support/redis.rs"]
mod redis_for_tests;
mod script;
#[cfg(test)]
mod tests;
mod uses;

pub(crate) use address::{AddressError, StoreAddress};
pub(in crate::serve) use counts::SharedCounts;
pub(crate) use uses::last_uses;
