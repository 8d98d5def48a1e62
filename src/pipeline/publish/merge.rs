//! Merges what a run read into the tables of the next snapshot. A replay merges the same way.

use super::calendar::stage_calendar;
use super::news::KnownDays;
use crate::aggregate::{
    TABLE_PREFIX, digest, head_comment, in_order, is_by_month, run_aggregate, run_changed_months,
};
use crate::contract::count::DailyCount;
use crate::extract::reference::Reference;
use crate::lake::{Month, Staging, TableDelta};
use crate::pipeline::context::Run;
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::load::landing::Landing;
use crate::pipeline::load::recount::LakeCounts;
use crate::pipeline::load::reference_tables::merge_lists;
use crate::pipeline::plan::lake_view::staged_rows;
use crate::pipeline::state::provenance::Journal;
use crate::pipeline::state::run_state::RunState;
use crate::table::{CoverageRow, Row as _, Table};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Row changes by table, and the rows counted where those of all months are.
type Merged = (BTreeMap<String, TableDelta>, Option<LakeCounts>);

/// Merges what the run read, and records in the journal how.
pub(super) fn merge_landed(
    run: &Run<'_>,
    landing: &mut Landing,
    reference: Option<&Reference>,
) -> Result<Merged> {
    let spec = &run.pipeline.spec;
    let observed_at = (run.context.now)();
    let follows_listed = spec.registry.is_some() || spec.enrich.is_some();
    let journal = Journal {
        merged_at: Some(observed_at),
        has_lists: reference.is_some(),
        follows_listed,
        readable_from: Some(run.oldest()),
        losses: RunState::of(landing.staging.parent()).losses,
        silent_about: spec.enrich.is_some().then(|| "businesses that were looked up".to_owned()),
        ..std::mem::take(&mut landing.journal)
    };
    let lists = reference.map(|reference| (reference, &run.counts[..]));
    let merged = merge(landing, &journal, observed_at, lists);
    landing.journal = journal;
    merged
}

/// Merges what landed, and the lists and counts where they were read, into the next snapshot, as its journal says.
pub(crate) fn merge(
    landing: &mut Landing,
    journal: &Journal,
    observed_at: Timestamp,
    lists: Option<(&Reference, &[DailyCount])>,
) -> Result<Merged> {
    landing.staging.note_losses(journal.losses.clone());
    let mut deltas = std::mem::take(&mut landing.looked_up);
    let known = KnownDays::of(&landing.staging, landing.today)?;
    let is_news = |day: Date, kind: &str| known.makes_news(day, kind);
    let fully_read = landing.coverage.fully_read_listings();
    let filings = landing.staging.merge_filings(&fully_read, &is_news, observed_at, landing.today)?;
    let listed = count_listed(landing, journal.follows_listed)?;
    let counted = lists.map_or(&[][..], |(_, counts)| counts);
    correct_coverage(landing, &listed, counted, journal.readable_from.unwrap_or(Date::MAX))?;
    deltas.insert(Table::Filings.name().to_owned(), filings);
    deltas.insert(Table::Coverage.name().to_owned(), stage_coverage(landing)?);
    if let Some((reference, counts)) = lists {
        merge_lists(reference, counts, landing, &mut deltas)?;
    }
    stage_calendar(&mut landing.staging, landing.today, &mut deltas)?;
    Ok((deltas, journal.follows_listed.then_some(listed)))
}

/// Writes the coverage of the days read into the next snapshot. A settled day stays settled as long as it is complete.
fn stage_coverage(landing: &mut Landing) -> Result<TableDelta> {
    let rows = landing.coverage.changed_keeping_settled(&staged_rows(&landing.staging)?);
    let rows = CoverageRow::batch(&rows)?;
    Ok(landing.staging.merge(Table::Coverage, &rows)?)
}

/// Counts the rows of all months, or of those that changed.
fn count_listed(landing: &Landing, all: bool) -> Result<LakeCounts> {
    let files = if all {
        landing.staging.files().remove(Table::Filings.name()).unwrap_or_default()
    } else {
        landing.staging.changed_months().into_values().flat_map(|files| files.after).collect()
    };
    LakeCounts::of(&files, landing.today)
}

/// Corrects the coverage of days in changed months: rows may have come to a day, or left it, by another listing, the register or a
/// look-up. Days since `from` can be read again.
fn correct_coverage(
    landing: &mut Landing,
    listed: &LakeCounts,
    counted: &[DailyCount],
    from: Date,
) -> Result<()> {
    let months = landing.staging.changed_months();
    let key = |row: &CoverageRow| (row.filed_date, row.entity_type.clone());
    let read_now: BTreeSet<(Date, String)> = landing.coverage.changed().map(key).collect();
    let mut coverage: Vec<CoverageRow> = staged_rows(&landing.staging)?;
    coverage.retain(|row| !read_now.contains(&key(row)));
    coverage.extend(landing.coverage.changed().cloned());
    coverage.retain(|row| Month::of(row.filed_date).is_some_and(|month| months.contains_key(&month)));
    let counted = counted.iter().map(|count| (count.date, count.count)).collect();
    for row in listed.corrected(coverage, from, &counted, &read_now) {
        tracing::info!(day = %row.filed_date, listing = row.entity_type, row.landed, "a day has other rows");
        landing.coverage.put(row);
    }
    Ok(())
}

pub(crate) fn has_filings(staging: &Staging) -> bool {
    staging.files().get(Table::Filings.name()).is_some_and(|files| !files.is_empty())
}

/// Computes the aggregates of the next snapshot. `by`: the digest of what computed each aggregate of the parent snapshot. One that
/// is computed by month in the same way takes the rows of unchanged months from there. `out` is a folder for temporary files.
pub(crate) fn add_up(
    aggregates: &[(String, String)],
    by: &BTreeMap<String, String>,
    staging: &mut Staging,
    out: &Path,
) -> Result<()> {
    if !has_filings(staging) {
        // A pipeline of lists and counts has nothing to aggregate.
        staging.retain_aggregates(&BTreeSet::new());
        return Ok(());
    }
    let mut tables = staging.sound_files()?;
    let changed = staging.changed_months();
    let changed = changed.into_iter().map(|(month, files)| (month.to_string(), files.after)).collect();
    let unwritten = |source| PipelineError::Write { path: out.to_owned(), source };
    std::fs::create_dir_all(out).map_err(unwritten)?;
    for (name, sql) in in_order(aggregates)? {
        let table = format!("{TABLE_PREFIX}{name}");
        let is_kept = is_by_month(sql) && by.get(name) == Some(&digest(sql));
        let made = match tables.get(&table).map(Vec::as_slice) {
            Some([before]) if is_kept => run_changed_months(name, sql, before, &changed, out)?,
            _ => run_aggregate(name, sql, &tables, out)?,
        };
        staging.aggregate_file(name, &made.path, &head_comment(sql))?;
        tables.insert(table, vec![made.path]);
    }
    staging.retain_aggregates(&aggregates.iter().map(|(name, _)| name.clone()).collect());
    std::fs::remove_dir_all(out).map_err(unwritten)
}
