//! Concurrent writers, and leftovers of killed ones.

use super::*;

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
    let lock = lake.lock("r3", "test")?;
    assert_eq!((lock.repair().removed.len(), lock.repair().shown), (4, Some(1)));
    assert!(kept.iter().all(|path| root.path().join(path).is_dir()));
    assert!(root.path().join("current/filings").is_dir());
    drop(lock);
    assert!(lake.lock("r4", "test")?.repair().is_empty());
    Ok(())
}
