//! What a command works with: the lake, the API and the state folder that flags and variables select.
//!
//! # Files, in reading order
//!
//! - `folder`: folders that a command writes into
//! - `lake_path`: what `--lake` may name
//! - `open_lake`: the lake of `--lake`, in a folder or in an object store, and the folder of request counts
//! - `secret`: a variable, or a file that another variable names
//! - `usage_place`: the file or the store of a server's request counts
//! - `api_access`: address and key of the API, and errors that name both
//! - `pipeline_file`: the pipeline of a command, and whether it reads the sample
//! - `embedded_api`: the sample, served on loopback

pub(super) mod api_access;
pub(super) mod embedded_api;
pub(super) mod folder;
mod lake_path;
pub(super) mod open_lake;
pub(super) mod pipeline_file;
pub(super) mod secret;
pub(super) mod usage_place;
