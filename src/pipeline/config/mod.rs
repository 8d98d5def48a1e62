//! TODO page.

pub mod file;
pub mod spec;
pub mod sql;
