//! Snapshots pruned, rolled back and pending review.

use super::*;
use crate::lake::backend::fault_injection::Faults;
use crate::lake::{DiffKind, SnapshotState};
use crate::table::OfficerRow;
use jiff::civil::date;

/// 3 snapshots: a first load, then changes in one month, then in another.
pub(super) fn history() -> Result<(TempDir, Lake)> {
    let root = folder();
    let lake = Lake::open(root.path())?;
    load_history(&lake)?;
    Ok((root, lake))
}

pub(super) fn load_history(lake: &Lake) -> Result {
    load(lake, "r1", &first_rows(), &[], 100)?;
    let second = [filing(2, "2026-11-03").named("RENAMED").seen(200), filing(6, "2026-11-05").seen(200)];
    load(lake, "r2", &second, &[("2026-11-03", false)], 200)?;
    load(lake, "r3", &[filing(1, "2026-11-06").seen(300)], &[], 300).map(|_| ())
}

fn standings(lake: &Lake) -> Result<Vec<(u64, SnapshotState, bool)>> {
    Ok(lake.history()?.iter().map(|entry| (entry.snapshot, entry.state, entry.pinned)).collect())
}

/// The number of a new pending snapshot with one more filing.
pub(super) fn hold(lake: &Lake, run_id: &str, id: i64) -> Result<u64> {
    let pending = staged(lake, run_id, filing(id, "2026-11-05").seen(400))?.commit_pending(info())?;
    end_run(lake, run_id, Some(RunRecord::HELD))?;
    Ok(pending.snapshot)
}

pub(super) fn rules(last: u32) -> PruneRules {
    PruneRules {
        keep: Retention { last, ..Retention::default() },
        raw_days: Some(0),
        today: date(2027, 1, 1),
    }
}

#[test]
fn rollback_publishes_the_old_tables_and_state_and_deletes_nothing() -> Result {
    let (_root, lake) = history()?;
    let lock = lake.lock("back", "test")?;
    let (now, today) = (at(900), date(2026, 11, 21));
    let commit = lake.roll_back(&lock, 1, "back", now, today)?.expect("a new snapshot");
    assert_eq!((commit.snapshot, commit.parent, commit.restores), (4, Some(3), Some(1)));
    assert_eq!((&commit.tables, &commit.state), (&lake.commit(1)?.tables, &lake.commit(1)?.state));
    assert_eq!(state(&lake)?.len(), 5);
    assert_eq!(lake.roll_back(&lock, 4, "again", now, today)?, None, "it is what readers see");
    assert!(matches!(
        lake.roll_back(&lock, 9, "again", now, today),
        Err(LakeError::NoSnapshot { snapshot: 9 })
    ));
    drop(lock);
    assert_sound(&lake)?;
    assert_eq!(lake.audit()?.problems, []);
    load(&lake, "r4", &[filing(9, "2026-11-05").seen(400)], &[], 400)?;
    assert_eq!(state(&lake)?.len(), 6);
    Ok(())
}

#[test]
fn pending_snapshot_is_complete_and_unseen_until_it_is_accepted() -> Result {
    let (_root, lake) = history()?;
    let lock = lake.lock("r4", "test")?;
    assert_eq!((hold(&lake, "r4", 8)?, hold(&lake, "r5", 9)?), (4, 5), "no number is given twice");
    assert_eq!(lake.current()?.expect("a commit").snapshot, 3);
    drop(lock);
    assert_eq!(repaired_by_lock(&lake, "r6")?, Repair::default(), "a pending snapshot is no leftover");
    let lock = lake.lock("r6", "test")?;
    assert_eq!(lake.verify(4)?.problems, []);
    assert_eq!(lake.diff(3, 3)?.tables.len(), 0);
    assert_eq!(lake.publish_pending(&lock, 5)?.snapshot, 5);
    assert_eq!(state(&lake)?.len(), 7);
    let refused = lake.publish_pending(&lock, 4);
    assert!(
        matches!(refused, Err(LakeError::Overtaken { parent: Some(3), newest: Some(5), .. })),
        "{refused:?}"
    );
    assert_eq!(standings(&lake)?[3], (4, SnapshotState::Pending, false));
    assert_eq!(lake.audit()?.problems, []);
    assert_eq!(lake.prune(&lock, &rules(10), at(500))?.pending, [4]);
    assert_eq!(lake.audit()?.problems, []);
    assert_eq!(standings(&lake)?.len(), 4);
    drop(lock);
    load(&lake, "r7", &[filing(10, "2026-11-05").seen(500)], &[], 500)?;
    assert_eq!(lake.current()?.map(|commit| (commit.snapshot, commit.parent)), Some((6, Some(5))));
    assert_eq!(lake.audit()?.problems, []);
    Ok(())
}

