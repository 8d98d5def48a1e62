//! Finds the rows by which one day's slice differs from the known rows, by bisection of ranks.
//!
//! A listing is ordered by day, then by id, newest first. So the known rows predict the rank of each row. A page shows the true
//! ranks: the difference is the number of rows that came or went above it. Bisecting the ranks between two pages finds each
//! difference in a few requests, without reading all rows.

use super::date_walk::{Position, walk_within_reach};
use super::pager::{PageRead, PageSeen, Reader, RowState};
use crate::extract::error::Result;
use crate::extract::query::histogram::zip3;
use crate::extract::query::row::SeenRow;
use crate::extract::query::slice::{Filter, Slice};
use crate::extract::query::split;
use crate::extract::query::split::{Dimension, askable};
use hashbrown::HashSet;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// Rounds over the parts of a slice, as long as rows turn out to have changed.
const MOST_ROUNDS: u32 = 4;

/// The ranks between two pages already read, and the ids around them, both exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gap {
    from: u64,
    to: u64,
    oldest: i64,
    newest: i64,
}

impl Gap {
    fn rows(&self) -> u64 {
        self.to.saturating_sub(self.from)
    }

    /// The offset of the page in the middle, or the deepest within reach; none when all ranks are deeper.
    fn probe(&self, limit: u64, max_offset: u64) -> Option<u64> {
        let middle = self.from + self.rows().saturating_sub(limit) / 2;
        (self.from <= max_offset).then_some(middle.min(max_offset))
    }
}

pub(crate) struct Search<'s> {
    slice: &'s Slice,
    total: Option<u64>,
    drifted: bool,
    /// Ids up to this one are below reach.
    deep: Option<i64>,
}

impl Search<'_> {
    /// The total, when the known rows match it.
    fn fitting(&self, reader: &Reader<'_, '_>) -> Option<u64> {
        let fits = |total: &u64| reader.range.seen.count(self.slice) == *total;
        self.total.filter(fits).filter(|_| !self.drifted && !reader.range.unordered)
    }
}

/// Corrects the known rows with ids below `newest`, in `left` pages at most. Returns whether the rows now match the total.
pub(crate) async fn find(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    total: u64,
    newest: i64,
    left: &mut u32,
) -> Result<bool> {
    let search = look_everywhere(reader, slice, Some(total), newest, left).await?;
    Ok(search.is_some_and(|search| search.fitting(reader).is_some()))
}

/// Looks as far as reach, and below it in parts; none when the requests did not suffice.
async fn look_everywhere<'s>(
    reader: &mut Reader<'_, '_>,
    slice: &'s Slice,
    total: Option<u64>,
    newest: i64,
    left: &mut u32,
) -> Result<Option<Search<'s>>> {
    let search = look_for(reader, slice, total, newest, left).await?;
    if let Some(Search { total: Some(total), deep: Some(newest), .. }) = search
        && reader.range.seen.count(slice) != total
    {
        find_in_parts(reader, slice, total, newest.saturating_add(1), left).await?;
    }
    Ok(search)
}

/// The same, as far as reach; none when the requests did not suffice.
pub(crate) async fn look_for<'s>(
    reader: &mut Reader<'_, '_>,
    slice: &'s Slice,
    total: Option<u64>,
    newest: i64,
    left: &mut u32,
) -> Result<Option<Search<'s>>> {
    let above = reader.range.seen.ids(slice, newest.saturating_sub(1), i64::MAX).count() as u64;
    let below = reader.range.seen.ids(slice, i64::MIN, newest).count() as u64;
    let mut search = Search { slice, total, drifted: false, deep: None };
    let mut open = vec![Gap { from: above, to: total.unwrap_or(above + below), oldest: i64::MIN, newest }];
    while let Some(gap) = open.pop() {
        if !reader.range.unordered && !probe_gap(reader, &mut search, gap, &mut open, left).await? {
            return Ok(None);
        }
    }
    Ok(Some(search))
}

