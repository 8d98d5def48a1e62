//! What of one day's cell stands below a row: it can only grow fewer.
//!
//! Within a day the newest rows stand first, so what arrives while the cell is read stands above every row seen before. The rows
//! below one were as many as a page told; whoever has seen as many of them has seen all, whatever moved since.

use super::pager::{PageRead, PageSeen, Reader};
use crate::extract::ExtractError;
use crate::extract::query::row_set::Seen;
use crate::extract::query::slice::Slice;
use std::collections::HashSet;

/// The rows of one day's cell that stand below a page of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Rows below the page when it came.
    rows: u64,
    /// Last row of the page.
    last: i64,
}

impl Tail {
    /// Rows of it that were not seen; none is known where more were seen than there were, so that it grew.
    pub(crate) fn unseen(&self, seen: &Seen, cell: &Slice) -> Option<u64> {
        self.rows.checked_sub(seen.ids(cell, i64::MIN, self.last).count() as u64)
    }
}

/// The total of one day's cell that was read as deep as pages reach, and what stands below: by the last page within reach, which is
/// asked for where it is not at hand. None where that page does not begin with one of the rows seen, since rows moved.
pub(crate) async fn look_below(
    reader: &mut Reader<'_, '_>,
    cell: &Slice,
    seen: &HashSet<i64>,
    at_hand: Option<PageSeen>,
) -> Result<(u64, Option<Tail>), ExtractError> {
    let offset = reader.plan.max_offset;
    let page = match at_hand {
        Some(page) => page,
        None => match reader.page(cell, offset).await? {
            PageRead::Rows(page) => page,
            PageRead::BeyondReach | PageRead::Refused => return Ok((reader.total(cell).await?, None)),
        },
    };
    let joins = page.rows.first().is_some_and(|(id, _)| seen.contains(id));
    let rows = page.total.saturating_sub(u64::from(offset) + page.rows.len() as u64);
    let tail = page.rows.last().filter(|_| joins).map(|(last, _)| Tail { rows, last: *last });
    Ok((page.total, tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::query::row_set::Interner;
    use jiff::civil::date;
    use serde_json::value::RawValue;

    #[test]
    fn what_stands_below_a_row_is_whole_when_as_many_rows_were_seen_whatever_came_above() {
        let day = date(2026, 7, 3);
        let cell = Slice { filter: Default::default(), from: day, to: day };
        let (mut seen, mut interner) = (Seen::default(), Interner::default());
        let mut see = |seen: &mut Seen, id: i64| {
            let record = format!(r#"{{"id":"{id}","filed_date":"{day}"}}"#);
            seen.insert(interner.read(&RawValue::from_string(record).expect("JSON"), day));
        };
        let tail = Tail { rows: 3, last: 50 };
        for id in [60, 50, 40] {
            see(&mut seen, id);
        }
        assert_eq!(tail.unseen(&seen, &cell), Some(2), "one of three was seen");
        see(&mut seen, 70);
        assert_eq!(tail.unseen(&seen, &cell), Some(2), "what comes stands above");
        (30..32).for_each(|id| see(&mut seen, id));
        assert_eq!(tail.unseen(&seen, &cell), Some(0));
        see(&mut seen, 29);
        assert_eq!(tail.unseen(&seen, &cell), None, "more than there were: it grew");
    }
}
