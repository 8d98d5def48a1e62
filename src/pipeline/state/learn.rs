//! What a run learned about days, for the next run.

use super::run_state::ReadBackoff;
use crate::contract::eastern::window_start;
use crate::lake::Losses;
use crate::pipeline::context::Run;
use crate::pipeline::load::landing::Landing;
use std::collections::BTreeSet;

impl Run<'_> {
    /// Updates the state with the days that were read. Days before the plan's window are forgotten: they are never read again.
    /// Other pipelines may read more days than this one, so its own days do not matter.
    pub(crate) fn remember(&mut self, landing: &Landing) {
        for (label, day) in &landing.coverage.fully_read {
            self.state.read_whole.entry(label.clone()).or_default().insert(*day, self.record.today);
        }
        self.remember_drifted(landing);
        self.remember_backoffs(landing);
        let oldest = window_start(self.record.today, self.plan.window_days);
        let state = &mut self.state;
        state.losses.note_read(landing.coverage.fully_read_listings());
        if state.register.is_empty() {
            state.losses.forget_before(oldest);
        } else if state.register.searched.is_some() {
            // A register reads months of any age, by prefixes.
            state.losses = Losses::default();
        }
        state.miscounted.retain(|day| *day >= oldest);
        state.read_whole.values_mut().for_each(|days| days.retain(|day, _| *day >= oldest));
        state.drifted.values_mut().for_each(|days| days.retain(|day| *day >= oldest));
        state.drifted.retain(|_, days| !days.is_empty());
        state.backoffs.values_mut().for_each(|days| days.retain(|day, _| *day >= oldest));
        state.backoffs.retain(|_, days| !days.is_empty());
    }

    /// A day that drifted while it was read is read again by the next run.
    fn remember_drifted(&mut self, landing: &Landing) {
        let drifted: BTreeSet<_> = landing.coverage.drifted.iter().collect();
        for of_day in &landing.coverage.complete {
            let (label, day) = of_day;
            let days = self.state.drifted.entry(label.clone()).or_default();
            if drifted.contains(of_day) {
                days.insert(*day)
            } else {
                days.remove(day)
            };
        }
    }

    /// A day that is not complete after it was read is read again later.
    fn remember_backoffs(&mut self, landing: &Landing) {
        let read = landing.journal.days_read();
        for row in landing.coverage.changed() {
            let days = self.state.backoffs.entry(row.entity_type.clone()).or_default();
            let before = days.remove(&row.filed_date);
            let was_read = read.contains(&(row.entity_type.as_str(), row.filed_date));
            let backoff = ReadBackoff::of_day(before, was_read, row.complete, self.record.today);
            days.extend(backoff.map(|backoff| (row.filed_date, backoff)));
        }
    }
}
