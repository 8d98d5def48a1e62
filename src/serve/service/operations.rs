//! The operations that read the view: listings, look-ups, counts.

use super::error::ApiError;
use super::view::{View, json};
use crate::contract::argument::{Arguments, CheckedPage};
use crate::contract::count::DailyCount;
use crate::contract::daily::{CheckedDay, checked_days};
use crate::contract::eastern::minus_days;
use crate::contract::error::Violation;
use crate::contract::id::{BusinessIdParam, CountyKey, DocumentNumber};
use crate::contract::page::{Page, Pagination};
use crate::contract::plan::PlanLimits;
use crate::contract::search::CheckedSearch;
use crate::serve::index::Index;
use crate::serve::index::filter::IndustryMeaning;
use crate::serve::index::listing_query::ListingQuery;

/// A JSON body, or why there is none.
pub(super) type Answer = Result<Vec<u8>, ApiError>;

pub(super) fn search(view: &View, limits: &PlanLimits, mut arguments: Arguments) -> Answer {
    if let Some(key) = arguments.text("industry")
        && IndustryMeaning::of(key, view.index.industries()).is_none()
    {
        let message = format!("industry {key:?} is not a key of the industries endpoint");
        arguments.reject(Violation::invalid("industry", message));
    }
    let checked = CheckedSearch::from_arguments(arguments, limits, view.today)?;
    Ok(page(&view.index, &ListingQuery::of_search(&checked), checked.page()))
}

pub(super) fn daily_filings(view: &View, limits: &PlanLimits, arguments: Arguments) -> Answer {
    let checked = CheckedDay::from_arguments(arguments, limits, view.today)?;
    Ok(page(&view.index, &ListingQuery::of_day(checked.date()), checked.page()))
}

fn page(index: &Index, query: &ListingQuery, page: CheckedPage) -> Vec<u8> {
    let (offset, limit) = (page.offset() as usize, page.limit() as usize);
    let found = query.page(index, offset, limit);
    let pagination = Pagination {
        limit: page.limit(),
        offset: page.offset(),
        has_more: offset as u64 + (found.rows.len() as u64) < found.total,
        total: found.total,
    };
    index.page_json(&found.rows, &pagination)
}

pub(super) fn business(view: &View, arguments: Arguments) -> Answer {
    let row = row_of_id(view, arguments)?;
    view.index.detail_json(row).ok_or_else(|| detail_unknown("detail"))
}

pub(super) fn officers(view: &View, arguments: Arguments) -> Answer {
    let row = row_of_id(view, arguments)?;
    let list = view.index.officers_of(row).ok_or_else(|| detail_unknown("officer list"))?;
    Ok(format!("{{\"data\":{list}}}").into_bytes())
}

pub(super) fn business_by_document(view: &View, arguments: Arguments) -> Answer {
    let number = arguments.text("document_number").and_then(DocumentNumber::parse);
    let number = arguments.finish(number)?;
    let absent = || ApiError::NotFound(format!("no business has the document number {number}"));
    let row = view.index.row_of_document(&number).ok_or_else(absent)?;
    view.index.detail_json(row).ok_or_else(|| detail_unknown("detail"))
}

fn row_of_id(view: &View, arguments: Arguments) -> Result<u32, ApiError> {
    let id = arguments.text("id").and_then(BusinessIdParam::parse);
    let id = arguments.finish(id)?;
    view.index.row_of_id(id).ok_or_else(|| ApiError::NotFound("no business has this id".to_owned()))
}

fn detail_unknown(what: &str) -> ApiError {
    ApiError::NotFound(format!("the business is in this lake, but its {what} was never fetched into it"))
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
    let key = arguments.text("key").and_then(CountyKey::parse);
    let key = arguments.finish(key)?;
    let found = view.county_of_key.get(key.as_str()).cloned();
    found.ok_or_else(|| {
        ApiError::NotFound(format!("no county has the key {key}; the counties endpoint lists all keys"))
    })
}
