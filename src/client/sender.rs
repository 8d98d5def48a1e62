//! Sends calls for one account: within its limits, with retries.

use super::budget::{Budget, Clock};
use super::call::{Call, Decode};
use super::counts::{Allowance, Ticket};
use super::error::{ClientError, Result};
use super::key::ApiKey;
use super::latency::Latency;
use super::response::{cause, date, failure, message, retry_after, transport};
use super::retry::{USUAL_ATTEMPTS, with_retries};
use super::silence::{SILENCE, is_plain_http};
use crate::contract::account::Account;
use jiff::{SignedDuration, Timestamp};
use reqwest::{ClientBuilder, RequestBuilder, Response, StatusCode, Url};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Longest time to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a stopped run waits for answers under way.
const LAST_ANSWERS: Duration = Duration::from_secs(3);
/// Longest time without data while an answer arrives.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest time of one request, its body included.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(60);

/// Room for a body before it comes: a page of 100 records.
const USUAL_BODY_BYTES: usize = 48 << 10;

/// Largest body after decompression.
const MAX_BODY_BYTES: usize = 16 << 20;

/// Where a client sends its requests, and how often.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientConfig {
    /// Address of the service; paths are appended to it.
    pub(crate) base_url: String,
    /// Whether plain http may reach another host; off by default.
    pub(crate) allow_plain_http: bool,
    /// Attempts of one request, the first included; none for the usual number.
    pub(crate) attempts: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct Answer<T> {
    pub(crate) value: T,
    /// The body as received, decompressed.
    pub(crate) body: Vec<u8>,
    pub(crate) received_at: Timestamp,
    ticket: Ticket,
}

pub(crate) struct Client {
    http: reqwest::Client,
    base: Url,
    key: ApiKey,
    attempts: u32,
    budget: Budget,
    clock: Clock,
    retried: AtomicU64,
    /// Whether the service has answered, however.
    is_reached: AtomicBool,
    latency: Latency,
    /// This clock minus the service's, by its last answer.
    skew: Mutex<Option<SignedDuration>>,
    /// Locked by the caller that asks for the account; the others wait for its answer.
    asking: tokio::sync::Mutex<()>,
}

