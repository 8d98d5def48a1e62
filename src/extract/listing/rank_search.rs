//! Finds by rank what one day's cell holds more or less than is believed.
//!
//! A listing is ordered by day, then by id, newest first. So the rows believed to stand in a cell say on which rank each of them must
//! be found, and a page says how far they are off: by as many rows as came or went above it. What differs is found by halving
//! the ranks between two pages, in a few requests a row, instead of reading the whole cell.

use super::date_walk::walk;
use super::pager::{PageRead, PageSeen, Reader, Standing};
use crate::extract::ExtractError;
use crate::extract::query::histogram::zip3;
use crate::extract::query::row_set::SeenRow;
use crate::extract::query::slice::{Filter, Slice};
use crate::extract::query::split;
use crate::extract::query::split::{Dimension, askable};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// Times that the parts of a cell are looked into, as long as rows turn out to have changed.
const MOST_ROUNDS: u32 = 4;

/// Ranks between two pages already read, and the ids that bound them, left out themselves.
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

    /// The rank at which a page tells most, of those the plan lets one reach; none when all lie deeper.
    fn probe(&self, limit: u64, max_offset: u64) -> Option<u64> {
        let middle = self.from + self.rows().saturating_sub(limit) / 2;
        (self.from <= max_offset).then_some(middle.min(max_offset))
    }
}

/// How a search went.
pub(crate) struct Search<'s> {
    cell: &'s Slice,
    /// The cell's total, once a page told it.
    total: Option<u64>,
    /// Whether rows moved while it lasted.
    moved: bool,
    /// Ids at and below this one stand deeper than pages reach.
    deep: Option<i64>,
}

/// Makes the rows believed to stand in one day's cell those that do, as far as ids below `newest` go; those above are known to be
/// right. Asks `left` pages at most. Gives the cell's total when the rows now believed are as many.
pub(crate) async fn find(
    reader: &mut Reader<'_, '_>,
    cell: &Slice,
    total: Option<u64>,
    newest: i64,
    left: &mut u32,
) -> Result<Option<u64>, ExtractError> {
    let search = match look_for(reader, cell, total, newest, left).await? {
        Some(search) => search,
        None => return Ok(None),
    };
    if let (Some(total), Some(newest)) = (search.total, search.deep)
        && reader.seen.count(cell) != total
    {
        find_in_parts(reader, cell, total, newest.saturating_add(1), left).await?;
    }
    Ok(search.total.filter(|total| !search.moved && !reader.unordered && reader.seen.count(cell) == *total))
}

/// The same, as deep as pages reach; none when there were not requests enough.
pub(crate) async fn look_for<'s>(
    reader: &mut Reader<'_, '_>,
    cell: &'s Slice,
    total: Option<u64>,
    newest: i64,
    left: &mut u32,
) -> Result<Option<Search<'s>>, ExtractError> {
    let above = reader.seen.ids(cell, newest.saturating_sub(1), i64::MAX).count() as u64;
    let below = reader.seen.ids(cell, i64::MIN, newest).count() as u64;
    let mut search = Search { cell, total, moved: false, deep: None };
    let mut open = vec![Gap { from: above, to: total.unwrap_or(above + below), oldest: i64::MIN, newest }];
    while let Some(gap) = open.pop() {
        if !reader.unordered && !look(reader, &mut search, gap, &mut open, left).await? {
            return Ok(None);
        }
    }
    Ok(Some(search))
}

/// Looks into one gap, unless what is believed of it fits; says whether there were requests left for it.
async fn look(
    reader: &mut Reader<'_, '_>,
    search: &mut Search<'_>,
    gap: Gap,
    open: &mut Vec<Gap>,
    left: &mut u32,
) -> Result<bool, ExtractError> {
    let cell = search.cell;
    if search.total.is_some() {
        let believed = reader.seen.ids(cell, gap.oldest, gap.newest).count() as u64;
        if believed == gap.rows() {
            return Ok(true);
        }
    }
    let limit = u64::from(reader.plan.rows_per_call);
    // Two pages may have been apart when they came: only one that begins with the row above shows that nothing stands between.
    let must_join = search.moved || gap.rows() == 0;
    let gap = if must_join { Gap { from: gap.from.saturating_sub(1), ..gap } } else { gap };
    let Some(offset) = gap.probe(limit, u64::from(reader.plan.max_offset)) else {
        search.deep = search.deep.max(Some(gap.newest.saturating_sub(1)));
        return Ok(true);
    };
    if *left == 0 {
        return Ok(false);
    }
    *left -= 1;
    let page = match reader.page(cell, offset as u32).await? {
        PageRead::Rows(page) => page,
        PageRead::BeyondReach | PageRead::Refused => {
            search.deep = search.deep.max(Some(gap.newest.saturating_sub(1)));
            return Ok(true);
        }
    };
    let guessed = search.total.is_none();
    if search.total.replace(page.total).is_some_and(|before| before != page.total) {
        search.moved = true;
        reader.drift.note();
    }
    let to = if guessed { page.total.max(gap.from) } else { gap.to };
    let dropped = split(reader, cell, Gap { to, ..gap }, offset, &page, open);
    if cell.filter != reader.listing {
        keep_changed(reader, cell.to, dropped, left).await?;
    }
    Ok(true)
}

