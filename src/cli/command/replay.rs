//! `replay`: the tables of a run, made again from its archived pages.

use crate::cli::context::open_lake::{open_lake, require_snapshot};
use crate::cli::exit::{self, CommandError};
use crate::cli::output::words::count;
use crate::cli::session::Session;
use crate::pipeline::maintain::replay::{Replayed, replay};
use std::fmt::{self, Write};

pub(crate) fn replay_run(session: &Session<'_>, run_id: &str, publish: bool) -> Result<u8, CommandError> {
    let lake = open_lake(session)?;
    require_snapshot(&lake)?;
    let lock = lake.lock("replay", &(session.world.holder)())?;
    let replayed = replay(&lake, &lock, run_id, publish, session.now(), session.today)?;
    session.report(&replayed, |text| write(text, &replayed))?;
    let is_settled = replayed.is_equal() || replayed.published.is_some();
    Ok(if is_settled { exit::DONE } else { exit::CHECK_FAILED })
}

fn write(text: &mut String, replayed: &Replayed) -> fmt::Result {
    for snapshot in &replayed.snapshots {
        let (pages, equal) = (count(snapshot.pages, "page"), count(snapshot.equal, "file"));
        let different = snapshot.different.len();
        let number = snapshot.snapshot;
        writeln!(text, "snapshot {number}: {pages}, 0 requests; {equal} equal, {different} different")?;
        for file in &snapshot.different {
            let path = |path: &Option<String>| path.clone().unwrap_or("nothing".to_owned());
            writeln!(text, "  {} -> {}", path(&file.committed), path(&file.replayed))?;
        }
    }
    match replayed.published {
        Some(snapshot) => writeln!(text, "published as snapshot {snapshot}"),
        None => Ok(()),
    }
}
