//! The disk dies or fills up at every operation in turn.

use super::*;
use crate::lake::fault::Faults;
use crate::lake::{path, storage};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
        let target = to.join(entry.file_name());
        if kind.is_symlink() {
            let points = fs::read_link(&path).expect("a link");
            std::os::unix::fs::symlink(points, &target).expect("a link");
        } else if kind.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).map(|_| ()).expect("a copy");
        }
    }
}

fn second_rows() -> Vec<Filing> {
    vec![
        filing(2, "2026-11-03").named("RENAMED").seen(200),
        filing(1, "2026-11-05").seen(200),
        filing(8, "2026-12-01").seen(200),
    ]
}

fn second_load(lake: &Lake) -> Result<TableDelta> {
    load(lake, "r2", &second_rows(), &[("2026-11-03", false)], 200)
}

/// Fails the second load at each of its operations in turn; each time the lake must show the old or the new
/// snapshot whole, and the next run must arrive where an undisturbed one does.
fn survives(faults: impl Fn(u64) -> Faults) -> Result {
    let base = folder();
    let lake = Lake::open(&base.path().join("base"))?;
    load(&lake, "r1", &first_rows(), &[], 100)?;
    let old = state(&lake)?;
    let calm = base.path().join("calm");
    copy(lake.root(), &calm);
    let calm = Lake::open(&calm)?;
    second_load(&calm)?;
    let (new, news) = (state(&calm)?, changes(&calm)?);
    let mut shown_old = 0;
    for at in 1.. {
        let root = base.path().join(format!("at-{at}"));
        copy(lake.root(), &root);
        let faults = faults(at);
        let ended = second_load(&Lake::open_on(&root, Storage::with_faults(faults.clone()))?);
        if !faults.was_hit() {
            ended?;
            assert!(at > 50 && shown_old > 20, "only {at} operations");
            break;
        }
        let lake = Lake::open(&root)?;
        let found = state(&lake)?;
        assert!(found == old || found == new, "operation {at}: {found:?}");
        shown_old += u64::from(found == old);
        assert!(root.join("current").join("filings").is_dir(), "operation {at}");
        assert_sound(&lake)?;
        second_load(&lake)?;
        assert_eq!((state(&lake)?, changes(&lake)?), (new.clone(), news.clone()), "operation {at}");
        assert_sound(&lake)?;
        assert_no_leftovers(&root);
        fs::remove_dir_all(&root).expect("removed");
    }
    Ok(())
}

fn assert_no_leftovers(root: &Path) {
    let commits = fs::read_dir(root.join("commits")).expect("commits").count();
    let snapshots = fs::read_dir(root.join("snapshots")).expect("snapshots").count();
    assert_eq!(commits, snapshots);
    let names = storage::names(root).expect("names");
    assert_eq!(names, ["commits", "current", "runs", "snapshots", "state"]);
    let newest = path::snapshot_name(commits as u64);
    let shown = fs::read_link(root.join("current")).expect("a link");
    assert_eq!(shown, Path::new("snapshots").join(newest));
    assert!(root.join("runs/r2/staged").try_exists().is_ok_and(|found| !found));
}

#[test]
fn a_kill_at_any_operation_leaves_a_whole_lake_and_the_next_run_arrives() -> Result {
    survives(Faults::kill_at)
}

#[test]
fn a_full_disk_at_any_operation_leaves_a_whole_lake_and_the_next_run_arrives() -> Result {
    survives(Faults::full_once_at)
}

#[test]
fn a_kill_in_the_first_load_leaves_an_empty_lake_or_a_whole_one() -> Result {
    for at in (1..).step_by(7) {
        let root = folder();
        let faults = Faults::kill_at(at);
        let lake = Lake::open_on(root.path(), Storage::with_faults(faults.clone()))?;
        let ended = load(&lake, "r1", &first_rows(), &[], 100);
        if !faults.was_hit() {
            return ended.map(|_| ());
        }
        let lake = Lake::open(root.path())?;
        let snapshots = lake.commits()?.len();
        assert!(snapshots == usize::from(state(&lake)?.len() == 5), "operation {at}");
        load(&lake, "r2", &first_rows(), &[], 100)?;
        assert_eq!((state(&lake)?.len(), changes(&lake)?.len()), (5, 0), "operation {at}");
        assert_sound(&lake)?;
    }
    Ok(())
}
