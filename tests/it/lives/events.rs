//! What happens to a lake, and the documented way out of each accident.

use super::aggregates;
use super::damage;
use super::life::{Kind, Life, Step};
use super::pipelines;
use super::world::{Source, daily_name, plan};
use crate::state_order::put;
use crate::support::command::{Running, Sunlake, succeed};
use crate::support::lake::files_below_if_there;
use crate::support::{PATIENCE, wait_for};
use jiff::ToSpan;
use std::process::Command;

/// Something that happens.
#[derive(Clone, Copy)]
pub(super) struct Event {
    pub(super) name: &'static str,
    pub(super) happens: fn(&mut Life) -> Step,
}

const fn event(name: &'static str, happens: fn(&mut Life) -> Step) -> Event {
    Event { name, happens }
}

/// Events of every lake.
const OF_ALL: [Event; 11] = [
    event("quiet day", |_| Ok(())),
    event("two runs at once", two_at_once),
    event("full disk", full_disk),
    event("clock back", clock_back),
    event("rollback", rollback),
    event("prune", prune),
    event("pin and prune", pin_and_prune),
    event("wrong pipeline file", pipelines::wrong),
    event("other pipeline of the lake", pipelines::other_name),
    event("aggregate added", aggregates::added),
    event("aggregate broken", aggregates::broken),
];

/// Events of lakes in a folder.
const IN_FOLDER: [Event; 15] = [
    event("damage of a commit and its copy", damage::of_commit_and_copy),
    event("rollback or prune cut short", change_cut_short),
    event("rollback or prune cut short", change_cut_short),
    event("repair cut short", damage::repair_cut_short),
    event("rollback", rollback),
    event("kill while it writes", kill_while_it_writes),
    event("kill while it writes", kill_while_it_writes),
    event("signal", signal),
    event("copy with followed links", copy_that_follows_links),
    event("damage with copies", damage::with_copies),
    event("damage of all copies", damage::of_all_copies),
    event("damage of all copies and pages", damage::of_all_copies_and_pages),
    event("damage of all copies and pages", damage::of_all_copies_and_pages),
    event("damage of several files", damage::of_several_files),
    event("damage, and no repair before the next run", damage::without_repair),
];

/// Events of lakes in an object store.
const IN_STORE: [Event; 6] = [
    event("machine lost", machine_lost),
    event("killed machine lost", killed_machine_lost),
    event("damaged object", damage::of_object),
    event("damaged object", damage::of_object),
    event("damaged object and no working copy", damage::of_object_alone),
    event("damaged working copy", damage::of_working_copy),
];

/// Events of lakes of the API.
const OF_API: [Event; 13] = [
    event("kill at a request", kill_at_a_request),
    event("kill at a request", kill_at_a_request),
    event("clock ahead", clock_ahead),
    event("key refused", |life| refused(life, 401, 4)),
    event("API unavailable", |life| refused(life, 503, 6)),
    event("faults of the API", faults),
    event("budget spent", pipelines::budget),
    event("plan changed", plan_changed),
    event("new column", new_column),
    event("new column, pending review", new_column_for_review),
    event("vanished, pending review", vanished_for_review),
    event("fewer types", pipelines::types),
    event("fewer days", pipelines::days),
];

/// Events of lakes of the state's files.
const OF_STATE: [Event; 6] = [
    event("wrong clock ahead, undone", clock_ahead_undone),
    event("broken daily file", broken_file),
    event("daily file late", late_file),
    event("two files of a day", two_files),
    event("quarterly set", quarterly_set),
    event("files copied again", files_copied_again),
];

/// The events of a kind of lakes; `SUNLAKE_LIFE_ONLY` is part of the names of those wanted.
pub(super) fn events_of(kind: Kind) -> Vec<Event> {
    let only = std::env::var("SUNLAKE_LIFE_ONLY").unwrap_or_default();
    let own: [&[Event]; 2] = match kind {
        Kind::Api => [&IN_FOLDER, &OF_API],
        Kind::State => [&IN_FOLDER, &OF_STATE],
        Kind::Store => [&IN_STORE, &OF_API],
    };
    let mut all = [&OF_ALL, own[0], own[1]].concat();
    all.retain(|event| event.name.contains(&only));
    all
}

/// The working copy of a machine is gone.
fn machine_lost(life: &mut Life) -> Step {
    let _ = std::fs::remove_dir_all(life.work());
    life.is_sound()
}

/// A machine dies during a run; another one resumes.
fn killed_machine_lost(life: &mut Life) -> Step {
    kill_at_a_request(life)?;
    machine_lost(life)?;
    life.machine = if life.machine == "one" { "two".to_owned() } else { "one".to_owned() };
    runs_again(life)
}

