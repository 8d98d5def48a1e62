//! TODO page.

pub(super) mod json_schema;
pub(super) mod markdown;
pub(super) mod openapi;
