//! The first steps of a user: a lake to look at, and files to change.
//!
//! # Files, in reading order
//!
//! - `demo`: `demo`
//! - `init`: `init`
//! - `served_demo`: what `serve --demo` serves

pub(crate) mod demo;
pub(crate) mod init;
pub(crate) mod served_demo;
