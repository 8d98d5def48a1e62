//! Reading the register: start after start of a name, until the API's total is met or no start is worth a request.

use super::extraction::vocabulary;
use super::landing::Landing;
use super::recount::LakeCounts;
use crate::contract::eastern::plus_days;
use crate::contract::plan::PlanLimits;
use crate::contract::reference::EntityType;
use crate::contract::search::StatusFilter;
use crate::extract::ExtractError;
use crate::extract::fetch::Asker;
use crate::extract::plan::cost::until_found;
use crate::extract::reference::Reference;
use crate::extract::registry::prefixes::{Alphabet, Guess, text};
use crate::extract::registry::{REGISTER, StartJob, StartReading, read_start};
use crate::lake::{Commit, Lake};
use crate::pipeline::PipelineError;
use crate::pipeline::config::spec::RegistrySpec;
use crate::pipeline::plan::estimate::StagePrice;
use crate::pipeline::publish::summary::{RegisterSummary, UnprovenStart};
use crate::pipeline::run::Run;
use crate::pipeline::state::registry::{Counted, RegisterState, RegisterStatus, label};
use crate::table::{Table, read_table};
use arrow::array::AsArray;
use arrow::record_batch::RecordBatch;
use jiff::civil::Date;

/// Filings may carry a date to come; none is seen further ahead than this.
const DAYS_AHEAD: u32 = 366;

/// Starts asked for before the guesses are made anew.
const AT_ONCE: usize = 16;

/// A start of which fewer rows are expected is asked for only where rows are known to be missing: then all starts are, until the
/// total is met.
const LEAST_ROWS: f64 = 0.02;

/// A start of which more rows are expected is not left out, whatever the total says.
const MANY_ROWS: f64 = 50.0;

/// A total that was never proven counts what was asked for if all but one row in so many were found.
const NEARLY_ALL: u64 = 10;

/// What this run did of the register.
#[derive(Debug, Clone, Default)]
pub(crate) struct RegisterProgress {
    /// Businesses the API says there are.
    pub(crate) total: u64,
    /// Starts asked for that no name has.
    pub(crate) empty: u64,
    /// Starts likely to have names that were not read.
    pub(crate) left: u64,
    /// Starts that could not be proven whole.
    pub(crate) unproven: Vec<UnprovenStart>,
    /// Whether untyped listings were seen to hold fictitious names.
    untyped_has_fictitious: bool,
}

/// What decides whether a start is asked for.
struct Question<'s> {
    spec: &'s RegistrySpec,
    state: &'s RegisterState,
    progress: &'s RegisterProgress,
}

/// What is likely to be left of the register.
#[derive(Debug, Clone, Copy, Default)]
struct Left {
    rows: f64,
    /// Starts to ask for.
    asked: f64,
    /// Those of them that have names.
    named: f64,
}

impl Question<'_> {
    fn reads_fictitious(&self) -> bool {
        self.spec.fictitious && !self.progress.untyped_has_fictitious
    }

    fn is_out(&self, start: [char; 2], is_fictitious: bool) -> bool {
        let unproven =
            |known: &UnprovenStart| known.start == text(start) && known.entity_type == label(is_fictitious);
        (is_fictitious && !self.reads_fictitious())
            || self.state.is_read(start, is_fictitious)
            || self.progress.unproven.iter().any(unproven)
    }

    /// The starts to ask for next; none when the register is read as far as it can be.
    fn next(&self, alphabet: &Alphabet) -> Vec<Guess> {
        let (held, total) = (self.state.rows(), self.progress.total);
        let misses_few = self.misses_few(held, total);
        let mut guesses = alphabet.guesses(total, false, &|start, kind| self.is_out(start, kind));
        let new = self.share_since_whole(held, total);
        guesses.iter_mut().for_each(|guess| guess.rows *= new);
        let likeliest = guesses.first().map_or(0.0, |guess| guess.rows);
        if held == total && likeliest < MANY_ROWS {
            return Vec::new();
        }
        if likeliest < LEAST_ROWS && misses_few {
            guesses = alphabet.guesses(total, true, &|start, kind| self.is_out(start, kind));
        }
        let least = if misses_few { 0.0 } else { LEAST_ROWS };
        guesses.retain(|guess| guess.rows >= least);
        guesses.truncate(AT_ONCE);
        guesses
    }

    /// What is likely still to be asked for: of the likely starts those that have names, and as many that have none; and once names have
    /// taught how they begin, the rare starts up to the last one that has a row.
    fn left(&self, alphabet: &Alphabet) -> Left {
        let (held, total) = (self.state.rows(), self.progress.total);
        if self.next(alphabet).is_empty() {
            return Left::default();
        }
        let rows = total.saturating_sub(held) as f64;
        let is_out = |start: [char; 2], kind: bool| self.is_out(start, kind);
        let is_likely = |guess: &Guess| guess.rows >= LEAST_ROWS;
        let weights = |guesses: Vec<Guess>, likely: bool| -> Vec<f64> {
            guesses.iter().filter(|guess| is_likely(guess) == likely).map(|guess| guess.rows).collect()
        };
        let likely = weights(alphabet.guesses(total, false, &is_out), true);
        let expected: f64 = likely.iter().sum();
        let has_names = |weight: &f64| 1.0 - (-weight * rows / expected).exp();
        let named: f64 = likely.iter().map(has_names).sum();
        let mut left = Left { rows, asked: 2.0 * named, named };
        let reads_all = self.spec.status == RegisterStatus::All && self.spec.fictitious;
        if likely.is_empty() || (held * 2 > total && (reads_all || self.misses_few(held, total))) {
            let rare = weights(alphabet.guesses(total, true, &is_out), false);
            let rows = if likely.is_empty() { rows } else { rare.iter().sum::<f64>().min(rows) };
            left.asked += if rare.is_empty() { 0.0 } else { until_found(&rare, rows) };
        }
        left
    }

    /// Share of all rows that may stand under starts not read. Once a reading has met the total, these had none: only what was filed
    /// since may.
    fn share_since_whole(&self, held: u64, total: u64) -> f64 {
        match self.state.whole.filter(|whole| held >= *whole) {
            Some(whole) => total.saturating_sub(whole) as f64 / total.max(1) as f64,
            None => 1.0,
        }
    }

    /// Whether so few rows are missing that the total must count what is asked for. What was filed since a reading met the total
    /// stands under starts that are read: no other start tells of it.
    fn misses_few(&self, held: u64, total: u64) -> bool {
        let findable = self.state.whole.map_or(total, |whole| whole.min(total));
        let counts_this = self.state.counted.is_some_and(|counted| {
            counted.later
                && counted.fictitious == self.reads_fictitious()
                && counted.dissolved == (self.spec.status == RegisterStatus::All)
        });
        held < findable && (counts_this || (total - held) * NEARLY_ALL < total)
    }
}

