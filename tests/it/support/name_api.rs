//! A register of names in memory that changes while it is read: searches by name and the number of businesses are answered here, the rest
//! by the program's own server. Names are compared in upper case, so that a search for `SS` finds `ß` too. A search without a type lists
//! fictitious names, so that a reader may leave out their own listings.

use super::command::Sunlake;
use super::proxy::{Proxy, Reply, Request};
use super::server::{AGENCY, ApiServer};
use super::source;
use jiff::civil::Date;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Business {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) is_active: bool,
    pub(crate) filed: Date,
}

#[derive(Default)]
pub(crate) struct Register {
    pub(crate) businesses: Vec<Business>,
    /// Called after every answer with rows.
    after_page: Option<Change>,
}

/// Changes the businesses.
type Change = Box<dyn FnMut(&mut Vec<Business>) + Send>;

pub(crate) fn add(businesses: &mut Vec<Business>, name: &str, filed: Date) {
    let id = businesses.len() as u64 + 1;
    businesses.push(Business { id, name: name.to_owned(), is_active: true, filed });
}

impl Register {
    pub(crate) fn dissolve(&mut self, name: &str) {
        let found = self.businesses.iter_mut().find(|business| business.name == name);
        found.expect("a business of this name").is_active = false;
    }

    /// Changes the businesses after every page with rows.
    pub(crate) fn drifts(&mut self, change: impl FnMut(&mut Vec<Business>) + Send + 'static) {
        self.after_page = Some(Box::new(change));
    }

    /// The businesses that the API has, by id.
    pub(crate) fn listed(&self, with_dissolved: bool) -> BTreeMap<i64, Business> {
        let listed = self.businesses.iter().filter(|business| with_dissolved || business.is_active);
        listed.map(|business| (business.id as i64, business.clone())).collect()
    }

    fn page(&mut self, query: &BTreeMap<String, String>) -> Value {
        let prefix = query["q"].to_uppercase();
        let (from, to) = (query.get("filed_from"), &query["filed_to"]);
        let with_dissolved = query.get("status").is_some_and(|status| status == "all");
        let is_listed = |business: &&Business| {
            let filed = business.filed.to_string();
            query.get("type").is_none_or(|kind| kind == kind_of(business))
                && business.name.to_uppercase().starts_with(&prefix)
                && (with_dissolved || business.is_active)
                && from.is_none_or(|from| *from <= filed)
                && filed <= *to
        };
        let mut rows: Vec<&Business> = self.businesses.iter().filter(is_listed).collect();
        rows.sort_by_key(|business| std::cmp::Reverse((business.filed, business.id)));
        let number = |name: &str| query[name].parse::<usize>().expect("a number");
        let (total, offset, limit) = (rows.len(), number("offset"), number("limit"));
        let shown: Vec<&Business> = rows.into_iter().skip(offset).take(limit).collect();
        let records: Vec<Value> = shown.iter().map(|business| record(business)).collect();
        if let Some(change) = self.after_page.as_mut().filter(|_| !records.is_empty()) {
            change(&mut self.businesses);
        }
        let has_more = offset + records.len() < total;
        let pagination = json!({ "limit": limit, "offset": offset, "has_more": has_more, "total": total });
        json!({ "data": records, "pagination": pagination })
    }
}

/// A name that begins with `DBA` is fictitious.
fn kind_of(business: &Business) -> &'static str {
    if business.name.starts_with("DBA") { "fictitious" } else { "llc" }
}

fn record(business: &Business) -> Value {
    let Business { id, name, is_active, filed } = business;
    json!({
        "id": id.to_string(), "document_number": format!("L{id:011}"), "name": name, "entity_type": kind_of(business),
        "company_type": "Any", "status": if *is_active { "active" } else { "dissolved" },
        "filed_date": filed.to_string(), "dissolved_date": (!is_active).then_some("2026-03-20"), "city": "Miami",
        "zip": "33101", "county": "Miami-Dade", "industry": { "sector": "other", "type": "other.general" },
        "url": format!("https://filings.example/{id}"),
    })
}

/// The API of a register; it ends when dropped.
pub(crate) struct NameApi {
    pub(crate) proxy: Proxy,
    key: String,
    register: Arc<Mutex<Register>>,
    _server: ApiServer,
}

impl NameApi {
    pub(crate) fn start(register: Register) -> Self {
        let server = ApiServer::generous(source::small(), AGENCY);
        let stats = server.get("/v1/fl/stats").json();
        let register = Arc::new(Mutex::new(register));
        let answering = Arc::clone(&register);
        let proxy = Proxy::scripted(server.address, move |request| {
            answer(&mut locked(&answering), request, &stats).unwrap_or(Reply::Forward)
        });
        Self { proxy, key: server.key.clone(), register, _server: server }
    }

    /// The register, which answers nothing in the meantime.
    pub(crate) fn register(&self) -> MutexGuard<'_, Register> {
        locked(&self.register)
    }

    pub(crate) fn run(&self, pipeline: &Path, lake: &Path, today: Date) -> Sunlake {
        Sunlake::run(pipeline, lake).asking(&self.proxy.url(), &today.to_string(), &self.key)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The answer to a request for stats or names; none for others.
fn answer(register: &mut Register, request: &Request, stats: &Value) -> Option<Reply> {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let body = match path {
        "/v1/fl/stats" => {
            let mut stats = stats.clone();
            stats["data"]["businesses_total"] = register.businesses.len().into();
            stats
        }
        "/v1/fl/businesses" => {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            register.page(&pairs.map(|(name, value)| (name.to_owned(), decoded(value))).collect())
        }
        _ => return None,
    };
    Some(Reply::Answer(200, vec![("Content-Type", "application/json".to_owned())], body.to_string()))
}

/// A value of a query without its percent-encoding.
fn decoded(value: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), value.as_bytes());
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match (code.and_then(|two| u8::from_str_radix(two, 16).ok()), first) {
            (Some(byte), _) => (bytes.push(byte), rest = &after[2..]).1,
            (None, b'+') => (bytes.push(b' '), rest = after).1,
            (None, plain) => (bytes.push(*plain), rest = after).1,
        }
    }
    String::from_utf8(bytes).expect("UTF-8")
}
