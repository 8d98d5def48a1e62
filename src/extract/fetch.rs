//! One question after another, each answered from the run's archive when it was asked before a kill.
//!
//! Extraction asks in an order that depends on the answers alone. So a run started again asks the same
//! questions, gets the archived answers for nothing, and pays from the first one that is not there.
//!
//! Where answers take so long that one question after another would fall behind the account's pace, the questions that
//! extraction has said it will ask next are sent ahead. It still asks and is answered in its own order.

use super::ExtractError;
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

/// Names one answer of a run: what was asked, and how often it had been asked before.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PageKey {
    /// Path and query.
    pub target: String,
    /// 0 for the first time this run asked it.
    pub occurrence: u32,
}

/// An answer kept from before.
#[derive(Debug, Clone)]
pub struct HeldPage {
    /// Its HTTP status.
    pub status: u16,
    /// Its body; for a refusal, the API's words.
    pub body: Vec<u8>,
}

/// Why a store failed.
pub type StoreError = Box<dyn std::error::Error + Send + Sync>;

/// Where answers are kept before they count.
pub trait PageStore {
    /// The answer kept under this key, if there is one.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn held(&mut self, key: &PageKey) -> Result<Option<HeldPage>, StoreError>;

    /// Keeps an answer; it counts once this returns.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn keep(
        &mut self,
        key: &PageKey,
        status: u16,
        received_at: Timestamp,
        body: &[u8],
    ) -> Result<(), StoreError>;
}

/// A body and when it came.
type Outcome = Result<(Vec<u8>, Timestamp), ClientError>;

/// A request under way.
type Sending<'a> = Pin<Box<dyn Future<Output = (PageKey, Outcome)> + 'a>>;

/// A question that extraction will ask, unless what comes before it says otherwise.
struct Expected<'a> {
    key: PageKey,
    /// Sends it; none once that was done.
    send: Option<Sending<'a>>,
}

/// Asks for one run.
pub struct Asker<'a> {
    client: &'a Client,
    pages: &'a mut dyn PageStore,
    asked: HashMap<String, u32>,
    expected: VecDeque<Expected<'a>>,
    under_way: FuturesUnordered<Sending<'a>>,
    /// Answers in the archive that were not asked for yet, and what went wrong with others.
    arrived: HashMap<PageKey, Outcome>,
    sent_by_stage: BTreeMap<&'static str, u64>,
    /// Requests that are counted under a stage.
    counted: u64,
    answered: u64,
    replayed: u64,
    now: fn() -> Timestamp,
    tell: &'a dyn Fn(&'static str, u64),
}

/// Refusals that extraction may take for an answer; those it does not are disowned.
const KEPT_REFUSALS: [u16; 3] = [400, 403, 404];

/// Kept under the key of an answer that is none: the question is asked anew.
const DISOWNED: u16 = 0;

