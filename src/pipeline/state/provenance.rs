//! What a run made its snapshot from, so that the snapshot can be made again from the archived pages, without the API,
//! the pipeline file or the planner of that day: `runs/<run_id>/journal/<snapshot>.json`.

use crate::extract::fetch::PageKey;
use crate::extract::listing::Reading;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The making of one snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    /// The Eastern day the run ran as.
    pub(crate) today: Date,
    /// What landed, in that order.
    pub(crate) steps: Vec<JournalStep>,
    /// When the tables were merged; none before.
    pub(crate) merged_at: Option<Timestamp>,
    /// Whether lists were merged too.
    pub(crate) has_lists: bool,
    /// Days whose counts were merged; 0 where none were requested.
    pub(crate) counted_days: u32,
    /// Whether coverage followed what the tables list.
    pub(crate) follows_listed: bool,
    /// Oldest day that could be read again, where coverage followed rows that moved between days.
    pub(crate) readable_from: Option<Date>,
    /// What the journal does not tell, so that the snapshot cannot be made again.
    pub(crate) silent_about: Option<String>,
    /// Aggregates and their SQL, in the order in which they ran; none where those of the parent were left alone.
    pub(crate) aggregates: Option<Vec<(String, String)>>,
}

/// One thing that landed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JournalStep {
    /// A reading of days.
    Listing(JournalReading),
    /// A start of a name.
    Start { pages: Vec<JournalPage>, with_dissolved: bool },
}

/// Which time a request was asked in the run, and the request.
pub(crate) type JournalPage = (u32, String);

/// A page as the journal names it.
pub(crate) fn told(key: &PageKey) -> JournalPage {
    (key.occurrence, key.target.clone())
}

/// The page that the journal names.
pub(crate) fn key_of((occurrence, target): &JournalPage) -> PageKey {
    PageKey { target: target.clone(), occurrence: *occurrence }
}

impl JournalStep {
    /// How many pages it has.
    pub(crate) fn pages(&self) -> u64 {
        match self {
            Self::Listing(reading) => reading.pages.len() as u64,
            Self::Start { pages, .. } => pages.len() as u64,
        }
    }
}

/// One reading as it landed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalReading {
    /// The listing.
    pub(crate) label: String,
    /// When it landed.
    pub(crate) at: Timestamp,
    /// Its pages.
    pub(crate) pages: Vec<JournalPage>,
    /// Its days, newest first.
    pub(crate) days: Vec<JournalDay>,
    /// Rows that its listing no longer has, by the day it had them on.
    #[serde(default)]
    pub(crate) gone: BTreeMap<i64, Date>,
    /// Rows on its pages that did not count: they moved to another day while it was read.
    pub(crate) skipped: BTreeSet<(i64, Date)>,
}

/// What a reading proved of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalDay {
    pub(crate) day: Date,
    /// Rows the API said it has.
    pub(crate) expected: u64,
    /// Rows of it known in the end.
    pub(crate) held: u64,
    /// Rows of it on the pages.
    pub(crate) seen: u64,
    /// Whether it was proven whole.
    pub(crate) complete: bool,
    /// Whether every row of it was read.
    pub(crate) whole: bool,
}

impl Journal {
    pub(crate) fn new(today: Date) -> Self {
        Self {
            today,
            steps: Vec::new(),
            merged_at: None,
            has_lists: false,
            counted_days: 0,
            follows_listed: false,
            readable_from: None,
            silent_about: None,
            aggregates: None,
        }
    }

    /// Whether counts of days were merged. Who reads the register or looks businesses up asks for none.
    pub(crate) fn has_counts(&self) -> bool {
        self.counted_days > 0
    }
}

impl JournalReading {
    pub(crate) fn of(reading: &Reading, at: Timestamp) -> Self {
        let mut seen: HashMap<Date, u64> = HashMap::new();
        for day in reading.rows.values() {
            *seen.entry(*day).or_default() += 1;
        }
        let days = reading.days.iter().map(|day| JournalDay {
            day: day.day,
            expected: day.expected,
            held: day.held,
            seen: seen.get(&day.day).copied().unwrap_or(0),
            complete: day.complete,
            whole: day.whole,
        });
        Self {
            label: reading.label.to_owned(),
            at,
            pages: reading.pages.iter().map(told).collect(),
            days: days.collect(),
            gone: reading.gone.clone(),
            skipped: BTreeSet::new(),
        }
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = PageKey> {
        self.pages.iter().map(key_of)
    }

    /// Days whose rows land.
    pub(crate) fn proven(&self) -> BTreeMap<Date, JournalDay> {
        self.days.iter().filter(|day| day.complete).map(|day| (day.day, *day)).collect()
    }
}
