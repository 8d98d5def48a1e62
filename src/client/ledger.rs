//! The accounts of one service and what each has used, in one file that every process of the host shares.
//!
//! Limits belong to an account, and the API tells keys apart, not accounts. So each key begins with counts of its own; two
//! keys turn out to be of one account when `/v1/me` shows one of them, since it asked last, exactly the requests that the
//! other has sent. From then on they share their counts.

use super::counts::{Allowance, Counts, Ticket, Used};
use super::key::ApiKey;
use crate::contract::account::Remaining;
use crate::contract::eastern::{eastern_day, month_of};
use jiff::{SignedDuration, Timestamp};
use reqwest::Url;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Form of the file; a program that knows only older ones leaves it alone.
const FORMAT: u32 = 1;

const A_MINUTE: SignedDuration = SignedDuration::from_secs(60);

/// What the reading of a file meets that was laid aside meanwhile, or is a folder.
const NO_FILE: [io::ErrorKind; 2] = [io::ErrorKind::NotFound, io::ErrorKind::IsADirectory];

/// So many requests, told to the other key to the last one, are no coincidence.
const ENOUGH_TO_TELL: u64 = 20;

/// The whole file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Book {
    format: u32,
    service: String,
    /// Counts were lost: no key that is new to this book asks before.
    #[serde(default)]
    quiet_until: Option<Timestamp>,
    accounts: Vec<Entry>,
}

/// One account, as far as it is known.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Entry {
    /// Digests of its keys, and what `/v1/me` told each last.
    keys: BTreeMap<String, Option<Told>>,
    counts: Counts,
}

/// What `/v1/me` told a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    month: String,
    /// Requests of the account in that month.
    month_used: u32,
    /// Requests that each key known here had sent by then, those of its account included.
    sent: BTreeMap<String, u64>,
    /// Requests under way then, of all of them.
    under_way: u64,
}

/// What an account on this host has used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountUsed {
    /// Address of the service.
    pub service: String,
    /// Digests of its keys.
    pub keys: Vec<String>,
    /// Requests in each window.
    pub used: Used,
}

/// The counts of one key's account, changed only under the file's lock.
#[derive(Debug, Clone)]
pub struct Ledger {
    path: PathBuf,
    service: String,
    key: String,
}

impl Ledger {
    /// The ledger of a key's account in this folder; the file comes with the first request.
    pub fn of(folder: &Path, base_url: &str, key: &ApiKey) -> Self {
        let service = match Url::parse(base_url) {
            Ok(url) => url.as_str().trim_end_matches('/').to_owned(),
            Err(_) => base_url.to_owned(),
        };
        let host = service.split_once("://").map_or(service.as_str(), |(_, rest)| rest);
        let host: String = host.split('/').next().unwrap_or("").chars().map(in_a_name).collect();
        let digest = &blake3::hash(service.as_bytes()).to_hex()[..8];
        Self { path: folder.join(format!("requests-{host}-{digest}.json")), service, key: key.fingerprint() }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes over the counts that an earlier version kept for this key in a file of their own.
    ///
    /// # Errors
    /// What the file system says.
    pub fn inherit(&self, now: Timestamp, earlier: &Path) -> io::Result<()> {
        let bytes = match std::fs::read(earlier) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        if let Ok(mut counts) = serde_json::from_slice::<Counts>(&bytes) {
            self.change(now, |book| {
                if book.entry_of(&self.key).is_none() {
                    counts.pause_until(book.quiet_until.unwrap_or(Timestamp::UNIX_EPOCH));
                    let keys = BTreeMap::from([(self.key.clone(), None)]);
                    book.accounts.push(Entry { keys, counts });
                }
            })?;
        }
        std::fs::remove_file(earlier)
    }

    /// Reads, changes and writes the account's counts as one step among all processes.
    ///
    /// # Errors
    /// What the file system says; a file of a newer version.
    pub fn update<T>(&self, now: Timestamp, change: impl FnOnce(&mut Counts) -> T) -> io::Result<T> {
        self.change(now, |book| change(&mut book.entry(&self.key).counts))
    }

    /// Takes over what `/v1/me` said to the request of this ticket.
    ///
    /// # Errors
    /// As [`Ledger::update`].
    pub fn learn(
        &self,
        asked: &Ticket,
        now: Timestamp,
        caps: &Allowance,
        left: &Remaining,
    ) -> io::Result<()> {
        self.change(now, |book| {
            let told = book.told(now, caps.per_month.saturating_sub(left.month));
            let other = book.same_account(&self.key, &told);
            let entry = book.entry(&self.key);
            entry.counts.learn(asked, now, caps, left);
            entry.keys.insert(self.key.clone(), Some(told));
            if let Some(other) = other {
                tracing::info!("two keys turn out to be of one account; their requests are counted together");
                book.join(&self.key, other);
            }
        })
    }

    /// Every account that has a ledger in this folder.
    ///
    /// # Errors
    /// What the file system says. A file that is no ledger is passed over.
    pub fn accounts(folder: &Path, now: Timestamp) -> io::Result<Vec<AccountUsed>> {
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
            let Ok(book) = serde_json::from_slice::<Book>(&bytes) else { continue };
            for mut entry in book.accounts {
                let (service, used) = (book.service.clone(), entry.counts.used(now));
                accounts.push(AccountUsed { service, keys: entry.keys.into_keys().collect(), used });
            }
        }
        accounts.sort_by(|one, other| (&one.service, &one.keys).cmp(&(&other.service, &other.keys)));
        Ok(accounts)
    }

