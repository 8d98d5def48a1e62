//! Snapshots pruned, rolled back and pending review; damage of every kind, found and named.

use super::*;
use crate::lake::backend::fault_injection::Faults;
use crate::lake::{DiffKind, LakeOptions, SnapshotState};
use jiff::civil::date;

/// 3 snapshots: a first load, then changes in one month, then in another.
fn history() -> Result<(TempDir, Lake)> {
    let (root, lake) = first_load()?;
    let second = [filing(2, "2026-11-03").named("RENAMED").seen(200), filing(6, "2026-11-05").seen(200)];
    load(&lake, "r2", &second, &[("2026-11-03", false)], 200)?;
    load(&lake, "r3", &[filing(1, "2026-11-06").seen(300)], &[], 300)?;
    Ok((root, lake))
}

fn standings(lake: &Lake) -> Result<Vec<(u64, SnapshotState, bool)>> {
    Ok(lake.history()?.iter().map(|entry| (entry.snapshot, entry.state, entry.pinned)).collect())
}

/// The number of a new pending snapshot with one more filing.
fn hold(lake: &Lake, run_id: &str, id: i64) -> Result<u64> {
    Ok(staged(lake, run_id, filing(id, "2026-11-05").seen(400))?.commit_pending(info())?.snapshot)
}

fn rules(last: u32) -> PruneRules {
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
    let now = (at(900), date(2026, 11, 21));
    let commit = lake.roll_back(&lock, 1, "back", now)?.expect("a new snapshot");
    assert_eq!((commit.snapshot, commit.parent, commit.restores), (4, Some(3), Some(1)));
    assert_eq!((&commit.tables, &commit.state), (&lake.commit(1)?.tables, &lake.commit(1)?.state));
    assert_eq!(state(&lake)?.len(), 5);
    assert_eq!(lake.roll_back(&lock, 4, "again", now)?, None, "it is what readers see");
    assert!(matches!(lake.roll_back(&lock, 9, "again", now), Err(LakeError::NoSnapshot { snapshot: 9 })));
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
    let lock = lake.lock("r6", "test")?;
    assert!(lock.repair().is_empty(), "a pending snapshot is no leftover");
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
    assert_eq!(lake.lock("r7", "test")?.repair().removed, [lake.layout.snapshot(5)]);
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
        let mut record = crate::lake::RunRecord::begun(run_id, "daily", (at(1), date(2026, 11, 20)));
        record.finished = finished.then(|| "complete".to_owned());
        run.close(&mut record)?;
    }
    let lock = lake.lock("p", "test")?;
    let young = PruneRules { today: date(2026, 11, 20), ..rules(1) };
    let pruned = lake.prune(&lock, &young, at(400))?;
    assert_eq!((pruned.snapshots.as_slice(), pruned.runs.len()), (&[1, 2][..], 0));
    assert_eq!(lake.prune(&lock, &rules(1), at(400))?.runs, ["r1"], "r2 is not finished, r3 is published");
    assert!(lake.run("r1")?.raw_read_only()?.is_empty() && lake.run("r3")?.raw_read_only()?.len() == 1);
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

fn lake_of_everything() -> Result<(TempDir, Lake)> {
    let (root, lake) = history()?;
    for run_id in ["r1", "r3"] {
        let run = lake.run(run_id)?;
        let mut raw = run.raw()?;
        for page in 0..6 {
            raw.append("GET /v1/x", page, 200, at(1), format!("{{\"page\":{page}}}").repeat(9).as_bytes())?;
        }
        raw.sync()?;
        run.write_journal(1, &serde_json::json!({"steps": [1, 2, 3]}))?;
        let mut quarantine = run.quarantine();
        quarantine.append(&serde_json::json!({"record": "{}", "reasons": ["no id"]}))?;
        quarantine.sync()?;
        run.write_summary(&serde_json::json!({"outcome": "complete", "rows": 7}))?;
        let mut record = crate::lake::RunRecord::begun(run_id, "daily", (at(1), date(2026, 11, 20)));
        record.finished = Some("complete".to_owned());
        run.close(&mut record)?;
    }
    lake.pin(1, at(400))?;
    let lock = lake.lock("p", "test")?;
    lake.prune(&lock, &rules(1), at(400))?;
    hold(&lake, "r5", 8)?;
    Ok((root, lake))
}

