//! Reads pages of one listing and remembers what was on them.

use super::date_walk::Walked;
use super::drift::Drift;
use super::residual::Seeking;
use crate::client::{Call, ClientError, MOST_UNDER_WAY, RawRecord};
use crate::contract::business::ACTIVE;
use crate::contract::page::Page;
use crate::contract::plan::PlanLimits;
use crate::contract::reference::EntityType;
use crate::extract::ExtractError;
use crate::extract::fetch::{Asker, PageKey};
use crate::extract::plan::change_rate::Morning;
use crate::extract::query::histogram::Shares;
use crate::extract::query::row_set::{Interner, Seen, SeenRow};
use crate::extract::query::slice::{Filter, Slice};
use crate::extract::query::split::Vocabulary;
use jiff::civil::Date;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One page, as far as a walk needs it.
pub(crate) struct PageSeen {
    /// All rows of the query.
    pub(crate) total: u64,
    /// Id and day of each row, in order.
    pub(crate) rows: Vec<(i64, Date)>,
}

/// What asking for a page gave.
pub(crate) enum PageRead {
    /// The page.
    Rows(PageSeen),
    /// The plan allows no offset this large; the cap is now known better.
    BeyondReach,
    /// The API does not take a word of the filter.
    Refused,
}

/// Where a row stands by its details.
pub(crate) enum Standing {
    /// In the cell, as it is now.
    Listed(SeenRow),
    /// Not in the cell any more.
    Elsewhere,
    /// There are no details of it.
    Unknown,
}

/// A row of a day counts as so many others at most.
const MOST_WEIGHT: u64 = 100;

/// Times a page that does not fit its question is asked for anew.
const MOST_ASKED_ANEW: u32 = 2;

/// Reads one listing.
pub(crate) struct Reader<'r, 'a> {
    pub(crate) asker: &'r mut Asker<'a>,
    pub(crate) stage: &'static str,
    pub(crate) plan: &'r mut PlanLimits,
    pub(crate) words: &'r Vocabulary,
    pub(crate) shares: &'r mut Shares,
    /// Rows of the stretch in hand.
    pub(crate) seen: Seen,
    /// Pages of the stretch in hand that held rows.
    pub(crate) pages: Vec<PageKey>,
    /// Whether rows move.
    pub(crate) drift: Drift,
    /// Whether rows of the stretch in hand came under narrower filters than its own.
    narrowed: bool,
    /// Whether rows of one day were seen in another order than that of their ids, so that ranks say nothing.
    pub(crate) unordered: bool,
    /// Rows of the stretch in hand that came under no filter.
    pub(crate) sampled: Vec<SeenRow>,
    /// Rows that the lake lists on days of the stretch in hand that are beyond reach: they say under which addresses rows are.
    pub(crate) hints: Vec<SeenRow>,
    /// What is known of the search for rows of the stretch in hand that no part held.
    pub(crate) seeking: Seeking,
    /// How days known whole turned out to have changed.
    pub(crate) morning: Morning,
    /// Filter of the whole listing.
    pub(crate) listing: Filter,
    /// Rows that a part of a cell held no more, and that are listed still.
    pub(crate) kept: u64,
    interner: Interner,
}

impl<'r, 'a> Reader<'r, 'a> {
    pub(crate) fn new(
        asker: &'r mut Asker<'a>,
        stage: &'static str,
        plan: &'r mut PlanLimits,
        words: &'r Vocabulary,
        shares: &'r mut Shares,
    ) -> Self {
        let (seen, pages, interner) = (Seen::default(), Vec::new(), Interner::default());
        Self {
            asker,
            stage,
            plan,
            words,
            shares,
            seen,
            pages,
            drift: Drift::default(),
            narrowed: false,
            unordered: false,
            sampled: Vec::new(),
            hints: Vec::new(),
            seeking: Seeking::default(),
            morning: Morning::default(),
            listing: Filter::default(),
            kept: 0,
            interner,
        }
    }

    /// Asks for the page of a slice at an offset and takes its rows in.
    pub(crate) async fn page(&mut self, slice: &Slice, offset: u32) -> Result<PageRead, ExtractError> {
        self.take(&self.call(slice, offset), slice, offset).await
    }

    fn call(&self, slice: &Slice, offset: u32) -> Call<Page<RawRecord>> {
        Call::search(&slice.search(self.plan.rows_per_call, offset))
    }

