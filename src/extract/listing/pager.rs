//! Reads single pages: checks each against its request, keeps its rows, and corrects the plan's limits.

use super::daily::{DailyEndpoint, DailyListing, Verdict};
use super::range_state::RangeState;
use super::same_pages::SamePages;
use crate::client::{Call, MOST_UNDER_WAY, RawRecord};
use crate::contract::business::ACTIVE;
use crate::contract::page::Data;
use crate::contract::plan::PlanLimits;
use crate::contract::records::ListedPage;
use crate::contract::reference::EntityType;
use crate::extract::error::{ExtractError, Result};
use crate::extract::fetch::{Answer, KEPT_REFUSALS, PageFetcher};
use crate::extract::plan::change_rate::RefreshStats;
use crate::extract::query::histogram::Shares;
use crate::extract::query::row::{Interner, SeenRow};
use crate::extract::query::slice::{Filter, Slice};
use crate::extract::query::split::{Dimension, FilterValues};
use hashbrown::HashSet;
use jiff::civil::Date;
use serde::Deserialize;

/// One page, as far as a walk needs it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PageSeen {
    pub(crate) total: u64,
    /// Id and day of each row, in order.
    pub(crate) rows: Vec<(i64, Date)>,
}

pub(crate) enum PageRead {
    Rows(PageSeen),
    /// The offset is above the plan's max offset, which is now corrected.
    OverReach,
    /// The API rejects a value of the filter.
    Rejected,
}

/// The state of a row by its details.
pub(crate) enum RowState {
    /// Listed, in its current form.
    Listed(SeenRow),
    NotListed,
    /// The API has no details of it.
    Unknown,
}

/// Rows that may have come since, where a page behind the last row is requested.
const ROWS_BEHIND: u64 = 10;

/// Times a page that does not fit its request is requested again.
const MOST_REPEATS: u32 = 2;

pub(crate) struct Reader<'r, 'a> {
    pub(crate) fetcher: &'r mut PageFetcher<'a>,
    pub(crate) stage: &'static str,
    pub(crate) plan: &'r mut PlanLimits,
    pub(crate) values: &'r FilterValues,
    /// Filter of the listing.
    pub(crate) listing: Filter,
    /// What is known of the day range that is being read.
    pub(crate) range: RangeState,
    /// How rows are distributed, learned from earlier day ranges.
    pub(crate) shares: &'r mut Shares,
    /// How complete days turned out to have changed.
    pub(crate) refresh: RefreshStats,
    /// The daily endpoint; none where all is read by searches.
    pub(crate) daily: Option<DailyEndpoint<'r>>,
    /// Whether the first new page after those of an earlier process must join them: rows may have changed in between.
    pub(crate) joins_archive: bool,
    /// Whether pages depend on their offset.
    same_pages: SamePages,
    interner: Interner,
    /// Rows on other days than those asked for.
    misdated: HashSet<i64>,
}

impl<'r, 'a> Reader<'r, 'a> {
    pub(crate) fn new(
        fetcher: &'r mut PageFetcher<'a>,
        stage: &'static str,
        plan: &'r mut PlanLimits,
        values: &'r FilterValues,
        shares: &'r mut Shares,
        listing: Filter,
    ) -> Self {
        let (range, refresh, interner, same_pages, misdated) = Default::default();
        let (daily, joins_archive) = (None, false);
        Self {
            fetcher,
            stage,
            plan,
            values,
            listing,
            range,
            shares,
            refresh,
            daily,
            joins_archive,
            same_pages,
            interner,
            misdated,
        }
    }

    /// A page of a slice: of a single unfiltered day by the daily endpoint, of all else by a search.
    pub(crate) async fn page(&mut self, slice: &Slice, offset: u32) -> Result<PageRead> {
        match self.page_of_day(slice, offset).await? {
            Some(page) => Ok(page),
            None => self.page_of_search(slice, offset).await,
        }
    }

