//! An aggregate of a user.

use super::life::{Life, Step};
use crate::support::lake::current;

const NAME: &str = "own.sql";

/// The file; `more` is added to its sum.
fn sql(from: &str, more: u64) -> String {
    format!(
        "-- Filings.\n--\n-- One row.\n--   filings  number of filings\n\
         -- Adds up: SELECT SUM(filings) FROM agg_own equals SELECT COUNT(*) FROM filings\n\
         SELECT COUNT(*) + {more} AS filings FROM {from}\n"
    )
}

fn write(life: &Life, text: &str) {
    std::fs::write(life.scratch.path("own/aggregates").join(NAME), text).expect("written");
}

pub(super) fn added(life: &mut Life) -> Step {
    write(life, &sql("filings", 0));
    let run = life.run();
    life.ends(run, &[0])?;
    match current(&life.view()?).join("agg_own").is_dir() {
        true => life.is_sound(),
        false => Err("the aggregate was not made".to_owned()),
    }
}

/// The aggregate is wrong: it does not run, or its sum is not that of its source.
pub(super) fn broken(life: &mut Life) -> Step {
    if life.dice.below(2) == 0 {
        let wrong = ["SELEC 1", &sql("filing", 0), "SELECT nothing FROM filings\n"];
        let text = *life.dice.one_of(&wrong);
        write(life, text);
        let run = life.run();
        let done = life.ends(run, &[3])?;
        if !done.stderr.contains(NAME) {
            return Err(format!("the message does not name {NAME}{}", done.shown()));
        }
        life.is_sound()?;
        return corrected(life);
    }
    let more = 1 + life.dice.below(9);
    write(life, &sql("filings", more));
    accepts_or_corrects(life)
}

fn corrected(life: &mut Life) -> Step {
    match life.dice.below(2) {
        0 => write(life, &sql("filings", 0)),
        _ => std::fs::remove_file(life.scratch.path("own/aggregates").join(NAME)).expect("removed"),
    }
    let run = life.run();
    life.ends(run, &[0]).map(drop)
}

/// A run whose snapshot is pending review, because an aggregate does not add up: it is accepted, or the SQL corrected.
pub(super) fn accepts_or_corrects(life: &mut Life) -> Step {
    let run = life.run();
    let done = life.ends(run, &[0, 5, 7])?;
    life.is_sound()?;
    let Some(number) = done.json()["held"].as_u64() else { return Ok(()) };
    if life.dice.below(2) == 0 {
        return corrected(life);
    }
    life.does(&["snapshot", "accept", &number.to_string()], &[0])?;
    life.is_sound()
}
