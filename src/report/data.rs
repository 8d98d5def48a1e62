//! The values that the report shows.

use crate::aggregate::Figures;
use jiff::civil::Date;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ReportData {
    /// Path of the lake as the reader would type it; used in the example queries.
    pub(crate) lake: String,
    /// Whether it is a folder, which shows its newest snapshot as `current`; an object store has none.
    pub(crate) is_folder: bool,
    pub(crate) snapshot: Option<u64>,
    /// Whether the data is the embedded sample.
    pub(crate) is_invented: bool,
    /// The run that made the snapshot, if known.
    pub(crate) run: Option<RunFacts>,
    pub(crate) figures: Figures,
}

/// What one run did.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RunFacts {
    /// Its figures, by their names.
    pub(crate) figures: Vec<(&'static str, String)>,
    pub(crate) requests_by_stage: BTreeMap<String, u64>,
    /// Of each table the rows read, added, changed, vanished, and in the lake.
    pub(crate) rows: BTreeMap<String, [u64; 5]>,
    /// The days that the run could not prove complete.
    pub(crate) incomplete: BTreeMap<Date, OpenDay>,
}

/// A day that a run could not prove complete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OpenDay {
    /// Rows found of its listings that are not complete.
    pub(crate) landed: u64,
    /// Rows expected of those that were read; none where all of these are complete.
    pub(crate) expected: Option<u64>,
    /// What was not read, in words: an empty text where nothing was.
    pub(crate) unread: Option<String>,
}