/// Runs again, as every page says: a stopped run resumes.
fn runs_again(life: &mut Life) -> Step {
    let run = life.run();
    life.ends(run, &[0]).map(drop)
}

fn kill_at_a_request(life: &mut Life) -> Step {
    let number = 1 + life.dice.below(25) as usize;
    let run = life.run().start();
    if let Some(api) = life.world.api() {
        let mut state = api.changing.state();
        (state.process, state.kill_at) = (Some(run.id()), Some(state.requests + number));
    }
    let done = run.finish();
    if let Some(api) = life.world.api() {
        let mut state = api.changing.state();
        (state.process, state.kill_at) = (None, None);
    }
    life.note(&format!("killed at request {number}: {:?}", done.code()));
    life.is_sound()
}

/// What a run writes, in order: the kill comes once it is there.
const WRITTEN: [&str; 6] = ["run.json", "/raw/", "/staged/", "/journal/", "/commits/", "summary.json"];

fn kill_while_it_writes(life: &mut Life) -> Step {
    let what = *life.dice.one_of(&WRITTEN);
    let more = life.dice.below(400);
    let runs = life.lake.join("runs");
    let seen = |at: &str| {
        let files = files_below_if_there(&runs);
        files.iter().filter(|file| file.to_string_lossy().contains(at)).count()
    };
    let before = seen(what);
    let mut run = life.run().start();
    wait_for("a file to kill at", PATIENCE, || (seen(what) > before || !run.is_running()).then_some(()));
    // A little later than that, by steps of work and not of time.
    (0..more).for_each(|_| drop(runs.symlink_metadata()));
    let was_running = run.is_running();
    run.kill();
    life.note(&format!("killed after {what} was there: {was_running}"));
    life.is_sound()
}

fn signal(life: &mut Life) -> Step {
    let runs = life.lake.join("runs");
    let count = || files_below_if_there(&runs).len();
    let before = count();
    let mut run = life.run().start();
    wait_for("the run to begin", PATIENCE, || (count() > before || !run.is_running()).then_some(()));
    if run.is_running() {
        run.terminate();
    }
    let done = run.finish();
    life.ended(done, &[0, 5])?;
    life.is_sound()?;
    runs_again(life)
}

fn two_at_once(life: &mut Life) -> Step {
    let first = life.run().start();
    let machine = life.machine.clone();
    if life.bucket.is_some() {
        life.machine = if machine == "one" { "two".to_owned() } else { "one".to_owned() };
    }
    let runs = [first, life.run().start()];
    let ended = runs.map(Running::finish);
    let codes = [ended[0].code(), ended[1].code()];
    for done in ended {
        life.ended(done, &[0, 8])?;
    }
    if !codes.contains(&Some(0)) {
        return Err(format!("neither of two runs got the lake: {codes:?}"));
    }
    life.is_sound()?;
    runs_again(life)?;
    life.machine = machine;
    runs_again(life)
}

fn full_disk(life: &mut Life) -> Step {
    let blocks = 1 + life.dice.below(40);
    let limit = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let run = life.run().through(&["sh", "-c", &limit, "sh"]);
    life.ends(run, &[0, 9])?;
    life.is_sound()?;
    runs_again(life)
}

fn clock_ahead(life: &mut Life) -> Step {
    let ahead = life.world.today + (1 + life.dice.below(9) as i64).days();
    let run = life.run_of(&[], ahead);
    says(life.ends(run, &[3])?, "the API's day is")?;
    life.is_sound()
}

fn clock_back(life: &mut Life) -> Step {
    runs_again(life)?;
    let back = life.world.today - (1 + life.dice.below(9) as i64).days();
    let run = life.run_of(&[], back);
    says(life.ends(run, &[3])?, "was read as of")?;
    life.is_sound()
}

/// No source says that a run of files is ahead of its day; the refusal of the next run says how to undo it.
fn clock_ahead_undone(life: &mut Life) -> Step {
    let ahead = life.world.today + (1 + life.dice.below(9) as i64).days();
    let run = life.run_of(&[], ahead);
    let first = life.ends(run, &[0, 5])?;
    life.world.advance(&life.scratch, &mut life.dice, true);
    if life.world.today >= ahead || first.json()["outcome"] == "unchanged" {
        return runs_again(life);
    }
    let run = life.run();
    let refused = life.ends(run, &[3])?;
    let hint = refused.stderr.split_once("snapshot rollback ").map(|(_, after)| after.to_owned());
    let digits = |text: String| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let Some(number) = hint.map(digits).filter(|number| !number.is_empty()) else {
        return Err(format!("no hint to roll back{}", refused.shown()));
    };
    rolls_back(life, &number)
}