    /// Says that the pages of a slice from an offset on come next, unless its reading may end before them because rows moved.
    pub(crate) fn expect_pages(&mut self, slice: &Slice, offset: u32, total: u64) {
        if self.drift.is_likely() {
            return;
        }
        let last = u64::from(self.plan.max_offset).min(total.saturating_sub(1));
        let offsets = (offset..).step_by(self.plan.rows_per_call as usize);
        let offsets = offsets.take_while(|offset| u64::from(*offset) <= last);
        let calls: Vec<_> = offsets.take(MOST_UNDER_WAY).map(|offset| self.call(slice, offset)).collect();
        self.asker.expect(calls);
    }

    /// Asks until the answer fits the question, a few times: the API may count and select while rows move.
    async fn ask_soundly(
        &mut self,
        call: &Call<Page<RawRecord>>,
        slice: &Slice,
        offset: u32,
    ) -> Result<(Page<RawRecord>, PageKey), ExtractError> {
        let mut left = MOST_ASKED_ANEW;
        loop {
            let (page, key) = self.asker.ask(self.stage, call).await?;
            let Err(wrong) = self.check(call.target(), &page, slice, offset) else { return Ok((page, key)) };
            self.asker.disown(&key)?;
            if left == 0 {
                return Err(wrong);
            }
            tracing::warn!("{wrong}; asked anew");
            left -= 1;
        }
    }

    async fn take(
        &mut self,
        call: &Call<Page<RawRecord>>,
        slice: &Slice,
        offset: u32,
    ) -> Result<PageRead, ExtractError> {
        let is_refused = |error: &ClientError| error.refused_status() == Some(400);
        let is_word = slice.filter.holds_words_of_records();
        let mut answer = self.ask_soundly(call, slice, offset).await;
        if let Err(ExtractError::Client(error)) = &answer
            && is_refused(error)
            && offset > 0
            && !is_word
        {
            // The plan is taken for smaller only when the API says so twice.
            self.asker.disown_refusal(error)?;
            answer = self.ask_soundly(call, slice, offset).await;
        }
        let (page, key) = match answer {
            Err(ExtractError::Client(error)) if is_refused(&error) && is_word => {
                tracing::info!(%slice, "the API refuses this part; its rows are sought otherwise");
                return Ok(PageRead::Refused);
            }
            Err(ExtractError::Client(error)) if is_refused(&error) && offset > 0 => {
                self.learn_max_offset(offset, error)?;
                return Ok(PageRead::BeyondReach);
            }
            other => other?,
        };
        let mut day = slice.to;
        let mut rows = Vec::with_capacity(page.data.len());
        for record in &page.data {
            let row = self.interner.read(record, day);
            day = row.filed_date;
            self.unordered |= rows.last().is_some_and(|above| !stands_below(row.id, day, *above));
            rows.push((row.id, day));
            self.seen.insert(row);
        }
        if !rows.is_empty() {
            self.pages.push(key);
        }
        Ok(PageRead::Rows(PageSeen { total: page.pagination.total, rows }))
    }

    /// How rows are spread. Sectors and types by the stretches read whole and the sample of the one in hand, whose other rows
    /// came under a filter; addresses by all rows.
    pub(crate) fn shares_now(&self) -> Shares {
        let mut fair = self.shares.clone();
        fair.learn(self.sampled.iter());
        let mut shares = Shares {
            zip3: self.shares.zip3.clone(),
            abroad: self.shares.abroad.clone(),
            rows: self.shares.rows,
            ..Shares::default()
        };
        shares.learn(self.seen.rows().filter(|row| !self.seen.is_held(row.id)));
        let scale = |counts: BTreeMap<String, u64>| {
            counts.into_iter().map(|(key, rows)| (key, rows * shares.rows / fair.rows.max(1))).collect()
        };
        (shares.sector, shares.kind) = (scale(fair.sector), scale(fair.kind));
        shares
    }

    /// How rows of a cell are spread that the lake lists and that were not seen yet; none where it lists none.
    pub(crate) fn hinted(&self, cell: &Slice) -> Option<Shares> {
        let mut hinted = Shares::default();
        hinted.learn(self.hints.iter().filter(|row| cell.holds(row) && !self.seen.has(row.id)));
        (hinted.rows > 0).then_some(hinted)
    }

    /// How rows of one day's cell are spread: those seen of the cell itself weigh as much as all others together.
    pub(crate) fn shares_of_day(&self, cell: &Slice) -> Shares {
        let mut shares = self.shares_now();
        let rows = || self.seen.rows_of(cell.from, cell.to).filter(|row| cell.filter.matches(row));
        let weight = (shares.rows / (rows().count() as u64).max(1)).clamp(1, MOST_WEIGHT);
        (0..weight).for_each(|_| shares.learn(rows()));
        shares
    }

