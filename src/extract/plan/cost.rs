//! How a query over reach is split, and what reading costs: pure decisions from counts, shares and the plan's reach.
//!
//! Cost is measured in requests. *Waste* is the requests beyond full pages: half a page for each part, the waste of parts that
//! have days over reach themselves, and the search for rows that no part returns.

use crate::contract::eastern::days_newest_first;
use crate::contract::plan::PlanLimits;
use crate::extract::query::histogram::{Shares, USUAL_SECTORS};
use crate::extract::query::slice::Filter;
use crate::extract::query::split::{Dimension, LEAST_ROWS};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// Consecutive days that are read together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DayRange {
    pub(crate) from: Date,
    pub(crate) to: Date,
    /// Whether it has hot days: days expected over reach. It is read in parts then.
    pub(crate) in_parts: bool,
}

/// What is known of a query whose days are planned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline<'a> {
    pub(crate) filter: &'a Filter,
    pub(crate) shares: &'a Shares,
    /// Whether the lake lists its rows, so that their ZIP prefixes and cities are known.
    pub(crate) is_listed: bool,
    pub(crate) plan: &'a PlanLimits,
}

impl<'a> Outline<'a> {
    pub(crate) fn unlisted(filter: &'a Filter, shares: &'a Shares, plan: &'a PlanLimits) -> Self {
        Self { filter, shares, is_listed: false, plan }
    }
}

/// The dimensions of a split, coarsest first.
const CUTS: [Dimension; 4] = [Dimension::Sector, Dimension::Kind, Dimension::IndustryType, Dimension::Zip];

/// Parts of a day whose totals are requested until the part that lost a row is found.
const PARTS_UNTIL_FOUND: f64 = USUAL_SECTORS as f64 / 2.0;

/// Requests to find one row within reach by its rank.
const ROW_BY_RANK: f64 = 12.0;

/// Requests to find all such rows, at most: each one found may show the ZIP prefix of others.
const ROWS_BY_RANK: f64 = 500.0;

/// Name prefixes requested to find one row; half of all names have one of 50 prefixes.
const PREFIXES: f64 = 90.0;

/// Requests to read a day's query that no split brings within reach.
const HOPELESS: f64 = 300.0;

/// A part expected this near to reach counts as over reach: the parts of a day vary more than the day.
pub(crate) const NEAR_REACH: f64 = 0.97;

/// The dimension by which hot days with these rows are split at least cost, and the waste; none if no dimension is left.
pub(crate) fn least_waste(rows_by_day: &[f64], outline: &Outline<'_>) -> Option<(f64, Dimension)> {
    let left: Vec<Dimension> = CUTS.into_iter().filter(|way| way.applies(outline.filter)).collect();
    let zip = outline.filter.zip.as_ref().map_or(0, String::len);
    Cell { rows_by_day, left: &left, zip, learned: 0.0, seen: 0.0 }.least_waste(outline)
}

/// Requests that reading hot days takes beyond full pages.
pub(crate) fn cost_of_hot_days(
    days: impl IntoIterator<Item = Date>,
    expected: &dyn Fn(Date) -> f64,
    outline: &Outline<'_>,
) -> f64 {
    let rows_by_day: Vec<f64> = days.into_iter().map(expected).collect();
    least_waste(&rows_by_day, outline).map_or(HOPELESS, |(waste, _)| waste)
}

/// Requests until `rows` rows are found, when parts are requested in order and a row is in each with a probability by its weight.
pub(crate) fn until_found(weights: &[f64], rows: f64) -> f64 {
    let all: f64 = weights.iter().sum();
    let mut left = all;
    let mut request = |weight: &f64| {
        let is_needed = 1.0 - (-rows * left / all).exp();
        left -= weight;
        is_needed
    };
    weights.iter().map(&mut request).sum()
}

/// Requests to find rows by their ranks, including the search for their days.
pub(crate) fn by_ranks(rows: f64) -> f64 {
    rows * ROW_BY_RANK
}

/// Requests to find rows by name prefixes, frequent ones first. The more rows, the rarer the prefix of the last one.
pub(crate) fn by_prefixes(rows: f64) -> f64 {
    PREFIXES * rows.ln_1p()
}

