//! The question before the first run of an account into a new lake, which uses the most requests. Only a person is asked.

use crate::cli::context::open_lake::require_lake;
use crate::cli::context::pipeline_file::reads_sample;
use crate::cli::exit::CommandError;
use crate::cli::session::Session;
use crate::client::Stop;
use crate::lake::Lake;
use crate::pipeline::config::file::Pipeline;
use std::io::{IsTerminal, Write};
use tokio::sync::oneshot;

/// Whether a run begins a lake with an account's requests, and a person is at the terminal.
pub(super) fn needs_confirmation(
    session: &Session<'_>,
    pipeline: &Pipeline,
    lake: &Lake,
) -> Result<bool, CommandError> {
    let is_person = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    Ok(is_person && !reads_sample(session, pipeline)? && require_lake(lake).is_err())
}

/// Shows the plan and asks; fails unless the answer is yes. A signal is a no.
pub(super) async fn confirm(plan: &str, lake: &Lake, stop: &Stop) -> Result<(), CommandError> {
    let failed = |source| CommandError::Io("cannot ask on the terminal".to_owned(), source);
    let mut stderr = std::io::stderr();
    write!(stderr, "{plan}\n{lake} is a new lake. Start this run? [y/N] ")
        .and_then(|()| stderr.flush())
        .map_err(failed)?;
    let answer = tokio::select! {
        biased;
        () = stop.requested() => return Err(CommandError::Declined),
        line = typed_line() => line.map_err(failed)?,
    };
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(CommandError::Declined),
    }
}

/// The next line of the terminal. A thread reads it that nothing waits for: no signal ends its wait.
async fn typed_line() -> std::io::Result<String> {
    let (sender, line) = oneshot::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = std::io::stdin().read_line(&mut text);
        let _ = sender.send(read.map(|_| text));
    });
    line.await.unwrap_or_else(|_| Ok(String::new()))
}
