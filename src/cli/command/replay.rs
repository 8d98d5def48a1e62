//! `replay`: a run's tables made again from its archived pages.

use crate::cli::args::Common;
use crate::cli::context::open_lake::{open_lake, require_snapshot};
use crate::cli::exit;
use crate::cli::exit::CommandError;
use crate::cli::output::text;
use crate::cli::output::text::{count, lines};
use crate::cli::{World, print, print_line};
use crate::pipeline::maintain::replay::{Replayed, replay};
use jiff::civil::Date;
use std::fmt::Write;

pub(crate) fn replay_run(
    common: &Common,
    world: &World,
    today: Date,
    run_id: &str,
    publish: bool,
) -> Result<u8, CommandError> {
    let lake = open_lake(common, world)?;
    require_snapshot(&lake)?;
    let lock = lake.lock("replay", &(world.holder)())?;
    let publish = publish.then(|| ((world.now)(), today));
    let replayed = replay(&lake, &lock, run_id, publish)?;
    match common.json {
        true => print_line(&text::json(&replayed)?)?,
        false => print(&text(&replayed))?,
    }
    let is_settled = replayed.is_equal() || replayed.published.is_some();
    Ok(if is_settled { exit::DONE } else { exit::CHECK_FAILED })
}

fn text(replayed: &Replayed) -> String {
    lines(|text| {
        for snapshot in &replayed.snapshots {
            writeln!(
                text,
                "snapshot {}: {}, 0 requests; {} equal, {} different",
                snapshot.snapshot,
                count(snapshot.pages, "page"),
                count(snapshot.equal, "file"),
                snapshot.different.len()
            )?;
            for file in &snapshot.different {
                let path = |path: &Option<String>| path.clone().unwrap_or("nothing".to_owned());
                writeln!(text, "  {} -> {}", path(&file.committed), path(&file.replayed))?;
            }
        }
        match replayed.published {
            Some(snapshot) => writeln!(text, "published as snapshot {snapshot}"),
            None => Ok(()),
        }
    })
}
