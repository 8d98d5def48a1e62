//! TODO page.

pub(super) mod access;
pub(super) mod key_file;
pub(super) mod limit_override;
pub(super) mod usage_meter;
