//! What an HTTP response means: its headers, its error status, its error body.

use super::counts::LONGEST_WAIT;
use super::error::ClientError;
use crate::contract::error::ErrorBody;
use jiff::Timestamp;
use reqwest::header::{DATE, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use std::time::Duration;

/// In rustls' words for bytes that are not TLS.
const NOT_TLS: &str = "corrupt message";

/// The error of a request that got no complete answer.
pub(super) fn transport(target: &str, error: &reqwest::Error) -> ClientError {
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |cause| cause.source());
    // Only the last one is about the network; those before it are about the HTTP library.
    let cause = causes.last().map(ToString::to_string).unwrap_or_default();
    let cause = cause.split(" (os error").next().unwrap_or_default();
    if cause.contains(NOT_TLS) {
        return ClientError::PlainHttp { target: target.to_owned() };
    }
    let reason = if error.is_timeout() {
        "no complete answer in time".to_owned()
    } else if error.is_connect() {
        format!("no connection: {cause}")
    } else {
        cause.to_owned()
    };
    ClientError::Transport { target: target.to_owned(), reason }
}

/// `Retry-After` in seconds. Anything else counts as absent, so that the default backoff is used.
pub(super) fn retry_after(response: &Response) -> Option<Duration> {
    let text = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    text.trim().parse().ok().map(|seconds| Duration::from_secs(seconds).min(LONGEST_WAIT))
}

pub(super) fn date(response: &Response) -> Option<Timestamp> {
    let text = response.headers().get(DATE)?.to_str().ok()?;
    jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

pub(super) fn message(status: StatusCode, body: &[u8]) -> String {
    match serde_json::from_slice::<ErrorBody>(body) {
        Ok(error) => error.message.to_string(),
        Err(_) => {
            format!("{} without the documented error body", status.canonical_reason().unwrap_or("an answer"))
        }
    }
}

/// The error of an answer with another status than 200.
pub(super) fn failure(
    target: &str,
    status: StatusCode,
    retry_after: Option<Duration>,
    message: String,
) -> ClientError {
    let target = target.to_owned();
    let reason = match status.as_u16() {
        status @ (429 | 500 | 502 | 503 | 504) => {
            return ClientError::Busy { target, status, message, retry_after };
        }
        status @ 400..=499 => return ClientError::Refused { target, status, message },
        status @ 300..=399 => format!("a redirect ({status}), which is never followed with a key"),
        status => format!("status {status}"),
    };
    ClientError::OutsideContract { target, reason, retryable: false }
}