/// What was accepted after the snapshot is asked again.
fn rolls_back(life: &mut Life, number: &str) -> Step {
    life.does(&["snapshot", "rollback", number], &[0])?;
    life.is_sound()?;
    aggregates::accepts_or_corrects(life)
}

fn says(done: crate::support::command::Finished, words: &str) -> Step {
    match done.stderr.contains(words) {
        true => Ok(()),
        false => Err(format!("stderr should say {words:?}{}", done.shown())),
    }
}

fn rollback(life: &mut Life) -> Step {
    let snapshots = life.snapshots();
    let number = life.dice.one_of(&snapshots).to_string();
    rolls_back(life, &number)
}

fn prune(life: &mut Life) -> Step {
    let keep = (1 + life.dice.below(3)).to_string();
    life.does(&["snapshot", "prune", "--keep-last", &keep], &[0])?;
    life.is_sound()
}

fn pin_and_prune(life: &mut Life) -> Step {
    let snapshots = life.snapshots();
    let number = life.dice.one_of(&snapshots).to_string();
    life.does(&["snapshot", "pin", &number], &[0])?;
    life.is_sound()?;
    life.does(&["snapshot", "prune", "--keep-last", "1", "--raw-days", "0"], &[0])?;
    life.is_sound()?;
    life.does(&["snapshot", "unpin", &number], &[0])?;
    life.is_sound()
}

/// A command that changes the lake, killed once it has written something, or on a full disk.
pub(super) fn cut_short(life: &mut Life, arguments: &[&str], codes: &[i32]) -> Step {
    let command = life.opened(Sunlake::on(&life.lake, arguments));
    if life.dice.below(2) == 0 {
        let limit = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", 1 + life.dice.below(30));
        let codes = [codes, &[9]].concat();
        return life.ends(command.through(&["sh", "-c", &limit, "sh"]), &codes).map(drop);
    }
    let lake = life.lake.clone();
    let more = life.dice.below(60) as usize;
    let before = files_below_if_there(&lake);
    let mut command = command.start();
    let has_changed = |looks: &mut usize| {
        *looks += usize::from(files_below_if_there(&lake) != before);
        *looks > more
    };
    let mut looks = 0;
    wait_for("a change", PATIENCE, || (has_changed(&mut looks) || !command.is_running()).then_some(()));
    let was_running = command.is_running();
    command.kill();
    life.note(&format!("{arguments:?} killed: {was_running}"));
    Ok(())
}

/// The same command again is the way out.
fn change_cut_short(life: &mut Life) -> Step {
    let snapshots = life.snapshots();
    let number = life.dice.one_of(&snapshots).to_string();
    let commands = [
        &["snapshot", "rollback", &*number][..],
        &["snapshot", "prune", "--keep-last", "1"],
        &["snapshot", "pin", &number],
    ];
    let arguments = *life.dice.one_of(&commands);
    cut_short(life, arguments, &[0])?;
    life.is_sound()?;
    if life.dice.below(2) == 0 && life.snapshots().contains(&number.parse().expect("a number")) {
        life.does(arguments, &[0])?;
        life.is_sound()?;
    }
    aggregates::accepts_or_corrects(life)
}

/// The lake is a copy of itself, made by a program that follows links.
fn copy_that_follows_links(life: &mut Life) -> Step {
    let copy = life.lake.with_file_name("copy");
    succeed(Command::new("cp").arg("-rL").arg(&life.lake).arg(&copy));
    std::fs::remove_dir_all(&life.lake).expect("removed");
    std::fs::rename(&copy, &life.lake).expect("renamed");
    life.verifies(&[life.lake.join("current")].into())?;
    if life.dice.below(2) == 0 {
        life.does(&["verify", "--repair"], &[0])?;
        return life.is_sound();
    }
    runs_again(life)
}

/// Every request is refused for a while.
fn refused(life: &mut Life, status: u16, code: i32) -> Step {
    let Some(api) = life.world.api() else { return Ok(()) };
    api.changing.state().refuses = Some(status);
    let run = life.run_with(&[("budget", "attempts = 1\n")]);
    let ended = life.ends(run, &[code]);
    if let Some(api) = life.world.api() {
        api.changing.state().refuses = None;
    }
    ended?;
    life.is_sound()?;
    runs_again(life)
}

fn faults(life: &mut Life) -> Step {
    let Some(api) = life.world.api() else { return Ok(()) };
    api.changing.state().faults = 0.3;
    let run = life.run_with(&[("budget", "attempts = 1\n")]);
    let ended = life.ends(run, &[0, 5, 6]);
    if let Some(api) = life.world.api() {
        api.changing.state().faults = 0.0;
    }
    ended?;
    life.is_sound()
}

