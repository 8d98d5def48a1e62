//! `status`, `verify` and `report`: what the lake holds, and whether it is what its commits say.

use super::args::Common;
use super::exit::{self, CommandError};
use super::lake::open_lake;
use super::{World, print, print_line, show};
use crate::export::catalog::write_catalog;
use crate::lake::VerifyReport;
use crate::pipeline::report::write_report;
use crate::pipeline::standing::{Standing, standing};

pub(super) fn status(common: &Common, world: &World) -> Result<u8, CommandError> {
    let lake = open_lake(common, world)?;
    let standing: Standing = standing(&lake, &super::state_dir(common, world, &lake), (world.now)())?;
    match common.json {
        true => print_line(&show::json(&standing)?)?,
        false => print(&show::standing(&standing))?,
    }
    Ok(exit::DONE)
}

pub(super) fn verify(common: &Common, world: &World, snapshot: Option<u64>) -> Result<u8, CommandError> {
    let lake = open_lake(common, world)?;
    let newest = lake.current()?.map(|commit| commit.snapshot);
    let Some(snapshot) = snapshot.or(newest) else {
        return Err(CommandError::Settings(
            "the lake has no snapshot yet; `sunlake run` makes one".to_owned(),
        ));
    };
    let report = lake.verify(snapshot)?;
    if common.json {
        print_line(&verify_json(snapshot, &report))?;
    } else {
        for problem in &report.problems {
            print(&format!("{}: {}\n", problem.path.display(), problem.what))?;
        }
        let verdict = if report.is_sound() { "sound" } else { "damaged" };
        print(&format!("snapshot {snapshot}: {} files, {} rows, {verdict}\n", report.files, report.rows))?;
    }
    Ok(if report.is_sound() { exit::DONE } else { exit::STORAGE })
}

pub(super) fn report(common: &Common, world: &World) -> Result<u8, CommandError> {
    let lake = open_lake(common, world)?;
    let Some(commit) = lake.current()? else {
        return Err(CommandError::Settings(
            "the lake has no snapshot yet; `sunlake run` makes one".to_owned(),
        ));
    };
    let path = write_report(&lake, &commit, None)?;
    let catalog = write_catalog(&lake, &commit)?;
    let path = path.display().to_string();
    match common.json {
        true => {
            let told = serde_json::json!({ "snapshot": commit.snapshot, "report": path, "catalog": catalog });
            print_line(&told.to_string())?;
        }
        false => print_line(&path)?,
    }
    Ok(exit::DONE)
}

fn verify_json(snapshot: u64, report: &VerifyReport) -> String {
    let problems: Vec<_> = report
        .problems
        .iter()
        .map(|problem| serde_json::json!({ "path": problem.path, "what": problem.what }))
        .collect();
    serde_json::json!({
        "snapshot": snapshot, "files": report.files, "rows": report.rows,
        "sound": report.is_sound(), "problems": problems,
    })
    .to_string()
}