/// Looks up each row that a part of a cell does not hold any more: one that has changed stands in another part, and is listed still.
async fn keep_changed(
    reader: &mut Reader<'_, '_>,
    day: Date,
    dropped: Vec<SeenRow>,
    left: &mut u32,
) -> Result<(), ExtractError> {
    let whole = Slice { filter: reader.listing.clone(), from: day, to: day };
    for row in dropped {
        *left = left.saturating_sub(1);
        match reader.look_up(row.id, &whole).await? {
            Standing::Listed(row) => {
                reader.seen.keep(row);
                reader.kept += 1;
            }
            Standing::Elsewhere => {}
            // A service that tells no details may list the row: under the start of its name.
            Standing::Unknown => {
                let filter = |start| Filter { name_start: Some(start), ..whole.filter.clone() };
                if let Some(start) = askable(&row.name_start) {
                    *left = left.saturating_sub(1);
                    Box::pin(walk(reader, &whole.under(filter(start)))).await?;
                    reader.kept += u64::from(reader.seen.has(row.id));
                }
            }
        }
    }
    Ok(())
}

/// Takes a page's rows for what stands between its first and its last, and above or below where the cell begins or ends with it, and
/// leaves the ranks on the other sides open. Gives the rows of the lake that it passes over.
fn split(
    reader: &mut Reader<'_, '_>,
    cell: &Slice,
    gap: Gap,
    offset: u64,
    page: &PageSeen,
    open: &mut Vec<Gap>,
) -> Vec<SeenRow> {
    let ids: Vec<i64> = page.rows.iter().map(|(id, _)| *id).collect();
    let (Some(first), Some(last)) = (ids.first().copied(), ids.last().copied()) else {
        // Fewer rows than believed: none stands so deep.
        open.push(Gap { from: gap.from.min(page.total), to: gap.to.min(page.total), ..gap });
        return Vec::new();
    };
    if reader.unordered {
        return Vec::new();
    }
    let end = offset + ids.len() as u64;
    let (is_start, is_end) = (offset == 0, end >= page.total);
    let oldest = if is_end { i64::MIN } else { last };
    let newest = if is_start { i64::MAX } else { first };
    let dropped = reader.seen.drop_between(cell, oldest, newest, &ids);
    if last > gap.oldest && !is_end {
        open.push(Gap { from: end, to: gap.to.max(end), newest: last, ..gap });
    }
    if first < gap.newest && !is_start {
        open.push(Gap { to: offset.max(gap.from), oldest: first, ..gap });
    }
    dropped
}

/// Looks for what differs deeper than pages of the cell reach: in the narrower cells along one dimension after another, those with
/// most rows first, until the rows believed are as many as the total. A row that turned out to have changed tells of another part than
/// believed, so that those are looked into once more whose totals are known and do not fit.
async fn find_in_parts(
    reader: &mut Reader<'_, '_>,
    cell: &Slice,
    total: u64,
    newest: i64,
    left: &mut u32,
) -> Result<(), ExtractError> {
    let mut totals: BTreeMap<String, u64> = BTreeMap::new();
    for dimension in [Dimension::Sector, Dimension::Kind, Dimension::Zip, Dimension::IndustryType] {
        if !dimension.applies(&cell.filter) {
            continue;
        }
        // Each round but the last keeps a row that has changed.
        for _ in 0..MOST_ROUNDS {
            let kept = reader.kept;
            for (believed, part) in parts(reader, cell, dimension, total, newest) {
                let held = reader.seen.count(cell);
                if held == total || *left == 0 || reader.unordered {
                    return Ok(());
                }
                // A row that went can only be missing where rows are believed to stand.
                if believed > 0 || held < total {
                    let known = totals.get(&part.to_string()).copied();
                    let fits = Box::pin(find(reader, &part, known, newest, left)).await?;
                    totals.extend(fits.map(|rows| (part.to_string(), rows)));
                }
            }
            if reader.kept == kept {
                break;
            }
        }
        if dimension == Dimension::Sector {
            // Every row has a sector.
            break;
        }
    }
    Ok(())
}

/// The narrower cells along a dimension with the rows believed to stand in them below an id, most first.
fn parts(
    reader: &Reader<'_, '_>,
    cell: &Slice,
    dimension: Dimension,
    total: u64,
    newest: i64,
) -> Vec<(u64, Slice)> {
    let narrower = split::parts(&cell.filter, dimension, total, reader.words, reader.shares);
    let mut filters: Vec<Filter> = narrower.into_iter().map(|part| part.filter).collect();
    if dimension == Dimension::Zip && cell.filter.zip.is_none() {
        let believed = reader.seen.rows_of(cell.from, cell.to).filter(|row| cell.filter.matches(row));
        let prefixes: BTreeSet<&str> = believed.filter_map(|row| zip3(&row.zip)).collect();
        let known: BTreeSet<String> = filters.iter().filter_map(|filter| filter.zip.clone()).collect();
        let others = prefixes.into_iter().filter(|zip| !known.contains(*zip));
        filters.extend(others.map(|zip| split::under_zip(&cell.filter, zip.to_owned())));
    }
    let weighed = filters.into_iter().map(|filter| cell.under(filter));
    let mut parts: Vec<(u64, Slice)> =
        weighed.map(|part| (reader.seen.ids(&part, i64::MIN, newest).count() as u64, part)).collect();
    parts.sort_by_key(|(believed, _)| std::cmp::Reverse(*believed));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_page_is_asked_for_within_the_gap_and_within_reach(
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
