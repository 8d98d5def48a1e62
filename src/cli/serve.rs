//! `serve`: the API from the lake until a signal.

use super::args::Common;
use super::exit::{self, CommandError};
use super::{World, print_line};
use crate::serve::{AccountsSource, IndexSource, ServeConfig};
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

pub(super) async fn serve(
    common: &Common,
    world: &World,
    listen: &str,
    keys: &Path,
) -> Result<u8, CommandError> {
    let unbound = |source| CommandError::Io { what: format!("cannot listen on {listen}"), source };
    let listener = TcpListener::bind(listen).await.map_err(unbound)?;
    let address = listener.local_addr().map_err(unbound)?;
    let config = ServeConfig {
        index: IndexSource::Lake(common.lake.clone()),
        accounts: AccountsSource::File(keys.to_owned()),
        usage_file: Some(common.lake.join("state").join("usage.json")),
        clock: Arc::new(world.now),
        today: common.today,
        public_url: None,
    };
    let unheard = |source| CommandError::Io { what: "cannot listen for signals".to_owned(), source };
    let mut interrupt = signal(SignalKind::interrupt()).map_err(unheard)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(unheard)?;
    print_line(&format!("listening http://{address}"))?;
    let stopped = async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    crate::serve::serve(listener, config, stopped)
        .await
        .map_err(|error| CommandError::Serve(error.to_string()))?;
    Ok(exit::DONE)
}
