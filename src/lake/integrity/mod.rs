//! Integrity: verification of a lake, and the repair of damaged files.
//!
//! Every data file has its size and blake3 digest in a commit, and every small file ends with its own digest. So
//! damage is found without a second copy. A damaged file is repaired from an intact copy, or made again from archived
//! pages, byte for byte.
//!
//! # Files, in reading order
//!
//! - `problem`: what is found, what it means, and the way out
//! - `verify`: the files of one snapshot
//! - `chain`: the commits
//! - `without_record`: the files of a run whose record is lost
//! - `run_files`: the folders of runs
//! - `audit`: all of a lake
//! - `repair`: the repair of the files of snapshots
//! - `small_repair`: the repair of all other files

mod audit;
mod chain;
pub(super) mod problem;
pub(super) mod repair;
mod run_files;
mod small_repair;
mod verify;
mod without_record;
