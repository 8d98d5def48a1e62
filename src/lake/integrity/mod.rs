//! Integrity: verification of a lake, and the repair of damaged files.
//!
//! Every data file has its size and blake3 digest in a commit, and every small file ends with its own digest. So
//! damage is found without a second copy. A damaged file is repaired from an intact copy, or made again from archived
//! pages, byte for byte.
//!
//! # Files, in reading order
//!
//! - `verify`: what is found; the files of one snapshot
//! - `audit`: all of a lake
//! - `repair`: the repair of single files

mod audit;
pub(super) mod repair;
pub(super) mod verify;
