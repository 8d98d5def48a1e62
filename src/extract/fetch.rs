//! Sends one request after another; each is answered from the run's archive when it was answered before a kill.
//!
//! The order of requests depends on answers alone. So a resumed run sends the same requests, gets archived answers for
//! free, and uses the account's requests from the first one that is missing.
//!
//! When answers are so slow that one request at a time would not use the allowed pace, expected requests are sent ahead. Extraction
//! still gets its answers in its own order.

use super::error::{ExtractError, Result, StoreError};
use crate::client::{Call, Client, ClientError, MOST_UNDER_WAY};
use futures::StreamExt;
use futures::future::{Either, select};
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;

/// Identifies one answer of a run: the request, and how often it was sent before.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PageKey {
    pub(crate) target: String,
    pub(crate) occurrence: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct StoredPage {
    pub(crate) status: u16,
    /// Its body; for a refusal, the API's message.
    pub(crate) body: Vec<u8>,
}

/// The archive of answers; an answer counts only once it is archived.
pub(crate) trait PageStore {
    fn stored(&mut self, key: &PageKey) -> Result<Option<StoredPage>, StoreError>;

    /// Archives an answer; it counts once this returns.
    fn keep(
        &mut self,
        key: &PageKey,
        status: u16,
        received_at: Timestamp,
        body: &[u8],
    ) -> Result<(), StoreError>;
}

type Outcome = Result<(Vec<u8>, Timestamp), ClientError>;

type Sending<'a> = Pin<Box<dyn Future<Output = (PageKey, Outcome)> + 'a>>;

/// A request that extraction will probably send next.
struct ExpectedCall<'a> {
    key: PageKey,
    /// Sends it; none once sent.
    send: Option<Sending<'a>>,
}

pub(crate) struct PageFetcher<'a> {
    client: &'a Client,
    pages: &'a mut dyn PageStore,
    asked: HashMap<String, u32>,
    expected: VecDeque<ExpectedCall<'a>>,
    under_way: FuturesUnordered<Sending<'a>>,
    /// Answers to expected requests that extraction has not sent yet, and errors of others.
    arrived: HashMap<PageKey, Outcome>,
    pub(crate) sent_by_stage: BTreeMap<&'static str, u64>,
    /// Requests already counted for a stage.
    counted: u64,
    /// Answers, from the API or the archive.
    pub(crate) answered: u64,
    /// Those from the archive.
    pub(crate) replayed: u64,
    /// Rows of listings on the pages so far.
    pub(crate) rows: u64,
    /// Whether archived answers are too old to be used.
    anew: bool,
    now: fn() -> Timestamp,
    report: &'a dyn Fn(u64, u64),
}

/// Refusals that extraction may use as answers; the others are invalidated.
const KEPT_REFUSALS: [u16; 3] = [400, 403, 404];

/// Status archived for an invalid answer: the request is sent again.
const INVALIDATED: u16 = 0;

impl<'a> PageFetcher<'a> {
    /// `report` is called for every answer, with the requests that it took and the rows of listings before it.
    pub(crate) fn new(
        client: &'a Client,
        pages: &'a mut dyn PageStore,
        now: fn() -> Timestamp,
        report: &'a dyn Fn(u64, u64),
    ) -> Self {
        Self {
            client,
            pages,
            asked: HashMap::new(),
            expected: VecDeque::new(),
            under_way: FuturesUnordered::new(),
            arrived: HashMap::new(),
            sent_by_stage: BTreeMap::new(),
            counted: client.budget().sent(),
            answered: 0,
            replayed: 0,
            rows: 0,
            anew: false,
            now,
            report,
        }
    }

