//! The view, one index on one Eastern day; the operations that read it: listings, look-ups, counts; why one is refused.

use crate::contract::argument::{Arguments, CheckedPage};
use crate::contract::count::DailyCount;
use crate::contract::daily::{checked_day, checked_days};
use crate::contract::eastern::{epoch_days, minus_days};
use crate::contract::error::{ErrorBody, Message, Violation};
use crate::contract::id::DocumentNumber;
use crate::contract::page::{Data, Page, Pagination};
use crate::contract::plan::PlanLimits;
use crate::contract::search::CheckedSearch;
use crate::contract::usage::Refusal;
use crate::serve::index::Index;
use crate::serve::index::filter::IndustryMeaning;
use crate::serve::index::listing_query::ListingQuery;
use crate::table::TableError;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An index, and the answers that are the same for every request of one Eastern day.
pub(super) struct View {
    pub(super) index: Arc<Index>,
    pub(super) today: Date,
    pub(super) counties: Vec<u8>,
    pub(super) county_of_key: HashMap<String, Vec<u8>>,
    pub(super) stats: Vec<u8>,
    pub(super) industries: Vec<u8>,
    /// Whether the log says that a file of the snapshot cannot be read.
    pub(super) is_reported: AtomicBool,
}

impl View {
    pub(super) fn new(index: Arc<Index>, today: Date) -> Self {
        let counts = index.county_counts(today);
        let county_of_key = counts.iter().map(|county| (county.key.clone(), data_json(county))).collect();
        Self {
            today,
            counties: data_json(&counts),
            county_of_key,
            stats: data_json(&index.stats(today)),
            industries: data_json(&index.industries),
            is_reported: AtomicBool::new(false),
            index,
        }
    }

    /// Logs that a file of the snapshot cannot be read, once.
    pub(super) fn report(&self, why: &str) {
        if !self.is_reported.swap(true, Ordering::Relaxed) {
            tracing::error!(error = why, "a file of the served snapshot cannot be read");
        }
    }

    /// A digest of all that an answer depends on except the request: rows, day, limits of the plan, and release. Only the
    /// account record depends on more.
    pub(super) fn version(&self, limits: &PlanLimits) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        hasher.update(&self.index.identity);
        hasher.update(&epoch_days(self.today).to_le_bytes());
        for number in [limits.rows_per_call, limits.max_offset, limits.window_days] {
            hasher.update(&number.to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

/// A single record or a list as the JSON of an answer.
pub(super) fn data_json(data: &impl Serialize) -> Vec<u8> {
    json(&Data { data })
}

/// A value as JSON. Writing to memory does not fail, and every key of our records is text.
pub(super) fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec())
}

/// A JSON body, or why there is none.
pub(super) type Answer = Result<Vec<u8>, ApiError>;

/// Where the next page of a listing begins, and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NextPage {
    pub(crate) offset: u32,
    pub(crate) limit: u32,
}

/// The JSON body of a page, and the next page if there is one within the plan's reach.
pub(super) type PageAnswer = Result<(Vec<u8>, Option<NextPage>), ApiError>;

pub(super) fn search(view: &View, limits: &PlanLimits, mut arguments: Arguments) -> PageAnswer {
    if let Some(key) = arguments.text("industry")
        && IndustryMeaning::of(key, &view.index.industries).is_none()
    {
        let message = format!("industry {key:?} is not a key of the industries endpoint");
        arguments.reject(Violation::invalid("industry", message));
    }
    let checked = CheckedSearch::from_arguments(arguments, limits, view.today)?;
    Ok(page(&view.index, limits, &ListingQuery::of_search(&checked), checked.page()))
}

pub(super) fn daily_filings(view: &View, limits: &PlanLimits, arguments: Arguments) -> PageAnswer {
    let (day, of_day) = checked_day(arguments, limits, view.today)?;
    Ok(page(&view.index, limits, &ListingQuery::of_day(day), of_day))
}

fn page(
    index: &Index,
    limits: &PlanLimits,
    query: &ListingQuery,
    page: CheckedPage,
) -> (Vec<u8>, Option<NextPage>) {
    let (offset, limit) = (page.offset() as usize, page.limit() as usize);
    let found = query.page(index, offset, limit);
    let pagination = Pagination {
        limit: page.limit(),
        offset: page.offset(),
        has_more: offset as u64 + (found.rows.len() as u64) < found.total,
        total: found.total,
    };
    let next = NextPage { offset: page.offset() + page.limit(), limit: page.limit() };
    let is_within_reach = pagination.has_more && next.offset <= limits.max_offset;
    (index.page_json(&found.rows, &pagination), is_within_reach.then_some(next))
}

pub(super) fn business(view: &View, arguments: Arguments) -> Answer {
    let row = row_of_id(view, arguments)?;
    detail(view, row)
}

pub(super) fn officers(view: &View, arguments: Arguments) -> Answer {
    let row = row_of_id(view, arguments)?;
    let list = view.index.officers_of(row).map_err(unreadable)?;
    let list = list.ok_or_else(|| never_fetched("officers", "officer list"))?;
    Ok(format!("{{\"data\":{list}}}").into_bytes())
}

