//! Request counts in a file of this server, which neither a restart nor a crash resets.
//!
//! No request waits for the disk of another account: each has its own line, and its own lock. An answer is sent when the
//! file has its request. Accounts with many requests a minute have some written ahead, so most of their answers wait for
//! nothing; a crash then counts up to one request in a hundred too many, and never one too few.
//!
//! The file is synced once a second, so a power cut loses at most the counts of the last second.

use super::counted::{Admission, CountNotKept, MeterError, UsageMetrics, Use};
use super::usage_account::{Account, reserve};
use super::usage_file::{Line, Place};
use super::usage_writer::UsageWriter;
use crate::serve::detached::detached;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::time::timeout;

/// How long an answer waits for its account's line.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) struct FileCounts {
    accounts: RwLock<HashMap<String, Arc<Account>>>,
    file: Option<Arc<UsageWriter>>,
    metrics: UsageMetrics,
    patience: Duration,
}

impl FileCounts {
    /// Counts that are forgotten at the end.
    pub(crate) fn in_memory(metrics: UsageMetrics) -> Self {
        Self { accounts: RwLock::default(), file: None, metrics, patience: PATIENCE }
    }

    /// Opens the counts of a file. A missing file counts from zero.
    pub(crate) fn open(path: PathBuf, metrics: UsageMetrics) -> Result<Self, MeterError> {
        let (file, lines) = UsageWriter::open(path, metrics.clone())?;
        let account =
            |(line, place): (Line, Place)| (line.account.clone(), Arc::new(Account::new(line, Some(place))));
        let accounts = RwLock::new(lines.into_iter().map(account).collect());
        Ok(Self { accounts, file: Some(Arc::new(file)), metrics, patience: PATIENCE })
    }

    /// Counts one request, and waits until the file has it. A request over a limit is refused and not counted.
    pub(super) async fn count(&self, used: Use<'_>) -> Result<Admission, CountNotKept> {
        let account = self.account(used.account);
        let refusal = account.admit(used, |name| self.metrics.note_reset(name)).err();
        if refusal.is_none() && !account.is_kept() {
            self.keep(&account, reserve(used.limits)).await.map_err(|_| CountNotKept)?;
        }
        Ok(Admission { refusal, left: account.remaining(used.now, used.limits) })
    }

