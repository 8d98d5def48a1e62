//! Tables other than filings, and aggregates; what `changes` says.

use super::*;
use crate::lake::{Base, Losses, Month};
use crate::table::OfficerRow;
use arrow_array::RecordBatch;
use std::collections::BTreeMap;

fn officers(officers: &[(i64, i32)]) -> RecordBatch {
    let row = |(business_id, position): &(i64, i32)| OfficerRow {
        business_id: *business_id,
        position: *position,
        name: "N".to_owned(),
        title: "N".to_owned(),
        fetched_at: at(5),
    };
    OfficerRow::batch(&officers.iter().map(row).collect::<Vec<_>>()).expect("rows")
}

#[test]
fn other_tables_are_upserted_by_key_and_keep_their_file_when_nothing_differs() -> Result {
    let rows = crate::lake::rows_for_tests::labels;
    let root = folder();
    let lake = Lake::open(root.path())?;
    let _lock = lake.lock("r1", "test")?;
    let mut staging = lake.stage("r1")?;
    staging.merge(Table::EntityTypes, &rows(&[("llc", "x"), ("trust", "Trust"), ("llc", "LLC")]))?;
    staging.commit(info())?;
    let mut staging = lake.stage("r2")?;
    let same = staging.merge(Table::EntityTypes, &rows(&[("llc", "LLC")]))?;
    assert_eq!((same.added, same.changed, same.total, staging.is_unchanged()), (0, 0, 2, true));
    let more = staging.merge(Table::EntityTypes, &rows(&[("llc", "Company"), ("corporation", "C")]))?;
    assert_eq!((more.added, more.changed, more.total, staging.is_unchanged()), (1, 1, 3, false));
    assert!(matches!(staging.merge(Table::Coverage, &rows(&[])), Err(LakeError::Schema { .. })));
    staging.commit(info())?;
    assert_sound(&lake)
}

#[test]
fn row_read_as_dissolved_has_changed_its_status_and_has_not_vanished() -> Result {
    let (_root, lake) = first_load()?;
    assert_eq!(changes(&lake)?, [], "the first rows of a lake have not appeared");
    let dissolved = Filing { status: "dissolved", ..filing(2, "2026-11-03").seen(200) };
    let delta = load(&lake, "r2", &[dissolved], &[], 200)?;
    assert_eq!((delta.changed, delta.vanished), (1, 0));
    let status = (2, "changed".into(), "status".into(), "active".into(), "dissolved".into());
    assert_eq!(changes(&lake)?, [status]);
    assert_eq!(state(&lake)?.iter().filter(|row| !row.3).map(|row| row.0).collect::<Vec<_>>(), [2]);
    Ok(())
}

#[test]
fn officers_of_a_business_are_replaced_together() -> Result {
    let root = folder();
    let lake = Lake::open(root.path())?;
    let _lock = lake.lock("r1", "test")?;
    let mut staging = lake.stage("r1")?;
    staging.merge(Table::Officers, &officers(&[(1, 0), (1, 1), (2, 0), (3, 0)]))?;
    let delta = staging.merge_replacing(Table::Officers, &officers(&[(1, 0)]), &BTreeSet::from([2]))?;
    assert_eq!((delta.vanished, delta.total), (2, 2));
    Ok(())
}

#[test]
fn aggregates_keep_their_file_with_equal_rows_and_are_dropped_with_their_definition() -> Result {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, UInt32Array};
    use std::sync::Arc;
    let with = |n: ArrayRef| {
        let columns: [(&str, ArrayRef); 2] =
            [("county", Arc::new(StringArray::from(vec!["Duval"]))), ("n", n)];
        RecordBatch::try_from_iter(columns).expect("rows")
    };
    let rows = |n: i64| with(Arc::new(Int64Array::from(vec![n])));
    let root = folder();
    let lake = Lake::open(root.path())?;
    let _lock = lake.lock("r1", "test")?;
    let mut staging = lake.stage("r1")?;
    staging.aggregate("county_day", &rows(1), "How many?")?;
    assert!(matches!(staging.aggregate("../x", &rows(1), ""), Err(LakeError::Name { .. })));
    let unsigned = with(Arc::new(UInt32Array::from(vec![1])));
    assert!(matches!(staging.aggregate("county_day", &unsigned, ""), Err(LakeError::Schema { .. })));
    staging.commit(info())?;
    let mut staging = lake.stage("r2")?;
    staging.aggregate("county_day", &rows(1), "How many?")?;
    assert!(staging.is_unchanged());
    staging.aggregate("county_day", &rows(2), "How many?")?;
    assert!(!staging.is_unchanged());
    assert!(staging.files().contains_key("agg_county_day"));
    staging.retain_aggregates(&BTreeSet::new());
    assert!(!staging.files().contains_key("agg_county_day"));
    assert_sound(&lake)
}

