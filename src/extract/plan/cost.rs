//! How a cell beyond reach is cut, and what reading costs: pure decisions from counts, shares and the plan's reach.
//!
//! A listing is read by date walks, so the offset cap costs next to nothing as long as no single day of
//! the walk is beyond reach. Days that are become the core of a stretch, and the core is cut along the dimension
//! that wastes least: half a page for each part, whatever cutting costs the parts that have days beyond
//! reach themselves, and the search for rows that no part holds.

use super::day_range::{Outline, Stretch};
use crate::contract::eastern::{minus_days, span_days};
use crate::contract::plan::PlanLimits;
use crate::extract::query::histogram::{Shares, USUAL_SECTORS};
use crate::extract::query::split::{Dimension, LEAST_ROWS};
use jiff::civil::Date;

/// The dimensions that cut a cell, coarsest first.
const CUTS: [Dimension; 4] = [Dimension::Sector, Dimension::Kind, Dimension::IndustryType, Dimension::Zip];

/// Parts of a day that are asked for their total before one is met that lost a row.
const PARTS_UNTIL_FOUND: f64 = USUAL_SECTORS as f64 / 2.0;

/// Requests to find one row whose ZIP prefix nobody asked for, where pages reach it.
const ROW_BY_RANK: f64 = 12.0;

/// Requests to find all of them, at most: those found teach under which prefixes the others are.
const ROWS_BY_RANK: f64 = 500.0;

/// Starts of names that are asked for to find one row, by twice the chance; half of all names have one of 50 starts.
const STARTS: f64 = 90.0;

/// Requests to read a day's cell that none of the cuts brings within reach.
const HOPELESS: f64 = 300.0;

/// A part whose days are expected this near to reach counts as beyond it: the parts of a day vary more than the day.
pub(crate) const NEAR_REACH: f64 = 0.97;

/// The dimension along which a core of these rows by day is cut at least cost; none when it cannot be cut any more.
pub(crate) fn cut(rows_by_day: &[f64], outline: &Outline<'_>) -> Option<Dimension> {
    cheapest(rows_by_day, outline).map(|(_, way)| way)
}

fn cheapest(rows_by_day: &[f64], outline: &Outline<'_>) -> Option<(f64, Dimension)> {
    let left: Vec<Dimension> = CUTS.into_iter().filter(|way| way.applies(outline.filter)).collect();
    let zip = outline.filter.zip.as_ref().map_or(0, String::len);
    Cell { rows_by_day, left: &left, zip, learned: 0.0, seen: 0.0 }.cheapest(outline)
}

/// Requests that reading a core wastes beyond full pages.
pub(crate) fn cost_of_core(
    (from, to): (Date, Date),
    expected: &dyn Fn(Date) -> f64,
    outline: &Outline<'_>,
) -> f64 {
    let days: Vec<f64> = (0..span_days(from, to)).map(|back| expected(minus_days(to, back))).collect();
    cheapest(&days, outline).map_or(HOPELESS, |(waste, _)| waste)
}

/// Requests until so many rows are found under parts that are asked one after another, each row under any of them by its weight.
pub fn until_found(weights: &[f64], rows: f64) -> f64 {
    let all: f64 = weights.iter().sum();
    let mut left = all;
    let mut asked = |weight: &f64| {
        let is_asked = 1.0 - (-rows * left / all).exp();
        left -= weight;
        is_asked
    };
    weights.iter().map(&mut asked).sum()
}

/// Requests to find so many rows by their ranks, their days included.
pub(crate) fn by_ranks(rows: f64) -> f64 {
    rows * ROW_BY_RANK
}

/// Requests to find so many rows by the starts of their names, the frequent ones first: the more rows, the rarer is the last one's.
pub(crate) fn by_starts(rows: f64) -> f64 {
    STARTS * rows.ln_1p()
}

