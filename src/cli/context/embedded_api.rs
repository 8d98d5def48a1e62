//! The embedded API: a sample of Florida, served from a lake on loopback. A run reads it over HTTP like the real API.

use crate::cli::exit::CommandError;
use crate::client::ApiKey;
use crate::pipeline::Source;
use crate::pipeline::config::spec::SampleSource;
use crate::pipeline::sample_lake::{SampleLakeError, sample_limits, write_sample_lake};
use crate::sample::SAMPLE_DAYS;
use crate::serve::{
    Accounts, AccountsSource, ConnectionLimits, IndexSource, LimitOverride, Origins, ServeConfig, ServeError,
    Server, UsagePlace,
};
use jiff::Timestamp;
use jiff::civil::Date;
use prometheus_client::metrics::counter::Counter;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Key of the embedded account. It opens a sample on this machine and nothing else.
const SAMPLE_KEY: &str = "flb_embedded_sample";

/// The running embedded API; it ends with [`EmbeddedApi::stop`] or when dropped.
pub(crate) struct EmbeddedApi {
    pub(crate) source: Source,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), ServeError>>,
    lake: TempDir,
}

impl EmbeddedApi {
    /// Writes the sample as of `today` and serves it.
    pub(crate) async fn start(
        sample: SampleSource,
        today: Date,
        now: fn() -> Timestamp,
    ) -> Result<Self, CommandError> {
        let limits = sample_limits(&sample);
        let folder = sample_folder(sample, today).await?;
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(io("no port for the embedded API"))?;
        let address = listener.local_addr().map_err(io("no port for the embedded API"))?;
        let config = ServeConfig {
            index: IndexSource::Snapshot(folder.path().join("current")),
            accounts: AccountsSource::Fixed(Accounts::single(SAMPLE_KEY, "sample", limits, &["data"])),
            plan_override: LimitOverride::default(),
            usage: UsagePlace::Memory,
            clock: Arc::new(now),
            today: Some(today),
            tls: None,
            public_url: None,
            origins: Origins::default(),
            random: [0; 32],
            connections: ConnectionLimits::default(),
            // Its only client is this program, which has every answer before it stops the server.
            linger: Duration::ZERO,
            metrics: None,
            log_lines_dropped: Counter::default(),
        };
        let (stop, stopped) = oneshot::channel();
        let server = Server::open(listener, config).await.map_err(failed)?;
        let (ready, is_ready) = oneshot::channel();
        let serving = tokio::spawn(server.run(ready, async move {
            // A dropped sender means stop, too.
            let _ = stopped.await;
        }));
        if is_ready.await.is_err() {
            serving.await.map_err(bug)?.map_err(failed)?;
            return Err(CommandError::Bug("the embedded API ended before it began".to_owned()));
        }
        let key = ApiKey::parse(SAMPLE_KEY).map_err(bug)?;
        let source = Source { base_url: format!("http://{address}"), key, allow_plain_http: false };
        tracing::info!(%address, "the embedded API serves the sample");
        Ok(Self { source, stop, serving, lake: folder })
    }

    /// The folder of its request counts, which ends with it.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.lake.path().join("state")
    }

    /// Ends the server.
    pub(crate) async fn stop(self) -> Result<(), CommandError> {
        // A server that has failed does not listen; its result has the reason.
        let _ = self.stop.send(());
        let ended = self.serving.await.map_err(bug)?;
        ended.map_err(failed)
    }
}

/// A folder with the lake of a sample as of `today`, which ends when it is dropped.
pub(crate) async fn sample_folder(sample: SampleSource, today: Date) -> Result<TempDir, CommandError> {
    if !SAMPLE_DAYS.contains(&today) {
        let (first, last) = (SAMPLE_DAYS.start(), SAMPLE_DAYS.end());
        let error = CommandError::Settings(format!(
            "the sample has no day {today}: its first is {first}, its last {last}"
        ));
        return Err(error.with_hint("give a day between them with --today"));
    }
    let folder = tempfile::tempdir().map_err(io("no temporary folder for the sample"))?;
    let root = folder.path().to_owned();
    let written = tokio::task::spawn_blocking(move || write_sample_lake(&root, &sample, today));
    written.await.map_err(bug)?.map_err(|error| match error {
        SampleLakeError::Lake(error) => error.into(),
        SampleLakeError::Table(_) | SampleLakeError::Record(_) => bug(error),
    })?;
    Ok(folder)
}

fn bug(error: impl std::error::Error) -> CommandError {
    CommandError::Bug(error.to_string())
}

fn failed(error: ServeError) -> CommandError {
    tracing::error!("the embedded API failed");
    CommandError::Serve(error)
}

fn io(what: &'static str) -> impl FnOnce(std::io::Error) -> CommandError {
    move |source| CommandError::Io(what.to_owned(), source)
}
