//! The small files of a lake, and the names of all its files. Reads and writes nothing.
//!
//! # Files, in reading order
//!
//! - [`layout`]: names and paths, and the texts that never become one
//! - [`sealed_json`]: JSON that ends with the digest of its own bytes
//! - [`manifest`]: the commit of a snapshot, with one entry for each file
//! - [`run_record`]: the record of a run

pub(super) mod layout;
pub(super) mod manifest;
pub(super) mod run_record;
pub(super) mod sealed_json;
