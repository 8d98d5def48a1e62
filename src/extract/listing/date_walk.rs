//! The date walk: one filter over a range of days, read newest first and past the offset cap.
//!
//! A listing is ordered by filing date, newest first. Where reach ends, the rows read cover the newest days completely and one
//! day in part. The walk resumes with `filed_to` at that day and `offset` at its rows already read. Only a single day over reach stops
//! it.

use super::pager::{PageRead, PageSeen, Reader};
use crate::extract::error::Result;
use crate::extract::query::slice::Slice;
use hashbrown::{HashMap, HashSet};
use jiff::civil::Date;

/// Pages a walk may go back because of drift, before it stops.
const MAX_STEPS_BACK: u32 = 400;
/// Times that a walk goes back from the same two pages at one day and offset.
const MOST_RETURNS: u32 = 4;

pub(crate) struct Position {
    /// Newest day still to read.
    pub(crate) upper: Date,
    /// Rows of `upper` already read.
    pub(crate) offset: u32,
    pub(crate) seen: HashSet<i64>,
    /// The slice's total, by its first page.
    pub(crate) total: Option<u64>,
    steps_back: u32,
    /// The page that was read last.
    last: PageSeen,
    /// By day and offset, the last page from which the walk went back with the page before it, and how often both were the same.
    returns: HashMap<(Date, u32), ([PageSeen; 2], u32)>,
}

impl Position {
    /// The start of a slice, of whose newest day `offset` rows are among those already read.
    pub(crate) fn start(slice: &Slice, offset: u32, seen: HashSet<i64>) -> Self {
        let (last, returns) = (PageSeen::default(), HashMap::new());
        Self { upper: slice.to, offset, seen, total: None, steps_back: 0, last, returns }
    }

    /// Whether a page from which the walk goes back, and the one before it, were the same too often: rows that change would change them.
    fn has_returned(&mut self, offset: u32, page: &PageSeen) -> bool {
        let pages = [std::mem::take(&mut self.last), page.clone()];
        let (last, times) = self.returns.entry((self.upper, offset)).or_default();
        *times = if *last == pages { *times + 1 } else { 1 };
        *last = pages;
        *times == MOST_RETURNS
    }
}

/// Why a query of a walk ended, and the walk with it.
pub(crate) enum End {
    Listing,
    /// At the offset cap: a walk ends there if its day is over reach. `deepest` is the last page within reach, if it was read.
    OverReach {
        deepest: Option<PageSeen>,
    },
    /// Rows drifted more often than the walk could follow, or the API rejects a value of the filter.
    Adrift,
}

/// Reads a slice from a position until it ends, or a single day is over reach.
///
/// Rows may arrive or leave between pages. Then the walk goes back until a page begins with a row already read, so that it
/// misses no row that was there all the time.
pub(crate) async fn walk_within_reach(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    at: &mut Position,
) -> Result<End> {
    while at.upper >= slice.from {
        let upper = at.upper;
        match read_pages(reader, slice, at).await? {
            End::OverReach { .. } if at.upper < upper => {}
            end => return Ok(end),
        }
    }
    Ok(End::Listing)
}

/// Reads the pages of one query, from a position until the listing or reach ends. Where reach ends, the next query begins.
async fn read_pages(reader: &mut Reader<'_, '_>, slice: &Slice, at: &mut Position) -> Result<End> {
    let span = slice.between(slice.from, at.upper);
    let (mut day, mut rows_of_day) = (at.upper, at.offset);
    // One row of the query before is read again: it shows whether the two queries join.
    let mut offset = at.offset.saturating_sub(1).min(reader.plan.max_offset);
    let mut must_join = at.offset > 0;
    // Where the rows of this query end that were read: a page that repeats more of them shows that rows came above.
    let mut read_to = at.offset;
    let (mut total, mut deepest) = (None, None);
    let deepest = loop {
        if offset > reader.plan.max_offset {
            break deepest;
        }
        if offset > 0 && !must_join && reader.resumes_at(&span, offset)? {
            reader.range.drift.note();
            (offset, must_join) = (offset - 1, true);
        }
        let page = match reader.page(&span, offset).await? {
            PageRead::Rows(page) => page,
            PageRead::OverReach => break None,
            PageRead::Rejected => return Ok(End::Adrift),
        };
        at.total.get_or_insert(page.total);
        let drifted = total.replace(page.total).is_some_and(|before| before != page.total);
        let again = if must_join { u64::from(read_to.saturating_sub(offset)) } else { 0 };
        if drifted || repeated(&page, at) > again {
            reader.range.drift.note();
        }
        if offset > 0 && !joins(&page, at, must_join || drifted) {
            if !may_step_back(reader, &span, offset, &page, at)? {
                return Ok(End::Adrift);
            }
            must_join = true;
            offset = offset.saturating_sub(reader.plan.rows_per_call);
            continue;
        }
        must_join = false;
        at.last = page.clone();
        for (id, filed_date) in &page.rows {
            if at.seen.insert(*id) {
                (day, rows_of_day) =
                    if *filed_date == day { (day, rows_of_day + 1) } else { (*filed_date, 1) };
            }
        }
        let is_deepest = offset == reader.plan.max_offset;
        offset += page.rows.len() as u32;
        read_to = read_to.max(offset);
        if page.rows.is_empty() || u64::from(offset) >= page.total {
            return Ok(End::Listing);
        }
        if reader.range.drift.is_likely() && page.rows.len() > 1 {
            // Two changes may cancel each other in the total: only a row that is read twice shows that pages join.
            (offset, must_join) = (offset - 1, true);
        }
        reader.expect_pages(&span, offset, page.total);
        deepest = Some(page).filter(|_| is_deepest);
    };
    (at.upper, at.offset) = (at.upper.min(day), rows_of_day);
    Ok(End::OverReach { deepest })
}

/// Counts a step back from a page; false after too many. An error if the page came too often with the same rows.
fn may_step_back(
    reader: &Reader<'_, '_>,
    span: &Slice,
    offset: u32,
    page: &PageSeen,
    at: &mut Position,
) -> Result<bool> {
    if at.has_returned(offset, page) {
        let seen = format!(
            "{MOST_RETURNS} times the same rows and total, which no row of the page before them joins"
        );
        return Err(reader.no_progress(span, offset, seen));
    }
    at.steps_back += 1;
    Ok(at.steps_back <= MAX_STEPS_BACK)
}

/// Whether a page continues the walk. It begins with a row already read; without signs of drift, it may also have only new rows.
fn joins(page: &PageSeen, at: &Position, must_join: bool) -> bool {
    let begins_with_known = page.rows.first().is_some_and(|(id, _)| at.seen.contains(id));
    begins_with_known || (!must_join && repeated(page, at) == 0)
}

/// Rows of a page that were read before.
fn repeated(page: &PageSeen, at: &Position) -> u64 {
    page.rows.iter().filter(|(id, _)| at.seen.contains(id)).count() as u64
}
