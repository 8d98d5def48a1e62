//! Snapshots, differences and pruned files as text.

use crate::cli::context::open_lake::no_snapshot;
use crate::cli::output::words::{count, noun, number, snapshots};
use crate::contract::eastern::instant;
use crate::contract::escape::pattern_of;
use crate::contract::hint::MAKE_SNAPSHOT;
use crate::export::described::quoted;
use crate::lake::{
    Commit, DiffKind, Example, Lake, Pruning, SnapshotDiff, SnapshotEntry, SnapshotState, TableManifest,
};
use crate::pipeline::state::RunState;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::path::PathBuf;

/// A sentence about a snapshot.
pub(super) fn about(text: &mut String, snapshot: u64, what: &str) -> fmt::Result {
    writeln!(text, "snapshot {snapshot} {what}")
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
pub(super) fn listed(text: &mut String, history: &[SnapshotEntry], lake: &Lake) -> fmt::Result {
    if history.is_empty() {
        return writeln!(text, "{}; {MAKE_SNAPSHOT}", no_snapshot(lake));
    }
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
}

/// The contents of one snapshot, as `--json` prints them.
pub(super) fn detail(lake: &Lake, entry: &SnapshotEntry, commit: &Commit) -> Value {
    let snapshot = lake.open_snapshot(commit);
    let table = |(name, table): (&String, &TableManifest)| {
        let files: Vec<PathBuf> = table.files.iter().map(|file| snapshot.path_for_user(file)).collect();
        (name.clone(), json!({ "rows": table.rows, "bytes": bytes(table), "files": files }))
    };
    let state = RunState::of(Some(commit));
    let source = state.source.map(|source| source.to_string());
    let mut value = json!(entry);
    value["path"] = json!(snapshot.folder_for_user());
    value["requests_sent"] = json!(commit.requests_sent);
    value["tables"] = Value::Object(commit.tables.iter().map(table).collect());
    value["checks"] = commit.checks.clone();
    value["state"] = json!({ "source": source, "learned_listings": state.shares.len() });
    value
}

fn bytes(table: &TableManifest) -> u64 {
    table.files.iter().map(|file| file.bytes).sum()
}

/// The contents of one snapshot.
pub(super) fn shown(text: &mut String, lake: &Lake, entry: &SnapshotEntry, commit: &Commit) -> fmt::Result {
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
    writeln!(text, "requests   {}", number(commit.requests_sent))?;
    let of_run = RunState::of(Some(commit));
    let source = of_run.source.map_or("an unknown source".to_owned(), |source| source.to_string());
    let listings = count(of_run.shares.len() as u64, "listing");
    writeln!(text, "state      read from {source}; {listings} learned")?;
    for finding in commit.checks["findings"].as_array().into_iter().flatten() {
        writeln!(text, "check      {}", finding.as_str().unwrap_or_default())?;
    }
    for (name, table) in &commit.tables {
        let (rows, size) = (number(table.rows), size(bytes(table)));
        let (word, files) = (noun(table.rows, "row"), count(table.files.len() as u64, "file"));
        writeln!(text, "  {name:<28} {rows:>10} {word:<4}  {size:>11}  {files}")?;
    }
    if entry.state != SnapshotState::Pruned {
        let (folder, snapshot) = (lake.open_snapshot(commit).folder_for_user(), entry.snapshot);
        let path = folder.display();
        writeln!(text, "path       {path}")?;
        if folder.starts_with(lake.root()) {
            writeln!(
                text,
                "try        duckdb -c \"SELECT count(*) FROM {} WHERE listed\"",
                quoted(&format!("{}/filings/**/*.parquet", pattern_of(&path.to_string())))
            )?;
        } else {
            writeln!(
                text,
                "try        sunlake export duckdb snapshot-{snapshot}.duckdb --snapshot {snapshot} --lake {lake}"
            )?;
        }
    }
    Ok(())
}

/// The differences of two snapshots.
pub(super) fn compared(text: &mut String, diff: &SnapshotDiff) -> fmt::Result {
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
pub(super) fn pruned(text: &mut String, pruning: &Pruning, dry_run: bool) -> fmt::Result {
    let deleted = if dry_run { "would be deleted" } else { "deleted" };
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
}
