//! Request counts in a file of this server, which neither a restart nor a crash resets.
//!
//! No request waits for the disk of another account: each has its own lock, and one thread writes. An answer is sent when the
//! file has its request. Accounts with many requests a minute have some written ahead, so most of their answers wait for
//! nothing; a crash then counts up to one request in a hundred too many, and never one too few.
//!
//! The file is synced once a second, so a power cut loses at most the counts of the last second.

use super::counted::{Counted, MeterError, Uncounted, UsageMetrics};
use super::usage_account::Account;
use super::usage_file::{Contents, open, open_locked};
use super::usage_writer::{Target, Trouble, UsageWriter};
use crate::contract::account::Remaining;
use crate::contract::plan::PlanLimits;
use crate::contract::usage::Refusal;
use jiff::Timestamp;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(crate) struct FileCounts {
    accounts: RwLock<HashMap<String, Arc<Account>>>,
    file: Option<Kept>,
    metrics: UsageMetrics,
}

/// The file behind a meter.
#[derive(Debug)]
struct Kept {
    path: PathBuf,
    /// Has the lock on the file.
    file: File,
    writer: UsageWriter,
    trouble: Arc<Trouble>,
    /// How long an answer waits for its account's line.
    patience: Duration,
}

impl FileCounts {
    /// Opens the counts of a file. A missing file counts from zero; without a path the counts stay in memory.
    pub(crate) fn open(path: Option<PathBuf>, metrics: UsageMetrics) -> Result<Self, MeterError> {
        match path {
            // A second opening, so that the lock ends with the counts and not with their thread.
            Some(path) => Self::with_target(path, open, metrics),
            None => Ok(Self { metrics, ..Self::default() }),
        }
    }

    fn with_target<T: Target>(
        path: PathBuf,
        target: impl FnOnce(&Path) -> io::Result<T>,
        metrics: UsageMetrics,
    ) -> Result<Self, MeterError> {
        let failed = |source| MeterError::Storage(path.clone(), source);
        let file = open_locked(&path)?;
        let bytes = std::fs::read(&path).map_err(failed)?;
        let contents = Contents::of(bytes).ok_or_else(|| MeterError::Foreign(path.clone()))?;
        for line in &contents.damaged {
            tracing::warn!(path = %path.display(), line, "a line of the usage file is damaged; its account is counted from zero");
        }
        let accounts = contents.lines.into_iter().map(Account::read);
        let accounts = accounts.map(|account| (account.name().to_owned(), Arc::new(account))).collect();
        let trouble = Arc::new(Trouble::new(path.clone(), metrics.failures.clone()));
        let target = target(&path).map_err(failed)?;
        let writer = UsageWriter::start(contents.image, target, Arc::clone(&trouble)).map_err(failed)?;
        let kept = Kept { path, file, writer, trouble, patience: PATIENCE };
        Ok(Self { accounts: RwLock::new(accounts), file: Some(kept), metrics })
    }

    /// Counts one request of an account with one of its keys, and waits until the file has it. A request over a limit is refused and not
    /// counted.
    pub(super) async fn count(
        &self,
        account: &str,
        key: &str,
        now: Timestamp,
        limits: &PlanLimits,
    ) -> Result<Counted, Uncounted> {
        let refusal = self.admit(account, key, now, limits).err();
        if refusal.is_none() && !self.keep(account).await {
            return Err(Uncounted);
        }
        Ok(Counted { refusal, left: self.remaining(account, now, limits) })
    }

    fn admit(&self, account: &str, key: &str, now: Timestamp, limits: &PlanLimits) -> Result<(), Refusal> {
        let account = self.account(account);
        let is_due = account.admit(key, now, limits, || self.metrics.note_reset(account.name()))?;
        self.queue(is_due.then_some(account));
        Ok(())
    }

    /// Requests that an account has left.
    fn remaining(&self, account: &str, now: Timestamp, limits: &PlanLimits) -> Remaining {
        self.account(account).remaining(now, limits)
    }

    /// Waits until the file has every request counted for an account so far; false if that fails or takes too long.
    async fn keep(&self, account: &str) -> bool {
        let Some(kept) = &self.file else { return true };
        let account = self.account(account);
        let change = account.last_change();
        match account.state(change) {
            Some(is_kept) => is_kept,
            None => tokio::time::timeout(kept.patience, account.kept(change)).await.unwrap_or_default(),
        }
    }

    /// Makes the counts durable, and writes again what could not be written; blocking.
    pub(super) fn sync(&self) {
        let Some(kept) = &self.file else { return };
        if kept.writer.take_unsynced()
            && let Err(error) = kept.file.sync_data()
        {
            kept.trouble.report(&error);
        }
        if kept.trouble.take_unwritten() {
            self.queue(self.all().into_iter().filter(|account| account.is_due()));
        }
    }

