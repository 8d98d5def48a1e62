//! Damage of every kind, found and named.

use super::keep::{history, hold, load_history, rules};
use super::place::Place;
use super::*;
use crate::lake::LakeOptions;
use crate::lake::format::layout::Layout;

#[test]
fn verify_names_torn_flipped_missing_and_orphan_files() -> Result {
    let (_root, lake) = first_load()?;
    let path = file_of(&lake, 1, "filings/filed_month=2026-11")?;
    let whole = fs::read(&path).expect("a file");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for bytes in [&whole[..whole.len() - 1], &flipped[..], &[]] {
        fs::write(&path, bytes).expect("written");
        let problems = lake.verify(1)?.problems;
        assert_eq!(problems.iter().map(|problem| &problem.path).collect::<Vec<_>>(), [&path]);
    }
    // What is damaged is never merged on.
    let spoilt = load(&lake, "r2", &[filing(9, "2026-11-05").seen(200)], &[], 200);
    assert!(matches!(spoilt, Err(LakeError::Damaged { .. } | LakeError::Storage { .. })), "{spoilt:?}");
    fs::remove_file(&path).expect("removed");
    assert_eq!(lake.verify(1)?.problems.len(), 1);
    fs::write(&path, &whole).expect("written");
    fs::write(lake.layout.snapshot(1).join("filings/README"), "x").expect("written");
    assert_eq!(lake.verify(1)?.problems.len(), 1);
    Ok(())
}

/// Fills a lake with every kind of file.
fn fill(lake: &Lake) -> Result {
    load_history(lake)?;
    for (run_id, snapshot) in [("r1", 1), ("r3", 3)] {
        let run = lake.run(run_id)?;
        let mut raw = run.raw()?;
        for page in 0..6 {
            raw.append("GET /v1/x", page, 200, at(1), format!("{{\"page\":{page}}}").repeat(9).as_bytes())?;
        }
        raw.sync()?;
        run.write_journal(snapshot, &serde_json::json!({"steps": [1, 2, 3]}))?;
        let mut quarantine = run.quarantine();
        quarantine.append(&serde_json::json!({"record": "{}", "reasons": ["no id"]}))?;
        quarantine.sync()?;
        run.write_summary(&serde_json::json!({"outcome": "complete", "rows": 7}))?;
        end_run(lake, run_id, (run_id == "r1").then_some("complete"))?;
    }
    lake.write_catalog_files(&[("TABLES.md", b"tables"), ("report.html", b"<html>")], None)?;
    lake.pin(1, at(400))?;
    let lock = lake.lock("p", "test")?;
    lake.prune(&lock, &rules(1), at(400))?;
    hold(lake, "r5", 8).map(|_| ())
}

/// Every file of the lake except the lock.
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
    files.sort();
    files
}

