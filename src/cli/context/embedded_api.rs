//! The embedded API: a sample of Florida written as a lake and served on loopback, read over HTTP like any other.

use crate::cli::exit::CommandError;
use crate::client::ApiKey;
use crate::contract::count::County;
use crate::contract::county::{FLORIDA_COUNTIES, county_key};
use crate::contract::eastern::{day_start, window_start};
use crate::contract::plan::PlanLimits;
use crate::contract::reference::{EntityType, EntityTypeEntry};
use crate::lake::{CommitInfo, Lake, Staging};
use crate::pipeline::Source;
use crate::pipeline::config::spec::SampleSource;
use crate::pipeline::state::SourceKind;
use crate::sample::{RegisterSpec, SampleBusiness, SampleSpec, businesses, industries, old_register};
use crate::serve::{
    Accounts, AccountsSource, DEFAULT_MAX_CONNECTIONS, IndexSource, LimitOverride, ServeConfig, ServeError,
    Server,
};
use crate::table::{
    CountyRow, DetailRow, EntityTypeRow, FilingRow, IndustryTypeRow, OfficerRow, Row, SegmentRow, Table,
    TableError,
};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Key of the embedded account. It opens a sample on this machine and nothing else.
const SAMPLE_KEY: &str = "flb_embedded_sample";

/// Businesses written at once.
const BATCH_ROWS: usize = 16 * 1024;

/// The embedded API under way; ends with [`EmbeddedApi::stop`] or when dropped.
pub(crate) struct EmbeddedApi {
    pub(crate) source: Source,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), ServeError>>,
    lake: TempDir,
}

impl EmbeddedApi {
    /// Writes the sample as it is seen on `today` and serves it.
    pub(crate) async fn start(
        sample: SampleSource,
        today: Date,
        now: fn() -> Timestamp,
    ) -> Result<Self, CommandError> {
        let folder = tempfile::tempdir().map_err(io("no temporary folder for the sample"))?;
        let root = folder.path().to_owned();
        let limits = limits(&sample);
        tokio::task::spawn_blocking(move || write_lake(&root, &sample, today))
            .await
            .map_err(|error| CommandError::Bug(error.to_string()))??;
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(io("no port for the embedded API"))?;
        let address = listener.local_addr().map_err(io("no port for the embedded API"))?;
        let config = ServeConfig {
            index: IndexSource::Snapshot(folder.path().join("current")),
            accounts: AccountsSource::Fixed(Accounts::single(SAMPLE_KEY, "sample", limits, &["data"])),
            plan_override: LimitOverride::default(),
            usage_file: None,
            clock: Arc::new(now),
            today: Some(today),
            public_url: None,
            random: [0; 32],
            max_connections: DEFAULT_MAX_CONNECTIONS,
            // Its one client is this program, which has its answers by then.
            linger: Duration::ZERO,
            metrics: None,
        };
        let (stop, stopped) = oneshot::channel();
        let server = Server::open(listener, config).await.map_err(failed)?;
        let serving = tokio::spawn(server.run(async move {
            // A sender that is gone has nothing more to say than stop.
            let _ = stopped.await;
        }));
        let key = ApiKey::parse(SAMPLE_KEY).map_err(|error| CommandError::Bug(error.to_string()))?;
        let source = Source {
            base_url: format!("http://{address}"),
            key,
            allow_plain_http: false,
            kind: SourceKind::Embedded,
        };
        tracing::info!(%address, "the embedded API serves the sample");
        Ok(Self { source, stop, serving, lake: folder })
    }

    /// Where its clients count their requests: its account ends with it.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.lake.path().join("state")
    }

    /// Ends the server.
    pub(crate) async fn stop(self) -> Result<(), CommandError> {
        // A server that ended by itself hears nothing; its own result says why.
        let _ = self.stop.send(());
        let ended = self.serving.await.map_err(|error| CommandError::Bug(error.to_string()))?;
        ended.map_err(failed)
    }
}

fn failed(error: ServeError) -> CommandError {
    tracing::error!("the embedded API failed");
    CommandError::Serve(error)
}

fn io(what: &str) -> impl FnOnce(std::io::Error) -> CommandError {
    let what = what.to_owned();
    move |source| CommandError::Io { what, source }
}

fn limits(sample: &SampleSource) -> PlanLimits {
    let row = sample.plan.limits();
    PlanLimits {
        per_minute: sample.per_minute.unwrap_or(row.per_minute),
        per_day: sample.per_day.unwrap_or(row.per_day),
        per_month: sample.per_month.unwrap_or(row.per_month),
        ..row
    }
}

