//! A lake in an object store: where its files are stored, and what other machines see.

use super::place::Place;
use super::*;
use crate::lake::backend::disk;
use crate::lake::backend::fault_injection::Faults;
use crate::lake::backend::object_client::Objects;

fn place() -> (TempDir, Place) {
    let base = folder();
    let place = Place::store(base.path().join("work"));
    (base, place)
}

fn loaded_place() -> Result<(TempDir, Place)> {
    let (base, place) = place();
    load(&place.open()?, "r1", &first_rows(), &[], 100)?;
    Ok((base, place))
}

fn names(objects: &Objects, folder: &str) -> Result<Vec<String>> {
    objects.list(folder, None)
}

#[test]
fn two_machines_that_begin_with_one_id_do_not_share_a_run() -> Result {
    let (_base, place) = place();
    let at = jiff::Timestamp::UNIX_EPOCH;
    let record =
        RunRecord::begun("20261123T222510294Z-daily-k3x9", "daily", at, jiff::civil::date(2026, 11, 23));
    let (one, two) = (place.open()?, place.other_machine().open()?);
    one.run(&record.run_id)?.begin(&record)?;
    let other = RunRecord { pipeline_digest: "another".to_owned(), ..record.clone() };
    assert!(matches!(two.run(&record.run_id)?.begin(&other), Err(LakeError::Held { .. })));
    one.run(&record.run_id)?.begin(&record)?;
    Ok(())
}

/// Two machines that end their runs at once wrote a catalogue of two snapshots between them, and `verify` called it damaged.
#[test]
fn a_catalogue_that_two_machines_write_at_once_is_recognised() -> Result {
    let (_base, place) = loaded_place()?;
    let (one, two) = (place.open()?, place.other_machine().open()?);
    let of_one: [(&str, &[u8]); 2] = [("views.sql", b"one"), ("report.html", b"one")];
    one.write_catalog_files(&of_one, None)?;
    assert!(one.has_catalog_of(1, &[])?);
    // The other machine listed its files before, and writes one of them after.
    two.backend.write("catalog/report.html", b"two")?;
    assert!(!one.has_catalog_of(1, &[])?);
    assert!(one.has_catalog_of(1, &["report.html"])?);
    one.write_catalog_files(&of_one, None)?;
    assert!(one.has_catalog_of(1, &[])?);
    load(&two, "r2", &[filing(9, "2026-11-05").seen(200)], &[], 200)?;
    assert!(!one.has_catalog_of(1, &[])?, "another snapshot is the newest");
    Ok(())
}

#[test]
fn commit_points_at_unchanged_files_which_stay_when_their_snapshot_is_pruned() -> Result {
    let (_base, place) = place();
    let lake = place.open()?;
    load(&lake, "r1", &first_rows(), &[], 100)?;
    load(&lake, "r2", &[filing(9, "2026-11-05").seen(200)], &[], 200)?;
    let objects = place.objects();
    let second = names(&objects, "snapshots/000002")?;
    assert_eq!(second.len(), 2, "the month and the changes: {second:?}");
    let commit = lake.commit(2)?;
    let entry = |start: &str| {
        let files = commit.tables.values().flat_map(|table| &table.files);
        files.filter(|file| file.path.starts_with(start)).map(|file| file.origin_snapshot).next()
    };
    assert_eq!(entry("filings/filed_month=2026-10"), Some(Some(1)));
    assert_eq!(entry("filings/filed_month=2026-11"), Some(None));
    let before = names(&objects, "snapshots/000001")?.len();
    let lock = lake.lock("p", "test")?;
    assert_eq!(prune_to_newest(&lake, &lock)?, [1]);
    assert_eq!(
        names(&objects, "snapshots/000001")?.len(),
        before - 2,
        "objects that 2 does not name are gone"
    );
    let other_machine = place.other_machine().open()?;
    assert_eq!(
        (other_machine.commits()?, other_machine.kept_snapshots()?),
        (vec![1, 2], BTreeSet::from([2]))
    );
    assert_eq!(state(&other_machine)?, state(&lake)?);
    assert_sound(&other_machine)
}