#[test]
fn pinned_pending_snapshot_stays_and_no_dropped_number_is_given_again() -> Result {
    let (_root, lake) = history()?;
    let lock = lake.lock("r4", "test")?;
    assert_eq!((hold(&lake, "r4", 8)?, hold(&lake, "r5", 9)?), (4, 5));
    assert_eq!(lake.publish_pending(&lock, 4)?.snapshot, 4);
    lake.pin(5, at(500))?;
    assert!(!lake.drop_pending(5, at(500))?);
    assert_eq!(standings(&lake)?[4], (5, SnapshotState::Pending, true));
    assert_eq!(lake.verify(5)?.problems, []);
    assert!(lake.unpin(5)?);
    assert_eq!(lake.prune(&lock, &rules(10), at(500))?.pending, [5]);
    drop(lock);
    load(&lake, "r6", &[filing(10, "2026-11-05").seen(600)], &[], 600)?;
    assert_eq!(lake.current()?.map(|commit| (commit.snapshot, commit.parent)), Some((6, Some(4))));
    // As after a kill that came after its commit was deleted.
    fs::create_dir_all(lake.layout.snapshot(5)).expect("a folder");
    assert_eq!(repaired_by_lock(&lake, "r7")?.removed, [lake.layout.snapshot(5)]);
    assert_eq!(lake.audit()?.problems, []);
    Ok(())
}

#[test]
fn pruning_keeps_the_newest_and_pinned_snapshots_and_shared_files() -> Result {
    let (_root, lake) = history()?;
    assert!(lake.pin(1, at(400))?);
    assert!(!lake.pin(1, at(400))?);
    assert!(matches!(lake.pin(9, at(400)), Err(LakeError::NoSnapshot { snapshot: 9 })));
    let lock = lake.lock("p", "test")?;
    assert_eq!(lake.would_prune(&rules(1))?.snapshots, [2]);
    assert_eq!(standings(&lake)?.len(), 3);
    assert_eq!(lake.prune(&lock, &rules(1), at(500))?.snapshots, [2]);
    let expected = [
        (1, SnapshotState::Published, true),
        (2, SnapshotState::Pruned, false),
        (3, SnapshotState::Published, false),
    ];
    assert_eq!(standings(&lake)?, expected);
    assert!(matches!(lake.pin(2, at(500)), Err(LakeError::Pruned { snapshot: 2 })));
    assert_eq!(lake.audit()?.problems, []);
    assert!(lake.unpin(1)? && !lake.unpin(1)?);
    assert_eq!(lake.prune(&lock, &rules(1), at(500))?.snapshots, [1]);
    assert_eq!(lake.prune(&lock, &rules(1), at(500))?.snapshots, [0_u64; 0]);
    assert_eq!(lake.audit()?.problems, []);
    assert_eq!(state(&lake)?.len(), 6);
    Ok(())
}

#[test]
fn kill_while_pruning_leaves_an_intact_lake_and_the_next_pruning_finishes_it() -> Result {
    for operation in 1.. {
        let (root, _) = history()?;
        let faults = Faults::kill_at(operation);
        let lake = open_on(root.path(), Storage::with_faults(faults.clone()), None)?;
        let prune =
            |lake: &Lake| lake.lock("p", "test").and_then(|lock| lake.prune(&lock, &rules(1), at(400)));
        let ended = prune(&lake);
        if !faults.was_hit() {
            ended?;
            assert!(operation > 6, "only {operation} operations");
            return Ok(());
        }
        let lake = Lake::open(root.path())?;
        assert_eq!(state(&lake)?.len(), 6, "operation {operation}");
        prune(&lake)?;
        assert_eq!(lake.audit()?.problems, [], "operation {operation}");
        let gone = |number: u64| !lake.layout.snapshot(number).is_dir();
        assert!(gone(1) && gone(2) && !gone(3), "operation {operation}");
    }
    Ok(())
}

#[test]
fn raw_pages_of_an_old_run_are_pruned_after_its_snapshots() -> Result {
    let (_root, lake) = history()?;
    for (run_id, finished) in [("r1", true), ("r2", false), ("r3", true)] {
        let run = lake.run(run_id)?;
        run.raw()?.append("GET /x", 0, 200, at(1), b"page")?;
        let mut record = crate::lake::RunRecord::begun(run_id, "daily", at(1), date(2026, 11, 20));
        record.finished = finished.then(|| "complete".to_owned());
        run.close(&mut record)?;
    }
    let lock = lake.lock("p", "test")?;
    let young = PruneRules { today: date(2026, 11, 20), ..rules(1) };
    let pruned = lake.prune(&lock, &young, at(400))?;
    assert_eq!((pruned.snapshots.as_slice(), pruned.runs.len()), (&[1, 2][..], 0));
    assert_eq!(lake.prune(&lock, &rules(1), at(400))?.runs, ["r1"], "r2 is not finished, r3 is published");
    assert!(lake.run("r1")?.raw_read_only()?.len() == 0 && lake.run("r3")?.raw_read_only()?.len() == 1);
    assert_eq!(lake.audit()?.problems, []);
    assert_eq!(lake.prune(&lock, &rules(1), at(400))?.runs.len(), 0);
    Ok(())
}

