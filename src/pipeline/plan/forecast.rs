//! What may be expected of days nobody has read yet, from what the API told and what the lake holds (pure).

use super::jobs::{Knowledge, Listing};
use super::lake_view::Coverage;
use super::refresh_cost::came_to;
use super::stale_days::Need;
use crate::contract::count::Stats;
use crate::contract::eastern::{month_of, span_days};
use crate::contract::reference::EntityType;
use crate::pipeline::EVERY_OTHER_TYPE;
use jiff::civil::Date;
use std::collections::BTreeMap;

/// The total of a listing over a range of days, as the API told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TotalTold {
    pub(crate) listing: Listing,
    pub(crate) from: Date,
    pub(crate) to: Date,
    pub(crate) rows: u64,
}

/// What may be expected.
pub(crate) struct Outlook<'a> {
    /// Statewide figures, where they were asked for.
    pub(crate) stats: Option<&'a Stats>,
    /// One listing's total, where that was asked for.
    pub(crate) told: Option<TotalTold>,
}

impl Outlook<'_> {
    /// Rows of an unread day of a listing: the API's own count, else what the lake's proven days make likely within the total
    /// the API told, else its month's mean from the statewide figures.
    pub(crate) fn rows(&self, listing: Listing, need: &Need, knowledge: &Knowledge<'_>, day: Date) -> u64 {
        if listing.kind.is_none()
            && let Some(rows) = counted(knowledge, day)
        {
            return rows;
        }
        let likely = |day: Date| self.likely(listing, knowledge, day);
        let told = self.told.filter(|told| told.listing == listing && told.from <= day && day <= told.to);
        let Some(told) = told else { return likely(day).round() as u64 };
        let new = told.new_rows(need) as f64;
        let all: f64 = need.unread.range(told.from..=told.to).map(|day| likely(*day)).sum();
        match need.filling.is_empty() || all > new {
            true if all > 0.0 => (likely(day) * new / all).round() as u64,
            true => (new / need.unread.len().max(1) as f64).round() as u64,
            false => likely(day).round() as u64,
        }
    }

    /// Rows that came to the proven days that still fill and have no count of their own, where the API told a total: as they came to
    /// the same days of the untyped listing.
    pub(crate) fn came(
        &self,
        listing: Listing,
        need: &Need,
        knowledge: &Knowledge<'_>,
        unread_rows: u64,
    ) -> BTreeMap<Date, u64> {
        let told = self.told.filter(|told| told.listing == listing);
        let came = told.map_or(0, |told| told.new_rows(need).saturating_sub(unread_rows));
        // Where nothing came elsewhere, each day is as likely as the other.
        let weight = |day: Date| came_to(knowledge, day) + 1;
        let all: u64 = need.filling.keys().map(|day| weight(*day)).sum();
        let mut up_to = 0;
        let of_day = |day: &Date| {
            let before = came * up_to / all;
            up_to += weight(*day);
            (*day, came * up_to / all - before)
        };
        need.filling.keys().map(of_day).collect()
    }

    fn likely(&self, listing: Listing, knowledge: &Knowledge<'_>, day: Date) -> f64 {
        let share = share_of_counted(listing, knowledge.coverage);
        match (share, counted(knowledge, day), self.stats) {
            (Some(share), Some(rows), _) => rows as f64 * share,
            (_, _, Some(stats)) => mean_of_month(stats, listing, knowledge.today, day) as f64,
            // Other listings rise and fall as the untyped one does, but for its peaks.
            (_, Some(rows), None) => (rows as f64).min(2.0 * mean_count(knowledge)),
            (_, None, None) => 0.0,
        }
    }
}

impl TotalTold {
    /// Rows of its days that the lake has not.
    fn new_rows(&self, need: &Need) -> u64 {
        self.rows.saturating_sub(need.filling.range(self.from..=self.to).map(|(_, rows)| rows).sum())
    }
}

fn counted(knowledge: &Knowledge<'_>, day: Date) -> Option<u64> {
    let count = knowledge.counts.iter().find(|count| count.date == day)?;
    Some(u64::try_from(count.count).unwrap_or(0))
}

fn mean_count(knowledge: &Knowledge<'_>) -> f64 {
    let all: i64 = knowledge.counts.iter().map(|count| count.count).sum();
    all as f64 / knowledge.counts.len().max(1) as f64
}