/// Requests to read day ranges completely: full pages, one row twice at every change of query, and the waste of reading in parts.
pub(crate) fn price_full_read(
    ranges: &[DayRange],
    expected: &dyn Fn(Date) -> u64,
    outline: &Outline<'_>,
) -> u64 {
    let plan = outline.plan;
    let reach = u64::from(plan.reach_rows());
    let rows_on = |day: Date| expected(day) as f64;
    let price = |range: &DayRange| {
        let days = || days_newest_first(range.from, range.to);
        let rows: u64 = days().map(expected).sum();
        let pages = plan.pages_for(rows + rows / reach).max(1);
        let waste: f64 = if range.in_parts {
            cost_of_hot_days(days(), &rows_on, outline)
        } else {
            days()
                .filter(|day| expected(*day) > reach)
                .map(|day| cost_of_hot_days([day], &rows_on, outline))
                .sum()
        };
        pages + waste.round() as u64
    };
    ranges.iter().map(price).sum()
}

/// Requests to read days, newest first, each from its newest row down to a known one. `days` has the new and the known rows of each.
pub(crate) fn price_newest_ends(days: &[(u64, u64)], plan: &PlanLimits) -> u64 {
    // Pages so far, and the rows that are left on the last of them.
    let (mut pages, mut left) = (0, 0);
    for (mut new, known) in days.iter().copied() {
        while new >= left {
            (pages, new, left) = (pages + 1, new - left, u64::from(plan.rows_per_call));
        }
        // A page ends in the first day that does not fit on it.
        left = (left - new).saturating_sub(known);
    }
    pages
}

/// Requests to find one removed row of a day with `rows` rows: by bisecting the pages within reach, below it part by part.
pub(crate) fn price_lost(rows: u64, plan: &PlanLimits) -> f64 {
    let (page, reach) = (u64::from(plan.rows_per_call), u64::from(plan.reach_rows()));
    let halvings = |rows: u64| (rows.max(page) as f64 / page as f64).log2().ceil();
    let deep = rows.saturating_sub(reach) as f64 / rows.max(1) as f64;
    let in_parts = PARTS_UNTIL_FOUND + halvings(rows / USUAL_SECTORS as u64);
    halvings(rows.min(reach)) + deep * in_parts
}

/// What the cost of a query depends on.
struct Cell<'a> {
    rows_by_day: &'a [f64],
    /// Dimensions that are left for a split.
    left: &'a [Dimension],
    /// Digits of its ZIP prefix.
    zip: usize,
    /// Rows read before it, without those that the shares were learned from.
    learned: f64,
    /// Share of its rows already read by a wider query, 0 to 1: they are first and are skipped.
    seen: f64,
}

