//! Which days to read as what: pure decisions from counts, shares and the plan's reach.
//!
//! A listing is read by date walks, so the offset cap costs next to nothing as long as no single day of
//! the walk is beyond reach. Days that are become the core of a stretch, and the core is read as the
//! coarsest partition whose heaviest day is within reach.

use super::seen::SeenRow;
use super::slice::Filter;
use crate::contract::eastern::{minus_days, plus_days, span_days};
use crate::contract::plan::PlanLimits;
use crate::contract::reference::EntityType;
use crate::contract::search::MAX_SPAN_DAYS;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// First three digits of the ZIP codes of Florida.
const FLORIDA_ZIP3: [&str; 26] = [
    "331", "334", "328", "330", "337", "336", "333", "335", "347", "339", "322", "342", "346", "341", "338",
    "327", "349", "329", "344", "320", "325", "323", "324", "326", "332", "321",
];

/// ZIP prefixes elsewhere from which Florida businesses are filed most, by population and incorporation business.
const ELSEWHERE_ZIP3: [&str; 60] = [
    "100", "112", "198", "199", "828", "890", "891", "770", "900", "303", "300", "606", "210", "197", "113",
    "111", "104", "117", "076", "070", "071", "088", "190", "191", "021", "024", "787", "750", "752", "782",
    "850", "852", "902", "917", "926", "920", "921", "941", "940", "980", "981", "802", "800", "372", "282",
    "280", "275", "276", "294", "295", "222", "220", "201", "208", "432", "441", "481", "631", "462", "841",
];

/// A way of cutting a cell into narrower ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dimension {
    /// `industry` by sector: every record has one.
    Sector,
    /// `type`: counts know a seventh value.
    Kind,
    /// `industry` by the types of the cell's sector.
    IndustryType,
    /// `zip` by one digit more, three to begin with: rows elsewhere have any prefix.
    Zip,
    /// `zip` by prefixes outside Florida, rare ones too.
    Elsewhere,
    /// `county`: empty on some rows.
    County,
    /// `city`: of rows whose ZIP code no filter can ask for.
    City,
    /// `q`: names may begin with anything.
    NameStart,
}

/// How often each value of a dimension occurs, learned from rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shares {
    /// Rows counted.
    pub rows: u64,
    /// By sector.
    pub sector: BTreeMap<String, u64>,
    /// By type.
    pub kind: BTreeMap<String, u64>,
    /// By the first three digits of the ZIP code.
    pub zip3: BTreeMap<String, u64>,
    /// Of rows whose ZIP code no filter can ask for: by city.
    #[serde(default)]
    pub city: BTreeMap<String, u64>,
}

impl Shares {
    /// Counts rows in.
    pub fn learn<'a>(&mut self, rows: impl Iterator<Item = &'a SeenRow>) {
        for row in rows {
            self.rows += 1;
            *self.sector.entry(row.sector.to_string()).or_default() += 1;
            *self.kind.entry(row.entity_type.to_string()).or_default() += 1;
            match zip3(&row.zip) {
                Some(prefix) => *self.zip3.entry(prefix.to_owned()).or_default() += 1,
                None => *self.city.entry(row.city.to_uppercase()).or_default() += 1,
            }
        }
    }

    /// The share of rows that no known ZIP prefix holds: those whose prefix was never seen, by Good and Turing as many as were seen
    /// once, and those without one.
    fn unseen_zip3(&self) -> f64 {
        let once = self.zip3.values().filter(|rows| **rows == 1).count() as u64;
        let without = self.rows.saturating_sub(self.zip3.values().sum());
        (once + without) as f64 / self.rows.max(1) as f64
    }

    /// The share of rows under one value, as far as known.
    pub(super) fn share(&self, filter: &Filter, dimension: Dimension) -> f64 {
        let of = |counts: &BTreeMap<String, u64>, key: &str| {
            counts.get(key).copied().unwrap_or(0) as f64 / self.rows.max(1) as f64
        };
        match dimension {
            Dimension::Sector => filter.industry.as_deref().map_or(1.0, |key| of(&self.sector, key)),
            Dimension::Kind => filter.kind.map_or(1.0, |kind| of(&self.kind, kind.key())),
            _ => filter.zip.as_deref().map_or(1.0, |zip| of(&self.zip3, zip)),
        }
    }
}

