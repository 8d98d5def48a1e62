//! Reads the figures of the report from a snapshot's aggregates.

use super::county::read_details;
use super::newest::read_newest;
use super::one_table::{of_aggregate, rows_of};
use super::values::{
    CityFigures, CountyFigures, CoverageDay, DayFigures, EVERY_TYPE, Figures, MonthFigures, News,
    SectorFigures, SettlingDay, WeekFigures, WeekdayFigures, ZipFigures,
};
use crate::aggregate::calendar::{Covered, covered};
use crate::aggregate::error::AggregateError;
use crate::aggregate::on_disk::{Cells, day, flag, long, text};
use crate::aggregate::reconcile::read_reconciliation;
use crate::aggregate::tables::{SnapshotFiles, month_of_file};
use crate::contract::eastern::{minus_days, month_of};
use crate::lake::Month;
use crate::table::{CoverageRow, DayRow, Footer};
use jiff::civil::Date;
use std::collections::BTreeMap;

/// Rows of the lists of cities and ZIP codes.
const TOP_ROWS: usize = 15;
/// Months of the trends of a county.
const TREND_MONTHS: usize = 13;

/// Reads the figures from the files of a snapshot, made as of `today`: `coverage` and the shipped `agg_*` tables, by table name.
pub(crate) fn read_figures(tables: &SnapshotFiles, today: Date) -> Result<Figures, AggregateError> {
    let (as_of, counties) = of_aggregate(tables, "county_window", read_counties)?;
    // A filing may take effect on a day to come.
    let until = as_of.unwrap_or(today);
    let mut months = of_aggregate(tables, "month", |cells| read_months(cells, None))?;
    months.extend(of_aggregate(tables, "type_month", |cells| read_months(cells, Some("entity_type")))?);
    months.retain(|month| month.month <= month_of(until));
    months.sort_by(|a, b| (&b.month, &a.entity_type).cmp(&(&a.month, &b.entity_type)));
    let (cities_month, cities) = of_aggregate(tables, "city_month", |cells| read_cities(cells, until))?;
    let filed_by_year = count_years(tables, until)?;
    let older_are_fewer = are_older_fewer(&months, &filed_by_year);
    let (sectors_month, sectors) = of_aggregate(tables, "sector_month", |cells| read_sectors(cells, until))?;
    let trend_months = trend_months(&months);
    let mut coverage = coverage_days(&rows_of(tables)?);
    coverage.retain(|day| day.day <= until);
    Ok(Figures {
        county_details: read_details(tables, &cities_month, &sectors_month, &trend_months)?,
        newest: read_newest(tables, until)?,
        filed_by_year,
        older_are_fewer,
        trend_months,
        news: of_aggregate(tables, "new_and_vanished", read_news)?,
        sectors_month,
        sectors,
        as_of,
        coverage,
        days: of_aggregate(tables, "county_type_day", |cells| read_days(cells, until))?,
        months,
        weeks: of_aggregate(tables, "week", read_weeks)?,
        counties,
        cities_month,
        cities,
        zips: of_aggregate(tables, "hot_addresses", read_zips)?,
        weekdays: of_aggregate(tables, "weekday_profile", read_weekdays)?,
        settling: settling_days(rows_of(tables)?),
        reconciliation: of_aggregate(tables, "reconcile", read_reconciliation)?,
    })
}

/// The rows of the files of each year, by the folders of their months; without months to come.
fn count_years(tables: &SnapshotFiles, until: Date) -> Result<BTreeMap<String, i64>, AggregateError> {
    let newest = Month::of(until);
    let mut years = BTreeMap::new();
    for path in tables.get("filings").into_iter().flatten() {
        let month = month_of_file(path).filter(|month| newest.is_none_or(|newest| *month <= newest));
        if let Some(month) = month {
            let footer = Footer::open(path).map_err(|error| AggregateError::of_file(path, error))?;
            *years.entry(month.to_string()[..4].to_owned()).or_default() += footer.rows() as i64;
        }
    }
    Ok(years)
}

fn are_older_fewer(months: &[MonthFigures], filed_by_year: &BTreeMap<String, i64>) -> bool {
    let of_all = months.iter().filter(|month| month.entity_type == EVERY_TYPE);
    let (listed, filed) =
        (of_all.map(|month| month.filings).sum::<i64>(), filed_by_year.values().sum::<i64>());
    (filed - listed) * 20 > filed
}

