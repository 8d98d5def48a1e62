//! `serve`: the API from the lake until a signal.

use crate::cli::args::{Common, ServeArguments};
use crate::cli::context::open_lake::{is_in_store, open_lake};
use crate::cli::exit;
use crate::cli::exit::CommandError;
use crate::cli::output::repair_hint::{MENDS, is_lost};
use crate::cli::{World, print_line};
use crate::serve::{AccountsSource, DEFAULT_LINGER, IndexSource, LoadError, ServeConfig, ServeError, Server};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// Files a server has open beside the sockets of its clients, with room to spare.
const OTHER_OPEN_FILES: u64 = 64;

pub(crate) async fn serve(
    common: &Common,
    world: &World,
    arguments: &ServeArguments,
) -> Result<u8, CommandError> {
    let (listener, address) = bind(&arguments.listen).await?;
    let metrics = match &arguments.metrics {
        Some(metrics) => {
            let (listener, address) = bind(metrics).await?;
            tracing::info!(%address, "metrics are served at /metrics");
            Some(listener)
        }
        None => None,
    };
    let (index, state) = source(common, world)?;
    let config = ServeConfig {
        index,
        accounts: AccountsSource::File(arguments.keys.clone()),
        plan_override: arguments.plan_override.clone().unwrap_or_default(),
        usage_file: Some(state.join("usage.jsonl")),
        clock: Arc::new(world.now),
        today: common.today,
        public_url: arguments.public_url.clone(),
        random: (world.random)().map_err(|source| CommandError::Io {
            what: "no random bits for request ids".to_owned(),
            source,
        })?,
        max_connections: connections(arguments.max_connections, (world.max_open_files)()),
        linger: DEFAULT_LINGER,
        metrics,
    };
    let unheard = |source| CommandError::Io { what: "cannot listen for signals".to_owned(), source };
    let mut interrupt = signal(SignalKind::interrupt()).map_err(unheard)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(unheard)?;
    let stopped = async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    let failed = |error: ServeError| match error {
        ServeError::Load(LoadError::Unsound(error)) => CommandError::Lake(error),
        ServeError::Load(LoadError::Damaged { .. } | LoadError::Table { .. }) => {
            CommandError::Damaged(format!("{error}, {MENDS}"))
        }
        ServeError::Load(LoadError::Unreadable { ref path, ref source }) => match is_lost(path, source) {
            true => CommandError::Damaged(format!("{error}; {MENDS}")),
            false => CommandError::Damaged(error.to_string()),
        },
        other => CommandError::Serve(other),
    };
    let server = Server::open(listener, config).await.map_err(failed)?;
    print_line(&format!("listening http://{address}"))?;
    server.run(stopped).await.map_err(failed)?;
    Ok(exit::DONE)
}

async fn bind(address: &str) -> Result<(TcpListener, SocketAddr), CommandError> {
    let unbound = |error: std::io::Error| {
        CommandError::Settings(format!("cannot listen on {address}: {error}; give another --listen"))
    };
    let listener = TcpListener::bind(address).await.map_err(unbound)?;
    let bound = listener.local_addr().map_err(unbound)?;
    Ok((listener, bound))
}

/// As many connections as wanted, or as the system allows open files for.
fn connections(wanted: usize, open_files: Option<u64>) -> usize {
    let room = open_files.map_or(u64::MAX, |files| files.saturating_sub(OTHER_OPEN_FILES).max(1));
    let allowed = wanted.min(usize::try_from(room).unwrap_or(usize::MAX));
    if allowed < wanted {
        tracing::warn!(
            allowed,
            wanted,
            "fewer connections than wanted: the system's limit of open files is low"
        );
    }
    allowed
}

/// Where the rows come from, and the folder of what outlives the server.
fn source(common: &Common, world: &World) -> Result<(IndexSource, PathBuf), CommandError> {
    if is_in_store(common) {
        let lake = open_lake(common, world)?;
        let state = lake.state_dir();
        return Ok((IndexSource::Store(lake), state));
    }
    Ok((IndexSource::Lake(common.lake.clone()), common.lake.join("state")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_as_many_as_wanted_or_as_files_may_be_open() {
        for (wanted, files, expected) in
            [(100, None, 100), (100, Some(1_024), 100), (4_096, Some(1_024), 960), (100, Some(10), 1)]
        {
            assert_eq!(connections(wanted, files), expected, "{wanted}, {files:?}");
        }
    }
}
