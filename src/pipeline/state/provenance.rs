//! What a run made its snapshot from: `runs/<run_id>/journal/<snapshot>.json`. A replay rebuilds the snapshot from it and the
//! archived pages, without the API, the pipeline file or the planner.

use crate::extract::fetch::PageKey;
use crate::extract::listing::{DayReading, Reading};
use crate::lake::Losses;
use hashbrown::HashMap;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// How one snapshot was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    pub(crate) today: Date,
    /// What landed, in order.
    pub(crate) steps: Vec<JournalStep>,
    /// When the tables were merged; none before that.
    pub(crate) merged_at: Option<Timestamp>,
    pub(crate) has_lists: bool,
    /// The answer whose counts of days were merged; none where none were requested.
    pub(crate) counts: Option<JournalPage>,
    /// Whether the rows of all months were counted, not of changed months alone.
    pub(crate) follows_listed: bool,
    /// Oldest day that could be read again; none of a run by an older program that did not ask.
    pub(crate) readable_from: Option<Date>,
    /// What the journal does not record, so that the snapshot cannot be rebuilt.
    pub(crate) silent_about: Option<String>,
    /// Months that a repair had left out before.
    #[serde(default, skip_serializing_if = "Losses::is_empty")]
    pub(crate) losses: Losses,
    /// The files of the state that were imported; none of a run that read the API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) imported: Option<ImportedFiles>,
    /// Aggregates and their SQL, in the order in which they ran; none where those of the parent were kept.
    pub(crate) aggregates: Option<Vec<(String, String)>>,
}

impl Journal {
    /// The readings of days.
    pub(crate) fn readings(&self) -> impl Iterator<Item = &JournalReading> {
        self.steps.iter().filter_map(|step| match step {
            JournalStep::Listing(reading) => Some(reading),
            _ => None,
        })
    }

    /// Listing label and day of every day that was read.
    pub(crate) fn days_read(&self) -> BTreeSet<(&str, Date)> {
        self.readings()
            .flat_map(|entry| entry.days.iter().map(|day| (entry.label.as_str(), day.reading.day)))
            .collect()
    }
}

/// What an import read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ImportedFiles {
    /// The folder, as an absolute path.
    pub(crate) folder: PathBuf,
    /// The rules of industries, where they are not the program's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) industries: Option<String>,
    /// Path in the folder, digest and stamp of each text, in the order in which they were read.
    pub(crate) files: Vec<(String, String, String)>,
    /// Whether the tables were made anew from them.
    #[serde(rename = "is_anew", default)]
    pub(crate) is_rebuilt: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JournalStep {
    /// A reading of days.
    Listing(JournalReading),
    /// Days that are not known to be complete: they differ from the API's newest total or count, or could not be compared.
    Differing(JournalDifference),
    /// A prefix of names.
    #[serde(rename = "start")]
    Prefix { pages: Vec<JournalPage>, with_dissolved: bool },
}

/// A request's occurrence in the run, and its target.
pub(crate) type JournalPage = (u32, String);

pub(crate) fn page_of(key: &PageKey) -> JournalPage {
    (key.occurrence, key.target.clone())
}

pub(crate) fn key_of((occurrence, target): &JournalPage) -> PageKey {
    PageKey { target: target.clone(), occurrence: *occurrence }
}

impl JournalStep {
    pub(crate) fn pages(&self) -> u64 {
        match self {
            Self::Listing(reading) => reading.pages.len() as u64,
            Self::Differing(_) => 0,
            Self::Prefix { pages, .. } => pages.len() as u64,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalDifference {
    pub(crate) label: String,
    pub(crate) at: Timestamp,
    /// The days, with their totals or counts.
    pub(crate) totals: BTreeMap<Date, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalReading {
    pub(crate) label: String,
    pub(crate) at: Timestamp,
    pub(crate) pages: Vec<JournalPage>,
    /// Its days, newest first.
    pub(crate) days: Vec<JournalDay>,
    /// Rows that its listing no longer has, with their days.
    #[serde(default)]
    pub(crate) gone: BTreeMap<i64, Date>,
    /// Rows on its pages that did not count, because their day changed during the reading.
    pub(crate) skipped: BTreeSet<(i64, Date)>,
}

/// What a reading found of a day; `held` are the rows that the lake has of it in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalDay {
    #[serde(flatten)]
    pub(crate) reading: DayReading,
    /// Rows of it on the pages.
    pub(crate) seen: u64,
}

impl JournalReading {
    pub(crate) fn of(reading: &Reading, at: Timestamp) -> Self {
        let mut seen: HashMap<Date, u64> = HashMap::new();
        for day in reading.rows.values() {
            *seen.entry(*day).or_default() += 1;
        }
        let seen_on = |day: Date| seen.get(&day).copied().unwrap_or(0);
        let days = reading.days.iter().map(|day| JournalDay { reading: *day, seen: seen_on(day.day) });
        Self {
            label: reading.label.to_owned(),
            at,
            pages: reading.pages.iter().map(|page| page_of(&page.key)).collect(),
            days: days.collect(),
            gone: reading.gone.clone(),
            skipped: BTreeSet::new(),
        }
    }
}
