//! Pipeline files: what a schedule runs, typed and checked.

use super::register_state::RegisterStatus;
use crate::contract::param::{MAX_LIMIT, MAX_OFFSET};
use crate::contract::plan::Plan;
use crate::contract::reference::EntityType;
use crate::extract::PlanOverride;
use crate::lake::Retention;
use crate::sample::Shape;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// One file of `pipelines/*.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipelineSpec {
    /// Name, for commits and summaries.
    pub name: String,
    /// Where the API is.
    #[serde(default)]
    pub source: SourceSpec,
    /// What is read.
    #[serde(default)]
    pub extract: ExtractSpec,
    /// The whole register, by the start of the name; days are not read then.
    #[serde(default)]
    pub registry: Option<RegistrySpec>,
    /// Details and officers of chosen businesses; days are not read then.
    #[serde(default)]
    pub enrich: Option<EnrichSpec>,
    /// What may be spent.
    #[serde(default)]
    pub budget: BudgetSpec,
    /// Numbers of the plan that the API does not tell.
    #[serde(default)]
    pub plan: PlanOverride,
    /// What is added up.
    #[serde(default)]
    pub aggregates: AggregatesSpec,
    /// What happens when something is not as it should be.
    #[serde(default)]
    pub checks: ChecksSpec,
    /// Which old snapshots stay.
    #[serde(default)]
    pub retention: RetentionSpec,
    /// The report.
    #[serde(default)]
    pub report: ReportSpec,
}

/// Where the API is.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SourceSpec {
    /// Address; `--base-url` goes before it.
    pub base_url: Option<String>,
    /// Whether the program serves itself a sample of Florida, so that no account is needed.
    pub embedded: bool,
    /// The sample.
    pub sample: SampleSource,
    /// Plain http to another host.
    pub allow_plain_http: bool,
}

/// The embedded API's sample and account.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SampleSource {
    /// Same seed, same Florida.
    pub seed: u64,
    /// Days of filings, today included.
    pub days: u32,
    /// 1.0 is the whole of Florida.
    pub scale: f64,
    /// How its businesses are spread.
    pub shape: Shape,
    /// Plan whose rows per call, max offset and window apply.
    pub plan: Plan,
    /// Requests a minute; the plan's when absent.
    pub per_minute: Option<u32>,
    /// Requests a day; the plan's when absent.
    pub per_day: Option<u32>,
    /// Requests a month; the plan's when absent.
    pub per_month: Option<u32>,
    /// Businesses of the thirty years before the days, dissolved ones included.
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
    /// All that the plan's window reaches.
    Window,
    /// This many, today included.
    Last(u32),
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
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExtractSpec {
    /// Days of filings.
    pub days: Days,
    /// Types to read; all when empty.
    pub types: Vec<EntityType>,
    /// Whether filings are read at all, or only lists and counts.
    pub filings: bool,
}

impl Default for ExtractSpec {
    fn default() -> Self {
        Self { days: Days::Window, types: Vec::new(), filings: true }
    }
}

/// The whole register.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RegistrySpec {
    /// Active businesses, or dissolved ones too.
    pub status: RegisterStatus,
    /// Whether fictitious names are read.
    pub fictitious: bool,
    /// A start of a name read longer ago than this is read again; never, when absent.
    pub max_age_days: Option<u32>,
}

impl Default for RegistrySpec {
    fn default() -> Self {
        Self { status: RegisterStatus::default(), fictitious: true, max_age_days: None }
    }
}

/// Which businesses are looked up.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnrichSpec {
    /// Condition over `filings`, as it stands after `WHERE`.
    #[serde(rename = "where")]
    pub condition: String,
    /// Businesses of one run; no bound when absent.
    #[serde(default)]
    pub limit: Option<u64>,
    /// A look-up older than this is done again; only a changed record is, when absent.
    #[serde(default)]
    pub max_age_days: Option<u32>,
    /// Whether officers are asked for, too.
    #[serde(default = "yes")]
    pub officers: bool,
}

fn yes() -> bool {
    true
}

/// What may be spent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetSpec {
    /// Requests a day left for the account's other users.
    pub keep_per_day: u32,
    /// Requests a month left for the account's other users.
    pub keep_per_month: u32,
    /// Requests of one run.
    pub max_requests: Option<u64>,
    /// Minutes of one run.
    pub max_minutes: Option<u64>,
    /// Attempts of one request, the first included.
    pub attempts: Option<u32>,
}

