//! Lakes that tests serve and read: samples of Florida, each made once a test process by the sample pipeline.

use super::command::{Sunlake, project};
use super::lake::copy_tree;
use super::scratch;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A lake, and the Eastern day it was made as.
pub(crate) struct Source {
    pub(crate) lake: PathBuf,
    pub(crate) today: &'static str,
}

/// Days and share of [`small`].
pub(crate) const SMALL_DAYS: u32 = 14;
pub(crate) const SMALL_SCALE: f64 = 0.05;

/// Two weeks of one business in twenty: a run over it takes some forty requests.
pub(crate) fn small() -> &'static Source {
    static SMALL: OnceLock<Source> = OnceLock::new();
    SMALL.get_or_init(|| make("small", &sample_pipeline(SMALL_DAYS, SMALL_SCALE), &["2026-03-20"]))
}

/// Ten weeks of one business in twenty-five, as two runs on two days left them, with all aggregates: some rows are new, some changed, some gone.
pub(crate) fn history() -> &'static Source {
    static HISTORY: OnceLock<Source> = OnceLock::new();
    HISTORY
        .get_or_init(|| make("history", &complete_sample_pipeline(70, 0.04), &["2026-03-16", "2026-03-20"]))
}

/// Five weeks of a fifth of Florida around a New Year, whose first day the plan of starters cannot page to its end.
pub(crate) fn large() -> &'static Source {
    static LARGE: OnceLock<Source> = OnceLock::new();
    LARGE.get_or_init(|| make("large", &large_pipeline(), &["2026-01-12"]))
}

/// As [`large`], as runs on four days left it: a snapshot each.
pub(crate) fn moving() -> &'static Source {
    static MOVING: OnceLock<Source> = OnceLock::new();
    MOVING.get_or_init(|| {
        copy_tree(&large().lake, &scratch::root().join("moving"));
        make("moving", &large_pipeline(), &["2026-01-13", "2026-01-14", "2026-01-15"])
    })
}

fn large_pipeline() -> String {
    sample(35, 0.2, WITHOUT_AGGREGATES)
}

/// Lines of a pipeline whose runs add up nothing: without optimisation the shipped aggregates take most of a small run.
pub(crate) const WITHOUT_AGGREGATES: &str = "enabled = false";

/// The folder of all shipped aggregates.
pub(crate) fn shipped_aggregates() -> PathBuf {
    project().join("pipelines").join("aggregates")
}

/// Makes a folder of some shipped aggregates.
pub(crate) fn copy_aggregates(folder: &Path, names: &[&str]) {
    std::fs::create_dir_all(folder).expect("a folder");
    for name in names.iter().map(|name| format!("{name}.sql")) {
        std::fs::copy(shipped_aggregates().join(&name), folder.join(&name)).expect("an aggregate");
    }
}

/// A folder of three shipped aggregates, for runs that need some, whichever they are.
pub(crate) fn few_aggregates() -> &'static Path {
    static FEW: OnceLock<PathBuf> = OnceLock::new();
    FEW.get_or_init(|| {
        let folder = scratch::root().join("few-aggregates");
        copy_aggregates(&folder, &["county_type_day", "county_type_month", "type_month"]);
        folder
    })
}

/// A copy of the shipped sample pipeline with other numbers and a few of its aggregates.
pub(crate) fn sample_pipeline(days: u32, scale: f64) -> String {
    sample(days, scale, &format!("folder = {:?}", few_aggregates()))
}

/// The same, with all shipped aggregates.
pub(crate) fn complete_sample_pipeline(days: u32, scale: f64) -> String {
    sample(days, scale, &format!("folder = {:?}", shipped_aggregates()))
}

/// The same, with this line about aggregates.
fn sample(days: u32, scale: f64, aggregates: &str) -> String {
    format!(
        "name = \"sample\"\n\
         [source]\nembedded = true\n\
         [source.sample]\nseed = 1\ndays = {days}\nscale = {scale:?}\nplan = \"agency\"\n\
         per_minute = 1000000\nper_day = 1000000\nper_month = 10000000\n\
         [extract]\ndays = {days}\n\
         [aggregates]\n{aggregates}\n"
    )
}

fn make(name: &str, text: &str, todays: &[&'static str]) -> Source {
    let lake = scratch::root().join(name);
    let pipeline = scratch::root().join(format!("{name}.toml"));
    std::fs::write(&pipeline, text).expect("a pipeline file");
    for today in todays {
        Sunlake::run(&pipeline, &lake).args(["--today", today]).finish().complete();
    }
    Source { lake, today: todays.last().expect("a day") }
}