/// Reads a page of one gap, unless its known rows match; false when no request is left.
async fn probe_gap(
    reader: &mut Reader<'_, '_>,
    search: &mut Search<'_>,
    gap: Gap,
    open: &mut Vec<Gap>,
    left: &mut u32,
) -> Result<bool> {
    let slice = search.slice;
    if search.total.is_some() {
        let known = reader.range.seen.ids(slice, gap.oldest, gap.newest).count() as u64;
        if known == gap.rows() {
            return Ok(true);
        }
    }
    let limit = u64::from(reader.plan.rows_per_call);
    // There may have been rows between two pages: only a page that begins with the last row of the one above shows that there are none.
    let must_join = search.drifted || gap.rows() == 0;
    let gap = if must_join { Gap { from: gap.from.saturating_sub(1), ..gap } } else { gap };
    let Some(offset) = gap.probe(limit, u64::from(reader.plan.max_offset)) else {
        search.deep = search.deep.max(Some(gap.newest.saturating_sub(1)));
        return Ok(true);
    };
    if *left == 0 {
        return Ok(false);
    }
    *left -= 1;
    let PageRead::Rows(page) = reader.page(slice, offset as u32).await? else {
        search.deep = search.deep.max(Some(gap.newest.saturating_sub(1)));
        return Ok(true);
    };
    let guessed = search.total.is_none();
    if search.total.replace(page.total).is_some_and(|before| before != page.total) {
        search.drifted = true;
        reader.range.drift.note();
    }
    let to = if guessed { page.total.max(gap.from) } else { gap.to };
    let dropped = split(reader, slice, Gap { to, ..gap }, offset, &page, open);
    if slice.filter != reader.listing {
        keep_changed(reader, slice.to, dropped, left).await?;
    }
    Ok(true)
}

/// Looks up each row that left a part of a day: a changed row is in another part and still listed.
async fn keep_changed(
    reader: &mut Reader<'_, '_>,
    day: Date,
    dropped: Vec<SeenRow>,
    left: &mut u32,
) -> Result<()> {
    let listing = Slice { filter: reader.listing.clone(), from: day, to: day };
    for row in dropped {
        if *left == 0 {
            return Ok(());
        }
        *left -= 1;
        match reader.look_up(row.id, &listing).await? {
            RowState::Listed(row) => {
                reader.range.seen.put(row);
                reader.range.kept += 1;
            }
            RowState::NotListed => {}
            // A service without details may list the row, by the prefix of its name.
            RowState::Unknown => {
                let filter = |prefix| Filter { q: Some(prefix), ..listing.filter.clone() };
                if let Some(prefix) = askable(&row.name_prefix) {
                    *left = left.saturating_sub(1);
                    let part = listing.under(filter(prefix));
                    // A part over reach is read as far as reach; if the row is deeper, the day's total does not match.
                    walk_within_reach(reader, &part, &mut Position::start(&part, 0, HashSet::new())).await?;
                    reader.range.kept += u64::from(reader.range.seen.row(row.id).is_some());
                }
            }
        }
    }
    Ok(())
}

/// Replaces the known rows between the first and the last row of a page, and up to the end of the slice if it ends there. The ranks on
/// the other sides stay open. Returns the rows of the lake that the page no longer has.
fn split(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    gap: Gap,
    offset: u64,
    page: &PageSeen,
    open: &mut Vec<Gap>,
) -> Vec<SeenRow> {
    let ids: Vec<i64> = page.rows.iter().map(|(id, _)| *id).collect();
    let (Some(first), Some(last)) = (ids.first().copied(), ids.last().copied()) else {
        if page.total == 0 {
            return reader.range.seen.drop_between(slice, i64::MIN, i64::MAX, &[]);
        }
        // Fewer rows than expected: none is this deep.
        open.push(Gap { from: gap.from.min(page.total), to: gap.to.min(page.total), ..gap });
        return Vec::new();
    };
    if reader.range.unordered {
        return Vec::new();
    }
    let end = offset + ids.len() as u64;
    let (is_start, is_end) = (offset == 0, end >= page.total);
    let oldest = if is_end { i64::MIN } else { last };
    let newest = if is_start { i64::MAX } else { first };
    let dropped = reader.range.seen.drop_between(slice, oldest, newest, &ids);
    if last > gap.oldest && !is_end {
        open.push(Gap { from: end, to: gap.to.max(end), newest: last, ..gap });
    }
    if first < gap.newest && !is_start {
        open.push(Gap { to: offset.max(gap.from), oldest: first, ..gap });
    }
    dropped
}

