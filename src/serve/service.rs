//! The twelve operations on an index. It knows neither HTTP nor MCP: caller and arguments in, JSON or an error out.

use super::auth::access::{Accounts, Caller};
use super::auth::usage_meter::Meter;
use super::index::Index;
use super::index::filter::IndustryMeaning;
use super::index::listing_query::Selection;
use crate::contract::account::{Account, AccountLimits};
use crate::contract::argument::Arguments;
use crate::contract::count::DailyCount;
use crate::contract::daily::{CheckedDay, CheckedDays};
use crate::contract::eastern::{eastern_day, epoch_days, minus_days};
use crate::contract::endpoint::{DATA_SCOPE, Endpoint};
use crate::contract::error::{ErrorBody, Message, Violation};
use crate::contract::id::{BusinessIdParam, CountyKey, DocumentNumber};
use crate::contract::page::{Data, Page, Pagination};
use crate::contract::reference::{EntityType, EntityTypeEntry};
use crate::contract::request::checked_page::CheckedPage;
use crate::contract::search::CheckedSearch;
use arc_swap::ArcSwap;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;

/// Tells the time; passed in, so that a test can stop it.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Why a request is not answered as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// No key, or none that is known: 401.
    #[error("the API key is missing or not valid; send it as Authorization: Bearer <API_KEY>")]
    Unauthorized {
        /// Whether a key was sent at all.
        key_sent: bool,
    },
    /// The account's plan has no API access: 403.
    #[error("the plan of this account has no API access")]
    NoApiAccess,
    /// The key lacks the `data` scope: 403.
    #[error("the key lacks the data scope")]
    MissingScope,
    /// A window of the account is full: 429.
    #[error("the account is over a request limit; wait {retry_after_secs} s")]
    OverLimit {
        /// Whole seconds until it opens.
        retry_after_secs: u64,
    },
    /// Broken rules, all of one status: 400 or 403.
    #[error("{}", Message::from_list(.0.iter().map(|violation| violation.message.clone()).collect()))]
    Broken(Vec<Violation>),
    /// No such business, county or detail: 404.
    #[error("{0}")]
    NotFound(String),
}

impl ApiError {
    /// The HTTP status.
    pub fn status(&self) -> u16 {
        match self {
            Self::Unauthorized { .. } => 401,
            Self::NoApiAccess | Self::MissingScope => 403,
            Self::OverLimit { .. } => 429,
            Self::Broken(violations) => violations.first().map_or(400, |violation| violation.status),
            Self::NotFound(_) => 404,
        }
    }

    /// The error body; one text for one problem, a list for several.
    pub fn body(&self, docs_url: &str) -> ErrorBody {
        let message = match self {
            Self::Broken(violations) => {
                Message::from_list(violations.iter().map(|violation| violation.message.clone()).collect())
            }
            other => Message::One(other.to_string()),
        };
        ErrorBody { status_code: self.status(), message, docs_url: docs_url.to_owned() }
    }
}

/// An index and what is counted anew each Eastern day, written once.
struct View {
    index: Arc<Index>,
    today: Date,
    counties: Vec<u8>,
    county_of_key: HashMap<String, Vec<u8>>,
    stats: Vec<u8>,
    industries: Vec<u8>,
}

impl View {
    fn new(index: Arc<Index>, today: Date) -> Self {
        let counts = index.county_counts(today);
        let county_of_key = counts.iter().map(|county| (county.key.clone(), data_json(county))).collect();
        Self {
            today,
            counties: data_json(&counts),
            county_of_key,
            stats: data_json(&index.stats(today)),
            industries: data_json(index.industries()),
            index,
        }
    }
}

/// The API on an index that can be swapped while it serves.
pub struct Service {
    view: ArcSwap<View>,
    accounts: ArcSwap<Accounts>,
    meter: Meter,
    clock: Clock,
    fixed_today: Option<Date>,
    entity_types: Vec<u8>,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Service").field("today", &self.today()).finish_non_exhaustive()
    }
}

