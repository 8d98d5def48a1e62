//! Rebuilds a run's snapshots from its archived pages and its journal, on top of the same parent, without a request.

use crate::client::{Call, Decode};
use crate::contract::param::MAX_DAYS;
use crate::extract::fetch::PageKey;
use crate::extract::reference::Reference;
use crate::lake::{Base, Commit, CommitInfo, Lake, LakeLock, RunDir, Staging, TableManifest};
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::import::run::import_again;
use crate::pipeline::load::landing::Landing;
use crate::pipeline::load::page_store::Pages;
use crate::pipeline::publish::merge::{add_up, merge};
use crate::pipeline::publish::report::write_newest;
use crate::pipeline::state::provenance::{Journal, JournalStep, key_of};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Replayed {
    pub(crate) run_id: String,
    /// Its snapshots, oldest first.
    pub(crate) snapshots: Vec<ReplayedSnapshot>,
    /// The new snapshot with the result, if one was published.
    pub(crate) published: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ReplayedSnapshot {
    pub(crate) snapshot: u64,
    pub(crate) pages: u64,
    /// Files that are equal byte for byte.
    pub(crate) equal: u64,
    pub(crate) different: Vec<DifferentFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct DifferentFile {
    pub(crate) table: String,
    pub(crate) committed: Option<String>,
    pub(crate) replayed: Option<String>,
}

impl Replayed {
    pub(crate) fn is_equal(&self) -> bool {
        self.snapshots.iter().all(|snapshot| snapshot.different.is_empty())
    }
}

/// Rebuilds every snapshot of a run and compares it. With `publish`, a different result becomes a snapshot, if none came since.
pub(crate) fn replay(
    lake: &Lake,
    lock: &LakeLock,
    run_id: &str,
    publish: bool,
    now: Timestamp,
    today: Date,
) -> Result<Replayed> {
    let refuse = |why: &str| PipelineError::NotReplayable { run_id: run_id.to_owned(), why: why.to_owned() };
    let commits = commits_of(lake, run_id)?;
    let Some(last) = commits.last() else {
        return Err(refuse("the lake has no snapshot of it; `sunlake status` lists runs"));
    };
    if let Some(restored) = commits.iter().find_map(|commit| commit.restores) {
        return Err(refuse(&format!("it asked for nothing, and showed snapshot {restored} again")));
    }
    if publish && lake.current()?.is_some_and(|current| current.tables != last.tables) {
        return Err(refuse("another snapshot was published since; roll back to the run's own first"));
    }
    let mut replayed = Replayed { run_id: run_id.to_owned(), snapshots: Vec::new(), published: None };
    for commit in &commits {
        let made = remake(lake, commit, Base::Again(commit))?;
        replayed.snapshots.push(compare(commit, &made.staging.manifests(), made.pages));
        made.staging.discard()?;
    }
    if publish && replayed.snapshots.last().is_some_and(|snapshot| !snapshot.different.is_empty()) {
        replayed.published = Some(publish_again(lake, lock, last, now, today)?);
    }
    Ok(replayed)
}

/// The commits of a run, oldest first, with those pending review.
fn commits_of(lake: &Lake, run_id: &str) -> Result<Vec<Commit>> {
    let mut commits = Vec::new();
    for snapshot in lake.commits()?.into_iter().chain(lake.pending_snapshots()?) {
        let (_, commit) = lake.snapshot(snapshot)?;
        if commit.run_id == run_id {
            commits.push(commit);
        }
    }
    Ok(commits)
}

/// A rebuilt snapshot, not yet compared or committed.
pub(crate) struct Remade {
    pub(crate) staging: Staging,
    pages: u64,
}

/// Rebuilds a snapshot: again under its own number, or instead of it under the next.
pub(crate) fn remake(lake: &Lake, commit: &Commit, base: Base<'_>) -> Result<Remade> {
    let (dir, journal) = sources(lake, commit)?;
    fill(&dir, &journal, lake.stage_on(base, &commit.run_id)?)
}

fn sources(lake: &Lake, commit: &Commit) -> Result<(RunDir, Journal)> {
    let dir = lake.run(&commit.run_id)?;
    let journal = dir.journal(commit.snapshot)?;
    let refuse = |why: String| PipelineError::NotReplayable { run_id: commit.run_id.clone(), why };
    let no_journal =
        || refuse(format!("it kept no journal of snapshot {}, or a rule let it go", commit.snapshot));
    let journal: Journal = journal.ok_or_else(no_journal)?;
    match &journal.silent_about {
        Some(what) => Err(refuse(format!("its journal does not record {what}"))),
        None => Ok((dir, journal)),
    }
}

fn fill(dir: &RunDir, journal: &Journal, mut staging: Staging) -> Result<Remade> {
    if let Some(imported) = &journal.imported {
        import_again(dir, journal, imported, &mut staging)?;
        let pages = imported.files.len() as u64;
        return aggregated(dir, journal, staging, pages);
    }
    let pages = Pages::new(dir.raw_read_only()?);
    let mut landing = Landing::new(journal.today, staging, None, pages.clone())?;
    landing.journal.counts = journal.counts.clone();
    for step in &journal.steps {
        landing.land_again(step)?;
    }
    landing.end()?;
    if let Some(observed_at) = journal.merged_at {
        let reference = journal.has_lists.then(|| reference(&pages)).transpose()?;
        let counts = match &journal.counts {
            Some(page) => Call::daily_counts(MAX_DAYS).decode(&pages.page(&key_of(page))?.body)?.data,
            None => Vec::new(),
        };
        let lists = reference.as_ref().map(|reference| (reference, &counts[..]));
        merge(&mut landing, journal, observed_at, lists)?;
    }
    let of_lists = 4 * u64::from(journal.has_lists) + u64::from(journal.counts.is_some());
    let pages = journal.steps.iter().map(JournalStep::pages).sum::<u64>() + of_lists;
    aggregated(dir, journal, landing.staging, pages)
}

/// The rebuilt snapshot with its aggregates.
fn aggregated(dir: &RunDir, journal: &Journal, mut staging: Staging, pages: u64) -> Result<Remade> {
    if let Some(aggregates) = &journal.aggregates {
        add_up(aggregates, &BTreeMap::new(), &mut staging, &dir.path().join("aggregates"))?;
    }
    Ok(Remade { staging, pages })
}

/// The lists as the run got them.
fn reference(pages: &Pages) -> Result<Reference> {
    Ok(Reference {
        entity_types: answer(pages, &Call::entity_types())?.data,
        industries: answer(pages, &Call::industries())?.data,
        counties: answer(pages, &Call::counties())?.data,
        stats: answer(pages, &Call::stats())?.data,
    })
}

fn answer<T: Decode>(pages: &Pages, call: &Call<T>) -> Result<T> {
    let page = pages.page(&PageKey { target: call.target().to_owned(), occurrence: 0 })?;
    Ok(call.decode(&page.body)?)
}

/// Rebuilds a snapshot under the next number, on top of its own parent's tables, and publishes it.
fn publish_again(lake: &Lake, _lock: &LakeLock, commit: &Commit, now: Timestamp, today: Date) -> Result<u64> {
    let made = remake(lake, commit, Base::Instead(commit))?;
    let published = made.staging.commit(CommitInfo {
        committed_at: now,
        today,
        pipeline: commit.pipeline.clone(),
        requests_sent: 0,
        state: commit.state.clone(),
        checks: commit.checks.clone(),
    })?;
    write_newest(lake, true, None)?;
    Ok(published.snapshot)
}

fn compare(commit: &Commit, made: &BTreeMap<String, TableManifest>, pages: u64) -> ReplayedSnapshot {
    let (mut equal, mut different) = (0, Vec::new());
    let nothing = TableManifest::default();
    let tables: BTreeSet<&String> = commit.tables.keys().chain(made.keys()).collect();
    for table in tables {
        let (old, new) = (commit.tables.get(table).unwrap_or(&nothing), made.get(table).unwrap_or(&nothing));
        let (old_only, kept): (Vec<_>, Vec<_>) = old.files.iter().partition(|file| !new.files.contains(file));
        equal += kept.len() as u64;
        let mut new_only = new.files.iter().filter(|file| !old.files.contains(file)).peekable();
        for file in old_only {
            // Files of one month are shown together.
            let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
            let same = new_only.next_if(|new| folder(&new.path) == folder(&file.path));
            different.push(DifferentFile {
                table: table.clone(),
                committed: Some(file.path.clone()),
                replayed: same.map(|new| new.path.clone()),
            });
        }
        different.extend(new_only.map(|file| DifferentFile {
            table: table.clone(),
            committed: None,
            replayed: Some(file.path.clone()),
        }));
    }
    ReplayedSnapshot { snapshot: commit.snapshot, pages, equal, different }
}
