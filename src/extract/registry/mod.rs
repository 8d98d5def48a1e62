//! The complete register, one name prefix after another.
//!
//! A search by name may leave out the dates. So the date walk reads every name with a prefix from its newest filing back to its first, whatever
//! their number. Nothing lists the prefixes that exist: known names and a model of their letters suggest them.
//!
//! # Files, in reading order
//!
//! - [`prefixes`]: which name prefixes to request next

pub mod prefixes;

use super::error::Result;
use super::fetch::{PageFetcher, PageKey};
use super::listing::pager::Reader;
use super::listing::split_read::walk;
use super::query::histogram::Shares;
use super::query::row_set::Seen;
use super::query::slice::{ANY_AGE, Filter, Slice};
use super::query::split::FilterValues;
use crate::contract::plan::PlanLimits;
use crate::contract::reference::EntityType;
use crate::contract::search::StatusFilter;
use jiff::civil::Date;
use prefixes::{NamePrefix, text};

pub(crate) const REGISTER: &str = "register";

/// Readings of a prefix before it is left incomplete.
const READINGS: u32 = 2;

#[derive(Debug, Clone, Copy)]
pub(crate) struct PrefixJob {
    pub(crate) prefix: NamePrefix,
    /// Whether to read fictitious names; a listing without a type excludes them.
    pub(crate) is_fictitious: bool,
    pub(crate) status: StatusFilter,
    pub(crate) to: Date,
}

#[derive(Debug)]
pub(crate) struct PrefixReading {
    /// Rows by the API's total.
    pub(crate) expected: u64,
    /// Distinct rows read.
    pub(crate) held: u64,
    /// Whether these are all rows.
    pub(crate) is_proven: bool,
    pub(crate) pages: Vec<PageKey>,
}

/// Reads all names with a prefix; none when the API rejects the prefix.
pub(crate) async fn read_prefix(
    fetcher: &mut PageFetcher<'_>,
    plan: &mut PlanLimits,
    values: &FilterValues,
    shares: &mut Shares,
    job: &PrefixJob,
) -> Result<Option<PrefixReading>> {
    let filter = Filter {
        kind: job.is_fictitious.then_some(EntityType::Fictitious),
        q: Some(text(job.prefix)),
        status: Some(job.status),
        ..Filter::default()
    };
    let slice = Slice { filter: filter.clone(), from: ANY_AGE, to: job.to };
    // The API may reject other characters.
    let has_other_characters = job.prefix.iter().any(|letter| !letter.is_ascii_alphanumeric());
    let mut reader = Reader::new(fetcher, REGISTER, plan, values, shares, filter);
    // A prefix of many pages may take several days.
    reader.joins_archive = true;
    let mut reading = PrefixReading { expected: 0, held: 0, is_proven: false, pages: Vec::new() };
    for _ in 0..READINGS {
        reader.range.seen = Seen::default();
        reader.range.drift.begin_reading();
        let walked = match walk(&mut reader, &slice).await {
            Err(error) if has_other_characters && error.is_rejected_query() => return Ok(None),
            other => other?,
        };
        reading.expected = walked.total;
        reading.held = reader.range.seen.count_between(ANY_AGE, job.to);
        reading.is_proven = reader.range.is_complete(reading.held, &walked);
        if reading.is_proven {
            break;
        }
    }
    if !reading.is_proven {
        let PrefixReading { expected, held, .. } = reading;
        tracing::warn!(%slice, expected, held, "the prefix could not be read completely");
    }
    reading.pages = reader.range.pages.pages.into_iter().map(|page| page.key).collect();
    Ok(Some(reading))
}
