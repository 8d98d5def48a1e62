//! TODO page.

pub(super) mod progress;
pub(super) mod repair_hint;
pub(super) mod run_log;
pub(super) mod text;