/// The first three digits of a ZIP code; none of what is no ZIP code.
pub(super) fn zip3(zip: &str) -> Option<&str> {
    zip.get(..3).filter(|prefix| prefix.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Consecutive days read together, oldest to newest day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// Oldest day.
    pub from: Date,
    /// Newest day.
    pub to: Date,
    /// Whether single days of it are expected beyond reach, so that it is read in parts.
    pub in_parts: bool,
}

/// Consecutive runs of `days`, newest first, none longer than a search may span.
pub fn ranges(days: impl IntoIterator<Item = Date>) -> Vec<(Date, Date)> {
    let mut days: Vec<Date> = days.into_iter().collect();
    days.sort_unstable_by(|a, b| b.cmp(a));
    days.dedup();
    let mut ranges: Vec<(Date, Date)> = Vec::new();
    for day in days {
        match ranges.last_mut() {
            Some((from, to)) if minus_days(*from, 1) == day && span_days(day, *to) <= MAX_SPAN_DAYS => {
                *from = day
            }
            _ => ranges.push((day, day)),
        }
    }
    ranges
}

/// Stretches for the days to read, newest first: each holds about `rows_at_once` rows at most, and days beyond reach are
/// set apart from the calm days before and after them.
pub fn plan_stretches(
    days: impl IntoIterator<Item = Date>,
    expected: &dyn Fn(Date) -> u64,
    plan: &PlanLimits,
    rows_at_once: u64,
) -> Vec<Stretch> {
    let bounded = ranges(days).into_iter().flat_map(|range| cut_by_rows(range, expected, rows_at_once));
    bounded.flat_map(|range| set_core_apart(range, expected, u64::from(plan.reach_rows()))).collect()
}

fn cut_by_rows((from, to): (Date, Date), expected: &dyn Fn(Date) -> u64, most: u64) -> Vec<(Date, Date)> {
    let mut cut = Vec::new();
    let (mut upper, mut rows) = (to, 0);
    for back in 0..span_days(from, to) {
        let day = minus_days(to, back);
        rows += expected(day);
        if rows > most && day < upper {
            cut.push((plus_days(day, 1), upper));
            (upper, rows) = (day, expected(day));
        }
    }
    cut.push((from, upper));
    cut
}

fn set_core_apart((from, to): (Date, Date), expected: &dyn Fn(Date) -> u64, reach: u64) -> Vec<Stretch> {
    let heavy =
        || (0..span_days(from, to)).map(|back| minus_days(to, back)).filter(|day| expected(*day) > reach);
    let (Some(newest), Some(oldest)) = (heavy().next(), heavy().last()) else {
        return vec![Stretch { from, to, in_parts: false }];
    };
    let mut stretches = Vec::new();
    if newest < to {
        stretches.push(Stretch { from: plus_days(newest, 1), to, in_parts: false });
    }
    stretches.push(Stretch { from: oldest, to: newest, in_parts: oldest != newest });
    if from < oldest {
        stretches.push(Stretch { from, to: minus_days(oldest, 1), in_parts: false });
    }
    stretches
}

/// How a range of days under one filter is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By date; a day beyond reach is read to its reach, and then in parts.
    Walk,
    /// The whole range under each value of a dimension.
    Parts(Dimension),
}

/// The way that wastes fewest requests, as far as the shares tell, and the requests it costs beyond full pages. `rows_by_day` are
/// the rows expected under the filter on each day.
pub fn cheapest_way(
    filter: &Filter,
    rows_by_day: &[f64],
    words: &Vocabulary,
    shares: &Shares,
    plan: &PlanLimits,
) -> (Way, f64) {
    let left: Vec<Dimension> = PARTITIONS.into_iter().filter(|way| applies(*way, filter)).collect();
    Scale::new(words, shares, plan).way(&left, rows_by_day)
}

/// The dimensions that cut a whole range, coarsest first.
const PARTITIONS: [Dimension; 3] = [Dimension::Sector, Dimension::Kind, Dimension::Zip];

/// Requests to find one row whose ZIP prefix nobody asked for, by rank.
const ROW_ELSEWHERE: f64 = 6.0;

/// Requests to read a day's cell that none of the partitions brings within reach.
const HOPELESS: f64 = 80.0;