/// What is added up.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AggregatesSpec {
    /// Folder of `*.sql` files, beside the pipeline file.
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// It is told and the run goes on.
    #[default]
    Tell,
    /// The snapshot is kept whole beside the others, and published once a person accepts it.
    Hold,
    /// Nothing is published.
    Fail,
}

impl OnFailure {
    /// The word in a pipeline file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tell => "tell",
            Self::Hold => "hold",
            Self::Fail => "fail",
        }
    }
}

/// Checks before a snapshot is published, and what each does when it fails.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChecksSpec {
    /// A record could not be normalized.
    pub quarantine: OnFailure,
    /// A record has a field the schema does not know.
    pub unknown_fields: OnFailure,
    /// A day could not be read whole.
    pub incomplete_days: OnFailure,
    /// The register was read to its end, and the API counts more or fewer businesses.
    pub missing_businesses: OnFailure,
    /// A proven day holds another number of rows than the API counts.
    pub counts: OnFailure,
    /// More filings than allowed are gone since the last snapshot.
    pub vanished: OnFailure,
    /// Largest share of the lake's filings that may be gone since the last snapshot, in percent.
    pub max_vanished_percent: f64,
    /// A settled month lists fewer filings than allowed.
    pub drop: OnFailure,
    /// By how much the listed filings of a settled month may shrink since the last snapshot, in percent.
    pub max_drop_percent: f64,
    /// A key stands in a table twice, or is null.
    pub keys: OnFailure,
    /// A date lies outside what can be.
    pub dates: OnFailure,
    /// An aggregate does not add up to what it was made from.
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

/// Which old snapshots stay at the end of a run; the newest and pinned ones always do. Without a key nothing goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetentionSpec {
    /// This many of the newest.
    pub last: u32,
    /// The newest of each of this many days.
    pub daily: u32,
    /// The newest of each of this many weeks.
    pub weekly: u32,
    /// The newest of each of this many months.
    pub monthly: u32,
    /// Days that the raw pages of a finished run stay once its snapshots are pruned; without it they stay for ever.
    pub raw_days: Option<u32>,
}

impl RetentionSpec {
    /// The rules for snapshots.
    pub const fn retention(&self) -> Retention {
        Retention { last: self.last, daily: self.daily, weekly: self.weekly, monthly: self.monthly }
    }
}

/// The report.
#[derive(Debug, Clone, PartialEq, Deserialize)]
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

/// A pipeline file that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The file cannot be read.
    #[error("cannot read the pipeline file {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is no pipeline.
    #[error("{path}, line {line}: {problem}{hint}")]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
        /// The nearest right word, or nothing.
        hint: String,
    },
}

/// A pipeline file read and checked.
#[derive(Debug, Clone)]
pub struct Pipeline {
    /// What it says.
    pub spec: PipelineSpec,
    /// Digest of what it asks for: an unfinished run goes on only where that is the same. Budget, checks, aggregates and
    /// report may change meanwhile.
    pub digest: String,
    /// Folder it lies in; its own paths start there.
    pub folder: PathBuf,
}

impl Pipeline {
    /// Reads a pipeline file.
    ///
    /// # Errors
    /// `Unreadable`; `Wrong` with the line and, for a wrong word, the nearest right one.
    pub fn read(path: &Path) -> Result<Self, SpecError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| SpecError::Unreadable { path: path.to_owned(), source })?;
        let spec: PipelineSpec = toml::from_str(&text).map_err(|error| wrong(path, &text, &error))?;
        check(&spec).map_err(|(word, problem)| {
            let line =
                text.lines().position(|line| line.trim_start().starts_with(word)).map_or(1, |at| at + 1);
            SpecError::Wrong { path: path.to_owned(), line, problem, hint: String::new() }
        })?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let mut digest = format!("{:?} {:?} {:?}", spec.source, spec.extract, spec.plan);
        if spec.registry.is_some() || spec.enrich.is_some() {
            digest.push_str(&format!(" {:?} {:?}", spec.registry, spec.enrich));
        }
        Ok(Self { spec, digest: blake3::hash(digest.as_bytes()).to_hex().to_string(), folder })
    }
}

