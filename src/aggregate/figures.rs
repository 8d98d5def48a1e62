//! The figures of the report, read from a snapshot's aggregates as plain values.

use super::error::AggregateError;
use super::on_disk::{Cells, day, flag, long, text};
use super::reconcile::{Reconciliation, read_reconciliation};
use super::run::TABLE_PREFIX;
use super::tables::SnapshotFiles;
use crate::contract::eastern::month_of;
use crate::contract::reference::EntityType;
use crate::table::EVERY_OTHER_TYPE;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// The `entity_type` of figures of all types together.
pub(crate) const EVERY_TYPE: &str = "*";

/// Rows of the lists of cities and ZIP codes.
const TOP_ROWS: usize = 15;

/// How complete the lake is for one day, all listings together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CoverageDay {
    pub(crate) day: Date,
    pub(crate) expected: i64,
    pub(crate) landed: i64,
    /// Whether every listing of the day is complete.
    pub(crate) is_complete: bool,
    /// Whether every listing of the day was read complete 30 days or more after it.
    pub(crate) is_settled: bool,
}

/// Filings of one day by type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DayFigures {
    pub(crate) day: Date,
    /// Filings by type; types without filings are missing.
    pub(crate) by_type: BTreeMap<String, i64>,
}

/// Filings of one month and type; ratios have 1 for 100 %.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MonthFigures {
    /// `YYYY-MM`.
    pub(crate) month: String,
    /// A type, or [`EVERY_TYPE`].
    pub(crate) entity_type: String,
    pub(crate) filings: i64,
    /// Change against the month before, where both are complete.
    pub(crate) month_over_month: Option<f64>,
    /// Change against the same month a year ago, where both are complete.
    pub(crate) year_over_year: Option<f64>,
    /// Whether every day of the month is complete in the lake.
    pub(crate) is_complete: bool,
}

/// Filings of one county, all types; ratios have 1 for 100 %.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CountyFigures {
    /// County name; empty for an address outside Florida or unknown.
    pub(crate) county: String,
    pub(crate) filings_last_30_days: i64,
    /// Filings of 15 to 44 days ago: nearly all have arrived.
    pub(crate) filings_settled_30_days: i64,
    /// Filings of 45 to 74 days ago.
    pub(crate) filings_before_30_days: i64,
    /// Change of the settled 30 days against those before, where all are complete and both have 100 filings.
    pub(crate) growth: Option<f64>,
}

/// Filings of one city in one month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CityFigures {
    /// City in capitals; empty where the records have none.
    pub(crate) city: String,
    pub(crate) county: String,
    pub(crate) filings: i64,
    pub(crate) spellings: i64,
}

/// Filings of one ZIP code in the last 365 days.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ZipFigures {
    pub(crate) zip: String,
    pub(crate) county: String,
    pub(crate) filings: i64,
    /// Share of the county's filings; 1 is 100 %.
    pub(crate) share_of_county: Option<f64>,
    /// Filings against the mean of the county's ZIP codes; 1 is average.
    pub(crate) times_county_mean: Option<f64>,
}

/// An average weekday, all types.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WeekdayFigures {
    /// 1 Monday to 7 Sunday.
    pub(crate) weekday: i64,
    pub(crate) filings_per_day: Option<f64>,
}

/// How full one recent day is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SettlingDay {
    pub(crate) day: Date,
    pub(crate) filings: i64,
    /// Filings against the mean of the same weekday; 1 is as full as usual.
    pub(crate) fullness: Option<f64>,
}

/// All figures of a snapshot. A list is empty when its aggregate is not in the snapshot.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Figures {
    /// The day the windows end on.
    pub(crate) as_of: Option<Date>,
    /// Newest day first.
    pub(crate) coverage: Vec<CoverageDay>,
    /// Oldest day first, up to `as_of`.
    pub(crate) days: Vec<DayFigures>,
    /// Newest month first, by type within.
    pub(crate) months: Vec<MonthFigures>,
    /// Most filings of the last 30 days first.
    pub(crate) counties: Vec<CountyFigures>,
    /// Month of `cities`, `YYYY-MM`; empty without cities.
    pub(crate) cities_month: String,
    pub(crate) cities: Vec<CityFigures>,
    /// The ZIP codes of a county with most filings.
    pub(crate) zips: Vec<ZipFigures>,
    /// Monday first.
    pub(crate) weekdays: Vec<WeekdayFigures>,
    /// Newest day first.
    pub(crate) settling: Vec<SettlingDay>,
    pub(crate) reconciliation: Reconciliation,
}

