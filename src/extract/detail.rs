//! Looks up businesses: their details, or their officers.

use super::error::Result;
use super::fetch::{PageFetcher, PageKey};
use crate::client::{Call, MOST_UNDER_WAY, RawRecord};
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

    fn call(self, business_id: i64) -> Call<Data<RawRecord>> {
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
        match fetcher.ask(self.stage(), &self.call(business_id)).await {
            Err(error) if error.is_refused_with(404) => Ok(None),
            other => other.map(|answer| Some(answer.key)),
        }
    }
}

/// Looks up a business by its document number. Returns its record and page; none when the API has no such business.
pub(crate) async fn ask_document(
    fetcher: &mut PageFetcher<'_>,
    number: &DocumentNumber,
) -> Result<Option<(RawRecord, PageKey)>> {
    match fetcher.ask(DETAILS, &Call::business_by_document(number)).await {
        Err(error) if error.is_refused_with(404) => Ok(None),
        other => other.map(|answer| Some((answer.value.data, answer.key))),
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

/// Announces the next look-ups, in this order. They may be requested ahead.
pub(crate) fn expect(fetcher: &mut PageFetcher<'_>, next: &[Wanted]) {
    let call = |wanted: &Wanted| match wanted {
        Wanted::Business(id, look_up) => look_up.call(*id),
        Wanted::Document(number) => Call::business_by_document(number),
    };
    fetcher.expect(next.iter().take(MOST_UNDER_WAY).map(call), false);
}

/// Announces a business's officers, which are looked up after its details and before other businesses.
pub(crate) fn expect_officers(fetcher: &mut PageFetcher<'_>, business_id: i64) {
    fetcher.expect_first(&LookUp::Officers.call(business_id));
}