/// Requests to find rows of one day by what their names begin with.
const ALL_STARTS: f64 = 250.0;

/// Rows expected under a ZIP prefix that make it worth a request: less are found by rank at less cost.
const WORTH_ASKING: f64 = 0.15;

/// Rows that tell the shares well enough.
const TELLING_ROWS: u64 = 300;

/// What waste is measured by: the share of each value of each dimension.
struct Scale {
    reach: f64,
    page: f64,
    sectors: Vec<f64>,
    kinds: Vec<f64>,
    /// ZIP prefixes of Florida.
    florida: Vec<f64>,
    /// ZIP prefixes known elsewhere.
    elsewhere: Vec<f64>,
    /// Share of rows under prefixes never seen, or under none.
    unknown: f64,
}

impl Scale {
    fn new(words: &Vocabulary, shares: &Shares, plan: &PlanLimits) -> Self {
        let rows = shares.rows.max(1) as f64;
        let all =
            |counts: &BTreeMap<String, u64>| counts.values().map(|n| *n as f64 / rows).collect::<Vec<_>>();
        let florida = |zip: &String| FLORIDA_ZIP3.contains(&zip.as_str());
        let zips = |wanted: bool| -> Vec<f64> {
            let of_side = shares.zip3.iter().filter(|(zip, _)| florida(zip) == wanted);
            of_side.map(|(_, n)| *n as f64 / rows).collect()
        };
        let mut scale = Self {
            reach: f64::from(plan.reach_rows()),
            page: f64::from(plan.rows_per_call.max(1)),
            sectors: all(&shares.sector),
            kinds: all(&shares.kind),
            florida: zips(true),
            elsewhere: zips(false),
            unknown: shares.unseen_zip3(),
        };
        if shares.rows < TELLING_ROWS {
            scale.guess(words.sectors.len().max(2));
        }
        scale
    }

    /// What is assumed before anything is known: one sector and one type hold most rows, a region of Florida a fifth, and some sixty
    /// prefixes elsewhere the rest.
    fn guess(&mut self, sectors: usize) {
        let rest = 0.4 / (sectors - 1) as f64;
        self.sectors = std::iter::once(0.6).chain(std::iter::repeat_n(rest, sectors - 1)).collect();
        self.kinds = vec![0.9, 0.08, 0.02];
        let weights: Vec<f64> = (0..FLORIDA_ZIP3.len()).map(|rank| 0.86_f64.powi(rank as i32)).collect();
        let sum: f64 = weights.iter().sum();
        self.florida = weights.iter().map(|weight| 0.96 * weight / sum).collect();
        self.elsewhere = vec![0.04 / ELSEWHERE_ZIP3.len() as f64; ELSEWHERE_ZIP3.len()];
        self.unknown = 0.002;
    }

    fn way(&self, left: &[Dimension], rows_by_day: &[f64]) -> (Way, f64) {
        let heavy = || rows_by_day.iter().copied().filter(|rows| *rows > 0.97 * self.reach);
        let rows: f64 = rows_by_day.iter().sum();
        let mut best = (Way::Walk, self.end(rows) + heavy().map(|day| self.deep_day(left, day)).sum::<f64>());
        if heavy().next().is_none() {
            return best;
        }
        for dimension in left {
            let waste = self.parts(*dimension, left, rows_by_day);
            if waste < best.1 {
                best = (Way::Parts(*dimension), waste);
            }
        }
        best
    }

    /// Requests wasted by reading a range under each value of a dimension.
    fn parts(&self, dimension: Dimension, left: &[Dimension], rows_by_day: &[f64]) -> f64 {
        let rest: Vec<Dimension> = left.iter().copied().filter(|other| *other != dimension).collect();
        let rows: f64 = rows_by_day.iter().sum();
        let cells = self.values(dimension).iter().map(|share| {
            let part: Vec<f64> = rows_by_day.iter().map(|day| day * share).collect();
            self.way(&rest, &part).1
        });
        cells.sum::<f64>() + self.outside(dimension, rows)
    }