fn plan_changed(life: &mut Life) -> Step {
    let plan = plan(&mut life.dice);
    life.note(&format!("{plan:?}"));
    if let Some(api) = life.world.api() {
        api.changing.state().listings.plan = plan;
    }
    Ok(())
}

fn new_column(life: &mut Life) -> Step {
    if let Some(api) = life.world.api() {
        api.changing.state().listings.new_fields += 1;
    }
    Ok(())
}

/// A person wants to see new columns before they are published.
fn new_column_for_review(life: &mut Life) -> Step {
    new_column(life)?;
    life.world.advance(&life.scratch, &mut life.dice, true);
    accepts(life, &[("checks", "unknown_fields = \"hold\"\n")])
}

/// A person allows no business to vanish.
fn vanished_for_review(life: &mut Life) -> Step {
    runs_again(life)?;
    life.world.advance(&life.scratch, &mut life.dice, true);
    if let Source::Api(api) = &mut life.world.source {
        api.dissolve(&mut life.dice);
    }
    accepts(life, &[("checks", "max_vanished_percent = 0.0\n")])
}

/// A run that a check may stop; a person accepts the snapshot, or allows more in the pipeline file.
fn accepts(life: &mut Life, sections: &[(&'static str, &str)]) -> Step {
    let run = life.run_with(sections);
    let done = life.ends(run, &[0, 7])?;
    life.is_sound()?;
    let Some(number) = done.json()["held"].as_u64() else { return Ok(()) };
    match life.dice.below(3) {
        0 => runs_again(life),
        // A person looks the next day.
        1 => Ok(()),
        _ => {
            life.does(&["snapshot", "show", &number.to_string()], &[0])?;
            life.does(&["snapshot", "accept", &number.to_string()], &[0])?;
            life.is_sound()?;
            let run = life.run_with(sections);
            life.ends(run, &[0]).map(drop)
        }
    }
}

/// The page of a web server in place of a daily file.
fn broken_file(life: &mut Life) -> Step {
    life.world.advance(&life.scratch, &mut life.dice, true);
    let name = daily_name(life.world.today, "c");
    let path = life.scratch.path("files").join(&name);
    let good = std::fs::read_to_string(&path).expect("a file");
    put(&life.scratch, &[(name.clone(), "<!DOCTYPE html><html></html>\n".to_owned())]);
    let run = life.run();
    let done = life.ends(run, &[5])?;
    if done.json()["import"]["unread"][0]["file"] != name.as_str() {
        return Err(format!("{name} should be in `unread`{}", done.shown()));
    }
    life.is_sound()?;
    put(&life.scratch, &[(name, good)]);
    runs_again(life)
}

/// A daily file comes days after its day.
fn late_file(life: &mut Life) -> Step {
    life.world.advance(&life.scratch, &mut life.dice, true);
    let path = life.scratch.path("files").join(daily_name(life.world.today, "c"));
    let away = life.scratch.path("away.txt");
    std::fs::rename(&path, &away).expect("renamed");
    for _ in 0..2 {
        life.world.advance(&life.scratch, &mut life.dice, true);
        let run = life.run();
        // Only weekdays have to have a file.
        life.ends(run, &[0, 5])?;
    }
    life.is_sound()?;
    std::fs::rename(&away, &path).expect("renamed");
    Ok(())
}

fn two_files(life: &mut Life) -> Step {
    life.world.advance(&life.scratch, &mut life.dice, true);
    let name = daily_name(life.world.today, "c");
    let good = std::fs::read_to_string(life.scratch.path("files").join(&name)).expect("a file");
    let other = format!("second/{name}");
    put(&life.scratch, &[(other.clone(), good.repeat(2))]);
    let run = life.run();
    says(life.ends(run, &[3])?, &other)?;
    life.is_sound()?;
    std::fs::remove_file(life.scratch.path("files").join(&other)).expect("removed");
    runs_again(life)
}

fn quarterly_set(life: &mut Life) -> Step {
    let back = life.dice.below(3) as i64;
    if let Source::State(state) = &mut life.world.source {
        let day = life.world.today - back.days();
        if day > state.set_of {
            state.deliver_set(&life.scratch, day);
        }
    }
    Ok(())
}

/// All files have a new time of change.
fn files_copied_again(life: &mut Life) -> Step {
    let (files, copy) = (life.scratch.path("files"), life.scratch.path("files-copy"));
    succeed(Command::new("cp").arg("-r").arg(&files).arg(&copy));
    std::fs::remove_dir_all(&files).expect("removed");
    std::fs::rename(&copy, &files).expect("renamed");
    runs_again(life)
}