    /// A clean slate for the next stretch.
    pub(crate) fn begin_stretch(&mut self) {
        self.drift.begin_stretch();
        self.unordered = false;
        (self.narrowed, self.seeking) = (false, Seeking::default());
        (self.sampled, self.hints) = (Vec::new(), Vec::new());
    }

    /// Whether rows seen of a slice are proven to be the whole: nothing was passed over, and they are as many as its total says, which
    /// none can be where rows moved meanwhile.
    pub(crate) fn is_whole(&self, rows: u64, walked: &Walked) -> bool {
        walked.doubtful.is_empty() && (self.drift.is_seen() || rows == walked.total)
    }

    /// From now on rows come under filters: those seen so far are the sample of the stretch in hand.
    pub(crate) fn narrow(&mut self) {
        if !self.narrowed {
            self.narrowed = true;
            self.sampled = self.seen.rows().filter(|row| !self.seen.is_held(row.id)).cloned().collect();
        }
    }

    /// The total of a slice alone, for the price of one request.
    pub(crate) async fn total(&mut self, slice: &Slice) -> Result<u64, ExtractError> {
        let call = Call::search(&slice.search(1, 0));
        let (page, _) = self.asker.ask(self.stage, &call).await?;
        Ok(page.pagination.total)
    }

    /// Where a row stands by its details, for the price of one request: whether one day's cell lists it.
    pub(crate) async fn look_up(&mut self, id: i64, cell: &Slice) -> Result<Standing, ExtractError> {
        let record = match self.asker.ask(self.stage, &Call::business(id)).await {
            Err(ExtractError::Client(error)) if error.refused_status() == Some(404) => {
                return Ok(Standing::Unknown);
            }
            answer => answer?.0.data,
        };
        let row = self.interner.read(&record, cell.to);
        // An untyped listing leaves fictitious names out.
        let is_of_type = cell.filter.kind.is_some() || *row.entity_type != *EntityType::Fictitious.key();
        let is_listed = row.id == id && is_active(&record) && is_of_type && cell.holds(&row);
        Ok(if is_listed { Standing::Listed(row) } else { Standing::Elsewhere })
    }

    /// A 400 at an offset within what the table allows: the plan's cap is lower, and ends before this offset.
    fn learn_max_offset(&mut self, offset: u32, error: ClientError) -> Result<(), ExtractError> {
        let reached = offset.saturating_sub(self.plan.rows_per_call);
        if reached == 0 || reached >= self.plan.max_offset {
            return Err(error.into());
        }
        tracing::info!(max_offset = reached, "the plan's max offset is lower than assumed");
        self.plan.max_offset = reached;
        Ok(())
    }

    /// Holds an answer against the question: what is not what was asked for must not be counted.
    fn check(
        &mut self,
        target: &str,
        page: &Page<RawRecord>,
        slice: &Slice,
        offset: u32,
    ) -> Result<(), ExtractError> {
        let pagination = page.pagination;
        let wrong = |reason: String| Err(ExtractError::WrongPage { target: target.to_owned(), reason });
        if pagination.offset != offset {
            return wrong(format!("offset {} was asked for, {} answered", offset, pagination.offset));
        }
        if pagination.limit == 0 || page.data.len() > pagination.limit as usize {
            return wrong(format!("{} rows under a limit of {}", page.data.len(), pagination.limit));
        }
        let newest = page.data.first().map(|record| self.interner.read(record, slice.to).filed_date);
        if let Some(day) = newest.filter(|day| *day > slice.to) {
            return wrong(format!("a row of {day} where {} is the newest day asked for", slice.to));
        }
        if pagination.limit < self.plan.rows_per_call {
            tracing::info!(rows_per_call = pagination.limit, "the plan gives fewer rows a call than assumed");
            self.plan.rows_per_call = pagination.limit;
        }
        let due = pagination.total.saturating_sub(u64::from(offset)).min(u64::from(pagination.limit));
        if (page.data.len() as u64) < due {
            return wrong(format!(
                "{} rows where a total of {} leaves {due}",
                page.data.len(),
                pagination.total
            ));
        }
        Ok(())
    }
}

/// Whether default listings show a record.
fn is_active(record: &RawRecord) -> bool {
    #[derive(Deserialize)]
    struct Status {
        status: String,
    }
    serde_json::from_str::<Status>(record.get()).is_ok_and(|record| record.status == ACTIVE)
}

/// Whether a row may stand below another: on an older day, or on the same with a lesser id. A record without an id may stand anywhere.
fn stands_below(id: i64, day: Date, above: (i64, Date)) -> bool {
    day != above.1 || id < above.0 || above.0 < 0
}
