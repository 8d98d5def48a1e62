//! `verify`: whether the lake is what was written, and `--repair`: putting right what is not.

use crate::cli::args::Common;
use crate::cli::context::open_lake::{open_lake_as_it_is, require_snapshot};
use crate::cli::exit;
use crate::cli::exit::CommandError;
use crate::cli::output::repair_hint::MENDS;
use crate::cli::output::text::count;
use crate::cli::{World, print, print_line};
use crate::lake::{LakeError, Problem, VerifyReport};
use crate::pipeline::PipelineError;
use crate::pipeline::maintain::repair::{Repaired, repair};
use jiff::civil::Date;
use serde_json::{Value, json};

pub(crate) fn verify(common: &Common, world: &World, snapshot: Option<u64>) -> Result<u8, CommandError> {
    let lake = open_lake_as_it_is(common, world)?;
    require_snapshot(&lake)?;
    let newest = lake.commits()?.last().copied();
    let report = match snapshot {
        Some(snapshot) => lake.verify(snapshot)?,
        None => lake.audit()?,
    };
    let verdict = if report.is_sound() { "sound" } else { "damaged" };
    if common.json {
        print_line(&verify_json(snapshot.or(newest), &report).to_string())?;
    } else {
        tell_problems(&report.problems)?;
        let (files, rows) = (count(report.files, "file"), count(report.rows, "row"));
        print(&match snapshot {
            Some(number) => format!("snapshot {number}: {files}, {rows}, {verdict}\n"),
            None => format!("the lake: {files}, {rows} in the newest snapshot, {verdict}\n"),
        })?;
        if !report.is_sound() {
            print_line(MENDS)?;
        }
    }
    Ok(if report.is_sound() { exit::DONE } else { exit::STORAGE })
}

pub(crate) fn repair_lake(common: &Common, world: &World, today: Date) -> Result<u8, CommandError> {
    let lake = open_lake_as_it_is(common, world)?;
    require_snapshot(&lake)?;
    let now = (world.now)();
    let run_id = format!("{}-repair", now.strftime("%Y%m%dT%H%M%S%3fZ"));
    let lock = lake.lock(&run_id, &(world.holder)()).map_err(|error| stays_damaged(error.into()))?;
    let repaired = repair(&lake, &lock, &run_id, (now, today)).map_err(stays_damaged)?;
    if common.json {
        let value = json!({
            "actions": repaired.actions, "snapshot": repaired.snapshot, "left": problems_json(&repaired.left),
        });
        print_line(&value.to_string())?;
    } else {
        tell_repair(&repaired)?;
    }
    Ok(if repaired.left.is_empty() { exit::DONE } else { exit::STORAGE })
}

/// Damage that a repair ends with, in words that do not send for one.
fn stays_damaged(error: PipelineError) -> CommandError {
    match error {
        PipelineError::Lake(LakeError::Damaged { .. }) => CommandError::Damaged(error.to_string()),
        other => other.into(),
    }
}

fn tell_problems(problems: &[Problem]) -> Result<(), CommandError> {
    problems.iter().try_for_each(|problem| print(&format!("{}: {}\n", problem.path.display(), problem.what)))
}

fn tell_repair(repaired: &Repaired) -> Result<(), CommandError> {
    for action in &repaired.actions {
        print(&format!("{}: {}; {}\n", action.path.display(), action.what, action.done))?;
    }
    if let Some(snapshot) = repaired.snapshot {
        print(&format!("snapshot {snapshot} is published without what was lost\n"))?;
    }
    tell_problems(&repaired.left)?;
    print(match (repaired.actions.is_empty(), repaired.left.is_empty()) {
        (true, true) => "nothing is damaged\n",
        (false, true) => "the lake is sound again\n",
        (_, false) => "what is named last stays damaged; `sunlake snapshot prune` lets old snapshots go\n",
    })
}

fn verify_json(snapshot: Option<u64>, report: &VerifyReport) -> Value {
    json!({
        "snapshot": snapshot, "files": report.files, "rows": report.rows,
        "sound": report.is_sound(), "problems": problems_json(&report.problems),
    })
}

fn problems_json(problems: &[Problem]) -> Vec<Value> {
    problems.iter().map(|problem| json!({ "path": problem.path, "what": problem.what })).collect()
}