    fn change<T>(&self, now: Timestamp, change: impl FnOnce(&mut Book) -> T) -> io::Result<T> {
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let lock = File::options().create(true).append(true).open(self.path.with_extension("lock"))?;
        lock.lock()?;
        let (mut book, before) = self.read(now)?;
        let result = change(&mut book);
        let bytes = serde_json::to_vec(&book).map_err(io::Error::other)?;
        if bytes != before {
            let staged = self.path.with_extension("staged");
            std::fs::write(&staged, &bytes)?;
            std::fs::rename(&staged, &self.path)?;
        }
        Ok(result)
    }

    /// The file as it stands, and its bytes. One that does not read as a ledger is laid aside; what was counted in it is lost, so the
    /// counts begin again with a pause and with what `/v1/me` says.
    fn read(&self, now: Timestamp) -> io::Result<(Book, Vec<u8>)> {
        let bytes = match std::fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((self.empty(), Vec::new())),
            other => other?,
        };
        match serde_json::from_slice::<Book>(&bytes) {
            Ok(book) if book.format > FORMAT => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("it was written by a newer version (format {}, known is {FORMAT})", book.format),
            )),
            Ok(mut book) => {
                // A clock that was ahead would keep new keys quiet until this one is there.
                book.quiet_until = book.quiet_until.map(|until| until.min(now + A_MINUTE));
                Ok((book, bytes))
            }
            Err(error) => {
                let aside = self.path.with_extension("damaged");
                std::fs::rename(&self.path, &aside)?;
                tracing::warn!(
                    "the request ledger {} was damaged ({error}) and now lies at {}; a minute is waited out, \
                     and /v1/me is asked what the account has used",
                    self.path.display(),
                    aside.display()
                );
                Ok((Book { quiet_until: Some(now + A_MINUTE), ..self.empty() }, Vec::new()))
            }
        }
    }

    fn empty(&self) -> Book {
        Book { format: FORMAT, service: self.service.clone(), ..Book::default() }
    }
}

fn in_a_name(char: char) -> char {
    if char.is_ascii_alphanumeric() || char == '.' { char } else { '-' }
}

impl Book {
    fn entry_of(&self, key: &str) -> Option<usize> {
        self.accounts.iter().position(|entry| entry.keys.contains_key(key))
    }

