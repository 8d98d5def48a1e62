//! The service: keys, quotas, the current view, and the choice of the operation.

use super::operations::{self, ApiError, NextPage, PageAnswer, View, data_json, json};
use crate::contract::account::{Account, AccountLimits, Remaining};
use crate::contract::argument::Arguments;
use crate::contract::eastern::eastern_day;
use crate::contract::endpoint::{DATA_SCOPE, Endpoint};
use crate::contract::reference::{EntityType, EntityTypeEntry};
use crate::serve::auth::{Accounts, Admission, Caller, Meter, Use};
use crate::serve::index::Index;
use arc_swap::{ArcSwap, ArcSwapOption};
use jiff::Timestamp;
use jiff::civil::Date;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

/// Returns the current time; passed in, so that a test can stop it.
pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

const NO_KEYS: &str = "key checking unavailable";
const NO_COUNTS: &str = "key checking is briefly unavailable: requests cannot be counted";
const NO_DATA: &str = "the data is being loaded; try again shortly";
/// How long an answer waits for the next snapshot when a file of the served one is gone. A server that ends waits as long for answers.
const NEXT_SNAPSHOT: Duration = Duration::from_secs(10);
/// Answers that wait for it at most: a quarter of those that the server works on.
const MOST_WAITING: usize = 64;

/// The JSON body of an answer; the next page, if it is one of several; and a digest of all that the answer depends on except
/// the request.
pub(crate) struct Versioned {
    pub(crate) body: Vec<u8>,
    pub(crate) next: Option<NextPage>,
    pub(crate) version: [u8; 32],
    /// The number of the snapshot, if it has one.
    pub(crate) snapshot: Option<u64>,
}

/// The API on an index that can be swapped while it serves.
pub(crate) struct Service {
    /// `None` until the first snapshot is loaded.
    view: ArcSwapOption<View>,
    accounts: ArcSwap<Accounts>,
    /// Whether keys cannot be checked at present.
    is_blind: AtomicBool,
    /// Wakes the answers that wait for the next snapshot.
    swapped: Notify,
    /// Permits of [`MOST_WAITING`].
    waiting: Semaphore,
    pub(crate) meter: Meter,
    clock: Clock,
    fixed_today: Option<Date>,
    entity_types: Vec<u8>,
}

impl Service {
    /// A service for these accounts. `fixed_today` replaces the current day; the request windows still follow the clock.
    pub(crate) fn new(
        index: impl Into<Option<Arc<Index>>>,
        accounts: Accounts,
        meter: Meter,
        clock: Clock,
        fixed_today: Option<Date>,
    ) -> Self {
        let today = fixed_today.unwrap_or_else(|| eastern_day(clock()));
        let entries = EntityType::ALL
            .map(|kind| EntityTypeEntry { key: kind.key().to_owned(), label: kind.label().to_owned() });
        Self {
            view: ArcSwapOption::from_pointee(index.into().map(|index| View::new(index, today))),
            accounts: ArcSwap::from_pointee(accounts),
            is_blind: AtomicBool::new(false),
            swapped: Notify::new(),
            waiting: Semaphore::new(MOST_WAITING),
            meter,
            clock,
            fixed_today,
            entity_types: data_json(&entries),
        }
    }

    /// Replaces the index and returns the old one, on which requests that have started finish.
    pub(crate) fn swap_index(&self, index: Arc<Index>) -> Option<Arc<Index>> {
        let old = self.view.swap(Some(Arc::new(View::new(index, self.today()))));
        self.swapped.notify_waiters();
        old.map(|old| Arc::clone(&old.index))
    }

    pub(crate) fn swap_accounts(&self, accounts: Accounts) {
        self.accounts.store(Arc::new(accounts));
    }

    /// The accounts that are served.
    pub(crate) fn accounts(&self) -> Arc<Accounts> {
        self.accounts.load_full()
    }

