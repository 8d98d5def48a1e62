//! One question after another, each answered from the run's archive when it was asked before a kill.
//!
//! Extraction asks in an order that depends on the answers alone. So a run started again asks the same
//! questions, gets the archived answers for nothing, and pays from the first one that is not there.

use super::ExtractError;
use crate::client::{Call, Client, ClientError};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashMap};

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

/// Asks for one run.
pub struct Asker<'a> {
    client: &'a Client,
    pages: &'a mut dyn PageStore,
    asked: HashMap<String, u32>,
    sent_by_stage: BTreeMap<&'static str, u64>,
    replayed: u64,
    now: fn() -> Timestamp,
    tell: &'a dyn Fn(&'static str, u64),
}

/// Refusals that the same question would get again.
const KEPT_REFUSALS: [u16; 3] = [400, 403, 404];

impl<'a> Asker<'a> {
    /// `tell` hears of every answer: the stage it belongs to and the requests it took.
    pub fn new(
        client: &'a Client,
        pages: &'a mut dyn PageStore,
        now: fn() -> Timestamp,
        tell: &'a dyn Fn(&'static str, u64),
    ) -> Self {
        Self { client, pages, asked: HashMap::new(), sent_by_stage: BTreeMap::new(), replayed: 0, now, tell }
    }

    /// Requests sent so far, by stage.
    pub fn sent_by_stage(&self) -> &BTreeMap<&'static str, u64> {
        &self.sent_by_stage
    }

    /// Answers that came from the archive.
    pub fn replayed(&self) -> u64 {
        self.replayed
    }

    /// Asks, unless this run holds the answer already.
    ///
    /// # Errors
    /// What the client says, kept refusals included; `Store` when the archive fails.
    pub async fn ask<T: DeserializeOwned>(
        &mut self,
        stage: &'static str,
        call: &Call<T>,
    ) -> Result<(T, PageKey), ExtractError> {
        let key = self.next_key(call.target());
        if let Some(held) = self.pages.held(&key).map_err(ExtractError::Store)? {
            self.replayed += 1;
            (self.tell)(stage, 0);
            return Ok((replay(call, &held)?, key));
        }
        let before = self.client.budget().sent();
        let outcome = self.client.fetch(call).await;
        self.count(stage, before);
        match outcome {
            Ok(answer) => {
                self.keep(&key, 200, answer.received_at, &answer.body)?;
                Ok((answer.value, key))
            }
            Err(ClientError::Refused { target, status, message }) => {
                if KEPT_REFUSALS.contains(&status) {
                    self.keep(&key, status, (self.now)(), message.as_bytes())?;
                }
                Err(ClientError::Refused { target, status, message }.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn next_key(&mut self, target: &str) -> PageKey {
        let asked = self.asked.entry(target.to_owned()).or_insert(0);
        let key = PageKey { target: target.to_owned(), occurrence: *asked };
        *asked += 1;
        key
    }

    fn count(&mut self, stage: &'static str, before: u64) {
        let sent = self.client.budget().sent() - before;
        *self.sent_by_stage.entry(stage).or_default() += sent;
        (self.tell)(stage, sent);
    }

    fn keep(&mut self, key: &PageKey, status: u16, at: Timestamp, body: &[u8]) -> Result<(), ExtractError> {
        self.pages.keep(key, status, at, body).map_err(ExtractError::Store)
    }
}

fn replay<T: DeserializeOwned>(call: &Call<T>, held: &HeldPage) -> Result<T, ClientError> {
    if held.status == 200 {
        return call.decode(&held.body);
    }
    let message = String::from_utf8_lossy(&held.body).into_owned();
    Err(ClientError::Refused { target: call.target().to_owned(), status: held.status, message })
}
