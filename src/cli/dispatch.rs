//! One command from its flags to its exit code.

use super::args::{Cli, Command};
use super::command;
use super::exit::CommandError;
use super::library_variables::LEFT_OUT;
use super::output::error_text::ErrorText;
use super::output::log::start_log;
use super::output::terminal::Terminal;
use super::output::words::print_json;
use super::session::{Session, World};
use crate::contract::eastern::eastern_day;
use std::io::IsTerminal;
use std::path::PathBuf;

/// The lake of `demo`, unless another one is named.
const DEMO_LAKE: &str = "sunlake-demo";

/// Runs a command and returns the exit code. An error is reported on stderr.
pub async fn carry_out(mut cli: Cli, world: &World) -> u8 {
    if matches!(cli.command, Command::Demo) && !cli.common.is_lake_given {
        cli.common.lake = PathBuf::from(DEMO_LAKE);
    }
    let terminal = Terminal::of(&cli.common, std::io::stderr().is_terminal(), world.variable);
    let log = start_log(&cli.common, terminal, matches!(cli.command, Command::Serve(_)));
    if let Some(names) = (world.variable)(LEFT_OUT) {
        tracing::warn!("not used, because the program cannot work with it: {names}");
    }
    let today = cli.common.today.unwrap_or_else(|| eastern_day((world.now)()));
    let session = Session { common: &cli.common, world, today, log: &log };
    let done = dispatch(&cli.command, &session).await;
    if let Err(error) = &done {
        tracing::debug!(?error, "the command failed");
    }
    match done {
        Ok(code) => {
            log.finish("");
            code
        }
        Err(error) => {
            report_error(&error, &session);
            error.code()
        }
    }
}

async fn dispatch(command: &Command, session: &Session<'_>) -> Result<u8, CommandError> {
    match command {
        Command::Run { pipeline, yes, metrics_file } => {
            command::run::run(session, pipeline.as_deref(), *yes, metrics_file.as_deref()).await
        }
        Command::Plan { pipeline } => command::run::plan(session, pipeline.as_deref()).await,
        Command::Demo => command::start::demo::demo(session).await,
        Command::Init { folder, schedule } => command::start::init::init(session, folder, *schedule),
        Command::Query(arguments) => command::ask::query::query(session, arguments),
        Command::Changes(arguments) => command::ask::changes::changes(session, arguments),
        Command::Status { tables } => command::status::status(session, *tables),
        Command::Verify { repair: true, .. } => command::verify::repair_lake(session),
        Command::Verify { snapshot, .. } => command::verify::verify(session, *snapshot),
        Command::Snapshot { command } => command::snapshot::snapshot(session, command),
        Command::Replay { run, publish } => command::replay::replay_run(session, run, *publish),
        Command::Serve(arguments) => command::serve::serve(session, arguments).await,
        Command::Keys { keys, command } => command::keys::keys(session, keys, command).await,
        Command::Report => command::status::report(session),
        Command::Doctor => command::doctor::doctor(session).await,
        Command::Export { command } => command::export::export(session, command),
        Command::Completions { shell } => command::manual::completions(*shell),
        Command::Schema { of } => command::manual::schema(*of),
        Command::Man { folder } => command::manual::man(session, folder),
    }
}

/// Writes the error and its hint to stderr; with `--json`, also the object that every command ends with.
fn report_error(error: &CommandError, session: &Session<'_>) {
    let text = ErrorText::of(error).in_lake(&session.lake_flag());
    session.log.finish(&text.to_string());
    if session.common.json {
        let _ = match error {
            CommandError::Run(_, summary) => print_json(summary),
            _ => print_json(&text.json(error.code())),
        };
    }
}
