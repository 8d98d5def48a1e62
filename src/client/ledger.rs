//! The ledger: one file per service with the requests of its accounts, shared by every process of the host.

use super::account_book::{AccountBook, Entry};
use super::counts::{Allowance, Counts, Ticket, Used};
use super::key::ApiKey;
use crate::contract::account::Remaining;
use jiff::{SignedDuration, Timestamp};
use reqwest::Url;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Version of the file; an older program leaves a newer file alone.
const FORMAT: u32 = 1;

/// Wait of all keys after counts were lost.
const QUIET: SignedDuration = SignedDuration::from_secs(60);

/// Time between two syncs to disk. A power cut loses the counts of this time at most; `/v1/me` corrects them.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// Errors of reading a file that was removed after it was listed, or is a folder.
const NO_FILE: [io::ErrorKind; 2] = [io::ErrorKind::NotFound, io::ErrorKind::IsADirectory];

/// What an account on this host has used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AccountUsed {
    pub(crate) service: String,
    /// Digests of its keys.
    pub(crate) keys: Vec<String>,
    #[serde(flatten)]
    pub(crate) used: Used,
    /// The account's limits; none before its first answer of `/v1/me`.
    pub(crate) limits: Option<Allowance>,
}

/// The counts of one key's account, changed only under the file's lock.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    path: PathBuf,
    service: String,
    key: String,
    /// When this process last synced the file.
    synced: Arc<Mutex<Option<Instant>>>,
}

impl Ledger {
    /// The ledger of a key's account in this folder. The first request creates the file.
    pub(crate) fn of(folder: &Path, base_url: &str, key: &ApiKey) -> Self {
        let service = match Url::parse(base_url) {
            Ok(url) => url.as_str().trim_end_matches('/').to_owned(),
            Err(_) => base_url.to_owned(),
        };
        let host = service.split_once("://").map_or(service.as_str(), |(_, rest)| rest);
        let host: String = host.split('/').next().unwrap_or("").chars().map(in_a_name).collect();
        let digest = &blake3::hash(service.as_bytes()).to_hex()[..8];
        let path = folder.join(format!("requests-{host}-{digest}.json"));
        Self { path, service, key: key.fingerprint(), synced: Arc::default() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads, changes and writes the account's counts as one step among all processes.
    pub(crate) fn update<T>(&self, now: Timestamp, change: impl FnOnce(&mut Counts) -> T) -> io::Result<T> {
        self.change(now, |book| change(&mut book.entry(&self.key).counts))
    }

    /// Takes over the answer of `/v1/me` to the request of this ticket.
    pub(crate) fn learn(
        &self,
        asked: &Ticket,
        now: Timestamp,
        caps: &Allowance,
        left: &Remaining,
    ) -> io::Result<()> {
        self.change(now, |book| {
            let probe = book.probe(now, caps.per_month.saturating_sub(left.month));
            let other = book.same_account(&self.key, &probe);
            let entry = book.entry(&self.key);
            entry.counts.learn(asked, now, caps, left);
            entry.keys.insert(self.key.clone(), Some(probe));
            if let Some(other) = other {
                tracing::info!("two keys belong to one account; their requests are counted together");
                book.join(&self.key, other);
            }
        })
    }

    /// Every account that has a ledger in this folder. Other files are skipped.
    pub(crate) fn accounts(folder: &Path, now: Timestamp) -> io::Result<Vec<AccountUsed>> {
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut accounts = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let bytes = match std::fs::read(&path) {
                Err(error) if NO_FILE.contains(&error.kind()) => continue,
                other => other?,
            };
            let Ok(book) = serde_json::from_slice::<AccountBook>(&bytes) else { continue };
            accounts.extend(book.accounts.into_iter().map(|Entry { keys, mut counts }| AccountUsed {
                service: book.service.clone(),
                keys: keys.into_keys().collect(),
                used: counts.used(now),
                limits: counts.caps,
            }));
        }
        accounts.sort_by(|one, other| (&one.service, &one.keys).cmp(&(&other.service, &other.keys)));
        Ok(accounts)
    }

    /// Requests left to the account, by what this host counts; none before the API reported the account's limits.
    pub(crate) fn left(&self, now: Timestamp) -> Option<Remaining> {
        let book: AccountBook = serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()?;
        let mut counts = book.accounts.into_iter().find(|entry| entry.keys.contains_key(&self.key))?.counts;
        let caps = counts.caps?;
        Some(counts.remaining(now, &caps))
    }

    fn change<T>(&self, now: Timestamp, change: impl FnOnce(&mut AccountBook) -> T) -> io::Result<T> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let lock = File::options().create(true).append(true).open(self.path.with_extension("lock"))?;
        lock.lock()?;
        let (mut book, before) = self.read(now)?;
        let result = change(&mut book);
        let bytes = serde_json::to_vec(&book).map_err(io::Error::other)?;
        if bytes != before {
            self.replace(folder, &bytes)?;
        }
        Ok(result)
    }

