//! Writes the report of a snapshot, `catalog/report.html`, and all of `catalog/` where no run writes it.

use super::summary::{RunSummary, TableRows};
use crate::aggregate::read_figures;
use crate::export::catalog::write_catalog;
use crate::lake::{Commit, Lake, LakeError};
use crate::pipeline::error::Result;
use crate::report::{OpenDay, ReportData, RunFacts, count, render, span};
use jiff::civil::Date;
use std::collections::BTreeMap;
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
        figures: read_figures(&tables, commit.today)?,
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
    let of_table = |rows: &TableRows| [rows.read, rows.added, rows.changed, rows.vanished, rows.total];
    let mut incomplete: BTreeMap<Date, OpenDay> = BTreeMap::new();
    for day in &summary.coverage.incomplete {
        let open = incomplete.entry(day.day).or_default();
        open.landed += day.landed;
        open.expected = day.expected.map(|rows| rows + open.expected.unwrap_or(0)).or(open.expected);
    }
    for (day, part) in summary.coverage.unread() {
        incomplete.entry(day).or_default().unread = Some(part);
    }
    RunFacts {
        figures: figures(summary),
        requests_by_stage: summary.requests.by_stage.clone(),
        rows: summary.rows.iter().map(|(table, rows)| (table.clone(), of_table(rows))).collect(),
        incomplete,
    }
}

/// The figures of a run, by their names.
fn figures(summary: &RunSummary) -> Vec<(&'static str, String)> {
    let mut figures = vec![
        ("outcome", summary.outcome.name().to_owned()),
        ("pipeline", summary.pipeline.clone()),
        ("ran as", summary.today.to_string()),
        ("requests", count(summary.requests.sent)),
        ("retried", count(summary.requests.retried)),
        ("quarantined records", count(summary.quarantined)),
    ];
    if let Some(register) = &summary.register {
        figures.extend([
            ("prefixes read", count(register.starts)),
            ("prefixes left", count(register.left)),
            ("businesses found under them", count(register.rows)),
            ("businesses, as the API counts", count(register.businesses_total)),
        ]);
        figures.extend(register.missing.map(|missing| ("of these not in the lake", missing.to_string())));
    }
    if let Some(enrich) = &summary.enrich {
        figures.push(("looked up", format!("{} of {}", count(enrich.looked_up), count(enrich.chosen))));
    }
    figures.extend([("took", span(summary.elapsed_secs)), ("run", summary.run_id.clone())]);
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::publish::summary::{IncompleteDay, Outcome, RegisterSummary};
    use crate::pipeline::state::registry::RegisterStatus;
    use jiff::civil::date;

    #[test]
    fn a_run_has_its_figures_by_name_and_each_day_that_is_not_complete_once() {
        let today = date(2026, 7, 31);
        let register = RegisterSummary {
            status: RegisterStatus::default(),
            starts: 812,
            empty: 0,
            refused: Vec::new(),
            left: 3,
            rows: 300_123,
            businesses_total: 300_130,
            counted: None,
            missing: Some(7),
            unproven: Vec::new(),
        };
        let day = |entity_type: &str, expected, landed| IncompleteDay {
            day: today,
            entity_type: entity_type.to_owned(),
            expected,
            landed,
        };
        let mut summary = RunSummary { register: Some(register), today, ..RunSummary::default() };
        summary.outcome = Outcome::Partial;
        summary.elapsed_secs = 61.0;
        summary.coverage.incomplete = vec![day("*", Some(9), 7), day("fictitious", None, 0)];
        summary.coverage.listings = vec!["*".to_owned(), "fictitious".to_owned()];
        let facts = facts(&summary);
        let unread = Some("fictitious names".to_owned());
        let open = OpenDay { landed: 7, expected: Some(9), unread };
        assert_eq!(facts.incomplete, BTreeMap::from([(today, open)]));
        for expected in [
            ("outcome", "partial"),
            ("businesses found under them", "300,123"),
            ("of these not in the lake", "7"),
            ("took", "1 min 1 s"),
        ] {
            assert!(
                facts.figures.iter().any(|(name, value)| (*name, value.as_str()) == expected),
                "{expected:?}"
            );
        }
    }
}