/// Searches below reach: in the parts along one dimension after another, largest first, until the known rows match the total. A changed
/// row belongs to another part than expected, so parts whose totals do not match are searched again.
async fn find_in_parts(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    total: u64,
    newest: i64,
    left: &mut u32,
) -> Result<()> {
    let mut totals: BTreeMap<String, u64> = BTreeMap::new();
    let mut searched: BTreeMap<String, (Slice, u64)> = BTreeMap::new();
    'search: for dimension in [Dimension::Sector, Dimension::Kind, Dimension::Zip, Dimension::IndustryType] {
        if !dimension.applies(&slice.filter) {
            continue;
        }
        // Each round but the last finds a row that has changed.
        for _ in 0..MOST_ROUNDS {
            let kept = reader.range.kept;
            for (known, part) in parts(reader, slice, dimension, total, newest) {
                let rows = reader.range.seen.count(slice);
                if rows == total || *left == 0 || reader.range.unordered {
                    break 'search;
                }
                // A row can only be removed from a part that has known rows.
                if known > 0 || rows < total {
                    let key = part.to_string();
                    let search =
                        Box::pin(look_everywhere(reader, &part, totals.get(&key).copied(), newest, left))
                            .await?;
                    let Some(search) = search else { continue };
                    totals.extend(search.fitting(reader).map(|rows| (key.clone(), rows)));
                    searched.extend(search.total.map(|rows| (key, (part.clone(), rows))));
                }
            }
            if reader.range.kept == kept {
                break;
            }
        }
        if dimension == Dimension::Sector {
            // Every row has a sector.
            break;
        }
    }
    let adds_up = |part: &Slice, total: u64| reader.range.seen.count(part) == total;
    if adds_up(slice, total) && !searched.values().all(|(part, total)| adds_up(part, *total)) {
        // Rows came above those that were searched.
        reader.range.drift.note();
    }
    Ok(())
}

/// The parts along a dimension with the number of their known rows below an id, largest first.
fn parts(
    reader: &Reader<'_, '_>,
    slice: &Slice,
    dimension: Dimension,
    total: u64,
    newest: i64,
) -> Vec<(u64, Slice)> {
    let narrower = split::parts(&slice.filter, dimension, total, reader.values, reader.shares);
    let mut filters: Vec<Filter> = narrower.into_iter().map(|part| part.filter).collect();
    if dimension == Dimension::Zip && slice.filter.zip.is_none() {
        let known = reader.range.seen.rows_in(slice);
        let prefixes: BTreeSet<&str> = known.filter_map(|row| zip3(&row.zip)).collect();
        let published: BTreeSet<String> = filters.iter().filter_map(|filter| filter.zip.clone()).collect();
        let others = prefixes.into_iter().filter(|zip| !published.contains(*zip));
        filters.extend(others.map(|zip| split::under_zip(&slice.filter, zip.to_owned())));
    }
    let weighed = filters.into_iter().map(|filter| slice.under(filter));
    let mut parts: Vec<(u64, Slice)> =
        weighed.map(|part| (reader.range.seen.ids(&part, i64::MIN, newest).count() as u64, part)).collect();
    parts.sort_by_key(|(known, _)| std::cmp::Reverse(*known));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn probed_offset_is_in_the_gap_and_within_reach(
            from in 0u64..3_000,
            rows in 1u64..3_000,
            limit in 1u64..200,
            max_offset in 0u64..2_000,
        ) {
            let gap = Gap { from, to: from + rows, oldest: 0, newest: 9 };
            match gap.probe(limit, max_offset) {
                Some(offset) => {
                    prop_assert!((from..=max_offset).contains(&offset) && offset < gap.to);
                    prop_assert!(rows > limit || offset == from || offset == max_offset);
                }
                None => prop_assert!(from > max_offset),
            }
        }
    }
}
