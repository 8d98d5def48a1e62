//! What reading a slice returns, and what the parts of a day range know of each other (pure).

use crate::extract::query::slice::Slice;
use jiff::civil::Date;
use std::collections::{BTreeMap, HashSet};

/// Rows expected of a slice, by day; other days are unknown.
pub(crate) type Expected = BTreeMap<Date, f64>;

pub(crate) struct Walked {
    /// The slice's total, by its first page.
    pub(crate) total: u64,
    /// Ranges of days, oldest to newest, in which drift may have hidden a row.
    pub(crate) doubtful: Vec<(Date, Date)>,
}

impl Walked {
    /// Whether it may have missed a row of a day.
    pub(crate) fn doubts(&self, day: Date) -> bool {
        self.doubtful.iter().any(|(from, to)| (*from..=*to).contains(&day))
    }
}

/// The state of the search for rows of a day range that no part returned.
pub(crate) struct ResidualSearch {
    /// Parts by ZIP prefix or city that were read.
    requested: HashSet<String>,
    /// Requests left for single rows. Rows that are not found are reported as missing.
    pub(crate) left: u32,
    /// Rows of an earlier search that were not found; a search in a wider slice would miss the same.
    pub(crate) given_up: u64,
}

/// Requests for finding single rows of a day range.
const MOST_REQUESTS: u32 = 3_000;

impl Default for ResidualSearch {
    fn default() -> Self {
        Self { requested: HashSet::new(), left: MOST_REQUESTS, given_up: 0 }
    }
}

impl ResidualSearch {
    pub(crate) fn note_requested(&mut self, part: &Slice) {
        if part.filter.zip.is_some() || part.filter.city.is_some() {
            self.requested.insert(part.to_string());
        }
    }

    pub(crate) fn is_requested(&self, part: &Slice) -> bool {
        self.requested.contains(&part.to_string())
    }

    /// Takes requests from those left.
    pub(crate) fn spend(&mut self, requests: u64) {
        self.left = self.left.saturating_sub(u32::try_from(requests).unwrap_or(u32::MAX));
    }
}