#[test]
fn diff_counts_rows_by_key_and_shows_examples() -> Result {
    let (_root, lake) = history()?;
    let diff = lake.diff(1, 3)?;
    let filings = &diff.tables["filings"];
    // 6 is new; 2 has another name, 1 another month; 3 is no longer listed.
    assert_eq!((filings.added, filings.changed, filings.vanished), (1, 2, 1), "{filings:#?}");
    assert_eq!((filings.rows_before, filings.rows_after), (5, 6));
    let moved = filings.examples.iter().find(|example| example.key["business_id"].as_deref() == Some("1"));
    let moved = moved.expect("the business with a new month");
    assert_eq!(moved.kind, DiffKind::Changed);
    assert_eq!(moved.before["filed_date"].as_deref(), Some("2026-10-30"));
    assert_eq!(moved.after["filed_date"].as_deref(), Some("2026-11-06"));
    assert!(!moved.after.contains_key("name"), "equal cells are left out");
    assert_eq!(lake.diff(3, 1)?.tables["filings"].added, 0, "3 is listed again, and only changed");
    assert_eq!(lake.diff(2, 2)?.tables.len(), 0);
    assert!(matches!(lake.diff(1, 9), Err(LakeError::NoSnapshot { snapshot: 9 })));
    Ok(())
}

#[test]
fn diff_leaves_out_when_a_run_read_a_row() -> Result {
    let (_root, lake) = history()?;
    let officer = |second: i64| OfficerRow {
        business_id: 1,
        position: 0,
        name: "ANN".to_owned(),
        title: "President".to_owned(),
        fetched_at: at(second),
    };
    let look_up = |run_id: &str, second: i64| -> Result<u64> {
        let _lock = lake.lock(run_id, "test")?;
        let mut staging = lake.stage(run_id)?;
        staging.merge(Table::Officers, &OfficerRow::batch(&[officer(second)])?)?;
        Ok(staging.commit(info())?.snapshot)
    };
    let (first, second) = (look_up("r4", 400)?, look_up("r5", 500)?);
    assert_ne!(lake.commit(first)?.tables["officers"], lake.commit(second)?.tables["officers"]);
    let diff = lake.diff(first, second)?;
    assert_eq!(diff.tables.len(), 0, "{diff:#?}");
    // Business 6 came with snapshot 2; gone back and read again, it is seen first at another time.
    let lock = lake.lock("back", "test")?;
    lake.roll_back(&lock, 1, "back", at(900), date(2026, 11, 21))?.expect("a new snapshot");
    drop(lock);
    let rows = [filing(2, "2026-11-03").named("RENAMED").seen(950), filing(6, "2026-11-05").seen(950)];
    load(&lake, "r6", &rows, &[("2026-11-03", false)], 950)?;
    let newest = lake.current()?.expect("a commit").snapshot;
    let diff = lake.diff(2, newest)?;
    assert!(!diff.tables.contains_key("filings"), "{diff:#?}");
    let example = &lake.diff(1, newest)?.tables["filings"].examples[0];
    assert!(diff.left_out.iter().all(|name| !example.after.contains_key(*name)), "{example:?}");
    Ok(())
}

#[test]
fn a_disk_without_room_for_a_byte_is_pruned() -> Result {
    let (root, lake) = history()?;
    let files = |snapshot: u64| lake.layout.snapshot(snapshot).is_dir();
    lake.run("r1")?.raw()?.append("GET /x", 0, 200, at(1), b"page")?;
    let full = open_on(root.path(), Storage::with_faults(Faults::full_disk()), None)?;
    let lock = full.lock("prune", "test")?;
    let snapshots_alone = PruneRules { raw_days: None, ..rules(1) };
    assert_eq!(full.prune(&lock, &snapshots_alone, at(900))?.snapshots, [1, 2]);
    assert_eq!([1, 2, 3].map(files), [false, false, true]);
    // The pages go first, and make the room for the record, which this disk never has.
    assert!(full.prune(&lock, &rules(1), at(900)).is_err_and(|error| error.is_full_disk()));
    assert!(!lake.run("r1")?.path().join("raw").is_dir());
    drop((lock, full));
    let lock = lake.lock("again", "test")?;
    lake.prune(&lock, &rules(1), at(901))?;
    assert_eq!(lake.audit()?.problems, []);
    assert_eq!(standings(&lake)?.iter().filter(|entry| entry.1 == SnapshotState::Pruned).count(), 2);
    Ok(())
}
