//! Lakes that tests serve and read: samples of Florida, each made once a test process by the sample pipeline.

use super::command::{Sunlake, project};
use super::scratch;
use std::path::PathBuf;
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
    SMALL.get_or_init(|| make("small", SMALL_DAYS, SMALL_SCALE, &["2026-03-20"]))
}

/// Ten weeks of one business in ten, as two runs on two days left them: some rows are new, some changed, some gone.
pub(crate) fn history() -> &'static Source {
    static HISTORY: OnceLock<Source> = OnceLock::new();
    HISTORY.get_or_init(|| make("history", 70, 0.1, &["2026-03-16", "2026-03-20"]))
}

/// Five weeks of half of Florida around a New Year, whose first day no plan can page to its end.
pub(crate) fn large() -> &'static Source {
    static LARGE: OnceLock<Source> = OnceLock::new();
    LARGE.get_or_init(|| make("large", 35, 0.5, &["2026-01-12"]))
}

/// As [`large`], as runs on six days left it: a snapshot each.
pub(crate) fn moving() -> &'static Source {
    static MOVING: OnceLock<Source> = OnceLock::new();
    let todays = ["2026-01-12", "2026-01-13", "2026-01-14", "2026-01-15", "2026-01-16", "2026-01-17"];
    MOVING.get_or_init(|| make("moving", 35, 0.5, &todays))
}

/// A copy of the shipped sample pipeline with other numbers.
pub(crate) fn sample_pipeline(days: u32, scale: f64) -> String {
    let aggregates = project().join("pipelines").join("aggregates");
    format!(
        "name = \"sample\"\n\
         [source]\nembedded = true\n\
         [source.sample]\nseed = 1\ndays = {days}\nscale = {scale:?}\nplan = \"agency\"\n\
         per_minute = 1000000\nper_day = 1000000\nper_month = 10000000\n\
         [extract]\ndays = {days}\n\
         [aggregates]\nfolder = {aggregates:?}\n"
    )
}

fn make(name: &str, days: u32, scale: f64, todays: &[&'static str]) -> Source {
    let lake = scratch::root().join(name);
    let pipeline = scratch::root().join(format!("{name}.toml"));
    std::fs::write(&pipeline, sample_pipeline(days, scale)).expect("a pipeline file");
    for today in todays {
        Sunlake::run(&pipeline, &lake).args(["--today", today]).finish().complete();
    }
    Source { lake, today: todays.last().expect("a day") }
}
