//! The calls a client can make: one constructor an operation, typed by its answer.
//!
//! Source: API document, "Endpoints".

use super::ClientError;
use crate::contract::account::Account;
use crate::contract::count::{County, DailyCount, Stats};
use crate::contract::page::{Data, Page};
use crate::contract::reference::{EntityTypeEntry, Industries};
use crate::contract::search::BusinessSearch;
use jiff::civil::Date;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::marker::PhantomData;

/// A record of a listing as sent; read no further here, because one bad record must not break its page.
pub type RawRecord = Box<RawValue>;

/// One GET: its path and query, and the type of its answer.
#[derive(Debug)]
pub struct Call<T> {
    target: String,
    answer: PhantomData<fn() -> T>,
}

impl<T> Clone for Call<T> {
    fn clone(&self) -> Self {
        Self { target: self.target.clone(), answer: PhantomData }
    }
}

impl<T: DeserializeOwned> Call<T> {
    fn to(target: impl Into<String>) -> Self {
        Self { target: target.into(), answer: PhantomData }
    }

    /// Path and query, the same text for the same call.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Reads an answer's body.
    ///
    /// # Errors
    /// `OutsideContract` when the body is not the JSON that the API document shows.
    pub fn decode(&self, body: &[u8]) -> Result<T, ClientError> {
        serde_json::from_slice(body).map_err(|error| ClientError::OutsideContract {
            target: self.target.clone(),
            reason: format!("the body does not read as documented: {error}"),
            retryable: true,
        })
    }
}

impl Call<Account> {
    /// `GET /v1/me`.
    pub fn account() -> Self {
        Self::to("/v1/me")
    }
}

impl Call<Page<RawRecord>> {
    /// `GET /v1/fl/businesses`.
    pub fn search(search: &BusinessSearch) -> Self {
        Self::to(format!("/v1/fl/businesses?{}", search.to_query()))
    }

    /// `GET /v1/fl/filings/daily/{date}`.
    pub fn day(date: Date, limit: u32, offset: u32) -> Self {
        Self::to(format!("/v1/fl/filings/daily/{date}?limit={limit}&offset={offset}"))
    }
}

impl Call<Page<DailyCount>> {
    /// `GET /v1/fl/filings/daily`.
    pub fn daily_counts(days: u32) -> Self {
        Self::to(format!("/v1/fl/filings/daily?days={days}"))
    }
}

impl Call<Data<RawRecord>> {
    /// `GET /v1/fl/businesses/{id}`.
    pub fn business(business_id: i64) -> Self {
        Self::to(format!("/v1/fl/businesses/{business_id}"))
    }
}

impl Call<Data<Vec<RawRecord>>> {
    /// `GET /v1/fl/businesses/{id}/officers`.
    pub fn officers(business_id: i64) -> Self {
        Self::to(format!("/v1/fl/businesses/{business_id}/officers"))
    }
}

impl Call<Data<Vec<County>>> {
    /// `GET /v1/fl/counties`.
    pub fn counties() -> Self {
        Self::to("/v1/fl/counties")
    }
}

impl Call<Data<Stats>> {
    /// `GET /v1/fl/stats`.
    pub fn stats() -> Self {
        Self::to("/v1/fl/stats")
    }
}

impl Call<Data<Industries>> {
    /// `GET /v1/fl/industries`.
    pub fn industries() -> Self {
        Self::to("/v1/fl/industries")
    }
}

impl Call<Data<Vec<EntityTypeEntry>>> {
    /// `GET /v1/fl/entity-types`.
    pub fn entity_types() -> Self {
        Self::to("/v1/fl/entity-types")
    }
}
