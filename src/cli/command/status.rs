//! `status` and `report`: what the lake holds.

use crate::cli::args::Common;
use crate::cli::context::open_lake::{no_snapshot, open_lake};
use crate::cli::exit;
use crate::cli::exit::CommandError;
use crate::cli::output::text;
use crate::cli::{World, print, print_line};
use crate::export::catalog::write_catalog;
use crate::pipeline::maintain::status::lake_status;
use crate::pipeline::publish::report::write_report;

pub(crate) fn status(common: &Common, world: &World) -> Result<u8, CommandError> {
    let lake = open_lake(common, world)?;
    let standing = lake_status(&lake, &crate::cli::state_dir_there(common, world, &lake), (world.now)())?;
    match common.json {
        true => print_line(&text::json(&standing)?)?,
        false => print(&text::standing(&standing, &lake))?,
    }
    Ok(exit::DONE)
}

pub(crate) fn report(common: &Common, world: &World) -> Result<u8, CommandError> {
    let lake = open_lake(common, world)?;
    let Some(commit) = lake.current()? else {
        return Err(CommandError::Settings(no_snapshot(&lake)));
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
