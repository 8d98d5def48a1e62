//! TODO page.

pub(super) mod enrich;
pub(super) mod extraction;
pub(super) mod landing;
pub(super) mod page_store;
pub(super) mod recount;
pub(super) mod reference_tables;
pub(super) mod registry;
