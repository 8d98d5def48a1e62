//! Reads the register prefix by prefix, until the API's total is reached or no prefix is worth a request.

use super::landing::Landing;
use super::recount::LakeCounts;
use crate::client::Call;
use crate::contract::count::Stats;
use crate::contract::eastern::plus_days;
use crate::contract::listing::Listing;
use crate::contract::search::StatusFilter;
use crate::extract::ExtractError;
use crate::extract::fetch::PageFetcher;
use crate::extract::query::split::FilterValues;
use crate::extract::reference::{REFERENCE, Reference};
use crate::extract::registry::prefixes::{Guess, PrefixModel, prefix_of, text};
use crate::extract::registry::{PrefixJob, PrefixReading, read_prefix};
use crate::pipeline::config::spec::RegistrySpec;
use crate::pipeline::context::Run;
use crate::pipeline::error::Result;
use crate::pipeline::plan::registry_estimate::{Question, known_names, register_price};
use crate::pipeline::plan::stale_days::MAX_DAYS_AHEAD;
use crate::pipeline::publish::summary::RegisterSummary;
use crate::pipeline::state::provenance::{JournalStep, page_of};
use crate::pipeline::state::registry::{Counted, RegisterStatus, UnprovenPrefix, label};
use jiff::civil::Date;
use std::collections::HashSet;

impl Run<'_> {
    /// Reads what is left of the register. Each prefix lands when it is read.
    pub(crate) async fn read_register(
        &mut self,
        spec: &RegistrySpec,
        fetcher: &mut PageFetcher<'_>,
        reference: &Reference,
        landing: &mut Landing,
    ) -> Result<()> {
        self.state.register.begin(spec.status, self.record.today, spec.max_age_days);
        if spec.status == RegisterStatus::Active && self.state.register.status == Some(RegisterStatus::All) {
            tracing::warn!(
                r#"the lake's register was begun with status = "all" and stays so; for "active" use another --lake"#
            );
        }
        let mut names =
            known_names(&self.context.lake, self.context.lake.current()?.as_ref(), &self.state.register)?;
        for (start, is_fictitious, rows) in self.state.register.starts() {
            names.set_count(start, is_fictitious, rows);
        }
        let is_resumed = fetcher.replayed > 0;
        self.note_total(&reference.stats, is_resumed);
        if is_resumed {
            self.request_total(fetcher).await?;
        }
        let register = &self.state.register;
        let total = register.total.unwrap_or(0);
        let price = register_price(spec, register, names.clone(), total, self.record.today, &self.plan);
        self.progress.plan(fetcher.answered + price.requests, 0);
        let words = FilterValues::of(&reference.industries, &reference.entity_types);
        let to = plus_days(self.record.today, MAX_DAYS_AHEAD);
        let mut reading = RegisterReading { run: self, spec, fetcher, landing, words, names, to };
        let result = reading.read().await;
        let names = reading.names;
        let question = Question { spec, state: &self.state.register, progress: &self.register };
        self.register.left = if result.is_ok() { 0 } else { question.left(&names).prefixes.ceil() as u64 };
        result
    }

    fn note_total(&mut self, stats: &Stats, is_resumed: bool) {
        let total = u64::try_from(stats.businesses_total).unwrap_or(0);
        self.state.register.note_total(total, self.record.today, is_resumed);
    }

    /// Requests the API's total of now: archived answers of a resumed run are passed over.
    async fn request_total(&mut self, fetcher: &mut PageFetcher<'_>) -> Result<(), ExtractError> {
        loop {
            let replayed = fetcher.replayed;
            let stats = fetcher.ask(REFERENCE, &Call::stats()).await?.value.data;
            self.note_total(&stats, false);
            if fetcher.replayed == replayed {
                return Ok(());
            }
        }
    }

    fn land_prefix(
        &mut self,
        landing: &mut Landing,
        job: PrefixJob,
        reading: &PrefixReading,
        names: &mut PrefixModel,
    ) -> Result<u64> {
        let PrefixJob { prefix: start, is_fictitious, .. } = job;
        let (mut is_mixed, mut others) = (false, HashSet::new());
        let with_dissolved = job.status == StatusFilter::All;
        landing.land_prefix(&reading.pages, with_dissolved, &mut |row| {
            names.note_letters(&row.name);
            is_mixed |= !is_fictitious && Listing::FICTITIOUS.holds(&row.entity_type);
            // Where the API compares ß with SS, it lists a name under both. The name counts under its own letters.
            if prefix_of(&row.name).is_some_and(|own| own != start) && others.insert(row.business_id) {
                names.note_prefix(&row.name, is_fictitious);
            }
        })?;
        let pages = reading.pages.iter().map(page_of).collect();
        landing.journal.steps.push(JournalStep::Prefix { pages, with_dissolved });
        if is_mixed {
            self.state.register.note_fictitious_in_untyped();
        }
        let rows = reading.held.saturating_sub(others.len() as u64);
        names.set_count(start, is_fictitious, rows);
        if reading.is_proven {
            self.state.register.finish(start, is_fictitious, self.record.today, rows);
        } else {
            self.register.unproven.push(UnprovenPrefix {
                start: text(start),
                entity_type: label(is_fictitious).to_owned(),
                expected: reading.expected,
                held: reading.held,
            });
        }
        Ok(rows)
    }

    /// Returns how far the register has been read, and learns what the API's total counts.
    pub(crate) fn register_summary(&mut self, counts: &LakeCounts, is_over: bool) -> RegisterSummary {
        let progress = &self.register;
        let state = &mut self.state.register;
        let is_complete = is_over && progress.left == 0 && progress.unproven.is_empty();
        let total = state.total.unwrap_or(0);
        let status = state.status.unwrap_or_default();
        let reads_fictitious = state.untyped_has_fictitious
            || self.pipeline.spec.registry.as_ref().is_some_and(|spec| spec.fictitious);
        // A total that counts more than was read says nothing.
        let may_mean = |counted: &Counted| {
            (!counted.dissolved || status == RegisterStatus::All) && (!counted.fictitious || reads_fictitious)
        };
        if is_complete {
            let equal = |counted: &Counted| counts.rows(*counted) == total;
            let met = Counted::choices().find(|c| may_mean(c) && equal(c));
            state.counted = met.or(state.counted);
            state.searched = Some(total);
            state.was_complete = true;
        }
        // Until a reading shows what the total counts, it counts everything.
        let counted = state.counted.or(Counted::choices().next()).filter(may_mean);
        state.missing = counted.map(|counted| total as i64 - counts.rows(counted) as i64);
        RegisterSummary {
            status,
            starts: state.starts().count() as u64,
            empty: state.starts().filter(|(.., rows)| *rows == 0).count() as u64,
            refused: state.refused.iter().cloned().collect(),
            left: progress.left,
            rows: state.rows(),
            businesses_total: total,
            counted: state.counted,
            missing: state.missing,
            unproven: progress.unproven.clone(),
        }
    }
}