    /// Sends a request, unless its answer is archived.
    pub(crate) async fn ask<T: DeserializeOwned + 'a>(
        &mut self,
        stage: &'static str,
        call: &Call<T>,
    ) -> Result<(T, PageKey)> {
        let (mut key, sent_ahead) = self.next_key(call.target());
        self.answered += 1;
        if !sent_ahead {
            while let Some(stored) = self.stored(&key)? {
                if stored.status != INVALIDATED && !self.anew {
                    self.replayed += 1;
                    (self.report)(0, self.rows);
                    return Ok((replay(call, &stored)?, key));
                }
                key = self.new_key(call.target());
            }
            self.under_way.push(sending(self.client, key.clone(), call.clone()));
        }
        let outcome = self.outcome(&key).await;
        self.count(stage);
        let (body, _) = outcome?;
        Ok((call.decode(&body)?, key))
    }

    /// From now on, every request is sent: what an earlier process of this run archived is too old.
    pub(crate) fn ask_anew(&mut self) {
        self.anew = true;
    }

    /// Whether the next answer to a call comes from the archive.
    pub(crate) fn is_archived<T: DeserializeOwned>(&mut self, call: &Call<T>) -> Result<bool> {
        let target = call.target().to_owned();
        let expected = self.expected.front().map(|expected| &expected.key);
        let asked = self.asked.get(&target).copied().unwrap_or(0);
        let occurrence = expected.filter(|key| key.target == target).map_or(asked, |key| key.occurrence);
        let mut key = PageKey { target, occurrence };
        while let Some(stored) = self.stored(&key)? {
            if stored.status != INVALIDATED {
                return Ok(true);
            }
            key.occurrence += 1;
        }
        Ok(false)
    }

    /// Announces the next calls, in this order. They may be sent ahead. A call in another order cancels them.
    pub(crate) fn expect<T: DeserializeOwned + 'a>(&mut self, calls: impl IntoIterator<Item = Call<T>>) {
        let mut before = std::mem::take(&mut self.expected);
        for call in calls.into_iter().take(MOST_UNDER_WAY) {
            let known = before.iter().position(|expected| expected.key.target == call.target());
            let expected = known.and_then(|at| before.remove(at)).unwrap_or_else(|| {
                let key = self.new_key(call.target());
                ExpectedCall { send: Some(sending(self.client, key.clone(), call)), key }
            });
            self.expected.push_back(expected);
        }
        before.iter().for_each(|unwanted| drop(self.arrived.remove(&unwanted.key)));
    }

    /// Announces a call before those that are expected.
    pub(crate) fn expect_first<T: DeserializeOwned + 'a>(&mut self, call: &Call<T>) {
        let key = self.new_key(call.target());
        let send = Some(sending(self.client, key.clone(), call.clone()));
        self.expected.push_front(ExpectedCall { key, send });
    }

    /// Invalidates an archived answer: this run and those that resume it send the request again.
    pub(crate) fn invalidate(&mut self, key: &PageKey) -> Result<()> {
        self.pages.keep(key, INVALIDATED, (self.now)(), b"").map_err(ExtractError::Store)
    }

    /// Invalidates the refusal that ends the run, so that a resumed run sends the request again.
    pub(crate) fn invalidate_refusal(&mut self, error: &ClientError) -> Result<()> {
        let ClientError::Refused { target, .. } = error else { return Ok(()) };
        let Some(occurrence) = self.asked.get(target).and_then(|asked| asked.checked_sub(1)) else {
            return Ok(());
        };
        self.invalidate(&PageKey { target: target.clone(), occurrence })
    }

    /// Waits for the answers under way and archives them: their requests are already counted.
    pub(crate) async fn finish(&mut self) -> Result<()> {
        self.forget_expected();
        while self.client.budget().under_way() > 0
            && let Some((key, outcome)) = self.under_way.next().await
        {
            self.keep(&key, &outcome)?;
        }
        Ok(())
    }

    /// The key of a call, and whether it was sent ahead.
    fn next_key(&mut self, target: &str) -> (PageKey, bool) {
        match self.expected.pop_front() {
            Some(expected) if expected.key.target == target => (expected.key, expected.send.is_none()),
            _ => {
                self.forget_expected();
                (self.new_key(target), false)
            }
        }
    }

    fn forget_expected(&mut self) {
        self.expected.clear();
        self.arrived.clear();
    }

    fn new_key(&mut self, target: &str) -> PageKey {
        let asked = self.asked.entry(target.to_owned()).or_insert(0);
        let key = PageKey { target: target.to_owned(), occurrence: *asked };
        *asked += 1;
        key
    }

    /// Waits for one answer, while the number of requests under way is kept at what the pace needs.
    async fn outcome(&mut self, key: &PageKey) -> Result<(Vec<u8>, Timestamp)> {
        loop {
            if let Some(outcome) = self.arrived.remove(key) {
                return Ok(outcome?);
            }
            self.send_ahead()?;
            let Some((came, outcome)) = self.under_way.next().await else {
                return Err(ExtractError::Lost { target: key.target.clone() });
            };
            self.arrive(came, outcome, Some(key))?;
        }
    }

    /// Keeps an answer, and remembers it where it is wanted or expected.
    fn arrive(&mut self, came: PageKey, outcome: Outcome, wanted: Option<&PageKey>) -> Result<()> {
        self.keep(&came, &outcome)?;
        if wanted == Some(&came) || self.expected.iter().any(|expected| expected.key == came) {
            self.arrived.insert(came, outcome);
        }
        Ok(())
    }

    fn send_ahead(&mut self) -> Result<()> {
        if self.expected.is_empty() {
            return Ok(());
        }
        let most = self.client.overlap()?;
        for at in 0..self.expected.len() {
            if self.under_way.len() >= most {
                break;
            }
            let Some(sending) = self.expected[at].send.take() else { continue };
            let key = self.expected[at].key.clone();
            match self.stored(&key)? {
                Some(_) => self.expected[at].send = Some(sending),
                None => self.under_way.push(sending),
            }
        }
        Ok(())
    }

    fn stored(&mut self, key: &PageKey) -> Result<Option<StoredPage>> {
        self.pages.stored(key).map_err(ExtractError::Store)
    }

    fn count(&mut self, stage: &'static str) {
        let sent = self.client.budget().sent() - self.counted;
        self.counted += sent;
        *self.sent_by_stage.entry(stage).or_default() += sent;
        (self.report)(sent, self.rows);
    }

    /// Archives an answer, or a refusal that may be used as one.
    fn keep(&mut self, key: &PageKey, outcome: &Outcome) -> Result<()> {
        let kept = match outcome {
            Ok((body, received_at)) => self.pages.keep(key, 200, *received_at, body),
            Err(ClientError::Refused { status, message, .. }) if KEPT_REFUSALS.contains(status) => {
                self.pages.keep(key, *status, (self.now)(), message.as_bytes())
            }
            Err(_) => Ok(()),
        };
        kept.map_err(ExtractError::Store)
    }
}

