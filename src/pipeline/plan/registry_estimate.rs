//! Which prefixes of names are searched next, and what is left of the register (pure, but for reading the lake's names).

use super::refresh_cost::StagePrice;
use crate::contract::listing::Listing;
use crate::contract::plan::PlanLimits;
use crate::extract::plan::cost::until_found;
use crate::extract::registry::REGISTER;
use crate::extract::registry::prefixes::{Guess, NamePrefix, PrefixModel, prefix_of};
use crate::lake::{Commit, Lake};
use crate::pipeline::config::spec::RegistrySpec;
use crate::pipeline::error::Result;
use crate::pipeline::state::registry::{RegisterProgress, RegisterState, RegisterStatus, label};
use crate::table::{FilingColumns, Table, read_table};
use hashbrown::HashMap;
use jiff::civil::Date;

/// Prefixes searched before the guesses are made anew: this number, or one in 16 of those that were read, if that is more. The more is
/// known, the less changes.
const AT_ONCE: usize = 16;
const AT_ONCE_SHARE: usize = 16;

/// A prefix with fewer expected rows is rare: it is requested after all others, and only until the total is reached.
const LEAST_ROWS: f64 = 0.02;

/// A prefix with more expected rows is always requested, whatever the total is.
const MANY_ROWS: f64 = 50.0;

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
    pub(crate) prefixes: f64,
    /// Those of them that have names, each with a page that is half full.
    named: f64,
}

impl Question<'_> {
    /// The prefixes that are read, cannot be read or are not complete; each for other names and for fictitious ones.
    fn out(&self) -> HashMap<NamePrefix, [bool; 2]> {
        let refused = self.state.refused.iter().filter_map(|start| prefix_of(start));
        let mut out: HashMap<NamePrefix, [bool; 2]> = refused.map(|start| (start, [true; 2])).collect();
        let read = self.state.starts().map(|(start, is_fictitious, _)| (start, is_fictitious));
        let unproven =
            self.progress.unproven.iter().filter_map(|unproven| {
                Some((prefix_of(&unproven.start)?, unproven.entity_type == label(true)))
            });
        for (start, is_fictitious) in read.chain(unproven) {
            out.entry(start).or_default()[usize::from(is_fictitious)] = true;
        }
        out
    }

    fn guesses(&self, names: &PrefixModel, thorough: bool) -> Vec<Guess> {
        let out = self.out();
        let reads_fictitious = self.spec.fictitious && !self.state.untyped_has_fictitious;
        let is_due = |start| {
            let [others, fictitious] = out.get(&start).copied().unwrap_or_default();
            [!others, reads_fictitious && !fictitious]
        };
        names.guesses(self.total(), thorough, &is_due)
    }

    fn total(&self) -> u64 {
        self.state.total.unwrap_or(0)
    }

    /// The prefixes to search next; none when the register is read as far as it can be.
    pub(crate) fn next(&self, names: &PrefixModel) -> Vec<Guess> {
        let mut due = self.due(names);
        due.truncate(AT_ONCE.max(self.state.starts().count() / AT_ONCE_SHARE));
        due
    }

    /// All prefixes that are worth a request by what is known now. Those of names in the lake always are. The others are, until the
    /// rows equal the total; without a total to compare, all of them are.
    fn due(&self, names: &PrefixModel) -> Vec<Guess> {
        let mut due = self.guesses(names, false);
        if due.first().is_none_or(|likeliest| likeliest.rows < LEAST_ROWS) {
            due = self.guesses(names, true);
        }
        let least = match self.state.searched {
            _ if self.state.equals_total() => MANY_ROWS,
            Some(_) => LEAST_ROWS,
            None => 0.0,
        };
        let new = self.share_since_search();
        due.retain(|guess| guess.is_known || guess.rows * new >= least);
        due
    }

    /// Share of all rows that unread prefixes can have: none of those counted when a search last ended.
    fn share_since_search(&self) -> f64 {
        match self.state.searched {
            Some(then) => self.total().saturating_sub(then) as f64 / self.total().max(1) as f64,
            None => 1.0,
        }
    }

    /// What is likely to be left. Where the total ends the search: the likely prefixes up to the last one that has a row, and once enough
    /// names are known, the rare ones likewise. Otherwise all that are due.
    pub(crate) fn left(&self, names: &PrefixModel) -> Left {
        let due = self.due(names);
        if due.is_empty() {
            return Left::default();
        }
        let (held, total) = (self.state.rows(), self.total());
        let rows = total.saturating_sub(held) as f64;
        if !self.ends_at_total() {
            return Left { rows, prefixes: due.len() as f64, named: 0.0 };
        }
        let weights = |guesses: &[Guess], likely: bool| -> Vec<f64> {
            let weights = guesses.iter().map(|guess| guess.rows);
            weights.filter(|rows| (*rows >= LEAST_ROWS) == likely).collect()
        };
        let likely = weights(&due, true);
        let expected: f64 = likely.iter().sum();
        let has_names = |weight: &f64| 1.0 - (-weight * rows / expected).exp();
        let named: f64 = likely.iter().map(has_names).sum();
        let mut left = Left { rows, prefixes: until_found(&likely, rows), named };
        if likely.is_empty() || held * 2 > total {
            let rare = weights(&self.guesses(names, true), false);
            let rows = if likely.is_empty() { rows } else { rare.iter().sum::<f64>().min(rows) };
            left.prefixes += if rare.is_empty() { 0.0 } else { until_found(&rare, rows) };
        }
        left
    }

    /// Whether the rows may equal the total before every prefix is read: it counts nothing that is not read, and has not changed.
    fn ends_at_total(&self) -> bool {
        let reads_all = self.spec.status == RegisterStatus::All && self.spec.fictitious;
        reads_all && self.state.searched.is_none() && self.state.is_steady()
    }
}