/// The reading of prefixes.
struct RegisterReading<'c, 'r, 'f> {
    run: &'c mut Run<'r>,
    spec: &'c RegistrySpec,
    fetcher: &'c mut PageFetcher<'f>,
    landing: &'c mut Landing,
    words: FilterValues,
    names: PrefixModel,
    /// The newest day that this API accepts.
    to: Date,
}

impl RegisterReading<'_, '_, '_> {
    async fn read(&mut self) -> Result<()> {
        let mut answered = self.fetcher.answered;
        loop {
            let mut guesses = self.next_prefixes();
            if guesses.is_empty() && self.fetcher.answered > answered {
                // The total may have changed while prefixes were read.
                self.run.request_total(self.fetcher).await?;
                answered = self.fetcher.answered;
                guesses = self.next_prefixes();
            }
            if guesses.is_empty() {
                return Ok(());
            }
            let was_equal = self.run.state.register.equals_total();
            let status = self.run.state.register.status.unwrap_or(self.spec.status).filter();
            for Guess { prefix, is_fictitious, .. } in guesses {
                let rows = self.read_job(PrefixJob { prefix, is_fictitious, status, to: self.to }).await?;
                if rows > 0 && !was_equal && self.run.state.register.equals_total() {
                    // The others may not be worth a request any more.
                    break;
                }
            }
        }
    }

    fn next_prefixes(&self) -> Vec<Guess> {
        let (state, progress) = (&self.run.state.register, &self.run.register);
        Question { spec: self.spec, state, progress }.next(&self.names)
    }

    /// Reads and lands a prefix; returns its rows.
    async fn read_job(&mut self, mut job: PrefixJob) -> Result<u64> {
        let Run { state, plan, record, .. } = &mut *self.run;
        let shares = state.shares.entry(label(job.is_fictitious).to_owned()).or_default();
        let mut reading = read_prefix(self.fetcher, plan, &self.words, shares, &job).await;
        let is_refused =
            reading.as_ref().map_or_else(ExtractError::is_rejected_query, |reading| reading.is_none());
        if job.to > record.today && is_refused {
            // This API refuses future days: filings dated ahead are out of reach.
            (self.to, job.to) = (record.today, record.today);
            reading = read_prefix(self.fetcher, plan, &self.words, shares, &job).await;
        }
        match reading? {
            Some(reading) => {
                let Self { run, fetcher, landing, names, .. } = self;
                fetcher.alongside(|| run.land_prefix(landing, job, &reading, names)).await?
            }
            None => {
                state.register.refused.insert(text(job.prefix));
                Ok(0)
            }
        }
    }
}