impl Run<'_> {
    /// Reads what is left of the register, landing each start as it is read.
    pub(crate) async fn read_register(
        &mut self,
        spec: &RegistrySpec,
        asker: &mut Asker<'_>,
        reference: &Reference,
        landing: &mut Landing,
    ) -> Result<(), PipelineError> {
        self.state.register.begin(spec.status, self.record.today, spec.max_age_days);
        if spec.status == RegisterStatus::Active && self.state.register.status == Some(RegisterStatus::All) {
            tracing::warn!(
                r#"the lake's register was begun with status = "all" and goes on so; for "active" give another --lake"#
            );
        }
        let mut alphabet = known_names(self.lake, self.lake.current()?.as_ref())?;
        for (start, is_fictitious, rows) in self.state.register.starts() {
            alphabet.settle(start, is_fictitious, rows);
        }
        self.register.total = u64::try_from(reference.stats.businesses_total).unwrap_or(0);
        let now = (self.register.total, self.record.today);
        let price = register_price(spec, &self.state.register, alphabet.clone(), now, &self.plan);
        self.needed = Some(asker.answered() + price.requests);
        let result = self.read_starts(spec, asker, reference, landing, &mut alphabet).await;
        let question = Question { spec, state: &self.state.register, progress: &self.register };
        self.register.left = if result.is_ok() { 0 } else { question.left(&alphabet).asked.ceil() as u64 };
        result
    }

    async fn read_starts(
        &mut self,
        spec: &RegistrySpec,
        asker: &mut Asker<'_>,
        reference: &Reference,
        landing: &mut Landing,
        alphabet: &mut Alphabet,
    ) -> Result<(), PipelineError> {
        let words = vocabulary(reference);
        let status = self.state.register.status.unwrap_or(spec.status).filter();
        let mut to = plus_days(self.record.today, DAYS_AHEAD);
        loop {
            let question = Question { spec, state: &self.state.register, progress: &self.register };
            let guesses = question.next(alphabet);
            if guesses.is_empty() {
                return Ok(());
            }
            for Guess { start, is_fictitious, .. } in guesses {
                let job = StartJob { start, is_fictitious, status, to };
                let shares = self.state.shares.entry(label(is_fictitious).to_owned()).or_default();
                let mut reading = read_start(asker, &mut self.plan, &words, shares, &job).await;
                if to > self.record.today && is_refused(&reading) {
                    // An API that takes no day to come: filings dated ahead are out of reach.
                    to = self.record.today;
                    let job = StartJob { to, ..job };
                    reading = read_start(asker, &mut self.plan, &words, shares, &job).await;
                }
                match reading? {
                    Some(reading) => self.land_start(landing, &job, &reading, alphabet)?,
                    None => drop(self.state.register.refused.insert(text(start))),
                }
            }
        }
    }

    fn land_start(
        &mut self,
        landing: &mut Landing,
        job: &StartJob,
        reading: &StartReading,
        alphabet: &mut Alphabet,
    ) -> Result<(), PipelineError> {
        let StartJob { start, is_fictitious, .. } = *job;
        let mut is_mixed = false;
        landing.land_start(&reading.pages, job.status == StatusFilter::All, &mut |row| {
            alphabet.note_letters(&row.name);
            is_mixed |= !is_fictitious && row.entity_type == EntityType::Fictitious.key();
        })?;
        self.register.untyped_has_fictitious |= is_mixed;
        self.register.empty += u64::from(reading.expected == 0);
        alphabet.settle(start, is_fictitious, reading.held);
        if reading.is_proven {
            self.state.register.finish(start, is_fictitious, self.record.today, reading.held);
        } else {
            self.register.unproven.push(UnprovenStart {
                start: text(start),
                entity_type: label(is_fictitious).to_owned(),
                expected: reading.expected,
                held: reading.held,
            });
        }
        Ok(())
    }

    /// Tells how far the register has been read, and learns what the API's total counts.
    pub(crate) fn register_summary(&mut self, counts: &LakeCounts, is_over: bool) -> RegisterSummary {
        let progress = &self.register;
        let state = &mut self.state.register;
        let is_whole = is_over && progress.left == 0 && progress.unproven.is_empty();
        let total = progress.total;
        let status = state.status.unwrap_or_default();
        let reads_fictitious = progress.untyped_has_fictitious
            || self.pipeline.spec.registry.as_ref().is_some_and(|spec| spec.fictitious);
        // Only a reading of as much can be held against a total.
        let may_mean = |counted: &Counted| {
            (!counted.dissolved || status == RegisterStatus::All) && (!counted.fictitious || reads_fictitious)
        };
        if is_whole {
            let equal = |counted: &Counted| counts.rows(*counted) == total;
            let met = Counted::choices().find(|c| may_mean(c) && equal(c));
            state.whole = met.map(|_| state.rows()).or(state.whole);
            state.counted = met.or(state.counted);
        }
        // While nothing shows what a total counts, it is taken for everything.
        let counted = state.counted.or(Counted::choices().next()).filter(may_mean);
        let missing = counted.map(|counted| total as i64 - counts.rows(counted) as i64);
        RegisterSummary {
            status,
            starts: state.starts().count() as u64,
            empty: progress.empty,
            refused: state.refused.iter().cloned().collect(),
            left: progress.left,
            rows: state.rows(),
            businesses_total: total,
            counted: state.counted,
            missing,
            unproven: progress.unproven.clone(),
        }
    }
}

