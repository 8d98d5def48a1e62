//! Writes the report of a snapshot, `catalog/report.html`, and all of `catalog/` where no run writes it.

use super::summary::RunSummary;
use crate::aggregate::read_figures;
use crate::export::catalog::write_catalog;
use crate::lake::{Commit, Lake, LakeError};
use crate::pipeline::error::Result;
use crate::report::{IncompleteDay, RegisterFacts, ReportData, RunFacts, TableRows, render};
use std::path::PathBuf;

/// The file of the report in the catalogue.
const REPORT: &str = "report.html";
/// How often a catalogue is written that another machine writes too.
const ATTEMPTS: usize = 5;

/// Writes the catalogue of the newest snapshot, and its report if it is wanted; `run` as in [`write_report`].
///
/// In an object store another machine may write its own at the same time, file by file: then all of it is written again.
pub(crate) fn write_newest(lake: &Lake, has_report: bool, run: Option<&RunSummary>) -> Result<()> {
    for _ in 0..ATTEMPTS {
        let Some(commit) = lake.current()? else { return Ok(()) };
        write_catalog(lake, &commit)?;
        if has_report {
            write_report(lake, &commit, run)?;
        }
        let others = if has_report { &[][..] } else { &[REPORT] };
        if lake.has_catalog_of(commit.snapshot, others)? {
            return Ok(());
        }
    }
    tracing::warn!(
        "another machine writes the catalogue too: until the next run its files may be of two snapshots"
    );
    Ok(())
}

/// Writes the report of a snapshot and returns its path; `run` is the summary of the run that made it, where it is known.
pub(crate) fn write_report(lake: &Lake, commit: &Commit, run: Option<&RunSummary>) -> Result<PathBuf> {
    let snapshot = lake.open_snapshot(commit);
    let paths = |table: &String| Ok((table.clone(), snapshot.paths(table)?));
    let tables = commit.tables.keys().map(paths).collect::<Result<_, LakeError>>()?;
    let data = ReportData {
        lake: lake.to_string(),
        is_folder: lake.shown().is_some(),
        snapshot: Some(commit.snapshot),
        is_invented: commit.is_invented(),
        run: run.map(facts),
        figures: read_figures(&tables)?,
    };
    lake.write_catalog_files(&[(REPORT, render(&data).as_bytes())], None)?;
    Ok(report_path(lake))
}

fn report_path(lake: &Lake) -> PathBuf {
    lake.root().join("catalog").join(REPORT)
}

/// The report of a lake; none where none was written.
pub(crate) fn report_of(lake: &Lake) -> Option<PathBuf> {
    Some(report_path(lake)).filter(|path| path.is_file())
}

fn facts(summary: &RunSummary) -> RunFacts {
    let tables = summary.rows.iter().map(|(table, rows)| TableRows {
        table: table.clone(),
        read: rows.read,
        added: rows.added,
        changed: rows.changed,
        vanished: rows.vanished,
        total: rows.total,
    });
    let incomplete = summary.coverage.incomplete.iter().map(|day| IncompleteDay {
        day: day.day,
        expected: day.expected.unwrap_or(0),
        landed: day.landed,
    });
    RunFacts {
        run_id: summary.run_id.clone(),
        pipeline: summary.pipeline.clone(),
        outcome: summary.outcome.name().to_owned(),
        today: summary.today,
        requests_sent: summary.requests.sent,
        requests_retried: summary.requests.retried,
        requests_by_stage: summary.requests.by_stage.clone().into_iter().collect(),
        rows: tables.collect(),
        quarantined: summary.quarantined,
        incomplete: incomplete.collect(),
        register: summary.register.as_ref().map(|register| RegisterFacts {
            starts: register.starts,
            left: register.left,
            rows: register.rows,
            businesses_total: register.businesses_total,
            missing: register.missing,
        }),
        looked_up: summary.enrich.as_ref().map(|enrich| (enrich.looked_up, enrich.chosen)),
        elapsed_secs: summary.elapsed_secs,
    }
}