#[test]
fn readers_find_the_newest_snapshot_also_with_a_stale_pointer() -> Result {
    let (_base, place) = place();
    let lake = place.open()?;
    let objects = place.objects();
    let latest = || -> serde_json::Value {
        let bytes = objects.read("latest.json").expect("read").expect("an object").bytes;
        serde_json::from_slice(&bytes).expect("JSON")
    };
    load(&lake, "r1", &first_rows(), &[], 100)?;
    let first = objects.read("latest.json")?.expect("an object");
    load(&lake, "r2", &[filing(9, "2026-11-05").seen(200)], &[], 200)?;
    assert_eq!(
        (latest()["snapshot"].as_u64(), latest()["commit"].as_str()),
        (Some(2), Some("commits/000002.json"))
    );
    for name in latest()["tables"]["filings"].as_array().expect("names") {
        assert!(objects.read(name.as_str().expect("a name"))?.is_some(), "{name}");
    }
    objects.write("latest.json", &first.bytes)?;
    let other_machine = place.other_machine().open()?;
    assert_eq!(other_machine.current()?.map(|commit| commit.snapshot), Some(2));
    assert_eq!(repaired_by_lock(&other_machine, "r3")?.shown, Some(2));
    assert_eq!(latest()["snapshot"], 2);
    objects.write("latest.json", b"torn")?;
    assert_eq!(place.other_machine().open()?.current()?.map(|commit| commit.snapshot), Some(2));
    Ok(())
}

#[test]
fn one_of_two_concurrent_machines_gets_a_conflict_and_damages_no_file_of_the_other() -> Result {
    // With other rows, and with equal rows, whose files have the same names.
    for other in [filing(10, "2026-11-06").seen(200), filing(9, "2026-11-05").seen(200)] {
        let (_base, place) = place();
        load(&place.open()?, "r1", &first_rows(), &[], 100)?;
        let (one, two) = (place.open()?, place.other_machine().open()?);
        let (_locks, first) = ((one.lock("a", "x")?, two.lock("b", "y")?), filing(9, "2026-11-05").seen(200));
        let (winner, loser) = (staged(&one, "a", first)?, staged(&two, "b", other.clone())?);
        winner.commit(info())?;
        assert!(matches!(loser.commit(info()), Err(LakeError::Conflict { snapshot: 2 })));
        assert_sound(&place.other_machine().open()?)?;
        let named = one.commit(2)?.objects();
        let there = names(&place.objects(), "snapshots/000002")?;
        assert!(
            there.iter().all(|name| named.contains(name)),
            "the uploads of the loser are gone: {there:?}"
        );
        two.refresh()?;
        staged(&two, "b", other)?.commit(info())?;
        one.refresh()?;
        assert_eq!(state(&one)?, state(&two)?);
        assert_sound(&one)?;
    }
    Ok(())
}

#[test]
fn another_machine_resumes_a_killed_run_from_its_last_chunk() -> Result {
    let (_base, place) = place();
    let body = |page: u32| page.to_le_bytes();
    let (one, two) = (place.open()?, place.other_machine().open()?);
    let mut archive = one.run("r")?.raw()?;
    for page in 0..60 {
        archive.append("GET /x", page, 200, at(1), &body(page))?;
    }
    assert_eq!(two.run("r")?.raw()?.len(), 50, "two chunks of 25 small pages");
    // The process dies and resumes on its machine, which uploads what the store does not have.
    drop(archive);
    let mut archive = one.run("r")?.raw()?;
    // Both continue. Neither overwrites the other.
    let mut other = two.run("r")?.raw()?;
    assert_eq!((archive.len(), other.len()), (60, 60));
    other.append("GET /y", 0, 200, at(2), b"y")?;
    other.sync()?;
    archive.append("GET /z", 0, 200, at(2), b"z")?;
    archive.sync()?;
    for lake in [one, two] {
        let all = lake.run("r")?.raw()?;
        assert_eq!(all.len(), 62);
        assert_eq!(all.get("GET /x", 59)?.expect("a page").body, body(59));
    }
    let names = names(&place.objects(), "runs/r/raw")?;
    assert_eq!(names.len(), 5, "none went twice: {names:?}");
    Ok(())
}

#[test]
fn a_chunk_of_large_pages_ends_at_1_mib() -> Result {
    let (_base, place) = place();
    let mut archive = place.open()?.run("r")?.raw()?;
    let mut body = vec![0; 300 << 10];
    for page in 0..4_u32 {
        // These bytes do not compress.
        blake3::Hasher::new().update(&page.to_le_bytes()).finalize_xof().fill(&mut body);
        archive.append("GET /x", page, 200, at(1), &body)?;
    }
    assert_eq!(place.other_machine().open()?.run("r")?.raw()?.len(), 4);
    Ok(())
}

#[test]
fn other_machines_see_run_records() -> Result {
    let (_base, place) = place();
    let record = |finished: Option<&str>| RunRecord {
        finished: finished.map(str::to_owned),
        ..RunRecord::begun("r", "daily", at(1), jiff::civil::date(2026, 11, 20))
    };
    let (one, two) = (place.open()?, place.other_machine().open()?);
    one.run("r")?.write_record(&record(None))?;
    assert_eq!(two.unfinished_run("daily")?, Some(record(None)));
    one.run("r")?.write_record(&record(Some("complete")))?;
    assert_eq!(two.unfinished_run("daily")?, None);
    Ok(())
}

