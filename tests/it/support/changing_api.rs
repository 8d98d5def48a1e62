//! An API whose rows change while they are read: listings from memory, changes, faults and kills by dice, and the rest from the
//! program's own server.

use super::command::succeed;
use super::dice::Dice;
use super::listings::{Filing, Listings, Query, Question};
use super::proxy::{Proxy, Reply, Request};
use super::server::ApiServer;
use jiff::civil::Date;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A row that came or was dissolved.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) id: u64,
    pub(crate) filed: Date,
    pub(crate) is_fictitious: bool,
    /// Whether the row came; otherwise it was dissolved.
    pub(crate) came: bool,
    /// The request after which it happened.
    pub(crate) after: String,
    /// The first later request whose answer counted the row, or counted it no more.
    pub(crate) shown_by: Option<String>,
}

/// Bytes of an answer's end in the log: its total, or its last counts.
const LOGGED: usize = 90;

/// What the API is, and how it misbehaves.
pub(crate) struct State {
    pub(crate) listings: Listings,
    pub(crate) changes: Vec<Change>,
    pub(crate) requests: usize,
    /// The requests of a run with the ends of their answers, and the changes between them. A round empties it before each run.
    pub(crate) log: Vec<String>,
    /// Changes for each page with rows, and faults for each answer of a listing.
    pub(crate) drift: f64,
    pub(crate) faults: f64,
    /// The status of every answer; none while it answers as it should.
    pub(crate) refuses: Option<u16>,
    /// Kills the process at this request, before it is answered.
    pub(crate) kill_at: Option<usize>,
    pub(crate) process: Option<u32>,
    /// Filings that are not listed before a day.
    arrivals: Vec<(Date, Filing)>,
    newest_id: u64,
    chance: Dice,
}

/// The API; it ends when dropped.
pub(crate) struct ChangingApi {
    pub(crate) proxy: Proxy,
    state: Arc<Mutex<State>>,
}

impl ChangingApi {
    /// Lists filings from the day on which each arrives.
    pub(crate) fn start(
        upstream: &ApiServer,
        listings: Listings,
        arrivals: Vec<(Date, Filing)>,
        seed: u64,
    ) -> Self {
        let today = listings.today;
        let newest_id = arrivals.iter().map(|(_, filing)| filing.id).max().unwrap_or(0);
        let mut state = State {
            listings,
            changes: Vec::new(),
            requests: 0,
            log: Vec::new(),
            drift: 0.0,
            faults: 0.0,
            refuses: None,
            kill_at: None,
            process: None,
            arrivals,
            newest_id,
            chance: Dice::new(seed),
        };
        state.advance(today);
        // The rows of the first day have not changed since an answer: there was none.
        state.changes.clear();
        let state = Arc::new(Mutex::new(state));
        let answering = Arc::clone(&state);
        let proxy = Proxy::scripted(upstream.address, move |request| locked(&answering).reply(request));
        Self { proxy, state }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// Makes it another day; what arrives by then is listed.
    pub(crate) fn advance(&mut self, today: Date) {
        self.listings.today = today;
        let arrivals = std::mem::take(&mut self.arrivals).into_iter();
        let (arrived, later): (Vec<_>, Vec<_>) = arrivals.partition(|(day, _)| *day <= today);
        self.arrivals = later;
        for (_, filing) in arrived {
            self.note(&filing, true, format!("the morning of {today}"));
            self.listings.add(filing);
        }
    }

    fn note(&mut self, filing: &Filing, came: bool, after: String) {
        let (id, filed, is_fictitious) = (filing.id, filing.filed, filing.is_fictitious());
        let what = if came { "came" } else { "was dissolved" };
        self.log.push(format!("    {id} of {filed} {what}, fictitious: {is_fictitious}"));
        self.changes.push(Change { id, filed, is_fictitious, came, after, shown_by: None });
    }

    fn reply(&mut self, request: &Request) -> Reply {
        self.requests += 1;
        if self.kills() {
            return Reply::Reset;
        }
        if let Some(status) = self.refuses {
            return Reply::error(status, json_header());
        }
        let question = self.listings.question(&request.target);
        let number = self.requests;
        let label = format!("request {number} {}", request.target);
        let answer = match &question {
            Ok(Question::Other) => return Reply::Forward,
            Ok(question) => self.listings.answer(question),
            Err(refusal) => Err(*refusal),
        };
        let (body, page) = match answer {
            Ok((body, page)) => (body.to_string(), page),
            Err((status, _)) => return Reply::error(status, json_header()),
        };
        let Ok(question) = question else { return Reply::Forward };
        if matches!(question, Question::Listing { .. }) && self.happens(self.faults) {
            return self.fault(body);
        }
        let end = &body.as_bytes()[body.len().saturating_sub(LOGGED)..];
        self.log.push(format!("{label}: {}", String::from_utf8_lossy(end)));
        self.show(&question, &label);
        if let Question::Listing { query, .. } = &question
            && !page.is_empty()
            && self.happens(self.drift)
        {
            self.change(query, &page, label);
        }
        Reply::Answer(200, json_header(), body)
    }

    fn happens(&mut self, rate: f64) -> bool {
        (self.chance.below(1_000_000) as f64) < rate * 1e6
    }

    /// Whether the process was killed at this request.
    fn kills(&mut self) -> bool {
        let is_due = self.kill_at.is_some_and(|number| self.requests >= number);
        let Some(process) = self.process.filter(|_| is_due) else { return false };
        self.kill_at = None;
        succeed(Command::new("kill").args(["-KILL", &process.to_string()]));
        true
    }

    fn fault(&mut self, body: String) -> Reply {
        match self.chance.below(3) {
            0 => Reply::error(503, json_header()),
            1 => Reply::Answer(200, json_header(), body.chars().take(body.len() / 2).collect()),
            _ => Reply::Reset,
        }
    }

    /// Notes which changes an answer shows, if only in a sum.
    fn show(&mut self, question: &Question, label: &str) {
        let today = self.listings.today;
        for change in self.changes.iter_mut().filter(|change| change.shown_by.is_none()) {
            let filing = self.listings.get(change.id).expect("a filing");
            let is_shown = match question {
                Question::Counts(since) => Query::of_days(*since, today, None).covers(filing),
                Question::Listing { query, .. } => query.covers(filing),
                Question::Business(id) => *id == change.id,
                Question::Account | Question::Statewide | Question::Other => false,
            };
            if is_shown {
                change.shown_by = Some(label.to_owned());
            }
        }
    }

    /// A new row like one of the page, or the end of a row of its listing.
    fn change(&mut self, query: &Query, page: &[u64], after: String) {
        if self.chance.below(10) < 6 {
            let like = page[self.chance.below(page.len() as u64) as usize];
            let mut filing = self.listings.get(like).expect("a filing").clone();
            self.newest_id += 1;
            filing.id = self.newest_id;
            filing.document_number = format!("Z{:011}", filing.id);
            filing.name.push_str(&format!(" NO {}", filing.id));
            filing.dissolved = None;
            self.note(&filing, true, after);
            self.listings.add(filing);
        } else {
            let rows = self.listings.rows(query).filter(|filing| filing.dissolved.is_none());
            let active: Vec<u64> = rows.map(|filing| filing.id).collect();
            if active.is_empty() {
                return;
            }
            let id = active[self.chance.below(active.len() as u64) as usize];
            let filing = self.listings.get(id).expect("a filing").clone();
            self.note(&filing, false, after);
            self.listings.dissolve(id);
        }
    }
}

fn json_header() -> Vec<(&'static str, String)> {
    vec![("Content-Type", "application/json".to_owned())]
}
