//! Which days are read in one go (pure): ranges of days, those beyond reach set apart from calm ones.

use super::cost::cost_of_core;
use crate::contract::eastern::{minus_days, plus_days, span_days};
use crate::contract::plan::PlanLimits;
use crate::contract::search::MAX_SPAN_DAYS;
use crate::extract::query::histogram::Shares;
use crate::extract::query::slice::Filter;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

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

/// What is known of the cell whose days are planned.
#[derive(Debug, Clone, Copy)]
pub struct Outline<'a> {
    /// Its filter.
    pub filter: &'a Filter,
    /// How rows are spread.
    pub shares: &'a Shares,
    /// Whether the lake lists its rows, so that hardly any is sought where nobody knows.
    pub is_listed: bool,
    /// What one query reaches.
    pub plan: &'a PlanLimits,
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
/// set apart from the calm days around them.
pub fn plan_stretches(
    days: impl IntoIterator<Item = Date>,
    expected: &dyn Fn(Date) -> f64,
    outline: &Outline<'_>,
    rows_at_once: f64,
) -> Vec<Stretch> {
    let bounded = ranges(days).into_iter().flat_map(|range| cut_by_rows(range, expected, rows_at_once));
    bounded.flat_map(|range| set_cores_apart(range, expected, outline)).collect()
}

fn cut_by_rows((from, to): (Date, Date), expected: &dyn Fn(Date) -> f64, most: f64) -> Vec<(Date, Date)> {
    let mut cut = Vec::new();
    let (mut upper, mut rows) = (to, 0.0);
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

/// Cuts a range into cores, which begin and end with days beyond reach, and the calm days around them.
pub(crate) fn set_cores_apart(
    (from, to): (Date, Date),
    expected: &dyn Fn(Date) -> f64,
    outline: &Outline<'_>,
) -> Vec<Stretch> {
    let reach = f64::from(outline.plan.reach_rows());
    let newest_first = (0..span_days(from, to)).map(|back| minus_days(to, back));
    let heavy: Vec<Date> = newest_first.filter(|day| expected(*day) > reach).collect();
    let mut stretches = Vec::new();
    let mut upper = Some(to);
    for (oldest, newest) in cores(&heavy, expected, outline) {
        if let Some(to) = upper.filter(|to| newest < *to) {
            stretches.push(Stretch { from: plus_days(newest, 1), to, in_parts: false });
        }
        stretches.push(Stretch { from: oldest, to: newest, in_parts: oldest != newest });
        upper = Some(minus_days(oldest, 1)).filter(|upper| from <= *upper);
    }
    if let Some(to) = upper {
        stretches.push(Stretch { from, to, in_parts: false });
    }
    stretches
}

/// The cores that days beyond reach, newest first, are read in: all of them in one, unless it costs less to read those before and
/// those after the longest calm by themselves.
fn cores(heavy: &[Date], expected: &dyn Fn(Date) -> f64, outline: &Outline<'_>) -> Vec<(Date, Date)> {
    let (Some(newest), Some(oldest)) = (heavy.first().copied(), heavy.last().copied()) else {
        return Vec::new();
    };
    let calm = |at: &usize| span_days(heavy[*at], heavy[*at - 1]);
    let Some(apart) = (1..heavy.len()).max_by_key(calm).filter(|at| calm(at) > 2) else {
        return vec![(oldest, newest)];
    };
    let cost = |cores: &[(Date, Date)]| cores.iter().map(|core| cost_of_core(*core, expected, outline)).sum();
    let mut two = cores(&heavy[..apart], expected, outline);
    two.extend(cores(&heavy[apart..], expected, outline));
    let (one, together): (_, f64) = ([(oldest, newest)], cost(&[(oldest, newest)]));
    let by_themselves: f64 = cost(&two);
    if together <= by_themselves { one.to_vec() } else { two }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;
    use jiff::civil::date;
    use proptest::prelude::*;

    const STARTER: PlanLimits = Plan::Starter.limits();

    fn stretches_of(
        days: impl IntoIterator<Item = Date>,
        expected: &dyn Fn(Date) -> f64,
        most: f64,
    ) -> Vec<Stretch> {
        let (filter, shares) = (Filter::default(), Shares::default());
        plan_stretches(
            days,
            expected,
            &Outline { filter: &filter, shares: &shares, is_listed: false, plan: &STARTER },
            most,
        )
    }

    #[test]
    fn days_beyond_reach_are_set_apart_from_calm_ones() {
        let heavy = [date(2026, 7, 10), date(2026, 7, 12)];
        let expected = |day: Date| if heavy.contains(&day) { 2_700.0 } else { 300.0 };
        let stretches = stretches_of((1..=20).map(|day| date(2026, 7, day)), &expected, f64::MAX);
        let shown: Vec<_> = stretches.iter().map(|s| (s.from.day(), s.to.day(), s.in_parts)).collect();
        assert_eq!(shown, [(13, 20, false), (10, 12, true), (1, 9, false)]);
    }

    proptest! {
        #[test]
        fn cores_cost_no_more_than_one_core_of_all_days(
            heavy in proptest::collection::btree_map(0u32..92, 1_051u32..9_000, 1..12),
        ) {
            let today = date(2026, 7, 31);
            let expected = |day: Date| f64::from(heavy.get(&(span_days(day, today) - 1)).copied().unwrap_or(300));
            let (filter, shares) = (Filter::default(), Shares::default());
            let outline = Outline { filter: &filter, shares: &shares, is_listed: false, plan: &STARTER };
            let back = |days: Option<&u32>| minus_days(today, days.copied().unwrap_or(0));
            let all = (back(heavy.keys().last()), back(heavy.keys().next()));
            let stretches = set_cores_apart((minus_days(today, 91), today), &expected, &outline);
            let is_core = |stretch: &&Stretch| expected(stretch.to) > 1_050.0;
            let cores: Vec<&Stretch> = stretches.iter().filter(is_core).collect();
            let cost: f64 =
                cores.iter().map(|core| cost_of_core((core.from, core.to), &expected, &outline)).sum();
            prop_assert!(cost <= cost_of_core(all, &expected, &outline) + 1e-6);
        }

        #[test]
        fn stretches_hold_each_day_once_newest_first_within_a_search(
            offsets in proptest::collection::btree_set(0u32..500, 1..200),
            heavy_every in 2u32..40,
            rows_at_once in 500u64..50_000,
        ) {
            let today = date(2026, 7, 31);
            let days: Vec<Date> = offsets.iter().map(|back| minus_days(today, *back)).collect();
            let heavy = |day: Date| span_days(day, today).is_multiple_of(heavy_every);
            let expected = |day: Date| if heavy(day) { 4_000.0 } else { 400.0 };
            let stretches = stretches_of(days.clone(), &expected, rows_at_once as f64);
            let read: Vec<Date> = stretches
                .iter()
                .flat_map(|s| crate::contract::eastern::days_newest_first(s.from, s.to))
                .collect();
            prop_assert_eq!(read, days);
            for stretch in &stretches {
                prop_assert!(span_days(stretch.from, stretch.to) <= MAX_SPAN_DAYS);
                let days = crate::contract::eastern::days_newest_first(stretch.from, stretch.to);
                let rows: f64 = days.map(expected).sum();
                prop_assert!(rows <= rows_at_once as f64 || stretch.from == stretch.to);
                prop_assert!(stretch.in_parts || stretch.from == stretch.to
                    || !crate::contract::eastern::days_newest_first(stretch.from, stretch.to).any(heavy));
            }
        }
    }
}