fn sending<'a, T: DeserializeOwned + 'a>(client: &'a Client, key: PageKey, call: Call<T>) -> Sending<'a> {
    Box::pin(async move {
        let outcome = client.fetch(&call).await.map(|answer| (answer.body, answer.received_at));
        (key, outcome)
    })
}

fn replay<T: DeserializeOwned>(call: &Call<T>, stored: &StoredPage) -> Result<T, ClientError> {
    if stored.status == 200 {
        return call.decode(&stored.body);
    }
    let message = String::from_utf8_lossy(&stored.body).into_owned();
    Err(ClientError::Refused { target: call.target().to_owned(), status: stored.status, message })
}

impl PageFetcher<'_> {
    /// Runs work that blocks, on another thread. Requests under way are driven during it: an answer in time does not count as late.
    pub(crate) fn alongside<T: Send>(&mut self, work: impl FnOnce() -> T + Send) -> Result<T> {
        let runtime = Handle::try_current().ok().filter(|runtime| {
            runtime.runtime_flavor() == RuntimeFlavor::MultiThread && !self.under_way.is_empty()
        });
        let Some(runtime) = runtime else { return Ok(work()) };
        tokio::task::block_in_place(|| {
            std::thread::scope(|scope| {
                let (done, finished) = oneshot::channel();
                let worker = scope.spawn(move || {
                    let result = work();
                    // No one listens after an error of the archive.
                    let _ = done.send(());
                    result
                });
                let received = runtime.block_on(self.receive_until(finished));
                let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                received.map(|()| result)
            })
        })
    }

    /// Receives answers until `finished` is sent or dropped.
    async fn receive_until(&mut self, mut finished: oneshot::Receiver<()>) -> Result<()> {
        loop {
            match select(self.under_way.next(), finished).await {
                Either::Left((Some((came, outcome)), rest)) => {
                    self.arrive(came, outcome, None)?;
                    finished = rest;
                }
                Either::Left((None, rest)) => {
                    // An error means that the work panicked, which its thread reports.
                    let _ = rest.await;
                    return Ok(());
                }
                Either::Right(_) => return Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{ApiKey, Bounds, Budget, ClientConfig, Ledger, StopSwitch};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    /// An archive that keeps nothing.
    struct NoPages;

    impl PageStore for NoPages {
        fn stored(&mut self, _: &PageKey) -> Result<Option<StoredPage>, StoreError> {
            Ok(None)
        }

        fn keep(&mut self, _: &PageKey, _: u16, _: Timestamp, _: &[u8]) -> Result<(), StoreError> {
            Ok(())
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn requests_under_way_are_answered_during_work_that_blocks() {
        let folder = tempfile::tempdir().expect("a folder");
        let (base_url, key) = ("http://127.0.0.1:1", ApiKey::parse("one").expect("a key"));
        let (_switch, stop) = StopSwitch::new();
        let now: fn() -> Timestamp = || Timestamp::UNIX_EPOCH;
        let budget = Budget::new(Ledger::of(folder.path(), base_url, &key), now, Bounds::default(), stop);
        let client = Client::new(ClientConfig::new(base_url), key, budget, now).expect("a client");
        let (mut pages, is_answered) = (NoPages, AtomicBool::new(false));
        let mut fetcher = PageFetcher::new(&client, &mut pages, now, &|_, _| {});
        let answered = &is_answered;
        fetcher.under_way.push(Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            answered.store(true, Ordering::SeqCst);
            let key = PageKey { target: "/v1/me".to_owned(), occurrence: 0 };
            (key, Ok((b"{}".to_vec(), Timestamp::UNIX_EPOCH)))
        }));
        let wait = || {
            (0..200).any(|_| {
                std::thread::sleep(Duration::from_millis(10));
                is_answered.load(Ordering::SeqCst)
            })
        };
        assert!(fetcher.alongside(wait).expect("an archive"), "the answer came while the work waited for it");
        assert!(fetcher.under_way.is_empty());
    }
}