impl Client {
    pub(crate) fn new(config: ClientConfig, key: ApiKey, budget: Budget, clock: Clock) -> Result<Self> {
        let base = checked_base(&config)?;
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .timeout(TOTAL_TIMEOUT)
            .user_agent(concat!("sunlake/", env!("CARGO_PKG_VERSION")));
        let http =
            way_to(&base, http)?.build().map_err(|error| ClientError::NoClient { reason: cause(&error) })?;
        Ok(Self {
            http,
            base,
            key,
            attempts: config.attempts.map_or(USUAL_ATTEMPTS, |attempts| attempts.max(1)),
            budget,
            clock,
            retried: AtomicU64::new(0),
            is_reached: AtomicBool::new(false),
            latency: Latency::default(),
            skew: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
        })
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    pub(crate) fn retried(&self) -> u64 {
        self.retried.load(Ordering::Relaxed)
    }

    /// This clock minus the service's, by the `Date` of its last answer; none without one.
    pub(crate) fn skew(&self) -> Option<SignedDuration> {
        *self.skew.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests that must be under way at once, so that waiting for answers does not reduce the pace. `is_sure`: the next requests are
    /// needed, whatever the answers are.
    pub(crate) fn overlap(&self, is_sure: bool) -> Result<usize> {
        Ok(self.latency.overlap(self.budget.per_window()?.per_minute, is_sure))
    }

    /// Asks `/v1/me` and corrects the ledger by its answer.
    pub(crate) async fn account(&self) -> Result<Account> {
        let answer = self.fetch_with_retries(&Call::account()).await?;
        self.budget.learn(&answer.ticket, &answer.value)?;
        Ok(answer.value)
    }

    /// Limits of the account. `/v1/me` is asked unless it has answered a process of this host this Eastern day.
    pub(crate) async fn caps(&self) -> Result<Allowance> {
        if let Some(caps) = self.budget.caps_of_today()? {
            return Ok(caps);
        }
        let _turn = self.asking.lock().await;
        match self.budget.caps_of_today()? {
            Some(caps) => Ok(caps),
            None => Ok(self.account().await?.limits.into()),
        }
    }

    /// Sends a call, with retries, and decodes its answer. Asks `/v1/me` first when the day is new or others use the account.
    pub(crate) async fn fetch<T: Decode>(&self, call: &Call<T>) -> Result<Answer<T>> {
        self.caps().await?;
        self.fetch_with_retries(call).await
    }

    async fn fetch_with_retries<T: Decode>(&self, call: &Call<T>) -> Result<Answer<T>> {
        with_retries(self.attempts, &self.budget, &self.retried, &self.is_reached, || self.attempt(call))
            .await
    }

    async fn attempt<T: Decode>(&self, call: &Call<T>) -> Result<Answer<T>> {
        let ticket = self.budget.admit().await?;
        let begun = Instant::now();
        let outcome = tokio::select! {
            outcome = self.send(call) => outcome,
            () = self.given_up() => Err(ClientError::Stopped),
        };
        if let Err(error) = self.budget.release(&ticket) {
            // The answer is still valid. The request stays counted as under way; the next one cannot be counted, so none is sent.
            tracing::warn!("{error}");
        }
        if let Err(error) = &outcome {
            self.record_backpressure(error)?;
        }
        let (body, value) = outcome?;
        self.latency.note(begun.elapsed());
        let value = value.map_err(|error| self.without_key(error))?;
        Ok(Answer { value, body, received_at: (self.clock)(), ticket })
    }

    /// Returns when a stopped run waits for an answer no longer.
    async fn given_up(&self) {
        self.budget.stop.requested().await;
        tokio::time::sleep(LAST_ANSWERS).await;
    }

    /// Records in the ledger what a 429 or a `Retry-After` says about the account, for every process.
    fn record_backpressure(&self, error: &ClientError) -> Result<()> {
        if let ClientError::Busy { status: 429, .. } = error {
            self.budget.mark_stale()?;
        }
        error.retry_after().map_or(Ok(()), |pause| self.budget.pause(pause))
    }

    /// The error without the key: the parser quotes the body, which may contain it.
    fn without_key(&self, mut error: ClientError) -> ClientError {
        if let ClientError::OutsideContract { reason, .. } = &mut error {
            *reason = self.key.redact(reason);
        }
        error
    }

    /// What comes for the first request. At an https address that stays silent, plain http is an error at once.
    async fn unless_plain_http<T>(
        &self,
        target: &str,
        received: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        if self.base.scheme() != "https" || self.is_reached.load(Ordering::Relaxed) {
            return received.await;
        }
        let mut received = std::pin::pin!(received);
        match tokio::time::timeout(SILENCE, &mut received).await {
            Ok(received) => received,
            Err(_) if is_plain_http(&self.base).await => {
                Err(ClientError::PlainHttp { target: target.to_owned() })
            }
            Err(_) => received.await,
        }
    }

    /// Sends a call once. Returns the body of its answer, and what it decodes to.
    async fn send<T: Decode>(&self, call: &Call<T>) -> Result<(Vec<u8>, Result<T>)> {
        let target = call.target();
        let url = format!("{}{target}", self.base.as_str().trim_end_matches('/'));
        tracing::debug!(target, "request");
        let request = self.key.authorize(self.http.get(url));
        let received = on_its_own(receive(request, call.clone(), self.clock));
        let received = self.unless_plain_http(target, received).await?;
        let Received { status, retry_after, date, answer } = received;
        self.is_reached.store(true, Ordering::Relaxed);
        if let Some(theirs) = date {
            let ahead = (self.clock)().duration_since(theirs);
            *self.skew.lock().unwrap_or_else(PoisonError::into_inner) = Some(ahead);
        }
        match (status, answer) {
            (StatusCode::OK, Ok((body, Some(value)))) => Ok((body, value)),
            // A broken body does not cancel the pause that its header asks for.
            (status, Err(error)) if status == StatusCode::OK || retry_after.is_none() => Err(error),
            (_, answer) => {
                let body = answer.map_or_else(|_| Vec::new(), |(body, _)| body);
                Err(failure(target, status, retry_after, self.key.redact(&message(status, &body))))
            }
        }
    }
}

/// What came for a request.
struct Received<T> {
    status: StatusCode,
    retry_after: Option<Duration>,
    date: Option<Timestamp>,
    /// The body, and what it decodes to if the status is 200.
    answer: Result<(Vec<u8>, Option<Result<T>>)>,
}

async fn receive<T: Decode>(request: RequestBuilder, call: Call<T>, clock: Clock) -> Result<Received<T>> {
    let response = request.send().await.map_err(|error| transport(call.target(), &error))?;
    let retry_after = retry_after(&response, clock());
    let (status, date) = (response.status(), date(&response));
    let decode = |body: &Vec<u8>| (status == StatusCode::OK).then(|| call.decode(body));
    let answer = body(call.target(), response).await.map(|body| {
        let value = decode(&body);
        (body, value)
    });
    Ok(Received { status, retry_after, date, answer })
}

/// Runs work on any thread of the runtime, so that reading and decoding of an answer delays no other. Dropped, the work ends.
async fn on_its_own<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    let mut task = JoinSet::new();
    task.spawn(work);
    match task.join_next().await {
        Some(Ok(done)) => done,
        Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // The runtime ends, and this future with it.
        _ => std::future::pending().await,
    }
}

/// The entire body of a response, decompressed.
async fn body(target: &str, mut response: Response) -> Result<Vec<u8>> {
    let too_large = || ClientError::OutsideContract {
        target: target.to_owned(),
        reason: format!("the body is larger than {MAX_BODY_BYTES} bytes"),
        retryable: false,
    };
    if response.content_length().is_some_and(|bytes| bytes > MAX_BODY_BYTES as u64) {
        return Err(too_large());
    }
    let mut body = Vec::with_capacity(USUAL_BODY_BYTES);
    while let Some(chunk) = response.chunk().await.map_err(|error| transport(target, &error))? {
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The base URL, if it is https, or http to this host. Plain http to other hosts must be allowed.
fn checked_base(config: &ClientConfig) -> Result<Url> {
    let settings = |reason: String| ClientError::Settings(format!("base URL {}: {reason}", config.base_url));
    let url = Url::parse(&config.base_url).map_err(|error| settings(error.to_string()))?;
    if !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some()
    {
        return Err(ClientError::Settings(
            "the base URL may contain only scheme, host, port and path".to_owned(),
        ));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) || config.allow_plain_http => Ok(url),
        "http" => Err(settings("plain http would expose the key on the network; use https, or set `allow_plain_http = true` in `[source]`".to_owned())),
        other => Err(settings(format!("the scheme {other} is neither https nor http"))),
    }
}

/// The client with its way to an address. Plain http and this machine are never asked through a proxy, which would read the key; a proxy
/// of the environment sees of https only the name of the host.
fn way_to(base: &Url, http: ClientBuilder) -> Result<ClientBuilder> {
    if base.scheme() != "https" {
        // Without TLS no authority is needed; a small container has none.
        return Ok(http.no_proxy().tls_built_in_root_certs(false));
    }
    // A file of `SSL_CERT_FILE` that is not there would be passed over.
    let authorities = rustls_native_certs::load_native_certs();
    match authorities.errors.first() {
        Some(error) if authorities.certs.is_empty() => {
            Err(ClientError::NoClient { reason: error.to_string() })
        }
        _ if is_loopback(base) => Ok(http.no_proxy()),
        _ => Ok(http),
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or("").trim_matches(['[', ']']);
    host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::budget::{Bounds, StopSwitch};
    use crate::client::counts::Used;
    use crate::client::ledger::Ledger;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::path::Path;

    fn noon() -> Timestamp {
        crate::client::counts::tests::at(0)
    }

    /// Answers one request with an empty list. Before that, a folder takes the place of the staged ledger.
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
    async fn received_answer_survives_an_unwritable_ledger_and_no_other_request_is_sent() {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base_url = format!("http://{}", listener.local_addr().expect("an address"));
        let key = ApiKey::parse("one").expect("a key");
        let ledger = Ledger::of(folder.path(), &base_url, &key);
        let (_switch, stop) = StopSwitch::new();
        let budget = Budget::new(ledger.clone(), noon, Bounds::default(), stop);
        let config = ClientConfig { base_url, ..ClientConfig::default() };
        let client = Client::new(config, key, budget, noon).expect("a client");
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
