//! TODO page.

pub(super) mod page_archive;
mod page_frame;
pub(super) mod quarantine;
pub(super) mod run_dir;
