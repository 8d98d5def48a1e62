//! The rows of one day below a known row: their number can only decrease.
//!
//! Within a day the newest rows come first, so rows that arrive during the reading are above every row already read. The last page
//! within reach shows how many rows are below it. When that number of rows below it was read, none is missing, despite drift.

use super::pager::{PageRead, PageSeen, Reader};
use crate::extract::error::Result;
use crate::extract::query::row_set::Seen;
use crate::extract::query::slice::Slice;
use hashbrown::HashSet;

/// The rows of one day's slice below one of its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Rows below the page when it was read.
    rows: u64,
    last: i64,
}

impl Tail {
    /// Rows of it that were not read; none (unknown) when more rows were read than there were.
    pub(crate) fn unseen(&self, seen: &Seen, slice: &Slice) -> Option<u64> {
        self.rows.checked_sub(seen.ids(slice, i64::MIN, self.last).count() as u64)
    }
}

/// The total of one day's slice that was read as far as reach, and the rows below. Both come from the last page within reach, which is
/// requested if it is not `at_hand`. No tail when that page does not begin with a row already read, because rows drifted.
pub(crate) async fn look_below(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    seen: &HashSet<i64>,
    at_hand: Option<PageSeen>,
) -> Result<(u64, Option<Tail>)> {
    let offset = reader.plan.max_offset;
    let page = match at_hand {
        Some(page) => page,
        None => match reader.page(slice, offset).await? {
            PageRead::Rows(page) => page,
            PageRead::OverReach | PageRead::Rejected => return Ok((reader.total(slice).await?, None)),
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
    use crate::extract::query::row::Interner;
    use jiff::civil::date;
    use serde_json::value::RawValue;

    #[test]
    fn tail_of_day_is_complete_when_counts_match_despite_new_rows() {
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
        assert_eq!(tail.unseen(&seen, &cell), Some(2), "1 of 3 was read");
        see(&mut seen, 70);
        assert_eq!(tail.unseen(&seen, &cell), Some(2), "new rows are above");
        (30..32).for_each(|id| see(&mut seen, id));
        assert_eq!(tail.unseen(&seen, &cell), Some(0));
        see(&mut seen, 29);
        assert_eq!(tail.unseen(&seen, &cell), None, "more rows than there were");
    }
}
