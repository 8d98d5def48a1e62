//! `snapshot`: the lake's history looked at, compared, kept, cut, gone back in, and added to by a person's word.

use crate::cli::args::{Common, PruneFlags, SnapshotCommand};
use crate::cli::context::open_lake::{no_snapshot, open_lake, require_snapshot};
use crate::cli::exit;
use crate::cli::exit::CommandError;
use crate::cli::output::text;
use crate::cli::output::text::{count, lines, noun};
use crate::cli::{World, print, print_line};
use crate::lake::{
    Commit, Example, Lake, LakeLock, PruneRules, Pruning, Retention, SnapshotDiff, SnapshotEntry,
    SnapshotState,
};
use crate::pipeline::publish::report::write_shown;
use crate::pipeline::state::RunState;
use jiff::civil::Date;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

pub(crate) fn snapshot(
    common: &Common,
    world: &World,
    today: Date,
    command: &SnapshotCommand,
) -> Result<u8, CommandError> {
    let lake = open_lake(common, world)?;
    if !matches!(command, SnapshotCommand::List) {
        require_snapshot(&lake)?;
    }
    let desk = Desk { common, world, today, lake };
    match command {
        SnapshotCommand::List => desk.list(),
        SnapshotCommand::Show { snapshot } => desk.show(*snapshot),
        SnapshotCommand::Diff { before, after } => desk.diff(*before, *after),
        SnapshotCommand::Pin { snapshot } => desk.pin(*snapshot),
        SnapshotCommand::Unpin { snapshot } => desk.unpin(*snapshot),
        SnapshotCommand::Rollback { snapshot } => desk.roll_back(*snapshot),
        SnapshotCommand::Accept { snapshot } => desk.accept(*snapshot),
        SnapshotCommand::Prune(flags) => desk.prune(flags),
    }
}

/// What every subcommand needs.
struct Desk<'a> {
    common: &'a Common,
    world: &'a World,
    today: Date,
    lake: Lake,
}

impl Desk<'_> {
    /// One JSON object, or text.
    fn tell(&self, value: &impl Serialize, text: &str) -> Result<u8, CommandError> {
        match self.common.json {
            true => print_line(&text::json(value)?)?,
            false => print(text)?,
        }
        Ok(exit::DONE)
    }

    /// The lake for writing, under a name that says what for.
    fn lock(&self, what: &str) -> Result<(LakeLock, String), CommandError> {
        let run_id = format!("{}-{what}", (self.world.now)().strftime("%Y%m%dT%H%M%S%3fZ"));
        let lock = self.lake.lock(&run_id, &(self.world.holder)())?;
        Ok((lock, run_id))
    }

    fn list(&self) -> Result<u8, CommandError> {
        let history = self.lake.history()?;
        self.tell(&json!({ "snapshots": history }), &listed(&history, &self.lake))
    }

    fn show(&self, snapshot: u64) -> Result<u8, CommandError> {
        let (entry, commit) = self.lake.snapshot(snapshot)?;
        let detail = Detail::of(&self.lake, entry, &commit);
        self.tell(&detail, &detail.text())
    }

    fn diff(&self, before: u64, after: u64) -> Result<u8, CommandError> {
        let diff = self.lake.diff(before, after)?;
        self.tell(&diff, &compared(&diff))
    }

    fn pin(&self, snapshot: u64) -> Result<u8, CommandError> {
        let is_new = self.lake.pin(snapshot, (self.world.now)())?;
        let text = if is_new { "is pinned: no rule prunes it" } else { "was pinned already" };
        self.tell(&json!({ "snapshot": snapshot, "pinned": true, "changed": is_new }), &said(snapshot, text))
    }

    fn unpin(&self, snapshot: u64) -> Result<u8, CommandError> {
        let was_pinned = self.lake.unpin(snapshot)?;
        let text = if was_pinned { "is no longer pinned" } else { "was not pinned" };
        self.tell(
            &json!({ "snapshot": snapshot, "pinned": false, "changed": was_pinned }),
            &said(snapshot, text),
        )
    }

    fn roll_back(&self, snapshot: u64) -> Result<u8, CommandError> {
        let (lock, run_id) = self.lock("rollback")?;
        let now = (self.world.now)();
        let commit = self.lake.roll_back(&lock, snapshot, &run_id, (now, self.today))?;
        if let Some(commit) = &commit {
            write_shown(&self.lake, commit)?;
        }
        let published = commit.map(|commit| commit.snapshot);
        let text = match published {
            Some(new) => said(
                new,
                &format!("shows what snapshot {snapshot} showed; the next run reads what happened since"),
            ),
            None => said(snapshot, "is what readers see already"),
        };
        self.tell(&json!({ "restored": snapshot, "snapshot": published.unwrap_or(snapshot) }), &text)
    }

    fn accept(&self, snapshot: u64) -> Result<u8, CommandError> {
        let (lock, _) = self.lock("accept")?;
        let commit = self.lake.publish_pending(&lock, snapshot)?;
        write_shown(&self.lake, &commit)?;
        let text = said(commit.snapshot, "is published; readers see it");
        self.tell(&json!({ "snapshot": commit.snapshot, "accepted": true }), &text)
    }

    fn prune(&self, flags: &PruneFlags) -> Result<u8, CommandError> {
        let keep = Retention {
            last: flags.keep_last,
            daily: flags.keep_daily,
            weekly: flags.keep_weekly,
            monthly: flags.keep_monthly,
        };
        if keep.is_empty() && flags.raw_days.is_none() {
            return Err(CommandError::Settings(
                "say what to keep: --keep-last, --keep-daily, --keep-weekly, --keep-monthly or --raw-days"
                    .to_owned(),
            ));
        }
        let rules = PruneRules { keep, raw_days: flags.raw_days, today: self.today };
        let pruning = match flags.dry_run {
            true => self.lake.would_prune(&rules)?,
            false => {
                let (lock, _) = self.lock("prune")?;
                self.lake.prune(&lock, &rules, (self.world.now)())?
            }
        };
        let value = json!({
            "dry_run": flags.dry_run, "snapshots": pruning.snapshots, "held": pruning.pending, "runs": pruning.runs,
        });
        self.tell(&value, &pruned(&pruning, flags.dry_run))
    }
}

