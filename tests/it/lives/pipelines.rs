//! Edits of the pipeline file.

use super::life::{Life, Step};
use super::world::Source;

fn runs_again(life: &mut Life) -> Step {
    let run = life.run();
    life.ends(run, &[0]).map(drop)
}

/// A mistake in the file: nothing runs, and the message has its line.
pub(super) fn wrong(life: &mut Life) -> Step {
    let mistakes = [
        ("budget", "max_request = 3\n"),
        ("checks", "vanished = \"stop\"\n"),
        ("aggregates", "folder = \"nowhere\"\n"),
        ("retention", "last = \"two\"\n"),
        ("report", "enabled = 1\n"),
    ];
    let mistake = *life.dice.one_of(&mistakes);
    let run = life.run_with(&[mistake]);
    let done = life.ends(run, &[3])?;
    if !done.stderr.contains("lives.toml") && !done.stderr.contains("nowhere") {
        return Err(format!("the message names no place{}", done.shown()));
    }
    life.is_sound()?;
    runs_again(life)
}

/// The pipeline gets another name: an unfinished run of the old one stays unfinished.
pub(super) fn other_name(life: &mut Life) -> Step {
    life.name = format!("lives-{}", life.dice.below(1_000));
    Ok(())
}

pub(super) fn budget(life: &mut Life) -> Step {
    let lines = format!("max_requests = {}\n", 1 + life.dice.below(25));
    let run = life.run_with(&[("budget", &lines)]);
    life.ends(run, &[0, 5])?;
    life.is_sound()
}

/// For a day the pipeline reads two types alone.
pub(super) fn types(life: &mut Life) -> Step {
    reads(life, "days = \"window\"\ntypes = [\"llc\", \"corporation\"]\n")
}

/// For a day the pipeline reads the newest days alone.
pub(super) fn days(life: &mut Life) -> Step {
    let lines = format!("days = {}\n", 1 + life.dice.below(4));
    reads(life, &lines)
}

fn reads(life: &mut Life, lines: &str) -> Step {
    if let Source::Api(_) = life.world.source {
        life.world.advance(&life.scratch, &mut life.dice, true);
        let run = life.run_with(&[("extract", lines)]);
        life.ends(run, &[0, 5])?;
        life.is_sound()?;
    }
    Ok(())
}
