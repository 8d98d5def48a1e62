//! The lake of the sample: Florida from a seed, written as one snapshot, which the embedded API serves.

use super::config::spec::SampleSource;
use crate::contract::business::Summary;
use crate::contract::count::County;
use crate::contract::county::{FLORIDA_COUNTIES, county_key};
use crate::contract::eastern::{day_start, window_start};
use crate::contract::plan::PlanLimits;
use crate::lake::{CommitInfo, Lake, LakeError, Staging};
use crate::normalize::city_clean;
use crate::sample::{RegisterSpec, SampleBusiness, SampleSpec, businesses, industries, old_register};
use crate::table::{
    CountyFactsRow, CountyRow, DetailRow, EntityTypeRow, FilingRow, IndustryLabelRow, IndustryTypeRow,
    OfficerRow, Row, SegmentRow, Table, TableError,
};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeSet;
use std::path::Path;

/// Businesses written at once.
const BATCH_ROWS: usize = 16 * 1024;

type Result<T, E = SampleLakeError> = std::result::Result<T, E>;

/// Why the sample could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SampleLakeError {
    /// The lake.
    #[error(transparent)]
    Lake(#[from] LakeError),
    /// Rows of the sample that are not those of their table.
    #[error("the sample does not fit its table: {0}")]
    Table(#[from] TableError),
    /// A business of the sample that breaks the API document.
    #[error("business {0} of the sample is not a record of the API")]
    Record(String),
}

/// Limits of the account that reads the sample.
pub(crate) fn sample_limits(sample: &SampleSource) -> PlanLimits {
    let row = sample.plan.limits();
    PlanLimits {
        per_minute: sample.per_minute.unwrap_or(row.per_minute),
        per_day: sample.per_day.unwrap_or(row.per_day),
        per_month: sample.per_month.unwrap_or(row.per_month),
        max_offset: sample.max_offset.unwrap_or(row.max_offset),
        ..row
    }
}

/// Writes the sample as of `today` into a new lake at `root`, as its first snapshot.
///
/// Only businesses of the daily window have details and officers: those of a full registry would fill the memory.
pub(crate) fn write_sample_lake(root: &Path, sample: &SampleSource, today: Date) -> Result<()> {
    let spec =
        SampleSpec { seed: sample.seed, today, days: sample.days, scale: sample.scale, shape: sample.shape };
    let before = window_start(today, sample.days);
    let register = RegisterSpec { seed: sample.seed, before, rows: sample.register };
    let old = old_register(&register).map(|business| (business, false));
    let all = old.chain(businesses(&spec).map(|business| (business, true)));
    // The time depends only on the day, so that `updated_at` of two servers of the same day agree.
    write_lake(root, all, today, day_start(today))
}

/// Writes businesses into a new lake at `root`, which a server of this process reads, as its first snapshot; those with `true` also with
/// details and officers.
pub fn write_lake(
    root: &Path,
    businesses: impl Iterator<Item = (SampleBusiness, bool)>,
    today: Date,
    at: Timestamp,
) -> Result<()> {
    let lake = Lake::temporary(root)?;
    let _lock = lake.lock("sample", "a sample")?;
    let mut staging = lake.stage("sample")?;
    let mut batch = Batch::default();
    for (business, is_detailed) in businesses {
        batch.push(business, is_detailed, at)?;
        if batch.filings.len() >= BATCH_ROWS {
            staging.spill_filings(FilingRow::batch(&std::mem::take(&mut batch.filings))?)?;
        }
    }
    staging.spill_filings(FilingRow::batch(&batch.filings)?)?;
    staging.merge_filings(&BTreeSet::new(), &|_, _| false, at, today)?;
    staging.merge(Table::Details, &DetailRow::batch(&batch.details)?)?;
    staging.merge(Table::Officers, &OfficerRow::batch(&batch.officers)?)?;
    stage_lists(&mut staging, today)?;
    staging.commit(CommitInfo {
        committed_at: at,
        today,
        pipeline: "sample".to_owned(),
        requests_sent: 0,
        state: serde_json::json!({ "source": "embedded" }),
        checks: serde_json::Value::Null,
    })?;
    Ok(())
}

#[derive(Default)]
struct Batch {
    filings: Vec<FilingRow>,
    details: Vec<DetailRow>,
    officers: Vec<OfficerRow>,
}

impl Batch {
    fn push(&mut self, business: SampleBusiness, is_detailed: bool, at: Timestamp) -> Result<()> {
        let SampleBusiness { detail, officers, .. } = business;
        let unreadable = || SampleLakeError::Record(detail.summary.id.clone());
        let Summary { city, zip, county, .. } = &detail.summary;
        let city_clean = city_clean(city, zip, !county.is_empty());
        let filing = FilingRow::from_summary(&detail.summary, at).ok_or_else(unreadable)?;
        let filing = FilingRow { city_clean, ..filing };
        if is_detailed {
            self.details.push(DetailRow::from_detail(&detail, at).ok_or_else(unreadable)?);
            for (position, officer) in (0..).zip(&officers) {
                self.officers.push(OfficerRow::new(filing.business_id, position, officer, at));
            }
        }
        self.filings.push(filing);
        Ok(())
    }
}

/// Stages the lists that the server returns; it computes its counts from the rows.
fn stage_lists(staging: &mut Staging, today: Date) -> Result<()> {
    let counties = FLORIDA_COUNTIES.map(|name| {
        let county = County { key: county_key(name), name: name.to_owned(), ..County::default() };
        CountyRow::from(today, &county)
    });
    let lists = industries();
    let types: Vec<_> =
        lists.sectors.iter().flat_map(|sector| IndustryTypeRow::from(today, sector)).collect();
    let segments: Vec<_> =
        lists.segments.iter().flat_map(|segment| SegmentRow::from(today, segment)).collect();
    stage(staging, &counties)?;
    stage(staging, &types)?;
    stage(staging, &segments)?;
    stage(staging, &EntityTypeRow::all(today))?;
    stage(staging, &CountyFactsRow::all())?;
    stage(staging, &IndustryLabelRow::all(&lists.sectors))
}

fn stage<R: Row>(staging: &mut Staging, rows: &[R]) -> Result<()> {
    staging.merge(R::TABLE, &R::batch(rows)?)?;
    Ok(())
}
