//! Sends one request after another; each is answered from the run's archive when it was answered before a kill.
//!
//! The order of requests depends on answers alone. So a resumed run sends the same requests, gets archived answers for
//! free, and uses the account's requests from the first one that is missing.
//!
//! When answers are so slow that one request at a time would not use the allowed pace, expected requests are sent ahead. Extraction
//! still gets its answers in its own order.

use super::error::{ExtractError, Result, StoreError};
use crate::client::{Call, Client, ClientError, Decode, MOST_UNDER_WAY};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use std::any::Any;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;

/// Identifies one answer of a run: the request, and how often it was sent before.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PageKey {
    pub(crate) target: String,
    pub(crate) occurrence: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct StoredPage {
    pub(crate) status: u16,
    pub(crate) received_at: Timestamp,
    /// Its body; for a refusal, the API's message.
    pub(crate) body: Vec<u8>,
}

/// An answer, and the page that keeps it.
pub(crate) struct Answer<T> {
    pub(crate) value: T,
    pub(crate) key: PageKey,
    pub(crate) received_at: Timestamp,
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

/// An answer of any call.
pub(super) struct AnyAnswer {
    pub(super) value: Box<dyn Any>,
    /// Empty once it is archived.
    pub(super) body: Vec<u8>,
    pub(super) received_at: Timestamp,
}

pub(super) type Outcome = Result<AnyAnswer, ClientError>;

pub(super) type Sending<'a> = Pin<Box<dyn Future<Output = (PageKey, Outcome)> + 'a>>;

/// A request that extraction will probably send next.
struct ExpectedCall<'a> {
    key: PageKey,
    /// Sends it; none once sent.
    send: Option<Sending<'a>>,
}

pub(crate) struct PageFetcher<'a> {
    client: &'a Client,
    pages: &'a mut dyn PageStore,
    /// How often each target was requested.
    occurrences: HashMap<String, u32>,
    expected: VecDeque<ExpectedCall<'a>>,
    /// Whether the expected requests are needed, whatever the answers are.
    is_sure: bool,
    pub(super) under_way: FuturesUnordered<Sending<'a>>,
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
    /// Archived answers from before this are too old to be used.
    pub(crate) oldest: Timestamp,
    /// When the newest of the answers came, wanted or not.
    newest: Timestamp,
    now: fn() -> Timestamp,
    report: &'a dyn Fn(u64, u64),
}

