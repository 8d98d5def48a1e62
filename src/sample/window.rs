//! The businesses whose filing date is in the window of a spec, in posting order.

use super::life::life;
use super::name::Names;
use super::posting::{AHEAD_DAYS, Posting, Postings};
use super::record::{Numbered, business};
use super::series::{COUNTERS, SERIES};
use super::spec::{SampleBusiness, SampleSpec};
use crate::contract::eastern::{minus_days, window_start};
use jiff::civil::{Date, date};
use std::ops::RangeInclusive;

/// No filing is posted, and no window begins, before this day.
const EPOCH: Date = date(2000, 1, 1);
/// The days that a sample can be seen on. On the first posting day, a holiday, a small one may have nothing, and the walk over posting
/// days ends on the day after the last.
pub static SAMPLE_DAYS: RangeInclusive<Date> = date(2000, 1, 2)..=date(9999, 12, 30);
/// Ids that a year of all of Florida may use; it uses about 930,000.
const IDS_A_YEAR: u64 = 1_200_000;
/// Days of the longest window; enough for every calendar.
const LONGEST_WINDOW: u32 = 1_000_000;
/// Above this, ids and memory of a day grow too large.
const LARGEST_SCALE: f64 = 1_000.0;

/// The businesses of a spec in posting order, which is the order of their ids.
///
/// Streams: memory holds one posting day of bare filings. About 4% have a filing date after `today`, 0.7% have
/// dates long before the window. Document numbers are consecutive per prefix and posting year.
pub fn businesses(spec: &SampleSpec) -> impl Iterator<Item = SampleBusiness> + '_ {
    Register::opened(spec)
}

struct Register<'a> {
    spec: &'a SampleSpec,
    window_start: Date,
    names: Names,
    postings: Postings,
    /// The posting day of `waiting`.
    posted: Date,
    waiting: std::vec::IntoIter<Posting>,
    counters: Counters,
}

impl<'a> Register<'a> {
    /// Opens at the first posting day that may show a filing of the window, with the counters of that day.
    fn opened(spec: &'a SampleSpec) -> Self {
        let window_start = window_start(spec.today, spec.days.min(LONGEST_WINDOW)).max(EPOCH);
        let first = minus_days(window_start, AHEAD_DAYS as u32).max(EPOCH);
        let scale = if spec.scale.is_nan() { 0.0 } else { spec.scale.clamp(0.0, LARGEST_SCALE) };
        let mut postings = Postings::starting(spec.seed, scale, first.first_of_year());
        let mut counters = Counters::new(scale);
        while postings.day < first && postings.day <= spec.today {
            counters.skip(&postings.count_day());
        }
        let names = Names::new(spec.seed);
        Self { spec, window_start, names, postings, posted: first, waiting: Vec::new().into_iter(), counters }
    }

    /// Whether a filing belongs to the window, or was back-dated within it.
    fn shows(&self, posting: &Posting) -> bool {
        posting.filed >= self.window_start || (posting.is_back_dated && self.posted >= self.window_start)
    }

    fn turn_page(&mut self) {
        if self.postings.day.year() != self.posted.year() {
            (self.counters.all, self.counters.by_prefix) = (0, [0; COUNTERS]);
        }
        self.posted = self.postings.day;
        self.waiting = self.postings.next_day().into_iter();
    }
}

impl Iterator for Register<'_> {
    type Item = SampleBusiness;

    fn next(&mut self) -> Option<SampleBusiness> {
        loop {
            let Some(posting) = self.waiting.next() else {
                if self.postings.day > self.spec.today {
                    return None;
                }
                self.turn_page();
                continue;
            };
            let (id, count) = self.counters.take(self.posted.year(), posting.series);
            if self.shows(&posting) {
                let (SampleSpec { seed, shape, today, .. }, posted) = (*self.spec, self.posted);
                let kind = SERIES[posting.series].entity_type;
                let life = life(seed, id, kind, posting.filed, posted, today);
                let filing = Numbered { posting, posted, id, count };
                return Some(business(seed, shape, &self.names, filing, life));
            }
        }
    }
}

/// Numbers assigned in one posting year.
struct Counters {
    ids_a_year: u64,
    all: u64,
    by_prefix: [u64; COUNTERS],
}

impl Counters {
    fn new(scale: f64) -> Self {
        Self { ids_a_year: IDS_A_YEAR * (scale.ceil() as u64).max(1), all: 0, by_prefix: [0; COUNTERS] }
    }

    fn skip(&mut self, counts: &[u64; SERIES.len()]) {
        for (series, count) in SERIES.iter().zip(counts) {
            self.all += count;
            self.by_prefix[series.counter] += count;
        }
    }

    /// The id and the position in its series of the next filing.
    fn take(&mut self, year: i16, series: usize) -> (u64, u64) {
        let counter = &mut self.by_prefix[SERIES[series].counter];
        *counter += 1;
        self.all += 1;
        let years = u64::from((year - EPOCH.year()).unsigned_abs());
        (years * self.ids_a_year + self.all, *counter)
    }
}