/// Reads the figures from the files of a snapshot: `coverage` and the shipped `agg_*` tables, by table name.
pub(crate) fn read_figures(tables: &SnapshotFiles) -> Result<Figures, AggregateError> {
    let mut coverage = Vec::new();
    for file in tables.get("coverage").into_iter().flatten() {
        coverage.extend(read_coverage(&Cells::read(file)?)?);
    }
    coverage.sort_by_key(|coverage: &CoverageDay| std::cmp::Reverse(coverage.day));
    let (as_of, counties) = of_aggregate(tables, "county_window", read_counties)?;
    let mut months = of_aggregate(tables, "month", |cells| read_months(cells, None))?;
    months.extend(of_aggregate(tables, "type_month", |cells| read_months(cells, Some("entity_type")))?);
    months.sort_by(|a, b| (&b.month, &a.entity_type).cmp(&(&a.month, &b.entity_type)));
    let (cities_month, cities) = of_aggregate(tables, "city_month", |cells| read_cities(cells, as_of))?;
    Ok(Figures {
        as_of,
        coverage,
        days: of_aggregate(tables, "county_type_day", |cells| read_days(cells, as_of))?,
        months,
        counties,
        cities_month,
        cities,
        zips: of_aggregate(tables, "hot_addresses", read_zips)?,
        weekdays: of_aggregate(tables, "weekday_profile", read_weekdays)?,
        settling: of_table(tables, "days", read_settling)?,
        reconciliation: of_aggregate(tables, "reconcile", read_reconciliation)?,
    })
}

/// What `read` makes of an aggregate; nothing when the snapshot does not have it.
fn of_aggregate<T: Default>(
    tables: &SnapshotFiles,
    name: &str,
    read: impl FnOnce(&Cells) -> Result<T, AggregateError>,
) -> Result<T, AggregateError> {
    of_table(tables, &format!("{TABLE_PREFIX}{name}"), read)
}

/// What `read` makes of a table of one file; nothing when the snapshot does not have it.
fn of_table<T: Default>(
    tables: &SnapshotFiles,
    name: &str,
    read: impl FnOnce(&Cells) -> Result<T, AggregateError>,
) -> Result<T, AggregateError> {
    let file = tables.get(name).and_then(|files| files.first());
    file.map_or_else(|| Ok(T::default()), |file| read(&Cells::read(file)?))
}

fn read_coverage(cells: &Cells) -> Result<Vec<CoverageDay>, AggregateError> {
    let (dates, types) = (cells.days("filed_date")?, cells.texts("entity_type")?);
    let (expected, landed) = (cells.longs("expected")?, cells.longs("landed")?);
    let (complete, settled) = (cells.flags("complete")?, cells.flags("settled")?);
    let mut by_day: BTreeMap<Date, CoverageDay> = BTreeMap::new();
    let mut listings: BTreeMap<Date, BTreeSet<&str>> = BTreeMap::new();
    for row in cells.rows() {
        let Some(date) = day(dates, row) else { continue };
        let nothing = CoverageDay { day: date, expected: 0, landed: 0, is_complete: true, is_settled: true };
        let entry = by_day.entry(date).or_insert(nothing);
        entry.expected += long(expected, row);
        entry.landed += long(landed, row);
        entry.is_complete &= flag(complete, row);
        entry.is_settled &= flag(settled, row);
        listings.entry(date).or_default().extend(types.get(row));
    }
    let is_read = |listings: &BTreeSet<&str>| {
        !listings.contains(EVERY_OTHER_TYPE) || listings.contains(EntityType::Fictitious.key())
    };
    for (date, entry) in &mut by_day {
        // Without fictitious names the day is not complete yet.
        entry.is_complete &= listings.get(date).is_some_and(is_read);
    }
    Ok(by_day.into_values().collect())
}

fn read_counties(cells: &Cells) -> Result<(Option<Date>, Vec<CountyFigures>), AggregateError> {
    let (as_of, names, last) =
        (cells.days("as_of")?, cells.texts("county")?, cells.longs("filings_last_30_days")?);
    let (now, before) = (cells.longs("filings_settled_30_days")?, cells.longs("filings_before_30_days")?);
    let (growth, reliable) = (cells.doubles("growth")?, cells.flags("is_reliable")?);
    let county = |row| CountyFigures {
        county: text(names, row),
        filings_last_30_days: long(last, row),
        filings_settled_30_days: long(now, row),
        filings_before_30_days: long(before, row),
        growth: growth.get(row).filter(|_| flag(reliable, row)),
    };
    let counties = cells.rows().map(county).collect();
    Ok((cells.rows().next().and_then(|row| day(as_of, row)), counties))
}

