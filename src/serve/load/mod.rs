//! Loading: the Parquet files of a snapshot folder → an index.
//!
//! Filings are most of the rows. Their row groups are read on up to 4 threads, column by column, with repeated texts as
//! dictionary codes, and put together in their order. The other tables are small and read row by row.
//!
//! # Files, in reading order
//!
//! - `files`: the files of a snapshot, their digest, the rows of a small table, and why they cannot be loaded
//! - `filings`: the filings
//! - `snapshot`: all tables together: the filings, details, officers, counties and industries

mod files;
mod filings;
mod snapshot;

pub use files::LoadError;
pub(super) use snapshot::load_snapshot;
