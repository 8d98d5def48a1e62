//! What a shell offers while a command line is typed. The shell's script calls the program, which knows the lake of that line.
//!
//! An argument is recognised by its name, so that a new command with a `snapshot` completes it too.

use super::args::{Cli, without_empty_variables};
use super::context::pipeline_file::pipeline_names;
use super::output::words::count;
use crate::lake::{Lake, LakeError, RunRecord, is_address};
use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::CompleteEnv;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The variable by which a shell's script asks; its value is the shell.
pub(super) const VARIABLE: &str = "SUNLAKE_COMPLETE";

/// Snapshots and runs that are offered, the newest first.
const OFFERED: usize = 30;

/// Finds candidates in a lake.
type Find = fn(&Lake) -> Result<Vec<CompletionCandidate>, LakeError>;

/// Answers a shell that completes a command line; returns whether one asked. `arguments` are those of the process.
pub fn answer_shell(
    arguments: Vec<OsString>,
    folder: Option<&Path>,
    is_empty: &dyn Fn(&OsStr) -> bool,
) -> Result<bool, clap::Error> {
    let typed: Vec<OsString> = arguments.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    let factory = || {
        let command = without_empty_variables(Cli::command(), is_empty);
        let lake = lake_of(command.clone(), &typed);
        with_candidates(command, lake.as_deref())
    };
    CompleteEnv::with_factory(factory).var(VARIABLE).try_complete(arguments, folder)
}

/// The folder of the lake that an unfinished command line names; none for one in an object store: a key press sends no request.
fn lake_of(command: Command, typed: &[OsString]) -> Option<PathBuf> {
    let matches = command.ignore_errors(true).try_get_matches_from(typed).ok()?;
    let lake = matches.get_one::<PathBuf>("lake")?;
    (!is_address(lake.to_str()?)).then(|| lake.clone())
}

fn with_candidates(command: Command, lake: Option<&Path>) -> Command {
    let command = command.mut_args(|arg| match (arg.get_id().as_str(), lake) {
        ("pipeline", _) => arg.add(ArgValueCompleter::new(pipelines)),
        ("snapshot" | "before" | "after", Some(lake)) => in_lake(arg, lake, snapshots),
        ("run", Some(lake)) => in_lake(arg, lake, runs),
        ("tables", Some(lake)) => in_lake(arg, lake, tables),
        _ => arg,
    });
    command.mut_subcommands(|command| with_candidates(command, lake))
}

/// An argument with candidates from the lake; none where it cannot be read: the command itself reports why.
fn in_lake(arg: Arg, lake: &Path, find: Find) -> Arg {
    let lake = lake.to_owned();
    arg.add(ArgValueCandidates::new(move || {
        let found = Lake::open(&lake).and_then(|lake| find(&lake)).unwrap_or_default();
        found.into_iter().enumerate().map(|(place, found)| found.display_order(Some(place))).collect()
    }))
}

fn candidate(value: impl Into<OsString>, about: String) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(about.into()))
}

fn snapshots(lake: &Lake) -> Result<Vec<CompletionCandidate>, LakeError> {
    let numbers = &lake.kept_snapshots()? | &lake.pending_snapshots()?;
    let newest = numbers.into_iter().rev().take(OFFERED);
    let about = |number| {
        let (entry, _) = lake.snapshot(number)?;
        Ok(candidate(number.to_string(), format!("{} {}", entry.today, entry.pipeline)))
    };
    newest.map(about).collect()
}

fn runs(lake: &Lake) -> Result<Vec<CompletionCandidate>, LakeError> {
    let newest = lake.runs()?.into_iter().rev().take(OFFERED);
    let about = |run: RunRecord| {
        let end = run.finished.as_deref().unwrap_or("unfinished");
        candidate(&run.run_id, format!("{} {end}", run.pipeline))
    };
    Ok(newest.map(about).collect())
}

fn tables(lake: &Lake) -> Result<Vec<CompletionCandidate>, LakeError> {
    let tables = lake.current()?.map(|commit| commit.tables).unwrap_or_default();
    Ok(tables.into_iter().map(|(name, table)| candidate(name, count(table.rows, "row"))).collect())
}

/// The pipelines by name, and then any file or folder.
fn pipelines(typed: &OsStr) -> Vec<CompletionCandidate> {
    let prefix = typed.to_string_lossy();
    let named = pipeline_names().into_iter().filter(|name| name.starts_with(&*prefix));
    let mut found: Vec<CompletionCandidate> = named.map(CompletionCandidate::new).collect();
    let is_pipeline = |path: &Path| path.is_dir() || path.extension().is_some_and(|end| end == "toml");
    let files = PathCompleter::any().filter(is_pipeline).complete(typed);
    let is_new =
        |file: &CompletionCandidate| !found.iter().any(|other| other.get_value() == file.get_value());
    let more: Vec<CompletionCandidate> = files.into_iter().filter(is_new).collect();
    found.extend(more);
    found
}