/// How complete each day is, newest first. One that lacks types which the lake has of other days is not.
pub(crate) fn coverage_days(coverage: &[CoverageRow]) -> Vec<CoverageDay> {
    let days = covered(coverage);
    let has_all_types = days.values().any(|covered| covered.is_untyped);
    let day = |(day, covered): (Date, Covered)| {
        let lacks = if covered.lacks_names() {
            Some("fictitious names")
        } else {
            (has_all_types && !covered.is_untyped).then_some("other types")
        };
        CoverageDay {
            day,
            expected: covered.expected,
            landed: covered.landed,
            is_complete: covered.complete && lacks.is_none(),
            is_settled: covered.settled,
            lacks,
        }
    };
    days.into_iter().rev().map(day).collect()
}

fn read_counties(cells: &Cells) -> Result<(Option<Date>, Vec<CountyFigures>), AggregateError> {
    let (as_of, names) = (cells.days("as_of")?, cells.texts("county")?);
    let (year, week, last) =
        (cells.longs("filings")?, cells.longs("filings_last_7_days")?, cells.longs("filings_last_30_days")?);
    let settled = cells.longs("filings_settled_30_days")?;
    let (newer, older) = (cells.longs("filings_newer")?, cells.longs("filings_older")?);
    let (growth, reliable) = (cells.doubles("growth")?, cells.flags("is_reliable")?);
    let (state, points) = (cells.doubles("state_growth")?, cells.doubles("points_from_state")?);
    let county = |row| CountyFigures {
        county: text(names, row),
        filings: long(year, row),
        filings_last_7_days: long(week, row),
        filings_last_30_days: long(last, row),
        filings_settled_30_days: long(settled, row),
        filings_newer: long(newer, row),
        filings_older: long(older, row),
        growth: growth.get(row),
        state_growth: state.get(row),
        points_from_state: points.get(row),
        is_different: flag(reliable, row),
    };
    let counties = cells.rows().map(county).collect();
    Ok((cells.rows().next().and_then(|row| day(as_of, row)), counties))
}

fn read_weeks(cells: &Cells) -> Result<Vec<WeekFigures>, AggregateError> {
    let (mondays, filings, settled) =
        (cells.days("filed_week")?, cells.longs("filings")?, cells.flags("settled")?);
    let (change, usual) = (cells.doubles("change")?, cells.doubles("usual_change")?);
    let unusual = cells.flags("is_unusual")?;
    let week = |row| {
        Some(WeekFigures {
            monday: day(mondays, row)?,
            filings: long(filings, row),
            is_settled: flag(settled, row),
            change: change.get(row),
            usual_change: usual.get(row),
            is_unusual: flag(unusual, row),
        })
    };
    Ok(cells.rows().filter_map(week).collect())
}

fn read_days(cells: &Cells, until: Date) -> Result<Vec<DayFigures>, AggregateError> {
    let (dates, types, filings) =
        (cells.days("filed_date")?, cells.texts("entity_type")?, cells.longs("filings")?);
    let mut by_day: BTreeMap<Date, BTreeMap<String, i64>> = BTreeMap::new();
    for row in cells.rows() {
        let Some(date) = day(dates, row).filter(|date| *date <= until) else { continue };
        *by_day.entry(date).or_default().entry(text(types, row)).or_default() += long(filings, row);
    }
    Ok(by_day.into_iter().map(|(day, by_type)| DayFigures { day, by_type }).collect())
}

/// The months of each type, by the column that has it; of all types where there is no such column.
fn read_months(cells: &Cells, types: Option<&str>) -> Result<Vec<MonthFigures>, AggregateError> {
    let (months, filings) = (cells.texts("filed_month")?, cells.longs("filings")?);
    let types = types.map(|column| cells.texts(column)).transpose()?;
    let yearly = cells.doubles("year_over_year")?;
    let (complete, settled) = (cells.flags("complete")?, cells.flags("settled")?);
    let month = |row| MonthFigures {
        month: text(months, row),
        entity_type: types.map_or_else(|| EVERY_TYPE.to_owned(), |types| text(types, row)),
        filings: long(filings, row),
        year_over_year: yearly.get(row),
        is_complete: flag(complete, row),
        is_settled: flag(settled, row),
    };
    Ok(cells.rows().map(month).collect())
}

