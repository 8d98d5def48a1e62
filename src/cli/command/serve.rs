//! `serve`: serves the API from the lake until a signal.

use super::start::served_demo::ServedDemo;
use crate::cli::args::ServeArguments;
use crate::cli::context::open_lake::{check_folder, is_in_store, open_lake, way_to_snapshot};
use crate::cli::context::secret::warn_if_readable;
use crate::cli::context::usage_place::usage_place;
use crate::cli::exit::{self, CommandError};
use crate::cli::output::words::{lines, number, print};
use crate::cli::session::{Session, Signals};
use crate::serve::{
    AccountsSource, ConnectionLimits, DEFAULT_LINGER, IndexSource, Opened, Origins, ServeConfig, ServeError,
    Server, TlsFiles, UsagePlace, reachable,
};
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Files a server has open apart from the sockets of its clients, rounded up.
const OTHER_OPEN_FILES: u64 = 64;

pub(crate) async fn serve(session: &Session<'_>, arguments: &ServeArguments) -> Result<u8, CommandError> {
    let (listener, address) = bind(&arguments.listen).await?;
    let tls = arguments.tls_cert.clone().zip(arguments.tls_key.clone());
    let tls = tls.map(|(cert, key)| TlsFiles { cert, key });
    warn_if_in_the_clear(address, tls.is_some(), arguments.public_url.as_deref());
    let metrics = bind_metrics(arguments).await?;
    let demo = if arguments.demo { Some(ServedDemo::make(session).await?) } else { None };
    let (index, accounts, usage) = match &demo {
        Some(demo) => demo.sources(),
        None => sources(session, arguments)?,
    };
    let config = ServeConfig {
        index,
        accounts,
        plan_override: arguments.plan_override.clone().unwrap_or_default(),
        usage,
        clock: Arc::new(session.world.now),
        today: demo.as_ref().map(|_| session.today).or(session.common.today),
        tls,
        public_url: arguments.public_url.clone(),
        origins: Origins(arguments.cors_origin.clone()),
        random: session.random("request ids")?,
        connections: ConnectionLimits {
            all: connections(arguments.max_connections, (session.world.max_open_files)()),
            of_address: arguments.max_connections_per_address,
            keep_alive: Duration::from_secs(arguments.keep_alive),
        },
        linger: DEFAULT_LINGER,
        metrics,
        log_lines_dropped: session.log.dropped.clone(),
    };
    let mut signals = Signals::listen()?;
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let own_url = format!("{scheme}://{}", reachable(address));
    let url = arguments.public_url.as_deref().unwrap_or(&own_url).trim_end_matches('/');
    let mut stopped = pin!(async move { signals.next().await });
    let server = tokio::select! {
        opened = Server::open(listener, config) => opened?,
        () = &mut stopped => return Ok(exit::DONE),
    };
    // Each was read: it is a file of keys.
    let keys = arguments.keys.as_path();
    let secrets = [demo.is_none().then_some(keys), arguments.tls_key.as_deref()];
    secrets.into_iter().flatten().for_each(warn_if_readable);
    tracing::info!(%address, "the port is open; the data is being loaded");
    let (ready, is_ready) = oneshot::channel();
    let mut serving = pin!(server.run(ready, stopped));
    tokio::select! {
        ended = &mut serving => return Ok(ended.map(|()| exit::DONE)?),
        Ok(opened) = is_ready => {
            let of_demo = demo.as_ref().map(|demo| demo.greeting(url)).unwrap_or_default();
            print(&format!("listening {scheme}://{address}\n{of_demo}{}", greeting(url, opened)))?;
        }
    }
    serving.await?;
    Ok(exit::DONE)
}

/// What people want to know at the start. A program reads the first line, which is before it.
fn greeting(url: &str, Opened { accounts, rows, day }: Opened) -> String {
    lines(|text| {
        writeln!(text, "page      {url}/")?;
        writeln!(text, "docs      {url}/docs, {url}/openapi.json")?;
        writeln!(text, "accounts  {}", number(accounts as u64))?;
        writeln!(text, "rows      {}, as of {day}", number(rows as u64))
    })
}