    /// Requests wasted by reading the rows of one day that lie beyond reach: its parts begin where the day was left.
    fn deep_day(&self, left: &[Dimension], rows: f64) -> f64 {
        let deep = (rows - self.reach).max(0.0);
        let waste = left.iter().map(|dimension| {
            let rest: Vec<Dimension> = left.iter().copied().filter(|other| other != dimension).collect();
            let cells = self.values(*dimension).iter().map(|share| match rows * share > self.reach {
                true => self.end(deep * share) + self.deep_day(&rest, rows * share),
                false => self.end(deep * share),
            });
            1.0 + cells.sum::<f64>() + self.outside_of_day(*dimension, deep)
        });
        waste.fold(HOPELESS, f64::min)
    }

    fn values(&self, dimension: Dimension) -> &[f64] {
        match dimension {
            Dimension::Sector => &self.sectors,
            Dimension::Kind => &self.kinds,
            _ => &self.florida,
        }
    }

    /// What finding the rows costs that the values of a dimension do not hold.
    fn outside(&self, dimension: Dimension, rows: f64) -> f64 {
        if dimension != Dimension::Zip {
            return 0.0;
        }
        let known = self.elsewhere.iter().map(|share| share * rows).map(|rows| match rows > WORTH_ASKING {
            true => self.end(rows),
            false => rows * ROW_ELSEWHERE,
        });
        known.sum::<f64>() + self.unknown * rows * ROW_ELSEWHERE
    }

    /// The same for rows of one day beyond reach, which ranks do not tell: if there is one, most known prefixes are asked for, and if
    /// one is under none of them, most starts of a name.
    fn outside_of_day(&self, dimension: Dimension, rows: f64) -> f64 {
        if dimension != Dimension::Zip {
            return 0.0;
        }
        let any = |share: f64| 1.0 - (-share * rows).exp();
        let known: f64 = self.elsewhere.iter().sum();
        any(known) * 0.7 * self.elsewhere.len() as f64 + any(self.unknown) * ALL_STARTS
    }

    /// Requests beyond full pages of a walk over so many rows: half a page at its end, and a whole one for a few rows.
    fn end(&self, rows: f64) -> f64 {
        (1.0 - rows / self.page).max(0.5)
    }
}

/// Requests of reading these days for the first time: full pages, a row twice wherever a query ends, and what the cheapest way
/// wastes.
pub fn price_unread(
    stretches: &[Stretch],
    expected: &dyn Fn(Date) -> u64,
    shares: &Shares,
    plan: &PlanLimits,
) -> u64 {
    let reach = u64::from(plan.reach_rows());
    let words = Vocabulary { sectors: vec![Default::default(); USUAL_SECTORS], ..Vocabulary::default() };
    let price = |stretch: &Stretch| {
        let days = (0..span_days(stretch.from, stretch.to))
            .map(|back| expected(minus_days(stretch.to, back)) as f64);
        let days: Vec<f64> = days.collect();
        let rows = days.iter().sum::<f64>() as u64;
        let waste = cheapest_way(&Filter::default(), &days, &words, shares, plan).1;
        let pages = plan.pages_for(rows + rows / reach).max(1);
        pages + u64::from(stretch.in_parts) + (waste - 1.0).max(0.0).round() as u64
    };
    stretches.iter().map(price).sum()
}

/// Sectors assumed where none is known.
const USUAL_SECTORS: usize = 20;

impl Dimension {
    /// Whether it asks many questions for few rows: worth it to close a gap, not where rows move and no total can fit.
    pub fn is_last_resort(self) -> bool {
        matches!(self, Self::Elsewhere | Self::City | Self::County | Self::NameStart)
    }
}

/// Dimensions by which one day's cell can still be narrowed, in the order to try them; `exhausted` ones gave all they have
/// on a wider cell.
pub fn dimensions(
    filter: &Filter,
    total: u64,
    exhausted: &[Dimension],
    words: &Vocabulary,
    shares: &Shares,
    plan: &PlanLimits,
) -> Vec<Dimension> {
    let first = match cheapest_way(filter, &[total as f64], words, shares, plan).0 {
        Way::Parts(dimension) => dimension,
        Way::Walk => Dimension::Sector,
    };
    let all = [
        Dimension::Sector,
        Dimension::Zip,
        Dimension::Kind,
        Dimension::IndustryType,
        Dimension::City,
        Dimension::NameStart,
        Dimension::Elsewhere,
        Dimension::County,
    ];
    let mut order = vec![first];
    order.extend(all.into_iter().filter(|dimension| *dimension != first));
    let tells = |dimension: &Dimension| *dimension != Dimension::IndustryType || has_types(filter, words);
    order.retain(|dimension| {
        applies(*dimension, filter) && tells(dimension) && !exhausted.contains(dimension)
    });
    order
}

