//! `status` and `report`: what the lake holds.

use super::args::Common;
use super::exit::{self, CommandError};
use super::lake::{no_snapshot, open_lake};
use super::{World, print, print_line, show};
use crate::export::catalog::write_catalog;
use crate::pipeline::report::write_report;
use crate::pipeline::standing::{Standing, standing};

pub(super) fn status(common: &Common, world: &World) -> Result<u8, CommandError> {
    let lake = open_lake(common, world)?;
    let standing: Standing = standing(&lake, &super::state_dir_there(common, world, &lake), (world.now)())?;
    match common.json {
        true => print_line(&show::json(&standing)?)?,
        false => print(&show::standing(&standing, &lake))?,
    }
    Ok(exit::DONE)
}

pub(super) fn report(common: &Common, world: &World) -> Result<u8, CommandError> {
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