    /// The account of a key; a key never seen begins one of its own.
    fn entry(&mut self, key: &str) -> &mut Entry {
        let at = self.entry_of(key).unwrap_or_else(|| {
            let mut counts = Counts::default();
            counts.pause_until(self.quiet_until.unwrap_or(Timestamp::UNIX_EPOCH));
            self.accounts.push(Entry { keys: BTreeMap::from([(key.to_owned(), None)]), counts });
            self.accounts.len() - 1
        });
        &mut self.accounts[at]
    }

    fn told(&self, now: Timestamp, month_used: u32) -> Told {
        let sent = |entry: &Entry| entry.counts.sent();
        Told {
            month: month_of(eastern_day(now)),
            month_used,
            sent: self
                .accounts
                .iter()
                .flat_map(|entry| entry.keys.keys().map(move |key| (key.clone(), sent(entry))))
                .collect(),
            under_way: self.accounts.iter().map(|entry| entry.counts.under_way() as u64).sum(),
        }
    }

    /// Another account of this book that is the key's own: of what the account used since `/v1/me` last spoke to the key,
    /// the requests that are not the key's are just as many as the other sent meanwhile.
    fn same_account(&self, key: &str, now: &Told) -> Option<usize> {
        let own = self.entry_of(key)?;
        let before = self.accounts[own].keys.get(key)?.as_ref().filter(|told| told.month == now.month)?;
        // A key that was not known then had sent nothing.
        let since = |key: &str| now.sent.get(key)?.checked_sub(before.sent.get(key).copied().unwrap_or(0));
        let used = u64::from(now.month_used.checked_sub(before.month_used)?);
        let elsewhere = used.checked_sub(since(key)?)?;
        let unsure = before.under_way + now.under_way;
        (0..self.accounts.len()).filter(|at| *at != own).find(|at| {
            let sent = self.accounts[*at].keys.keys().find_map(|key| since(key)).unwrap_or(0);
            sent >= ENOUGH_TO_TELL + 4 * unsure && elsewhere.abs_diff(sent) <= unsure
        })
    }