    /// Replaces the file in one step. File and folder are synced, unless this process has done so within [`SYNC_EVERY`].
    fn replace(&self, folder: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = synced.is_none_or(|synced| synced.elapsed() >= SYNC_EVERY);
        let path = self.path.with_extension("staged");
        let mut staged = File::create(&path)?;
        staged.write_all(bytes)?;
        if is_due {
            staged.sync_all()?;
        }
        std::fs::rename(&path, &self.path)?;
        if is_due {
            File::open(folder)?.sync_all()?;
            *synced = Some(Instant::now());
        }
        Ok(())
    }

    /// The file's content and its bytes. A damaged file is set aside; the new counts begin with a pause and with `/v1/me`.
    fn read(&self, now: Timestamp) -> io::Result<(AccountBook, Vec<u8>)> {
        let bytes = match std::fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((self.empty(), Vec::new())),
            other => other?,
        };
        match serde_json::from_slice::<AccountBook>(&bytes) {
            Ok(book) if book.format > FORMAT => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a newer version of sunlake wrote it (format {}, known is {FORMAT})", book.format),
            )),
            Ok(mut book) => {
                // A clock that was ahead must not keep new keys waiting until this one reaches it.
                book.quiet_until = book.quiet_until.map(|until| until.min(now + QUIET));
                Ok((book, bytes))
            }
            Err(error) => {
                let aside = self.path.with_extension("damaged");
                std::fs::rename(&self.path, &aside)?;
                tracing::warn!(
                    "the request ledger {} is damaged ({error}) and was set aside as {}; sunlake waits 60 s, then asks \
                     /v1/me how many requests the account has used",
                    self.path.display(),
                    aside.display()
                );
                Ok((AccountBook { quiet_until: Some(now + QUIET), ..self.empty() }, Vec::new()))
            }
        }
    }

    fn empty(&self) -> AccountBook {
        AccountBook { format: FORMAT, service: self.service.clone(), ..AccountBook::default() }
    }
}

