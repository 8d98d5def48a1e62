//! What rounds found, for people.

use super::claims::{Finding, Verdict};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// Failures of a round that are shown.
const MOST_SHOWN: usize = 3;

/// What a round found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) drift: f64,
    /// The round's world, in words.
    pub(super) world: String,
    pub(crate) failures: Vec<String>,
    pub(crate) requests: usize,
    /// Files with the requests of failed runs.
    logs: BTreeSet<PathBuf>,
    /// The runs so far, in words.
    pub(super) runs: Vec<String>,
    /// Whether the mornings with changes are over.
    pub(super) is_calm: bool,
    /// Complete days that were compared on mornings with changes, by what was found.
    compared: usize,
    wrong: usize,
    overtaken: usize,
    hidden: usize,
    /// Mornings until a hidden day was right.
    pub(super) delays: Vec<i64>,
    pub(super) hidden_after_two: usize,
    /// Hidden days that left the window, and those that no run will ever look at again.
    pub(super) left_window: usize,
    pub(super) never: usize,
    /// Days that are not complete after the calm mornings, which the exit code says.
    pub(super) incomplete: usize,
    /// Runs that did not end within the most requests.
    pub(super) cut_off: usize,
}

impl Report {
    pub(super) fn new(seed: u64, drift: f64) -> Self {
        Self { seed, drift, ..Self::default() }
    }

    pub(super) fn count(&mut self, findings: &[Finding]) {
        if self.is_calm {
            return;
        }
        let number = |verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
        self.compared += findings.len();
        self.wrong += number(Verdict::Wrong);
        self.overtaken += number(Verdict::Overtaken);
        self.hidden += number(Verdict::Hidden);
    }

    /// Keeps the requests of a failed run: requests under way at once reach the API in another order each time, so the same seed
    /// may not fail again.
    pub(super) fn keep_log(&mut self, run: usize, log: &[String]) {
        let name = format!("soak-{}-{}-run-{run}.log", self.drift, self.seed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, log.join("\n")).expect("a log");
        self.logs.insert(path);
    }

    /// The failures of a round and how to run it alone; none when nothing failed.
    pub(crate) fn failed(&self) -> Option<String> {
        let shown: Vec<&str> = self.failures.iter().take(MOST_SHOWN).map(String::as_str).collect();
        (!shown.is_empty()).then(|| {
            format!(
                "seed {seed}, drift {drift}: {number} failures; {world}\n    {}\n    requests: {:?}\n    alone: \
                 SUNLAKE_SOAK_SEED={seed} SUNLAKE_SOAK_ROUNDS=1 SUNLAKE_SOAK_DRIFT={drift} cargo test soak -- \
                 --ignored --nocapture",
                shown.join("\n    "),
                self.logs,
                seed = self.seed,
                drift = self.drift,
                number = self.failures.len(),
                world = self.world,
            )
        })
    }
}

/// The sums of rounds at one drift, on one line.
pub(super) struct Sums<'a>(pub(super) &'a [Report]);

impl fmt::Display for Sums<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |part: fn(&Report) -> usize| self.0.iter().map(part).sum::<usize>();
        let delays: Vec<i64> = self.0.iter().flat_map(|report| report.delays.clone()).collect();
        let (compared, hidden) = (sum(|report| report.compared), sum(|report| report.hidden));
        write!(
            out,
            "drift {}: {} rounds, {} failed; {compared} complete days: {} wrong, {} overtaken, {hidden} hidden ({:.2}%); \
             hidden days: {} right after {:.1} days (most {}), {} after two calm mornings, {} left the window, \
             {} never right; {} days incomplete at the end; {} requests, {} runs cut off",
            self.0.first().map_or(0.0, |report| report.drift),
            self.0.len(),
            self.0.iter().filter(|report| !report.failures.is_empty()).count(),
            sum(|report| report.wrong),
            sum(|report| report.overtaken),
            100.0 * hidden as f64 / compared.max(1) as f64,
            delays.len(),
            delays.iter().sum::<i64>() as f64 / delays.len().max(1) as f64,
            delays.iter().max().unwrap_or(&0),
            sum(|report| report.hidden_after_two),
            sum(|report| report.left_window),
            sum(|report| report.never),
            sum(|report| report.incomplete),
            sum(|report| report.requests),
            sum(|report| report.cut_off),
        )
    }
}