/// Refusals that extraction may use as answers; the others are invalidated.
pub(super) const KEPT_REFUSALS: [u16; 3] = [400, 403, 404];

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
            occurrences: HashMap::new(),
            expected: VecDeque::new(),
            is_sure: false,
            under_way: FuturesUnordered::new(),
            arrived: HashMap::new(),
            sent_by_stage: BTreeMap::new(),
            counted: client.budget().sent(),
            answered: 0,
            replayed: 0,
            rows: 0,
            oldest: Timestamp::MIN,
            newest: Timestamp::MIN,
            now,
            report,
        }
    }

    /// Sends a request, unless its answer is archived.
    pub(crate) async fn ask<T: Decode>(&mut self, stage: &'static str, call: &Call<T>) -> Result<Answer<T>> {
        let (mut key, sent_ahead) = self.next_key(call.target());
        self.answered += 1;
        if !sent_ahead {
            while let Some(stored) = self.pages.stored(&key)? {
                if stored.status != INVALIDATED && stored.received_at >= self.oldest {
                    self.replayed += 1;
                    self.newest = self.newest.max(stored.received_at);
                    (self.report)(0, self.rows);
                    let value = replay(call, &stored)?;
                    return Ok(Answer { value, key, received_at: stored.received_at });
                }
                key = self.new_key(call.target());
            }
            self.under_way.push(sending(self.client, key.clone(), call.clone()));
        }
        let outcome = self.outcome(&key).await;
        self.count(stage);
        let AnyAnswer { value, received_at, .. } = outcome?;
        match value.downcast() {
            Ok(value) => Ok(Answer { value: *value, key, received_at }),
            Err(_) => Err(ExtractError::Lost { target: key.target }),
        }
    }

    /// Sends a request; none when the API refuses it with a status.
    pub(crate) async fn ask_unless_refused<T: Decode>(
        &mut self,
        stage: &'static str,
        call: &Call<T>,
        status: u16,
    ) -> Result<Option<Answer<T>>> {
        match self.ask(stage, call).await {
            Err(error) if error.is_refused_with(status) => Ok(None),
            answer => answer.map(Some),
        }
    }

    /// From now on, an archived answer is used only if it came after every answer so far: it knows what they know. A resumed run may
    /// have sent requests ahead whose answers nobody wanted in the end; they count too.
    pub(crate) async fn ask_newer(&mut self) -> Result<()> {
        self.finish().await?;
        self.oldest = self.oldest.max(self.newest);
        Ok(())
    }

    /// Whether the next answer to a call comes from the archive.
    pub(crate) fn is_archived<T: Decode>(&mut self, call: &Call<T>) -> Result<bool> {
        let target = call.target().to_owned();
        let expected = self.expected.front().map(|expected| &expected.key);
        let next = self.occurrences.get(&target).copied().unwrap_or(0);
        let occurrence = expected.filter(|key| key.target == target).map_or(next, |key| key.occurrence);
        let mut key = PageKey { target, occurrence };
        while let Some(stored) = self.pages.stored(&key)? {
            if stored.status != INVALIDATED && stored.received_at >= self.oldest {
                return Ok(true);
            }
            key.occurrence += 1;
        }
        Ok(false)
    }

    /// Announces the next calls, in this order. They may be sent ahead. A call in another order cancels them. Pages of a listing
    /// are surely needed; an answer may show that a look-up is not.
    pub(crate) fn expect<T: Decode>(&mut self, calls: impl IntoIterator<Item = Call<T>>, is_sure: bool) {
        self.is_sure = is_sure;
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
    pub(crate) fn expect_first<T: Decode>(&mut self, call: &Call<T>) {
        let key = self.new_key(call.target());
        let send = Some(sending(self.client, key.clone(), call.clone()));
        self.expected.push_front(ExpectedCall { key, send });
    }

    /// Invalidates an archived answer: this run and those that resume it send the request again.
    pub(crate) fn invalidate(&mut self, key: &PageKey) -> Result<()> {
        Ok(self.pages.keep(key, INVALIDATED, (self.now)(), b"")?)
    }

    /// Invalidates the refusal that ends the run, so that a resumed run sends the request again.
    pub(crate) fn invalidate_refusal(&mut self, error: &ClientError) -> Result<()> {
        let ClientError::Refused { target, .. } = error else { return Ok(()) };
        let Some(occurrence) = self.occurrences.get(target).and_then(|next| next.checked_sub(1)) else {
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
        let next = self.occurrences.entry(target.to_owned()).or_insert(0);
        let key = PageKey { target: target.to_owned(), occurrence: *next };
        *next += 1;
        key
    }

    /// Waits for one answer, while the number of requests under way is kept at what the pace needs.
    async fn outcome(&mut self, key: &PageKey) -> Result<AnyAnswer> {
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
    pub(super) fn arrive(
        &mut self,
        came: PageKey,
        mut outcome: Outcome,
        wanted: Option<&PageKey>,
    ) -> Result<()> {
        self.keep(&came, &outcome)?;
        if let Ok(answer) = &mut outcome {
            answer.body = Vec::new();
        }
        if wanted == Some(&came) || self.expected.iter().any(|expected| expected.key == came) {
            self.arrived.insert(came, outcome);
        }
        Ok(())
    }

    fn send_ahead(&mut self) -> Result<()> {
        if self.expected.is_empty() {
            return Ok(());
        }
        let most = self.client.overlap(self.is_sure)?;
        for at in 0..self.expected.len() {
            if self.under_way.len() >= most {
                break;
            }
            let Some(sending) = self.expected[at].send.take() else { continue };
            let key = self.expected[at].key.clone();
            match self.pages.stored(&key)? {
                Some(_) => self.expected[at].send = Some(sending),
                None => self.under_way.push(sending),
            }
        }
        Ok(())
    }

    fn count(&mut self, stage: &'static str) {
        let sent = self.client.budget().sent() - self.counted;
        self.counted += sent;
        *self.sent_by_stage.entry(stage).or_default() += sent;
        (self.report)(sent, self.rows);
    }

    /// Archives an answer, or a refusal that may be used as one.
    fn keep(&mut self, key: &PageKey, outcome: &Outcome) -> Result<()> {
        match outcome {
            Ok(answer) => {
                self.newest = self.newest.max(answer.received_at);
                self.pages.keep(key, 200, answer.received_at, &answer.body)?;
            }
            Err(ClientError::Refused { status, message, .. }) if KEPT_REFUSALS.contains(status) => {
                self.pages.keep(key, *status, (self.now)(), message.as_bytes())?;
            }
            Err(_) => {}
        }
        Ok(())
    }
}

fn sending<'a, T: Decode>(client: &'a Client, key: PageKey, call: Call<T>) -> Sending<'a> {
    Box::pin(async move {
        let outcome = client.fetch(&call).await.map(|answer| AnyAnswer {
            value: Box::new(answer.value),
            body: answer.body,
            received_at: answer.received_at,
        });
        (key, outcome)
    })
}

fn replay<T: Decode>(call: &Call<T>, stored: &StoredPage) -> Result<T, ClientError> {
    if stored.status == 200 {
        return call.decode(&stored.body);
    }
    let message = String::from_utf8_lossy(&stored.body).into_owned();
    Err(ClientError::Refused { target: call.target().to_owned(), status: stored.status, message })
}