    /// Writes the exact counts of every account, and waits for that a bounded time.
    pub(super) async fn close(&self) -> Result<(), MeterError> {
        let Some(kept) = &self.file else { return Ok(()) };
        let ahead: Vec<_> = self.all().into_iter().filter(|account| account.settle()).collect();
        self.queue(ahead.iter().cloned());
        let written = async {
            for account in &ahead {
                if !account.kept(account.last_change()).await {
                    return false;
                }
            }
            true
        };
        if tokio::time::timeout(kept.patience, written).await.unwrap_or_default() {
            return Ok(());
        }
        Err(MeterError::Storage(kept.path.clone(), kept.trouble.last_error()))
    }

    fn queue(&self, accounts: impl IntoIterator<Item = Arc<Account>>) {
        if let Some(kept) = &self.file {
            accounts.into_iter().for_each(|account| kept.writer.queue(account));
        }
    }

    fn account(&self, name: &str) -> Arc<Account> {
        let read = self.accounts.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.get(name) {
            return Arc::clone(known);
        }
        drop(read);
        let mut accounts = self.accounts.write().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Account::new(name.to_owned()));
        Arc::clone(accounts.entry(name.to_owned()).or_insert_with(new))
    }

    fn all(&self) -> Vec<Arc<Account>> {
        self.accounts.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use tempfile::TempDir;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("an instant")
    }

    fn open(path: &Path) -> Result<FileCounts, MeterError> {
        FileCounts::open(Some(path.to_owned()), UsageMetrics::default())
    }

    /// A meter whose lines go to another target than its file.
    fn on(folder: &TempDir, target: impl Target) -> FileCounts {
        let path = folder.path().join("usage.jsonl");
        FileCounts::with_target(path, |_| Ok(target), UsageMetrics::default()).expect("a meter")
    }

    async fn admit(meter: &FileCounts, account: &str, now: Timestamp, limits: &PlanLimits) {
        let counted = meter.count(account, "key_1", now, limits).await.expect("written");
        assert_eq!(counted.refusal, None);
    }

    #[tokio::test]
    async fn killed_process_loses_no_count_and_accounts_do_not_share() {
        let (folder, limits) = (tempfile::tempdir().expect("a folder"), Plan::Starter.limits());
        let path = folder.path().join("state/usage.jsonl");
        let now = at("2026-07-31T12:00:00Z");
        for (spent, account) in [(0, "acme"), (1, "acme"), (0, "the \"other\"\n"), (2, "acme")] {
            // Nothing is written when a meter is dropped, so each round ends like a kill.
            let meter = open(&path).expect("a meter");
            assert_eq!(meter.remaining(account, now, &limits).minute, 20 - spent, "{account}");
            admit(&meter, account, now, &limits).await;
        }
        let meter = open(&path).expect("a meter");
        assert_eq!(meter.remaining("acme", now, &limits), Remaining { minute: 17, day: 997, month: 9_997 });
        assert_eq!(meter.remaining("the \"other\"\n", now, &limits).day, 999);
        assert_eq!(meter.remaining("none", now, &limits).day, 1_000);
        assert_eq!(std::fs::read_to_string(&path).expect("lines").lines().count(), 2);
        meter.sync();
    }

    #[tokio::test]
    async fn crash_counts_up_to_a_hundredth_too_many_and_a_good_end_exactly() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("usage.jsonl");
        let limits = PlanLimits { per_minute: 1_000, ..Plan::Agency.limits() };
        let now = at("2026-07-31T12:00:00Z");
        let mut spent = 0;
        for requests in [1, 3, 10, 25, 11] {
            let meter = open(&path).expect("a meter");
            let left = limits.per_minute - meter.remaining("acme", now, &limits).minute;
            assert!((spent..=spent + 10).contains(&left), "{left} for {spent}");
            spent = left;
            for _ in 0..requests {
                admit(&meter, "acme", now, &limits).await;
                spent += 1;
            }
        }
        let meter = open(&path).expect("a meter");
        admit(&meter, "acme", now, &limits).await;
        let left = meter.remaining("acme", now, &limits);
        meter.close().await.expect("written");
        drop(meter);
        assert_eq!(open(&path).expect("a meter").remaining("acme", now, &limits), left);
    }

    #[tokio::test]
    async fn a_new_minute_is_written_though_requests_were_written_ahead() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("usage.jsonl");
        let limits = PlanLimits { per_minute: 1_000, ..Plan::Agency.limits() };
        let meter = open(&path).expect("a meter");
        for (now, spent) in [("2026-07-31T12:00:00Z", 1), ("2026-07-31T12:01:30Z", 1)] {
            admit(&meter, "acme", at(now), &limits).await;
            let text = std::fs::read_to_string(&path).expect("a line");
            assert!(
                text.contains(&format!("\"minute_since\":\"{now}\",\"minute\":{}", spent + 10)),
                "{text}"
            );
        }
    }

    #[tokio::test]
    async fn first_use_of_a_key_is_written_though_requests_were_written_ahead() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("usage.jsonl");
        let limits = PlanLimits { per_minute: 1_000, ..Plan::Agency.limits() };
        let meter = open(&path).expect("a meter");
        for key in ["key_1", "key_2"] {
            meter.count("acme", key, NOW, &limits).await.expect("written");
            let text = std::fs::read_to_string(&path).expect("a line");
            assert!(text.contains(key), "{text}");
        }
    }

    #[test]
    fn file_is_locked_by_one_process_and_a_foreign_one_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("usage.jsonl");
        let meter = open(&path).expect("a meter");
        assert!(matches!(open(&path), Err(MeterError::Locked(_))));
        drop(meter);
        std::fs::write(&path, "# Ours.\n").expect("a file");
        assert!(matches!(open(&path), Err(MeterError::Foreign(_))));
        assert!(matches!(open(Path::new("/dev/full")), Err(MeterError::Foreign(_))));
    }

    #[tokio::test]
    async fn counts_of_a_clock_far_ahead_are_reset_and_reported_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("usage.jsonl");
        let limits = PlanLimits { per_day: 3, ..Plan::Starter.limits() };
        let meter = open(&path).expect("a meter");
        for _ in 0..3 {
            admit(&meter, "acme", at("2036-01-01T12:00:00Z"), &limits).await;
        }
        drop(meter);
        let meter = open(&path).expect("a meter");
        for spent in 1..=2 {
            admit(&meter, "acme", at("2026-07-31T12:00:00Z"), &limits).await;
            assert_eq!(meter.remaining("acme", at("2026-07-31T12:00:00Z"), &limits).day, 3 - spent);
        }
        assert_eq!(meter.metrics.resets.get(), 1);
    }

    /// A disk on which each write takes this long, and which counts them.
    #[derive(Clone)]
    struct Slow(Duration, Arc<AtomicUsize>);

    impl Target for Slow {
        fn write_all_at(&self, _: &[u8], _: u64) -> io::Result<()> {
            self.1.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(self.0);
            Ok(())
        }
    }

    /// A disk that is full until it is not.
    struct Full(Arc<AtomicBool>);

    impl Target for Full {
        fn write_all_at(&self, _: &[u8], _: u64) -> io::Result<()> {
            if self.0.load(Ordering::Acquire) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    #[tokio::test]
    async fn requests_of_many_accounts_share_a_slow_write() {
        let writes = Arc::<AtomicUsize>::default();
        let folder = tempfile::tempdir().expect("a folder");
        let meter = on(&folder, Slow(Duration::from_millis(20), Arc::clone(&writes)));
        let limits = Plan::Enterprise.limits();
        let names: Vec<String> = (0..50).map(|number| format!("account {number}")).collect();
        for _ in 0..4 {
            for name in &names {
                meter.admit(name, "key_1", NOW, &limits).expect("admitted");
            }
            let all = names.iter().map(|name| meter.keep(name));
            assert!(futures::future::join_all(all).await.into_iter().all(|is_kept| is_kept));
        }
        assert!(writes.load(Ordering::Relaxed) <= 40, "{writes:?} writes for 200 requests");
    }

    #[tokio::test]
    async fn a_write_that_hangs_refuses_its_request_after_a_bound_and_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let hang = Slow(Duration::from_hours(1), Arc::default());
        let mut meter = on(&folder, hang);
        meter.file.as_mut().expect("a file").patience = Duration::from_millis(100);
        meter.admit("acme", "key_1", NOW, &Plan::Starter.limits()).expect("admitted");
        assert!(!meter.keep("acme").await);
        assert!(meter.keep("other").await, "an account without a request waits for nothing");
        assert!(meter.close().await.is_err());
    }

    #[tokio::test]
    async fn a_full_disk_refuses_what_it_cannot_keep_until_it_has_room() {
        let is_full = Arc::new(AtomicBool::new(true));
        let folder = tempfile::tempdir().expect("a folder");
        let meter = on(&folder, Full(Arc::clone(&is_full)));
        let limits = PlanLimits { per_minute: 1_000, ..Plan::Enterprise.limits() };
        for _ in 0..3 {
            meter.admit("acme", "key_1", NOW, &limits).expect("admitted");
            assert!(!meter.keep("acme").await);
        }
        is_full.store(false, Ordering::Release);
        meter.sync();
        while !meter.keep("acme").await {
            tokio::task::yield_now().await;
        }
        assert_eq!(meter.remaining("acme", NOW, &limits).minute, 997, "the refused ones count");
    }
}
