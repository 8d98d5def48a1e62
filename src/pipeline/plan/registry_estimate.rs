//! Which prefixes of names are searched next, and what is left of the register (pure, but for reading the lake's names).

use super::refresh_cost::StagePrice;
use crate::contract::listing::Listing;
use crate::contract::plan::PlanLimits;
use crate::extract::plan::cost::until_found;
use crate::extract::registry::REGISTER;
use crate::extract::registry::prefixes::{Guess, PrefixModel, text};
use crate::lake::{Commit, Lake};
use crate::pipeline::config::spec::RegistrySpec;
use crate::pipeline::error::Result;
use crate::pipeline::state::registry::{
    RegisterProgress, RegisterState, RegisterStatus, UnprovenStart, label,
};
use crate::table::{FilingColumns, Table, read_table};
use jiff::civil::Date;

/// Prefixes searched before the guesses are made anew.
const AT_ONCE: usize = 16;

/// A prefix with fewer expected rows is only searched where rows are known to be missing. All are, until the total is reached.
const LEAST_ROWS: f64 = 0.02;

/// A prefix with more expected rows is always searched, whatever the total is.
const MANY_ROWS: f64 = 50.0;

/// A total that was never checked counts what was read if all but 1 in 10 rows were found.
const NEARLY_ALL: u64 = 10;

/// What decides which prefixes are searched.
pub(crate) struct Question<'s> {
    pub(crate) spec: &'s RegistrySpec,
    pub(crate) state: &'s RegisterState,
    pub(crate) progress: &'s RegisterProgress,
}

/// What is likely to be left of the register.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Left {
    rows: f64,
    /// Prefixes to search.
    pub(crate) asked: f64,
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

    /// The prefixes to search next; none when the register is read as far as it can be.
    pub(crate) fn next(&self, names: &PrefixModel) -> Vec<Guess> {
        let (held, total) = (self.state.rows(), self.progress.total);
        let misses_few = self.misses_few(held, total);
        let mut guesses = names.guesses(total, false, &|start, kind| self.is_out(start, kind));
        let new = self.share_since_complete(held, total);
        guesses.iter_mut().for_each(|guess| guess.rows *= new);
        let likeliest = guesses.first().map_or(0.0, |guess| guess.rows);
        if held == total && likeliest < MANY_ROWS {
            return Vec::new();
        }
        if likeliest < LEAST_ROWS && misses_few {
            guesses = names.guesses(total, true, &|start, kind| self.is_out(start, kind));
        }
        let least = if misses_few { 0.0 } else { LEAST_ROWS };
        guesses.retain(|guess| guess.rows >= least);
        guesses.truncate(AT_ONCE);
        guesses
    }

    /// What is likely to be left: of the likely prefixes those that have names, and an equal number without; and once enough names are
    /// known, the rare prefixes up to the last one that has a row.
    pub(crate) fn left(&self, names: &PrefixModel) -> Left {
        let (held, total) = (self.state.rows(), self.progress.total);
        if self.next(names).is_empty() {
            return Left::default();
        }
        let rows = total.saturating_sub(held) as f64;
        let is_out = |start: [char; 2], kind: bool| self.is_out(start, kind);
        let is_likely = |guess: &Guess| guess.rows >= LEAST_ROWS;
        let weights = |guesses: Vec<Guess>, likely: bool| -> Vec<f64> {
            guesses.iter().filter(|guess| is_likely(guess) == likely).map(|guess| guess.rows).collect()
        };
        let likely = weights(names.guesses(total, false, &is_out), true);
        let expected: f64 = likely.iter().sum();
        let has_names = |weight: &f64| 1.0 - (-weight * rows / expected).exp();
        let named: f64 = likely.iter().map(has_names).sum();
        let mut left = Left { rows, asked: 2.0 * named, named };
        let reads_all = self.spec.status == RegisterStatus::All && self.spec.fictitious;
        if likely.is_empty() || (held * 2 > total && (reads_all || self.misses_few(held, total))) {
            let rare = weights(names.guesses(total, true, &is_out), false);
            let rows = if likely.is_empty() { rows } else { rare.iter().sum::<f64>().min(rows) };
            left.asked += if rare.is_empty() { 0.0 } else { until_found(&rare, rows) };
        }
        left
    }

    /// Share of all rows that unread prefixes can have: none of those counted when a reading equalled the total.
    fn share_since_complete(&self, held: u64, total: u64) -> f64 {
        match self.state.whole.filter(|then| held >= *then) {
            Some(then) => total.saturating_sub(then) as f64 / total.max(1) as f64,
            None => 1.0,
        }
    }

    /// Whether so few rows are missing that the total must count what is read. Businesses filed after a reading equalled the total have
    /// prefixes that were read, so no other prefix shows them.
    fn misses_few(&self, held: u64, total: u64) -> bool {
        let findable = self.state.whole.map_or(total, |then| then.min(total));
        let counts_this = self.state.counted.is_some_and(|counted| {
            counted.later
                && counted.fictitious == self.reads_fictitious()
                && counted.dissolved == (self.spec.status == RegisterStatus::All)
        });
        held < findable && (counts_this || (total - held) * NEARLY_ALL < total)
    }
}

/// What the names in the lake show about prefixes.
pub(crate) fn known_names(lake: &Lake, commit: Option<&Commit>) -> Result<PrefixModel> {
    let mut model = PrefixModel::default();
    let Some(commit) = commit else { return Ok(model) };
    for file in lake.open_snapshot(commit).files(Table::Filings.name())? {
        for batch in read_table(Table::Filings, &file, Some(&["name", "entity_type"]))? {
            let batch = batch?;
            let columns = FilingColumns::new(&batch);
            let (names, kinds) = (columns.name()?, columns.entity_type()?);
            for (name, kind) in names.iter().flatten().zip(kinds.iter().flatten()) {
                model.note_prefix(name, Listing::FICTITIOUS.holds(kind));
                model.note_letters(name);
            }
        }
    }
    Ok(model)
}

/// The cost of what is left: full pages, half a page for each prefix with names, a request for each other prefix.
pub(crate) fn register_price(
    spec: &RegistrySpec,
    state: &RegisterState,
    mut names: PrefixModel,
    (total, today): (u64, Date),
    plan: &PlanLimits,
) -> StagePrice {
    let mut state = state.clone();
    state.begin(spec.status, today, spec.max_age_days);
    for (start, is_fictitious, rows) in state.starts() {
        names.set_count(start, is_fictitious, rows);
    }
    let progress = RegisterProgress { total, ..RegisterProgress::default() };
    let left = Question { spec, state: &state, progress: &progress }.left(&names);
    let page = f64::from(plan.rows_per_call.max(1));
    let requests = left.rows / page + left.named / 2.0 + (left.asked - left.named);
    StagePrice {
        name: REGISTER.to_owned(),
        slices: left.asked.ceil() as u64,
        rows: left.rows as u64,
        requests: requests.ceil() as u64,
    }
}