/// Whether the sector of a cell has more than one type.
fn has_types(filter: &Filter, words: &Vocabulary) -> bool {
    let of_sector =
        |(key, types): &(String, Vec<String>)| Some(key) == filter.industry.as_ref() && types.len() > 1;
    words.sectors.iter().any(of_sector)
}

/// Whether a cell under this filter can still be cut along a dimension.
pub(super) fn applies(dimension: Dimension, filter: &Filter) -> bool {
    match dimension {
        Dimension::Sector => filter.industry.is_none(),
        Dimension::IndustryType => filter.industry.as_ref().is_some_and(|key| !key.contains('.')),
        Dimension::Kind => filter.kind.is_none(),
        Dimension::Zip => filter.zip.as_ref().is_none_or(|zip| zip.len() < 5),
        Dimension::Elsewhere => filter.zip.is_none(),
        Dimension::County => filter.county.is_none() && filter.zip.is_none(),
        Dimension::City => filter.city.is_none(),
        Dimension::NameStart => filter.name_start.is_none(),
    }
}

/// Lists that narrow a cell, known from the reference stage.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// Sectors with their types.
    pub sectors: Vec<(String, Vec<String>)>,
    /// County display names.
    pub counties: Vec<String>,
    /// Type keys; the untyped listing may leave fictitious names out.
    pub kinds: Vec<EntityType>,
}

/// The narrower filters of a cell along one dimension, the likeliest first. `rows` are those of the cell: a part that
/// would hold none of them, as far as the shares tell, is not worth a request.
pub fn narrower<'a>(
    filter: &Filter,
    dimension: Dimension,
    rows: u64,
    words: &Vocabulary,
    shares: &Shares,
    seen: impl Iterator<Item = &'a SeenRow>,
) -> Vec<Filter> {
    match dimension {
        Dimension::Sector => {
            let keys = words.sectors.iter().map(|(sector, _)| sector.clone());
            by_weight(keys, &shares.sector)
                .into_iter()
                .map(|key| Filter { industry: Some(key), ..filter.clone() })
                .collect()
        }
        Dimension::IndustryType => {
            let sector = filter.industry.as_deref().unwrap_or("");
            let types =
                words.sectors.iter().filter(|(key, _)| key == sector).flat_map(|(_, types)| types.clone());
            types.map(|key| Filter { industry: Some(key), ..filter.clone() }).collect()
        }
        Dimension::Kind => {
            let kinds = words.kinds.iter().filter(|kind| **kind != EntityType::Fictitious);
            kinds.map(|kind| Filter { kind: Some(*kind), ..filter.clone() }).collect()
        }
        Dimension::Zip => zips(filter, rows, shares)
            .into_iter()
            .map(|zip| Filter { zip: Some(zip), ..filter.clone() })
            .collect(),
        Dimension::Elsewhere => {
            everywhere(shares).into_iter().map(|zip| Filter { zip: Some(zip), ..filter.clone() }).collect()
        }
        Dimension::County => words
            .counties
            .iter()
            .map(|name| Filter { county: Some(name.clone()), ..filter.clone() })
            .collect(),
        Dimension::City => {
            // A row still missing after all ZIP prefixes has none.
            cities_without_zip(shares)
                .into_iter()
                .map(|city| Filter { city: Some(city), ..filter.clone() })
                .collect()
        }
        Dimension::NameStart => name_starts(seen)
            .into_iter()
            .map(|start| Filter { name_start: Some(start), ..filter.clone() })
            .collect(),
    }
}

/// Whether the API takes a text as a city: 1 to 40 characters, none of them a control character.
fn is_city(city: &str) -> bool {
    (1..=40).contains(&city.chars().count()) && !city.chars().any(char::is_control) && city.trim() == city
}

