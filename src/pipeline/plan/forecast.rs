//! Expected rows of days not read yet, by what the API reports and the lake has (pure).

use super::inputs::PlanInputs;
use super::stale_days::Need;
use crate::contract::count::Stats;
use crate::contract::eastern::{month_of, span_days};
use crate::contract::listing::Listing;
use crate::contract::reference::EntityType;
use jiff::civil::Date;
use std::collections::BTreeMap;

/// The total of a listing over a day range, as the API reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownTotal {
    pub(crate) listing: Listing,
    pub(crate) from: Date,
    pub(crate) to: Date,
    pub(crate) rows: u64,
}

/// What expected rows are computed from.
pub(crate) struct Forecast<'a> {
    pub(crate) inputs: &'a PlanInputs<'a>,
    /// Statewide figures, where they were requested.
    pub(crate) stats: Option<&'a Stats>,
    /// One listing's total, where it was requested.
    pub(crate) total: Option<KnownTotal>,
}

impl Forecast<'_> {
    /// Rows of an unread day of a listing. The first of these that is known: the API's count of the day; the share of complete days,
    /// within the reported total; the mean of its month.
    pub(crate) fn rows(&self, listing: Listing, need: &Need, day: Date) -> u64 {
        if listing == Listing::Untyped
            && let Some(rows) = counted(self.inputs, day)
        {
            return rows;
        }
        let likely = |day: Date| self.likely(listing, day);
        let of_day = |total: &KnownTotal| total.listing == listing && total.from <= day && day <= total.to;
        let Some(total) = self.total.filter(of_day) else { return likely(day).round() as u64 };
        let new = total.new_rows(need) as f64;
        let all: f64 = need.unread.range(total.from..=total.to).map(|day| likely(*day)).sum();
        let rows = if !need.filling.is_empty() && all <= new {
            likely(day)
        } else if all > 0.0 {
            likely(day) * new / all
        } else {
            new / need.unread.len().max(1) as f64
        };
        rows.round() as u64
    }

    /// Rows that came to the complete days without a count on which filings still arrive: what is left of the reported total,
    /// distributed like the growth of the untyped listing.
    pub(crate) fn growth(&self, listing: Listing, need: &Need, unread_rows: u64) -> BTreeMap<Date, u64> {
        let total = self.total.filter(|total| total.listing == listing);
        let new = total.map_or(0, |total| total.new_rows(need).saturating_sub(unread_rows));
        // Without growth in the untyped listing, all days are equally likely.
        let weight = |day: Date| self.inputs.growth(day) + 1;
        let all: u64 = need.filling.keys().map(|day| weight(*day)).sum();
        let mut up_to = 0;
        let of_day = |day: &Date| {
            let before = new * up_to / all;
            up_to += weight(*day);
            (*day, new * up_to / all - before)
        };
        need.filling.keys().map(of_day).collect()
    }

    fn likely(&self, listing: Listing, day: Date) -> f64 {
        let inputs = self.inputs;
        match (inputs.share_of_counted(listing), counted(inputs, day), self.stats) {
            (Some(share), Some(rows), _) => rows as f64 * share,
            (_, _, Some(stats)) => mean_of_month(stats, listing, inputs.today, day) as f64,
            // Other listings rise and fall like the untyped one, except for its peaks.
            (_, Some(rows), None) => (rows as f64).min(2.0 * mean_count(inputs)),
            (_, None, None) => 0.0,
        }
    }
}

impl KnownTotal {
    /// Rows of its days that the lake does not have.
    fn new_rows(&self, need: &Need) -> u64 {
        self.rows.saturating_sub(need.filling.range(self.from..=self.to).map(|(_, rows)| rows).sum())
    }
}

fn counted(inputs: &PlanInputs<'_>, day: Date) -> Option<u64> {
    inputs.count(day).map(|count| u64::try_from(count).unwrap_or(0))
}

fn mean_count(inputs: &PlanInputs<'_>) -> f64 {
    let all: i64 = inputs.counts.iter().map(|count| count.count).sum();
    all as f64 / inputs.counts.len().max(1) as f64
}

fn mean_of_month(stats: &Stats, listing: Listing, today: Date, day: Date) -> u64 {
    let Some(month) = stats.monthly.iter().find(|month| month.month == month_of(day)) else {
        return 0;
    };
    let of_type = |kind: EntityType| month.by_type.get(kind.key()).copied().unwrap_or(0);
    let rows = match listing {
        Listing::Of(kind) => of_type(kind),
        Listing::Untyped => month.total - of_type(EntityType::Fictitious),
    };
    let last = day.last_of_month().min(today);
    let days = u64::from(span_days(day.first_of_month(), last).max(1));
    u64::try_from(rows).unwrap_or(0) / days
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::count::DailyCount;
    use crate::pipeline::plan::inputs::tests::Facts;
    use crate::pipeline::plan::jobs::listing_need;
    use jiff::civil::date;

    const FICTITIOUS: Listing = Listing::FICTITIOUS;

    fn day(day: i8) -> Date {
        date(2026, 7, day)
    }

    /// Expected rows of July 30 and 31, and the growth of the days before. The lake has the days up to July 29 unless `is_cold`;
    /// `total` is what the API reports, if anything.
    fn expected(is_cold: bool, total: Option<u64>) -> (u64, u64, u64) {
        let counts = (1..=31)
            .map(|d| DailyCount { date: day(d), count: if d == 31 { 3_000 } else { 1_000 } })
            .collect();
        let mut facts = Facts { counts, ..Facts::default() };
        if !is_cold {
            facts.cover(Listing::Untyped, (1..=29).map(day), 1_000);
            facts.cover(FICTITIOUS, (1..=29).map(day), 200);
        }
        let inputs = facts.inputs(if is_cold { day(30) } else { day(2) }, day(31), 1_000);
        let need = listing_need(FICTITIOUS, &inputs);
        let from = if is_cold { day(30) } else { day(17) };
        let total = total.map(|rows| KnownTotal { listing: FICTITIOUS, from, to: day(31), rows });
        let forecast = Forecast { inputs: &inputs, stats: None, total };
        let rows = |day| forecast.rows(FICTITIOUS, &need, day);
        let (one, other) = (rows(day(30)), rows(day(31)));
        (one, other, forecast.growth(FICTITIOUS, &need, one + other).values().sum())
    }

    #[test]
    fn a_total_of_unread_days_is_distributed_like_the_counts_except_for_peaks() {
        // 1,000 and, limited to twice the mean of 1,065, 2,129.
        assert_eq!(expected(true, Some(3_129)), (1_000, 2_129, 0));
    }

    #[test]
    fn unread_days_follow_the_complete_ones_and_the_rest_of_a_total_is_growth() {
        assert_eq!(expected(false, None), (200, 600, 0));
        // The 13 days on which filings still arrive have 2,600 rows.
        assert_eq!(expected(false, Some(3_450)), (200, 600, 50));
        assert_eq!(expected(false, Some(2_640)), (10, 30, 0), "no more rows than the total has left");
    }
}
