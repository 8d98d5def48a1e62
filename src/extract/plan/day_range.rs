//! Which days are read together (pure): ranges of days, with hot days separated from quiet ones.

use super::cost::{DayRange, Outline, cost_of_hot_days};
use crate::contract::eastern::{days_newest_first, minus_days, plus_days, span_days};
use crate::contract::search::MAX_SPAN_DAYS;
use jiff::civil::Date;

/// Consecutive days, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DaySpan {
    pub(crate) from: Date,
    pub(crate) to: Date,
}

impl DaySpan {
    pub(crate) fn newest_first(self) -> impl Iterator<Item = Date> {
        days_newest_first(self.from, self.to)
    }
}

/// The spans of consecutive days in `days`, newest first, none longer than a search may span.
pub(crate) fn spans(days: impl IntoIterator<Item = Date>) -> Vec<DaySpan> {
    let mut days: Vec<Date> = days.into_iter().collect();
    days.sort_unstable_by(|a, b| b.cmp(a));
    days.dedup();
    joined(days, |_, _| true)
}

/// The spans of consecutive days, given newest first: none longer than a search may span, and each as far as a day may join it.
pub(crate) fn joined(
    days: impl IntoIterator<Item = Date>,
    may_join: impl Fn(DaySpan, Date) -> bool,
) -> Vec<DaySpan> {
    let is_next = |span: DaySpan, day: Date| {
        minus_days(span.from, 1) == day && span_days(day, span.to) <= MAX_SPAN_DAYS
    };
    let mut spans: Vec<DaySpan> = Vec::new();
    for day in days {
        match spans.last_mut() {
            Some(span) if is_next(*span, day) && may_join(*span, day) => span.from = day,
            _ => spans.push(DaySpan { from: day, to: day }),
        }
    }
    spans
}

/// The day ranges to read, newest first. Each has at most about `rows_at_once` rows; hot days are separated from quiet ones.
pub(crate) fn plan_day_ranges(
    days: impl IntoIterator<Item = Date>,
    expected: &dyn Fn(Date) -> f64,
    outline: &Outline<'_>,
    rows_at_once: f64,
) -> Vec<DayRange> {
    let bounded = spans(days).into_iter().flat_map(|span| cut_by_rows(span, expected, rows_at_once));
    bounded.flat_map(|span| separate_hot_days(span, expected, outline)).collect()
}

fn cut_by_rows(span: DaySpan, expected: &dyn Fn(Date) -> f64, most: f64) -> Vec<DaySpan> {
    let rows_from = |day: Date, part: DaySpan| days_newest_first(day, part.to).map(expected).sum::<f64>();
    joined(span.newest_first(), |part, day| rows_from(day, part) <= most)
}

/// Splits a range into hot ranges, which begin and end with a day expected over reach, and the quiet days around them.
pub(crate) fn separate_hot_days(
    span: DaySpan,
    expected: &dyn Fn(Date) -> f64,
    outline: &Outline<'_>,
) -> Vec<DayRange> {
    let reach = f64::from(outline.plan.reach_rows());
    let hot: Vec<Date> = span.newest_first().filter(|day| expected(*day) > reach).collect();
    let mut ranges = Vec::new();
    let mut upper = Some(span.to);
    for DaySpan { from, to } in hot_spans(&hot, expected, outline) {
        if let Some(upper) = upper.filter(|upper| to < *upper) {
            ranges.push(DayRange { from: plus_days(to, 1), to: upper, in_parts: false });
        }
        ranges.push(DayRange { from, to, in_parts: from != to });
        upper = Some(minus_days(from, 1)).filter(|upper| span.from <= *upper);
    }
    if let Some(to) = upper {
        ranges.push(DayRange { from: span.from, to, in_parts: false });
    }
    ranges
}