pub(super) fn changes(view: &View, arguments: Arguments) -> Answer {
    let row = row_of_id(view, arguments)?;
    Ok(format!("{{\"data\":{}}}", view.index.changes_of(row)).into_bytes())
}

pub(super) fn business_by_document(view: &View, arguments: Arguments) -> Answer {
    let number = arguments.text("document_number").and_then(DocumentNumber::parse);
    let number = arguments.finish(number)?;
    let absent = || ApiError::NotFound("business", format!("no business has the document number {number}"));
    let row = view.index.row_of_document(&number).ok_or_else(absent)?;
    detail(view, row)
}

fn detail(view: &View, row: u32) -> Answer {
    let detail = view.index.detail_json(row).map_err(unreadable)?;
    detail.ok_or_else(|| never_fetched("detail", "detail"))
}

fn unreadable(error: TableError) -> ApiError {
    let is_gone = matches!(&error, TableError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound);
    ApiError::Unreadable { why: error.to_string(), is_gone }
}

fn row_of_id(view: &View, arguments: Arguments) -> Result<u32, ApiError> {
    let id = arguments.text("id").map(str::to_owned);
    let id = arguments.finish(id)?;
    let absent = || ApiError::NotFound("business", "no business has this id".to_owned());
    // No business has an id of more than 64 bits.
    id.parse().ok().and_then(|id| view.index.row_of_id(id)).ok_or_else(absent)
}

/// A business is in the lake without what is asked for, which has a name in the header and one in the message.
fn never_fetched(what: &'static str, shown: &str) -> ApiError {
    let message = format!("the business is in this lake, but its {shown} was never fetched into it");
    ApiError::NotFound(what, message)
}

pub(super) fn daily_counts(view: &View, limits: &PlanLimits, arguments: Arguments) -> Answer {
    let days = checked_days(arguments, limits)?;
    let data: Vec<DailyCount> = (0..days)
        .map(|ago| minus_days(view.today, ago))
        .map(|date| DailyCount { date, count: i64::from(view.index.listed_on(date)) })
        .collect();
    let pagination = Pagination { limit: days, offset: 0, has_more: false, total: u64::from(days) };
    Ok(json(&Page { data, pagination }))
}

pub(super) fn county(view: &View, arguments: Arguments) -> Answer {
    let key = arguments.text("key").map(str::to_ascii_uppercase);
    let key = arguments.finish(key)?;
    let found = view.county_of_key.get(&key).cloned();
    found.ok_or_else(|| {
        let message = format!("no county has the key {key}; the counties endpoint lists all keys");
        ApiError::NotFound("county", message)
    })
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ApiError {
    /// No key, or an unknown one: 401.
    #[error("the API key is missing or not valid; send it as Authorization: Bearer <API_KEY>")]
    Unauthorized { key_sent: bool },
    /// The server lacks something for a short time: 503.
    #[error("{0}")]
    Unavailable(&'static str),
    /// A file of the served snapshot cannot be read: 503. Why, and whether the file is gone.
    #[error("the record cannot be read at the moment; try again later")]
    Unreadable { why: String, is_gone: bool },
    /// The account's plan has no API access: 403.
    #[error("the plan of this account has no API access")]
    NoApiAccess,
    /// The key lacks the `data` scope: 403.
    #[error("the key lacks the data scope")]
    MissingScope,
    /// A quota of the account is used up: 429.
    #[error("the account is over a request limit; wait {retry_after_secs} s")]
    OverLimit { retry_after_secs: u64 },
    /// Broken rules, all of one status: 400 or 403.
    #[error("{}", message_of(.0))]
    Broken(Vec<Violation>),
    /// No such business, county or detail: 404. What there is none of, as the answer's header names it, and the message.
    #[error("{1}")]
    NotFound(&'static str, String),
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::OverLimit { retry_after_secs: refusal.retry_after_secs }
    }
}

impl ApiError {
    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::Unauthorized { .. } => 401,
            Self::Unavailable(_) | Self::Unreadable { .. } => 503,
            Self::NoApiAccess | Self::MissingScope => 403,
            Self::OverLimit { .. } => 429,
            Self::Broken(violations) => violations.first().map_or(400, |violation| violation.status),
            Self::NotFound(..) => 404,
        }
    }

    /// The error body; one text for one problem, a list for several.
    pub(crate) fn body(&self, docs_url: &str) -> ErrorBody {
        let message = match self {
            Self::Broken(violations) => message_of(violations),
            other => Message::One(other.to_string()),
        };
        ErrorBody { status_code: self.status(), message, docs_url: docs_url.to_owned() }
    }
}

impl From<Vec<Violation>> for ApiError {
    fn from(violations: Vec<Violation>) -> Self {
        Self::Broken(violations)
    }
}

fn message_of(violations: &[Violation]) -> Message {
    Message::from_list(violations.iter().map(|violation| violation.message.clone()).collect())
}