/// What the names in the lake show about prefixes.
pub(crate) fn known_names(
    lake: &Lake,
    commit: Option<&Commit>,
    register: &RegisterState,
) -> Result<PrefixModel> {
    let mut model = PrefixModel::default();
    let Some(commit) = commit else { return Ok(model) };
    for file in lake.open_snapshot(commit).files(Table::Filings.name())? {
        for batch in read_table(Table::Filings, &file, Some(&["name", "entity_type"]))? {
            let batch = batch?;
            let columns = FilingColumns::new(&batch);
            let (names, kinds) = (columns.name()?, columns.entity_type()?);
            for (name, kind) in names.iter().flatten().zip(kinds.iter().flatten()) {
                let is_fictitious = Listing::FICTITIOUS.holds(kind) && !register.untyped_has_fictitious;
                model.note_prefix(name, is_fictitious);
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
    total: u64,
    today: Date,
    plan: &PlanLimits,
) -> StagePrice {
    let mut state = state.clone();
    state.begin(spec.status, today, spec.max_age_days);
    state.note_total(total, today, false);
    for (start, is_fictitious, rows) in state.starts() {
        names.set_count(start, is_fictitious, rows);
    }
    let left = Question { spec, state: &state, progress: &RegisterProgress::default() }.left(&names);
    let page = f64::from(plan.rows_per_call.max(1));
    let requests = left.rows / page + left.named / 2.0 + (left.prefixes - left.named);
    StagePrice {
        name: REGISTER.to_owned(),
        slices: left.prefixes.ceil() as u64,
        rows: left.rows as u64,
        requests: requests.ceil() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;
    use jiff::civil::date;

    /// The search ends with the last name. In a small register nearly every likely prefix comes before its own; in a large one all prefixes
    /// have names, and there are no more than these.
    #[test]
    fn the_first_plan_counts_the_prefixes_up_to_the_last_name() {
        let price = |total| {
            let (spec, state) = (RegistrySpec::default(), RegisterState::default());
            let (today, plan) = (date(2026, 11, 20), Plan::Agency.limits());
            register_price(&spec, &state, PrefixModel::default(), total, today, &plan)
        };
        // Invented names of these numbers took 6,959 and 3,808 requests.
        let [few, many, florida] = [393, 25_958, 3_000_000].map(price);
        assert!((5_000..5_500).contains(&few.requests), "{}", few.requests);
        assert!((6_800..7_100).contains(&many.requests), "{}", many.requests);
        assert!(florida.slices < 10_000 && florida.requests > 30_000, "{}", florida.slices);
    }
}
