//! TODO page.

pub(super) mod layout;
pub(super) mod manifest;
pub(super) mod run_record;
pub(super) mod sealed_json;
