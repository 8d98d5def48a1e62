//! The date walk: one filter over a range of days, read newest first and past the offset cap.
//!
//! A listing is ordered by filing date, newest first. Where reach ends, the rows seen cover the newest
//! days whole and one day in part; the walk goes on with `filed_to` at that day and `offset` at the rows
//! of it already seen. Only a single day beyond reach stops it; that day is read in parts.

use super::reader::{PageRead, Reader};
use super::slice::Slice;
use super::{ExtractError, split};
use crate::contract::eastern::minus_days;
use jiff::civil::Date;
use std::collections::HashSet;

/// Times a walk may step back because rows moved under it before it leaves the rest to the proof.
const MAX_STEPS_BACK: u32 = 25;

/// How a stretch of pages ended.
enum End {
    /// The listing ended.
    Listing,
    /// The offset cap was met.
    Reach,
    /// Rows arrived or left while it was read.
    Drift,
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
}

/// Reads every row of a slice that its days' cells let one reach; gives the slice's total as its first page had it.
pub(super) async fn walk(reader: &mut Reader<'_, '_>, slice: &Slice) -> Result<u64, ExtractError> {
    let mut at = Position { upper: slice.to, offset: 0, seen: HashSet::new(), total: None };
    let mut steps_back = 0;
    while at.upper >= slice.from {
        let (end, day, rows_of_day) = read_pages(reader, slice, &mut at).await?;
        match end {
            End::Listing => break,
            End::Drift if steps_back < MAX_STEPS_BACK => {
                steps_back += 1;
                tracing::info!(%day, "rows moved while they were read; reading the day again");
                reader.drifted = true;
                (at.upper, at.offset, at.seen) = (day, 0, HashSet::new());
            }
            End::Drift => break,
            End::Reach if day < at.upper => (at.upper, at.offset) = (day, rows_of_day),
            End::Reach => {
                split::split_day(reader, &slice.on(day), &at.seen).await?;
                (at.upper, at.offset) = (minus_days(day, 1), 0);
            }
        }
    }
    Ok(at.total.unwrap_or(0))
}

/// Reads pages from where the walk stands until the listing, reach or the calm ends; gives the day it stands on then and
/// how many rows of that day are behind it.
async fn read_pages(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    at: &mut Position,
) -> Result<(End, Date, u32), ExtractError> {
    let span = slice.between(slice.from, at.upper);
    let (mut day, mut rows_of_day, mut offset) = (at.upper, at.offset, at.offset);
    let mut total = None;
    loop {
        if offset > reader.plan.max_offset {
            return Ok((End::Reach, day, rows_of_day));
        }
        let page = match reader.page(&span, offset).await? {
            PageRead::Rows(page) => page,
            PageRead::BeyondReach => return Ok((End::Reach, day, rows_of_day)),
        };
        at.total.get_or_insert(page.total);
        if *total.get_or_insert(page.total) != page.total {
            return Ok((End::Drift, day, rows_of_day));
        }
        for (id, filed_date) in &page.rows {
            if !at.seen.insert(*id) {
                return Ok((End::Drift, day, rows_of_day));
            }
            (day, rows_of_day) = if *filed_date == day { (day, rows_of_day + 1) } else { (*filed_date, 1) };
        }
        offset += page.rows.len() as u32;
        if page.rows.is_empty() || u64::from(offset) >= page.total || reader.knows_the_rest(&span, page.total)
        {
            return Ok((End::Listing, day, rows_of_day));
        }
    }
}