/// The spans in which hot days, newest first, are read: one, unless two without the longest quiet time between cost less.
fn hot_spans(hot: &[Date], expected: &dyn Fn(Date) -> f64, outline: &Outline<'_>) -> Vec<DaySpan> {
    let (Some(to), Some(from)) = (hot.first().copied(), hot.last().copied()) else {
        return Vec::new();
    };
    let quiet = |at: &usize| span_days(hot[*at], hot[*at - 1]);
    let Some(split) = (1..hot.len()).max_by_key(quiet).filter(|at| quiet(at) > 2) else {
        return vec![DaySpan { from, to }];
    };
    let cost = |span: &DaySpan| cost_of_hot_days(span.newest_first(), expected, outline);
    let mut two = hot_spans(&hot[..split], expected, outline);
    two.extend(hot_spans(&hot[split..], expected, outline));
    let one = DaySpan { from, to };
    if cost(&one) <= two.iter().map(cost).sum() { vec![one] } else { two }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::{Plan, PlanLimits};
    use crate::extract::query::histogram::Shares;
    use crate::extract::query::slice::Filter;
    use jiff::civil::date;
    use proptest::prelude::*;

    const STARTER: PlanLimits = Plan::Starter.limits();

    fn ranges_of(
        days: impl IntoIterator<Item = Date>,
        expected: &dyn Fn(Date) -> f64,
        most: f64,
    ) -> Vec<DayRange> {
        let (filter, shares) = (Filter::default(), Shares::default());
        plan_day_ranges(days, expected, &Outline::unlisted(&filter, &shares, &STARTER), most)
    }

    #[test]
    fn hot_days_are_separated_from_quiet_ones() {
        let hot = [date(2026, 7, 10), date(2026, 7, 12)];
        let expected = |day: Date| if hot.contains(&day) { 2_700.0 } else { 300.0 };
        let ranges = ranges_of((1..=20).map(|day| date(2026, 7, day)), &expected, f64::MAX);
        let shown: Vec<_> = ranges.iter().map(|s| (s.from.day(), s.to.day(), s.in_parts)).collect();
        assert_eq!(shown, [(13, 20, false), (10, 12, true), (1, 9, false)]);
    }

    proptest! {
        #[test]
        fn hot_ranges_cost_no_more_than_one_range(
            hot in proptest::collection::btree_map(0u32..92, 1_051u32..9_000, 1..12),
        ) {
            let today = date(2026, 7, 31);
            let expected = |day: Date| f64::from(hot.get(&(span_days(day, today) - 1)).copied().unwrap_or(300));
            let (filter, shares) = (Filter::default(), Shares::default());
            let outline = Outline::unlisted(&filter, &shares, &STARTER);
            let back = |days: Option<&u32>| minus_days(today, days.copied().unwrap_or(0));
            let all = DaySpan { from: back(hot.keys().last()), to: back(hot.keys().next()) };
            let ranges = separate_hot_days(DaySpan { from: minus_days(today, 91), to: today }, &expected, &outline);
            let is_hot = |range: &&DayRange| expected(range.to) > 1_050.0;
            let hot_ranges: Vec<&DayRange> = ranges.iter().filter(is_hot).collect();
            let cost_of = |days: DaySpan| cost_of_hot_days(days.newest_first(), &expected, &outline);
            let cost: f64 = hot_ranges.iter().map(|range| cost_of(DaySpan { from: range.from, to: range.to })).sum();
            prop_assert!(cost <= cost_of(all) + 1e-6);
        }

        #[test]
        fn ranges_have_each_day_once_newest_first_within_a_search(
            offsets in proptest::collection::btree_set(0u32..500, 1..200),
            hot_every in 2u32..40,
            rows_at_once in 500u64..50_000,
        ) {
            let today = date(2026, 7, 31);
            let days: Vec<Date> = offsets.iter().map(|back| minus_days(today, *back)).collect();
            let hot = |day: Date| span_days(day, today).is_multiple_of(hot_every);
            let expected = |day: Date| if hot(day) { 4_000.0 } else { 400.0 };
            let ranges = ranges_of(days.clone(), &expected, rows_at_once as f64);
            let read: Vec<Date> = ranges
                .iter()
                .flat_map(|s| days_newest_first(s.from, s.to))
                .collect();
            prop_assert_eq!(read, days);
            for range in &ranges {
                prop_assert!(span_days(range.from, range.to) <= MAX_SPAN_DAYS);
                let days = days_newest_first(range.from, range.to);
                let rows: f64 = days.map(expected).sum();
                prop_assert!(rows <= rows_at_once as f64 || range.from == range.to);
                prop_assert!(range.in_parts || range.from == range.to
                    || !days_newest_first(range.from, range.to).any(hot));
            }
        }
    }
}
