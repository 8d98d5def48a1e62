//! `RateLimit-Policy` and `RateLimit`: the limits of the caller's account, and what is left of them.
//!
//! Source: draft-ietf-httpapi-ratelimit-headers. A month has no fixed number of seconds, so its policy has no window.

use crate::contract::account::Remaining;
use crate::contract::plan::PlanLimits;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LEFT: HeaderName = HeaderName::from_static("ratelimit");

pub(super) fn add(headers: &mut HeaderMap, limits: &PlanLimits, left: &Remaining) {
    let PlanLimits { per_minute, per_day, per_month, .. } = limits;
    let policy =
        format!("\"minute\";q={per_minute};w=60, \"day\";q={per_day};w=86400, \"month\";q={per_month}");
    let Remaining { minute, day, month } = left;
    let left = format!("\"minute\";r={minute}, \"day\";r={day}, \"month\";r={month}");
    for (name, value) in [(POLICY, policy), (LEFT, left)] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
}
