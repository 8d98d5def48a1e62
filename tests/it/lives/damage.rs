//! Damaged files: what `verify` says of them, and the repair.

use super::events::cut_short;
use super::life::{Life, Step};
use crate::damage::{Content, damage, is_exception};
use crate::support::lake::files_below;
use crate::support::s3::Bucket;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files of a lake by what they are.
fn by_kind(lake: &Path) -> BTreeMap<String, Vec<PathBuf>> {
    let mut kinds: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for file in files_below(lake) {
        let is_empty = file.metadata().is_ok_and(|found| found.len() == 0);
        // What a repair put aside is read by nobody.
        let is_put_aside = file.extension().is_some_and(|ending| ending == "damaged");
        if !is_empty && !is_put_aside && !is_exception(&file) && !is_of_open_run(lake, &file) {
            kinds.entry(crate::damage::kind(lake, &file)).or_default().push(file);
        }
    }
    kinds.remove("state");
    kinds
}

/// Whether the run of a file was killed: its newest pages have no digest yet.
fn is_of_open_run(lake: &Path, file: &Path) -> bool {
    let Ok(inside) = file.strip_prefix(lake.join("runs")) else { return false };
    let run = lake.join("runs").join(inside.iter().next().unwrap_or_default()).join("run.json");
    let text = std::fs::read_to_string(run).unwrap_or_default();
    !serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|record| record["finished"].is_string())
}

/// A random file, of each kind as often as of another.
fn chosen(life: &mut Life) -> PathBuf {
    let kinds: Vec<Vec<PathBuf>> = by_kind(&life.lake).into_values().collect();
    let kind = life.dice.one_of(&kinds).clone();
    life.dice.one_of(&kind).clone()
}

/// Damages one file; other names of its content stay intact.
fn damages(life: &mut Life, path: &Path) {
    let all = files_below(&life.lake);
    let how = damage(path, &all, &mut life.dice);
    life.note(&format!("{}: {how}", path.display()));
}

/// A repair that is killed, or whose disk is full, is repeated.
pub(super) fn repair_cut_short(life: &mut Life) -> Step {
    let damaged = damages_all_copies(life);
    life.verifies(&damaged)?;
    cut_short(life, &["verify", "--repair"], &[0, 9])?;
    repairs(life)
}

/// Repairs, and deletes what stays damaged with the old snapshots, as the repair says.
fn repairs(life: &mut Life) -> Step {
    let done = life.does(&["verify", "--repair", "--json"], &[0, 9])?;
    let report = done.json();
    if done.code() == Some(0) {
        return life.is_sound();
    }
    let left: BTreeSet<PathBuf> = report["left"]
        .as_array()
        .cloned()
        .unwrap_or_default()
        .iter()
        .map(|problem| PathBuf::from(problem["path"].as_str().unwrap_or_default()))
        .collect();
    life.note(&format!("left: {left:?}"));
    life.has_lost_coverage |= report["actions"].to_string().contains("every day counts as incomplete");
    life.verifies(&left)?;
    let text = life.does(&["verify", "--repair"], &[9])?;
    if !(text.stdout.contains("snapshot prune") && text.stdout.contains("snapshot unpin")) {
        return Err(format!("the repair names no way out{}", text.shown()));
    }
    let number_of = |path: &PathBuf| {
        let inside = path.strip_prefix(life.lake.join("snapshots")).ok()?;
        inside.iter().next()?.to_str()?.parse::<u64>().ok()
    };
    let damaged: BTreeSet<u64> = left.iter().filter_map(number_of).collect();
    for number in damaged {
        life.does(&["snapshot", "unpin", &number.to_string()], &[0])?;
    }
    life.does(&["snapshot", "prune", "--keep-last", "1"], &[0])?;
    life.is_sound()
}

pub(super) fn with_copies(life: &mut Life) -> Step {
    let path = chosen(life);
    damages(life, &path);
    life.verifies(&[path].into())?;
    repairs(life)
}

/// All files of snapshots with the content of this one.
fn copies(life: &Life, path: &Path) -> Vec<PathBuf> {
    let content = Content::of(path);
    let mut files = files_below(&life.lake.join("snapshots"));
    files.retain(|file| Content::of(file) == content);
    files
}

fn file_of_a_snapshot(life: &mut Life) -> PathBuf {
    let files = files_below(&life.lake.join("snapshots"));
    // Half of the files are those of filings: their loss has the most to correct.
    let filings: Vec<PathBuf> =
        files.iter().filter(|file| file.to_string_lossy().contains("/filings/")).cloned().collect();
    let all = if life.dice.below(2) == 0 { &filings } else { &files };
    life.dice.one_of(all).clone()
}

fn damages_all_copies(life: &mut Life) -> BTreeSet<PathBuf> {
    let path = file_of_a_snapshot(life);
    let copies = copies(life, &path);
    for copy in &copies {
        damages(life, copy);
    }
    copies.into_iter().collect()
}

pub(super) fn of_all_copies(life: &mut Life) -> Step {
    let damaged = damages_all_copies(life);
    life.verifies(&damaged)?;
    repairs(life)
}

