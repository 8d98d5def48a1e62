//! The keys of a pipeline file, typed.

use crate::contract::plan::Plan;
use crate::contract::reference::EntityType;
use crate::extract::PlanOverride;
use crate::lake::Retention;
use crate::pipeline::state::registry::RegisterStatus;
use crate::sample::Shape;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::json;
use std::borrow::Cow;
use std::path::PathBuf;

/// A run's folder is named after its pipeline.
pub(super) const LONGEST_NAME: usize = 40;

/// Minutes of the longest run.
pub(super) const A_YEAR: u64 = 525_600;

/// Businesses of the largest register of a sample.
pub(super) const LARGEST_REGISTER: u32 = 5_000_000;

/// One file of `pipelines/*.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A pipeline of sunlake", extend("not" = excluded()))]
pub struct PipelineSpec {
    /// Name, for commits and summaries.
    #[schemars(length(max = LONGEST_NAME), regex(pattern = "^[a-z0-9_-]+$"))]
    pub name: String,
    /// Where the API is.
    #[serde(default)]
    pub source: SourceSpec,
    /// What is read.
    #[serde(default)]
    pub extract: ExtractSpec,
    /// Reads the entire register by name prefix, instead of days.
    #[serde(default)]
    pub registry: Option<RegistrySpec>,
    /// Reads details and officers of selected businesses, instead of days.
    #[serde(default)]
    pub enrich: Option<EnrichSpec>,
    /// Imports the state's bulk files instead of reading the API.
    #[serde(default)]
    pub import: Option<ImportSpec>,
    /// What may be spent.
    #[serde(default)]
    pub budget: BudgetSpec,
    /// Numbers of the plan that the API does not report.
    #[serde(default)]
    pub plan: PlanOverride,
    /// The aggregates.
    #[serde(default)]
    pub aggregates: AggregatesSpec,
    /// What each failed check does.
    #[serde(default)]
    pub checks: ChecksSpec,
    /// Which old snapshots are kept.
    #[serde(default)]
    pub retention: RetentionSpec,
    /// The report.
    #[serde(default)]
    pub report: ReportSpec,
}

/// Sections that exclude each other: a run reads days, the register, single businesses, or files.
fn excluded() -> serde_json::Value {
    let pairs = [["registry", "enrich"], ["import", "registry"], ["import", "enrich"], ["import", "source"]];
    json!({ "anyOf": pairs.map(|pair| json!({ "required": pair })) })
}

/// Where the API is.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("not" = json!({ "properties": { "embedded": { "const": true } }, "required": ["base_url", "embedded"] })))]
pub struct SourceSpec {
    /// Address; `--base-url` overrides it.
    pub base_url: Option<String>,
    /// Whether the program serves itself a sample of Florida. No account is needed.
    pub embedded: bool,
    /// The sample.
    pub sample: SampleSource,
    /// Plain http to another host.
    pub allow_plain_http: bool,
}

/// The embedded API's sample and account.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SampleSource {
    /// Seed: the same seed gives the same businesses.
    pub seed: u64,
    /// Days of filings, today included.
    #[schemars(range(min = 1))]
    pub days: u32,
    /// Size; 1.0 is as large as Florida.
    #[schemars(range(max = 10.0), extend("exclusiveMinimum" = 0))]
    pub scale: f64,
    /// How its businesses are distributed.
    pub shape: Shape,
    /// Plan whose rows per call, max offset and window apply.
    pub plan: Plan,
    /// Largest offset; the plan's when absent. `[plan] max_offset` is the same for the reader.
    pub max_offset: Option<u32>,
    /// Requests a minute; the plan's when absent.
    #[schemars(range(min = 1))]
    pub per_minute: Option<u32>,
    /// Requests a day; the plan's when absent.
    #[schemars(range(min = 1))]
    pub per_day: Option<u32>,
    /// Requests a month; the plan's when absent.
    #[schemars(range(min = 1))]
    pub per_month: Option<u32>,
    /// Businesses of the thirty years before the days, dissolved ones included.
    #[schemars(range(max = LARGEST_REGISTER))]
    pub register: u32,
}

