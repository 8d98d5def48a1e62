//! Prefixes of the register that lost rows: the next run asks for them again.

use crate::contract::listing::Listing;
use crate::extract::registry::prefixes::{NamePrefix, prefix_of};
use crate::lake::{Lake, LakeError};
use crate::pipeline::error::Result;
use crate::pipeline::state::registry::{RegisterState, RegisterStatus};
use crate::pipeline::state::run_state::RunState;
use crate::table::{FilingColumns, Table, TableError, read_table};
use arrow_array::RecordBatch;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A prefix, and whether fictitious names are meant.
pub(super) type Reading = (NamePrefix, bool);

/// Since when each prefix counts as read with its current rows: the time of the oldest such commit, pruned ones included.
pub(super) fn read_since(lake: &Lake) -> Result<BTreeMap<Reading, (u64, Timestamp)>, LakeError> {
    let mut times: BTreeMap<Reading, (u64, Timestamp)> = BTreeMap::new();
    for snapshot in lake.commits()? {
        let commit = match lake.commit(snapshot) {
            Err(LakeError::Damaged { .. }) => continue,
            other => other?,
        };
        let before = std::mem::take(&mut times);
        let state = RunState::of(Some(&commit));
        for (start, is_fictitious, rows) in state.register.starts() {
            let reading = (start, is_fictitious);
            let since = before.get(&reading).filter(|(known, _)| *known == rows).map(|(_, since)| *since);
            times.insert(reading, (rows, since.unwrap_or(commit.committed_at)));
        }
    }
    Ok(times)
}

/// Prefixes that count as read, but have fewer rows in these files. Rows added after their prefix was read do not count.
pub(super) fn starts_with_losses(
    register: &RegisterState,
    read_since: &BTreeMap<Reading, (u64, Timestamp)>,
    filings: &[PathBuf],
) -> Result<BTreeSet<Reading>> {
    let listed_alone = register.status == Some(RegisterStatus::Active);
    let mut left: BTreeMap<Reading, u64> = BTreeMap::new();
    for file in filings {
        let columns = ["name", "entity_type", "listed", "first_seen_at"];
        for batch in read_table(Table::Filings, file, Some(&columns))? {
            count_rows(&batch?, listed_alone, read_since, &mut left)?;
        }
    }
    let is_short = |reading: &Reading, rows: u64| left.get(reading).copied().unwrap_or(0) < rows;
    let starts = register.starts().map(|(start, is_fictitious, rows)| ((start, is_fictitious), rows));
    Ok(starts.filter(|(reading, rows)| is_short(reading, *rows)).map(|(reading, _)| reading).collect())
}

/// Counts rows that existed when their prefix was read.
fn count_rows(
    batch: &RecordBatch,
    listed_alone: bool,
    read_since: &BTreeMap<Reading, (u64, Timestamp)>,
    left: &mut BTreeMap<Reading, u64>,
) -> Result<(), TableError> {
    let columns = FilingColumns::new(batch);
    let (names, kinds) = (columns.name()?, columns.entity_type()?);
    let (listed, seen) = (columns.listed()?, columns.first_seen_at()?);
    for row in 0..columns.rows() {
        let Some(start) = prefix_of(names.value(row)) else { continue };
        let reading = (start, Listing::FICTITIOUS.holds(kinds.value(row)));
        let was_there =
            read_since.get(&reading).is_some_and(|(_, at)| seen.value(row) <= at.as_microsecond());
        if was_there && (listed.value(row) || !listed_alone) {
            *left.entry(reading).or_default() += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::reference::EntityType;
    use crate::pipeline::load::recount::tests::at;
    use crate::table::{FilingRow, write_rows};
    use jiff::civil::date;

    fn filing(id: i64, name: &str, kind: EntityType, listed: bool, seen: i64) -> FilingRow {
        let plain =
            crate::pipeline::load::recount::tests::filing(id, date(2026, 11, 20), kind.key(), "active");
        FilingRow { name: name.to_owned(), listed, first_seen_at: at(seen), changed_at: at(seen), ..plain }
    }

    #[test]
    fn a_prefix_with_fewer_rows_than_when_it_was_read_has_losses_despite_later_rows() {
        let (read_at, today) = (10, date(2026, 11, 20));
        let rows = [
            filing(1, "SUN", EntityType::Llc, true, read_at),
            filing(2, "SUNDIAL", EntityType::Llc, true, read_at + 1),
            filing(3, "SUNNY", EntityType::Fictitious, true, read_at),
            filing(4, "sara", EntityType::Llc, false, read_at),
        ];
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("part.parquet");
        write_rows(&rows, &file, &[]).expect("written");
        let found = [((['S', 'U'], false), 2), ((['S', 'U'], true), 1), ((['S', 'A'], false), 1)];
        let read: BTreeMap<Reading, (u64, Timestamp)> =
            found.iter().map(|(reading, rows)| (*reading, (*rows, at(read_at)))).collect();
        for (status, short) in [
            (RegisterStatus::All, vec![(['S', 'U'], false)]),
            (RegisterStatus::Active, vec![(['S', 'A'], false), (['S', 'U'], false)]),
        ] {
            let mut register = RegisterState::default();
            register.begin(status, today, None);
            for ((start, is_fictitious), rows) in found {
                register.finish(start, is_fictitious, today, rows);
            }
            let lost = starts_with_losses(&register, &read, std::slice::from_ref(&file)).expect("rows");
            assert_eq!(lost.into_iter().collect::<Vec<_>>(), short, "{status:?}");
        }
    }
}
