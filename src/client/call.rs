//! The calls a client can make: one constructor per operation, typed by its answer.
//!
//! Source: API document, "Endpoints".

use super::error::{ClientError, Result};
use crate::contract::account::Account;
use crate::contract::count::{County, DailyCount, Stats};
use crate::contract::endpoint::Endpoint;
use crate::contract::page::{Data, Page};
use crate::contract::reference::{EntityTypeEntry, Industries};
use crate::contract::search::BusinessSearch;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::marker::PhantomData;

/// A record of a listing as sent. It is not decoded here, because one bad record must not break its page.
pub(crate) type RawRecord = Box<RawValue>;

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

impl<T: DeserializeOwned> Call<T> {
    fn to(endpoint: Endpoint, argument: &str, query: &str) -> Self {
        let separator = if query.is_empty() { "" } else { "?" };
        Self { target: endpoint.path(argument) + separator + query, answer: PhantomData }
    }

    /// Path and query; equal for equal calls.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    pub(crate) fn decode(&self, body: &[u8]) -> Result<T> {
        serde_json::from_slice(body).map_err(|error| ClientError::OutsideContract {
            target: self.target.clone(),
            reason: format!("the body does not match the documented form: {error}"),
            retryable: true,
        })
    }
}

impl Call<Account> {
    pub(crate) fn account() -> Self {
        Self::to(Endpoint::Account, "", "")
    }
}

impl Call<Page<RawRecord>> {
    pub(crate) fn search(search: &BusinessSearch) -> Self {
        Self::to(Endpoint::SearchBusinesses, "", &search.to_query())
    }
}

impl Call<Page<DailyCount>> {
    pub(crate) fn daily_counts(days: u32) -> Self {
        Self::to(Endpoint::DailyCounts, "", &format!("days={days}"))
    }
}

impl Call<Data<RawRecord>> {
    pub(crate) fn business(business_id: i64) -> Self {
        Self::to(Endpoint::Business, &business_id.to_string(), "")
    }
}

impl Call<Data<Vec<RawRecord>>> {
    pub(crate) fn officers(business_id: i64) -> Self {
        Self::to(Endpoint::Officers, &business_id.to_string(), "")
    }
}

impl Call<Data<Vec<County>>> {
    pub(crate) fn counties() -> Self {
        Self::to(Endpoint::Counties, "", "")
    }
}

impl Call<Data<Stats>> {
    pub(crate) fn stats() -> Self {
        Self::to(Endpoint::Stats, "", "")
    }
}

impl Call<Data<Industries>> {
    pub(crate) fn industries() -> Self {
        Self::to(Endpoint::Industries, "", "")
    }
}

impl Call<Data<Vec<EntityTypeEntry>>> {
    pub(crate) fn entity_types() -> Self {
        Self::to(Endpoint::EntityTypes, "", "")
    }
}
