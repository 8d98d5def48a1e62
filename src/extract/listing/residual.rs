//! Finds the rows of a slice that none of its parts returned: addresses outside Florida, in ZIP prefixes not requested or without any.
//!
//! In this order, each step only while rows are missing:
//!
//! 1. The ZIP prefixes and cities of rows already read, each over all days of the slice.
//! 2. Single rows: the days whose total differs from the rows read, found by bisection, then the rank within the day. Each row
//!    found may show a prefix with more rows.
//! 3. For rows below reach: prefixes of names, then every ZIP prefix.

use super::pager::{PageRead, Reader};
use super::range_state::Walked;
use super::rank_search;
use crate::contract::eastern::minus_days;
use crate::extract::error::Result;
use crate::extract::plan::cost::{by_prefixes, by_ranks, until_found};
use crate::extract::query::slice::{Filter, Slice};
use crate::extract::query::split::{
    LEAST_ROWS, all_out_of_state_zip3, known_out_of_state, name_prefixes, under_zip,
};
use futures::future::LocalBoxFuture;

/// Reads a slice, also its days over reach. It is passed in, because reading those days may need this search again.
pub(crate) type Walk =
    for<'w, 'r, 'a> fn(&'w mut Reader<'r, 'a>, &'w Slice) -> LocalBoxFuture<'w, Result<Walked>>;

/// Pages in which a missing row is found by its rank.
const RANK_PAGES: u64 = 8;

struct Search<'s> {
    slice: &'s Slice,
    total: u64,
    walk: Walk,
}

/// Searches the rows of a slice that were not read yet; single rows by rank only if wanted.
pub(crate) async fn find(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    total: u64,
    by_rank: bool,
    walk: Walk,
) -> Result<()> {
    let search = Search { slice, total, walk };
    if !search.is_open(reader) {
        return Ok(());
    }
    tracing::debug!(%slice, total, missing = missing(reader, slice, total), "searching rows that no part returned");
    search.request_out_of_state(reader, LEAST_ROWS, by_ranks).await?;
    if by_rank {
        search.find_rows(reader, slice, total).await?;
    }
    search.request_out_of_state(reader, 0.0, by_prefixes).await?;
    search.request_name_prefixes(reader).await?;
    search.request_all_zips(reader).await?;
    let missing = missing(reader, slice, total);
    let residual = &mut reader.range.residual;
    residual.given_up = residual.given_up.max(missing);
    Ok(())
}

fn missing(reader: &Reader<'_, '_>, slice: &Slice, total: u64) -> u64 {
    total.saturating_sub(reader.range.seen.count(slice))
}

/// Whether missing rows are worth a search; not under drift, because then no total can match.
fn is_wanted(reader: &Reader<'_, '_>, slice: &Slice, total: u64) -> bool {
    let missing = missing(reader, slice, total);
    let residual = &reader.range.residual;
    residual.left(reader.plan) > 0 && !reader.range.drift.is_seen() && missing > residual.given_up
}