    /// Says whether keys can be checked; while they cannot, every key gets 503. Returns whether that is new.
    pub(crate) fn check_keys(&self, can_check: bool) -> bool {
        self.is_blind.swap(!can_check, Ordering::AcqRel) == can_check
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    pub(crate) fn today(&self) -> Date {
        self.fixed_today.unwrap_or_else(|| eastern_day(self.now()))
    }

    pub(crate) fn authenticate(&self, key: Option<&str>) -> Result<Caller, ApiError> {
        let key = key.ok_or(ApiError::Unauthorized { key_sent: false })?;
        if self.is_blind.load(Ordering::Acquire) {
            return Err(ApiError::Unavailable(NO_KEYS));
        }
        let caller = self.accounts.load().authenticate(key, self.now());
        let caller = caller.ok_or(ApiError::Unauthorized { key_sent: true })?;
        if self.view.load().is_none() {
            return Err(ApiError::Unavailable(NO_DATA));
        }
        Ok(caller)
    }

    /// Why every key gets 503 at present, if it does.
    pub(crate) fn unready(&self) -> Option<&'static str> {
        let is_blind = self.is_blind.load(Ordering::Acquire);
        let no_counts = || (!self.meter.is_usable()).then_some(NO_COUNTS);
        let no_data = || self.view.load().is_none().then_some(NO_DATA);
        is_blind.then_some(NO_KEYS).or_else(no_counts).or_else(no_data)
    }

    /// The rows that are served, once there are any.
    pub(crate) fn index(&self) -> Option<Arc<Index>> {
        self.view.load().as_ref().map(|view| Arc::clone(&view.index))
    }

    /// Whether the rows that are served are a sample.
    pub(crate) fn is_sample(&self) -> bool {
        self.index().is_some_and(|index| index.is_invented)
    }

    /// Checks that the plan and the scopes of a caller permit an operation.
    pub(crate) fn authorize(&self, caller: &Caller, endpoint: Endpoint) -> Result<(), ApiError> {
        if !caller.account.api_access {
            return Err(ApiError::NoApiAccess);
        }
        if endpoint.needs_data_scope() && !caller.scopes.iter().any(|scope| scope == DATA_SCOPE) {
            return Err(ApiError::MissingScope);
        }
        Ok(())
    }

    /// Counts one request of the caller's account, and says what the account has left; a request over a limit is not counted.
    pub(crate) async fn count(&self, caller: &Caller) -> Result<Admission, ApiError> {
        let (account, now) = (&caller.account, self.now());
        let used = Use { account: &account.name, key: &caller.key_id, now, limits: &account.limits };
        self.meter.count(used).await.map_err(|_| ApiError::Unavailable(NO_COUNTS))
    }

    /// What changed of a business, for the page at `/`; the arguments are those of a look-up by id.
    pub(crate) fn changes(&self, arguments: Arguments) -> Result<Vec<u8>, ApiError> {
        operations::changes(&*self.view()?, arguments)
    }

    /// The answer to a caller whose account has this left, with what a client that keeps it needs to know. A file that is gone was
    /// pruned with its snapshot, and a newer one is being loaded: the answer is from that one.
    pub(crate) async fn answer(
        &self,
        caller: &Caller,
        left: &Remaining,
        arguments: Arguments,
    ) -> Result<Versioned, ApiError> {
        let mut view = self.view()?;
        loop {
            let answered = self.versioned(&view, caller, left, arguments.clone());
            let Err(ApiError::Unreadable { why, is_gone }) = &answered else { return answered };
            let next = if *is_gone { self.view_after(&view).await } else { None };
            let Some(next) = next else {
                view.report(why);
                return answered;
            };
            view = next;
        }
    }