/// Damages one file after the other: flips a bit, cuts the end off, overwrites bytes, or removes it. Each time the audit names it.
fn damage_is_named(seeds: u64) -> Result {
    let root = folder();
    let lake = Lake::open(root.path())?;
    fill(&lake)?;
    assert_eq!(lake.audit()?.problems, []);
    let files = damageable(root.path());
    let kinds = "snapshots/ commits/0 held/ pins/ pruned/ copies/ run.json summary.json raw/ journal/ quarantine/ \
                 runs/r1/commits/ catalog/report catalog/files";
    for kind in kinds.split(' ') {
        assert!(files.iter().any(|path| path.to_string_lossy().contains(kind)), "no file of {kind}");
    }
    let mut dice = super::model::Dice(seeds);
    for seed in 0..seeds {
        let path = &files[(seed as usize) % files.len()];
        let whole = fs::read(path).expect("a file");
        let at = dice.roll(whole.len() as u64) as usize;
        let mut bytes = whole.clone();
        let how = dice.roll(4);
        match how {
            0 => bytes[at] ^= 1 << dice.roll(8),
            1 => bytes.truncate(at),
            _ => bytes.iter_mut().skip(at).take(16).for_each(|byte| *byte ^= 0xA5),
        }
        match how {
            3 => fs::remove_file(path).expect("removed"),
            _ => fs::write(path, &bytes).expect("damaged"),
        }
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
fn each_damaged_or_missing_object_of_a_store_is_named() -> Result {
    let base = folder();
    let place = Place::store(base.path().join("work"));
    fill(&place.open()?)?;
    let objects = place.objects();
    let lake = place.other_machine().open()?;
    assert_eq!(lake.audit()?.problems, []);
    let folders = ["catalog", "commits", "copies", "held", "pins", "pruned", "runs", "snapshots"];
    let mut names = vec!["latest.json".to_owned()];
    for folder in folders {
        let found = objects.list(folder, None)?;
        assert!(!found.is_empty(), "{folder}");
        names.extend(found);
    }
    for name in names {
        let bytes = objects.read(&name)?.expect("an object").bytes;
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 1;
        for damaged in [None, Some(flipped)] {
            match damaged {
                None => objects.delete(std::slice::from_ref(&name))?,
                Some(flipped) => objects.write(&name, &flipped)?,
            }
            let paths: Vec<PathBuf> =
                lake.audit()?.problems.into_iter().map(|problem| problem.path).collect();
            assert_eq!(paths, [PathBuf::from(objects.url(&name))]);
            objects.write(&name, &bytes)?;
        }
    }
    assert_eq!(lake.audit()?.problems, []);
    Ok(())
}

#[test]
fn missing_commit_and_wrong_pointer_are_named_and_nothing_else() -> Result {
    let (root, lake) = history()?;
    let lock = lake.lock("r4", "test")?;
    assert_eq!(hold(&lake, "r4", 8)?, 4);
    drop(lock);
    let named = || -> Result<Vec<String>> {
        let lake = LakeOptions { allow_damaged: true, ..LakeOptions::default() }.open(root.path())?;
        let inside = |path: &Path| path.strip_prefix(root.path()).expect("inside").display().to_string();
        Ok(lake.audit()?.problems.iter().map(|problem| inside(&problem.path)).collect())
    };
    let set = |name: &str| fs::rename(root.path().join(name), root.path().join("aside")).expect("renamed");
    let back = |name: &str| fs::rename(root.path().join("aside"), root.path().join(name)).expect("renamed");
    for name in
        ["commits/000001.json", "commits/000002.json", "commits/000003.json", "held/000004.json", "current"]
    {
        set(name);
        assert_eq!(named()?, [name]);
        back(name);
    }
    for other in [0, 1, 4, 7] {
        set("current");
        std::os::unix::fs::symlink(Layout::current_target(other), root.path().join("current"))
            .expect("a link");
        assert_eq!(named()?, ["current"], "it leads to {other}");
        back("current");
    }
    assert_eq!(lake.audit()?.problems, []);
    Ok(())
}

#[test]
fn pointer_to_a_pending_snapshot_does_not_publish_it() -> Result {
    let (root, lake) = history()?;
    let lock = lake.lock("r4", "test")?;
    assert_eq!(hold(&lake, "r4", 8)?, 4);
    drop(lock);
    fs::remove_file(root.path().join("current")).expect("removed");
    std::os::unix::fs::symlink(Layout::current_target(4), root.path().join("current")).expect("a link");
    assert_eq!(repaired_by_lock(&lake, "r5")?.shown, Some(3));
    assert_eq!((lake.shown(), lake.commits()?), (Some(3), vec![1, 2, 3]));
    Ok(())
}

#[test]
fn lost_mark_still_counts_and_the_next_lock_writes_it_again() -> Result {
    let (root, lake) = history()?;
    lake.pin(1, at(400))?;
    for name in ["pins/000001.json", "copies/pins/000001.json"] {
        let bytes = fs::read(root.path().join(name)).expect("a mark");
        fs::remove_file(root.path().join(name)).expect("removed");
        assert_eq!(lake.would_prune(&rules(1))?.snapshots, [2], "{name}: 1 stays pinned");
        assert!(!lake.pin(1, at(500))?);
        let paths: Vec<_> = lake.audit()?.problems.into_iter().map(|problem| problem.path).collect();
        assert_eq!(paths, [root.path().join(name)]);
        drop(lake.lock("r4", "test")?);
        assert_eq!(fs::read(root.path().join(name)).ok(), Some(bytes));
    }
    assert!(lake.unpin(1)?);
    drop(lake.lock("r5", "test")?);
    assert_eq!(lake.would_prune(&rules(1))?.snapshots, [1, 2]);
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
    end_run(&lake, "r9", None)?;
    let stale = crate::lake::Commit { run_id: "r9".to_owned(), committed_at: at(10), ..lake.commit(5)? };
    let copies = ["r5", "r9"].map(|run_id| root.path().join("runs").join(run_id).join("commits"));
    fs::create_dir_all(&copies[1]).expect("a folder");
    fs::write(copies[1].join("000005.json"), sealed(&stale).expect("sealed")).expect("written");
    fs::remove_file(&path).expect("removed");
    assert_eq!(repaired_by_lock(&lake, "r6")?, Repair::default());
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

#[test]
fn files_that_only_a_lost_record_proves_are_noted_before_the_repair_and_after() -> Result {
    let root = folder();
    let lake = Lake::open(root.path())?;
    fill(&lake)?;
    let noted =
        || -> Result<Vec<PathBuf>> { Ok(lake.audit()?.notes.into_iter().map(|note| note.path).collect()) };
    let run = root.path().join("runs/r1");
    fs::create_dir(run.join("files")).expect("a folder");
    let copy = |named: &str, text: &str| {
        let path = run.join(format!("files/{}.txt.zst", blake3::hash(named.as_bytes()).to_hex()));
        fs::write(&path, zstd::encode_all(text.as_bytes(), 1).expect("packed")).expect("written");
        path
    };
    copy("a text", "a text");
    let changed = copy("a text too", "another");
    assert!(noted()?.is_empty());
    fs::remove_file(run.join("run.json")).expect("removed");
    let problems = lake.audit()?.problems;
    let paths: Vec<PathBuf> = problems.iter().map(|problem| problem.path.clone()).collect();
    assert_eq!(paths, [changed.clone(), run.join("run.json")]);
    let unproven = [run.join("summary.json"), run.join("quarantine/records.jsonl")];
    assert_eq!(noted()?, unproven);
    let lock = lake.lock_unrepaired("r6", "test")?;
    for problem in &problems {
        assert!(lake.repair_small_file(&lock, problem, at(500))?.is_some());
    }
    assert_eq!(lake.audit()?.problems, []);
    let [summary, quarantine] = unproven;
    assert_eq!(noted()?, [changed, summary, quarantine], "what is lost stays known too");
    Ok(())
}
