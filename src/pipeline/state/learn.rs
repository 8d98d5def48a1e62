//! What a run learned of days, for the next one.

use crate::contract::eastern::window_start;
use crate::pipeline::EVERY_OTHER_TYPE;
use crate::pipeline::load::landing::Landing;
use crate::pipeline::plan::stale_days::Vain;
use crate::pipeline::run::Run;
use jiff::civil::Date;
use std::collections::BTreeMap;

impl Run<'_> {
    /// Takes into the state what the days read turned out to be.
    pub(crate) fn remember(&mut self, landing: &Landing) {
        self.remember_counts(landing);
        self.remember_whole_readings(landing);
        self.remember_stirred(landing);
        self.remember_vain(landing);
    }

    /// A day's count is worth remembering once the day is proven: as it was when the day was read. Where the lake held the day before,
    /// the rows found tell by how many it had moved since the counts came.
    fn remember_counts(&mut self, landing: &Landing) {
        let untyped =
            landing.coverage.iter().filter(|row| row.entity_type == EVERY_OTHER_TYPE && row.complete);
        let found: BTreeMap<Date, i64> = untyped.map(|row| (row.filed_date, row.expected)).collect();
        for count in &self.counts {
            let (Some(found), day) = (found.get(&count.date), count.date) else { continue };
            let expected = self.expected.get(&day).filter(|_| self.state.counts.contains_key(&day));
            let moved = expected.map_or(0, |expected| found - *expected as i64);
            self.state.counts.insert(day, count.count + moved);
        }
    }

    /// A day that was read while rows moved is looked at again. Days that have left the window are never read again.
    fn remember_stirred(&mut self, landing: &Landing) {
        for (label, day) in &landing.proven {
            let days = self.state.stirred.entry(label.clone()).or_default();
            match landing.stirred.contains(&(label.clone(), *day)) {
                true => days.insert(*day),
                false => days.remove(day),
            };
        }
        let oldest = self.oldest_in_window();
        for days in self.state.stirred.values_mut() {
            days.retain(|day| *day >= oldest);
        }
        self.state.stirred.retain(|_, days| !days.is_empty());
    }

    /// Days that were read to no end are read again later and later.
    fn remember_vain(&mut self, landing: &Landing) {
        let oldest = self.oldest_in_window();
        for row in &landing.coverage {
            let days = self.state.vain.entry(row.entity_type.clone()).or_default();
            let before = days.remove(&row.filed_date);
            if !row.complete {
                days.insert(row.filed_date, Vain::again(before, self.record.today));
            }
        }
        for days in self.state.vain.values_mut() {
            days.retain(|day, _| *day >= oldest);
        }
        self.state.vain.retain(|_, days| !days.is_empty());
    }

    /// The day of its last whole reading says when a day is due to settle. Days that have left the window are never read again.
    fn remember_whole_readings(&mut self, landing: &Landing) {
        for (label, day) in &landing.read_whole {
            self.state.read_whole.entry(label.clone()).or_default().insert(*day, self.record.today);
        }
        let oldest = self.oldest_in_window();
        for days in self.state.read_whole.values_mut() {
            days.retain(|day, _| *day >= oldest);
        }
    }

    /// Whatever days this pipeline reads: others may read more of the plan's window.
    fn oldest_in_window(&self) -> Date {
        window_start(self.record.today, self.plan.window_days)
    }
}