impl Cell<'_> {
    fn least_waste(&self, outline: &Outline<'_>) -> Option<(f64, Dimension)> {
        let rest = self.after_its_head(outline);
        let wastes = self.left.iter().map(|way| (rest.waste(*way, outline), *way));
        wastes.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The same query when it is split: of a single day, everything within reach was read.
    fn after_its_head(&self, outline: &Outline<'_>) -> Self {
        let seen = match self.rows_by_day {
            [rows] => self.seen.max(f64::from(outline.plan.reach_rows()) / rows).min(1.0),
            _ => self.seen,
        };
        Self { seen, ..*self }
    }

    fn waste(&self, way: Dimension, outline: &Outline<'_>) -> f64 {
        let rows: f64 = self.rows_by_day.iter().sum();
        let shares = outline.shares;
        let (parts, out_of_state) = match way {
            Dimension::Sector => (shares.sectors(), 0.0),
            Dimension::Kind => (shares.kinds(), 0.0),
            // The distribution of a sector's rows over its types is unknown.
            Dimension::IndustryType => (vec![1.0], 0.0),
            Dimension::Zip if self.zip > 0 => (Shares::digits(), 0.0),
            Dimension::Zip => (shares.zip3s_of_florida(), self.waste_out_of_state(outline)),
        };
        let mut left: Vec<Dimension> = self.left.iter().copied().filter(|other| *other != way).collect();
        if way == Dimension::Sector {
            left.push(Dimension::IndustryType);
        }
        let zip = if way == Dimension::Zip { (self.zip + 1).max(3) } else { self.zip };
        if way == Dimension::Zip && zip < 5 {
            left.push(Dimension::Zip);
        }
        let of_part = |share: &f64| {
            let days: Vec<f64> = self.rows_by_day.iter().map(|rows| rows * share).collect();
            let learned = self.learned + rows * (1.0 - share);
            Cell { rows_by_day: &days, left: &left, zip, learned, seen: self.seen }.waste_of_range(outline)
        };
        // One request returns the total.
        1.0 + out_of_state + parts.iter().map(of_part).sum::<f64>()
    }

    fn waste_out_of_state(&self, outline: &Outline<'_>) -> f64 {
        let rows = self.rows_by_day.iter().sum::<f64>() * (1.0 - self.seen);
        let shares = outline.shares;
        let known = shares.out_of_state().into_iter().map(|zip| shares.of_zip3(&zip) * rows);
        if outline.is_listed {
            return known.map(|rows| waste_of_walk(rows, outline.plan)).sum();
        }
        let (common, rare): (Vec<f64>, Vec<f64>) = known.partition(|rows| *rows > LEAST_ROWS);
        let page = f64::from(outline.plan.rows_per_call);
        let of_common: f64 = common.iter().map(|rows| (1.0 - rows / page).max(0.5)).sum();
        let unseen = shares.unseen_zip3(self.learned);
        let (in_turn, rare) = (until_found(&rare, rare.iter().sum()), rare.iter().sum::<f64>());
        if let [_] = self.rows_by_day {
            // Everything within reach was read.
            return of_common + in_turn.min(by_prefixes(rare)) + by_prefixes(rows * unseen);
        }
        let reach = f64::from(outline.plan.reach_rows());
        let within: f64 = self.rows_by_day.iter().map(|rows| rows.min(reach)).sum();
        let by_rank = by_ranks(within * unseen).min(ROWS_BY_RANK);
        of_common + in_turn.min(by_ranks(rare)) + by_rank + by_prefixes((rows - within) * unseen)
    }

    fn waste_of_range(&self, outline: &Outline<'_>) -> f64 {
        let reach = f64::from(outline.plan.reach_rows()) * NEAR_REACH;
        let is_hot = |rows: &f64| *rows > reach;
        let (Some(first), Some(last)) =
            (self.rows_by_day.iter().position(is_hot), self.rows_by_day.iter().rposition(is_hot))
        else {
            return waste_of_walk(self.rows_by_day.iter().sum::<f64>() * (1.0 - self.seen), outline.plan);
        };
        let hot_days = Cell { rows_by_day: &self.rows_by_day[first..=last], ..*self };
        let hopeless = HOPELESS * hot_days.rows_by_day.len() as f64;
        let quiet =
            self.rows_by_day[..first].iter().sum::<f64>() + self.rows_by_day[last + 1..].iter().sum::<f64>();
        let quiet = if quiet > 0.0 { waste_of_walk(quiet, outline.plan) } else { 0.0 };
        quiet + hot_days.least_waste(outline).map_or(hopeless, |(waste, _)| waste)
    }
}

