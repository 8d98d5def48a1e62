//! One life: a lake, a lake that never has an accident, and the mornings of both.

use super::compare::differences;
use super::events::{Event, events_of};
use super::world::World;
use crate::support::command::{Finished, Sunlake};
use crate::support::dice::Dice;
use crate::support::s3::Bucket;
use crate::support::scratch::Scratch;
use crate::support::source::copy_aggregates;
use jiff::civil::Date;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Mornings after an event by which a lake is what it would be without it.
const MORNINGS: usize = 2;

/// The result of a step; what went wrong, with the command and its output.
pub(super) type Step<T = ()> = Result<T, String>;

/// What a life's lake is filled from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Api,
    State,
    /// The API, and the lake in an object store, which two machines share.
    Store,
}

/// A lake with what happens to it.
pub(super) struct Life {
    pub(super) world: World,
    pub(super) dice: Dice,
    pub(super) scratch: Scratch,
    /// Its folder, or its address in the store.
    pub(super) lake: PathBuf,
    pub(super) bucket: Option<Bucket>,
    /// The machine that works on it; in a store there are several.
    pub(super) machine: String,
    twin: PathBuf,
    /// Whether `coverage` was lost: then days that left the plan's window stay without.
    pub(super) has_lost_coverage: bool,
    /// The sections of the pipeline file, and its name.
    pub(super) sections: BTreeMap<&'static str, String>,
    pub(super) name: String,
    /// The events so far, and the commands of each.
    story: Vec<String>,
}

/// Runs a life; the numbers of its events by name, or what went wrong.
pub(super) fn live(seed: u64, kind: Kind, events: usize) -> Result<BTreeMap<&'static str, usize>, String> {
    let mut life = Life::begin(seed, kind);
    let mut counts = BTreeMap::new();
    let all = events_of(kind);
    let mut run = || -> Step {
        life.mornings()?;
        for _ in 0..events {
            life.changes_machine();
            let event: &Event = life.dice.one_of(&all);
            life.story.push(format!("{}: {}", life.world.today, event.name));
            *counts.entry(event.name).or_insert(0) += 1;
            (event.happens)(&mut life)?;
            life.mornings()?;
        }
        Ok(())
    };
    let ended = run();
    ended.map(|()| counts).map_err(|why| {
        let kept =
            std::env::var_os("SUNLAKE_LIFE_KEEP").map(|to| life.keep(&Path::new(&to).join(seed.to_string())));
        let kept = kept.unwrap_or_default();
        format!("life {seed} of {kind:?}:\n  {}\n{why}{kept}", life.story.join("\n  "))
    })
}

impl Life {
    fn begin(seed: u64, kind: Kind) -> Self {
        let (mut dice, scratch) = (Dice::new(seed), Scratch::new());
        let world = match kind {
            Kind::Api | Kind::Store => World::of_api(seed, &mut dice),
            Kind::State => World::of_state(&scratch, &mut dice),
        };
        let bucket = (kind == Kind::Store).then(|| Bucket::new(format!("life-{seed}").leak()));
        let lake = bucket.as_ref().map_or_else(|| scratch.path("own/lake"), |bucket| bucket.lake().into());
        let twin = scratch.path("twin/lake");
        let (section, lines) = world.reads();
        let mut life = Self {
            world,
            dice,
            scratch,
            lake,
            bucket,
            machine: "one".to_owned(),
            twin,
            sections: BTreeMap::from([(section, lines.to_owned())]),
            name: "lives".to_owned(),
            has_lost_coverage: false,
            story: Vec::new(),
        };
        let has_report = life.dice.below(4) == 0;
        life.sections.insert("report", format!("enabled = {has_report}\n"));
        for folder in ["own", "twin"] {
            copy_aggregates(&life.scratch.path(folder).join("aggregates"), &["county_type_day"]);
        }
        life.sections.insert("aggregates", "folder = \"own/aggregates\"\n".to_owned());
        let twin = [("aggregates", "folder = \"twin/aggregates\"\n")];
        let text = life.text(&[twin[0], ("report", "enabled = false\n"), ("retention", "last = 1\n")]);
        life.scratch.file("twin.toml", &text);
        life
    }

    fn changes_machine(&mut self) {
        if self.bucket.is_some() {
            self.machine = (*self.dice.one_of(&["one", "two"])).to_owned();
            self.story.push(format!("machine {}", self.machine));
        }
    }

