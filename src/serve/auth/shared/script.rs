//! The call of the script that counts, and its reply.

use super::fault::{Fault, PATIENCE};
use crate::contract::plan::PlanLimits;
use crate::contract::usage::{Usage, days_around};
use crate::serve::auth::counted::{Admission, Use};
use crate::serve::auth::usage_account::MAX_KEYS;
use jiff::Timestamp;
use redis::aio::MultiplexedConnection;
use redis::{ErrorKind, RedisError, Script};
use std::sync::LazyLock;

/// What the fields of keys begin with.
pub(super) const KEY_FIELD: &str = "key:";

static COUNT: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("count.lua")));

/// The hash of an account. The braces have all that belongs to an account in one slot of a cluster.
pub(super) fn hash_of(account: &str) -> String {
    format!("sunlake:usage:{{{account}}}")
}

/// Counts a request in one round trip; in three where the store does not have the script yet. The store gets the days around the time of
/// this server. It counts at its own time, or at that one where `is_now_given`. Also returns whether counts of days to come were reset.
pub(super) async fn call(
    used: Use<'_>,
    is_now_given: bool,
    connection: &MultiplexedConnection,
) -> Result<(Admission, bool), Fault> {
    let PlanLimits { per_minute, per_day, per_month, .. } = *used.limits;
    let mut call = COUNT.key(hash_of(used.account));
    if is_now_given {
        call.arg(used.now.as_millisecond())
    } else {
        call.arg("")
    };
    call.arg(per_minute).arg(per_day).arg(per_month).arg(used.key).arg(MAX_KEYS);
    for (day, month) in days_around(used.now) {
        call.arg(day).arg(month);
    }
    // A clone shares the connection.
    let mut connection = connection.clone();
    let replied = call.invoke_async::<Vec<i64>>(&mut connection);
    let reply = tokio::time::timeout(PATIENCE, replied).await.map_err(|_| Fault::Late)??;
    outcome(&reply, used.limits).ok_or_else(|| {
        let error = (ErrorKind::UnexpectedReturnType, "a reply that the script does not give");
        Fault::Store(RedisError::from(error))
    })
}

fn outcome(reply: &[i64], limits: &PlanLimits) -> Option<(Admission, bool)> {
    let &[now, is_admitted, is_reset, minute_since, minute, day_on, day, month_on, month] = reply else {
        return None;
    };
    let usage = Usage::of_store([(minute_since, minute), (day_on, day), (month_on, month)])?;
    let now = Timestamp::from_millisecond(now).ok()?;
    let refusal = match is_admitted {
        1 => None,
        _ => Some(usage.refusal(now, limits)?),
    };
    Some((Admission { refusal, left: usage.remaining(now, limits) }, is_reset == 1))
}