/// The newest complete months of all types, oldest first.
fn trend_months(months: &[MonthFigures]) -> Vec<String> {
    let of_all = months.iter().filter(|month| month.entity_type == EVERY_TYPE && month.is_complete);
    let mut months: Vec<String> = of_all.map(|month| month.month.clone()).take(TREND_MONTHS).collect();
    months.reverse();
    months
}

/// The newest month whose filings have arrived: it ended 15 days ago or before. The newest of all when there is no other.
fn newest_over<'a>(months: impl Iterator<Item = &'a str> + Clone, until: Date) -> &'a str {
    let running = month_of(minus_days(until, 14));
    let over = months.clone().filter(|month| *month < running.as_str()).max();
    over.or_else(|| months.max()).unwrap_or_default()
}

/// The sectors of the newest month that has settled.
fn read_sectors(cells: &Cells, until: Date) -> Result<(String, Vec<SectorFigures>), AggregateError> {
    let (months, names, filings) =
        (cells.texts("filed_month")?, cells.texts("industry_sector")?, cells.longs("filings")?);
    let (share, yearly) = (cells.doubles("share_of_month")?, cells.doubles("year_over_year")?);
    let month = newest_over(cells.rows().filter_map(|row| months.get(row)), until);
    let sector = |row| SectorFigures {
        sector: text(names, row),
        filings: long(filings, row),
        share_of_month: share.get(row),
        year_over_year: yearly.get(row),
    };
    let mut sectors: Vec<_> =
        cells.rows().filter(|&row| months.get(row) == Some(month)).map(sector).collect();
    sectors.sort_by(|a, b| (b.filings, &a.sector).cmp(&(a.filings, &b.sector)));
    Ok((month.to_owned(), sectors))
}

/// The news of the newest day that has any.
fn read_news(cells: &Cells) -> Result<News, AggregateError> {
    let (days, counties, types) =
        (cells.days("observed_on")?, cells.texts("county")?, cells.texts("entity_type")?);
    let [appeared, vanished, returned] = ["appeared", "vanished", "returned"].map(|name| cells.longs(name));
    let (appeared, vanished, returned) = (appeared?, vanished?, returned?);
    let observed_on = cells.rows().filter_map(|row| day(days, row)).max();
    let mut news = News { observed_on, ..News::default() };
    for row in cells.rows().filter(|&row| day(days, row) == observed_on) {
        let of_county = news.by_county.entry(text(counties, row)).or_default();
        for counts in [of_county, news.by_type.entry(text(types, row)).or_default()] {
            counts.appeared += long(appeared, row);
            counts.vanished += long(vanished, row);
            counts.returned += long(returned, row);
        }
    }
    Ok(news)
}

/// The top cities of the newest month that has settled; of the newest when there is no other.
fn read_cities(cells: &Cells, until: Date) -> Result<(String, Vec<CityFigures>), AggregateError> {
    let (months, names, counties) =
        (cells.texts("filed_month")?, cells.texts("city_clean")?, cells.texts("county")?);
    let (filings, spellings) = (cells.longs("filings")?, cells.longs("spellings")?);
    let month = newest_over(cells.rows().filter_map(|row| months.get(row)), until);
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

fn settling_days(days: Vec<DayRow>) -> Vec<SettlingDay> {
    let recent = days.into_iter().filter(|day| (0..30).contains(&day.days_ago));
    let settling = |day: DayRow| SettlingDay {
        day: day.filed_date,
        filings: day.filings,
        fullness: day.fullness.map(|fullness| fullness.0),
    };
    recent.map(settling).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use jiff::civil::date;

    #[test]
    fn a_day_of_some_types_is_not_complete_where_other_days_have_all() {
        let row = |day: i8, listing: &str| CoverageRow {
            filed_date: date(2026, 7, day),
            entity_type: listing.to_owned(),
            expected: 3,
            landed: 3,
            complete: true,
            settled: true,
            checked_at: Timestamp::UNIX_EPOCH,
        };
        let lacks = |rows: &[CoverageRow]| -> Vec<Option<&str>> {
            let days = coverage_days(rows);
            assert!(days.iter().all(|day| day.is_complete == day.lacks.is_none()));
            days.into_iter().map(|day| day.lacks).collect()
        };
        let rows = [row(1, "llc"), row(2, "*"), row(3, "*"), row(3, "fictitious")];
        assert_eq!(lacks(&rows), [None, Some("fictitious names"), Some("other types")], "newest first");
        assert_eq!(lacks(&rows[..1]), [None], "a lake of one type");
    }
}