/// Requests of reading stretches whole: full pages, a row twice wherever a query ends, and what reading in parts wastes.
pub fn price_whole(stretches: &[Stretch], expected: &dyn Fn(Date) -> u64, outline: &Outline<'_>) -> u64 {
    let plan = outline.plan;
    let reach = u64::from(plan.reach_rows());
    let rows_on = |day: Date| expected(day) as f64;
    let price = |stretch: &Stretch| {
        let days = (0..span_days(stretch.from, stretch.to)).map(|back| minus_days(stretch.to, back));
        let rows: u64 = days.clone().map(expected).sum();
        let pages = plan.pages_for(rows + rows / reach).max(1);
        let waste: f64 = match stretch.in_parts {
            true => cost_of_core((stretch.from, stretch.to), &rows_on, outline),
            false => days
                .filter(|day| expected(*day) > reach)
                .map(|day| cost_of_core((day, day), &rows_on, outline))
                .sum(),
        };
        pages + waste.round() as u64
    };
    stretches.iter().map(price).sum()
}

/// Requests of reading days, newest first, from the newest end of each down to a row that is known: of each day, the rows that came,
/// and those that are known.
pub fn price_newest_ends(days: &[(u64, u64)], plan: &PlanLimits) -> u64 {
    let (mut pages, mut at) = (0, 0);
    while at < days.len() {
        let mut left = u64::from(plan.rows_per_call);
        let mut new = days[at].0;
        // A page ends in the first day that it does not hold whole.
        loop {
            while new >= left {
                (pages, new, left) = (pages + 1, new - left, u64::from(plan.rows_per_call));
            }
            left -= new;
            let known = days[at].1;
            at += 1;
            if known >= left || at == days.len() {
                break;
            }
            (left, new) = (left - known, days[at].0);
        }
        pages += 1;
    }
    pages
}

/// Requests of finding a row that a day of so many lost: by halving the pages within reach, and deeper in one part of the day after
/// another.
pub fn price_lost(rows: u64, plan: &PlanLimits) -> f64 {
    let (page, reach) = (u64::from(plan.rows_per_call), u64::from(plan.reach_rows()));
    let halvings = |rows: u64| (rows.max(page) as f64 / page as f64).log2().ceil();
    let deep = rows.saturating_sub(reach) as f64 / rows.max(1) as f64;
    let in_parts = PARTS_UNTIL_FOUND + halvings(rows / USUAL_SECTORS as u64);
    halvings(rows.min(reach)) + deep * in_parts
}

/// A cell as far as its cost depends on it.
struct Cell<'a> {
    rows_by_day: &'a [f64],
    /// Dimensions it was not cut along yet.
    left: &'a [Dimension],
    /// Digits of its ZIP prefix.
    zip: usize,
    /// Rows that will have been seen before it is read, beside those the shares were learned from.
    learned: f64,
    /// Share of its rows that were seen in a wider cell, 0 to 1: they stand first and are skipped.
    seen: f64,
}

