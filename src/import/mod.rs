//! The state's bulk files: fixed-width records of corporations, fictitious names and general partnerships, and their events.
//!
//! Nothing here knows the lake: texts become records, and the records and events of one business become its rows.
//!
//! # Files, in reading order
//!
//! - [`files`]: finding, opening and splitting files; their columns
//! - [`rules`]: what a field means
//! - [`business`]: records, events and rows of one business
//! - [`spool`]: entries on disk by partition, between reading and merging
//! - [`sound`]: whether a text is all of what its name says
//! - [`read`]: all files of a folder, read by several threads

pub mod business;
pub mod files;
pub mod read;
pub mod rules;
pub mod sound;
pub mod spool;
