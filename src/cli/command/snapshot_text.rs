//! Snapshots, differences and pruned files as text.

use crate::cli::context::open_lake::no_snapshot;
use crate::cli::output::words::{count, lines, noun, number, snapshots};
use crate::contract::eastern::instant;
use crate::contract::hint::MAKE_SNAPSHOT;
use crate::lake::{Commit, DiffKind, Example, Lake, Pruning, SnapshotDiff, SnapshotEntry, SnapshotState};
use crate::pipeline::state::RunState;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// A sentence about a snapshot.
pub(super) fn about(snapshot: u64, what: &str) -> String {
    format!("snapshot {snapshot} {what}\n")
}

const fn state(standing: SnapshotState) -> &'static str {
    match standing {
        SnapshotState::Published => "published",
        SnapshotState::Pending => "held",
        SnapshotState::Pruned => "pruned",
    }
}

fn size(bytes: u64) -> String {
    let kib = bytes as f64 / f64::from(1 << 10);
    if kib < 1024.0 { format!("{kib:.1} KiB") } else { format!("{:.1} MiB", kib / 1024.0) }
}

/// The history of the lake.
pub(super) fn listed(history: &[SnapshotEntry], lake: &Lake) -> String {
    if history.is_empty() {
        return format!("{}; {MAKE_SNAPSHOT}\n", no_snapshot(lake));
    }
    lines(|text| {
        for entry in history {
            let mark = if entry.current { '*' } else { ' ' };
            write!(
                text,
                "{mark} {:>6}  {}  {:>10} {:<7}  {:>11}  {:<9}",
                entry.snapshot,
                entry.today,
                number(entry.filings),
                noun(entry.filings, "filing"),
                size(entry.bytes),
                state(entry.state),
            )?;
            if entry.pinned {
                write!(text, "  pinned")?;
            }
            if let Some(restored) = entry.restores {
                write!(text, "  restores {restored}")?;
            }
            writeln!(text, "  {}", entry.run_id)?;
        }
        Ok(())
    })
}

/// The contents of one snapshot.
#[derive(Debug, Serialize)]
pub(super) struct Detail {
    #[serde(flatten)]
    entry: SnapshotEntry,
    path: PathBuf,
    /// Address of the lake, if it is in an object store.
    #[serde(skip)]
    address: Option<String>,
    requests_sent: u64,
    tables: BTreeMap<String, TableDetail>,
    checks: serde_json::Value,
    state: StateDetail,
}

#[derive(Debug, Serialize)]
struct TableDetail {
    rows: u64,
    bytes: u64,
    files: Vec<PathBuf>,
}

/// A summary of the run state in the commit.
#[derive(Debug, Serialize)]
struct StateDetail {
    source: Option<String>,
    learned_listings: usize,
}

impl Detail {
    pub(super) fn of(lake: &Lake, entry: SnapshotEntry, commit: &Commit) -> Self {
        let snapshot = lake.open_snapshot(commit);
        let path = snapshot.folder_for_user();
        let tables = commit.tables.iter().map(|(name, table)| {
            let bytes = table.files.iter().map(|file| file.bytes).sum();
            let files = table.files.iter().map(|file| snapshot.path_for_user(file)).collect();
            (name.clone(), TableDetail { rows: table.rows, bytes, files })
        });
        let state = RunState::of(Some(commit));
        Self {
            address: (!path.starts_with(lake.root())).then(|| lake.to_string()),
            path,
            requests_sent: commit.requests_sent,
            tables: tables.collect(),
            checks: commit.checks.clone(),
            state: StateDetail {
                source: state.source.map(|source| source.to_string()),
                learned_listings: state.shares.len(),
            },
            entry,
        }
    }