/// Removes the archived pages of all runs.
fn removes_pages(life: &mut Life) -> BTreeSet<PathBuf> {
    let mut pages = files_below(&life.lake.join("runs"));
    pages.retain(|file| file.to_string_lossy().contains("/raw/") && !is_of_open_run(&life.lake, file));
    for page in &pages {
        std::fs::remove_file(page).expect("removed");
    }
    life.note(&format!("{} files of archived pages removed", pages.len()));
    pages.into_iter().collect()
}

pub(super) fn of_all_copies_and_pages(life: &mut Life) -> Step {
    let mut damaged = damages_all_copies(life);
    damaged.extend(removes_pages(life));
    life.verifies(&damaged)?;
    repairs(life)
}

/// A commit and its copy: a backup has them.
pub(super) fn of_commit_and_copy(life: &mut Life) -> Step {
    let commits = files_below(&life.lake.join("commits"));
    let commit = life.dice.one_of(&commits).clone();
    let name = commit.file_name().expect("a name").to_owned();
    let mut lost = files_below(&life.lake.join("runs"));
    lost.retain(|file| {
        file.file_name() == Some(&name) && file.parent().is_some_and(|at| at.ends_with("commits"))
    });
    lost.push(commit);
    let backup: Vec<(PathBuf, Content)> = lost.iter().map(|file| (file.clone(), Content::of(file))).collect();
    for file in &lost {
        damages(life, file);
    }
    // Nobody knows that a copy was there which is removed with its commit.
    lost.retain(|file| file.parent() == Some(&life.lake.join("commits")) || file.symlink_metadata().is_ok());
    life.verifies(&lost.into_iter().collect())?;
    let done = life.does(&["verify", "--repair"], &[9])?;
    if !done.stdout.contains("from a backup") {
        return Err(format!("the repair names no way out{}", done.shown()));
    }
    for (file, content) in &backup {
        content.put(file);
    }
    repairs(life)
}

pub(super) fn of_several_files(life: &mut Life) -> Step {
    let mut damaged = BTreeSet::new();
    for _ in 0..2 + life.dice.below(3) {
        let path = file_of_a_snapshot(life);
        if damaged.insert(path.clone()) {
            damages(life, &path);
        }
    }
    life.verifies(&damaged)?;
    repairs(life)
}

/// A run comes before a person does.
pub(super) fn without_repair(life: &mut Life) -> Step {
    let path = chosen(life);
    damages(life, &path);
    life.world.advance(&life.scratch, &mut life.dice, true);
    let run = life.run();
    let done = life.ends(run, &[0, 9])?;
    if done.code() == Some(9)
        && !done.stderr.contains("verify --repair")
        && !done.stderr.contains("sunlake verify")
    {
        return Err(format!("the run names no way out{}", done.shown()));
    }
    repairs(life)
}

/// Objects of the lake in its store, without logs of runs, locks and what a killed run left.
fn objects(life: &Life) -> Vec<String> {
    let names = life.bucket.as_ref().map(Bucket::names).unwrap_or_default();
    let is_closed = |name: &str| {
        let run = name.strip_prefix("runs/").and_then(|inside| inside.split('/').next());
        run.is_none_or(|run| names.contains(&format!("runs/{run}/summary.json")))
    };
    names
        .iter()
        .filter(|name| !is_exception(Path::new(name)) && !name.starts_with("state/") && is_closed(name))
        // What a repair put aside is read by nobody.
        .filter(|name| !name.ends_with(".damaged"))
        .cloned()
        .collect()
}

/// An object of each kind as often as of another: damaged, or deleted.
fn damages_object(life: &mut Life) -> PathBuf {
    let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in objects(life) {
        kinds.entry(name.split('/').next().unwrap_or_default().to_owned()).or_default().push(name);
    }
    let kinds: Vec<Vec<String>> = kinds.into_values().collect();
    let kind = life.dice.one_of(&kinds).clone();
    let name = life.dice.one_of(&kind).clone();
    let is_flipped = life.dice.below(2) == 0;
    if let Some(bucket) = &life.bucket {
        if is_flipped { bucket.flip(&[&name]) } else { bucket.delete(&[&name]) }
    }
    life.note(&format!("{name}: {}", if is_flipped { "flipped" } else { "deleted" }));
    PathBuf::from(format!("{}/{name}", life.lake.display()))
}

pub(super) fn of_object(life: &mut Life) -> Step {
    let path = damages_object(life);
    life.verifies(&[path].into())?;
    repairs(life)
}

/// No machine has a copy.
pub(super) fn of_object_alone(life: &mut Life) -> Step {
    for machine in ["one", "two"] {
        let _ = std::fs::remove_dir_all(life.scratch.path(machine));
    }
    of_object(life)
}

/// Files of the working copy are damaged: the store has them.
pub(super) fn of_working_copy(life: &mut Life) -> Step {
    if !life.work().join("snapshots").is_dir() {
        return Ok(());
    }
    let files = files_below(&life.work().join("snapshots"));
    for _ in 0..1 + life.dice.below(3) {
        if files.is_empty() {
            break;
        }
        let path = life.dice.one_of(&files).clone();
        if path.is_file() && path.metadata().is_ok_and(|found| found.len() > 0) {
            let how = damage(&path, &files, &mut life.dice);
            life.note(&format!("{}: {how}", path.display()));
        }
    }
    life.is_sound()
}