    /// The view of another snapshot than this one, if there is one soon. Once the log says that a file cannot be read, nobody
    /// begins to wait.
    async fn view_after(&self, old: &View) -> Option<Arc<View>> {
        let _waiting = self.waiting.try_acquire().ok()?;
        // From here on a swap is noticed.
        let swapped = self.swapped.notified();
        let newer = || self.view().ok().filter(|view| !Arc::ptr_eq(&view.index, &old.index));
        if let Some(view) = newer() {
            return Some(view);
        }
        if !old.is_reported.load(Ordering::Relaxed) {
            timeout(NEXT_SNAPSHOT, swapped).await.ok()?;
        }
        newer()
    }

    /// All from one view: a body is never sent with the version of another snapshot or day.
    fn versioned(
        &self,
        view: &View,
        caller: &Caller,
        left: &Remaining,
        arguments: Arguments,
    ) -> Result<Versioned, ApiError> {
        let (body, next) = self.answer_of(view, caller, left, arguments)?;
        let version = view.version(&caller.account.limits);
        Ok(Versioned { body, next, version, snapshot: view.index.snapshot })
    }

    fn answer_of(&self, view: &View, caller: &Caller, left: &Remaining, arguments: Arguments) -> PageAnswer {
        let limits = &caller.account.limits;
        let body = match arguments.endpoint() {
            Endpoint::SearchBusinesses => return operations::search(view, limits, arguments),
            Endpoint::DailyFilings => return operations::daily_filings(view, limits, arguments),
            Endpoint::Account => Ok(account(caller, *left)),
            Endpoint::BusinessByDocument => operations::business_by_document(view, arguments),
            Endpoint::Business => operations::business(view, arguments),
            Endpoint::Officers => operations::officers(view, arguments),
            Endpoint::DailyCounts => operations::daily_counts(view, limits, arguments),
            Endpoint::Counties => Ok(view.counties.clone()),
            Endpoint::County => operations::county(view, arguments),
            Endpoint::Stats => Ok(view.stats.clone()),
            Endpoint::Industries => Ok(view.industries.clone()),
            Endpoint::EntityTypes => Ok(self.entity_types.clone()),
        };
        body.map(|body| (body, None))
    }

    /// Updates the view on a new Eastern day, before a request has to do it. Returns the age of the newest data in seconds.
    pub(crate) fn turn_day(&self) -> Option<i64> {
        let view = self.view().ok()?;
        Some(self.now().as_second() - view.index.updated_at.as_second())
    }

    /// The view of today; on a new Eastern day it is made first.
    fn view(&self) -> Result<Arc<View>, ApiError> {
        let loaded = self.view.load_full();
        let view = loaded.as_ref().ok_or(ApiError::Unavailable(NO_DATA))?;
        let today = self.today();
        if view.today == today {
            return Ok(Arc::clone(view));
        }
        let turned = Arc::new(View::new(Arc::clone(&view.index), today));
        // A new index may have arrived in between; it is not replaced. This request may use either view.
        self.view.compare_and_swap(&loaded, Some(Arc::clone(&turned)));
        Ok(turned)
    }
}