fn zips(filter: &Filter, rows: u64, shares: &Shares) -> Vec<String> {
    if let Some(prefix) = &filter.zip {
        return (0..10).map(|digit| format!("{prefix}{digit}")).collect();
    }
    let mut zips = by_weight(FLORIDA_ZIP3.iter().map(|zip| (*zip).to_owned()), &shares.zip3);
    zips.extend(likely_elsewhere(rows, shares));
    zips
}

/// ZIP prefixes outside Florida that are worth a request for a cell of so many rows, the likeliest first.
pub(super) fn likely_elsewhere(rows: u64, shares: &Shares) -> Vec<String> {
    let likely = |zip: &String| {
        let seen = shares.zip3.get(zip).copied().unwrap_or(0);
        seen as f64 * rows as f64 / shares.rows.max(1) as f64 > WORTH_ASKING
    };
    // While little is known of a wide range, the usual places are worth a try.
    let try_all = shares.rows < TELLING_ROWS && rows > 5_000;
    elsewhere(shares).into_iter().filter(|zip| try_all || likely(zip)).collect()
}

/// Cities of rows whose ZIP code no filter can ask for, most frequent first.
pub(super) fn cities_without_zip(shares: &Shares) -> Vec<String> {
    by_weight(shares.city.keys().filter(|city| is_city(city)).cloned(), &shares.city)
}

/// Whether a part is one of ZIP prefixes that may hold nothing.
pub(super) fn is_elsewhere(filter: &Filter) -> bool {
    filter.zip.as_ref().is_some_and(|zip| !FLORIDA_ZIP3.iter().any(|florida| zip.starts_with(florida)))
}

/// ZIP prefixes outside Florida: those seen, most frequent first, then the usual ones.
fn elsewhere(shares: &Shares) -> Vec<String> {
    let seen = shares.zip3.keys().filter(|zip| !FLORIDA_ZIP3.contains(&zip.as_str()));
    let mut zips = by_weight(seen.cloned(), &shares.zip3);
    let unseen = ELSEWHERE_ZIP3.iter().filter(|zip| !shares.zip3.contains_key(**zip));
    zips.extend(unseen.map(|zip| (*zip).to_owned()));
    zips
}

/// Every ZIP prefix outside Florida, the likely ones first: whoever asks on until the last row is there finds it, where it
/// has a ZIP code at all.
fn everywhere(shares: &Shares) -> Vec<String> {
    let mut zips = elsewhere(shares);
    let mut known: BTreeSet<String> = zips.iter().cloned().collect();
    known.extend(FLORIDA_ZIP3.iter().map(|zip| (*zip).to_owned()));
    zips.extend((0..1_000).map(|number| format!("{number:03}")).filter(|zip| !known.contains(zip)));
    zips
}

fn by_weight(keys: impl Iterator<Item = String>, weights: &BTreeMap<String, u64>) -> Vec<String> {
    let mut keys: Vec<String> = keys.collect();
    // A stable sort keeps the given order among equals.
    keys.sort_by_key(|key| std::cmp::Reverse(weights.get(key).copied().unwrap_or(0)));
    keys
}

fn counted(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    by_weight(counts.keys().cloned(), &counts)
}

