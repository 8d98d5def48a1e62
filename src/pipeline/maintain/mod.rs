//! TODO page.

pub mod repair;
pub mod replay;
pub mod status;