impl Service {
    /// Serves an index to accounts. With `fixed_today` that day is believed in; the windows still follow the clock.
    pub fn new(
        index: Arc<Index>,
        accounts: Accounts,
        meter: Meter,
        clock: Clock,
        fixed_today: Option<Date>,
    ) -> Self {
        let today = fixed_today.unwrap_or_else(|| eastern_day(clock()));
        let entries = EntityType::ALL
            .map(|kind| EntityTypeEntry { key: kind.key().to_owned(), label: kind.label().to_owned() });
        Self {
            view: ArcSwap::from_pointee(View::new(index, today)),
            accounts: ArcSwap::from_pointee(accounts),
            meter,
            clock,
            fixed_today,
            entity_types: data_json(&entries),
        }
    }

    /// Serves another index from now on, and gives the old one back; requests under way end on that.
    pub fn swap_index(&self, index: Arc<Index>) -> Arc<Index> {
        let old = self.view.swap(Arc::new(View::new(index, self.today())));
        Arc::clone(&old.index)
    }

    /// Knows other keys from now on.
    pub fn swap_accounts(&self, accounts: Accounts) {
        self.accounts.store(Arc::new(accounts));
    }

    /// The counts of requests.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The Eastern day the service believes in.
    pub fn today(&self) -> Date {
        self.fixed_today.unwrap_or_else(|| eastern_day((self.clock)()))
    }

    /// Finds out who asks.
    ///
    /// # Errors
    /// [`ApiError::Unauthorized`].
    pub fn authenticate(&self, key: Option<&str>) -> Result<Caller, ApiError> {
        let known = key.and_then(|key| self.accounts.load().authenticate(key));
        known.ok_or(ApiError::Unauthorized { key_sent: key.is_some() })
    }

    /// Whether the plan and the scopes of a key open an operation.
    ///
    /// # Errors
    /// [`ApiError::NoApiAccess`] or [`ApiError::MissingScope`].
    pub fn authorize(&self, caller: &Caller, endpoint: Endpoint) -> Result<(), ApiError> {
        if !caller.account.api_access {
            return Err(ApiError::NoApiAccess);
        }
        if endpoint.needs_data_scope() && !caller.scopes.iter().any(|scope| scope == DATA_SCOPE) {
            return Err(ApiError::MissingScope);
        }
        Ok(())
    }

    /// Counts one request of the caller's account.
    ///
    /// # Errors
    /// [`ApiError::OverLimit`]; the request is then not counted.
    pub fn count(&self, caller: &Caller) -> Result<(), ApiError> {
        let account = &caller.account;
        let admitted = self.meter.admit(&account.name, (self.clock)(), &account.limits);
        admitted.map_err(|refusal| ApiError::OverLimit { retry_after_secs: refusal.retry_after_secs })
    }

    /// Carries out an operation for a caller who may; the answer is the whole JSON body.
    ///
    /// # Errors
    /// [`ApiError::Broken`] or [`ApiError::NotFound`].
    pub fn answer(&self, caller: &Caller, arguments: Arguments) -> Result<Vec<u8>, ApiError> {
        self.answer_of(&self.view(), caller, arguments)
    }

    /// The same, with what the answer depends on beside the question.
    ///
    /// # Errors
    /// As [`Service::answer`].
    pub fn answer_with_version(
        &self,
        caller: &Caller,
        arguments: Arguments,
    ) -> Result<(Vec<u8>, [u8; 32]), ApiError> {
        // Of one view, so that no body goes out under the version of another snapshot or day.
        let view = self.view();
        Ok((self.answer_of(&view, caller, arguments)?, version(&view, caller)))
    }

    fn answer_of(&self, view: &View, caller: &Caller, arguments: Arguments) -> Result<Vec<u8>, ApiError> {
        match arguments.endpoint() {
            Endpoint::Account => Ok(self.account(caller)),
            Endpoint::SearchBusinesses => search(view, caller, arguments),
            Endpoint::BusinessByDocument => business_by_document(view, arguments),
            Endpoint::Business => business(view, arguments),
            Endpoint::Officers => officers(view, arguments),
            Endpoint::DailyCounts => daily_counts(view, caller, arguments),
            Endpoint::DailyFilings => daily_filings(view, caller, arguments),
            Endpoint::Counties => Ok(view.counties.clone()),
            Endpoint::County => county(view, arguments),
            Endpoint::Stats => Ok(view.stats.clone()),
            Endpoint::Industries => Ok(view.industries.clone()),
            Endpoint::EntityTypes => Ok(self.entity_types.clone()),
        }
    }

