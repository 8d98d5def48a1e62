//! TODO page.

pub(super) mod layout;
pub(super) mod manifest;
pub(super) mod sealed_json;