impl<'a> Asker<'a> {
    /// `tell` hears of every answer: the stage it belongs to and the requests it took.
    pub fn new(
        client: &'a Client,
        pages: &'a mut dyn PageStore,
        now: fn() -> Timestamp,
        tell: &'a dyn Fn(&'static str, u64),
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
            now,
            tell,
        }
    }

    /// Requests sent so far, by stage.
    pub fn sent_by_stage(&self) -> &BTreeMap<&'static str, u64> {
        &self.sent_by_stage
    }

    /// Questions answered, by the API or from the archive.
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// Answers that came from the archive.
    pub fn replayed(&self) -> u64 {
        self.replayed
    }

    /// Asks, unless this run holds the answer already.
    ///
    /// # Errors
    /// What the client says, kept refusals included; `Store` when the archive fails.
    pub async fn ask<T: DeserializeOwned + 'a>(
        &mut self,
        stage: &'static str,
        call: &Call<T>,
    ) -> Result<(T, PageKey), ExtractError> {
        let (mut key, sent_ahead) = self.next_key(call.target());
        self.answered += 1;
        if !sent_ahead {
            while let Some(held) = self.held(&key)? {
                if held.status != DISOWNED {
                    self.replayed += 1;
                    (self.tell)(stage, 0);
                    return Ok((replay(call, &held)?, key));
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

    /// Says which calls will be asked next, in this order, as far as is known now. They may be sent ahead; a call asked
    /// out of this order ends the expectation.
    pub fn expect<T: DeserializeOwned + 'a>(&mut self, calls: impl IntoIterator<Item = Call<T>>) {
        let mut before = std::mem::take(&mut self.expected);
        for call in calls.into_iter().take(MOST_UNDER_WAY) {
            let known = before.iter().position(|expected| expected.key.target == call.target());
            let expected = known.and_then(|at| before.remove(at)).unwrap_or_else(|| {
                let key = self.new_key(call.target());
                Expected { send: Some(sending(self.client, key.clone(), call)), key }
            });
            self.expected.push_back(expected);
        }
        before.iter().for_each(|unwanted| drop(self.arrived.remove(&unwanted.key)));
    }

    /// Says that a call will be asked before those that are expected.
    pub fn expect_first<T: DeserializeOwned + 'a>(&mut self, call: &Call<T>) {
        let key = self.new_key(call.target());
        let send = Some(sending(self.client, key.clone(), call.clone()));
        self.expected.push_front(Expected { key, send });
    }

    /// An answer turned out not to be one: this run and those that go on with it ask anew.
    ///
    /// # Errors
    /// `Store` when the archive fails.
    pub fn disown(&mut self, key: &PageKey) -> Result<(), ExtractError> {
        self.pages.keep(key, DISOWNED, (self.now)(), b"").map_err(ExtractError::Store)
    }

    /// A refusal ends the run: once its cause is gone, whoever goes on asks anew.
    ///
    /// # Errors
    /// `Store` when the archive fails.
    pub fn disown_refusal(&mut self, error: &ClientError) -> Result<(), ExtractError> {
        let ClientError::Refused { target, .. } = error else { return Ok(()) };
        let Some(occurrence) = self.asked.get(target).and_then(|asked| asked.checked_sub(1)) else {
            return Ok(());
        };
        self.disown(&PageKey { target: target.clone(), occurrence })
    }

    /// Waits for the answers that are under way and keeps them: they are paid for.
    ///
    /// # Errors
    /// `Store` when the archive fails.
    pub async fn finish(&mut self) -> Result<(), ExtractError> {
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

    /// Waits for one answer, and meanwhile keeps as many requests under way as the pace needs.
    async fn outcome(&mut self, key: &PageKey) -> Result<(Vec<u8>, Timestamp), ExtractError> {
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
    fn arrive(
        &mut self,
        came: PageKey,
        outcome: Outcome,
        wanted: Option<&PageKey>,
    ) -> Result<(), ExtractError> {
        self.keep(&came, &outcome)?;
        if wanted == Some(&came) || self.expected.iter().any(|expected| expected.key == came) {
            self.arrived.insert(came, outcome);
        }
        Ok(())
    }

    /// Runs `work` and returns its result. Requests under way are driven during the work, which is on another thread, so that an answer
    /// in time does not count as late.
    ///
    /// # Errors
    /// `Store` when the archive fails.
    pub fn alongside<T: Send>(&mut self, work: impl FnOnce() -> T + Send) -> Result<T, ExtractError> {
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
    async fn receive_until(&mut self, mut finished: oneshot::Receiver<()>) -> Result<(), ExtractError> {
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

    fn send_ahead(&mut self) -> Result<(), ExtractError> {
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
            match self.held(&key)? {
                Some(_) => self.expected[at].send = Some(sending),
                None => self.under_way.push(sending),
            }
        }
        Ok(())
    }

    fn held(&mut self, key: &PageKey) -> Result<Option<HeldPage>, ExtractError> {
        self.pages.held(key).map_err(ExtractError::Store)
    }

    fn count(&mut self, stage: &'static str) {
        let sent = self.client.budget().sent() - self.counted;
        self.counted += sent;
        *self.sent_by_stage.entry(stage).or_default() += sent;
        (self.tell)(stage, sent);
    }

    /// Writes down what an answer is worth keeping for.
    fn keep(&mut self, key: &PageKey, outcome: &Outcome) -> Result<(), ExtractError> {
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

fn replay<T: DeserializeOwned>(call: &Call<T>, held: &HeldPage) -> Result<T, ClientError> {
    if held.status == 200 {
        return call.decode(&held.body);
    }
    let message = String::from_utf8_lossy(&held.body).into_owned();
    Err(ClientError::Refused { target: call.target().to_owned(), status: held.status, message })
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
        fn held(&mut self, _: &PageKey) -> Result<Option<HeldPage>, StoreError> {
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
        let ledger = Ledger::of(folder.path(), base_url, &key);
        let budget = Budget::new(ledger, Timestamp::now, Bounds::default(), stop);
        let client = Client::new(ClientConfig::new(base_url), key, budget, Timestamp::now).expect("a client");
        let (mut pages, is_answered) = (NoPages, AtomicBool::new(false));
        let mut asker = Asker::new(&client, &mut pages, Timestamp::now, &|_, _| {});
        let answered = &is_answered;
        asker.under_way.push(Box::pin(async move {
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
        assert!(asker.alongside(wait).expect("an archive"), "the answer came while the work waited for it");
        assert!(asker.under_way.is_empty());
    }
}