    async fn page_of_search(&mut self, slice: &Slice, offset: u32) -> Result<PageRead> {
        let call = Call::search(&slice.search(self.plan.rows_per_call, offset));
        let has_values = slice.has_values_of_records();
        let replayed = self.fetcher.replayed;
        let mut answer = self.fetch_valid(&call, slice, offset).await;
        if let Err(error @ ExtractError::Client(refusal)) = &answer
            && error.is_rejected_query()
            && offset > 0
            && !has_values
        {
            // The max offset is lowered only when the API rejects it twice.
            self.fetcher.invalidate_refusal(refusal)?;
            answer = self.fetch_valid(&call, slice, offset).await;
        }
        self.range.is_archived = self.fetcher.replayed > replayed;
        match answer {
            Ok(page) => Ok(PageRead::Rows(self.add_rows(slice, offset, page)?)),
            Err(error) if error.is_rejected_query() && has_values => {
                tracing::info!(%slice, "the API rejects this part; its rows are searched in another way");
                Ok(PageRead::Rejected)
            }
            Err(error) if error.is_rejected_query() && offset > 0 => {
                self.learn_max_offset(offset, error)?;
                Ok(PageRead::OverReach)
            }
            Err(error) => Err(error),
        }
    }

    /// A page by the daily endpoint; none where a search must read it.
    async fn page_of_day(&mut self, slice: &Slice, offset: u32) -> Result<Option<PageRead>> {
        if self.daily_of(slice).is_none() {
            return Ok(None);
        }
        let replayed = self.fetcher.replayed;
        let requested = self.plan.rows_per_call;
        let call = Call::daily_filings(slice.to, requested, offset);
        let page = match self.fetcher.ask(self.stage, &call).await {
            // A search may answer otherwise.
            Err(error) if KEPT_REFUSALS.into_iter().any(|status| error.is_refused_with(status)) => {
                return self.instead_of_day(slice, offset).await.map(Some);
            }
            answer => answer?,
        };
        self.range.is_archived = self.fetcher.replayed > replayed;
        let judged = self.daily.as_ref().map(|daily| daily.judge(&page.value, slice.to, requested));
        let fits = match judged.unwrap_or(Verdict::OtherRows) {
            Verdict::FewerRows => return self.instead_of_day(slice, offset).await.map(Some),
            _ if self.check(&page.value, slice, offset).is_err() => {
                self.fetcher.invalidate(&page.key)?;
                false
            }
            Verdict::Fits => true,
            Verdict::OtherRows => false,
            Verdict::AskSearch => self.total(slice).await? == page.value.pagination.total,
        };
        if let Some(daily) = &mut self.daily {
            daily.note(fits, page.value.pagination.total);
        }
        if !fits {
            return Ok(None);
        }
        Ok(Some(PageRead::Rows(self.add_rows(slice, offset, page)?)))
    }

    /// A page by a search, where the daily endpoint refused it or had fewer rows on it. If the search did better, the two differ.
    async fn instead_of_day(&mut self, slice: &Slice, offset: u32) -> Result<PageRead> {
        let requested = self.plan.rows_per_call;
        let page = self.page_of_search(slice, offset).await?;
        if let (PageRead::Rows(_), Some(daily)) = (&page, &mut self.daily)
            && self.plan.rows_per_call == requested
        {
            daily.note(false, 0);
        }
        Ok(page)
    }

