//! The API from a caller's side: one typed [`Call`] an operation, sent under the account's limits.
//!
//! Knows HTTP, pace and retries; knows nothing of days, slices or files of the lake.

mod budget;
mod call;
mod counts;
mod error;
mod key;
mod latency;
mod ledger;
mod retry;
mod stop;

pub use budget::{Bounds, Budget, Clock};
pub use call::{Call, RawRecord};
pub use counts::{Allowance, Used};
pub use error::{ClientError, Window};
pub use key::{ApiKey, KeyError};
pub use latency::MOST_UNDER_WAY;
pub use ledger::{AccountUsed, Ledger};
pub use retry::RetryPolicy;
pub use stop::{Stop, StopSwitch};

use crate::contract::account::Account;
use crate::contract::error::ErrorBody;
use counts::Ticket;
use futures::StreamExt;
use jiff::{SignedDuration, Timestamp};
use latency::Latency;
use reqwest::header::{AUTHORIZATION, DATE, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url};
use serde::de::DeserializeOwned;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Where and how to ask.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// Address of the service; paths are appended to it.
    pub base_url: String,
    /// Plain http to a host other than this one; off unless someone says so.
    pub allow_plain_http: bool,
    /// Bound on connecting.
    pub connect_timeout: Duration,
    /// Bound on silence while an answer comes.
    pub read_timeout: Duration,
    /// Bound on one request, body included.
    pub total_timeout: Duration,
    /// Bound on a body after decompression.
    pub max_body_bytes: usize,
    /// What is tried again.
    pub retry: RetryPolicy,
}

impl ClientConfig {
    /// The usual bounds for a service at this address.
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            allow_plain_http: false,
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(60),
            max_body_bytes: 16 << 20,
            retry: RetryPolicy::default(),
        }
    }
}

/// An answer that reads as documented, with the body it was read from.
#[derive(Debug)]
pub struct Answer<T> {
    /// The answer.
    pub value: T,
    /// The body as received, decompressed.
    pub body: Vec<u8>,
    /// When it had come whole.
    pub received_at: Timestamp,
    ticket: Ticket,
}

/// Sends calls for one account.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    key: ApiKey,
    config: ClientConfig,
    budget: Budget,
    clock: Clock,
    retried: AtomicU64,
    latency: Latency,
    /// How far this clock was ahead of the service's, by its last answer.
    skew: Mutex<Option<SignedDuration>>,
    /// One caller asks for the account; those who want to know at the same time wait for the answer.
    asking: tokio::sync::Mutex<()>,
}

