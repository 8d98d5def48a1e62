//! Looks up businesses: their details, or their officers.

use super::error::Result;
use super::fetch::{PageFetcher, PageKey};
use crate::client::{Call, RawRecord};
use crate::contract::id::DocumentNumber;
use crate::contract::page::Data;

pub(crate) const DETAILS: &str = "details";
pub(crate) const OFFICERS: &str = "officers";

/// What a request asks of a business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LookUp {
    Details,
    Officers,
}

impl LookUp {
    fn stage(self) -> &'static str {
        match self {
            Self::Details => DETAILS,
            Self::Officers => OFFICERS,
        }
    }

    pub(crate) fn call(self, business_id: i64) -> Call<Data<RawRecord>> {
        match self {
            Self::Details => Call::business(business_id),
            Self::Officers => Call::officers(business_id),
        }
    }

    /// Looks up a business. Returns the page; none when the API has no such business.
    pub(crate) async fn ask(
        self,
        fetcher: &mut PageFetcher<'_>,
        business_id: i64,
    ) -> Result<Option<PageKey>> {
        let answer = fetcher.ask_unless_refused(self.stage(), &self.call(business_id), 404).await?;
        Ok(answer.map(|answer| answer.key))
    }
}

/// A business to look up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// By its id, with this request first.
    Business(i64, LookUp),
    /// By its document number: its details.
    Document(DocumentNumber),
}

impl Wanted {
    /// Its first request.
    pub(crate) fn call(&self) -> Call<Data<RawRecord>> {
        match self {
            Self::Business(id, look_up) => look_up.call(*id),
            Self::Document(number) => Call::business_by_document(number),
        }
    }
}
