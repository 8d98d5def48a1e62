//! What a run learned about days, for the next run.

use super::run_state::ReadBackoff;
use crate::contract::eastern::window_start;
use crate::contract::listing::Listing;
use crate::pipeline::context::Run;
use crate::pipeline::load::landing::Landing;
use jiff::civil::Date;
use std::collections::BTreeMap;

impl Run<'_> {
    /// Updates the state with the days that were read. Days before the plan's window are forgotten: they are never read again.
    /// Other pipelines may read more days than this one, so its own days do not matter.
    pub(crate) fn remember(&mut self, landing: &Landing) {
        self.remember_counts(landing);
        for (label, day) in &landing.read_whole {
            self.state.read_whole.entry(label.clone()).or_default().insert(*day, self.record.today);
        }
        self.remember_drifted(landing);
        self.remember_backoffs(landing);
        let oldest = window_start(self.record.today, self.plan.window_days);
        let state = &mut self.state;
        state.read_whole.values_mut().for_each(|days| days.retain(|day, _| *day >= oldest));
        state.drifted.values_mut().for_each(|days| days.retain(|day| *day >= oldest));
        state.drifted.retain(|_, days| !days.is_empty());
        state.backoffs.values_mut().for_each(|days| days.retain(|day, _| *day >= oldest));
        state.backoffs.retain(|_, days| !days.is_empty());
    }

    /// Remembers the counts of complete days as of their reading, changed as the lake's rows show since the counts arrived.
    fn remember_counts(&mut self, landing: &Landing) {
        let untyped =
            landing.coverage.iter().filter(|row| row.entity_type == Listing::Untyped.label() && row.complete);
        let found: BTreeMap<Date, i64> = untyped.map(|row| (row.filed_date, row.expected)).collect();
        for count in &self.counts {
            let (Some(found), day) = (found.get(&count.date), count.date) else { continue };
            let expected = self.expected.get(&day).filter(|_| self.state.counts.contains_key(&day));
            let change = expected.map_or(0, |expected| found - *expected as i64);
            self.state.counts.insert(day, count.count + change);
        }
    }

    /// A day that drifted while it was read is read again by the next run.
    fn remember_drifted(&mut self, landing: &Landing) {
        for (label, day) in &landing.complete {
            let days = self.state.drifted.entry(label.clone()).or_default();
            match landing.drifted.contains(&(label.clone(), *day)) {
                true => days.insert(*day),
                false => days.remove(day),
            };
        }
    }

    fn remember_backoffs(&mut self, landing: &Landing) {
        for row in &landing.coverage {
            let days = self.state.backoffs.entry(row.entity_type.clone()).or_default();
            let before = days.remove(&row.filed_date);
            if !row.complete {
                days.insert(row.filed_date, ReadBackoff::after(before, self.record.today));
            }
        }
    }
}
