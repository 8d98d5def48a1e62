//! TODO page.

pub(super) mod api_access;
pub(super) mod embedded_api;
pub(super) mod open_lake;
