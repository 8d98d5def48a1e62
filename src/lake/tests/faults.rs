//! Each operation fails in turn: a kill, a full disk, a power loss, an unreachable store, a lost answer.

use super::place::Place;
use super::*;
use crate::lake::backend::disk;
use crate::lake::backend::fault_injection::{Faults, Watcher};
use crate::lake::backend::power_loss::{Loss, Power};
use crate::lake::rows_for_tests::labels;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// One business with a new name, one with a new month (the last of its old month), and a new one.
fn third_rows() -> Vec<Filing> {
    vec![
        filing(2, "2026-11-03").named("RENAMED").seen(300),
        filing(1, "2026-11-05").seen(300),
        filing(8, "2026-12-01").seen(300),
    ]
}

fn record(finished: Option<&str>) -> RunRecord {
    let begun = RunRecord::begun("r3", "test", at(300), jiff::civil::date(2026, 11, 20));
    RunRecord { finished: finished.map(str::to_owned), ..begun }
}

/// A run with every kind of operation: archives, merges, commits, reports, prunes.
fn full_run(lake: &Lake) -> Result {
    let lock = lake.lock("r3", "test")?;
    let run = lake.run("r3")?;
    run.write_record(&record(None))?;
    let mut raw = run.raw()?;
    raw.append("GET /x", 0, 200, at(300), b"a page")?;
    raw.sync()?;
    let mut staging = lake.stage("r3")?;
    for page in third_rows().chunks(2) {
        staging.spill_filings(filings(page))?;
    }
    staging.merge_filings(&complete(&[("2026-11-03", false)]), &|_, _| true, at(300), DAY)?;
    staging.merge(Table::EntityTypes, &labels(&[("llc", "Company"), ("trust", "Trust")]))?;
    staging.aggregate("labels", &labels(&[("llc", "Company")]), "Labels.")?;
    staging.commit(info())?;
    lake.write_catalog_files(&[("report.html", b"<html>")], None)?;
    prune_to_newest(lake, &lock)?;
    run.write_record(&record(Some("complete")))
}

/// The ways in which the power is lost at an operation.
type Losses = fn(u64) -> Vec<Loss>;

/// Keeps what a run leaves that ends before any of its operations: it is killed, or the power fails. Many operations only read: what they
/// find is kept once.
#[derive(Debug)]
struct Ends {
    run: Place,
    power: Option<(Arc<Power>, Losses)>,
    left: Mutex<Left>,
}

#[derive(Debug, Default)]
struct Left {
    operations: u64,
    known: HashSet<blake3::Hash>,
    /// Where it is, and when it was left.
    places: Vec<(Place, String)>,
}

impl Ends {
    fn of(run: Place, losses: Option<Losses>) -> Arc<Self> {
        let power = losses.map(|losses| (Power::watch(&run.dir), losses));
        Arc::new(Self { run, power, left: Mutex::default() })
    }

