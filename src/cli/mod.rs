//! The command line: settings resolved, one command carried out, its result told, its exit code chosen.

mod args;
mod command;
mod context;
#[cfg(test)]
mod docs_tests;
pub mod exit;
mod output;

pub use args::{Cli, Command, Common, KeysCommand, LogFormat, PruneFlags, ServeArguments, SnapshotCommand};
pub use command::export::{ExportCommand, Selection};

use crate::contract::eastern::eastern_day;
use crate::lake::Lake;
use clap::CommandFactory;
use exit::CommandError;
use jiff::Timestamp;
use jiff::civil::Date;
use output::run_log::RunLog;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What a command takes from the world.
pub struct World {
    /// The wall clock.
    pub now: fn() -> Timestamp,
    /// Reads an environment variable.
    pub variable: fn(&str) -> Option<String>,
    /// The environment variables whose names begin with one of these.
    pub variables: fn(&[&str]) -> Vec<(String, String)>,
    /// Says which process this is, on which host.
    pub holder: fn() -> String,
    /// Most memory the process held at once, in bytes; 0 where the system does not tell.
    pub peak_rss_bytes: fn() -> u64,
    /// Files the process may have open; `None` where the system does not tell.
    pub max_open_files: fn() -> Option<u64>,
    /// 256 random bits.
    pub random: fn() -> Result<[u8; 32], std::io::Error>,
}

/// Carries out a command; gives the exit code. An error has been told on stderr by then.
pub async fn carry_out(cli: Cli, world: &World) -> u8 {
    let log = output::progress::start_log(&cli.common);
    let today = cli.common.today.unwrap_or_else(|| eastern_day((world.now)()));
    match dispatch(&cli, world, today, &log).await {
        Ok(code) => code,
        Err(error) => {
            tell_error(&cli, &error);
            error.code()
        }
    }
}

async fn dispatch(cli: &Cli, world: &World, today: Date, log: &RunLog) -> Result<u8, CommandError> {
    let common = &cli.common;
    match &cli.command {
        Command::Run { pipeline } => command::run::run(common, world, today, pipeline, log).await,
        Command::Plan { pipeline } => command::run::plan(common, world, today, pipeline).await,
        Command::Status => command::status::status(common, world),
        Command::Verify { repair: true, .. } => command::verify::repair_lake(common, world, today),
        Command::Verify { snapshot, .. } => command::verify::verify(common, world, *snapshot),
        Command::Snapshot { command } => command::snapshot::snapshot(common, world, today, command),
        Command::Replay { run, publish } => command::replay::replay_run(common, world, today, run, *publish),
        Command::Serve(arguments) => command::serve::serve(common, world, arguments).await,
        Command::Keys { keys, command } => command::keys::keys(common, world, keys, command),
        Command::Report => command::status::report(common, world),
        Command::Doctor { pipelines } => command::doctor::doctor(common, world, pipelines).await,
        Command::Export { command } => command::export::export(common, world, command),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "sunlake", &mut text);
            print(&String::from_utf8_lossy(&text))?;
            Ok(exit::DONE)
        }
    }
}

/// Folder of what all lakes of this host share: the one named, the user's own for such things, or, where there is none that
/// can be made (a container, a service without a home), the lake's.
fn state_dir(common: &Common, world: &World, lake: &Lake) -> PathBuf {
    state_dir_that(common, world, lake, |folder| std::fs::create_dir_all(folder).is_ok())
}

/// The same for a look: nothing is made, and where the user's own is not there nothing was counted in it.
fn state_dir_there(common: &Common, world: &World, lake: &Lake) -> PathBuf {
    state_dir_that(common, world, lake, Path::is_dir)
}

fn state_dir_that(common: &Common, world: &World, lake: &Lake, serves: impl Fn(&Path) -> bool) -> PathBuf {
    if let Some(named) = &common.state {
        return named.clone();
    }
    let variable = |name: &str| (world.variable)(name).filter(|value| value.starts_with('/'));
    let of_user = variable("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".local/state")));
    let of_user = of_user.map(|folder| folder.join("sunlake"));
    match of_user.filter(|folder| serves(folder)) {
        Some(folder) => folder,
        None => lake.state_dir(),
    }
}

/// One clear message; with `--json` the object that every run ends with, too.
fn tell_error(cli: &Cli, error: &CommandError) {
    tracing::debug!(?error, "the command failed");
    let mut stderr = std::io::stderr().lock();
    // A closed stderr leaves the exit code to tell.
    let _ = writeln!(stderr, "sunlake: {error}");
    if cli.common.json {
        let text = match error {
            CommandError::Run { summary, .. } => serde_json::to_string(summary).unwrap_or_default(),
            _ => serde_json::json!({ "error": error.to_string(), "exit_code": error.code() }).to_string(),
        };
        let _ = print_line(&text);
    }
}

/// Prints to stdout. A reader that went away is no error: what it wanted it has.
fn print(text: &str) -> Result<(), CommandError> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(source) => Err(CommandError::Io { what: "cannot write to stdout".to_owned(), source }),
        Ok(()) => Ok(()),
    }
}

fn print_line(text: &str) -> Result<(), CommandError> {
    print(&format!("{text}\n"))
}