/// Rows of a listing for each row of the untyped one, over the days that the lake has whole of both.
pub(crate) fn share_of_counted(listing: Listing, coverage: &Coverage) -> Option<f64> {
    let (own, all) = (coverage.get(listing.label)?, coverage.get(EVERY_OTHER_TYPE)?);
    let both = own.iter().filter_map(|(day, own)| Some((own, all.get(day)?)));
    let both = both.filter(|(own, all)| own.complete && all.complete);
    let (own, all) = both.fold((0, 0), |sum, (own, all)| (sum.0 + own.expected, sum.1 + all.expected));
    (all > 0).then(|| own as f64 / all as f64)
}

fn mean_of_month(stats: &Stats, listing: Listing, today: Date, day: Date) -> u64 {
    let Some(month) = stats.monthly.iter().find(|month| month.month == month_of(day)) else {
        return 0;
    };
    let of_type = |kind: EntityType| month.by_type.get(kind.key()).copied().unwrap_or(0);
    let rows = match listing.kind {
        Some(kind) => of_type(kind),
        None => month.total - of_type(EntityType::Fictitious),
    };
    let last = day.last_of_month().min(today);
    let days = u64::from(span_days(day.first_of_month(), last).max(1));
    u64::try_from(rows).unwrap_or(0) / days
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::account::Remaining;
    use crate::contract::count::DailyCount;
    use crate::contract::plan::Plan;
    use crate::pipeline::plan::jobs::{listing_need, of_type};
    use crate::pipeline::plan::stale_days::Held;
    use crate::pipeline::state::RunState;
    use jiff::civil::date;

    const FICTITIOUS: Listing = of_type(EntityType::Fictitious);

    fn day(day: i8) -> Date {
        date(2026, 7, day)
    }

    /// What is expected of July 30 and 31, read up to the 29th where `is_cold` is false, when the API tells this total of the days to
    /// read and the days that fill, or nothing; and what came to the days read.
    fn expected(is_cold: bool, told: Option<u64>) -> (u64, u64, u64) {
        let counts: Vec<DailyCount> = (1..=31)
            .map(|d| DailyCount { date: day(d), count: if d == 31 { 3_000 } else { 1_000 } })
            .collect();
        let held = |rows| {
            (1..=29).map(|d| (day(d), Held { expected: rows, complete: true })).collect::<BTreeMap<_, _>>()
        };
        let mut coverage = Coverage::new();
        if !is_cold {
            coverage.insert(EVERY_OTHER_TYPE.to_owned(), held(1_000));
            coverage.insert(FICTITIOUS.label.to_owned(), held(200));
        }
        let (state, plan) = (RunState::default(), Plan::Starter.limits());
        let knowledge = Knowledge {
            coverage: &coverage,
            state: &state,
            counts: &counts,
            plan: &plan,
            remaining: Remaining { minute: 20, day: 1_000, month: 10_000 },
            from: if is_cold { day(30) } else { day(2) },
            today: day(31),
        };
        let need = listing_need(FICTITIOUS, &knowledge);
        let from = if is_cold { day(30) } else { day(17) };
        let told = told.map(|rows| TotalTold { listing: FICTITIOUS, from, to: day(31), rows });
        let outlook = Outlook { stats: None, told };
        let rows = |day| outlook.rows(FICTITIOUS, &need, &knowledge, day);
        let (one, other) = (rows(day(30)), rows(day(31)));
        (one, other, outlook.came(FICTITIOUS, &need, &knowledge, one + other).values().sum())
    }

    #[test]
    fn a_total_of_unread_days_falls_on_them_as_the_counted_filings_do_but_for_peaks() {
        // 1,000 and, capped at twice the mean of 1,065, 2,129.
        assert_eq!(expected(true, Some(3_129)), (1_000, 2_129, 0));
    }

    #[test]
    fn days_to_come_are_as_the_proven_ones_and_the_rest_of_a_total_came_to_those() {
        assert_eq!(expected(false, None), (200, 600, 0));
        // Thirteen days that fill hold 2,600.
        assert_eq!(expected(false, Some(3_450)), (200, 600, 50));
        assert_eq!(expected(false, Some(2_640)), (10, 30, 0), "no more than the total leaves");
    }
}
