//! The files of the state: finding, opening and splitting them.
//!
//! # Files, in reading order
//!
//! - [`layout`]: kinds of files, and the columns of their records
//! - [`origin`]: where files are: on this machine, or in a store that gives their bytes in pieces
//! - [`archive`]: members of zip files, streamed
//! - [`source`]: which files of a folder are the state's, of which kind and day
//! - [`lines`]: records of a text, and what is wrong with a line

pub mod archive;
pub mod layout;
pub mod lines;
pub mod origin;
pub mod source;
