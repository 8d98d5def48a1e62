//! The files of the state: finding, opening and splitting them.
//!
//! # Files, in reading order
//!
//! - [`layout`]: kinds of files, and the columns of their records
//! - [`origin`]: where files are: on this machine, or in a store that gives their bytes in pieces
//! - [`archive`]: members of zip files, streamed
//! - [`names`]: what a name says: kind, day and set
//! - [`source`]: the texts of the state in a folder, and what only resembles them
//! - [`lines`]: records of a text, and what is wrong with a line

pub mod archive;
pub mod layout;
pub mod lines;
pub mod names;
pub mod origin;
pub mod source;