fn write_lake(root: &Path, sample: &SampleSource, today: Date) -> Result<(), CommandError> {
    let table = |error: TableError| CommandError::Bug(error.to_string());
    let lake = Lake::open(root)?;
    let _lock = lake.lock("sample", "the embedded API")?;
    let mut staging = lake.stage("sample")?;
    let spec =
        SampleSpec { seed: sample.seed, today, days: sample.days, scale: sample.scale, shape: sample.shape };
    let mut batch = Batch::default();
    // The sample is as new as its day: served twice, it tells the same `updated_at`.
    let at = day_start(today);
    let before = window_start(today, sample.days);
    let register = RegisterSpec { seed: sample.seed, before, rows: sample.register };
    let old = old_register(&register).map(|business| (business, false));
    for (business, is_detailed) in old.chain(businesses(&spec).map(|business| (business, true))) {
        batch.push(business, is_detailed, at)?;
        if batch.filings.len() >= BATCH_ROWS {
            staging.spill_filings(FilingRow::batch(&std::mem::take(&mut batch.filings)).map_err(table)?)?;
        }
    }
    staging.spill_filings(FilingRow::batch(&batch.filings).map_err(table)?)?;
    staging.merge_filings(&BTreeSet::new(), at)?;
    staging.merge(Table::Details, &DetailRow::batch(&batch.details).map_err(table)?)?;
    staging.merge(Table::Officers, &OfficerRow::batch(&batch.officers).map_err(table)?)?;
    stage_lists(&mut staging, today)?;
    staging.commit(CommitInfo {
        committed_at: at,
        today,
        pipeline: "sample".to_owned(),
        requests_sent: 0,
        state: serde_json::Value::Null,
        checks: serde_json::Value::Null,
    })?;
    Ok(())
}

#[derive(Default)]
struct Batch {
    filings: Vec<FilingRow>,
    details: Vec<DetailRow>,
    officers: Vec<OfficerRow>,
}

impl Batch {
    /// Details and officers only where they are wanted: those of a whole register would fill the memory.
    fn push(
        &mut self,
        business: SampleBusiness,
        is_detailed: bool,
        at: Timestamp,
    ) -> Result<(), CommandError> {
        let SampleBusiness { detail, officers, .. } = business;
        let unreadable =
            || CommandError::Bug(format!("the sample's business {} is no record", detail.summary.id));
        let filing = FilingRow::from_summary(&detail.summary, at).ok_or_else(unreadable)?;
        if is_detailed {
            self.details.push(DetailRow::from_detail(&detail, at).ok_or_else(unreadable)?);
            for (position, officer) in (0..).zip(&officers) {
                self.officers.push(OfficerRow::new(filing.business_id, position, officer, at));
            }
        }
        self.filings.push(filing);
        Ok(())
    }
}

/// The lists that the server answers from; it counts the rest from the rows.
fn stage_lists(staging: &mut Staging, today: Date) -> Result<(), CommandError> {
    let counties = FLORIDA_COUNTIES.map(|name| {
        let county = County {
            key: county_key(name),
            name: name.to_owned(),
            filings_last_7_days: 0,
            filings_last_30_days: 0,
            filings_previous_30_days: 0,
            active_businesses: 0,
        };
        CountyRow::from(today, &county)
    });
    let lists = industries();
    let types: Vec<_> =
        lists.sectors.iter().flat_map(|sector| IndustryTypeRow::from(today, sector)).collect();
    let segments: Vec<_> =
        lists.segments.iter().flat_map(|segment| SegmentRow::from(today, segment)).collect();
    let kinds: Vec<_> = EntityType::ALL
        .iter()
        .map(|kind| EntityTypeEntry { key: kind.key().to_owned(), label: kind.label().to_owned() })
        .map(|entry| EntityTypeRow::from(today, &entry))
        .collect();
    stage(staging, &counties)?;
    stage(staging, &types)?;
    stage(staging, &segments)?;
    stage(staging, &kinds)
}

fn stage<R: Row>(staging: &mut Staging, rows: &[R]) -> Result<(), CommandError> {
    let batch = R::batch(rows).map_err(|error| CommandError::Bug(error.to_string()))?;
    staging.merge(R::TABLE, &batch)?;
    Ok(())
}