fn read_days(cells: &Cells, as_of: Option<Date>) -> Result<Vec<DayFigures>, AggregateError> {
    let (dates, types, filings) =
        (cells.days("filed_date")?, cells.texts("entity_type")?, cells.longs("filings")?);
    let mut by_day: BTreeMap<Date, BTreeMap<String, i64>> = BTreeMap::new();
    for row in cells.rows() {
        let Some(date) = day(dates, row).filter(|date| as_of.is_none_or(|as_of| *date <= as_of)) else {
            continue;
        };
        *by_day.entry(date).or_default().entry(text(types, row)).or_default() += long(filings, row);
    }
    Ok(by_day.into_iter().map(|(day, by_type)| DayFigures { day, by_type }).collect())
}

/// The months of each type, by the column that has it; of all types where there is no such column.
fn read_months(cells: &Cells, types: Option<&str>) -> Result<Vec<MonthFigures>, AggregateError> {
    let (months, filings) = (cells.texts("filed_month")?, cells.longs("filings")?);
    let types = types.map(|column| cells.texts(column)).transpose()?;
    let (monthly, yearly) = (cells.doubles("month_over_month")?, cells.doubles("year_over_year")?);
    let complete = cells.flags("complete")?;
    let month = |row| MonthFigures {
        month: text(months, row),
        entity_type: types.map_or_else(|| EVERY_TYPE.to_owned(), |types| text(types, row)),
        filings: long(filings, row),
        month_over_month: monthly.get(row),
        year_over_year: yearly.get(row),
        is_complete: flag(complete, row),
    };
    Ok(cells.rows().map(month).collect())
}

/// The top cities of the newest month that is over; of the current month when there is no other.
fn read_cities(cells: &Cells, as_of: Option<Date>) -> Result<(String, Vec<CityFigures>), AggregateError> {
    let (months, names, counties) =
        (cells.texts("filed_month")?, cells.texts("city_clean")?, cells.texts("county")?);
    let (filings, spellings) = (cells.longs("filings")?, cells.longs("spellings")?);
    let running = as_of.map(month_of).unwrap_or_default();
    let months_there = || cells.rows().filter_map(|row| months.get(row));
    let over = months_there().filter(|month| running.is_empty() || *month < running.as_str()).max();
    let month = over.or_else(|| months_there().max()).unwrap_or_default();
    let city = |row| CityFigures {
        city: text(names, row),
        county: text(counties, row),
        filings: long(filings, row),
        spellings: long(spellings, row),
    };
    let mut cities: Vec<_> = cells.rows().filter(|&row| months.get(row) == Some(month)).map(city).collect();
    cities.sort_by(|a, b| (b.filings, &a.city, &a.county).cmp(&(a.filings, &b.city, &b.county)));
    cities.truncate(TOP_ROWS);
    Ok((month.to_owned(), cities))
}

fn read_zips(cells: &Cells) -> Result<Vec<ZipFigures>, AggregateError> {
    let (zips, counties, filings) = (cells.texts("zip")?, cells.texts("county")?, cells.longs("filings")?);
    let (share, times) = (cells.doubles("share_of_county")?, cells.doubles("times_county_mean")?);
    let zip = |row| ZipFigures {
        zip: text(zips, row),
        county: text(counties, row),
        filings: long(filings, row),
        share_of_county: share.get(row),
        times_county_mean: times.get(row),
    };
    let in_florida = |row: &usize| counties.get(*row).is_some_and(|county| !county.is_empty());
    Ok(cells.rows().filter(in_florida).take(TOP_ROWS).map(zip).collect())
}

fn read_weekdays(cells: &Cells) -> Result<Vec<WeekdayFigures>, AggregateError> {
    let (weekdays, per_day) = (cells.longs("weekday")?, cells.doubles("filings_per_day")?);
    let weekday = |row| WeekdayFigures { weekday: long(weekdays, row), filings_per_day: per_day.get(row) };
    Ok(cells.rows().map(weekday).collect())
}

fn read_settling(cells: &Cells) -> Result<Vec<SettlingDay>, AggregateError> {
    let (dates, filings, fullness) =
        (cells.days("filed_date")?, cells.longs("filings")?, cells.doubles("fullness")?);
    let recent = cells.longs("days_ago")?;
    let settling = |row| {
        Some(SettlingDay { day: day(dates, row)?, filings: long(filings, row), fullness: fullness.get(row) })
    };
    Ok(cells.rows().filter(|row| (0..30).contains(&long(recent, *row))).filter_map(settling).collect())
}
