//! The figures of the report as plain values.

use crate::aggregate::reconcile::Reconciliation;
use jiff::civil::Date;
use std::collections::BTreeMap;

/// The `entity_type` of figures of all types together.
pub(crate) const EVERY_TYPE: &str = "*";

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
    /// What was not read of the day: fictitious names, or the other types where the lake has all types of other days.
    pub(crate) lacks: Option<&'static str>,
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
    /// Change against the same month a year ago, where both are complete and known with what is no longer listed.
    pub(crate) year_over_year: Option<f64>,
    /// Whether every day of the month is complete in the lake.
    pub(crate) is_complete: bool,
    /// Whether nearly all of its filings have arrived too.
    pub(crate) is_settled: bool,
}

/// Filings of one county, all types; ratios have 1 for 100 %.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CountyFigures {
    /// County name; empty for an address outside Florida or unknown.
    pub(crate) county: String,
    /// Filings of the last 365 days.
    pub(crate) filings: i64,
    pub(crate) filings_last_7_days: i64,
    pub(crate) filings_last_30_days: i64,
    /// Filings of 15 to 44 days ago: nearly all have arrived.
    pub(crate) filings_settled_30_days: i64,
    /// Filings of the ordinary days of 15 to 42 days ago, and of those 28 days before them.
    pub(crate) filings_newer: i64,
    pub(crate) filings_older: i64,
    /// Change between the two, and the state's.
    pub(crate) growth: Option<f64>,
    pub(crate) state_growth: Option<f64>,
    /// Growth less the state's, in percentage points.
    pub(crate) points_from_state: Option<f64>,
    /// Whether chance alone hardly explains the difference.
    pub(crate) is_different: bool,
}

/// One week, Monday to Sunday.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WeekFigures {
    pub(crate) monday: Date,
    pub(crate) filings: i64,
    /// Whether nearly all of its filings have arrived.
    pub(crate) is_settled: bool,
    /// Change of its ordinary days against the four weeks before.
    pub(crate) change: Option<f64>,
    /// How large such changes are as a rule.
    pub(crate) usual_change: Option<f64>,
    pub(crate) is_unusual: bool,
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

/// Filings of one industry sector in one month; ratios have 1 for 100 %.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SectorFigures {
    /// Sector key of the API; empty where the records have none.
    pub(crate) sector: String,
    pub(crate) filings: i64,
    /// Part of the month's filings.
    pub(crate) share_of_month: Option<f64>,
    /// Change against the same month a year ago, where both are complete.
    pub(crate) year_over_year: Option<f64>,
}

/// What the runs of the newest day with news saw for the first time, or no longer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Eastern day of the runs; none without news.
    pub(crate) observed_on: Option<Date>,
    pub(crate) by_county: BTreeMap<String, NewsCounts>,
    pub(crate) by_type: BTreeMap<String, NewsCounts>,
}

/// Businesses that a day's runs saw for the first time, no longer, or again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NewsCounts {
    pub(crate) appeared: i64,
    pub(crate) vanished: i64,
    pub(crate) returned: i64,
}

/// More of one county: what its filings are.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CountyDetail {
    pub(crate) types: Vec<CountyType>,
    /// Sector of [`Figures::sectors_month`], its filings, and its part of the county against its part of the state.
    pub(crate) sectors: Vec<(String, i64, Option<f64>)>,
    /// City and filings of [`Figures::cities_month`].
    pub(crate) cities: Vec<(String, i64)>,
    /// ZIP code and filings of the last 365 days.
    pub(crate) zips: Vec<(String, i64)>,
}

/// Filings of one type in a county.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CountyType {
    pub(crate) entity_type: String,
    pub(crate) filings_last_30_days: i64,
    /// Filings of the last 365 days.
    pub(crate) filings: i64,
    /// Filings of each of [`Figures::trend_months`].
    pub(crate) trend: Vec<i64>,
}

/// One of the businesses that were filed last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NewBusiness {
    pub(crate) name: String,
    pub(crate) entity_type: String,
    pub(crate) city: String,
    /// Empty for an address outside Florida or unknown.
    pub(crate) county: String,
    pub(crate) filed_date: Option<Date>,
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
    /// Newest day first, up to `as_of`, or to the day of the snapshot where no aggregate has that.
    pub(crate) coverage: Vec<CoverageDay>,
    /// Oldest day first, up to the same day.
    pub(crate) days: Vec<DayFigures>,
    /// Newest month first, by type within.
    pub(crate) months: Vec<MonthFigures>,
    /// Businesses filed in each year, `YYYY`, listed or no more.
    pub(crate) filed_by_year: BTreeMap<String, i64>,
    /// Whether more than one business in twenty is no longer listed: older periods then have too few.
    pub(crate) older_are_fewer: bool,
    /// Newest week first.
    pub(crate) weeks: Vec<WeekFigures>,
    /// Most filings of the settled 30 days first.
    pub(crate) counties: Vec<CountyFigures>,
    /// Month of `cities`, `YYYY-MM`; empty without cities.
    pub(crate) cities_month: String,
    pub(crate) cities: Vec<CityFigures>,
    /// The ZIP codes of a county with most filings.
    pub(crate) zips: Vec<ZipFigures>,
    /// Month of `sectors`, `YYYY-MM`; empty without sectors.
    pub(crate) sectors_month: String,
    /// Most filings first.
    pub(crate) sectors: Vec<SectorFigures>,
    pub(crate) news: News,
    /// The listed businesses of the newest days, newest first, at most 100.
    pub(crate) newest: Vec<NewBusiness>,
    /// The newest complete months, oldest first, `YYYY-MM`; at most 13.
    pub(crate) trend_months: Vec<String>,
    /// By county name; without those outside Florida.
    pub(crate) county_details: BTreeMap<String, CountyDetail>,
    /// Monday first.
    pub(crate) weekdays: Vec<WeekdayFigures>,
    /// Newest day first.
    pub(crate) settling: Vec<SettlingDay>,
    pub(crate) reconciliation: Reconciliation,
}