    /// Counts anew if the Eastern day has turned, so that no request has to.
    pub(super) fn turn_day(&self) {
        self.view();
    }

    /// The view of today; made anew when the Eastern day has turned.
    fn view(&self) -> Arc<View> {
        let view = self.view.load_full();
        let today = self.today();
        if view.today == today {
            return view;
        }
        let turned = Arc::new(View::new(Arc::clone(&view.index), today));
        // Only if no other index came meanwhile; the view is right for this request either way.
        self.view.compare_and_swap(&view, Arc::clone(&turned));
        turned
    }

    fn account(&self, caller: &Caller) -> Vec<u8> {
        let limits = &caller.account.limits;
        json(&Account {
            kind: "client".to_owned(),
            id: caller.key_id.to_string(),
            scopes: caller.scopes.to_vec(),
            limits: AccountLimits {
                per_minute: limits.per_minute,
                per_day: limits.per_day,
                per_month: limits.per_month,
            },
            remaining: self.meter.remaining(&caller.account.name, (self.clock)(), limits),
        })
    }
}

/// What every answer to a caller depends on beside the question: the rows, the day, the account's limits, and the words
/// this release finds. The account record alone depends on more.
fn version(view: &View, caller: &Caller) -> [u8; 32] {
    let limits = &caller.account.limits;
    let mut hasher = blake3::Hasher::new();
    hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
    hasher.update(&view.index.identity());
    hasher.update(&epoch_days(view.today).to_le_bytes());
    for number in [limits.rows_per_call, limits.max_offset, limits.window_days] {
        hasher.update(&number.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}

fn search(view: &View, caller: &Caller, mut arguments: Arguments) -> Result<Vec<u8>, ApiError> {
    if let Some(key) = arguments.text("industry")
        && IndustryMeaning::of(key, view.index.industries()).is_none()
    {
        let message = format!("industry {key:?} is not a key of the industries endpoint");
        arguments.reject(Violation::invalid("industry", message));
    }
    let checked = CheckedSearch::from_arguments(arguments, &caller.account.limits, view.today);
    let checked = checked.map_err(ApiError::Broken)?;
    Ok(page(&view.index, &Selection::of_search(&checked), checked.page()))
}

fn daily_filings(view: &View, caller: &Caller, arguments: Arguments) -> Result<Vec<u8>, ApiError> {
    let checked = CheckedDay::from_arguments(arguments, &caller.account.limits, view.today);
    let checked = checked.map_err(ApiError::Broken)?;
    Ok(page(&view.index, &Selection::of_day(checked.date()), checked.page()))
}

fn page(index: &Index, wanted: &Selection, page: CheckedPage) -> Vec<u8> {
    let (offset, limit) = (page.offset() as usize, page.limit() as usize);
    let found = wanted.page(index, offset, limit);
    let pagination = Pagination {
        limit: page.limit(),
        offset: page.offset(),
        has_more: offset as u64 + (found.rows.len() as u64) < found.total,
        total: found.total,
    };
    index.page_json(&found.rows, &pagination)
}

fn business(view: &View, arguments: Arguments) -> Result<Vec<u8>, ApiError> {
    let row = row_of_id(view, arguments)?;
    view.index.detail_json(row).ok_or_else(|| detail_unknown("detail"))
}

fn officers(view: &View, arguments: Arguments) -> Result<Vec<u8>, ApiError> {
    let row = row_of_id(view, arguments)?;
    let list = view.index.officers_of(row).ok_or_else(|| detail_unknown("officer list"))?;
    Ok(format!("{{\"data\":{list}}}").into_bytes())
}

fn business_by_document(view: &View, arguments: Arguments) -> Result<Vec<u8>, ApiError> {
    let number = arguments.text("document_number").and_then(DocumentNumber::parse);
    let number = arguments.finish(number).map_err(ApiError::Broken)?;
    let row = view
        .index
        .row_of_document(&number)
        .ok_or_else(|| ApiError::NotFound(format!("no business has the document number {number}")))?;
    view.index.detail_json(row).ok_or_else(|| detail_unknown("detail"))
}

fn row_of_id(view: &View, arguments: Arguments) -> Result<u32, ApiError> {
    let id = arguments.text("id").and_then(BusinessIdParam::parse);
    let id = arguments.finish(id).map_err(ApiError::Broken)?;
    view.index.row_of_id(id).ok_or_else(|| ApiError::NotFound("no business has this id".to_owned()))
}

fn detail_unknown(what: &str) -> ApiError {
    ApiError::NotFound(format!("the business is in this lake, but its {what} was never fetched into it"))
}

fn daily_counts(view: &View, caller: &Caller, arguments: Arguments) -> Result<Vec<u8>, ApiError> {
    let days =
        CheckedDays::from_arguments(arguments, &caller.account.limits).map_err(ApiError::Broken)?.days();
    let data: Vec<DailyCount> = (0..days)
        .map(|ago| minus_days(view.today, ago))
        .map(|date| DailyCount { date, count: i64::from(view.index.listed_on(date)) })
        .collect();
    let pagination = Pagination { limit: days, offset: 0, has_more: false, total: u64::from(days) };
    Ok(json(&Page { data, pagination }))
}

fn county(view: &View, arguments: Arguments) -> Result<Vec<u8>, ApiError> {
    let key = arguments.text("key").and_then(CountyKey::parse);
    let key = arguments.finish(key).map_err(ApiError::Broken)?;
    let found = view.county_of_key.get(key.as_str()).cloned();
    found.ok_or_else(|| {
        ApiError::NotFound(format!("no county has the key {key}; the counties list has them all"))
    })
}

fn data_json(data: &impl Serialize) -> Vec<u8> {
    json(&Data { data })
}

/// Writing to memory does not fail, and none of our records has a key that is not text.
fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec())
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use std::sync::atomic::{AtomicI64, Ordering};

    #[test]
    fn counts_move_when_the_eastern_day_turns() {
        let seconds = Arc::new(AtomicI64::new(1_785_556_799)); // 2026-07-31 23:59:59 in Eastern time
        let at = Arc::clone(&seconds);
        let clock: Clock =
            Arc::new(move || Timestamp::from_second(at.load(Ordering::Relaxed)).unwrap_or_default());
        let accounts = Accounts::single(fixture::KEY, "acme", fixture::generous(), &["data"]);
        let service = Service::new(Arc::new(fixture::index()), accounts, Meter::default(), clock, None);
        let caller = service.authenticate(Some(fixture::KEY)).expect("known");
        let latest = || {
            let arguments = Arguments::from_request(Endpoint::Stats, None, "");
            let body = service.answer(&caller, arguments).expect("stats");
            let stats: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
            stats["data"]["latest_filing_date"].clone()
        };
        assert_eq!(latest(), "2026-07-31");
        seconds.fetch_add(1, Ordering::Relaxed);
        assert_eq!(latest(), "2026-08-01");
    }

    #[test]
    fn a_swapped_index_is_served_at_once() {
        let accounts = Accounts::single(fixture::KEY, "acme", fixture::generous(), &["data"]);
        let clock = fixture::clock();
        let service =
            Service::new(Arc::new(fixture::index()), accounts, Meter::default(), clock, Some(fixture::TODAY));
        let caller = service.authenticate(Some(fixture::KEY)).expect("known");
        let find = || service.answer(&caller, Arguments::from_request(Endpoint::Business, Some("1"), ""));
        assert!(find().is_ok());
        let empty = super::super::IndexBuilder::default().finish().expect("an empty index");
        assert!(service.swap_index(Arc::new(empty)).rows() > 0);
        assert_eq!(find().map_err(|error| error.status()), Err(404));
    }
}
