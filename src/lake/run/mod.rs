//! The folder of a run, `runs/<run_id>/`: everything that a run keeps apart from the tables.
//!
//! # Files, in reading order
//!
//! - [`run_dir`]: the record of a run, its journals, its summary; which run to resume
//! - [`take_over`]: the resumption of a run that another machine began
//! - [`page_frame`]: the bytes of one archived page
//! - [`page_archive`]: the pages that a run received
//! - [`quarantine`]: records that could not be normalized

pub(super) mod page_archive;
mod page_frame;
pub(super) mod quarantine;
pub(super) mod run_dir;
mod take_over;