impl Cell<'_> {
    /// The cut that wastes fewest requests.
    fn cheapest(&self, outline: &Outline<'_>) -> Option<(f64, Dimension)> {
        let core = self.after_its_head(outline);
        let wastes = self.left.iter().map(|way| (core.waste(*way, outline), *way));
        wastes.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The same cell when it comes to be cut: of a single day, all that pages reach was read.
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
        let (parts, elsewhere) = match way {
            Dimension::Sector => (shares.sectors(), 0.0),
            Dimension::Kind => (shares.kinds(), 0.0),
            // Nothing is known of how a sector's rows are spread over its types.
            Dimension::IndustryType => (vec![1.0], 0.0),
            Dimension::Zip if self.zip > 0 => (Shares::digits(), 0.0),
            Dimension::Zip => (shares.zip3s_of_florida(), self.waste_elsewhere(outline)),
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
        // One request tells the total.
        1.0 + elsewhere + parts.iter().map(of_part).sum::<f64>()
    }

    /// Requests wasted on the rows from outside Florida.
    fn waste_elsewhere(&self, outline: &Outline<'_>) -> f64 {
        let rows = self.rows_by_day.iter().sum::<f64>() * (1.0 - self.seen);
        let known = outline.shares.zip3s_elsewhere().into_iter().map(|share| share * rows);
        if outline.is_listed {
            return known.map(|rows| waste_of_walk(rows, outline.plan)).sum();
        }
        let (asked, rare): (Vec<f64>, Vec<f64>) = known.partition(|rows| *rows > LEAST_ROWS);
        let page = f64::from(outline.plan.rows_per_call);
        let asked: f64 = asked.iter().map(|rows| (1.0 - rows / page).max(0.5)).sum();
        let unseen = outline.shares.unseen_zip3(self.learned);
        let (in_turn, rare) = (until_found(&rare, rare.iter().sum()), rare.iter().sum::<f64>());
        if let [_] = self.rows_by_day {
            // All that pages reach was seen.
            return asked + in_turn.min(by_starts(rare)) + by_starts(rows * unseen);
        }
        let reach = f64::from(outline.plan.reach_rows());
        let within: f64 = self.rows_by_day.iter().map(|rows| rows.min(reach)).sum();
        let by_rank = by_ranks(within * unseen).min(ROWS_BY_RANK);
        asked + in_turn.min(by_ranks(rare)) + by_rank + by_starts((rows - within) * unseen)
    }

    /// Requests wasted on a range of days that may hold days beyond reach: those are its core.
    fn waste_of_range(&self, outline: &Outline<'_>) -> f64 {
        let reach = f64::from(outline.plan.reach_rows()) * NEAR_REACH;
        let is_heavy = |rows: &f64| *rows > reach;
        let (Some(first), Some(last)) =
            (self.rows_by_day.iter().position(is_heavy), self.rows_by_day.iter().rposition(is_heavy))
        else {
            return waste_of_walk(self.rows_by_day.iter().sum::<f64>() * (1.0 - self.seen), outline.plan);
        };
        let core = Cell { rows_by_day: &self.rows_by_day[first..=last], ..*self };
        let hopeless = HOPELESS * core.rows_by_day.len() as f64;
        let calm =
            self.rows_by_day[..first].iter().sum::<f64>() + self.rows_by_day[last + 1..].iter().sum::<f64>();
        let calm = if calm > 0.0 { waste_of_walk(calm, outline.plan) } else { 0.0 };
        calm + core.cheapest(outline).map_or(hopeless, |(waste, _)| waste)
    }
}

