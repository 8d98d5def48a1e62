//! Tests of the lake from its interface.

mod damage;
mod faults;
mod keep;
mod model;
mod place;
mod store;
mod tables;

use super::backend::disk::Storage;
use super::backend::object_client::Objects;
use super::backend::protocol::Repair;
use super::format::sealed_json::sealed;
use super::rows_for_tests::{DAY, Filing, filing, filings};
use super::{
    CommitInfo, FORMAT_VERSION, Lake, LakeError, LakeLock, PruneRules, Retention, RunRecord, Staging,
    TableDelta,
};
use crate::table::{ChangeRow, FilingRow, Row, Table};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

type Result<T = ()> = std::result::Result<T, LakeError>;
type StateRow = (i64, String, String, bool, i64);
type ChangeText = (i64, String, String, String, String);

fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a folder")
}

/// As [`Lake::open`], on a disk and a store that may fail.
fn open_on(root: &Path, storage: Storage, objects: Option<Objects>) -> Result<Lake> {
    let lake = Lake::on(root, storage, objects)?;
    lake.current()?;
    Ok(lake)
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("an instant")
}

fn info() -> CommitInfo {
    CommitInfo {
        committed_at: at(1_000),
        today: jiff::civil::date(2026, 11, 20),
        pipeline: "test".to_owned(),
        requests_sent: 0,
        state: serde_json::json!({"done": ["2026-11-03"]}),
        checks: serde_json::Value::Null,
    }
}

fn complete(days: &[(&str, bool)]) -> BTreeSet<(Date, bool)> {
    days.iter().map(|(day, fictitious)| (day.parse().expect("a date"), *fictitious)).collect()
}

/// A staged snapshot with one more filing.
fn staged(lake: &Lake, run_id: &str, row: Filing) -> Result<Staging> {
    let second = row.seen;
    end_run(lake, run_id, None)?;
    let mut staging = lake.stage(run_id)?;
    staging.spill_filings(filings(&[row]))?;
    staging.merge_filings(&BTreeSet::new(), &|_, _| true, at(second), DAY)?;
    Ok(staging)
}

/// One run: lock, stage, spill, merge, commit.
fn load(
    lake: &Lake,
    run_id: &str,
    rows: &[Filing],
    days: &[(&str, bool)],
    second: i64,
) -> Result<TableDelta> {
    let _lock = lake.lock(run_id, "test")?;
    end_run(lake, run_id, None)?;
    let mut staging = lake.stage(run_id)?;
    for page in rows.chunks(2) {
        staging.spill_filings(filings(page))?;
    }
    let delta = staging.merge_filings(&complete(days), &|_, _| true, at(second), DAY)?;
    staging.commit(info())?;
    end_run(lake, run_id, Some("complete"))?;
    Ok(delta)
}

/// What a new holder of the lock repairs.
fn repaired_by_lock(lake: &Lake, run_id: &str) -> Result<Repair> {
    lake.recover(&lake.lock_unrepaired(run_id, "test")?)
}

/// Writes the record of a run that begins, or that ends as given.
fn end_run(lake: &Lake, run_id: &str, finished: Option<&str>) -> Result {
    let mut record = RunRecord::begun(run_id, "test", at(1), jiff::civil::date(2026, 11, 20));
    record.finished = finished.map(str::to_owned);
    lake.run(run_id)?.close(&mut record)
}

fn prune_to_newest(lake: &Lake, lock: &LakeLock) -> Result<Vec<u64>> {
    let keep = Retention { last: 1, ..Retention::default() };
    let rules = PruneRules { keep, raw_days: None, today: jiff::civil::date(2026, 11, 21) };
    Ok(lake.prune(lock, &rules, at(300))?.snapshots)
}

/// All rows of a table in the newest snapshot.
fn rows_of<R: Row>(lake: &Lake) -> Result<Vec<R>> {
    let Some(commit) = lake.current()? else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    for path in lake.open_snapshot(&commit).paths(R::TABLE.name())? {
        rows.extend(R::rows(&crate::table::read_batch(&path, None)?)?);
    }
    Ok(rows)
}

/// business → (`filed_date`, name, listed, first seen in seconds).
fn state(lake: &Lake) -> Result<Vec<StateRow>> {
    let row = |row: FilingRow| {
        let first_seen = row.first_seen_at.as_second();
        (row.business_id, row.filed_date.to_string(), row.name, row.listed, first_seen)
    };
    let mut state: Vec<StateRow> = rows_of(lake)?.into_iter().map(row).collect();
    state.sort();
    Ok(state)
}

