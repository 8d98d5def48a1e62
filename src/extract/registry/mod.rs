//! The whole register, one start of a name after another: with `q` the period is free, so each start is walked by date
//! from its newest filing back to its first, whatever its size.

pub mod prefixes;

use super::ExtractError;
use super::fetch::{Asker, PageKey};
use super::listing::date_walk::walk;
use super::listing::pager::Reader;
use super::query::histogram::Shares;
use super::query::row_set::Seen;
use super::query::slice::{ANY_AGE, Filter, Slice};
use super::query::split::Vocabulary;
use crate::contract::plan::PlanLimits;
use crate::contract::reference::EntityType;
use crate::contract::search::StatusFilter;
use jiff::civil::Date;
use prefixes::{Start, text};

/// Stage name of the register.
pub const REGISTER: &str = "register";

/// Times a start is read before it is left unproven.
const READINGS: u32 = 2;

/// One start to read.
#[derive(Debug, Clone, Copy)]
pub struct StartJob {
    /// The start.
    pub start: Start,
    /// Whether fictitious names are meant; a listing without a type leaves them out.
    pub is_fictitious: bool,
    /// Active businesses, or dissolved ones too.
    pub status: StatusFilter,
    /// Newest filing date asked for.
    pub to: Date,
}

/// What reading a start gave.
#[derive(Debug)]
pub struct StartReading {
    /// Rows the API says there are.
    pub expected: u64,
    /// Distinct rows that came.
    pub held: u64,
    /// Whether that is proven to be all.
    pub is_proven: bool,
    /// Pages that hold the rows.
    pub pages: Vec<PageKey>,
}

impl StartJob {
    fn slice(&self) -> Slice {
        let filter = Filter {
            kind: self.is_fictitious.then_some(EntityType::Fictitious),
            name_start: Some(text(self.start)),
            status: Some(self.status),
            ..Filter::default()
        };
        Slice { filter, from: ANY_AGE, to: self.to }
    }

    /// Whether the API may refuse this start for its characters alone: a search may not take every one.
    fn is_odd(&self) -> bool {
        self.start.iter().any(|letter| !letter.is_ascii_alphanumeric())
    }
}

/// Reads all names with a start; none when the API does not take the start as a search.
///
/// # Errors
/// What stops the reading: a refusal, a spent budget, a broken archive.
pub async fn read_start(
    asker: &mut Asker<'_>,
    plan: &mut PlanLimits,
    words: &Vocabulary,
    shares: &mut Shares,
    job: &StartJob,
) -> Result<Option<StartReading>, ExtractError> {
    let slice = job.slice();
    let mut reader = Reader::new(asker, REGISTER, plan, words, shares);
    let mut reading = StartReading { expected: 0, held: 0, is_proven: false, pages: Vec::new() };
    for _ in 0..READINGS {
        reader.seen = Seen::default();
        reader.drift.begin_reading();
        let walked = match walk(&mut reader, &slice).await {
            Err(ExtractError::Client(error)) if job.is_odd() && error.refused_status() == Some(400) => {
                return Ok(None);
            }
            other => other?,
        };
        reading.expected = walked.total;
        reading.held = reader.seen.count_between(ANY_AGE, job.to);
        reading.is_proven = reader.is_whole(reading.held, &walked);
        if reading.is_proven {
            break;
        }
    }
    if !reading.is_proven {
        let (expected, held) = (reading.expected, reading.held);
        tracing::warn!(%slice, expected, held, "the start could not be read whole");
    }
    reading.pages = std::mem::take(&mut reader.pages);
    Ok(Some(reading))
}