/// Every file of the lake except the lock, and the files of unfinished runs.
fn damageable(root: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            match entry.file_type().expect("a kind") {
                kind if kind.is_dir() && entry.file_name() != "state" => folders.push(entry.path()),
                kind if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.retain(|path| !["runs/r2", "runs/r5"].iter().any(|run| path.starts_with(root.join(run))));
    files.sort();
    files
}

/// Damages one file after the other: flips a bit, cuts the end off, or overwrites bytes. Each time the audit names it.
fn damage_is_named(seeds: u64) -> Result {
    let (root, lake) = lake_of_everything()?;
    assert_eq!(lake.audit()?.problems, []);
    let files = damageable(root.path());
    let kinds = "snapshots/ commits/0 held/ pins/ pruned/ run.json summary.json raw/ journal/ quarantine/ \
                 runs/r1/commits/";
    for kind in kinds.split(' ') {
        assert!(files.iter().any(|path| path.to_string_lossy().contains(kind)), "no file of {kind}");
    }
    let mut dice = super::model::Dice(seeds);
    for seed in 0..seeds {
        let path = &files[(seed as usize) % files.len()];
        let whole = fs::read(path).expect("a file");
        let at = dice.roll(whole.len() as u64) as usize;
        let mut bytes = whole.clone();
        match dice.roll(3) {
            0 => bytes[at] ^= 1 << dice.roll(8),
            1 => bytes.truncate(at),
            _ => bytes.iter_mut().skip(at).take(16).for_each(|byte| *byte ^= 0xA5),
        }
        fs::write(path, &bytes).expect("damaged");
        let problems = lake.audit()?.problems;
        assert!(
            problems.iter().any(|problem| &problem.path == path),
            "seed {seed}, {}: {problems:?}",
            path.display()
        );
        fs::write(path, &whole).expect("repaired");
    }
    assert_eq!(lake.audit()?.problems, []);
    Ok(())
}

#[test]
fn every_kind_of_damage_in_every_file_is_named() -> Result {
    damage_is_named(120)
}

#[test]
#[ignore = "1,000 seeds, about half a minute"]
fn every_kind_of_damage_in_every_file_is_named_1000_times() -> Result {
    damage_is_named(1_000)
}

#[test]
fn missing_commit_and_wrong_pointer_are_named() -> Result {
    let (root, lake) = history()?;
    let named = |path: &str| -> Result<bool> {
        let lake = LakeOptions { allow_damaged: true, ..LakeOptions::default() }.open(root.path())?;
        Ok(lake.audit()?.problems.iter().any(|problem| problem.path == root.path().join(path)))
    };
    let set = |name: &str| fs::rename(root.path().join(name), root.path().join("aside")).expect("renamed");
    let back = |name: &str| fs::rename(root.path().join("aside"), root.path().join(name)).expect("renamed");
    set("commits/000002.json");
    assert!(named("commits/000003.json")?, "it follows a commit that is not there");
    back("commits/000002.json");
    set("commits/000003.json");
    assert!(named("current")?, "it shows what no commit names");
    back("commits/000003.json");
    assert_eq!(lake.audit()?.problems, []);
    Ok(())
}

#[test]
fn lost_newest_commit_is_written_again_also_after_the_number_of_a_pending_snapshot() -> Result {
    let (root, lake) = history()?;
    let lock = lake.lock("r4", "test")?;
    assert_eq!(hold(&lake, "r4", 8)?, 4);
    drop(lock);
    load(&lake, "r5", &[filing(9, "2026-11-05").seen(500)], &[], 500)?;
    let (rows, path) = (state(&lake)?, lake.layout.commit(5));
    let commit = fs::read(&path).expect("a commit");
    // The copy of a run that was killed before its commit; its number was given again.
    let stale = crate::lake::Commit { run_id: "r9".to_owned(), committed_at: at(10), ..lake.commit(5)? };
    let copies = ["r5", "r9"].map(|run_id| root.path().join("runs").join(run_id).join("commits"));
    fs::create_dir_all(&copies[1]).expect("a folder");
    fs::write(copies[1].join("000005.json"), sealed(&stale).expect("sealed")).expect("written");
    fs::remove_file(&path).expect("removed");
    assert!(lake.lock("r6", "test")?.repair().is_empty());
    assert_eq!(fs::read(&path).expect("a commit"), commit);
    assert_eq!((lake.shown(), state(&lake)?), (Some(5), rows));
    assert_eq!(lake.audit()?.problems, []);
    // Without a copy nothing is removed.
    for copies in copies {
        fs::remove_dir_all(copies).expect("removed");
    }
    fs::remove_file(&path).expect("removed");
    assert!(matches!(lake.lock("r6", "test"), Err(LakeError::Damaged { .. })));
    assert!(lake.layout.snapshot(5).join("filings").is_dir());
    assert_eq!(lake.shown(), Some(5));
    Ok(())
}

#[test]
fn unreadable_file_is_named_and_is_no_damage() -> Result {
    let (_root, lake) = history()?;
    let path = file_of(&lake, 3, "filings/filed_month=2026-11")?;
    fs::remove_file(&path).expect("removed");
    assert_eq!(
        lake.damaged_files()?.into_iter().map(|file| file.path).collect::<Vec<_>>(),
        std::slice::from_ref(&path)
    );
    std::os::unix::fs::symlink(&path, &path).expect("a link to itself");
    assert!(matches!(lake.damaged_files(), Err(LakeError::Storage { .. })));
    let problems = lake.audit()?.problems;
    assert_eq!(problems.iter().map(|problem| &problem.path).collect::<Vec<_>>(), [&path], "{problems:?}");
    Ok(())
}