    fn taken(&self) -> Left {
        std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Watcher for Ends {
    fn before_operation(&self) {
        let mut left = self.left.lock().expect("a lock");
        left.operations += 1;
        let at = left.operations;
        let dir = |what: &str| self.run.dir.with_extension(format!("{at}{what}"));
        let ends: Vec<(Place, String)> = match &self.power {
            None => vec![(self.run.copy(dir("")), format!("operation {at}"))],
            Some((power, losses)) => losses(at)
                .into_iter()
                .map(|loss| {
                    let wreck = Place::disk(dir(&format!("{loss:?}")));
                    power.lose(loss, &wreck.dir);
                    (wreck, format!("operation {at}, {loss:?}"))
                })
                .collect(),
        };
        for (place, when) in ends {
            // On a thread of its own: a store may wait on this one.
            let content = std::thread::scope(|scope| scope.spawn(|| place.content()).join());
            if left.known.insert(content.expect("a digest")) {
                left.places.push((place, when));
            } else {
                fs::remove_dir_all(&place.dir).expect("removed");
            }
        }
    }

    fn file_synced(&self, path: &Path) {
        if let Some((power, _)) = &self.power {
            power.file_synced(path);
        }
    }

    fn folder_synced(&self, path: &Path) {
        if let Some((power, _)) = &self.power {
            power.folder_synced(path);
        }
    }
}

type Rows = (Vec<StateRow>, Vec<ChangeText>);

fn rows(lake: &Lake) -> Result<Rows> {
    Ok((state(lake)?, changes(lake)?))
}

/// A lake of 2 snapshots, and its rows before and after the run.
struct Trial {
    base: TempDir,
    before: Place,
    old: Rows,
    new: Rows,
    /// Operations of an undisturbed run, the opening of the lake among them.
    operations: u64,
    /// Whether each state that a fault left shows the old snapshot: many operations only read, and leave the state of the one before.
    left: RefCell<HashMap<(blake3::Hash, bool), bool>>,
    /// The states in which the next runs left the lake.
    completed: RefCell<HashSet<blake3::Hash>>,
}

impl Trial {
    fn on(place: impl Fn(PathBuf) -> Place) -> Result<Self> {
        let base = folder();
        let before = place(base.path().join("before"));
        let lake = before.open()?;
        load(&lake, "r1", &first_rows(), &[], 100)?;
        load(&lake, "r2", &[filing(6, "2026-11-04").seen(200)], &[], 200)?;
        let old = rows(&lake)?;
        let faults = Faults::default();
        let calm = before.copy(base.path().join("calm")).open_under(&faults)?;
        full_run(&calm)?;
        let operations = faults.seen();
        assert!(operations > 100, "only {operations} operations");
        Ok(Self {
            old,
            new: rows(&calm)?,
            before,
            base,
            operations,
            left: RefCell::default(),
            completed: RefCell::default(),
        })
    }

    /// Runs under a fault at each operation in turn.
    fn survives(&self, faults: impl Fn(u64) -> Faults) -> Result {
        let mut shown_old = 0;
        for at in 1..=self.operations {
            let place = self.before.copy(self.base.path().join(format!("at-{at}")));
            let faults = faults(at);
            let ended = place.open_under(&faults).and_then(|lake| full_run(&lake));
            assert!(faults.was_hit() || ended.is_ok(), "operation {at}: {ended:?}");
            // Without its fault, as an operation of the disk has no answer to lose, it was the calm run once more.
            if faults.was_hit() {
                shown_old += u64::from(self.holds(&place, ended.is_ok(), &format!("operation {at}"))?);
            }
            fs::remove_dir_all(&place.dir).expect("removed");
        }
        let operations = self.operations;
        assert!(shown_old < operations, "{operations} operations, each of them before the commit");
        Ok(())
    }

    /// One run, of which is kept what its end at each operation leaves, and after the last one.
    fn survives_ends(&self, losses: Option<Losses>) -> Result {
        let ends = Ends::of(self.before.copy(self.base.path().join("run")), losses);
        full_run(&ends.run.open_under(&Faults::default().watched_by(Arc::clone(&ends) as _))?)?;
        let cut_short = ends.taken();
        assert_eq!(cut_short.operations, self.operations);
        let (mut old, all) = (0, cut_short.places.len());
        for (place, when) in cut_short.places {
            old += usize::from(self.holds(&place, false, &when)?);
            fs::remove_dir_all(&place.dir).expect("removed");
        }
        assert!(0 < old && old < all, "{old} of {all} states are before the commit");
        ends.before_operation();
        for (place, when) in ends.taken().places {
            assert!(!self.holds(&place, true, &when)?);
        }
        Ok(())
    }

    /// Whether the lake still shows the old snapshot. It shows the old or the new one, complete, and the next run publishes
    /// the new one.
    fn holds(&self, place: &Place, ended_well: bool, when: &str) -> Result<bool> {
        let state = (place.content(), ended_well);
        if let Some(is_old) = self.left.borrow().get(&state) {
            return Ok(*is_old);
        }
        let lake = place.open()?;
        let found = rows(&lake)?;
        assert!(found == self.old || found == self.new, "{when}: {found:?}");
        assert!(!ended_well || found == self.new, "{when}: the run reported success");
        assert_sound(&Self::seen_by_others(place, &found, when)?)?;
        full_run(&lake)?;
        if self.completed.borrow_mut().insert(place.content()) {
            self.is_complete(place, &lake, when)?;
        }
        self.left.borrow_mut().insert(state, found == self.old);
        Ok(found == self.old)
    }

    /// The lake shows the new snapshot, and nothing else is in it.
    fn is_complete(&self, place: &Place, lake: &Lake, when: &str) -> Result {
        assert_eq!(rows(lake)?, self.new, "{when}");
        assert_sound(lake)?;
        Self::seen_by_others(place, &self.new, when)?;
        assert!(!lake.kept_snapshots()?.contains(&1), "{when}: pruned");
        assert_no_leftovers(place);
        Ok(())
    }

    /// The lake as another machine opens it, which sees these rows. A folder is the same everywhere: it was read before.
    fn seen_by_others(place: &Place, expected: &Rows, when: &str) -> Result<Lake> {
        let lake = place.other_machine().open()?;
        if place.store.is_some() {
            assert_eq!(rows(&lake)?, *expected, "{when}: another machine sees the same");
        }
        Ok(lake)
    }
}

fn assert_no_leftovers(place: &Place) {
    let mut names = disk::names(&place.dir).expect("names");
    // A lake in a store has its marks there.
    names.retain(|name| name != "pruned" && name != "copies");
    assert_eq!(names, ["catalog", "commits", "current", "runs", "snapshots", "state"]);
    for folder in ["", "commits", "snapshots", "runs/r3", "runs/r3/raw", "catalog"] {
        let names = disk::names(&place.dir.join(folder)).expect("names");
        assert!(!names.iter().any(|name| name.starts_with('.') || name == "staged"), "{folder}: {names:?}");
    }
}

#[test]
fn kill_at_any_operation_leaves_an_intact_lake_and_the_next_run_completes() -> Result {
    Trial::on(Place::disk)?.survives_ends(None)
}

#[test]
fn full_disk_at_any_operation_leaves_an_intact_lake_and_the_next_run_completes() -> Result {
    Trial::on(Place::disk)?.survives(Faults::full_once_at)
}

#[test]
fn kill_at_any_operation_of_disk_or_store_leaves_an_intact_lake_and_the_next_run_completes() -> Result {
    Trial::on(Place::store)?.survives_ends(None)
}

#[test]
fn failure_of_any_operation_of_disk_or_store_leaves_an_intact_lake_and_the_next_run_completes() -> Result {
    Trial::on(Place::store)?.survives(Faults::full_once_at)
}

#[test]
fn lost_answer_of_the_store_leaves_an_intact_lake_and_the_next_run_completes() -> Result {
    Trial::on(Place::store)?.survives(Faults::answer_lost_at)
}

/// Bytes and names that were not synced are lost.
#[test]
fn power_loss_at_any_operation_leaves_an_intact_lake_and_the_next_run_completes() -> Result {
    Trial::on(Place::disk)?.survives_ends(Some(|at| match at % 3 {
        0 => vec![Loss::Everything],
        1 => vec![Loss::Contents],
        _ => vec![Loss::Some(at)],
    }))
}

#[test]
#[ignore = "every kind of loss at every operation, 10 of them random; minutes"]
fn every_kind_of_power_loss_at_any_operation_leaves_an_intact_lake() -> Result {
    Trial::on(Place::disk)?.survives_ends(Some(|at| {
        let some = (0..10).map(|seed| Loss::Some(at * 100 + seed));
        [Loss::Everything, Loss::Contents].into_iter().chain(some).collect()
    }))
}

#[test]
fn first_commit_in_a_new_folder_survives_a_power_loss() -> Result {
    let base = folder();
    let power = Power::watch(base.path());
    let faults = Faults::default().watched_by(Arc::clone(&power) as _);
    let lake = open_on(&base.path().join("new/lake"), Storage::with_faults(faults), None)?;
    load(&lake, "r1", &first_rows(), &[], 100)?;
    for (at, loss) in [Loss::Everything, Loss::Contents, Loss::Some(1), Loss::Some(2)].into_iter().enumerate()
    {
        let wreck = folder();
        power.lose(loss, wreck.path());
        let lake = Lake::open(&wreck.path().join("new/lake"))?;
        assert_eq!((at, state(&lake)?.len()), (at, 5));
        assert_sound(&lake)?;
    }
    Ok(())
}

#[test]
fn kill_in_the_first_load_leaves_an_empty_lake_or_a_complete_one() -> Result {
    for at in (1..).step_by(7) {
        let root = folder();
        let faults = Faults::kill_at(at);
        let lake = open_on(root.path(), Storage::with_faults(faults.clone()), None)?;
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