    /// The pipeline file, with other sections in place of its own.
    fn text(&self, other: &[(&'static str, &str)]) -> String {
        let mut sections: BTreeMap<&str, &str> =
            self.sections.iter().map(|(name, lines)| (*name, lines.as_str())).collect();
        sections.extend(other.iter().copied());
        let sections: String = sections.iter().map(|(name, lines)| format!("[{name}]\n{lines}")).collect();
        format!("name = \"{}\"\n{sections}", self.name)
    }

    /// A run of today, with other sections in the pipeline file.
    pub(super) fn run_with(&self, other: &[(&'static str, &str)]) -> Sunlake {
        self.run_of(other, self.world.today)
    }

    pub(super) fn run_of(&self, other: &[(&'static str, &str)], today: Date) -> Sunlake {
        let pipeline = self.scratch.file("lives.toml", &self.text(other));
        self.opened(self.world.run(&pipeline, &self.lake, today))
    }

    /// The working copy of the machine.
    pub(super) fn work(&self) -> PathBuf {
        self.scratch.path(&self.machine)
    }

    /// A command on this machine.
    pub(super) fn opened(&self, command: Sunlake) -> Sunlake {
        let Some(bucket) = &self.bucket else { return command };
        let state = self.scratch.path(&format!("state-{}", self.machine));
        bucket.opened_by(command, &self.work()).env("SUNLAKE_STATE", &state.to_string_lossy())
    }

    /// A folder with the newest snapshot as `current`, as a machine sees it that never saw the lake.
    pub(super) fn view(&self) -> Step<PathBuf> {
        let Some(bucket) = &self.bucket else { return Ok(self.lake.clone()) };
        let view = self.scratch.path("view");
        let _ = std::fs::remove_dir_all(&view);
        let verify = Sunlake::on(&self.lake, ["verify", "--json"]);
        let done = bucket.opened_by(verify, &view).finish();
        let Some(number) = done.json()["snapshot"].as_u64().filter(|_| done.code() == Some(0)) else {
            return Err(format!("another machine finds the lake damaged{}", done.shown()));
        };
        symlink(view.join(format!("snapshots/{number:06}")), view.join("current")).expect("a link");
        Ok(view)
    }

    pub(super) fn run(&self) -> Sunlake {
        self.run_with(&[])
    }

    /// Ends a command, which must end with one of the codes.
    pub(super) fn ends(&mut self, command: Sunlake, codes: &[i32]) -> Step<Finished> {
        let done = command.finish();
        self.ended(done, codes)
    }

    pub(super) fn ended(&mut self, done: Finished, codes: &[i32]) -> Step<Finished> {
        let command = done.command().replace(&*self.scratch.path("").to_string_lossy(), "");
        let (_, command) = command.split_once("sunlake ").unwrap_or(("", &command));
        self.note(&format!("exit {:?} of {command}", done.code()));
        match done.code() {
            Some(code) if codes.contains(&code) => Ok(done),
            _ => Err(format!("the exit code should be one of {codes:?}{}", done.shown())),
        }
    }

    /// Another command on the lake.
    pub(super) fn does(&mut self, arguments: &[&str], codes: &[i32]) -> Step<Finished> {
        let done = self.opened(Sunlake::on(&self.lake, arguments)).finish();
        self.ended(done, codes)
    }

    pub(super) fn note(&mut self, what: &str) {
        self.story.push(format!("    {what}"));
    }

    /// The published snapshots with tables, oldest first.
    pub(super) fn snapshots(&self) -> Vec<u64> {
        let listed = self.opened(Sunlake::on(&self.lake, ["snapshot", "list", "--json"])).finish().json();
        let all = listed["snapshots"].as_array().cloned().unwrap_or_default();
        let published = all.iter().filter(|snapshot| snapshot["standing"] == "published");
        let mut numbers: Vec<u64> = published.filter_map(|snapshot| snapshot["snapshot"].as_u64()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// What is wrong with the lake, by `verify`; it must be exactly these files.
    pub(super) fn verifies(&mut self, damaged: &BTreeSet<PathBuf>) -> Step {
        let done = self.does(&["verify", "--json"], &[if damaged.is_empty() { 0 } else { 9 }])?;
        let report = done.json();
        let problems = report["problems"].as_array().cloned().unwrap_or_default();
        let path = |problem: &Value| PathBuf::from(problem["path"].as_str().unwrap_or_default());
        let named: BTreeSet<PathBuf> = problems.iter().map(path).collect();
        if named == *damaged {
            return Ok(());
        }
        let more: Vec<_> = named.difference(damaged).collect();
        let less: Vec<_> = damaged.difference(&named).collect();
        Err(format!("verify names {more:?} too, and not {less:?}{}", done.shown()))
    }

    pub(super) fn is_sound(&mut self) -> Step {
        self.verifies(&BTreeSet::new())
    }

    /// The mornings after an event: by the last of them the lake is complete, and equals the other one.
    fn mornings(&mut self) -> Step {
        let mut why = String::new();
        for morning in 1..=MORNINGS {
            let has_news = self.dice.below(4) > 0;
            self.world.advance(&self.scratch, &mut self.dice, has_news);
            let command = self.run();
            let done = self.ends(command, if morning < MORNINGS { &[0, 5] } else { &[0] })?;
            let twin = self.world.run(&self.scratch.path("twin.toml"), &self.twin, self.world.today).finish();
            if twin.code() != Some(0) {
                return Err(format!("the lake without accidents failed{}", twin.shown()));
            }
            if done.code() == Some(0) {
                let reached = self.world.oldest_day().filter(|_| self.has_lost_coverage);
                why = differences(&self.view()?, &self.twin, reached);
                if why.is_empty() {
                    return self.is_sound();
                }
            }
            self.note(&format!("not yet the same: {}", why.lines().next().unwrap_or_default()));
        }
        Err(format!("after {MORNINGS} mornings the lake is not what it would be:\n{why}"))
    }

    /// Copies the folder of a failed life; returns where it is.
    fn keep(&self, to: &Path) -> String {
        let from = self.scratch.path("");
        let _ = std::fs::create_dir_all(to.parent().expect("a folder"));
        let copied = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status();
        format!("\nkept in {}: {copied:?}", to.display())
    }
}