fn said(snapshot: u64, what: &str) -> String {
    format!("snapshot {snapshot} {what}\n")
}

const fn standing(state: SnapshotState) -> &'static str {
    match state {
        SnapshotState::Published => "published",
        SnapshotState::Pending => "held",
        SnapshotState::Pruned => "pruned",
    }
}

fn size(bytes: u64) -> String {
    let kib = bytes as f64 / f64::from(1 << 10);
    if kib < 1024.0 { format!("{kib:.1} KiB") } else { format!("{:.1} MiB", kib / 1024.0) }
}

fn listed(history: &[SnapshotEntry], lake: &Lake) -> String {
    if history.is_empty() {
        return format!("{}\n", no_snapshot(lake));
    }
    lines(|text| {
        for entry in history {
            let mark = if entry.current { '*' } else { ' ' };
            write!(
                text,
                "{mark} {:>6}  {}  {:>10} {:<7}  {:>11}  {:<9}",
                entry.snapshot,
                entry.today,
                entry.filings,
                noun(entry.filings, "filing"),
                size(entry.bytes),
                standing(entry.state),
            )?;
            if entry.pinned {
                write!(text, "  pinned")?;
            }
            if let Some(restored) = entry.restores {
                write!(text, "  shows {restored} again")?;
            }
            writeln!(text, "  {}", entry.run_id)?;
        }
        Ok(())
    })
}

/// Everything about one snapshot.
#[derive(Debug, Serialize)]
struct Detail {
    #[serde(flatten)]
    entry: SnapshotEntry,
    path: PathBuf,
    /// Address of the lake where it lies in an object store.
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

/// The run state that the commit holds, in short.
#[derive(Debug, Serialize)]
struct StateDetail {
    source: Option<String>,
    counted_days: usize,
    learned_listings: usize,
}

impl Detail {
    fn of(lake: &Lake, entry: SnapshotEntry, commit: &Commit) -> Self {
        let snapshot = lake.open_snapshot(commit);
        let path = snapshot.folder_for_user();
        let tables = commit.tables.iter().map(|(name, table)| {
            let bytes = table.files.iter().map(|file| file.bytes).sum();
            let files = table.files.iter().map(|file| snapshot.path_for_user(file)).collect();
            (name.clone(), TableDetail { rows: table.rows, bytes, files })
        });
        let state = RunState::from_commit(&commit.state);
        Self {
            address: (!path.starts_with(lake.root())).then(|| lake.to_string()),
            path,
            requests_sent: commit.requests_sent,
            tables: tables.collect(),
            checks: commit.checks.clone(),
            state: StateDetail {
                source: state.source.map(|source| source.to_string()),
                counted_days: state.counts.len(),
                learned_listings: state.shares.len(),
            },
            entry,
        }
    }

