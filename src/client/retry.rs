//! What is retried, and after how long.
//!
//! Source: API document, "Errors" (429: clients must not retry sooner; 503: retry shortly).

use super::budget::Budget;
use super::error::{ClientError, Result};
use backon::{ExponentialBuilder, Retryable};
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Attempts of one request, the first included.
pub(super) const USUAL_ATTEMPTS: u32 = 6;

/// Attempts while the service has never answered: the address is probably wrong, or the network is down.
const FIRST_ATTEMPTS: u32 = 3;

/// Pause after the first failure; doubles from there, with jitter.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Longest pause of our own; a longer `Retry-After` is still obeyed.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Runs `attempt` until it succeeds, fails permanently, or `most` attempts are used up; 3 if the service cannot be reached at all. Counts those after the first in `retried`.
///
/// The pause is the larger of our own and the API's `Retry-After`. A `Retry-After` longer than the run may wait fails at once
/// with `WaitTooLong`.
pub(super) async fn with_retries<T, Fut: Future<Output = Result<T>>>(
    most: u32,
    budget: &Budget,
    retried: &AtomicU64,
    is_reached: &AtomicBool,
    attempt: impl Fn() -> Fut,
) -> Result<T> {
    let stop = budget.stop.clone();
    let attempts = AtomicU32::new(0);
    let schedule = ExponentialBuilder::default()
        .with_min_delay(FIRST_PAUSE)
        .with_max_delay(LONGEST_PAUSE)
        .with_max_times(most.saturating_sub(1) as usize)
        .with_jitter();
    let result = (|| {
        if attempts.fetch_add(1, Ordering::Relaxed) > 0 {
            retried.fetch_add(1, Ordering::Relaxed);
        }
        attempt()
    })
    .retry(schedule)
    .when(|error| {
        let is_last =
            !is_reached.load(Ordering::Relaxed) && attempts.load(Ordering::Relaxed) >= FIRST_ATTEMPTS;
        error.is_retryable() && !is_last && budget.may_wait(error.retry_after().unwrap_or_default())
    })
    // A stopped run wakes at once; its next attempt sends nothing.
    .sleep(move |pause| {
        let stop = stop.clone();
        async move { stop.sleep(pause).await }
    })
    .adjust(|error, pause| pause.map(|pause| pause.max(error.retry_after().unwrap_or_default())))
    .notify(|error, pause| {
        tracing::warn!(wait_ms = pause.as_millis() as u64, "{error}; retrying");
        budget.report_retry(error.retry_after().is_some(), pause);
    })
    .await;
    result.map_err(|error| given_up(error, attempts.load(Ordering::Relaxed), budget))
}

fn given_up(error: ClientError, attempts: u32, budget: &Budget) -> ClientError {
    match error.retry_after() {
        Some(pause) if !budget.may_wait(pause) => budget.too_long(pause),
        _ if error.is_retryable() => ClientError::GaveUp { attempts, last: Box::new(error) },
        _ => error,
    }
}