impl Default for SampleSource {
    fn default() -> Self {
        Self {
            seed: 1,
            days: 30,
            scale: 1.0,
            shape: Shape::Plain,
            plan: Plan::Agency,
            max_offset: None,
            per_minute: None,
            per_day: None,
            per_month: None,
            register: 0,
        }
    }
}

/// Days to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Days {
    /// All days of the plan's window.
    Window,
    /// This many, today included.
    Last(u32),
}

impl JsonSchema for Days {
    fn schema_name() -> Cow<'static, str> {
        "Days".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1, "maximum": u32::MAX }, { "const": "window" }] })
    }
}

impl<'de> Deserialize<'de> for Days {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u32),
            Word(String),
        }
        match Written::deserialize(deserializer) {
            Ok(Written::Number(days)) if days > 0 => Ok(Self::Last(days)),
            Ok(Written::Word(word)) if word == "window" => Ok(Self::Window),
            _ => Err(serde::de::Error::custom("days must be a whole number from 1, or \"window\"")),
        }
    }
}

/// What is read.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExtractSpec {
    /// Days of filings, today included; `"window"` is all that the plan reaches. Older days that the lake has are read again while they
    /// are incomplete or due, if the plan reaches them.
    pub days: Days,
    /// Types to read, each once; all when empty.
    #[schemars(extend("uniqueItems" = true))]
    pub types: Vec<EntityType>,
    /// Whether filings are read at all, or only lists and counts.
    pub filings: bool,
}

impl Default for ExtractSpec {
    fn default() -> Self {
        Self { days: Days::Window, types: Vec::new(), filings: true }
    }
}

/// Importing the state's bulk files.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportSpec {
    /// Folder of the files, as on the state's server: a path, relative to the pipeline file, or a prefix of an object store
    /// (`s3://bucket/prefix`, `gs://…`, `az://…`).
    pub folder: PathBuf,
    /// File of industry rules, relative to the pipeline file; the built-in rules when absent.
    #[serde(default)]
    pub industries: Option<PathBuf>,
    /// Whether compressed copies of the files are kept in the lake, for replays without the folder.
    #[serde(default)]
    pub archive: bool,
    /// Largest share of records by which a file of a quarterly set may fall short of the same file of the last set, in percent; 5 when
    /// absent. With 100 the files of a set are not compared, with those of the last set or with each other.
    #[serde(default = "five")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub max_short_percent: f64,
}

fn five() -> f64 {
    5.0
}

/// Reading the entire register.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RegistrySpec {
    /// Active businesses, or dissolved ones too.
    pub status: RegisterStatus,
    /// Whether fictitious names are read.
    pub fictitious: bool,
    /// A prefix read more than this many days ago is read again; never, when absent.
    pub max_age_days: Option<u32>,
}

impl Default for RegistrySpec {
    fn default() -> Self {
        Self { status: RegisterStatus::default(), fictitious: true, max_age_days: None }
    }
}

/// Which businesses are looked up, and what is requested.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = json!([{ "required": ["where"] }, { "required": ["documents"] }])))]
pub struct EnrichSpec {
    /// SQL condition over `filings`, without `WHERE`.
    #[serde(rename = "where", default)]
    pub condition: Option<String>,
    /// File with a document number on each line, relative to the pipeline file; in place of `where`.
    #[serde(default)]
    pub documents: Option<PathBuf>,
    /// Most businesses of one run; no limit when absent.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub limit: Option<u64>,
    /// A look-up of this many Eastern days ago or earlier is repeated. When absent, only changed records are looked up again, and document numbers after 30 days.
    #[serde(default)]
    pub max_age_days: Option<u32>,
    /// Whether officers are requested, too.
    #[serde(default = "yes")]
    pub officers: bool,
}