/// A run's folder is named after its pipeline.
const LONGEST_NAME: usize = 40;

/// Days of the longest window that a pipeline file may claim.
const LONGEST_WINDOW: u32 = 3_660;

/// Minutes of a year.
const A_YEAR: u64 = 525_600;

fn check_numbers(spec: &PipelineSpec) -> Result<(), (&'static str, String)> {
    let given = &spec.plan;
    let bounds = [
        ("rows_per_call", given.rows_per_call.map(u64::from), 1, u64::from(MAX_LIMIT)),
        ("max_offset", given.max_offset.map(u64::from), 0, u64::from(MAX_OFFSET)),
        ("window_days", given.window_days.map(u64::from), 1, u64::from(LONGEST_WINDOW)),
        ("max_minutes", spec.budget.max_minutes, 0, A_YEAR),
    ];
    let wrong =
        bounds.into_iter().find(|(_, value, least, most)| value.is_some_and(|v| v < *least || v > *most));
    wrong.map_or(Ok(()), |(key, _, least, most)| {
        Err((key, format!("{key} must be a whole number from {least} to {most}")))
    })
}

fn check(spec: &PipelineSpec) -> Result<(), (&'static str, String)> {
    let named = !spec.name.is_empty()
        && spec.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
    if !named {
        return Err(("name", "name must be lower-case letters, digits, - and _".to_owned()));
    }
    if spec.name.len() > LONGEST_NAME {
        return Err(("name", format!("name has {LONGEST_NAME} characters at most")));
    }
    check_numbers(spec)?;
    let sample = &spec.source.sample;
    if !(sample.scale > 0.0 && sample.scale <= 10.0) {
        return Err(("scale", format!("scale {} is not between 0 and 10", sample.scale)));
    }
    if sample.days == 0 {
        return Err(("days", "a sample has 1 day at least".to_owned()));
    }
    if sample.register > 5_000_000 {
        return Err(("register", "a sample's register has 5,000,000 businesses at most".to_owned()));
    }
    if spec.registry.is_some() && spec.enrich.is_some() {
        return Err(("[enrich]", "one file reads the register or looks businesses up, not both".to_owned()));
    }
    Ok(())
}

fn wrong(path: &Path, text: &str, error: &toml::de::Error) -> SpecError {
    let at = error.span().map_or(0, |span| span.start).min(text.len());
    let line = text[..at].matches('\n').count() + 1;
    let problem = error.message().to_owned();
    let hint = nearest(&problem).map(|word| format!("; did you mean `{word}`?")).unwrap_or_default();
    SpecError::Wrong { path: path.to_owned(), line, problem, hint }
}

/// The right word nearest to the wrong one, both as serde's message quotes them: the wrong one first.
fn nearest(problem: &str) -> Option<String> {
    if !problem.starts_with("unknown ") {
        return None;
    }
    let mut quoted = problem.split('`').skip(1).step_by(2);
    let wrong = quoted.next()?;
    let (score, word) =
        quoted.map(|word| (strsim::jaro_winkler(wrong, word), word)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (score > 0.6).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Pipeline, SpecError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("p.toml");
        std::fs::write(&path, text).expect("a file");
        Pipeline::read(&path)
    }

    #[test]
    fn a_wrong_key_names_its_line_and_the_nearest_right_one() {
        let error =
            read("name = \"p\"\n\n[budget]\nkeep_per_dya = 3\n").expect_err("a wrong key").to_string();
        assert!(error.contains("line 4"), "{error}");
        assert!(error.contains("did you mean `keep_per_day`?"), "{error}");
    }

    #[test]
    fn a_wrong_value_names_its_line() {
        let error = read("name = \"p\"\n[extract]\ndays = 0\n").expect_err("a wrong value").to_string();
        assert!(error.contains("line 3") && error.contains("window"), "{error}");
        let error = read("name = \"Bad Name\"\n").expect_err("a wrong name").to_string();
        assert!(error.contains("line 1"), "{error}");
    }

    #[test]
    fn what_is_not_said_has_its_usual_value() {
        let pipeline = read("name = \"p\"\n").expect("a pipeline");
        assert_eq!(pipeline.spec.extract.days, Days::Window);
        assert!(pipeline.spec.aggregates.enabled && pipeline.spec.report.enabled);
    }
}