#[test]
fn another_machine_resumes_a_run_in_a_folder_of_its_own() -> Result {
    let (_base, place) = place();
    let begun = RunRecord::begun("r", "daily", at(1), jiff::civil::date(2026, 11, 20));
    let (one, two) = (place.open()?, place.other_machine().open()?);
    let run = one.run("r")?;
    run.begin(&begun)?;
    let mut pages = run.raw()?;
    for page in 0..60_u32 {
        pages.append("GET /x", page, 200, at(1), b"page")?;
    }
    // The machine itself resumes in its own folder.
    assert_eq!(one.take_over(begun.clone(), "other", at(2))?, begun);
    let unfinished = two.unfinished_run("daily")?.expect("a run");
    let taken = two.take_over(unfinished, "r2", at(2))?;
    assert_eq!(taken, RunRecord { run_id: "r2".to_owned(), started_at: at(2), ..begun.clone() });
    let mut copied = two.run("r2")?.raw()?;
    let uploaded = copied.len();
    assert!((25..60).contains(&uploaded), "{uploaded} of the uploaded chunks");
    copied.append("GET /y", 0, 200, at(2), b"page of the other machine")?;
    pages.append("GET /x", 60, 200, at(2), b"page")?;
    drop((copied, pages));
    assert_eq!(one.run("r")?.raw()?.len(), 61, "nobody wrote into it");
    assert_eq!(two.run("r2")?.raw()?.len(), uploaded + 1);
    // The newest of the two is resumed, by the machine that has it.
    let newest = two.unfinished_run("daily")?.expect("a run");
    assert_eq!((newest.run_id.as_str(), two.take_over(newest.clone(), "r3", at(3))?), ("r2", newest.clone()));
    // A third machine, in the place of the second one. Opened once more, an archive is uploaded to its end.
    assert_eq!(place.other_machine().open()?.run("r2")?.raw()?.len(), uploaded + 1);
    Ok(())
}

#[test]
fn damaged_object_is_never_used_and_named_with_its_address() -> Result {
    let (_base, place) = loaded_place()?;
    let objects = place.objects();
    let name = names(&objects, "snapshots/000001/filings")?.remove(0);
    let mut bytes = objects.read(&name)?.expect("an object").bytes;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    objects.write(&name, &bytes)?;
    let other_machine = place.other_machine().open()?;
    let error = state(&other_machine).expect_err("damaged").to_string();
    assert!(error.contains(&objects.url(&name)), "{error}");
    assert!(other_machine.stage("r2").is_err());
    // The working copy that wrote it has an intact file; a verification reads the store.
    for lake in [place.open()?, place.other_machine().open()?] {
        let problems = lake.verify(1)?.problems;
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.clone()).collect();
        assert_eq!(paths, [PathBuf::from(objects.url(&name))], "{problems:?}");
    }
    objects.delete(&[name])?;
    assert_eq!(place.other_machine().open()?.verify(1)?.problems.len(), 1);
    Ok(())
}

#[test]
fn check_of_the_store_keeps_the_working_copy_which_repairs_the_damage() -> Result {
    let (_base, place) = loaded_place()?;
    let objects = place.objects();
    let damaged = names(&objects, "snapshots/000001/filings")?;
    assert_eq!(damaged.len(), 2, "{damaged:?}");
    let here = || -> Vec<Option<Vec<u8>>> {
        damaged.iter().map(|name| fs::read(place.dir.join(name)).ok()).collect()
    };
    let before = here();
    objects.write(&damaged[0], b"torn")?;
    objects.delete(&damaged[1..])?;
    let lake = place.open()?;
    assert_eq!(lake.verify(1)?.problems.len(), 2);
    let lock = lake.lock("repair", "test")?;
    let found = lake.damaged_files()?;
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(here() == before && before.iter().all(Option::is_some));
    for file in &found {
        let (_, sound) = lake.intact_copy(file)?.expect("the working copy has it");
        lake.replace_damaged(&lock, file, &sound)?;
    }
    assert_eq!(lake.damaged_files()?.len(), 0);
    assert_no_temporaries(&place)?;
    assert_sound(&place.other_machine().open()?)
}

fn assert_no_temporaries(place: &Place) -> Result {
    for folder in ["", "snapshots"] {
        let names = disk::names(&place.dir.join(folder))?;
        assert!(!names.iter().any(|name| name.starts_with('.')), "{folder}: {names:?}");
    }
    Ok(())
}

