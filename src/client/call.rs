//! The calls a client can make: one constructor per operation, typed by its answer.
//!
//! Source: API document, "Endpoints".

use super::error::{ClientError, Result};
use crate::contract::account::Account;
use crate::contract::count::{County, DailyCount, Stats};
use crate::contract::endpoint::Endpoint;
use crate::contract::id::DocumentNumber;
use crate::contract::page::{Data, Page};
use crate::contract::records::ListedPage;
use crate::contract::reference::{EntityTypeEntry, Industries};
use crate::contract::search::BusinessSearch;
use jiff::civil::Date;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::marker::PhantomData;

/// A record of a listing as sent. It is not decoded here, because one bad record must not break its page.
pub(crate) type RawRecord = Box<RawValue>;

/// What a body is decoded to.
pub(crate) trait Decode: Sized + Send + 'static {
    fn decode(body: &[u8]) -> serde_json::Result<Self>;
}

impl<T: DeserializeOwned + Send + 'static> Decode for T {
    fn decode(body: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(body)
    }
}

impl Decode for ListedPage {
    fn decode(body: &[u8]) -> serde_json::Result<Self> {
        Self::read(body)
    }
}

/// One GET: its path and query, and the type of its answer.
#[derive(Debug)]
pub(crate) struct Call<T> {
    target: String,
    answer: PhantomData<fn() -> T>,
}

impl<T> Clone for Call<T> {
    fn clone(&self) -> Self {
        Self { target: self.target.clone(), answer: PhantomData }
    }
}

impl<T: Decode> Call<T> {
    fn to(endpoint: Endpoint, argument: &str, query: &str) -> Self {
        let separator = if query.is_empty() { "" } else { "?" };
        Self { target: endpoint.path(argument) + separator + query, answer: PhantomData }
    }

    /// Path and query; equal for equal calls.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    pub(crate) fn decode(&self, body: &[u8]) -> Result<T> {
        T::decode(body).map_err(|error| ClientError::OutsideContract {
            target: self.target.clone(),
            reason: format!("the body does not match the documented form: {error}"),
            retryable: true,
        })
    }
}

/// One constructor for each operation.
impl Call<()> {
    pub(crate) fn account() -> Call<Account> {
        Call::to(Endpoint::Account, "", "")
    }

    pub(crate) fn search(search: &BusinessSearch) -> Call<ListedPage> {
        Call::to(Endpoint::SearchBusinesses, "", &search.to_query())
    }

    /// The businesses filed on one day.
    pub(crate) fn daily_filings(day: Date, limit: u32, offset: u32) -> Call<ListedPage> {
        Call::to(Endpoint::DailyFilings, &day.to_string(), &format!("limit={limit}&offset={offset}"))
    }

    pub(crate) fn daily_counts(days: u32) -> Call<Page<DailyCount>> {
        Call::to(Endpoint::DailyCounts, "", &format!("days={days}"))
    }

    pub(crate) fn business(business_id: i64) -> Call<Data<RawRecord>> {
        Call::to(Endpoint::Business, &business_id.to_string(), "")
    }

    pub(crate) fn business_by_document(number: &DocumentNumber) -> Call<Data<RawRecord>> {
        Call::to(Endpoint::BusinessByDocument, number.as_str(), "")
    }

    /// The list is not cut into records here: a bad one goes to quarantine.
    pub(crate) fn officers(business_id: i64) -> Call<Data<RawRecord>> {
        Call::to(Endpoint::Officers, &business_id.to_string(), "")
    }

    pub(crate) fn counties() -> Call<Data<Vec<County>>> {
        Call::to(Endpoint::Counties, "", "")
    }

    pub(crate) fn stats() -> Call<Data<Stats>> {
        Call::to(Endpoint::Stats, "", "")
    }

    pub(crate) fn industries() -> Call<Data<Industries>> {
        Call::to(Endpoint::Industries, "", "")
    }

    pub(crate) fn entity_types() -> Call<Data<Vec<EntityTypeEntry>>> {
        Call::to(Endpoint::EntityTypes, "", "")
    }
}
