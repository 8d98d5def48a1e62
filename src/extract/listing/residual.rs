//! Finds the rows of a slice that none of its parts returned: addresses outside Florida, in ZIP prefixes not requested or without any.
//!
//! In this order, each step only while rows are missing:
//!
//! 1. The ZIP prefixes and cities of rows already read, each over all days of the slice.
//! 2. Single rows: the days whose total differs from the rows read, found by bisection, then the rank within the day. Each row
//!    found may show a prefix with more rows.
//! 3. The prefixes and cities that step 1 skipped because few rows were expected, as long as they cost less than step 4.
//! 4. Prefixes of names, then every ZIP prefix.

use super::pager::{PageRead, Reader};
use super::rank_search;
use crate::extract::error::Result;
use crate::extract::plan::cost::{by_prefixes, by_ranks, until_found};
use crate::extract::query::slice::{Filter, Slice};
use crate::extract::query::split::{
    LEAST_ROWS, all_out_of_state_zip3, known_out_of_state, name_prefixes, under_zip,
};
use std::vec::IntoIter;

/// Pages in which a missing row is found by its rank.
const RANK_PAGES: u64 = 8;

/// Pages that are read without a look for single rows: a look takes as many.
const READ_AT_ONCE: u64 = 2;

/// The search of a slice. It says which part is to be read next; reading a part may need a search of its own.
pub(crate) struct Search {
    slice: Slice,
    total: u64,
    /// What is left to do; the last is the next.
    steps: Vec<Step>,
}

enum Step {
    /// Read ZIP prefixes and cities outside Florida that rows have shown.
    Known(Known),
    /// Find the missing rows of a slice with this total.
    Rows { slice: Slice, total: u64 },
    /// Look for missing rows below prefixes of names: those not tried yet, or all of them.
    Names(Option<IntoIter<String>>),
    /// Read ZIP prefixes outside Florida: those not tried yet, or all of them.
    Zips(Option<IntoIter<String>>),
    /// Take note of the rows that no step has found.
    End,
}

struct Known {
    /// Parts with fewer expected rows are skipped.
    least: f64,
    /// The requests that another way takes to find a number of rows. When that costs less, the rest is skipped.
    cost_of_next_way: fn(f64) -> f64,
    /// Parts, with their shares of all rows.
    parts: IntoIter<(Slice, f64)>,
}

impl Step {
    fn known(least: f64, cost_of_next_way: fn(f64) -> f64) -> Self {
        Self::Known(Known { least, cost_of_next_way, parts: Vec::new().into_iter() })
    }
}

fn missing(reader: &Reader<'_, '_>, slice: &Slice, total: u64) -> u64 {
    total.saturating_sub(reader.range.seen.count(slice))
}

/// Whether missing rows are worth a search; not under drift, because then no total can match.
fn is_wanted(reader: &Reader<'_, '_>, slice: &Slice, total: u64) -> bool {
    let missing = missing(reader, slice, total);
    let budget = &reader.range.search_budget;
    budget.left(reader.plan) > 0 && !reader.range.drift.is_seen && missing > budget.given_up
}

/// The part, after one request of those left is spent on it.
fn spend_on(reader: &mut Reader<'_, '_>, part: Slice) -> Slice {
    reader.range.search_budget.spend(1);
    reader.range.search_budget.note_requested(&part);
    part
}

impl Search {
    /// Begins a search for the rows of a slice that were not read yet; for single rows by rank only if wanted.
    pub(crate) fn begin(reader: &Reader<'_, '_>, slice: &Slice, total: u64, by_rank: bool) -> Self {
        let mut search = Self { slice: slice.clone(), total, steps: Vec::new() };
        if search.is_open(reader) {
            tracing::debug!(%slice, total, missing = missing(reader, slice, total), "searching rows that no part returned");
            search.steps.push(Step::known(LEAST_ROWS, by_ranks));
            search.steps.extend(by_rank.then(|| Step::Rows { slice: slice.clone(), total }));
            search.steps.extend([
                Step::known(0.0, by_prefixes),
                Step::Names(None),
                Step::Zips(None),
                Step::End,
            ]);
            search.steps.reverse();
        }
        search
    }

    /// The part to read next; none when all rows are found, or nothing is left to do.
    pub(crate) async fn next(&mut self, reader: &mut Reader<'_, '_>) -> Result<Option<Slice>> {
        while let Some(step) = self.steps.pop() {
            let part = match step {
                Step::Known(known) => self.next_known(reader, known),
                Step::Rows { slice, total } => self.find_rows(reader, slice, total).await?,
                Step::Zips(zips) => self.next_zip(reader, zips),
                Step::Names(prefixes) => {
                    self.try_name(reader, prefixes).await?;
                    None
                }
                Step::End => {
                    let missing = missing(reader, &self.slice, self.total);
                    let given_up = &mut reader.range.search_budget.given_up;
                    *given_up = missing.max(*given_up);
                    None
                }
            };
            if part.is_some() {
                return Ok(part);
            }
        }
        Ok(None)
    }

    fn is_open(&self, reader: &Reader<'_, '_>) -> bool {
        is_wanted(reader, &self.slice, self.total)
    }