    /// Waits until the file has every request counted for an account so far.
    async fn keep(&self, account: &Arc<Account>, reserve: u32) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let written = async {
            let mut place = Arc::clone(&account.place).lock_owned().await;
            // By the request that had the lock before.
            if account.is_kept() {
                return Ok(());
            }
            let (file, account) = (Arc::clone(file), Arc::clone(account));
            let write = detached(move || file.write(&account, &mut place, reserve));
            write.await.unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
        };
        timeout(self.patience, written).await?
    }

    /// Makes the counts durable, and writes again what could not be written; blocking.
    pub(super) fn sync(&self) {
        let Some(file) = &self.file else { return };
        file.sync();
        for account in self.all().iter().filter(|account| !account.is_kept()) {
            // A lock that another has is of a write under way.
            if let Ok(mut place) = account.place.try_lock()
                && file.write(account, &mut place, 0).is_err()
            {
                return;
            }
        }
    }

    /// Writes the exact counts of every account, and waits for that a bounded time.
    pub(super) async fn close(&self) -> Result<(), MeterError> {
        let Some(file) = &self.file else { return Ok(()) };
        let (all, to) = (self.all(), Arc::clone(file));
        let written = detached(move || {
            all.iter()
                .filter(|account| !account.is_exact())
                .try_for_each(|account| to.write(account, &mut account.place.blocking_lock(), 0))
        });
        match timeout(self.patience, written).await {
            Ok(Ok(written)) => written,
            _ => Err(io::ErrorKind::TimedOut.into()),
        }
        .map_err(|error| MeterError::Storage(file.path.clone(), error))
    }

    fn account(&self, name: &str) -> Arc<Account> {
        let read = self.accounts.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.get(name) {
            return Arc::clone(known);
        }
        drop(read);
        let mut accounts = self.accounts.write().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Account::new(Line { account: name.to_owned(), ..Line::default() }, None));
        Arc::clone(accounts.entry(name.to_owned()).or_insert_with(new))
    }

    fn all(&self) -> Vec<Arc<Account>> {
        self.accounts.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::account::Remaining;
    use crate::contract::plan::{Plan, PlanLimits};
    use jiff::Timestamp;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use tempfile::TempDir;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("an instant")
    }

    fn open(path: &Path) -> Result<FileCounts, MeterError> {
        FileCounts::open(path.to_owned(), UsageMetrics::default())
    }

    /// A meter whose lines go to another disk than its file.
    fn on(
        folder: &TempDir,
        write_at: impl Fn(&[u8], u64) -> io::Result<()> + Send + Sync + 'static,
    ) -> FileCounts {
        let mut meter = open(&folder.path().join("usage.jsonl")).expect("a meter");
        let file = meter.file.as_mut().and_then(Arc::get_mut).expect("a file");
        file.write_at = Box::new(write_at);
        meter
    }

    fn remaining(meter: &FileCounts, account: &str, now: Timestamp, limits: &PlanLimits) -> Remaining {
        meter.account(account).remaining(now, limits)
    }

    async fn admit(meter: &FileCounts, account: &str, now: Timestamp, limits: &PlanLimits) {
        let counted = meter.count(Use { account, key: "key_1", now, limits }).await.expect("written");
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
            assert_eq!(remaining(&meter, account, now, &limits).minute, 20 - spent, "{account}");
            admit(&meter, account, now, &limits).await;
        }
        let meter = open(&path).expect("a meter");
        assert_eq!(remaining(&meter, "acme", now, &limits), Remaining { minute: 17, day: 997, month: 9_997 });
        assert_eq!(remaining(&meter, "the \"other\"\n", now, &limits).day, 999);
        assert_eq!(remaining(&meter, "none", now, &limits).day, 1_000);
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
            let left = limits.per_minute - remaining(&meter, "acme", now, &limits).minute;
            assert!((spent..=spent + 10).contains(&left), "{left} for {spent}");
            spent = left;
            for _ in 0..requests {
                admit(&meter, "acme", now, &limits).await;
                spent += 1;
            }
        }
        let meter = open(&path).expect("a meter");
        admit(&meter, "acme", now, &limits).await;
        let left = remaining(&meter, "acme", now, &limits);
        meter.close().await.expect("written");
        drop(meter);
        assert_eq!(remaining(&open(&path).expect("a meter"), "acme", now, &limits), left);
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
            meter.count(Use { account: "acme", key, now: NOW, limits: &limits }).await.expect("written");
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
            assert_eq!(remaining(&meter, "acme", at("2026-07-31T12:00:00Z"), &limits).day, 3 - spent);
        }
        assert_eq!(meter.metrics.resets.get(), 1);
    }

    /// A disk on which each write takes this long, and which counts them.
    fn slow(took: Duration, writes: Arc<AtomicUsize>) -> impl Fn(&[u8], u64) -> io::Result<()> {
        move |_, _| {
            writes.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(took);
            Ok(())
        }
    }

    /// A disk that is full until it is not.
    fn full(is_full: Arc<AtomicBool>) -> impl Fn(&[u8], u64) -> io::Result<()> {
        move |_, _| {
            if is_full.load(Ordering::Acquire) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    #[tokio::test]
    async fn requests_of_an_account_share_a_slow_write_and_accounts_do_not_wait_for_each_other() {
        let writes = Arc::<AtomicUsize>::default();
        let folder = tempfile::tempdir().expect("a folder");
        let meter = on(&folder, slow(Duration::from_millis(20), Arc::clone(&writes)));
        let limits = PlanLimits { per_minute: 99, ..Plan::Enterprise.limits() };
        let requests = (0..200).map(|number| {
            let account = ["acme", "other"][number % 2];
            meter.count(Use { account, key: "key_1", now: NOW, limits: &limits })
        });
        let counted = futures::future::join_all(requests).await;
        assert!(counted.iter().all(|counted| counted.is_ok()));
        let admitted = counted.iter().filter(|counted| counted.is_ok_and(|it| it.refusal.is_none())).count();
        assert_eq!(admitted, 198);
        assert!(writes.load(Ordering::Relaxed) <= 4, "{writes:?}: the first of each, then all others");
    }

    #[tokio::test]
    async fn a_write_that_hangs_refuses_its_request_after_a_bound_and_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let hang = slow(Duration::from_hours(1), Arc::default());
        let mut meter = on(&folder, hang);
        meter.patience = Duration::from_millis(100);
        let limits = Plan::Starter.limits();
        assert_eq!(
            meter.count(Use { account: "acme", key: "key_1", now: NOW, limits: &limits }).await,
            Err(CountNotKept)
        );
        meter.sync();
        assert!(meter.close().await.is_err());
    }

    #[tokio::test]
    async fn a_full_disk_refuses_what_it_cannot_keep_until_it_has_room() {
        let is_full = Arc::new(AtomicBool::new(true));
        let folder = tempfile::tempdir().expect("a folder");
        let meter = on(&folder, full(Arc::clone(&is_full)));
        let limits = PlanLimits { per_minute: 1_000, ..Plan::Enterprise.limits() };
        for _ in 0..3 {
            assert_eq!(
                meter.count(Use { account: "acme", key: "key_1", now: NOW, limits: &limits }).await,
                Err(CountNotKept)
            );
        }
        is_full.store(false, Ordering::Release);
        assert!(!meter.account("acme").is_kept());
        meter.sync();
        assert!(meter.account("acme").is_kept());
        assert_eq!(meter.account("acme").remaining(NOW, &limits).minute, 997, "the refused ones count");
    }

    #[tokio::test]
    async fn a_line_after_a_torn_one_survives_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("usage.jsonl");
        std::fs::write(&path, "{\"acc").expect("a file");
        let limits = Plan::Starter.limits();
        for spent in 1..=3 {
            let counted = open(&path)
                .expect("a meter")
                .count(Use { account: "acme", key: "key_1", now: NOW, limits: &limits })
                .await
                .expect("written");
            assert_eq!(counted.left.minute, 20 - spent);
        }
    }
}