/// (business, change, field, old, new), sorted.
fn changes(lake: &Lake) -> Result<Vec<ChangeText>> {
    let text = |cell: Option<String>| cell.unwrap_or("-".to_owned());
    let row = |row: ChangeRow| {
        (row.business_id, row.change.name().to_owned(), row.field, text(row.old), text(row.new))
    };
    let mut changes: Vec<ChangeText> = rows_of(lake)?.into_iter().map(row).collect();
    changes.sort();
    Ok(changes)
}

fn change(id: i64, change: &str) -> ChangeText {
    (id, change.to_owned(), String::new(), "-".to_owned(), "-".to_owned())
}

fn first_rows() -> Vec<Filing> {
    vec![
        filing(1, "2026-10-30"),
        filing(2, "2026-11-03"),
        filing(3, "2026-11-03"),
        filing(4, "2026-11-03").typed("fictitious"),
        filing(5, "2026-11-04"),
    ]
}

/// A lake in a new folder, with one snapshot.
fn first_load() -> Result<(TempDir, Lake)> {
    let root = folder();
    let lake = Lake::open(root.path())?;
    load(&lake, "r1", &first_rows(), &[], 100)?;
    Ok((root, lake))
}

fn assert_sound(lake: &Lake) -> Result {
    for snapshot in lake.kept_snapshots()? {
        let report = lake.verify(snapshot)?;
        assert_eq!(report.problems, [], "snapshot {snapshot}");
    }
    Ok(())
}

fn file_of(lake: &Lake, snapshot: u64, start: &str) -> Result<PathBuf> {
    let commit = lake.commit(snapshot)?;
    let files = commit.tables.values().flat_map(|table| &table.files);
    let file = files.filter(|file| file.path.starts_with(start)).map(|file| &file.path).next();
    Ok(lake.layout.snapshot(snapshot).join(file.expect("a file")))
}

fn inode(path: &Path) -> u64 {
    fs::metadata(path).expect("a file").ino()
}

#[test]
fn first_load_fills_the_months_and_writes_no_changes() -> Result {
    let root = folder();
    let lake = Lake::open(root.path())?;
    assert_eq!(lake.current()?, None);
    let delta = load(&lake, "r1", &first_rows(), &[], 100)?;
    assert_eq!((delta.read, delta.added, delta.total), (5, 5, 5));
    assert_eq!(changes(&lake)?, []);
    let commit = lake.current()?.expect("a commit");
    let tables = Table::ALL.into_iter().filter(|table| !table.is_of_state()).count();
    assert_eq!((commit.snapshot, commit.parent, commit.tables.len()), (1, None, tables));
    assert_eq!(fs::read_link(root.path().join("current")).ok(), Some(PathBuf::from("snapshots/000001")));
    let path = &commit.tables["filings"].files[0].path;
    assert!(path.starts_with("filings/filed_month=2026-10/part-"), "{path}");
    assert!(root.path().join("runs/r1/staged").try_exists().is_ok_and(|found| !found));
    assert_sound(&lake)
}

#[test]
fn second_load_records_new_changed_and_vanished_rows_and_a_third_returned_rows() -> Result {
    let (_root, lake) = first_load()?;
    let second = [
        filing(2, "2026-11-03").named("RENAMED").seen(200),
        filing(5, "2026-11-04").seen(200),
        filing(6, "2026-11-04").seen(150),
        filing(6, "2026-11-04").named("LATER").seen(200),
        filing(6, "2026-11-04").named("EARLIER").seen(199),
    ];
    let days = [("2026-11-03", false), ("2026-11-04", false)];
    let delta = load(&lake, "r2", &second, &days, 201)?;
    assert_eq!((delta.read, delta.added, delta.changed, delta.vanished, delta.returned), (5, 1, 1, 1, 0));
    assert_eq!(delta.total, 6);
    let renamed = (2, "changed".into(), "name".into(), "BUSINESS 2".into(), "RENAMED".into());
    assert_eq!(changes(&lake)?, [renamed, change(3, "vanished"), change(6, "appeared")]);
    let state = state(&lake)?;
    let row = |id: usize| (state[id - 1].2.as_str(), state[id - 1].3, state[id - 1].4);
    assert_eq!(row(2), ("RENAMED", true, 100));
    assert_eq!(row(3), ("BUSINESS 3", false, 100));
    assert_eq!(row(4), ("BUSINESS 4", true, 100), "the fictitious listing was not read");
    assert_eq!(row(6), ("LATER", true, 200));
    let delta = load(&lake, "r3", &[filing(3, "2026-11-03").seen(300)], &[], 301)?;
    assert_eq!((delta.returned, delta.changed, delta.added), (1, 0, 0));
    assert!(changes(&lake)?.contains(&change(3, "returned")));
    assert_sound(&lake)
}