fn yes() -> bool {
    true
}

/// What may be spent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetSpec {
    /// Requests a day left for the account's other users.
    pub keep_per_day: u32,
    /// Requests a month left for the account's other users.
    pub keep_per_month: u32,
    /// Requests of one run.
    #[schemars(range(min = 1))]
    pub max_requests: Option<u64>,
    /// Minutes of one run.
    #[schemars(range(min = 1, max = A_YEAR))]
    pub max_minutes: Option<u64>,
    /// Attempts of one request, the first included.
    #[schemars(range(min = 1))]
    pub attempts: Option<u32>,
}

/// The aggregates.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AggregatesSpec {
    /// Folder of `*.sql` files, relative to the pipeline file. Without one next to the file, the built-in aggregates run.
    pub folder: PathBuf,
    /// Whether they run.
    pub enabled: bool,
}

impl Default for AggregatesSpec {
    fn default() -> Self {
        Self { folder: PathBuf::from("aggregates"), enabled: true }
    }
}

/// What a failed check does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// It is logged, and the run continues.
    #[default]
    Tell,
    /// The snapshot waits for review; readers see it once a person accepts it.
    Hold,
    /// Nothing is published.
    Fail,
}

/// Checks before a snapshot is published, and what each does when it fails.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChecksSpec {
    /// A record could not be normalized.
    pub quarantine: OnFailure,
    /// A record has a field the schema does not know.
    pub unknown_fields: OnFailure,
    /// A day could not be read completely.
    pub incomplete_days: OnFailure,
    /// The entire register was read, and the API counts more or fewer businesses.
    pub missing_businesses: OnFailure,
    /// A complete day has more or fewer rows than the API counts.
    pub counts: OnFailure,
    /// More filings were removed since the last snapshot than allowed.
    pub vanished: OnFailure,
    /// Largest share of the lake's filings that may be removed since the last snapshot, in percent.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub max_vanished_percent: f64,
    /// A settled month lists fewer filings than allowed.
    pub drop: OnFailure,
    /// Largest drop of a settled month's listed filings since the last snapshot, in percent.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub max_drop_percent: f64,
    /// A key occurs twice in a table, or is null.
    pub keys: OnFailure,
    /// A date is impossible.
    pub dates: OnFailure,
    /// An aggregate's sum differs from its source's.
    pub aggregates: OnFailure,
}

impl Default for ChecksSpec {
    fn default() -> Self {
        Self {
            quarantine: OnFailure::Tell,
            unknown_fields: OnFailure::Tell,
            incomplete_days: OnFailure::Tell,
            missing_businesses: OnFailure::Tell,
            counts: OnFailure::Tell,
            vanished: OnFailure::Hold,
            max_vanished_percent: 10.0,
            drop: OnFailure::Hold,
            max_drop_percent: 10.0,
            keys: OnFailure::Fail,
            dates: OnFailure::Tell,
            aggregates: OnFailure::Hold,
        }
    }
}

/// Which old snapshots a run keeps. It always keeps the newest and pinned ones; without a key it keeps all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetentionSpec {
    /// Number of the newest.
    pub last: u32,
    /// The newest of each of this many days.
    pub daily: u32,
    /// The newest of each of this many weeks.
    pub weekly: u32,
    /// The newest of each of this many months.
    pub monthly: u32,
    /// Days to keep the raw pages of a finished run once its snapshots are pruned; for ever, when absent.
    pub raw_days: Option<u32>,
}

impl RetentionSpec {
    pub(crate) const fn retention(&self) -> Retention {
        Retention { last: self.last, daily: self.daily, weekly: self.weekly, monthly: self.monthly }
    }
}

/// The report.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReportSpec {
    /// Whether `catalog/report.html` is written.
    pub enabled: bool,
}

impl Default for ReportSpec {
    fn default() -> Self {
        Self { enabled: true }
    }
}
