//! More of each county: types, sectors, cities and ZIP codes.

use super::one_table::of_aggregate;
use super::values::{CountyDetail, CountyType};
use crate::aggregate::error::AggregateError;
use crate::aggregate::on_disk::{Cells, long, text};
use crate::aggregate::tables::SnapshotFiles;
use std::collections::BTreeMap;

/// Rows of each list of a county.
const TOP: usize = 5;

type Details = BTreeMap<String, CountyDetail>;

/// The details of every county that has filings; cities and sectors are of these months.
pub(super) fn read_details(
    tables: &SnapshotFiles,
    cities_month: &str,
    sectors_month: &str,
    trend_months: &[String],
) -> Result<Details, AggregateError> {
    let mut details = Details::new();
    of_aggregate(tables, "county_type_window", |cells| read_types(cells, &mut details))?;
    // After the types, which it fills.
    of_aggregate(tables, "county_type_month", |cells| read_trends(cells, trend_months, &mut details))?;
    of_aggregate(tables, "sector_county_month", |cells| read_sectors(cells, sectors_month, &mut details))?;
    of_aggregate(tables, "city_month", |cells| read_cities(cells, cities_month, &mut details))?;
    of_aggregate(tables, "hot_addresses", |cells| read_zips(cells, &mut details))?;
    // Null: outside Florida, or unknown. It is read as an empty text.
    details.remove("");
    for detail in details.values_mut() {
        detail.types.sort_by(|a, b| (b.filings, &a.entity_type).cmp(&(a.filings, &b.entity_type)));
        detail.sectors.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
        detail.sectors.truncate(TOP);
        for list in [&mut detail.cities, &mut detail.zips] {
            list.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
            list.truncate(TOP);
        }
    }
    Ok(details)
}

fn read_types(cells: &Cells, details: &mut Details) -> Result<(), AggregateError> {
    let (counties, types) = (cells.texts("county")?, cells.texts("entity_type")?);
    let (last, year) = (cells.longs("filings_last_30_days")?, cells.longs("filings")?);
    for row in cells.rows() {
        let detail = details.entry(text(counties, row)).or_default();
        detail.types.push(CountyType {
            entity_type: text(types, row),
            filings_last_30_days: long(last, row),
            filings: long(year, row),
            trend: Vec::new(),
        });
    }
    Ok(())
}

/// Fills the trends of types that have filings in the last 365 days.
fn read_trends(cells: &Cells, trend_months: &[String], details: &mut Details) -> Result<(), AggregateError> {
    let (months, counties) = (cells.texts("filed_month")?, cells.texts("county")?);
    let (types, filings) = (cells.texts("entity_type")?, cells.longs("filings")?);
    for row in cells.rows() {
        let place = months.get(row).and_then(|month| trend_months.iter().position(|known| known == month));
        let detail = counties.get(row).and_then(|county| details.get_mut(county));
        let of_type = detail.and_then(|detail| {
            detail.types.iter_mut().find(|known| Some(known.entity_type.as_str()) == types.get(row))
        });
        if let (Some(place), Some(of_type)) = (place, of_type) {
            of_type.trend.resize(trend_months.len(), 0);
            of_type.trend[place] += long(filings, row);
        }
    }
    Ok(())
}

fn read_sectors(cells: &Cells, month: &str, details: &mut Details) -> Result<(), AggregateError> {
    let (months, counties) = (cells.texts("filed_month")?, cells.texts("county")?);
    let (sectors, filings) = (cells.texts("industry_sector")?, cells.longs("filings")?);
    let quotients = cells.doubles("location_quotient")?;
    for row in cells.rows().filter(|&row| months.get(row) == Some(month)) {
        let detail = details.entry(text(counties, row)).or_default();
        detail.sectors.push((text(sectors, row), long(filings, row), quotients.get(row)));
    }
    Ok(())
}

fn read_cities(cells: &Cells, month: &str, details: &mut Details) -> Result<(), AggregateError> {
    let (months, counties) = (cells.texts("filed_month")?, cells.texts("county")?);
    let (cities, filings) = (cells.texts("city_clean")?, cells.longs("filings")?);
    for row in cells.rows().filter(|&row| months.get(row) == Some(month)) {
        let detail = details.entry(text(counties, row)).or_default();
        detail.cities.push((text(cities, row), long(filings, row)));
    }
    Ok(())
}

fn read_zips(cells: &Cells, details: &mut Details) -> Result<(), AggregateError> {
    let (counties, zips, filings) = (cells.texts("county")?, cells.texts("zip")?, cells.longs("filings")?);
    for row in cells.rows() {
        details.entry(text(counties, row)).or_default().zips.push((text(zips, row), long(filings, row)));
    }
    Ok(())
}