/// Waste of a walk: half a page for many rows, most of a page if they do not fill one, nothing if none are expected.
fn waste_of_walk(rows: f64, plan: &PlanLimits) -> f64 {
    let page = f64::from(plan.rows_per_call);
    if rows >= page { 0.5 } else { (rows.min(1.0) - rows / page).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::eastern::minus_days;
    use crate::contract::plan::Plan;
    use crate::extract::query::slice::Filter;
    use jiff::civil::date;

    const STARTER: PlanLimits = Plan::Starter.limits();

    fn counts(pairs: &[(&str, u64)]) -> std::collections::BTreeMap<String, u64> {
        pairs.iter().map(|(key, rows)| ((*key).to_owned(), *rows)).collect()
    }

    fn chosen(rows_by_day: &[f64], shares: &Shares) -> Option<Dimension> {
        let filter = Filter::default();
        least_waste(rows_by_day, &Outline::unlisted(&filter, shares, &STARTER)).map(|(_, way)| way)
    }

    #[test]
    fn price_grows_with_rows_and_is_at_least_full_pages() {
        let day = date(2026, 7, 31);
        let (filter, shares) = (Filter::default(), Shares::default());
        let outline = Outline::unlisted(&filter, &shares, &STARTER);
        let range = |in_parts| [DayRange { from: minus_days(day, 1), to: day, in_parts }];
        let price = |rows: u64, in_parts| price_full_read(&range(in_parts), &|_| rows, &outline);
        assert_eq!(price(0, false), 1, "an empty day takes one request");
        assert_eq!(price(450, false), 18);
        for rows in [900, 1_100, 1_500, 2_700, 5_000] {
            assert!(price(rows, false) >= STARTER.pages_for(2 * rows));
            assert!(price(rows, true) > STARTER.pages_for(2 * rows));
            assert!(price(rows + 50, true) >= price(rows, true), "{rows}");
        }
    }

    #[test]
    fn only_rows_below_reach_of_a_single_day_are_read_in_parts() {
        let zip3 = [("331", 5_000), ("334", 4_960), ("100", 20), ("303", 20)];
        let shares = Shares {
            rows: 10_000,
            sector: counts(&[("other", 10_000)]),
            kind: counts(&[("llc", 10_000)]),
            zip3: counts(&zip3),
            ..Shares::default()
        };
        let filter = Filter::default();
        let outline = Outline::unlisted(&filter, &shares, &STARTER);
        let day = date(2026, 7, 31);
        let cost = |rows: f64| cost_of_hot_days([day], &|_| rows, &outline);
        let (little, some, much) = (cost(1_060.0), cost(1_600.0), cost(5_000.0));
        assert!(little < some && some < much, "{little} {some} {much}");
        assert!(little < 5.0, "10 rows below reach, in few prefixes: {little}");
    }

    #[test]
    fn rows_of_large_parts_are_found_sooner_and_more_rows_later() {
        assert_eq!(until_found(&[], 3.0), 0.0);
        let even = until_found(&[1.0; 20], 2.0);
        assert!(until_found(&[1.0; 20], 1.0) < even && even < until_found(&[1.0; 20], 8.0));
        assert!(until_found(&[81.0, 9.0, 5.0, 3.0, 2.0], 2.0) < until_found(&[20.0; 5], 2.0));
        assert!(until_found(&[1.0; 20], 1e9) <= 20.0);
    }

    #[test]
    fn page_ends_in_the_first_day_that_does_not_fit_on_it() {
        let price = |days: &[(u64, u64)]| price_newest_ends(days, &STARTER);
        assert_eq!(price(&[]), 0);
        assert_eq!(price(&[(0, 100)]), 1);
        assert_eq!((price(&[(49, 100)]), price(&[(50, 100)]), price(&[(149, 100)])), (1, 2, 3));
        assert_eq!(price(&[(5, 10), (5, 10), (3, 100)]), 1, "3 small days on one page");
        assert_eq!(price(&[(5, 100), (5, 100)]), 2, "the first page ends in known rows");
        assert_eq!(
            price(&[(40, 5), (20, 100)]),
            2,
            "the first page ends before a known row of the second day"
        );
    }

    #[test]
    fn removed_row_costs_more_requests_the_deeper_it_may_be() {
        let price = |rows| price_lost(rows, &STARTER);
        assert_eq!((price(0), price(50), price(100), price(800)), (0.0, 0.0, 1.0, 4.0));
        assert!(price(1_050) < price(2_000) && price(2_000) < price(10_000));
    }

    #[test]
    fn split_uses_the_dimension_with_least_waste() {
        let mut shares = Shares {
            rows: 10_000,
            sector: counts(&[("other", 5_700), ("trades", 4_300)]),
            kind: counts(&[("llc", 9_000), ("corporation", 1_000)]),
            zip3: counts(&[("331", 2_000), ("334", 1_000), ("328", 1_000), ("100", 60)]),
            ..Shares::default()
        };
        assert_eq!(chosen(&[1_500.0, 1_400.0], &shares), Some(Dimension::Sector));
        assert_eq!(chosen(&[2_700.0, 2_600.0], &shares), Some(Dimension::Zip));
        for prefix in 400..500 {
            shares.zip3.insert(prefix.to_string(), 1);
        }
        let many_unseen = chosen(&[2_700.0, 2_600.0], &shares);
        assert_ne!(many_unseen, Some(Dimension::Zip), "many unknown prefixes make a split by ZIP expensive");
    }

    #[test]
    fn query_split_by_every_dimension_cannot_be_split() {
        let filter = Filter {
            industry: Some("other.general".to_owned()),
            kind: Some(crate::contract::reference::EntityType::Llc),
            zip: Some("33101".to_owned()),
            ..Filter::default()
        };
        let shares = Shares::default();
        assert_eq!(least_waste(&[5_000.0], &Outline::unlisted(&filter, &shares, &STARTER)), None);
    }
}
