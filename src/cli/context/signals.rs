//! SIGINT and SIGTERM.

use crate::cli::exit::CommandError;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The two signals that stop a command.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Listens from now on; the signals no longer end the process.
    pub(crate) fn listen() -> Result<Self, CommandError> {
        let failed = |source| CommandError::Io { what: "cannot listen for signals".to_owned(), source };
        let interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let terminate = signal(SignalKind::terminate()).map_err(failed)?;
        Ok(Self { interrupt, terminate })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
