//! `verify`: whether every file of the lake is as it was written; `verify --repair`: repairs damaged files.

use crate::cli::args::SnapshotName;
use crate::cli::context::open_lake::{open_lake_as_it_is, snapshot_number};
use crate::cli::exit::{self, CommandError};
use crate::cli::output::words::count;
use crate::cli::session::Session;
use crate::lake::{LakeError, Problem, VerifyReport};
use crate::pipeline::PipelineError;
use crate::pipeline::maintain::repair::{Repaired, repair};
use crate::table::REPAIR;
use serde_json::json;
use std::fmt::{self, Write};

pub(crate) fn verify(session: &Session<'_>, snapshot: Option<SnapshotName>) -> Result<u8, CommandError> {
    let lake = open_lake_as_it_is(session)?;
    let newest = lake.commits()?.last().copied();
    let snapshot = snapshot.map(|name| snapshot_number(&lake, name)).transpose()?;
    let report = match snapshot {
        Some(snapshot) => lake.verify(snapshot)?,
        None => lake.audit()?,
    };
    let value = json!({
        "snapshot": snapshot.or(newest), "files": report.files, "rows": report.rows,
        "sound": report.is_sound(), "problems": report.problems, "notes": report.notes,
    });
    session.report(&value, |text| verify_text(text, snapshot, &report))?;
    Ok(if report.is_sound() { exit::DONE } else { exit::STORAGE })
}

pub(crate) fn repair_lake(session: &Session<'_>) -> Result<u8, CommandError> {
    let lake = open_lake_as_it_is(session)?;
    let now = session.now();
    let run_id = session.run_id("repair")?;
    // What a killed run left stays until the repair reports it.
    let lock = lake.lock_unrepaired(&run_id, &(session.world.holder)())?;
    let repaired = repair(&lake, &lock, &run_id, now, session.today).map_err(stays_damaged)?;
    let value = json!({
        "actions": repaired.actions, "snapshot": repaired.snapshot,
        "left": repaired.left, "notes": repaired.notes,
    });
    session.report(&value, |text| repair_text(text, &repaired))?;
    Ok(if repaired.left.is_empty() { exit::DONE } else { exit::STORAGE })
}

/// An error of a repair. Damage that it cannot repair has no hint to run another repair.
fn stays_damaged(error: PipelineError) -> CommandError {
    match error {
        PipelineError::Lake(LakeError::Damaged { .. }) => CommandError::Damaged(error.to_string()),
        other => other.into(),
    }
}

fn verify_text(text: &mut String, snapshot: Option<u64>, report: &VerifyReport) -> fmt::Result {
    let (files, rows) = (count(report.files, "file"), count(report.rows, "row"));
    write_problems(text, &report.notes)?;
    write_problems(text, &report.problems)?;
    match snapshot {
        Some(number) => write!(text, "snapshot {number}: {files}, {rows}, ")?,
        None => write!(text, "the lake: {files}, {rows} in the newest snapshot, ")?,
    }
    if report.is_sound() {
        writeln!(text, "sound{}", but_for(&report.notes))
    } else {
        writeln!(text, "damaged\nhint: {REPAIR}")
    }
}

/// The files of runs that a sound lake lacks, or that nothing proves.
fn but_for(notes: &[Problem]) -> String {
    match notes.len() {
        0 => String::new(),
        files => format!(" but for {} of earlier runs, named above", count(files as u64, "file")),
    }
}

fn repair_text(text: &mut String, repaired: &Repaired) -> fmt::Result {
    for action in &repaired.actions {
        writeln!(text, "{}: {}; {}", action.path.display(), action.what, action.done)?;
    }
    if let Some(snapshot) = repaired.snapshot {
        writeln!(text, "snapshot {snapshot} is published without the lost rows")?;
    }
    write_problems(text, &repaired.notes)?;
    write_problems(text, &repaired.left)?;
    let but_for = but_for(&repaired.notes);
    match (repaired.actions.is_empty(), repaired.left.is_empty()) {
        (true, true) => writeln!(text, "nothing is damaged{but_for}"),
        (false, true) => writeln!(text, "the lake is sound again{but_for}"),
        (_, false) if repaired.left.iter().any(Problem::is_of_rows) => writeln!(
            text,
            "some files stay damaged\nhint: delete old snapshots: `sunlake snapshot prune --keep-last 1`; \
             pinned ones stay until `sunlake snapshot unpin N`"
        ),
        _ => writeln!(
            text,
            "some files stay damaged\nhint: take them from a backup; delete those that no commit names"
        ),
    }
}

fn write_problems(text: &mut String, problems: &[Problem]) -> fmt::Result {
    problems.iter().try_for_each(|problem| {
        writeln!(text, "{}: {}: {}", problem.path.display(), problem.what, problem.means)
    })
}