    /// The daily endpoint, if it may read a slice.
    fn daily_of(&self, slice: &Slice) -> Option<&DailyEndpoint<'r>> {
        let is_unfiltered_day = slice.is_one_day() && slice.filter == Filter::default();
        let daily = self.daily.as_ref().filter(|_| is_unfiltered_day && !self.range.is_searched);
        daily.filter(|daily| *daily.listing != DailyListing::Differs)
    }

    /// Reads the days of this range by searches from now on, because a reading of one failed; the daily endpoint must prove itself anew.
    pub(crate) fn search_days(&mut self) {
        self.range.is_searched = true;
        if let Some(daily) = &mut self.daily {
            daily.doubt();
        }
    }

    /// Whether an earlier process read the page before this one.
    pub(crate) fn resumes_at(&mut self, slice: &Slice, offset: u32) -> Result<bool> {
        Ok(self.joins_archive
            && self.range.is_archived
            && !self.fetcher.is_archived(&self.call(slice, offset))?)
    }

    /// The call of a page, as far as it is known before the daily endpoint is.
    fn call(&self, slice: &Slice, offset: u32) -> Call<ListedPage> {
        let rows = self.plan.rows_per_call;
        match self.daily_of(slice) {
            Some(_) => Call::daily_filings(slice.to, rows, offset),
            None => Call::search(&slice.search(rows, offset)),
        }
    }

    /// The error of a page that never fits those before it.
    pub(crate) fn no_progress(&self, slice: &Slice, offset: u32, reason: String) -> ExtractError {
        ExtractError::NoProgress { target: self.call(slice, offset).target().to_owned(), reason }
    }

    /// Announces the next pages of a slice, unless drift may change their offsets.
    pub(crate) fn expect_pages(&mut self, slice: &Slice, offset: u32, total: u64) {
        if self.range.drift.is_likely() {
            return;
        }
        let last = u64::from(self.plan.max_offset).min(total.saturating_sub(1));
        let offsets = (offset..).step_by(self.plan.rows_per_call as usize);
        let offsets = offsets.take_while(|offset| u64::from(*offset) <= last);
        let calls: Vec<_> = offsets.take(MOST_UNDER_WAY).map(|offset| self.call(slice, offset)).collect();
        self.fetcher.expect(calls, true);
    }

    /// Fetches a page; again, a few times, when it does not fit its request: the API may count and select while rows change.
    async fn fetch_valid(
        &mut self,
        call: &Call<ListedPage>,
        slice: &Slice,
        offset: u32,
    ) -> Result<Answer<ListedPage>> {
        let mut left = MOST_REPEATS;
        loop {
            let page = self.fetcher.ask(self.stage, call).await?;
            let Err(reason) = self.check(&page.value, slice, offset) else { return Ok(page) };
            let wrong = ExtractError::WrongPage { target: call.target().to_owned(), reason };
            self.fetcher.invalidate(&page.key)?;
            if left == 0 {
                return Err(wrong);
            }
            tracing::warn!("{wrong}; requested again");
            left -= 1;
        }
    }

    /// Checks that an answer fits its request; returns what does not.
    fn check(&mut self, page: &ListedPage, slice: &Slice, offset: u32) -> Result<(), String> {
        let (pagination, rows) = (page.pagination, page.records.len());
        if pagination.offset != offset {
            return Err(format!("offset {offset} was requested, {} answered", pagination.offset));
        }
        if pagination.limit == 0 || rows > pagination.limit as usize {
            return Err(format!("{rows} rows under a limit of {}", pagination.limit));
        }
        let newest = self.interner.first_row(&page.records, slice.to);
        if let Some((id, day)) = newest.filter(|(_, day)| *day > slice.to) {
            return Err(format!("business {id} of {day}, but {} is the newest day requested", slice.to));
        }
        if pagination.limit < self.plan.rows_per_call {
            tracing::info!(rows_per_call = pagination.limit, "the plan has fewer rows per call than assumed");
            self.plan.rows_per_call = pagination.limit;
        }
        let due = pagination.total.saturating_sub(u64::from(offset)).min(u64::from(pagination.limit));
        if (rows as u64) < due {
            return Err(format!("{rows} rows, but a total of {} leaves {due}", pagination.total));
        }
        Ok(())
    }

    fn add_rows(&mut self, slice: &Slice, offset: u32, answer: Answer<ListedPage>) -> Result<PageSeen> {
        let Answer { value: page, key, received_at } = answer;
        self.fetcher.rows += page.records.len() as u64;
        self.range.total.get_or_insert(page.pagination.total);
        let mut rows = Vec::with_capacity(page.records.len());
        for row in self.interner.rows(&page.records, slice.to) {
            let day = row.filed_date;
            self.range.unordered |=
                rows.last().is_some_and(|(above, on)| !may_follow(row.id, day, *above, *on));
            rows.push((row.id, day));
            if !(slice.from..=slice.to).contains(&day) && self.misdated.insert(row.id) {
                tracing::warn!(
                    "GET {} lists business {} of {day}: the days asked for are not all complete while it does; \
                     report it to the service if later runs say it too",
                    key.target,
                    row.id
                );
            }
            self.range.seen.insert(row);
        }
        if let Err(reason) = self.same_pages.note(slice, offset, &rows) {
            return Err(ExtractError::NoProgress { target: key.target, reason });
        }
        if !rows.is_empty() {
            self.range.pages.push(key, received_at, page.records);
        }
        Ok(PageSeen { total: page.pagination.total, rows })
    }

    /// Lowers the plan's max offset after the API rejected an offset within it.
    fn learn_max_offset(&mut self, offset: u32, error: ExtractError) -> Result<()> {
        let reached = offset.saturating_sub(self.plan.rows_per_call);
        if reached >= self.plan.max_offset {
            return Err(error);
        }
        tracing::info!(max_offset = reached, "the plan's max offset is lower than assumed");
        self.plan.max_offset = reached;
        Ok(())
    }

    /// The total of a slice; one request.
    pub(crate) async fn total(&mut self, slice: &Slice) -> Result<u64> {
        let call = Call::search(&slice.search(1, 0));
        Ok(self.fetcher.ask(self.stage, &call).await?.value.pagination.total)
    }

    /// The total of a slice with about `known` rows; one request. A page behind the last row costs the API least.
    pub(crate) async fn total_near(&mut self, slice: &Slice, known: u64) -> Result<u64> {
        let max_offset = u64::from(self.plan.max_offset);
        if known == 0 || known > max_offset {
            return self.total(slice).await;
        }
        self.total_behind(slice, max_offset.min(known + ROWS_BEHIND)).await
    }

    /// The total of a day with about `known` rows, while rows change: by pages behind the last row. With more rows than the max offset,
    /// the day has no such page, but its sectors may; none where one of them has too many rows as well.
    pub(crate) async fn total_of_day(&mut self, day: &Slice, known: u64) -> Result<Option<u64>> {
        let max_offset = u64::from(self.plan.max_offset);
        if known <= max_offset || !Dimension::Sector.applies(&day.filter) {
            return Ok(Some(self.total_near(day, known).await?));
        }
        let mut sum = 0;
        for (sector, _) in &self.values.sectors {
            let part = day.under(Filter { industry: Some(sector.clone()), ..day.filter.clone() });
            let total = self.total_behind(&part, max_offset).await?;
            if total > max_offset {
                return Ok(None);
            }
            sum += total;
        }
        Ok(Some(sum))
    }

    /// The total of a slice, by a page at an offset.
    async fn total_behind(&mut self, slice: &Slice, offset: u64) -> Result<u64> {
        match self.fetcher.ask(self.stage, &Call::search(&slice.search(1, offset as u32))).await {
            Ok(page) if page.value.pagination.total > 0 => Ok(page.value.pagination.total),
            // Some services count nothing behind the last row, and a max offset may only be assumed.
            Err(error) if !error.is_rejected_query() => Err(error),
            _ => self.total(slice).await,
        }
    }

    /// Whether one day's slice lists a row, by its details; one request.
    pub(crate) async fn look_up(&mut self, id: i64, slice: &Slice) -> Result<RowState> {
        let answer = self.fetcher.ask_unless_refused(self.stage, &Call::business(id), 404).await?;
        let Some(Answer { value: Data { data: record }, .. }) = answer else { return Ok(RowState::Unknown) };
        let row = self.interner.read(&record, slice.to);
        // An untyped listing excludes fictitious names.
        let is_of_type = slice.filter.kind.is_some() || *row.entity_type != *EntityType::Fictitious.key();
        let is_listed = row.id == id && is_active(&record) && is_of_type && slice.holds(&row);
        Ok(if is_listed { RowState::Listed(row) } else { RowState::NotListed })
    }

    /// How rows are distributed, by all that is known.
    pub(crate) fn shares_now(&self) -> Shares {
        self.range.shares(self.shares)
    }

    pub(crate) fn reach(&self) -> u64 {
        u64::from(self.plan.reach_rows())
    }
}

fn is_active(record: &RawRecord) -> bool {
    #[derive(Deserialize)]
    struct Status {
        status: String,
    }
    serde_json::from_str::<Status>(record.get()).is_ok_and(|record| record.status == ACTIVE)
}

/// Whether a row may follow another: on an older day, or on the same day with a smaller id. A record without an id may be anywhere.
fn may_follow(id: i64, day: Date, above: i64, day_above: Date) -> bool {
    day != day_above || id < above || above < 0
}