    fn join(&mut self, key: &str, other: usize) {
        let other = self.accounts.remove(other);
        let entry = self.entry(key);
        entry.counts.absorb(other.counts);
        // What each was told goes by counts that are no longer kept apart.
        entry.keys.extend(other.keys.into_keys().map(|key| (key, None)));
        entry.keys.values_mut().for_each(|told| *told = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::counts::Verdict;

    const CAPS: Allowance = Allowance { per_minute: 1_000, per_day: 1_000, per_month: 10_000 };

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(1_784_131_200_000 + ms).expect("an instant")
    }

    fn ledger(folder: &Path, key: &str) -> Ledger {
        Ledger::of(folder, "https://api.example.com/", &ApiKey::parse(key).expect("a key"))
    }

    /// Sends so many requests, and gives the last one's ticket.
    fn send(ledger: &Ledger, requests: u32, ms: i64) -> Ticket {
        let mut last = None;
        for _ in 0..requests {
            let verdict = ledger.update(at(ms), |counts| counts.admit(at(ms), &CAPS)).expect("a ledger");
            let Verdict::Go(ticket) = verdict else { panic!("{verdict:?}") };
            ledger.update(at(ms), |counts| counts.settle(&ticket, at(ms))).expect("a ledger");
            last = Some(ticket);
        }
        last.expect("a request")
    }

    /// Asks what is left of an account that has used so many requests, the asking included.
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
    fn processes_share_what_a_key_has_used_and_addresses_do_not() {
        let folder = tempfile::tempdir().expect("a folder");
        send(&ledger(folder.path(), "one"), 3, 0);
        send(&ledger(folder.path(), "one"), 4, 10);
        let elsewhere =
            Ledger::of(folder.path(), "https://other.example.com", &ApiKey::parse("one").expect("a key"));
        send(&elsewhere, 1, 0);
        let mut used = accounts(folder.path(), 20);
        used.sort_unstable();
        assert_eq!(used, [(1, 1), (1, 7)]);
    }

    #[test]
    fn two_keys_of_one_account_share_its_counts_once_that_shows() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, other) = (ledger(folder.path(), "one"), ledger(folder.path(), "other"));
        ask(&other, 1, 0);
        send(&one, 30, 10);
        assert_eq!(accounts(folder.path(), 20).len(), 2, "nothing tells yet");
        // The account has used the one's thirty and the other's two.
        ask(&other, 32, 30);
        assert_eq!(accounts(folder.path(), 40), [(2, 32)]);
        send(&one, 1, 50);
        assert_eq!(accounts(folder.path(), 60), [(2, 33)]);
    }

    #[test]
    fn two_accounts_that_do_the_same_are_not_taken_for_one() {
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
    fn a_damaged_ledger_is_laid_aside_and_a_minute_is_waited_out() {
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
    fn a_ledger_found_damaged_by_a_clock_that_was_ahead_holds_new_keys_back_for_a_minute() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, other) = (ledger(folder.path(), "one"), ledger(folder.path(), "other"));
        std::fs::write(one.path(), b"{").expect("damage");
        one.update(at(365 * 86_400_000), |_| ()).expect("a new ledger");
        let verdict = other.update(at(0), |counts| counts.admit(at(0), &CAPS)).expect("a ledger");
        assert_eq!(verdict, Verdict::WaitAsked(60_000));
    }

    #[test]
    fn what_is_no_ledger_or_is_gone_meanwhile_is_passed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        send(&ledger(folder.path(), "one"), 1, 0);
        for name in ["lakes", "requests-folder.json"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        // Listed, and not there when it is read.
        for name in ["requests-gone.staged", "requests-gone.json"] {
            std::os::unix::fs::symlink("gone", folder.path().join(name)).expect("a link");
        }
        assert_eq!(accounts(folder.path(), 10), [(1, 1)]);
    }

    #[test]
    fn a_ledger_of_a_newer_version_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = ledger(folder.path(), "one");
        let newer = br#"{"format":2,"service":"s","accounts":[]}"#;
        std::fs::write(ledger.path(), newer).expect("a file");
        let error = ledger.update(at(0), |_| ()).expect_err("an unknown form").to_string();
        assert!(error.contains("newer"), "{error}");
        assert_eq!(std::fs::read(ledger.path()).expect("a file"), newer);
    }

    #[test]
    fn counts_kept_by_an_earlier_version_are_taken_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let earlier = folder.path().join("budget-1.json");
        let text = format!(
            r#"{{"slots":[[7136524800,2]],"under_way":[],"day":"2026-07-15","day_used":9,"month":"2026-07","month_used":40,"not_before":{}}}"#,
            at(5_000).as_millisecond()
        );
        std::fs::write(&earlier, text).expect("a file");
        let ledger = ledger(&folder.path().join("state"), "one");
        ledger.inherit(at(0), &earlier).expect("taken over");
        let verdict = ledger.update(at(0), |counts| counts.admit(at(0), &CAPS)).expect("a ledger");
        assert_eq!(verdict, Verdict::WaitAsked(5_000));
        assert_eq!(ledger.update(at(0), |counts| counts.used(at(0))).expect("a ledger").day, 9);
        assert!(!earlier.is_file());
        ledger.inherit(at(0), &earlier).expect("nothing to take over");
    }

    #[test]
    fn counts_taken_over_into_a_damaged_ledger_wait_a_minute_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let earlier = folder.path().join("budget-1.json");
        let text = r#"{"slots":[],"under_way":[],"day":"2026-07-15","day_used":9,"month":"2026-07","month_used":40,"not_before":0}"#;
        std::fs::write(&earlier, text).expect("a file");
        let ledger = ledger(folder.path(), "one");
        std::fs::write(ledger.path(), b"{").expect("damage");
        ledger.inherit(at(0), &earlier).expect("taken over");
        let verdict = ledger.update(at(0), |counts| counts.admit(at(0), &CAPS)).expect("a ledger");
        assert_eq!(verdict, Verdict::WaitAsked(60_000));
    }
}