/// Half a page of a walk of many rows; most of a page where rows do not fill one; nothing where none are likely.
fn waste_of_walk(rows: f64, plan: &PlanLimits) -> f64 {
    let page = f64::from(plan.rows_per_call);
    if rows >= page { 0.5 } else { (rows.min(1.0) - rows / page).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;
    use crate::extract::query::slice::Filter;
    use jiff::civil::date;

    const STARTER: PlanLimits = Plan::Starter.limits();

    fn counts(pairs: &[(&str, u64)]) -> std::collections::BTreeMap<String, u64> {
        pairs.iter().map(|(key, rows)| ((*key).to_owned(), *rows)).collect()
    }

    fn chosen(rows_by_day: &[f64], shares: &Shares) -> Option<Dimension> {
        let filter = Filter::default();
        cut(rows_by_day, &Outline { filter: &filter, shares, is_listed: false, plan: &STARTER })
    }

    #[test]
    fn a_price_grows_with_the_rows_and_never_falls_below_full_pages() {
        let day = date(2026, 7, 31);
        let (filter, shares) = (Filter::default(), Shares::default());
        let outline = Outline { filter: &filter, shares: &shares, is_listed: false, plan: &STARTER };
        let stretch = |in_parts| [Stretch { from: minus_days(day, 1), to: day, in_parts }];
        let price = |rows: u64, in_parts| price_whole(&stretch(in_parts), &|_| rows, &outline);
        assert_eq!(price(0, false), 1, "an empty day is asked for once");
        assert_eq!(price(450, false), 18);
        for rows in [900, 1_100, 1_500, 2_700, 5_000] {
            assert!(price(rows, false) >= STARTER.pages_for(2 * rows));
            assert!(price(rows, true) > STARTER.pages_for(2 * rows));
            assert!(price(rows + 50, true) >= price(rows, true), "{rows}");
        }
    }

    #[test]
    fn of_a_single_day_only_what_stands_below_reach_is_read_in_parts() {
        let zip3 = [("331", 5_000), ("334", 4_960), ("100", 20), ("303", 20)];
        let shares = Shares {
            rows: 10_000,
            sector: counts(&[("other", 10_000)]),
            kind: counts(&[("llc", 10_000)]),
            zip3: counts(&zip3),
            ..Shares::default()
        };
        let filter = Filter::default();
        let outline = Outline { filter: &filter, shares: &shares, is_listed: false, plan: &STARTER };
        let day = date(2026, 7, 31);
        let cost = |rows: f64| cost_of_core((day, day), &|_| rows, &outline);
        let (little, some, much) = (cost(1_060.0), cost(1_600.0), cost(5_000.0));
        assert!(little < some && some < much, "{little} {some} {much}");
        assert!(little < 5.0, "ten rows below, under few prefixes: {little}");
    }

    #[test]
    fn rows_under_likely_parts_are_found_sooner_and_more_rows_later() {
        assert_eq!(until_found(&[], 3.0), 0.0);
        let even = until_found(&[1.0; 20], 2.0);
        assert!(until_found(&[1.0; 20], 1.0) < even && even < until_found(&[1.0; 20], 8.0));
        assert!(until_found(&[81.0, 9.0, 5.0, 3.0, 2.0], 2.0) < until_found(&[20.0; 5], 2.0));
        assert!(until_found(&[1.0; 20], 1e9) <= 20.0);
    }

    #[test]
    fn a_page_of_a_morning_ends_in_the_first_day_that_it_does_not_hold_whole() {
        let price = |days: &[(u64, u64)]| price_newest_ends(days, &STARTER);
        assert_eq!(price(&[]), 0);
        assert_eq!(price(&[(0, 100)]), 1);
        assert_eq!((price(&[(49, 100)]), price(&[(50, 100)]), price(&[(149, 100)])), (1, 2, 3));
        assert_eq!(price(&[(5, 10), (5, 10), (3, 100)]), 1, "three small days on one page");
        assert_eq!(price(&[(5, 100), (5, 100)]), 2, "the first page ends among rows that are known");
        assert_eq!(
            price(&[(40, 5), (20, 100)]),
            2,
            "the first page ends before a known row of the second day"
        );
    }

    #[test]
    fn what_a_day_lost_is_dearer_to_find_the_deeper_it_may_stand() {
        let price = |rows| price_lost(rows, &STARTER);
        assert_eq!((price(0), price(50), price(100), price(800)), (0.0, 0.0, 1.0, 4.0));
        assert!(price(1_050) < price(2_000) && price(2_000) < price(10_000));
    }

    #[test]
    fn a_core_is_cut_along_the_dimension_that_wastes_least() {
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
        assert_ne!(
            many_unseen,
            Some(Dimension::Zip),
            "what is read by other dimensions teaches the prefixes elsewhere"
        );
    }

    #[test]
    fn a_cell_that_was_cut_along_everything_cannot_be_cut() {
        let filter = Filter {
            industry: Some("other.general".to_owned()),
            kind: Some(crate::contract::reference::EntityType::Llc),
            zip: Some("33101".to_owned()),
            ..Filter::default()
        };
        let shares = Shares::default();
        assert_eq!(
            cut(&[5_000.0], &Outline { filter: &filter, shares: &shares, is_listed: false, plan: &STARTER }),
            None
        );
    }
}
