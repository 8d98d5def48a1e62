//! Where a lake is stored, and what the commit protocol asks of that place.
//!
//! 2 backends exist: a folder, and an object store with a folder as its working copy. A commit has the same 3 steps in
//! both: stage the files, create the commit file if it is absent, advance the pointer that readers follow. Before the
//! second step nothing has happened. After it the new snapshot is the lake. Delta Lake and `object_store` call the second
//! step put-if-absent; it makes the commit optimistic: of 2 concurrent writers 1 wins, the other gets a conflict.
//!
//! # Files, in reading order
//!
//! - [`protocol`]: the trait `Backend`; `Repair`, what a recovery did; the copy of a commit in its run's folder
//! - [`disk`]: every operation that changes the local disk; digests of files
//! - [`local`]: the backend that is a folder
//! - `copied_link`: `current` in a copy of a lake, made by a program that follows links
//! - [`url`]: which object store an address means
//! - `http_way`: which requests a proxy of the environment may carry
//! - [`blocking`]: asynchronous requests for blocking callers
//! - `deletion`: deletes objects, many with one request or one by one
//! - [`object_client`]: every request to an object store
//! - [`prefix`]: files of others under a prefix of an object store
//! - [`remote_cache`]: a lake in an object store: its working copy, and its pages in chunks
//! - `remote`: what makes it a backend, with its pointer `latest.json`

mod blocking;
mod copied_link;
mod deletion;
pub(super) mod disk;
#[cfg(test)]
pub(super) mod fault_injection;
pub(super) mod http_way;
pub(super) mod local;
pub(super) mod object_client;
#[cfg(test)]
pub(super) mod power_loss;
pub(super) mod prefix;
pub(super) mod protocol;
mod remote;
pub(super) mod remote_cache;
pub(super) mod url;
