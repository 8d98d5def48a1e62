//! TODO page.

pub(super) mod audit;
pub(super) mod problem;
pub(super) mod repair;
pub(super) mod verify;