    fn text(&self) -> String {
        lines(|text| {
            let entry = &self.entry;
            let pinned = if entry.pinned { ", pinned" } else { "" };
            writeln!(text, "snapshot {}, {}{pinned}", entry.snapshot, standing(entry.state))?;
            let parent = entry.parent.map_or("nothing".to_owned(), |parent| format!("snapshot {parent}"));
            writeln!(
                text,
                "made       {} by run {}, as of {}, from {parent}",
                entry.committed_at, entry.run_id, entry.today
            )?;
            if let Some(restored) = entry.restores {
                writeln!(text, "shows      what snapshot {restored} showed")?;
            }
            writeln!(text, "requests   {}", self.requests_sent)?;
            let source = self.state.source.as_deref().unwrap_or("an unknown source");
            let days = count(self.state.counted_days as u64, "day");
            let listings = count(self.state.learned_listings as u64, "listing");
            writeln!(text, "state      read from {source}; {days} with a count, {listings} learned")?;
            for finding in self.checks["findings"].as_array().into_iter().flatten() {
                writeln!(text, "check      {}", finding.as_str().unwrap_or_default())?;
            }
            for (name, table) in &self.tables {
                let (rows, size) = (table.rows, size(table.bytes));
                let (word, files) = (noun(rows, "row"), count(table.files.len() as u64, "file"));
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

fn compared(diff: &SnapshotDiff) -> String {
    lines(|text| {
        if diff.tables.is_empty() {
            return writeln!(text, "snapshots {} and {} hold the same rows", diff.before, diff.after);
        }
        for (name, table) in &diff.tables {
            writeln!(
                text,
                "{name}: {} added, {} changed, {} vanished; {}, {} before",
                table.added,
                table.changed,
                table.vanished,
                count(table.rows_after, "row"),
                table.rows_before
            )?;
            for example in &table.examples {
                writeln!(text, "  {}", shown(example))?;
            }
        }
        Ok(())
    })
}

/// A row that differs, on one line.
fn shown(example: &Example) -> String {
    let cell = |cell: &Option<String>| cell.as_deref().map_or("null".to_owned(), |text| format!("{text:?}"));
    let pairs = |cells: &BTreeMap<String, Option<String>>| {
        cells.iter().map(|(name, value)| format!("{name}={}", cell(value))).collect::<Vec<_>>().join(" ")
    };
    let kind = match example.kind {
        crate::lake::DiffKind::Added => "+",
        crate::lake::DiffKind::Changed => "~",
        crate::lake::DiffKind::Vanished => "-",
    };
    let both: Vec<String> = example
        .after
        .iter()
        .filter_map(|(name, new)| {
            Some(format!("{name}: {} -> {}", cell(example.before.get(name)?), cell(new)))
        })
        .collect();
    let rest = match both.is_empty() {
        false => both.join(", "),
        true if example.after.is_empty() => pairs(&example.before),
        true => pairs(&example.after),
    };
    match example.key.is_empty() {
        true => format!("{kind} {rest}"),
        false => format!("{kind} {}  {rest}", pairs(&example.key)),
    }
}

fn pruned(pruning: &Pruning, dry_run: bool) -> String {
    let verb = if dry_run { "would go" } else { "went" };
    let numbers = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    lines(|text| {
        if *pruning == Pruning::default() {
            return writeln!(text, "nothing {verb}");
        }
        if !pruning.snapshots.is_empty() {
            writeln!(text, "snapshots that {verb}: {}", numbers(&pruning.snapshots))?;
        }
        if !pruning.pending.is_empty() {
            writeln!(text, "held snapshots that {verb}: {}", numbers(&pruning.pending))?;
        }
        for run in &pruning.runs {
            writeln!(text, "raw pages that {verb}: {run}")?;
        }
        Ok(())
    })
}