impl Client {
    /// A client for one account.
    ///
    /// # Errors
    /// `Settings` when the address is no URL, or is plain http to another host without leave.
    pub fn new(config: ClientConfig, key: ApiKey, budget: Budget, clock: Clock) -> Result<Self, ClientError> {
        let base = checked_base(&config)?;
        // A second installation is refused and changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(config.connect_timeout)
            .read_timeout(config.read_timeout)
            .timeout(config.total_timeout)
            .user_agent(concat!("sunlake/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| ClientError::Settings(format!("no HTTP client can be made: {error}")))?;
        Ok(Self {
            http,
            base,
            key,
            config,
            budget,
            clock,
            retried: AtomicU64::new(0),
            latency: Latency::default(),
            skew: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
        })
    }

    /// The gate all requests pass.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Attempts beyond the first, over all calls.
    pub fn retried(&self) -> u64 {
        self.retried.load(Ordering::Relaxed)
    }

    /// How far this clock was ahead of the service's, by the `Date` of its last answer; none without such.
    pub fn skew(&self) -> Option<SignedDuration> {
        *self.skew.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests that are to be under way at once, so that waiting for answers does not keep the run below its pace.
    ///
    /// # Errors
    /// `Ledger` when the file cannot be read.
    pub fn overlap(&self) -> Result<usize, ClientError> {
        Ok(self.latency.overlap(self.budget.per_window()?.per_minute))
    }

    /// Asks who we are and what is left, and takes it over.
    ///
    /// # Errors
    /// Any [`ClientError`]; a retryable one comes wrapped in `GaveUp`.
    pub async fn account(&self) -> Result<Account, ClientError> {
        let answer = self.fetch_with_retries(&Call::account()).await?;
        self.budget.learn(&answer.ticket, &answer.value)?;
        Ok(answer.value)
    }

    /// Caps of the account: as `/v1/me` gave them earlier this Eastern day to any process of this host, else asked for now.
    ///
    /// # Errors
    /// As [`Client::account`].
    pub async fn caps(&self) -> Result<Allowance, ClientError> {
        if let Some(caps) = self.budget.caps_of_today()? {
            return Ok(caps);
        }
        let _turn = self.asking.lock().await;
        match self.budget.caps_of_today()? {
            Some(caps) => Ok(caps),
            None => Ok(self.account().await?.limits.into()),
        }
    }

    /// Sends a call, again where that may help, and reads its answer. Where the day is new, or others turned out to use the
    /// account, `/v1/me` is asked first.
    ///
    /// # Errors
    /// Any [`ClientError`]; a retryable one comes wrapped in `GaveUp`.
    pub async fn fetch<T: DeserializeOwned>(&self, call: &Call<T>) -> Result<Answer<T>, ClientError> {
        self.caps().await?;
        self.fetch_with_retries(call).await
    }

    async fn fetch_with_retries<T: DeserializeOwned>(
        &self,
        call: &Call<T>,
    ) -> Result<Answer<T>, ClientError> {
        let first = std::sync::atomic::AtomicBool::new(true);
        retry::with_retries(&self.config.retry, &self.budget, || async {
            if !first.swap(false, Ordering::Relaxed) {
                self.retried.fetch_add(1, Ordering::Relaxed);
            }
            self.attempt(call).await
        })
        .await
    }

    async fn attempt<T: DeserializeOwned>(&self, call: &Call<T>) -> Result<Answer<T>, ClientError> {
        let ticket = self.budget.admit().await?;
        let begun = Instant::now();
        let outcome = self.send(call.target()).await;
        self.settle(&ticket);
        if let Err(error) = &outcome {
            self.heed(error)?;
        }
        let body = outcome?;
        self.latency.note(begun.elapsed());
        let value = call.decode(&body).map_err(|error| self.without_key(error))?;
        Ok(Answer { value, body, received_at: (self.clock)(), ticket })
    }

    /// Counts a request as answered. Where that cannot be written down its answer still holds, and it stays counted as
    /// under way; the next request cannot be counted either, so none is sent.
    fn settle(&self, ticket: &Ticket) {
        if let Err(error) = self.budget.settle(ticket) {
            tracing::warn!("{error}");
        }
    }

    /// Writes down what a refusal says about the account, for every process.
    fn heed(&self, error: &ClientError) -> Result<(), ClientError> {
        if let ClientError::Busy { status: 429, .. } = error {
            self.budget.doubt()?;
        }
        error.retry_after().map_or(Ok(()), |pause| self.budget.pause(pause))
    }

    /// What the parser quotes of a body does not tell the key either.
    fn without_key(&self, error: ClientError) -> ClientError {
        match error {
            ClientError::OutsideContract { target, reason, retryable } => {
                ClientError::OutsideContract { target, reason: self.key.blot(&reason), retryable }
            }
            other => other,
        }
    }

    async fn send(&self, target: &str) -> Result<Vec<u8>, ClientError> {
        let url = format!("{}{target}", self.base.as_str().trim_end_matches('/'));
        let header = self.key.header().map_err(|error| ClientError::Settings(error.to_string()))?;
        tracing::debug!(target, "asking");
        let response = self
            .http
            .get(url)
            .header(AUTHORIZATION, header)
            .send()
            .await
            .map_err(|error| transport(target, &error))?;
        let status = response.status();
        let retry_after = retry_after(&response);
        if let Some(theirs) = date(&response) {
            let ahead = (self.clock)().duration_since(theirs);
            *self.skew.lock().unwrap_or_else(PoisonError::into_inner) = Some(ahead);
        }
        let body = match self.body(target, response).await {
            // The pause that a broken error answer asked for is still asked for.
            Err(_) if retry_after.is_some() => Vec::new(),
            other => other?,
        };
        match status {
            StatusCode::OK => Ok(body),
            _ => Err(failure(target, status, retry_after, self.key.blot(&message(status, &body)))),
        }
    }

    async fn body(&self, target: &str, response: Response) -> Result<Vec<u8>, ClientError> {
        let mut body = Vec::new();
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| transport(target, &error))?;
            if body.len() + chunk.len() > self.config.max_body_bytes {
                return Err(ClientError::OutsideContract {
                    target: target.to_owned(),
                    reason: format!("the body is larger than {} bytes", self.config.max_body_bytes),
                    retryable: false,
                });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// An http or https address; plain http reaches this host only, unless someone says otherwise.
fn checked_base(config: &ClientConfig) -> Result<Url, ClientError> {
    let settings = |reason: String| ClientError::Settings(format!("base URL {}: {reason}", config.base_url));
    let url = Url::parse(&config.base_url).map_err(|error| settings(error.to_string()))?;
    let host = url.host_str().unwrap_or("").trim_matches(['[', ']']);
    let loopback =
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    if !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some()
    {
        return Err(ClientError::Settings(
            "the base URL holds more than scheme, host, port and path".to_owned(),
        ));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if loopback || config.allow_plain_http => Ok(url),
        "http" => Err(settings("plain http would show the key on the way; use https".to_owned())),
        other => Err(settings(format!("the scheme {other} is neither https nor http"))),
    }
}

fn transport(target: &str, error: &reqwest::Error) -> ClientError {
    let mut reason = String::new();
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(current) = cause {
        let text = current.to_string();
        // reqwest's own text repeats the URL; its causes say what happened.
        if !text.contains("url (") {
            if !reason.is_empty() {
                reason.push_str(": ");
            }
            reason.push_str(&text);
        }
        cause = current.source();
    }
    if error.is_timeout() {
        reason = "no whole answer in time".to_owned();
    }
    ClientError::Transport { target: target.to_owned(), reason }
}

/// No window of an account is longer than a month: nothing has to wait longer.
const LONGEST_WAIT: Duration = Duration::from_secs(32 * 86_400);

/// `Retry-After` in seconds. A date or nonsense counts as absent: our own backoff applies then.
fn retry_after(response: &Response) -> Option<Duration> {
    let text = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    text.trim().parse().ok().map(|seconds| Duration::from_secs(seconds).min(LONGEST_WAIT))
}

/// When the service says it answered.
fn date(response: &Response) -> Option<Timestamp> {
    let text = response.headers().get(DATE)?.to_str().ok()?;
    jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

/// The API's own words for an error.
fn message(status: StatusCode, body: &[u8]) -> String {
    match serde_json::from_slice::<ErrorBody>(body) {
        Ok(error) => error.message.to_string(),
        Err(_) => {
            format!("{} without the documented error body", status.canonical_reason().unwrap_or("an answer"))
        }
    }
}

fn failure(target: &str, status: StatusCode, retry_after: Option<Duration>, message: String) -> ClientError {
    let target = target.to_owned();
    let status = status.as_u16();
    match status {
        429 | 500 | 502 | 503 | 504 => ClientError::Busy { target, status, message, retry_after },
        400..=499 => ClientError::Refused { target, status, message },
        300..=399 => {
            let reason = format!("a redirect ({status}), which is never followed with a key");
            ClientError::OutsideContract { target, reason, retryable: false }
        }
        _ => {
            let reason = format!("status {status}");
            ClientError::OutsideContract { target, reason, retryable: false }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::path::Path;

    fn noon() -> Timestamp {
        Timestamp::from_millisecond(1_784_131_200_000).expect("an instant")
    }

    /// Answers one request with an empty list, after a folder has come to stand in the way.
    fn answer_one(listener: &TcpListener, in_the_way: &Path) {
        let (stream, _) = listener.accept().expect("a caller");
        let lines = BufReader::new(&stream).lines().map(|line| line.expect("a request"));
        lines.take_while(|line| !line.is_empty()).for_each(drop);
        std::fs::create_dir(in_the_way).expect("a folder");
        let body = r#"{"data":[]}"#;
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        (&stream).write_all((head + body).as_bytes()).expect("a reader");
    }

    #[tokio::test]
    async fn an_answer_that_has_come_outlives_a_ledger_that_cannot_be_written_and_no_other_is_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base_url = format!("http://{}", listener.local_addr().expect("an address"));
        let key = ApiKey::parse("one").expect("a key");
        let ledger = Ledger::of(folder.path(), &base_url, &key);
        let (_switch, stop) = StopSwitch::new();
        let budget = Budget::new(ledger.clone(), noon, Bounds::default(), stop);
        let client = Client::new(ClientConfig::new(base_url), key, budget, noon).expect("a client");
        let staged = ledger.path().with_extension("staged");
        let in_the_way = staged.clone();
        let server = std::thread::spawn(move || answer_one(&listener, &in_the_way));
        let answer = client.fetch_with_retries(&Call::entity_types()).await.expect("the answer");
        server.join().expect("a server");
        assert_eq!(answer.body, br#"{"data":[]}"#);
        let error = client.fetch_with_retries(&Call::entity_types()).await.expect_err("no ledger");
        assert!(matches!(error, ClientError::Ledger { .. }), "{error}");
        assert_eq!((client.budget().sent(), client.budget().under_way()), (1, 0));
        std::fs::remove_dir(staged).expect("a folder");
        let counted = ledger.update(noon(), |counts| (counts.under_way(), counts.used(noon())));
        assert_eq!(counted.expect("a ledger"), (1, Used { minute: 1, day: 1, month: 1 }));
    }
}