fn in_a_name(char: char) -> char {
    if char.is_ascii_alphanumeric() || char == '.' { char } else { '-' }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::counts::Verdict;
    use crate::client::counts::tests::at;
    use crate::fuzz::try_changed;

    const CAPS: Allowance = Allowance { per_minute: 1_000, per_day: 1_000, per_month: 10_000 };

    fn ledger(folder: &Path, key: &str) -> Ledger {
        Ledger::of(folder, "https://api.example.com/", &ApiKey::parse(key).expect("a key"))
    }

    /// Sends requests and returns the last one's ticket.
    fn send(ledger: &Ledger, requests: u32, ms: i64) -> Ticket {
        let mut last = None;
        for _ in 0..requests {
            let verdict = ledger.update(at(ms), |counts| counts.admit(at(ms), &CAPS)).expect("a ledger");
            let Verdict::Go(ticket) = verdict else { panic!("{verdict:?}") };
            ledger.update(at(ms), |counts| counts.release(&ticket, at(ms))).expect("a ledger");
            last = Some(ticket);
        }
        last.expect("a request")
    }

    /// Asks `/v1/me` about an account that has used this number of requests, this one included.
    fn ask(ledger: &Ledger, used: u32, ms: i64) {
        let asked = send(ledger, 1, ms);
        let left = Remaining { minute: 1_000, day: CAPS.per_day - used, month: CAPS.per_month - used };
        ledger.learn(&asked, at(ms), &CAPS, &left).expect("a ledger");
    }

    fn accounts(folder: &Path, ms: i64) -> Vec<(usize, u32)> {
        let accounts = Ledger::accounts(folder, at(ms)).expect("ledgers");
        accounts.iter().map(|account| (account.keys.len(), account.used.day)).collect()
    }

    #[test]
    fn processes_share_the_counts_of_a_key_and_services_do_not() {
        let folder = tempfile::tempdir().expect("a folder");
        send(&ledger(folder.path(), "one"), 3, 0);
        send(&ledger(folder.path(), "one"), 4, 10);
        let other_service =
            Ledger::of(folder.path(), "https://other.example.com", &ApiKey::parse("one").expect("a key"));
        send(&other_service, 1, 0);
        let mut used = accounts(folder.path(), 20);
        used.sort_unstable();
        assert_eq!(used, [(1, 1), (1, 7)]);
    }

    #[test]
    fn two_keys_of_one_account_share_counts_once_detected() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, other) = (ledger(folder.path(), "one"), ledger(folder.path(), "other"));
        ask(&other, 1, 0);
        send(&one, 30, 10);
        assert_eq!(accounts(folder.path(), 20).len(), 2, "not detected yet");
        // The account has used 30 requests of the first key and 2 of the other.
        ask(&other, 32, 30);
        assert_eq!(accounts(folder.path(), 40), [(2, 32)]);
        send(&one, 1, 50);
        assert_eq!(accounts(folder.path(), 60), [(2, 33)]);
    }

    #[test]
    fn two_accounts_with_equal_use_stay_separate() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, other) = (ledger(folder.path(), "one"), ledger(folder.path(), "other"));
        let mut used = 0;
        for round in 0..5 {
            for ledger in [&one, &other] {
                ask(ledger, used + 1, 100 * round);
                send(ledger, 30, 100 * round + 10);
            }
            used += 31;
        }
        assert_eq!(accounts(folder.path(), 500).len(), 2);
    }

    #[test]
    fn damaged_ledger_is_set_aside_and_60_seconds_are_waited() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = ledger(folder.path(), "one");
        ask(&ledger, 1, 0);
        std::fs::write(ledger.path(), b"{\"format\":1,").expect("damage");
        let (verdict, caps) = ledger
            .update(at(1_000), |counts| (counts.admit(at(1_000), &CAPS), counts.caps_of_today(at(1_000))))
            .expect("a new ledger");
        assert_eq!((verdict, caps), (Verdict::WaitAsked(60_000), None));
        assert!(ledger.path().with_extension("damaged").is_file());
        send(&ledger, 1, 61_000);
    }

    #[test]
    fn ledger_damaged_under_a_clock_ahead_delays_new_keys_60_seconds() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, other) = (ledger(folder.path(), "one"), ledger(folder.path(), "other"));
        std::fs::write(one.path(), b"{").expect("damage");
        one.update(at(365 * 86_400_000), |_| ()).expect("a new ledger");
        let verdict = other.update(at(0), |counts| counts.admit(at(0), &CAPS)).expect("a ledger");
        assert_eq!(verdict, Verdict::WaitAsked(60_000));
    }

    #[test]
    fn other_files_and_removed_files_are_skipped() {
        let folder = tempfile::tempdir().expect("a folder");
        send(&ledger(folder.path(), "one"), 1, 0);
        for name in ["lakes", "requests-folder.json"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        // Listed, but removed before it is read.
        for name in ["requests-gone.staged", "requests-gone.json"] {
            std::os::unix::fs::symlink("gone", folder.path().join(name)).expect("a link");
        }
        assert_eq!(accounts(folder.path(), 10), [(1, 1)]);
    }

    #[test]
    fn ledger_of_a_newer_version_is_not_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = ledger(folder.path(), "one");
        let newer = br#"{"format":2,"service":"s","accounts":[]}"#;
        std::fs::write(ledger.path(), newer).expect("a file");
        let error = ledger.update(at(0), |_| ()).expect_err("an unknown form").to_string();
        assert!(error.contains("newer"), "{error}");
        assert_eq!(std::fs::read(ledger.path()).expect("a file"), newer);
    }

    #[test]
    fn fuzz_of_ledgers() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = ledger(folder.path(), "sk_one");
        ask(&ledger, 5, 1_000);
        let whole = std::fs::read(&ledger.path).expect("a ledger");
        try_changed(&[whole], |input| {
            std::fs::write(&ledger.path, input).expect("written");
            let _ = ledger.update(at(70_000), |counts| counts.admit(at(70_000), &CAPS));
            let _ = (Ledger::accounts(folder.path(), at(70_000)), ledger.left(at(70_000)));
        });
    }
}
