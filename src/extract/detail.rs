//! Looks up one business: a request for its details, and one for its officers if it has any.

use super::error::Result;
use super::fetch::{PageFetcher, PageKey};
use crate::client::{Call, MOST_UNDER_WAY, RawRecord};
use crate::contract::page::Data;
use serde::Deserialize;
use serde::de::DeserializeOwned;

pub(crate) const DETAILS: &str = "details";
pub(crate) const OFFICERS: &str = "officers";

/// The answers of one look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LookUp {
    /// The page of its details; none when the API has no such business.
    pub(crate) detail: Option<PageKey>,
    /// The page of its officers; none when not requested, or when it has none.
    pub(crate) officers: Option<PageKey>,
}

#[derive(Deserialize)]
struct Officered {
    officer_count: i64,
}

/// Looks up a business, with its officers if wanted. `next` are looked up after it; their details may be requested ahead.
pub(crate) async fn look_up(
    fetcher: &mut PageFetcher<'_>,
    business_id: i64,
    next: &[i64],
    with_officers: bool,
) -> Result<LookUp> {
    let details = std::iter::once(business_id).chain(next.iter().copied()).take(MOST_UNDER_WAY);
    fetcher.expect(details.map(Call::business));
    let found = ask_known(fetcher, DETAILS, &Call::business(business_id)).await?;
    let Some((Data { data }, detail)) = found else { return Ok(LookUp { detail: None, officers: None }) };
    let detail = Some(detail);
    if !with_officers || has_no_officers(&data) {
        return Ok(LookUp { detail, officers: None });
    }
    let officers = Call::officers(business_id);
    fetcher.expect_first(&officers);
    let officers = ask_known(fetcher, OFFICERS, &officers).await?;
    Ok(LookUp { detail, officers: officers.map(|(_, key)| key) })
}

/// Whether a record says that there are no officers; an unreadable count does not.
fn has_no_officers(record: &RawRecord) -> bool {
    serde_json::from_str::<Officered>(record.get()).is_ok_and(|record| record.officer_count == 0)
}

async fn ask_known<'a, T: DeserializeOwned + 'a>(
    fetcher: &mut PageFetcher<'a>,
    stage: &'static str,
    call: &Call<T>,
) -> Result<Option<(T, PageKey)>> {
    match fetcher.ask(stage, call).await {
        Err(error) if error.is_refused_with(404) => Ok(None),
        other => other.map(Some),
    }
}