/// Warns when keys would cross a network as they are: no TLS here, and no word of a proxy that has it.
fn warn_if_in_the_clear(address: SocketAddr, has_tls: bool, public_url: Option<&str>) {
    if is_in_the_clear(address.ip(), has_tls, public_url) {
        tracing::warn!(
            "keys and answers cross the network unencrypted: give --tls-cert and --tls-key, or put a proxy with TLS in \
             front, with its https address as --public-url"
        );
    }
}

fn is_in_the_clear(listening: IpAddr, has_tls: bool, public_url: Option<&str>) -> bool {
    let is_proxied = public_url.is_some_and(|url| url.starts_with("https://"));
    !listening.to_canonical().is_loopback() && !has_tls && !is_proxied
}

async fn bind(address: &str) -> Result<(TcpListener, SocketAddr), CommandError> {
    let unbound = |error: std::io::Error| {
        CommandError::Settings(format!("cannot listen on {address}: {error}"))
            .with_hint("give another address with --listen or --metrics")
    };
    let listener = TcpListener::bind(address).await.map_err(unbound)?;
    let bound = listener.local_addr().map_err(unbound)?;
    Ok((listener, bound))
}

async fn bind_metrics(arguments: &ServeArguments) -> Result<Option<TcpListener>, CommandError> {
    let Some(metrics) = &arguments.metrics else { return Ok(None) };
    let (listener, address) = bind(metrics).await?;
    tracing::info!(%address, "metrics are served at /metrics");
    Ok(Some(listener))
}

/// The number of connections wanted, reduced to the number of files that the system allows.
fn connections(wanted: usize, open_files: Option<u64>) -> usize {
    let room = open_files.map_or(u64::MAX, |files| files.saturating_sub(OTHER_OPEN_FILES).max(1));
    let allowed = wanted.min(usize::try_from(room).unwrap_or(usize::MAX));
    if allowed < wanted {
        tracing::warn!(
            allowed,
            wanted,
            "the limit on connections is reduced to the system's limit on open files"
        );
    }
    allowed
}

/// The source of the rows, the accounts, and the place of the request counts.
fn sources(
    session: &Session<'_>,
    arguments: &ServeArguments,
) -> Result<(IndexSource, AccountsSource, UsagePlace), CommandError> {
    let (index, usage) = source(session, arguments.usage.as_deref())?;
    Ok((index, AccountsSource::File(arguments.keys.clone()), usage))
}

/// The source of the rows, and the place of the request counts.
fn source(session: &Session<'_>, usage: Option<&Path>) -> Result<(IndexSource, UsagePlace), CommandError> {
    let place = usage_place(session, usage)?;
    if is_in_store(session.common) {
        let lake = open_lake(session)?;
        if let UsagePlace::Lake(file) = &place {
            let file = file.display();
            tracing::warn!(%file, "requests are counted on this machine only; --usage FILE keeps the counts where the next server finds them, --usage redis://HOST shares them with other servers");
        }
        return Ok((IndexSource::Store(lake), place));
    }
    check_folder(session)?;
    let root = &session.common.lake;
    if matches!(root.join("current").try_exists(), Ok(false)) {
        return Err(CommandError::from(ServeError::NoSnapshot(root.clone())).with_hint(way_to_snapshot(root)));
    }
    Ok((IndexSource::Lake(root.clone()), place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_clear_beyond_loopback_without_tls_here_or_in_front() {
        let (any, own) = (IpAddr::from([0, 0, 0, 0]), IpAddr::from([127, 0, 0, 1]));
        for (listening, has_tls, public_url, expected) in [
            (own, false, None, false),
            ("::1".parse().expect("an address"), false, None, false),
            ("::ffff:127.0.0.1".parse().expect("an address"), false, None, false),
            (any, false, None, true),
            (IpAddr::from([10, 0, 0, 5]), false, Some("http://filings.example.org"), true),
            (any, true, None, false),
            (any, false, Some("https://filings.example.org"), false),
        ] {
            assert_eq!(is_in_the_clear(listening, has_tls, public_url), expected, "{listening}");
        }
    }

    #[test]
    fn connections_are_limited_by_the_number_of_open_files() {
        for (wanted, files, expected) in
            [(100, None, 100), (100, Some(1_024), 100), (4_096, Some(1_024), 960), (100, Some(10), 1)]
        {
            assert_eq!(connections(wanted, files), expected, "{wanted}, {files:?}");
        }
    }
}