#[test]
fn load_of_known_rows_changes_nothing() -> Result {
    let (_root, lake) = first_load()?;
    let _lock = lake.lock("r2", "test")?;
    let mut staging = lake.stage("r2")?;
    let again: Vec<_> = first_rows().into_iter().map(|row| row.seen(200)).collect();
    staging.spill_filings(filings(&again))?;
    let days = complete(&[("2026-11-03", false), ("2026-11-03", true)]);
    let delta = staging.merge_filings(&days, &|_, _| true, at(200), DAY)?;
    assert_eq!(delta, TableDelta { read: 5, total: 5, ..TableDelta::default() });
    assert!(staging.is_unchanged());
    staging.commit(info())?;
    assert_eq!(lake.commit(1)?.tables, lake.commit(2)?.tables);
    let shared = |snapshot| file_of(&lake, snapshot, "filings/filed_month=2026-11").map(|path| inode(&path));
    assert_eq!(shared(1)?, shared(2)?);
    Ok(())
}

#[test]
fn missing_business_of_an_incomplete_day_vanishes_and_its_neighbours_stay_listed() -> Result {
    let (_root, lake) = first_load()?;
    let _lock = lake.lock("r2", "test")?;
    let mut staging = lake.stage("r2")?;
    staging.spill_filings(filings(&[filing(6, "2026-11-03").seen(200)]))?;
    let day = jiff::civil::date(2026, 11, 3);
    staging.note_gone([(2, (day, false)), (6, (day, true))]);
    let delta = staging.merge_filings(&BTreeSet::new(), &|_, _| true, at(200), DAY)?;
    staging.commit(info())?;
    assert_eq!((delta.added, delta.vanished, delta.total), (1, 1, 6));
    assert_eq!(changes(&lake)?, [change(2, "vanished"), change(6, "appeared")]);
    let listed: Vec<i64> = state(&lake)?.into_iter().filter(|row| row.3).map(|row| row.0).collect();
    assert_eq!(listed, [1, 3, 4, 5, 6], "what was seen is there, whatever was said of it");
    assert_sound(&lake)
}

#[test]
fn changed_month_gets_a_new_file_and_the_others_are_shared() -> Result {
    let (_root, lake) = first_load()?;
    load(&lake, "r2", &[filing(9, "2026-11-05").seen(200)], &[], 200)?;
    let inode_of = |snapshot, start: &str| file_of(&lake, snapshot, start).map(|path| inode(&path));
    assert_eq!(inode_of(1, "filings/filed_month=2026-10")?, inode_of(2, "filings/filed_month=2026-10")?);
    assert_ne!(inode_of(1, "filings/filed_month=2026-11")?, inode_of(2, "filings/filed_month=2026-11")?);
    let lock = lake.lock("p", "test")?;
    assert_eq!(prune_to_newest(&lake, &lock)?, [1]);
    assert_eq!(lake.verify(2)?.problems, []);
    assert!(matches!(lake.diff(1, 2), Err(LakeError::Pruned { snapshot: 1 })));
    assert_eq!(lake.kept_snapshots()?, BTreeSet::from([2]));
    Ok(())
}

#[test]
fn business_with_a_new_month_leaves_its_old_month() -> Result {
    let (_root, lake) = first_load()?;
    // Their days are complete as well: a business with a new month has not vanished.
    let rows = [
        filing(1, "2026-11-05").seen(200),
        filing(5, "2026-10-01").seen(200),
        filing(5, "2026-12-01").seen(150),
    ];
    let days = [("2026-10-30", false), ("2026-11-04", false)];
    let delta = load(&lake, "r2", &rows, &days, 200)?;
    assert_eq!((delta.added, delta.changed, delta.vanished, delta.total), (0, 2, 0, 5));
    let moved =
        |id, old: &str, new: &str| (id, "changed".into(), "filed_date".into(), old.into(), new.into());
    assert_eq!(changes(&lake)?, [moved(1, "2026-10-30", "2026-11-05"), moved(5, "2026-11-04", "2026-10-01")]);
    assert_eq!(state(&lake)?[0].4, 100, "first_seen_at is kept");
    assert_sound(&lake)?;
    // The last business of a month takes the file with it.
    load(&lake, "r3", &[filing(5, "2026-11-06").seen(300)], &[], 300)?;
    assert_eq!(lake.current()?.expect("a commit").tables["filings"].files.len(), 1);
    assert_sound(&lake)
}

