//! The metrics of a run, as a file for the textfile collector of Prometheus' node exporter. They contain no key and no error text.

use crate::cli::exit::CommandError;
use crate::contract::account::Remaining;
use crate::lake::folder_of;
use crate::pipeline::publish::summary::RunSummary;
use jiff::Timestamp;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::AtomicU64;

/// How such a file begins.
const FIRST_WORDS: &str = "# HELP sunlake_";

/// The collector runs as another user.
const READABLE: u32 = 0o644;

type Number = Gauge<f64, AtomicU64>;

/// Numbers by the values of `N` labels.
type Numbers<const N: usize> = Family<[(&'static str, String); N], Number>;

/// Fails if the folder of the file is missing, or if something else is in its place: before a request is spent.
pub(crate) fn check(file: &Path) -> Result<(), CommandError> {
    let (file_name, name_another) = (file.display(), "name another file with --metrics-file");
    if !folder_of(file).is_dir() {
        let what = format!("the folder of the metrics file {file_name} is not there");
        return Err(CommandError::Settings(what).with_hint(format!("create the folder, or {name_another}")));
    }
    match fs::read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Ok(text) if text.is_empty() || text.starts_with(FIRST_WORDS.as_bytes()) => Ok(()),
        _ => {
            let what = format!("{file_name} is there, and no run wrote it");
            Err(CommandError::Settings(what).with_hint(name_another))
        }
    }
}

/// Replaces the file at once: the collector reads the old metrics or the new ones.
pub(crate) fn write(
    file: &Path,
    summary: &RunSummary,
    left: Option<Remaining>,
    now: Timestamp,
) -> io::Result<()> {
    let text = text(summary, left, now).map_err(io::Error::other)?;
    let mode = Permissions::from_mode(READABLE);
    let mut made = tempfile::Builder::new().permissions(mode).tempfile_in(folder_of(file))?;
    made.write_all(text.as_bytes())?;
    made.persist(file)?;
    Ok(())
}

fn text(summary: &RunSummary, left: Option<Remaining>, now: Timestamp) -> Result<String, std::fmt::Error> {
    let labels = [("pipeline".into(), summary.pipeline.clone().into())];
    let mut registry = Registry::with_labels(labels.into_iter());
    let own = registry.sub_registry_with_prefix("sunlake");
    add_run(own, summary, now);
    add_tables(own, summary);
    if let Some(snapshot) = summary.snapshot {
        own.register("lake_snapshot", "Number of the newest snapshot", number(snapshot as f64));
    }
    if let Some(left) = left {
        let windows = Numbers::default();
        for (window, left) in [("minute", left.minute), ("day", left.day), ("month", left.month)] {
            windows.get_or_create(&[("window", window.to_owned())]).set(f64::from(left));
        }
        own.register("quota_left", "Requests left to the account", windows);
    }
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

fn add_run(own: &mut Registry, summary: &RunSummary, now: Timestamp) {
    let (finished, coverage) = (now.as_millisecond() as f64 / 1e3, &summary.coverage);
    for (name, help, value) in [
        ("run_exit_code", "Exit code", f64::from(summary.exit_code)),
        ("run_finished_timestamp_seconds", "When it ended", finished),
        ("run_duration_seconds", "Wall-clock time", summary.elapsed_secs),
        ("run_peak_memory_bytes", "Peak memory of the process", summary.peak_rss_bytes as f64),
        ("coverage_wanted", "Days requested, counted for each listing", coverage.days as f64),
        ("coverage_complete", "Complete days, counted for each listing", coverage.complete as f64),
        ("run_requests_retried", "Attempts beyond the first", summary.requests.retried as f64),
        ("run_quarantined_records", "Records in quarantine", summary.quarantined as f64),
        ("run_checks_failed", "Checks that failed", summary.checks.len() as f64),
        (
            "run_snapshot_held",
            "1 if a snapshot is pending review",
            f64::from(u8::from(summary.held.is_some())),
        ),
    ] {
        own.register(name, help, number(value));
    }
    let sent = Numbers::default();
    for (stage, requests) in &summary.requests.by_stage {
        sent.get_or_create(&[("stage", stage.clone())]).set(*requests as f64);
    }
    own.register("run_requests", "Requests sent, retries included", sent);
}

fn add_tables(own: &mut Registry, summary: &RunSummary) {
    let (changes, totals) = (Numbers::default(), Numbers::default());
    for (table, rows) in &summary.rows {
        for (change, rows) in [("added", rows.added), ("changed", rows.changed), ("vanished", rows.vanished)]
        {
            let labels = [("table", table.clone()), ("change", change.to_owned())];
            changes.get_or_create(&labels).set(rows as f64);
        }
        totals.get_or_create(&[("table", table.clone())]).set(rows.total as f64);
    }
    own.register("run_rows", "Rows that the run added, changed or found vanished", changes);
    own.register("lake_rows", "Rows in the lake", totals);
}

fn number(value: f64) -> Number {
    let number = Number::default();
    number.set(value);
    number
}