#[test]
fn what_left_its_listing_later_in_the_same_run_is_not_listed() -> Result {
    let (_root, lake) = first_load()?;
    let _lock = lake.lock("r2", "test")?;
    let mut staging = lake.stage("r2")?;
    let day = jiff::civil::date(2026, 11, 3);
    let seen = |id: i64| filings(&[filing(id, "2026-11-03").seen(200)]);
    for id in [2, 6, 7] {
        staging.spill_filings(seen(id))?;
    }
    staging.note_gone([2, 6, 7].map(|id| (id, (day, false))));
    staging.spill_filings(seen(7))?;
    let delta = staging.merge_filings(&BTreeSet::new(), &|_, _| true, at(200), DAY)?;
    staging.commit(info())?;
    assert_eq!((delta.added, delta.vanished), (1, 1), "6 came and left, 7 came back");
    assert_eq!(changes(&lake)?, [change(2, "vanished"), change(7, "appeared")]);
    assert_sound(&lake)
}

#[test]
fn rows_whose_key_or_business_is_in_another_row_are_counted() -> Result {
    let [october, november] = ["2026-10-05", "2026-11-03"].map(|day| Month::of(day.parse().expect("a day")));
    let months = [october.expect("a month"), november.expect("a month")];
    let root = folder();
    let lake = Lake::open(root.path())?;
    let _lock = lake.lock("r1", "test")?;
    let mut staging = lake.stage("r1")?;
    let writer = staging.part_writer();
    let parts = [
        (Table::Filings, 0, filings(&[filing(1, "2026-10-05")])),
        (Table::Filings, 1, filings(&[filing(2, "2026-11-03"), filing(3, "2026-11-03")])),
        (Table::Officers, 0, officers(&[(1, 0), (1, 1)])),
        (Table::Officers, 1, officers(&[(3, 0), (2, 0)])),
    ];
    for (table, month, rows) in &parts {
        let part = writer.write_month(*table, months[*month], rows)?;
        staging.set_month(*table, months[*month], Some(part))?;
    }
    assert_eq!(staging.invalid_keys()?, BTreeMap::new());
    for (rows, odd) in [(officers(&[(3, 0), (3, 0), (2, 0)]), 1), (officers(&[(3, 0), (1, 2)]), 1)] {
        staging.set_month(
            Table::Officers,
            months[1],
            Some(writer.write_month(Table::Officers, months[1], &rows)?),
        )?;
        assert_eq!(staging.invalid_keys()?, BTreeMap::from([(Table::Officers, odd)]));
    }
    Ok(())
}

#[test]
fn rows_that_come_back_after_a_repair_are_no_news() -> Result {
    let (_root, lake) = first_load()?;
    let second = [filing(2, "2026-11-03").seen(200), filing(6, "2026-11-05").seen(150)];
    load(&lake, "r2", &second, &[("2026-11-03", false)], 200)?;
    let before = [change(3, "vanished"), change(6, "appeared")];
    assert_eq!(changes(&lake)?, before);
    let _lock = lake.lock("repair", "test")?;
    let commit = lake.current()?.expect("a commit");
    let november = |path: &str| path.starts_with("filings/filed_month=2026-11");
    let lost = commit.files(Some("filings")).filter(|entry| november(&entry.path));
    let lost: BTreeSet<&str> = lost.map(|entry| entry.blake3.as_str()).collect();
    lake.stage_on(Base::NewestWithout(&lost), "repair")?.commit(info())?;
    assert_eq!(state(&lake)?.len(), 1);
    // All come back, with one more of a day that is read for the first time since, and one of another day.
    let mut losses = Losses::default();
    losses.note(Month::of(jiff::civil::date(2026, 11, 1)).expect("a month"), at(200));
    losses.note_read([(jiff::civil::date(2026, 11, 9), false)]);
    let mut staging = lake.stage("r3")?;
    staging.note_losses(losses);
    let back =
        ["2026-11-03", "2026-11-03", "2026-11-03", "2026-11-04", "2026-11-05", "2026-11-05", "2026-11-09"];
    for (id, day) in (2..).zip(back) {
        let row = filing(id, day).seen(400);
        staging.spill_filings(filings(&[if id == 4 { row.typed("fictitious") } else { row }]))?;
    }
    staging.merge_filings(&BTreeSet::new(), &|_, _| true, at(400), DAY)?;
    staging.commit(info())?;
    let [vanished, appeared] = before;
    assert_eq!(changes(&lake)?, [change(3, "returned"), vanished, appeared, change(8, "appeared")]);
    let seen: Vec<(i64, i64)> = state(&lake)?.into_iter().map(|row| (row.0, row.4)).collect();
    assert_eq!(seen, [(1, 100), (2, 200), (3, 200), (4, 200), (5, 200), (6, 200), (7, 200), (8, 400)]);
    Ok(())
}