/// What names begin with: as seen, most frequent first, then everything else that is likely.
pub(super) fn name_starts<'a>(seen: impl Iterator<Item = &'a SeenRow>) -> Vec<String> {
    let two = |start: &str| {
        start.chars().count() == 2 && !start.chars().any(char::is_control) && !start.ends_with(' ')
    };
    let mut starts: Vec<String> = counted(seen.map(|row| row.name_start.to_string()).filter(|s| two(s)));
    let letters: Vec<char> = ('A'..='Z').chain('0'..='9').collect();
    for first in &letters {
        for second in letters.iter().chain(&['\'', '&', '.', '-']) {
            let start: String = [*first, *second].iter().collect();
            if !starts.contains(&start) {
                starts.push(start);
            }
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;
    use jiff::civil::date;
    use proptest::prelude::*;

    const STARTER: PlanLimits = Plan::Starter.limits();

    #[test]
    fn a_price_grows_with_the_rows_and_never_falls_below_full_pages() {
        let day = date(2026, 7, 31);
        let stretch = |in_parts| [Stretch { from: minus_days(day, 1), to: day, in_parts }];
        let price =
            |rows: u64, in_parts| price_unread(&stretch(in_parts), &|_| rows, &Shares::default(), &STARTER);
        assert_eq!(price(0, false), 1, "an empty day is asked for once");
        assert_eq!(price(450, false), 18);
        for rows in [900, 1_100, 1_500, 2_700, 5_000] {
            assert!(price(rows, false) >= STARTER.pages_for(2 * rows));
            assert!(price(rows, true) > STARTER.pages_for(2 * rows));
            assert!(price(rows + 50, true) >= price(rows, true), "{rows}");
        }
    }

    #[test]
    fn rows_elsewhere_are_asked_for_under_every_prefix_there_is() {
        let asked = everywhere(&Shares::default());
        let all: BTreeSet<&String> = asked.iter().collect();
        assert_eq!((all.len(), asked.len()), (1_000 - FLORIDA_ZIP3.len(), 1_000 - FLORIDA_ZIP3.len()));
        assert!(all.contains(&"074".to_owned()));
    }

    #[test]
    fn days_beyond_reach_are_set_apart_from_calm_ones() {
        let heavy = [date(2026, 7, 10), date(2026, 7, 12)];
        let expected = |day: Date| if heavy.contains(&day) { 2_700 } else { 300 };
        let days = (1..=20).map(|day| date(2026, 7, day));
        let stretches = plan_stretches(days, &expected, &STARTER, u64::MAX);
        let shown: Vec<_> = stretches.iter().map(|s| (s.from.day(), s.to.day(), s.in_parts)).collect();
        assert_eq!(shown, [(13, 20, false), (10, 12, true), (1, 9, false)]);
    }

    #[test]
    fn a_partition_is_the_one_that_wastes_least() {
        let counts = |pairs: &[(&str, u64)]| pairs.iter().map(|(k, n)| ((*k).to_owned(), *n)).collect();
        let shares = Shares {
            rows: 1_000,
            sector: counts(&[("other", 570), ("trades", 430)]),
            kind: counts(&[("llc", 990), ("corporation", 10)]),
            city: BTreeMap::new(),
            zip3: counts(&[("331", 200), ("334", 400), ("328", 400)]),
        };
        let untyped = Filter::default();
        let words = Vocabulary {
            sectors: vec![("other".to_owned(), Vec::new()), ("trades".to_owned(), Vec::new())],
            kinds: EntityType::ALL.to_vec(),
            ..Vocabulary::default()
        };
        let choose = |rows: &[f64], shares: &Shares| cheapest_way(&untyped, rows, &words, shares, &STARTER).0;
        assert_eq!(choose(&[900.0, 800.0], &shares), Way::Walk);
        assert_eq!(choose(&[1_500.0, 1_400.0], &shares), Way::Parts(Dimension::Sector));
        assert_eq!(choose(&[2_700.0, 2_600.0], &shares), Way::Parts(Dimension::Zip));
        assert_eq!(choose(&[2_700.0; 20], &Shares::default()), Way::Parts(Dimension::Zip));
    }

    fn shares_of(sector: &[u64], elsewhere: usize) -> Shares {
        let sector: BTreeMap<String, u64> =
            sector.iter().enumerate().map(|(at, rows)| (format!("s{at}"), *rows)).collect();
        let rows = sector.values().sum();
        let mut zip3: BTreeMap<String, u64> =
            FLORIDA_ZIP3.iter().map(|zip| ((*zip).to_owned(), rows / 27)).collect();
        zip3.extend((0..elsewhere).map(|at| (format!("{at:03}"), rows / 27 / elsewhere as u64)));
        Shares { rows, sector, kind: BTreeMap::from([("llc".to_owned(), rows)]), zip3, city: BTreeMap::new() }
    }

    proptest! {
        #[test]
        fn waste_never_falls_when_a_day_grows_or_reach_shrinks(
            days in proptest::collection::vec(0.0f64..6_000.0, 1..40),
            grown in 0usize..40,
            sectors in proptest::collection::vec(50u64..3_000, 2..12),
            elsewhere in 1usize..100,
        ) {
            let shares = shares_of(&sectors, elsewhere);
            let (words, filter) = (Vocabulary::default(), Filter::default());
            let waste = |days: &[f64], plan| cheapest_way(&filter, days, &words, &shares, plan).1;
            let starter = waste(&days, &STARTER);
            prop_assert!(starter >= 0.5 - 1e-9);
            let wide = PlanLimits { max_offset: 5_000, ..STARTER };
            prop_assert!(waste(&days, &wide) <= starter + 1e-9);
            // A part's last page may be fuller on a longer day: up to half a page for each part there can be.
            let mut more = days.clone();
            if let Some(day) = more.get_mut(grown) {
                *day += 3_000.0;
            }
            prop_assert!(waste(&more, &STARTER) >= starter - 0.5 * (sectors.len() + 26 + elsewhere) as f64);
        }

        #[test]
        fn the_narrower_cells_hold_each_row_once_and_none_is_asked_twice(
            zip in "[0-9]{5}",
            prefix in 0usize..3,
            sector in 0usize..4,
        ) {
            let words = Vocabulary {
                sectors: (0..4).map(|at| (format!("s{at}"), vec![format!("s{at}.a"), format!("s{at}.b")])).collect(),
                counties: Vec::new(),
                kinds: EntityType::ALL.to_vec(),
            };
            let row = |zip: &str| SeenRow {
                id: 1,
                filed_date: date(2026, 7, 1),
                entity_type: "llc".into(),
                sector: format!("s{sector}").into(),
                industry_type: format!("s{sector}.b").into(),
                zip: zip.into(),
                city: "".into(),
                county: "".into(),
                name_start: "AB".into(),
            };
            let shares = shares_of(&[500, 300], 20);
            let cut = |filter: &Filter, dimension| {
                narrower(filter, dimension, 100_000, &words, &shares, std::iter::empty())
            };
            let held = |parts: &[Filter], row: &SeenRow| parts.iter().filter(|part| part.matches(row)).count();
            let distinct = |parts: &[Filter]| {
                parts.iter().enumerate().all(|(at, part)| parts[..at].iter().all(|other| other != part))
            };
            let untyped = Filter::default();
            let row = row(&zip);
            for dimension in [Dimension::Sector, Dimension::Kind, Dimension::Elsewhere, Dimension::Zip] {
                let parts = cut(&untyped, dimension);
                prop_assert!(distinct(&parts), "{dimension:?}");
                prop_assert!(held(&parts, &row) <= 1, "{dimension:?}");
            }
            prop_assert_eq!(held(&cut(&untyped, Dimension::Sector), &row), 1);
            prop_assert_eq!(held(&cut(&untyped, Dimension::Kind), &row), 1);
            let region = Filter { zip: Some(zip[..3 + prefix.min(1)].to_owned()), ..untyped.clone() };
            prop_assert_eq!(held(&cut(&region, Dimension::Zip), &row), 1);
            let of_sector = Filter { industry: Some(format!("s{sector}")), ..untyped.clone() };
            prop_assert_eq!(held(&cut(&of_sector, Dimension::IndustryType), &row), 1);
            // Every prefix is either one of Florida's or asked for elsewhere.
            let anywhere = [cut(&untyped, Dimension::Elsewhere), cut(&untyped, Dimension::Zip)].concat();
            prop_assert!(held(&anywhere, &row) >= 1);
        }

        #[test]
        fn stretches_hold_each_day_once_newest_first_within_a_search(
            offsets in proptest::collection::btree_set(0u32..500, 1..200),
            heavy_every in 2u32..40,
            rows_at_once in 500u64..50_000,
        ) {
            let today = date(2026, 7, 31);
            let days: Vec<Date> = offsets.iter().map(|back| minus_days(today, *back)).collect();
            let expected = |day: Date| if span_days(day, today).is_multiple_of(heavy_every) { 4_000 } else { 400 };
            let stretches = plan_stretches(days.clone(), &expected, &STARTER, rows_at_once);
            let read: Vec<Date> = stretches
                .iter()
                .flat_map(|s| crate::contract::eastern::days_newest_first(s.from, s.to))
                .collect();
            prop_assert_eq!(read, days);
            for stretch in &stretches {
                prop_assert!(span_days(stretch.from, stretch.to) <= MAX_SPAN_DAYS);
                let rows: u64 = crate::contract::eastern::days_newest_first(stretch.from, stretch.to).map(expected).sum();
                prop_assert!(rows <= rows_at_once || stretch.from == stretch.to);
            }
        }
    }
}
