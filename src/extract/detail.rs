//! One business looked up: a request for its details, and one for its officers where it has any.

use super::ExtractError;
use super::fetch::{Asker, PageKey};
use crate::client::{Call, MOST_UNDER_WAY, RawRecord};
use crate::contract::page::Data;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Stage name of details.
pub const DETAILS: &str = "details";
/// Stage name of officers.
pub const OFFICERS: &str = "officers";

/// The answers of one look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookUp {
    /// The page of its details; none when the API knows no such business.
    pub detail: Option<PageKey>,
    /// The page of its officers; none when they were not asked for, or there are none.
    pub officers: Option<PageKey>,
}

/// How many officers a detail record says there are.
#[derive(Deserialize)]
struct Officered {
    officer_count: i64,
}

/// Looks a business up, with its officers if wanted. Details of `next`, which are looked up after it, may be asked for ahead.
///
/// # Errors
/// What stops the reading: a refusal other than 404, a spent budget, a broken archive.
pub async fn look_up(
    asker: &mut Asker<'_>,
    business_id: i64,
    next: &[i64],
    with_officers: bool,
) -> Result<LookUp, ExtractError> {
    let details = std::iter::once(business_id).chain(next.iter().copied()).take(MOST_UNDER_WAY);
    asker.expect(details.map(Call::business));
    let found = ask_known(asker, DETAILS, &Call::business(business_id)).await?;
    let Some((Data { data }, detail)) = found else { return Ok(LookUp { detail: None, officers: None }) };
    let detail = Some(detail);
    if !with_officers || has_no_officers(&data) {
        return Ok(LookUp { detail, officers: None });
    }
    let officers = Call::officers(business_id);
    asker.expect_first(&officers);
    let officers = ask_known(asker, OFFICERS, &officers).await?;
    Ok(LookUp { detail, officers: officers.map(|(_, key)| key) })
}

/// A record without a readable count is asked about.
fn has_no_officers(record: &RawRecord) -> bool {
    serde_json::from_str::<Officered>(record.get()).is_ok_and(|record| record.officer_count == 0)
}

async fn ask_known<'a, T: DeserializeOwned + 'a>(
    asker: &mut Asker<'a>,
    stage: &'static str,
    call: &Call<T>,
) -> Result<Option<(T, PageKey)>, ExtractError> {
    match asker.ask(stage, call).await {
        Err(ExtractError::Client(error)) if error.refused_status() == Some(404) => Ok(None),
        other => other.map(Some),
    }
}
