//! What a run takes from outside, and what every step of one run shares.

use super::config::file::Pipeline;
use super::error::{PipelineError, Result};
use super::plan::jobs::{RunPlan, listings, oldest_day};
use super::progress::{Events, Progress};
use super::publish::summary::EnrichSummary;
use super::state::registry::RegisterProgress;
use super::state::run_state::{RunState, SourceKind, WantedDays};
use crate::client::{ApiKey, Bounds, Budget, Client, ClientConfig, Ledger, Stop};
use crate::contract::count::DailyCount;
use crate::contract::plan::PlanLimits;
use crate::extract::reference::PlanBasis;
use crate::lake::{Lake, LakeLock, RunDir, RunRecord, new_run_id};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// Where the API is, and the account's key.
#[derive(Debug, Clone)]
pub struct Source {
    /// Address of the service.
    pub base_url: String,
    /// The account's key.
    pub key: ApiKey,
    /// Whether plain http to another host is allowed.
    pub allow_plain_http: bool,
}

/// What a run takes from outside.
pub struct RunContext {
    /// The lake.
    pub lake: Lake,
    /// Eastern day to run as.
    pub today: Date,
    /// The wall clock.
    pub now: fn() -> Timestamp,
    /// What it reads.
    pub source: SourceKind,
    /// Random letters and digits that end the ids of its runs.
    pub token: String,
    /// Names the process that holds the lake's lock, for others who want it.
    pub holder: String,
    /// Takes what happens.
    pub events: Events,
}

impl RunContext {
    /// A record of a new run of a pipeline, and the lake's lock. Refuses a run that would damage the lake.
    pub(super) fn begin(&self, pipeline: &Pipeline) -> Result<(RunRecord, LakeLock)> {
        let (now, name) = ((self.now)(), &pipeline.spec.name);
        let run_id = new_run_id(now, name, &self.token);
        let lock = self.lake.lock(&run_id, &self.holder)?;
        check_source_and_day(&self.lake, self.source, self.today)?;
        let record = RunRecord {
            pipeline_file: pipeline.file_or_name(),
            pipeline_digest: pipeline.digest.clone(),
            ..RunRecord::begun(&run_id, name, now, self.today)
        };
        Ok((record, lock))
    }
}

/// Refuses two runs that would damage a lake. The ids of another source would replace those of the register. On an earlier day, newer
/// filings would be missing from the listing and count as removed.
fn check_source_and_day(lake: &Lake, source: SourceKind, today: Date) -> Result<()> {
    let Some(commit) = lake.current()? else { return Ok(()) };
    let state = RunState::of(Some(&commit));
    match (state.source, state.as_of) {
        (Some(filled_from), _) if filled_from != source => {
            Err(PipelineError::OtherSource { lake: lake.to_string(), filled_from, asked: source })
        }
        (_, Some(newest)) if today < newest => {
            let undo = newest_as_of(lake, today)?;
            Err(PipelineError::EarlierDay { lake: lake.to_string(), newest, today, undo })
        }
        _ => Ok(()),
    }
}

/// The newest snapshot that no run of a later day came before.
fn newest_as_of(lake: &Lake, today: Date) -> Result<Option<u64>> {
    for number in lake.kept_snapshots()?.into_iter().rev() {
        let as_of = RunState::of(Some(&lake.commit(number)?)).as_of;
        if as_of.is_some_and(|as_of| as_of <= today) {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

/// What a run that reads the API takes from outside in addition.
pub struct ApiContext {
    /// Folder that all lakes of this host share: the ledgers of requests.
    pub state_dir: PathBuf,
    /// The API.
    pub source: Source,
    /// Stops the run on a signal.
    pub stop: Stop,
}

/// Returns a client that keeps to the account's ledger and the pipeline's limits.
pub(crate) fn make_client(
    pipeline: &Pipeline,
    now: fn() -> Timestamp,
    api: &ApiContext,
    progress: &Progress,
) -> Result<Client> {
    let spec = &pipeline.spec.budget;
    let bounds = Bounds {
        keep_per_day: spec.keep_per_day,
        keep_per_month: spec.keep_per_month,
        max_requests: spec.max_requests,
        max_time: spec.max_minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
    };
    let source = &api.source;
    let ledger = Ledger::of(&api.state_dir, &source.base_url, &source.key);
    let budget = Budget::new(ledger, now, bounds, api.stop.clone()).reporting_to(progress.pauses());
    let (base_url, allow_plain_http) = (source.base_url.clone(), source.allow_plain_http);
    let config = ClientConfig { base_url, allow_plain_http, attempts: spec.attempts };
    Ok(Client::new(config, source.key.clone(), budget, now)?)
}

pub(crate) struct Run<'a> {
    pub(crate) pipeline: &'a Pipeline,
    /// Its day is the Eastern day now; a resumed run has an earlier day in its record.
    pub(crate) context: &'a RunContext,
    pub(crate) lock: &'a LakeLock,
    pub(crate) client: &'a Client,
    pub(crate) record: RunRecord,
    pub(crate) dir: RunDir,
    pub(crate) state: RunState,
    /// The account's limits.
    pub(crate) plan: PlanLimits,
    /// The newest counts of days; none before the request, and in runs that make none.
    pub(crate) counts: Vec<DailyCount>,
    /// Oldest day of the window; set again before listings are read.
    pub(crate) from: Date,
    /// How far the run is.
    pub(crate) progress: Progress,
    /// How the account's limits are known.
    pub(crate) plan_basis: PlanBasis,
    /// What this run did of the register.
    pub(crate) register: RegisterProgress,
    /// What this run looked up; none before it began to.
    pub(crate) enrich: Option<EnrichSummary>,
}

impl Run<'_> {
    /// Oldest day that can be read now.
    pub(crate) fn oldest(&self) -> Date {
        oldest_day(&self.pipeline.spec.source, self.from, self.context.today, &self.plan)
    }

    /// The days that the run wants; none of a run that reads no days.
    pub(crate) fn wanted_days(&self) -> Option<WantedDays> {
        let listings = listings(&self.pipeline.spec).into_iter();
        let listings: BTreeSet<String> = listings.map(|listing| listing.label().to_owned()).collect();
        (!listings.is_empty()).then_some(WantedDays { from: self.from, to: self.record.today, listings })
    }

    pub(crate) fn planned(&self) -> RunPlan {
        RunPlan::of_record(&self.record)
    }

    pub(crate) fn write_plan(&mut self, planned: &RunPlan) -> Result<()> {
        self.record.plan = serde_json::to_value(planned).unwrap_or_default();
        Ok(self.dir.write_record(&self.record)?)
    }
}