/// The account record.
fn account(caller: &Caller, remaining: Remaining) -> Vec<u8> {
    let limits = &caller.account.limits;
    json(&Account {
        kind: "client".to_owned(),
        id: caller.key_id.to_string(),
        scopes: caller.scopes.to_vec(),
        limits: AccountLimits {
            per_minute: limits.per_minute,
            per_day: limits.per_day,
            per_month: limits.per_month,
        },
        remaining,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::fixture::{self, write_table};
    use crate::serve::index::IndexBuilder;
    use crate::serve::load::load_snapshot;
    use crate::table::{DetailRow, Table};
    use futures::FutureExt;
    use std::path::Path;
    use std::sync::atomic::{AtomicI64, Ordering};

    const LEFT: Remaining = Remaining { minute: 1, day: 1, month: 1 };

    #[test]
    fn counts_change_with_the_eastern_day() {
        let seconds = Arc::new(AtomicI64::new(1_785_556_799)); // 2026-07-31 23:59:59 in Eastern time
        let at = Arc::clone(&seconds);
        let clock: Clock =
            Arc::new(move || Timestamp::from_second(at.load(Ordering::Relaxed)).unwrap_or_default());
        let accounts = Accounts::single(fixture::KEY, "acme", fixture::generous(), &["data"]);
        let service = Service::new(Arc::new(fixture::index()), accounts, Meter::default(), clock, None);
        let caller = service.authenticate(Some(fixture::KEY)).expect("known");
        let latest = || {
            let arguments = Arguments::from_request(Endpoint::Stats, None, "");
            let answer = service.answer(&caller, &LEFT, arguments).now_or_never().expect("no wait");
            let body = answer.expect("stats").body;
            let stats: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
            stats["data"]["latest_filing_date"].clone()
        };
        assert_eq!(latest(), "2026-07-31");
        seconds.fetch_add(1, Ordering::Relaxed);
        assert_eq!(latest(), "2026-08-01");
    }

    #[test]
    fn a_swapped_index_is_served_at_once() {
        let accounts = Accounts::single(fixture::KEY, "acme", fixture::generous(), &["data"]);
        let clock = fixture::clock();
        let service =
            Service::new(Arc::new(fixture::index()), accounts, Meter::default(), clock, Some(fixture::TODAY));
        let caller = service.authenticate(Some(fixture::KEY)).expect("known");
        let find = || {
            let arguments = Arguments::from_request(Endpoint::Business, Some("1"), "");
            service.answer(&caller, &LEFT, arguments).now_or_never().expect("no wait")
        };
        assert!(find().is_ok());
        let empty = IndexBuilder::default().finish().expect("an empty index");
        assert!(service.swap_index(Arc::new(empty)).expect("an index").rows() > 0);
        assert_eq!(find().err().map(|error| error.status()), Some(404));
    }

    /// The index of a snapshot of one business, whose detail stays in its file.
    fn by_month(snapshot: &Path) -> Arc<Index> {
        let filings = [fixture::filing("1", "2026-07-31", true)];
        write_table(snapshot, Table::Filings, "f.parquet", &filings);
        let detail = DetailRow::from_detail(&fixture::detail(1, 0), fixture::SEEN_AT).expect("a row");
        write_table(snapshot, Table::Details, "filed_month=2026-07/d.parquet", &[detail]);
        Arc::new(load_snapshot(snapshot).expect("an index"))
    }

    #[tokio::test]
    async fn a_look_up_in_a_pruned_file_is_answered_from_the_next_snapshot() {
        let folders = [(), ()].map(|()| tempfile::tempdir().expect("a folder"));
        let [old, new] = folders.each_ref().map(|folder| by_month(folder.path()));
        let accounts = Accounts::single(fixture::KEY, "acme", fixture::generous(), &["data"]);
        let service = Service::new(old, accounts, Meter::default(), fixture::clock(), Some(fixture::TODAY));
        let caller = service.authenticate(Some(fixture::KEY)).expect("known");
        let find =
            || service.answer(&caller, &LEFT, Arguments::from_request(Endpoint::Business, Some("1"), ""));
        std::fs::remove_dir_all(folders[0].path().join("details")).expect("pruned");
        // The look-up waits when it is first polled, and the swap comes then.
        let (found, old) = tokio::join!(find(), async { service.swap_index(new) });
        assert!(found.is_ok() && old.is_some());
        // A damaged file is no pruned one; and once the log says that a file cannot be read, nobody waits.
        let months = folders[1].path().join("details/filed_month=2026-07");
        std::fs::write(months.join("d.parquet"), "damaged").expect("written");
        let status = || find().now_or_never().expect("no wait").err().map(|error| error.status());
        assert_eq!(status(), Some(503));
        std::fs::remove_dir_all(months).expect("removed");
        assert_eq!(status(), Some(503));
    }
}
