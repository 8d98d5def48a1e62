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
    /// `city`: only spellings already seen.
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
}

impl Shares {
    /// Counts rows in.
    pub fn learn<'a>(&mut self, rows: impl Iterator<Item = &'a SeenRow>) {
        for row in rows {
            self.rows += 1;
            *self.sector.entry(row.sector.to_string()).or_default() += 1;
            *self.kind.entry(row.entity_type.to_string()).or_default() += 1;
            if let Some(prefix) = zip3(&row.zip) {
                *self.zip3.entry(prefix.to_owned()).or_default() += 1;
            }
        }
    }

    /// The share of rows whose ZIP prefix was never seen, by Good and Turing: that of prefixes seen once.
    fn unseen_zip3(&self) -> f64 {
        let once = self.zip3.values().filter(|rows| **rows == 1).count();
        if self.rows == 0 { 0.005 } else { once as f64 / self.rows as f64 }
    }

    /// Prefixes outside Florida seen so far.
    fn elsewhere(&self) -> usize {
        self.zip3.keys().filter(|zip| !FLORIDA_ZIP3.contains(&zip.as_str())).count()
    }

    /// The largest share of one value, 0 to 1; all of it while nothing is known.
    fn heaviest(&self, counts: &BTreeMap<String, u64>) -> f64 {
        self.heaviest_or(counts, 1.0)
    }

    fn heaviest_or(&self, counts: &BTreeMap<String, u64>, unknown: f64) -> f64 {
        match counts.values().max() {
            Some(most) if self.rows > 0 => *most as f64 / self.rows as f64,
            _ => unknown,
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

/// The partition for a range of days of these rows that wastes fewest requests, as far as the shares tell.
pub fn partition(
    filter: &Filter,
    rows_by_day: &[u64],
    words: &Vocabulary,
    shares: &Shares,
    plan: &PlanLimits,
) -> Dimension {
    let left: Vec<Dimension> = PARTITIONS.into_iter().filter(|way| applies(*way, filter)).collect();
    let scale = Scale { words, shares, plan };
    cheapest(&left, rows_by_day, &scale).map_or(Dimension::Zip, |(_, dimension)| dimension)
}

/// Requests of reading these days for the first time: full pages, a row twice wherever a query ends, and what reading in parts
/// wastes.
pub fn price_unread(
    stretches: &[Stretch],
    expected: &dyn Fn(Date) -> u64,
    shares: &Shares,
    plan: &PlanLimits,
) -> u64 {
    let reach = u64::from(plan.reach_rows());
    let price = |stretch: &Stretch| {
        let days =
            (0..span_days(stretch.from, stretch.to)).map(|back| expected(minus_days(stretch.to, back)));
        let days: Vec<u64> = days.collect();
        let rows: u64 = days.iter().sum();
        let pages = plan.pages_for(rows + rows / reach).max(1);
        match stretch.in_parts {
            true => pages + 1 + waste_of_parts(&days, shares, plan),
            false => {
                let beyond = days.iter().filter(|day| **day > reach);
                pages + beyond.map(|day| 1 + waste_of_parts(&[*day], shares, plan)).sum::<u64>()
            }
        }
    };
    stretches.iter().map(price).sum()
}

/// Sectors assumed where none is known.
const USUAL_SECTORS: usize = 20;

/// Of a long range, rows elsewhere cost no more than this: each place is asked for once for all its days.
const ELSEWHERE_OF_A_RANGE: f64 = 10.0;

fn waste_of_parts(rows_by_day: &[u64], shares: &Shares, plan: &PlanLimits) -> u64 {
    let sectors = shares.sector.keys().map(|sector| (sector.clone(), Vec::new()));
    let mut words =
        Vocabulary { sectors: sectors.collect(), kinds: EntityType::ALL.to_vec(), ..Vocabulary::default() };
    words.sectors.resize(words.sectors.len().max(USUAL_SECTORS), Default::default());
    let scale = Scale { words: &words, shares, plan };
    let wasted = |way: Dimension| {
        let rows = rows_by_day.iter().sum::<u64>() as f64;
        let elsewhere = (shares.unseen_zip3() * rows * ROW_ELSEWHERE).min(ALL_ELSEWHERE);
        let beyond = match way {
            Dimension::Zip => (elsewhere - ELSEWHERE_OF_A_RANGE).max(0.0),
            _ => 0.0,
        };
        waste(way, &PARTITIONS, rows_by_day, &scale) - beyond
    };
    let way = partition(&Filter::default(), rows_by_day, &words, shares, plan);
    wasted(way) as u64
}

/// The dimensions that cut a whole range, coarsest first.
const PARTITIONS: [Dimension; 3] = [Dimension::Sector, Dimension::Kind, Dimension::Zip];

/// Requests to find one row whose ZIP prefix nobody asked for.
const ROW_ELSEWHERE: f64 = 4.0;

/// Requests to find all such rows of a range, at worst: most prefixes that are rare at first are asked for once known.
const ALL_ELSEWHERE: f64 = 400.0;

/// Requests to read a day's cell that none of the partitions brings within reach.
const HOPELESS: f64 = 80.0;

/// What waste is measured by.
struct Scale<'a> {
    words: &'a Vocabulary,
    shares: &'a Shares,
    plan: &'a PlanLimits,
}

fn cheapest(left: &[Dimension], rows_by_day: &[u64], scale: &Scale<'_>) -> Option<(u64, Dimension)> {
    left.iter().map(|way| (waste(*way, left, rows_by_day, scale) as u64, *way)).min()
}

/// Requests beyond full pages: half a page for each part, what finding the rows costs that no part holds, and for each day
/// whose heaviest cell is still beyond reach, the waste of cutting that cell along one of the other dimensions.
fn waste(way: Dimension, left: &[Dimension], rows_by_day: &[u64], scale: &Scale<'_>) -> f64 {
    let shares = scale.shares;
    let rows = rows_by_day.iter().sum::<u64>() as f64;
    let (parts, heaviest, elsewhere) = match way {
        Dimension::Sector => (scale.words.sectors.len(), shares.heaviest(&shares.sector), 0.0),
        Dimension::Kind => (scale.words.kinds.len(), shares.heaviest(&shares.kind), 0.0),
        _ => {
            let elsewhere = (shares.unseen_zip3() * rows * ROW_ELSEWHERE).min(ALL_ELSEWHERE);
            (FLORIDA_ZIP3.len() + shares.elsewhere(), shares.heaviest_or(&shares.zip3, 0.1), elsewhere)
        }
    };
    let others: Vec<Dimension> = left.iter().copied().filter(|other| *other != way).collect();
    let reach = f64::from(scale.plan.reach_rows());
    let cells = rows_by_day.iter().map(|day| heaviest * *day as f64).filter(|cell| *cell > reach);
    let deeper =
        cells.map(|cell| cheapest(&others, &[cell as u64], scale).map_or(HOPELESS, |(w, _)| w as f64));
    parts as f64 / 2.0 + elsewhere + deeper.sum::<f64>()
}

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
    let first = partition(filter, &[total], words, shares, plan);
    let all = [
        Dimension::Sector,
        Dimension::Zip,
        Dimension::Kind,
        Dimension::IndustryType,
        Dimension::Elsewhere,
        Dimension::City,
        Dimension::County,
        Dimension::NameStart,
    ];
    let mut order = vec![first];
    order.extend(all.into_iter().filter(|dimension| *dimension != first));
    order.retain(|dimension| applies(*dimension, filter) && !exhausted.contains(dimension));
    order
}

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
            // Rows in Florida have a ZIP prefix of Florida; those still missing have not.
            let elsewhere = seen.filter(|row| !FLORIDA_ZIP3.contains(&row.zip.get(..3).unwrap_or("")));
            let cities = counted(elsewhere.map(|row| row.city.to_uppercase()).filter(|city| is_city(city)));
            cities.into_iter().map(|city| Filter { city: Some(city), ..filter.clone() }).collect()
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
    let likely = |zip: &String| {
        let seen = shares.zip3.get(zip).copied().unwrap_or(0);
        seen as f64 * rows as f64 / shares.rows.max(1) as f64 > 0.25
    };
    // While little is known of a wide range, the usual places are worth a try.
    let try_all = shares.rows < 20_000 && rows > 5_000;
    let mut zips = by_weight(FLORIDA_ZIP3.iter().map(|zip| (*zip).to_owned()), &shares.zip3);
    zips.extend(elsewhere(shares).into_iter().filter(|zip| try_all || likely(zip)));
    zips
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

fn name_starts<'a>(seen: impl Iterator<Item = &'a SeenRow>) -> Vec<String> {
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
            rows: 100,
            sector: counts(&[("other", 57), ("trades", 43)]),
            kind: counts(&[("llc", 90), ("corporation", 10)]),
            zip3: counts(&[("331", 20)]),
        };
        let untyped = Filter::default();
        let words = Vocabulary {
            sectors: vec![("other".to_owned(), Vec::new()), ("trades".to_owned(), Vec::new())],
            kinds: EntityType::ALL.to_vec(),
            ..Vocabulary::default()
        };
        let choose = |rows: &[u64], shares: &Shares| partition(&untyped, rows, &words, shares, &STARTER);
        assert_eq!(choose(&[1_500, 1_400], &shares), Dimension::Sector);
        assert_eq!(choose(&[2_700, 2_600], &shares), Dimension::Zip);
        assert_eq!(choose(&[2_700, 2_600], &Shares::default()), Dimension::Zip);
    }

    proptest! {
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