#[test]
fn older_observation_changes_nothing() -> Result {
    let (_root, lake) = first_load()?;
    let old = [filing(2, "2026-11-03").named("OLD").seen(50), filing(1, "2026-09-01").seen(50)];
    let delta = load(&lake, "r2", &old, &[], 60)?;
    assert_eq!(delta, TableDelta { read: 2, total: 5, ..TableDelta::default() });
    assert_sound(&lake)
}

#[test]
fn lake_of_a_newer_version_is_refused() -> Result {
    let (root, _) = first_load()?;
    let path = root.path().join("commits/000001.json");
    let text = fs::read_to_string(&path).expect("a commit");
    let mut commit: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    commit.as_object_mut().expect("an object").remove("seal");
    let write =
        |commit: &serde_json::Value| fs::write(&path, sealed(commit).expect("sealed")).expect("written");
    commit["format_version"] = (FORMAT_VERSION + 1).into();
    write(&commit);
    let newer = Lake::open(root.path());
    assert!(matches!(newer, Err(LakeError::Newer { found: 2, known: FORMAT_VERSION, .. })), "{newer:?}");
    commit["format_version"] = FORMAT_VERSION.into();
    commit["tables"]["filings"]["files"][0]["path"] = "filings/../../x".into();
    write(&commit);
    assert!(matches!(Lake::open(root.path()), Err(LakeError::Damaged { .. })));
    Ok(())
}

#[test]
fn run_that_commits_twice_records_each_change_once() -> Result {
    let (_root, lake) = first_load()?;
    load(&lake, "r2", &[filing(2, "2026-11-03").named("B").seen(200)], &[], 200)?;
    load(&lake, "r2", &[filing(2, "2026-11-03").named("C").seen(300)], &[], 300)?;
    let told = changes(&lake)?;
    assert_eq!(told, [(2, "changed".into(), "name".into(), "BUSINESS 2".into(), "C".into())]);
    assert_sound(&lake)
}

#[test]
fn second_locker_gets_the_text_of_the_holder() -> Result {
    let root = folder();
    let (one, other) = (Lake::open(root.path())?, Lake::open(root.path())?);
    let lock = one.lock("r1", "pid 4711")?;
    match other.lock("r2", "pid 4712") {
        Err(LakeError::Held { holder }) => assert_eq!(holder, "run r1, pid 4711"),
        other => panic!("{other:?}"),
    }
    drop(lock);
    other.lock("r2", "pid 4712").map(|_| ())
}

#[test]
fn loser_of_two_commits_gets_a_conflict_and_damages_nothing() -> Result {
    let root = folder();
    let lake = Lake::open(root.path())?;
    let _lock = lake.lock("r1", "test")?;
    let (winner, loser) = (lake.stage("r1")?, lake.stage("r2")?);
    winner.commit(info())?;
    assert!(matches!(loser.commit(info()), Err(LakeError::Conflict { snapshot: 1 })));
    let path = root.path().join("commits/000001.json");
    let before = fs::read(&path).expect("a commit");
    assert!(!Storage::default().put_if_absent(&path, b"other")?);
    assert_eq!(fs::read(&path).expect("a commit"), before);
    assert_sound(&lake)
}

#[test]
fn new_run_deletes_only_the_leftovers_of_a_killed_run() -> Result {
    let (root, lake) = first_load()?;
    let left = [
        "snapshots/000002/filings",
        "snapshots/.tmp-000002-r2",
        "runs/r2/staged",
        "commits/.tmp-1-000002.json",
    ];
    for path in left {
        fs::create_dir_all(root.path().join(path)).expect("a folder");
    }
    let kept = ["snapshots/000007", "runs/r2/raw", "state/ledger"];
    for path in kept {
        fs::create_dir_all(root.path().join(path)).expect("a folder");
    }
    fs::remove_file(root.path().join("current")).expect("removed");
    let repaired = repaired_by_lock(&lake, "r3")?;
    assert_eq!((repaired.removed.len(), repaired.shown), (4, Some(1)));
    assert!(kept.iter().all(|path| root.path().join(path).is_dir()));
    assert!(root.path().join("current/filings").is_dir());
    assert_eq!(repaired_by_lock(&lake, "r4")?, Repair::default());
    let leftover = root.path().join("snapshots/.tmp-000002-r2");
    fs::create_dir_all(&leftover).expect("a folder");
    drop(lake.lock("r5", "test")?);
    assert!(!leftover.try_exists().expect("a look"));
    Ok(())
}
