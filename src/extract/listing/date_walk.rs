//! The date walk: one filter over a range of days, read newest first and past the offset cap.
//!
//! A listing is ordered by filing date, newest first. Where reach ends, the rows seen cover the newest
//! days whole and one day in part; the walk goes on with `filed_to` at that day and `offset` at the rows
//! of it already seen. Only a single day beyond reach stops it; that day is read in parts.

use super::pager::{PageRead, PageSeen, Reader};
use super::split_read;
use super::split_read::Expected;
use crate::contract::eastern::minus_days;
use crate::extract::ExtractError;
use crate::extract::query::slice::Slice;
use jiff::civil::Date;
use std::collections::HashSet;

/// Pages a walk may go back for because rows moved under it, before it leaves the rest to the proof.
const MAX_STEPS_BACK: u32 = 400;

/// How a walk went.
pub(crate) struct Walked {
    /// Rows of the slice, by its first page.
    pub(crate) total: u64,
    /// Days, from the first to the second, of which it may have passed over a row that was there all the time, because rows moved.
    pub(crate) doubtful: Vec<(Date, Date)>,
}

impl Walked {
    /// Whether it may have passed over a row of a day.
    pub(crate) fn doubts(&self, day: Date) -> bool {
        self.doubtful.iter().any(|(from, to)| (*from..=*to).contains(&day))
    }
}

/// How a stretch of pages ended.
enum End {
    /// The listing ended.
    Listing,
    /// The offset cap was met on this day, of which so many rows are behind the walk; `deepest` is the page at the cap.
    Reach { day: Date, rows_of_day: u32, deepest: Option<PageSeen> },
    /// Rows moved more often than the walk could follow, or the API does not take a word of the filter.
    Adrift,
}

/// Where the walk stands.
struct Position {
    /// Newest day still to read.
    upper: Date,
    /// Rows of `upper` already seen.
    offset: u32,
    /// Ids seen by this walk.
    seen: HashSet<i64>,
    /// Rows of the whole slice, by its first page.
    total: Option<u64>,
    steps_back: u32,
}

/// Reads every row of a slice that its days' cells let one reach.
///
/// Rows may arrive or leave between pages. Then the walk goes back until a page begins with a row it has seen, so that no
/// row that was there all the time is passed over; the reader is told that rows moved.
pub(crate) async fn walk(reader: &mut Reader<'_, '_>, slice: &Slice) -> Result<Walked, ExtractError> {
    walk_on(reader, slice, &Expected::new(), &HashSet::new()).await
}

/// The same, where rows are known to be expected, and `head` are rows seen of the newest day that stand first in it. A
/// narrower query keeps the order of a wider one, so as many rows of it as are among those are skipped.
pub(crate) async fn walk_on(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    expected: &Expected,
    head: &HashSet<i64>,
) -> Result<Walked, ExtractError> {
    let skipped = rows_among(reader, slice, head);
    let seen = if skipped > 0 { head.clone() } else { HashSet::new() };
    let mut at = Position { upper: slice.to, offset: skipped, seen, total: None, steps_back: 0 };
    let mut doubtful = Vec::new();
    while at.upper >= slice.from {
        match read_pages(reader, slice, &mut at).await? {
            End::Listing => break,
            End::Adrift => {
                doubtful.push((slice.from, at.upper));
                break;
            }
            End::Reach { day, rows_of_day, .. } if day < at.upper => {
                (at.upper, at.offset) = (day, rows_of_day);
            }
            End::Reach { day, deepest, .. } => {
                let (left, head) = (slice.between(slice.from, day), std::mem::take(&mut at.seen));
                // Only of a single day does a page tell the total of that day.
                let deepest = deepest.filter(|_| left.is_one_day());
                let split = Box::pin(split_read::split(reader, &left, expected, &head, deepest)).await?;
                if !split.is_whole {
                    doubtful.push((split.oldest, day));
                }
                (at.upper, at.offset) = (minus_days(split.oldest, 1), 0);
            }
        }
    }
    Ok(Walked { total: at.total.unwrap_or(0), doubtful })
}

fn rows_among(reader: &Reader<'_, '_>, slice: &Slice, ids: &HashSet<i64>) -> u32 {
    if ids.is_empty() {
        return 0;
    }
    let rows = reader.seen.rows_of(slice.from, slice.to);
    rows.filter(|row| ids.contains(&row.id) && slice.filter.matches(row)).count() as u32
}

/// Reads pages from where the walk stands until the listing or reach ends.
async fn read_pages(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    at: &mut Position,
) -> Result<End, ExtractError> {
    let span = slice.between(slice.from, at.upper);
    let (mut day, mut rows_of_day) = (at.upper, at.offset);
    // Where an earlier query left off, one row is read again: it shows whether the two queries join.
    let mut offset = at.offset.saturating_sub(1).min(reader.plan.max_offset);
    let mut must_join = at.offset > 0;
    let (mut total, mut deepest) = (None, None);
    loop {
        if offset > reader.plan.max_offset {
            return Ok(End::Reach { day, rows_of_day, deepest });
        }
        let page = match reader.page(&span, offset).await? {
            PageRead::Rows(page) => page,
            PageRead::BeyondReach => return Ok(End::Reach { day, rows_of_day, deepest: None }),
            PageRead::Refused => return Ok(End::Adrift),
        };
        at.total.get_or_insert(page.total);
        let moved = total.replace(page.total).is_some_and(|before| before != page.total);
        if moved || (!must_join && repeats(&page, at)) {
            reader.drift.note();
        }
        if offset > 0 && !joins(&page, at, must_join || moved) {
            if at.steps_back == MAX_STEPS_BACK {
                return Ok(End::Adrift);
            }
            (at.steps_back, must_join) = (at.steps_back + 1, true);
            offset = offset.saturating_sub(reader.plan.rows_per_call);
            continue;
        }
        must_join = false;
        for (id, filed_date) in &page.rows {
            if at.seen.insert(*id) {
                (day, rows_of_day) =
                    if *filed_date == day { (day, rows_of_day + 1) } else { (*filed_date, 1) };
            }
        }
        let is_deepest = offset == reader.plan.max_offset;
        offset += page.rows.len() as u32;
        if page.rows.is_empty() || u64::from(offset) >= page.total {
            return Ok(End::Listing);
        }
        if reader.drift.is_likely() && page.rows.len() > 1 {
            // Two changes may cancel each other in the total: only a row that is seen twice shows that pages join.
            (offset, must_join) = (offset - 1, true);
        }
        reader.expect_pages(&span, offset, page.total);
        deepest = Some(page).filter(|_| is_deepest);
    }
}

/// Whether a page goes on where the walk stands: it begins with a row seen before, or, while nothing says that rows moved,
/// it holds new rows alone.
fn joins(page: &PageSeen, at: &Position, must_join: bool) -> bool {
    let begins_with_known = page.rows.first().is_some_and(|(id, _)| at.seen.contains(id));
    begins_with_known || (!must_join && !repeats(page, at))
}

/// Whether a page holds a row that the walk has seen.
fn repeats(page: &PageSeen, at: &Position) -> bool {
    page.rows.iter().any(|(id, _)| at.seen.contains(id))
}