fn is_refused(reading: &Result<Option<StartReading>, ExtractError>) -> bool {
    match reading {
        Ok(found) => found.is_none(),
        Err(ExtractError::Client(error)) => error.refused_status() == Some(400),
        Err(_) => false,
    }
}

/// What the names in the lake tell of starts.
pub(crate) fn known_names(lake: &Lake, commit: Option<&Commit>) -> Result<Alphabet, PipelineError> {
    let mut alphabet = Alphabet::default();
    let Some(commit) = commit else { return Ok(alphabet) };
    for file in lake.open_snapshot(commit).files(Table::Filings.name())? {
        for batch in read_table(Table::Filings, &file, Some(&["name", "entity_type"]))? {
            note_names(&batch?, &mut alphabet);
        }
    }
    Ok(alphabet)
}

fn note_names(batch: &RecordBatch, alphabet: &mut Alphabet) {
    let (Some(names), Some(kinds)) = (batch.column_by_name("name"), batch.column_by_name("entity_type"))
    else {
        return;
    };
    let names = names.as_string::<i32>().iter().flatten();
    for (name, kind) in names.zip(kinds.as_string::<i32>().iter().flatten()) {
        alphabet.note_start(name, kind == EntityType::Fictitious.key());
        alphabet.note_letters(name);
    }
}

/// Prices what is left of the register: full pages, half a page for each start that has names, and a request for each other one.
pub(crate) fn register_price(
    spec: &RegistrySpec,
    state: &RegisterState,
    mut alphabet: Alphabet,
    (total, today): (u64, Date),
    plan: &PlanLimits,
) -> StagePrice {
    let mut state = state.clone();
    state.begin(spec.status, today, spec.max_age_days);
    for (start, is_fictitious, rows) in state.starts() {
        alphabet.settle(start, is_fictitious, rows);
    }
    let progress = RegisterProgress { total, ..RegisterProgress::default() };
    let left = Question { spec, state: &state, progress: &progress }.left(&alphabet);
    let page = f64::from(plan.rows_per_call.max(1));
    let requests = left.rows / page + left.named / 2.0 + (left.asked - left.named);
    StagePrice {
        name: REGISTER.to_owned(),
        slices: left.asked.ceil() as u64,
        rows: left.rows as u64,
        requests: requests.ceil() as u64,
    }
}

/// The residual in words, where there is one.
pub(crate) fn missing_words(summary: &RegisterSummary) -> Option<String> {
    let missing = summary.missing.filter(|missing| *missing != 0)?;
    let (total, found) = (summary.businesses_total, summary.businesses_total as i64 - missing);
    Some(format!("the API counts {total} businesses, the lake holds {found} of those that this counts"))
}