#[test]
fn failed_check_reports_no_damage() -> Result {
    let (_base, place) = loaded_place()?;
    for at in 1.. {
        let faults = Faults::full_once_at(at);
        let lake = open_on(&place.dir, Storage::with_faults(faults.clone()), Some(place.objects()))?;
        let found = lake.damaged_files();
        if !faults.was_hit() {
            assert!(at > 3, "only {at} operations");
            assert_eq!(found?.len(), 0);
            break;
        }
        if let Ok(found) = found {
            assert_eq!(found.len(), 0, "operation {at}: {found:?}");
        }
    }
    assert_sound(&place.open()?)?;
    assert_no_temporaries(&place)
}

#[test]
fn leftovers_after_the_number_of_a_pending_snapshot_are_cleared_from_the_working_copy() -> Result {
    let (_base, place) = place();
    let lake = place.open()?;
    load(&lake, "r1", &first_rows(), &[], 100)?;
    let lock = lake.lock("r2", "test")?;
    assert_eq!(staged(&lake, "r2", filing(8, "2026-11-05").seen(200))?.commit_pending(info())?.snapshot, 2);
    drop(lock);
    fs::create_dir_all(place.dir.join("snapshots/000003/filings")).expect("a folder");
    load(&lake, "r3", &[filing(9, "2026-11-05").seen(300)], &[], 300)?;
    assert_eq!(lake.current()?.map(|commit| commit.snapshot), Some(3));
    assert_sound(&place.other_machine().open()?)
}

#[test]
fn damaged_file_of_the_working_copy_is_downloaded_again() -> Result {
    let (_base, place) = loaded_place()?;
    let path = file_of(&place.open()?, 1, "filings/filed_month=2026-11")?;
    fs::write(&path, "torn").expect("written");
    assert_eq!(state(&place.open()?)?.len(), 5);
    assert_sound(&place.open()?)
}

#[test]
fn working_copy_of_an_earlier_lake_at_the_address_is_not_used() -> Result {
    let (_base, place) = place();
    for second in [100, 200] {
        load(&place.open()?, "r1", &first_rows(), &[], second)?;
    }
    let fresh = Place { dir: place.dir.clone(), store: Some(object_store::memory::InMemory::new()) };
    assert_eq!(fresh.open()?.current()?, None);
    load(&place.open()?, "r1", &first_rows(), &[], 300)?;
    load(&fresh.open()?, "r2", &[filing(7, "2026-11-05")], &[], 100)?;
    assert_eq!(state(&fresh.open()?)?.len(), 1);
    assert_sound(&fresh.open()?)
}

#[test]
fn working_copy_keeps_two_snapshots_and_shares_their_files() -> Result {
    let (_base, place) = place();
    for turn in 0..4 {
        let row = filing(turn, "2026-11-05").seen(100 * (turn + 1));
        load(&place.open()?, &format!("r{turn}"), &[row, filing(20, "2026-10-01")], &[], 900)?;
    }
    let copies = disk::names(&place.dir.join("snapshots"))?;
    assert!(copies.len() <= 3 && copies.contains(&"000004".to_owned()), "{copies:?}");
    let inode_of =
        |snapshot| file_of(&place.open()?, snapshot, "filings/filed_month=2026-10").map(|path| inode(&path));
    assert_eq!(inode_of(3)?, inode_of(4)?);
    Ok(())
}

#[test]
fn folder_and_store_pass_the_probe() -> Result {
    let base = folder();
    for place in [Place::disk(base.path().join("disk")), Place::store(base.path().join("work"))] {
        let lake = place.open()?;
        lake.probe("one")?;
        lake.probe("one")?;
        assert!(matches!(lake.probe("../x"), Err(LakeError::Name { .. })));
        assert_eq!(lake.backend.names("state")?, [""; 0], "nothing stays");
    }
    Ok(())
}

#[test]
fn small_files_are_written_to_the_store_and_the_working_copy() -> Result {
    let (_base, place) = place();
    let (lake, objects) = (place.open()?, place.objects());
    let paths = lake.write_catalog_files(&[("TABLES.md", b"tables")], None)?;
    assert_eq!(fs::read(&paths[0]).ok().as_deref(), Some(&b"tables"[..]));
    let found = objects.read("catalog/TABLES.md")?.map(|document| document.bytes);
    assert_eq!(found.as_deref(), Some(&b"tables"[..]));
    assert!(matches!(
        lake.write_catalog_files(&[("../TABLES.md", b"tables")], None),
        Err(LakeError::Name { .. })
    ));
    assert_eq!(lake.to_string(), "s3://bucket/lakes/one");
    Ok(())
}
