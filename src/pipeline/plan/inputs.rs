//! What is known before a run reads: the lake's coverage and state, and the API's counts.

use super::lake_view::Coverage;
use super::stale_days::KnownDay;
use crate::contract::account::Remaining;
use crate::contract::count::DailyCount;
use crate::contract::eastern::span_days;
use crate::contract::listing::Listing;
use crate::contract::plan::PlanLimits;
use crate::extract::plan::change_rate::Pace;
use crate::extract::plan::cost::Outline;
use crate::extract::query::histogram::Shares;
use crate::extract::query::slice::Filter;
use crate::pipeline::state::run_state::RunState;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

pub(crate) struct PlanInputs<'a> {
    pub(crate) coverage: &'a Coverage,
    pub(crate) state: &'a RunState,
    pub(crate) counts: &'a [DailyCount],
    pub(crate) plan: &'a PlanLimits,
    /// What the run may still send: of the account's windows, and by its own limits.
    pub(crate) remaining: Remaining,
    /// Oldest day that can be read.
    pub(crate) oldest: Date,
    /// Oldest day that the pipeline asks for.
    pub(crate) from: Date,
    pub(crate) today: Date,
}

static NO_DAYS: BTreeMap<Date, KnownDay> = BTreeMap::new();
static NO_SHARES: LazyLock<Shares> = LazyLock::new(Shares::default);

pub(crate) fn filter(listing: Listing) -> Filter {
    Filter { kind: listing.kind(), ..Filter::default() }
}

impl PlanInputs<'_> {
    pub(crate) fn days(&self, listing: Listing) -> &BTreeMap<Date, KnownDay> {
        self.coverage.get(listing.label()).unwrap_or(&NO_DAYS)
    }

    pub(crate) fn known_rows(&self, listing: Listing, day: Date) -> u64 {
        self.days(listing).get(&day).map_or(0, |known| known.landed)
    }

    /// Nights since the newest complete day of a listing.
    pub(crate) fn nights_since_complete(&self, listing: Listing) -> u32 {
        let newest = self.days(listing).iter().rfind(|(_, known)| known.complete);
        newest.map_or(0, |(day, _)| span_days(*day, self.today).saturating_sub(1))
    }

    /// Days of a listing that drifted while an earlier run read them. A resumed run reads its own days next time.
    pub(crate) fn drifted(&self, listing: Listing) -> BTreeSet<Date> {
        let ended = self.state.ended.is_some();
        self.state.drifted.get(listing.label()).filter(|_| ended).cloned().unwrap_or_default()
    }

    /// How often complete days of a listing changed on earlier mornings.
    pub(crate) fn pace(&self, listing: Listing) -> Pace {
        self.state.pace.get(listing.label()).cloned().unwrap_or_default()
    }

    /// The outline of a listing, by its filter; `is_listed` where the lake has its rows.
    pub(crate) fn outline<'s>(
        &'s self,
        listing: Listing,
        filter: &'s Filter,
        is_listed: bool,
    ) -> Outline<'s> {
        let shares = self.state.shares.get(listing.label()).unwrap_or_else(|| &NO_SHARES);
        Outline { filter, shares, is_listed, plan: self.plan }
    }

    /// The API's count of a day. Only days of the untyped listing have one.
    pub(crate) fn count(&self, day: Date) -> Option<i64> {
        Some(self.counts.iter().find(|count| count.date == day)?.count)
    }

    /// By how many rows the API's count of a day differs from its known rows; none if it has no rows or no count of its listing.
    pub(crate) fn change(&self, day: Date) -> Option<i64> {
        let known = self.days(Listing::Untyped).get(&day)?;
        let count = self.count(day).filter(|_| !self.state.miscounted.contains(&day))?;
        Some(count - known.landed as i64)
    }

    /// Rows that came to a day, by the API's counts.
    pub(crate) fn growth(&self, day: Date) -> u64 {
        u64::try_from(self.change(day).unwrap_or(0)).unwrap_or(0)
    }

    /// Rows of a listing for each row of the untyped one, over the days that the lake has completely of both.
    pub(crate) fn share_of_counted(&self, listing: Listing) -> Option<f64> {
        let all = self.days(Listing::Untyped);
        let both = self.days(listing).iter().filter_map(|(day, own)| Some((own, all.get(day)?)));
        let both = both.filter(|(own, all)| own.complete && all.complete);
        let (own, all) = both.fold((0, 0), |sum, (own, all)| (sum.0 + own.landed, sum.1 + all.landed));
        (all > 0).then(|| own as f64 / all as f64)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::contract::plan::Plan;

    #[derive(Default)]
    pub(crate) struct Facts {
        pub(crate) coverage: Coverage,
        pub(crate) state: RunState,
        pub(crate) counts: Vec<DailyCount>,
    }

    impl Facts {
        /// Marks days as complete with `rows` rows each.
        pub(crate) fn cover(&mut self, listing: Listing, days: impl Iterator<Item = Date>, rows: u64) {
            let known = days.map(|day| {
                (day, KnownDay { expected: rows, landed: rows, complete: true, ..KnownDay::default() })
            });
            self.coverage.entry(listing.label().to_owned()).or_default().extend(known);
        }

        /// The inputs of a run on the Starter plan that may send `may_send` requests today.
        pub(crate) fn inputs(&self, from: Date, today: Date, may_send: u32) -> PlanInputs<'_> {
            static STARTER: LazyLock<PlanLimits> = LazyLock::new(|| Plan::Starter.limits());
            PlanInputs {
                coverage: &self.coverage,
                state: &self.state,
                counts: &self.counts,
                plan: &STARTER,
                remaining: Remaining { minute: 20, day: may_send, month: 10_000 },
                oldest: from,
                from,
                today,
            }
        }
    }
}
