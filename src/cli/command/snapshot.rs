//! `snapshot`: lists, shows, compares, pins, publishes and prunes snapshots.

use super::snapshot_text::{about, compared, detail, listed, pruned, shown};
use crate::cli::args::{PruneFlags, SnapshotCommand};
use crate::cli::context::open_lake::{open_lake, require_lake, require_snapshot, snapshot_number};
use crate::cli::exit::CommandError;
use crate::cli::session::Session;
use crate::export::ExportError;
use crate::export::catalog::{leave_out, write_catalog};
use crate::lake::{Lake, PruneRules, Retention};
use crate::pipeline::publish::report::write_newest;
use serde_json::json;

pub(crate) fn snapshot(session: &Session<'_>, command: &SnapshotCommand) -> Result<u8, CommandError> {
    let lake = open_lake(session)?;
    match command {
        SnapshotCommand::List => require_lake(&lake)?,
        _ => require_snapshot(&lake)?,
    }
    let number = |name| snapshot_number(&lake, name);
    match command {
        SnapshotCommand::List => {
            let history = lake.history()?;
            session.report(&json!({ "snapshots": history }), |text| listed(text, &history, &lake))
        }
        SnapshotCommand::Show(which) => {
            let (entry, commit) = lake.snapshot(number(which.snapshot)?)?;
            let detail = detail(&lake, &entry, &commit);
            session.report(&detail, |text| shown(text, &lake, &entry, &commit))
        }
        SnapshotCommand::Diff { before, after } => {
            let diff = lake.diff(number(*before)?, number(*after)?)?;
            session.report(&diff, |text| compared(text, &diff))
        }
        SnapshotCommand::Pin(which) => pin(session, &lake, number(which.snapshot)?, true),
        SnapshotCommand::Unpin(which) => pin(session, &lake, number(which.snapshot)?, false),
        SnapshotCommand::Rollback { snapshot } => roll_back(session, &lake, number(*snapshot)?),
        SnapshotCommand::Accept(which) => accept(session, &lake, number(which.snapshot)?),
        SnapshotCommand::Prune(flags) => prune(session, &lake, flags),
    }
}

fn pin(session: &Session<'_>, lake: &Lake, snapshot: u64, pinned: bool) -> Result<u8, CommandError> {
    let changed = if pinned { lake.pin(snapshot, session.now())? } else { lake.unpin(snapshot)? };
    let text = match (pinned, changed) {
        (true, true) => "is pinned: no rule prunes it",
        (true, false) => "was pinned already",
        (false, true) => "is no longer pinned",
        (false, false) => "was not pinned",
    };
    let value = json!({ "snapshot": snapshot, "pinned": pinned, "changed": changed });
    session.report(&value, |out| about(out, snapshot, text))
}

fn roll_back(session: &Session<'_>, lake: &Lake, snapshot: u64) -> Result<u8, CommandError> {
    let (lock, run_id) = session.lock(lake, "rollback")?;
    let commit = lake.roll_back(&lock, snapshot, &run_id, session.now(), session.today)?;
    if commit.is_some() {
        write_newest(lake, true, None)?;
    }
    let published = commit.map(|commit| commit.snapshot);
    let value = json!({ "restored": snapshot, "snapshot": published.unwrap_or(snapshot) });
    session.report(&value, |text| match published {
        Some(new) => {
            let what =
                format!("has the tables of snapshot {snapshot}; the next run reads later changes again");
            about(text, new, &what)
        }
        None => about(text, snapshot, "is what readers see already"),
    })
}

fn accept(session: &Session<'_>, lake: &Lake, snapshot: u64) -> Result<u8, CommandError> {
    let (lock, _) = session.lock(lake, "accept")?;
    let commit = lake.publish_pending(&lock, snapshot)?;
    write_newest(lake, true, None)?;
    let value = json!({ "snapshot": commit.snapshot, "accepted": true });
    session.report(&value, |text| about(text, commit.snapshot, "is published; readers see it"))
}

fn prune(session: &Session<'_>, lake: &Lake, flags: &PruneFlags) -> Result<u8, CommandError> {
    let keep = Retention {
        last: flags.keep_last,
        daily: flags.keep_daily,
        weekly: flags.keep_weekly,
        monthly: flags.keep_monthly,
    };
    if keep.is_empty() && flags.raw_days.is_none() {
        return Err(CommandError::Settings("no rule says what to keep".to_owned())
            .with_hint("give --keep-last, --keep-daily, --keep-weekly, --keep-monthly or --raw-days"));
    }
    let rules = PruneRules { keep, raw_days: flags.raw_days, today: session.today };
    let pruning = if flags.dry_run {
        lake.would_prune(&rules)?
    } else {
        let (lock, _) = session.lock(lake, "prune")?;
        leave_out(lake, &lake.would_prune(&rules)?.snapshots)?;
        let pruning = lake.prune(&lock, &rules, session.now())?;
        // A snapshot that was pinned just now stays in it.
        if let Some(newest) = lake.current()? {
            match write_catalog(lake, &newest) {
                Err(ExportError::Lake(error)) if error.is_full_disk() => {
                    tracing::warn!("the catalogue is not up to date: {error}; later: sunlake report");
                }
                written => drop(written?),
            }
        }
        pruning
    };
    let value = json!({
        "dry_run": flags.dry_run, "snapshots": pruning.snapshots, "held": pruning.pending, "runs": pruning.runs,
    });
    session.report(&value, |text| pruned(text, &pruning, flags.dry_run))
}