    /// The next known ZIP prefix or city outside Florida that was not requested. Parts that were read may have shown more of them.
    fn next_known(&mut self, reader: &mut Reader<'_, '_>, mut known: Known) -> Option<Slice> {
        let filter = &self.slice.filter;
        if filter.zip.is_some() || filter.city.is_some() {
            return None;
        }
        if known.parts.as_slice().is_empty() {
            known.parts = self.known_parts(reader, known.least).into_iter();
        }
        let rows = missing(reader, &self.slice, self.total) as f64;
        let weights: Vec<f64> = known.parts.as_slice().iter().map(|(_, share)| *share).collect();
        if !self.is_open(reader) || (known.cost_of_next_way)(rows) < until_found(&weights, rows) {
            return None;
        }
        let (part, _) = known.parts.next()?;
        self.steps.push(Step::Known(known));
        Some(spend_on(reader, part))
    }

    fn known_parts(&self, reader: &Reader<'_, '_>, least: f64) -> Vec<(Slice, f64)> {
        let shares = reader.range.hinted(&self.slice).unwrap_or_else(|| reader.shares_now());
        let known = known_out_of_state(&self.slice.filter, &shares).into_iter();
        let known = known.filter(|part| part.share * self.total as f64 > least);
        let parts = known.map(|part| (self.slice.under(part.filter), part.share));
        parts.filter(|(part, _)| !reader.range.search_budget.is_requested(part)).collect()
    }

    /// Finds missing rows: bisects days by their totals, reads small slices, searches single days by rank. May show a new prefix.
    async fn find_rows(
        &mut self,
        reader: &mut Reader<'_, '_>,
        slice: Slice,
        total: u64,
    ) -> Result<Option<Slice>> {
        if !is_wanted(reader, &slice, total) {
            return Ok(None);
        }
        let pages = reader.plan.pages_for(total);
        let within_reach = total <= reader.reach();
        if pages <= READ_AT_ONCE || (within_reach && pages <= missing(reader, &slice, total)) {
            self.steps.push(Step::known(LEAST_ROWS, by_ranks));
            reader.range.search_budget.spend(pages);
            return Ok(Some(slice));
        }
        if slice.is_one_day() {
            self.steps.push(Step::known(LEAST_ROWS, by_ranks));
            return find_in_day(reader, slice, total).await;
        }
        let (newer, older) = slice.halves();
        reader.range.search_budget.spend(1);
        let newer_total = reader.total(&newer).await?;
        self.steps.push(Step::Rows { slice: older, total: total.saturating_sub(newer_total) });
        self.steps.push(Step::Rows { slice: newer, total: newer_total });
        Ok(None)
    }

    /// Prefixes of names, those of known rows first.
    fn names(&self, reader: &Reader<'_, '_>) -> IntoIter<String> {
        name_prefixes(reader.range.seen.rows_in(&self.slice)).into_iter()
    }

    /// Asks for the rows of the next prefix. If it has more than were read, these are searched.
    async fn try_name(
        &mut self,
        reader: &mut Reader<'_, '_>,
        prefixes: Option<IntoIter<String>>,
    ) -> Result<()> {
        if self.slice.filter.q.is_some() || !self.is_open(reader) {
            return Ok(());
        }
        let mut prefixes = prefixes.unwrap_or_else(|| self.names(reader));
        let Some(prefix) = prefixes.next() else { return Ok(()) };
        self.steps.push(Step::Names(Some(prefixes)));
        reader.range.search_budget.spend(1);
        let slice = self.slice.under(Filter { q: Some(prefix), ..self.slice.filter.clone() });
        if let PageRead::Rows(page) = reader.page(&slice, 0).await? {
            self.steps.push(Step::Rows { slice, total: page.total });
        }
        Ok(())
    }

    fn next_zip(&mut self, reader: &mut Reader<'_, '_>, zips: Option<IntoIter<String>>) -> Option<Slice> {
        if self.slice.filter.zip.is_some() || !self.is_open(reader) {
            return None;
        }
        let mut zips = zips.unwrap_or_else(|| all_out_of_state_zip3(&reader.shares_now()).into_iter());
        let budget = &reader.range.search_budget;
        let mut parts = zips.by_ref().map(|zip| self.slice.under(under_zip(&self.slice.filter, zip)));
        let part = parts.find(|part| !budget.is_requested(part))?;
        self.steps.push(Step::Zips(Some(zips)));
        Some(spend_on(reader, part))
    }
}

/// Searches the missing rows of a day by their ranks. Returns the day if it is to be read as well.
async fn find_in_day(reader: &mut Reader<'_, '_>, day: Slice, total: u64) -> Result<Option<Slice>> {
    let pages = reader.plan.pages_for(total);
    let wanted = missing(reader, &day, total).saturating_mul(RANK_PAGES).min(pages).max(RANK_PAGES);
    let granted = (wanted as u32).min(reader.range.search_budget.left(reader.plan));
    let mut left = granted;
    // From the newest id of the day.
    rank_search::look_for(reader, &day, Some(total), i64::MAX, &mut left).await?;
    reader.range.search_budget.spend(u64::from(granted - left));
    if total > reader.reach() || !is_wanted(reader, &day, total) {
        return Ok(None);
    }
    reader.range.search_budget.spend(pages);
    Ok(Some(day))
}
