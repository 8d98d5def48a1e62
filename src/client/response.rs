//! What an HTTP response means: its headers, its error status, its error body.

use super::counts::LONGEST_WAIT;
use super::error::ClientError;
use crate::contract::error::ErrorBody;
use crate::contract::escape::escaped;
use jiff::Timestamp;
use reqwest::header::{DATE, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use rustls::AlertDescription;
use std::error::Error;
use std::time::Duration;

/// In rustls' words for bytes that are not TLS.
const NOT_TLS: &str = "corrupt message";

/// In the HTTP library's words for a proxy that wants a name and a password, that is of another kind, and that made no connection.
const PROXY_WANTS_A_NAME: &str = "proxy authorization required";
const PROXY_SCHEME: &str = "unsupported scheme";
const PROXY_REFUSED: &str = "tunnel error";

const MINUTE: Duration = Duration::from_secs(60);

/// Refusals of a handshake that stay until somebody changes something on one side.
const LASTING_ALERTS: [AlertDescription; 6] = [
    AlertDescription::HandshakeFailure,
    AlertDescription::ProtocolVersion,
    AlertDescription::InsufficientSecurity,
    AlertDescription::UnrecognisedName,
    AlertDescription::CertificateRequired,
    AlertDescription::AccessDenied,
];

/// The error of a request that got no complete answer.
pub(super) fn transport(target: &str, error: &reqwest::Error) -> ClientError {
    let (target, cause) = (target.to_owned(), cause(error));
    if cause.contains(NOT_TLS) {
        return ClientError::PlainHttp { target };
    }
    if let Some(error) = tls_error(error) {
        let is_certificate = matches!(error, rustls::Error::InvalidCertificate(_));
        return ClientError::Untrusted { target, reason: cause, is_certificate };
    }
    let proxy = |reason| ClientError::ProxyRefused { target: target.clone(), reason };
    if cause.contains(PROXY_WANTS_A_NAME) {
        return proxy("wants a name and a password".to_owned());
    }
    if let Some(scheme) = cause.strip_prefix(PROXY_SCHEME) {
        return proxy(format!("has the scheme{scheme}, which is not supported"));
    }
    let reason = if error.is_timeout() {
        "no complete answer in time".to_owned()
    } else if cause.contains(PROXY_REFUSED) {
        "no connection: the proxy of HTTPS_PROXY or ALL_PROXY made none".to_owned()
    } else if error.is_connect() {
        format!("no connection: {cause}")
    } else {
        cause
    };
    ClientError::Transport { target, reason }
}

/// The last cause of an error. Only that one is about the network; those before it are about the HTTP library.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let cause = causes(error).last().map(ToString::to_string).unwrap_or_default();
    cause.split(" (os error").next().unwrap_or_default().to_owned()
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = error;
    std::iter::successors(Some(first), |cause| Error::source(*cause))
}

/// What TLS found wrong with the other side; the next attempt would find the same.
fn tls_error(error: &reqwest::Error) -> Option<&rustls::Error> {
    let found = causes(error).find_map(inside)?;
    let lasts = match found {
        rustls::Error::InvalidCertificate(_) | rustls::Error::PeerIncompatible(_) => true,
        rustls::Error::AlertReceived(alert) => LASTING_ALERTS.contains(alert),
        _ => false,
    };
    lasts.then_some(found)
}

/// The error of TLS in an error of a connection, which may be in another one.
fn inside<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let inner = cause.downcast_ref::<std::io::Error>()?.get_ref()?;
    inner.downcast_ref().or_else(|| inside(inner))
}

/// The pause of `Retry-After`: seconds, or until an instant, by the service's own clock where it shows it. `now` is that of this machine.
pub(super) fn retry_after(response: &Response, now: Timestamp) -> Option<Duration> {
    let text = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    pause(text.trim(), date(response).unwrap_or(now))
}

/// A number or a date that is out of range, and so says nothing, is the minute of a limit. Any other text counts as absent, so that the default
/// backoff is used.
fn pause(text: &str, now: Timestamp) -> Option<Duration> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let pause = if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let Some(until) = http_date(text) else { return text.ends_with(" GMT").then_some(MINUTE) };
        Duration::try_from(until.duration_since(now)).ok()?
    } else {
        text.parse().map_or(MINUTE, Duration::from_secs)
    };
    Some(pause.min(LONGEST_WAIT))
}

pub(super) fn date(response: &Response) -> Option<Timestamp> {
    http_date(response.headers().get(DATE)?.to_str().ok()?)
}

fn http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

pub(super) fn message(status: StatusCode, body: &[u8]) -> String {
    match serde_json::from_slice::<ErrorBody>(body) {
        Ok(error) => escaped(&error.message.to_string(), &[]).into_owned(),
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
        // The server, or a gateway before it, cannot do what it is asked for, now or later.
        status @ (501 | 505 | 510 | 511) => format!("status {status}"),
        status @ (408 | 425 | 429 | 500..=599) => {
            return ClientError::Busy { target, status, message, retry_after };
        }
        status @ 400..=499 => return ClientError::Refused { target, status, message },
        status @ 300..=399 => format!("a redirect ({status}), which is never followed with a key"),
        status => format!("status {status}"),
    };
    ClientError::OutsideContract { target, reason, retryable: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::try_changed;

    #[test]
    fn a_pause_is_a_number_of_seconds_or_ends_at_a_date() {
        let now = "2026-11-20T12:00:00Z".parse().expect("an instant");
        let seconds = |text: &str| pause(text, now).map(|pause| pause.as_secs());
        for (text, expected) in [
            ("0", Some(0)),
            ("7", Some(7)),
            ("Fri, 20 Nov 2026 12:00:31 GMT", Some(31)),
            ("Fri, 20 Nov 2026 11:59:59 GMT", None),
            ("Fri, 20 Nov 2037 12:00:00 GMT", Some(LONGEST_WAIT.as_secs())),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(60)),
            ("18446744073709551615", Some(LONGEST_WAIT.as_secs())),
            ("99999999999999999999", Some(60)),
            ("-5", Some(60)),
            ("", None),
            ("-", None),
            ("soon", None),
            ("1.5", None),
        ] {
            assert_eq!(seconds(text), expected, "{text:?}");
        }
    }

    #[test]
    fn fuzz_of_retry_after() {
        let now = "2026-11-20T12:00:00Z".parse().expect("an instant");
        let examples = ["7", "Fri, 20 Nov 2026 12:00:31 GMT", "-5", "99999999999999999999", "1.5"];
        try_changed(&examples, |input| {
            let pause = pause(&String::from_utf8_lossy(input), now);
            assert!(pause.is_none_or(|pause| pause <= LONGEST_WAIT));
        });
    }
}