impl Search<'_> {
    fn is_open(&self, reader: &Reader<'_, '_>) -> bool {
        is_wanted(reader, self.slice, self.total)
    }

    /// Reads a part for one request of those left.
    async fn request(&self, reader: &mut Reader<'_, '_>, part: &Slice) -> Result<()> {
        reader.range.residual.spend(1);
        reader.range.residual.note_requested(part);
        (self.walk)(reader, part).await.map(drop)
    }

    /// Reads the known ZIP prefixes and cities outside Florida that were not requested and have more than `least` expected rows. Stops
    /// when the other way to find the missing rows, which takes `otherwise` requests, costs less.
    async fn request_out_of_state(
        &self,
        reader: &mut Reader<'_, '_>,
        least: f64,
        otherwise: fn(f64) -> f64,
    ) -> Result<()> {
        let filter = &self.slice.filter;
        if filter.zip.is_some() || filter.city.is_some() {
            return Ok(());
        }
        loop {
            let shares = reader.range.hinted(self.slice).unwrap_or_else(|| reader.shares_now());
            let known = known_out_of_state(filter, &shares).into_iter();
            let known = known.filter(|part| part.share * self.total as f64 > least);
            let parts = known.map(|part| (self.slice.under(part.filter), part.share));
            let (parts, weights): (Vec<Slice>, Vec<f64>) =
                parts.filter(|(part, _)| !reader.range.residual.is_requested(part)).unzip();
            if parts.is_empty() {
                return Ok(());
            }
            for (at, part) in parts.iter().enumerate() {
                let rows = missing(reader, self.slice, self.total) as f64;
                if !self.is_open(reader) || otherwise(rows) < until_found(&weights[at..], rows) {
                    return Ok(());
                }
                self.request(reader, part).await?;
            }
        }
    }

    /// Finds missing rows: bisects days by their totals, reads small slices, searches single days by rank. May show a new prefix.
    async fn find_rows(&self, reader: &mut Reader<'_, '_>, slice: &Slice, total: u64) -> Result<()> {
        if !is_wanted(reader, slice, total) {
            return Ok(());
        }
        let pages = reader.plan.pages_for(total);
        let within_reach = total <= reader.reach();
        if pages <= 2 || (within_reach && pages <= missing(reader, slice, total)) {
            reader.range.residual.spend(pages);
            (self.walk)(reader, slice).await?;
            return self.request_out_of_state(reader, LEAST_ROWS, by_ranks).await;
        }
        if slice.is_one_day() {
            return self.find_in_day(reader, slice, total).await;
        }
        let middle = minus_days(slice.to, slice.days() / 2 - 1);
        let newer = slice.between(middle, slice.to);
        let older = slice.between(slice.from, minus_days(middle, 1));
        reader.range.residual.spend(1);
        let newer_total = reader.total(&newer).await?;
        Box::pin(self.find_rows(reader, &newer, newer_total)).await?;
        Box::pin(self.find_rows(reader, &older, total.saturating_sub(newer_total))).await
    }

    async fn find_in_day(&self, reader: &mut Reader<'_, '_>, day: &Slice, total: u64) -> Result<()> {
        let pages = reader.plan.pages_for(total);
        let wanted = missing(reader, day, total).saturating_mul(RANK_PAGES).min(pages).max(RANK_PAGES);
        let granted = (wanted as u32).min(reader.range.residual.left(reader.plan));
        let mut left = granted;
        rank_search::look_for(reader, day, Some(total), i64::MAX, &mut left).await?;
        reader.range.residual.spend(u64::from(granted - left));
        if total <= reader.reach() && is_wanted(reader, day, total) {
            reader.range.residual.spend(pages);
            (self.walk)(reader, day).await?;
        }
        self.request_out_of_state(reader, LEAST_ROWS, by_ranks).await
    }

    /// Requests prefixes of names, those of known rows first. If a prefix has more rows than were read, these are searched.
    async fn request_name_prefixes(&self, reader: &mut Reader<'_, '_>) -> Result<()> {
        let slice = self.slice;
        if slice.filter.name_prefix.is_some() || !self.is_open(reader) {
            return Ok(());
        }
        let rows = reader.range.seen.rows_of(slice.from, slice.to).filter(|row| slice.filter.matches(row));
        for prefix in name_prefixes(rows) {
            if !self.is_open(reader) {
                return Ok(());
            }
            reader.range.residual.spend(1);
            let part = slice.under(Filter { name_prefix: Some(prefix), ..slice.filter.clone() });
            if let PageRead::Rows(page) = reader.page(&part, 0).await? {
                self.find_rows(reader, &part, page.total).await?;
            }
        }
        Ok(())
    }

    async fn request_all_zips(&self, reader: &mut Reader<'_, '_>) -> Result<()> {
        if self.slice.filter.zip.is_some() || !self.is_open(reader) {
            return Ok(());
        }
        for zip in all_out_of_state_zip3(&reader.shares_now()) {
            let part = self.slice.under(under_zip(&self.slice.filter, zip));
            if reader.range.residual.is_requested(&part) {
                continue;
            }
            if !self.is_open(reader) {
                return Ok(());
            }
            self.request(reader, &part).await?;
        }
        Ok(())
    }
}