    pub(super) fn text(&self) -> String {
        lines(|text| {
            let entry = &self.entry;
            let pinned = if entry.pinned { ", pinned" } else { "" };
            writeln!(text, "snapshot {}, {}{pinned}", entry.snapshot, state(entry.state))?;
            let parent = entry.parent.map_or("nothing".to_owned(), |parent| format!("snapshot {parent}"));
            writeln!(
                text,
                "made       {} by run {}, as of {}, from {parent}",
                instant(entry.committed_at),
                entry.run_id,
                entry.today
            )?;
            if let Some(restored) = entry.restores {
                writeln!(text, "restores   snapshot {restored}")?;
            }
            writeln!(text, "requests   {}", number(self.requests_sent))?;
            let source = self.state.source.as_deref().unwrap_or("an unknown source");
            let listings = count(self.state.learned_listings as u64, "listing");
            writeln!(text, "state      read from {source}; {listings} learned")?;
            for finding in self.checks["findings"].as_array().into_iter().flatten() {
                writeln!(text, "check      {}", finding.as_str().unwrap_or_default())?;
            }
            for (name, table) in &self.tables {
                let (rows, size) = (number(table.rows), size(table.bytes));
                let (word, files) = (noun(table.rows, "row"), count(table.files.len() as u64, "file"));
                writeln!(text, "  {name:<28} {rows:>10} {word:<4}  {size:>11}  {files}")?;
            }
            if entry.state != SnapshotState::Pruned {
                let (path, snapshot) = (self.path.display(), entry.snapshot);
                writeln!(text, "path       {path}")?;
                match &self.address {
                    None => writeln!(
                        text,
                        "try        duckdb -c \"SELECT count(*) FROM '{path}/filings/**/*.parquet' WHERE listed\""
                    )?,
                    Some(lake) => writeln!(
                        text,
                        "try        sunlake export duckdb snapshot-{snapshot}.duckdb --snapshot {snapshot} --lake {lake}"
                    )?,
                }
            }
            Ok(())
        })
    }
}

/// The differences of two snapshots.
pub(super) fn compared(diff: &SnapshotDiff) -> String {
    lines(|text| {
        if diff.tables.is_empty() {
            writeln!(text, "snapshots {} and {} have the same rows", diff.before, diff.after)?;
        }
        for (name, table) in &diff.tables {
            writeln!(
                text,
                "{name}: {} added, {} changed, {} vanished; {}, {} before",
                number(table.added),
                number(table.changed),
                number(table.vanished),
                count(table.rows_after, "row"),
                number(table.rows_before)
            )?;
            for example in &table.examples {
                writeln!(text, "  {}", example_line(example))?;
            }
        }
        let left_out = diff.left_out.join(", ");
        writeln!(text, "compared: all columns but {left_out}, which say when a run read a row")
    })
}

/// One differing row.
fn example_line(example: &Example) -> String {
    let cell = |cell: &Option<String>| cell.as_deref().map_or("null".to_owned(), |text| format!("{text:?}"));
    let pairs = |cells: &BTreeMap<String, Option<String>>| {
        cells.iter().map(|(name, value)| format!("{name}={}", cell(value))).collect::<Vec<_>>().join(" ")
    };
    let kind = match example.kind {
        DiffKind::Added => "+",
        DiffKind::Changed => "~",
        DiffKind::Vanished => "-",
    };
    let both: Vec<String> = example
        .after
        .iter()
        .filter_map(|(name, new)| {
            Some(format!("{name}: {} -> {}", cell(example.before.get(name)?), cell(new)))
        })
        .collect();
    let rest = if !both.is_empty() {
        both.join(", ")
    } else if example.after.is_empty() {
        pairs(&example.before)
    } else {
        pairs(&example.after)
    };
    if example.key.is_empty() {
        format!("{kind} {rest}")
    } else {
        format!("{kind} {}  {rest}", pairs(&example.key))
    }
}

/// What a prune deleted, or would delete.
pub(super) fn pruned(pruning: &Pruning, dry_run: bool) -> String {
    let deleted = if dry_run { "would be deleted" } else { "deleted" };
    lines(|text| {
        if *pruning == Pruning::default() {
            return writeln!(text, "nothing {deleted}");
        }
        if !pruning.snapshots.is_empty() {
            writeln!(text, "{deleted}: {}", snapshots(&pruning.snapshots))?;
        }
        if !pruning.pending.is_empty() {
            writeln!(text, "{deleted}, pending review: {}", snapshots(&pruning.pending))?;
        }
        for run in &pruning.runs {
            writeln!(text, "{deleted}: raw pages of run {run}")?;
        }
        Ok(())
    })
}
