//! The key file of a running server: a change is accepted within a second. While the file cannot be read, or is no key file,
//! nobody knows which keys were revoked since: this is reported at once, and after a minute no key is accepted any more.

use super::auth::{Accounts, KeyFile, KeyState, KeysError, LimitOverride};
use super::http::app::Site;
use super::watch::Watch;
use crate::contract::eastern::eastern_day;
use jiff::Timestamp;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the keys of a file that can no longer be used stay valid.
const GRACE: Duration = Duration::from_mins(1);

/// The key file, and what of it is served.
pub(super) struct KeyWatch {
    path: PathBuf,
    /// Limits that replace those in the file.
    plan_override: LimitOverride,
    /// Digest of the text that is served.
    served: Mutex<blake3::Hash>,
    /// Since when the file cannot be used.
    unread_since: Mutex<Option<Instant>>,
}

impl Watch for KeyWatch {
    const NAME: &'static str = "reading the key file";
    const DEADLINE: Duration = Duration::from_secs(5);

    fn poll(&self, site: &Site) {
        self.check(site, Instant::now());
    }

    fn late(&self, site: &Site) {
        let late = KeysError::Storage(self.path.clone(), io::ErrorKind::TimedOut.into());
        self.unread(site, &late, Instant::now());
    }
}

impl KeyWatch {
    /// Reads the file for the first time; returns the accounts to serve.
    pub(super) fn open(
        path: PathBuf,
        plan_override: LimitOverride,
        now: Timestamp,
    ) -> Result<(Self, Accounts), KeysError> {
        let text = KeyFile::text(&path)?;
        let watch =
            Self { path, plan_override, served: Mutex::new(digest(&text)), unread_since: Mutex::default() };
        let accounts = watch.accounts(&text, now)?;
        Ok((watch, accounts))
    }

    /// Reads the file again, and serves it if it has changed.
    fn check(&self, site: &Site, now: Instant) {
        match KeyFile::text(&self.path).and_then(|text| self.serve(site, &text)) {
            Ok(()) => self.usable(site),
            Err(error) => self.unread(site, &error, now),
        }
    }

    fn serve(&self, site: &Site, text: &str) -> Result<(), KeysError> {
        let served = digest(text);
        if *lock(&self.served) != served {
            let accounts = self.accounts(text, site.service.now());
            site.service.swap_accounts(accounts.inspect_err(|_| self.refuse_revoked(site, text))?);
            *lock(&self.served) = served;
            tracing::info!(path = %self.path.display(), "the key file has changed");
        }
        Ok(())
    }

    /// Refuses the keys that a file calls revoked which cannot be served for another reason.
    fn refuse_revoked(&self, site: &Site, text: &str) {
        if let Ok(file) = KeyFile::parse(&self.path, text) {
            site.service.swap_accounts(site.service.accounts().without_revoked(&file));
        }
    }

    fn accounts(&self, text: &str, now: Timestamp) -> Result<Accounts, KeysError> {
        let file = KeyFile::unique(&self.path, text)?;
        let accounts = Accounts::from_key_file(&file, &self.plan_override, now)?;
        let expired = file.keys.iter().filter(|key| key.state(eastern_day(now)) == KeyState::Expired);
        let expired: Vec<&str> = expired.map(|key| key.id.as_str()).collect();
        if !expired.is_empty() {
            tracing::warn!(keys = expired.join(", "), "keys have expired and are refused");
        }
        Ok(accounts)
    }

    fn usable(&self, site: &Site) {
        if lock(&self.unread_since).take().is_some() {
            site.metrics.key_file_unread.set(0);
            tracing::warn!(path = %self.path.display(), "the key file can be used again");
        }
        site.service.check_keys(true);
    }

    fn unread(&self, site: &Site, error: &KeysError, now: Instant) {
        let since = *lock(&self.unread_since).get_or_insert_with(|| {
            site.metrics.failed_reloads.inc();
            site.metrics.key_file_unread.set(1);
            tracing::warn!(%error, "the key file cannot be used; if that lasts a minute, every key gets 503");
            now
        });
        if now.duration_since(since) >= GRACE && site.service.check_keys(false) {
            tracing::error!(%error, "the key file cannot be used for a minute; every key gets 503 until it can");
        }
    }
}

fn digest(text: &str) -> blake3::Hash {
    blake3::hash(text.as_bytes())
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;
    use crate::serve::auth::KeyRequest;
    use crate::serve::fixture::{generous, site};
    use secrecy::ExposeSecret;
    use std::path::Path;
    use tempfile::TempDir;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    struct Watched {
        folder: TempDir,
        id: String,
        key: String,
        site: Site,
        watch: KeyWatch,
    }

    impl Watched {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("keys.toml");
            let request = KeyRequest { account: "acme", plan: Plan::Starter, scopes: &[], expires_on: None };
            let made = KeyFile::change(&path, |file| file.create(request, [5; 32], NOW)).expect("a key");
            let (watch, accounts) = KeyWatch::open(path, LimitOverride::default(), NOW).expect("keys");
            let site = site(generous(), &["data"]);
            site.service.swap_accounts(accounts);
            Self { folder, id: made.id, key: made.key.expose_secret().to_owned(), site, watch }
        }

        /// The status of a request with the key, after a poll at an instant.
        fn status(&mut self, now: Instant) -> u16 {
            self.watch.check(&self.site, now);
            self.site.service.authenticate(Some(&self.key)).map_or_else(|error| error.status(), |_| 200)
        }

        fn path(&self) -> &Path {
            &self.watch.path
        }
    }

    #[test]
    fn revoked_key_is_refused_without_a_restart() {
        let mut watched = Watched::new();
        let now = Instant::now();
        assert_eq!(watched.status(now), 200);
        KeyFile::change(watched.path(), |file| file.revoke(&watched.id, NOW)).expect("revoked");
        assert_eq!(watched.status(now), 401);
    }

    #[test]
    fn a_revoked_block_wins_in_a_file_that_has_its_key_twice() {
        let mut watched = Watched::new();
        let now = Instant::now();
        let text = std::fs::read_to_string(watched.path()).expect("a key file");
        let block = text.split_once("[[key]]").expect("a key").1;
        let revoked = format!("{text}\n[[key]]{block}revoked_at = \"2026-03-01T00:00:00Z\"\n");
        std::fs::write(watched.path(), &revoked).expect("written");
        assert_eq!(watched.status(now), 401);
        let error = KeyFile::change(watched.path(), |file| file.revoke(&watched.id, NOW)).expect_err("twice");
        assert!(error.to_string().contains("twice, in lines"), "{error}");
        assert!(std::fs::read_to_string(watched.path()).is_ok_and(|found| found == revoked));
    }

    #[test]
    fn keys_of_a_file_that_cannot_be_read_end_after_a_minute() {
        for is_missing in [true, false] {
            let mut watched = Watched::new();
            let (begun, kept) = (Instant::now(), watched.folder.path().join("kept"));
            std::fs::rename(watched.path(), &kept).expect("put away");
            if !is_missing {
                // A folder cannot be read as a file, by root neither.
                std::fs::create_dir(watched.path()).expect("a folder");
            }
            for (secs, status) in [(0, 200), (59, 200), (60, 503), (90, 503)] {
                assert_eq!(watched.status(begun + Duration::from_secs(secs)), status, "after {secs} s");
                assert_eq!(watched.site.metrics.key_file_unread.get(), 1, "after {secs} s");
            }
            assert_eq!(watched.site.metrics.failed_reloads.get(), 1);
            let none = watched.site.service.authenticate(None).map(|_| ()).expect_err("no key");
            assert_eq!(none.status(), 401);
            if !is_missing {
                std::fs::remove_dir(watched.path()).expect("removed");
            }
            std::fs::rename(&kept, watched.path()).expect("put back");
            assert_eq!(watched.status(begun + Duration::from_secs(91)), 200);
            assert_eq!(watched.site.metrics.key_file_unread.get(), 0);
        }
    }

    #[test]
    fn keys_of_a_file_whose_reading_hangs_end_too() {
        let mut watched = Watched::new();
        let now = Instant::now();
        watched.watch.late(&watched.site);
        assert_eq!(watched.site.metrics.key_file_unread.get(), 1);
        std::fs::rename(watched.path(), watched.folder.path().join("kept")).expect("put away");
        assert_eq!(watched.status(now + Duration::from_secs(70)), 503, "since the first time");
    }

    #[test]
    fn keys_of_a_file_that_is_no_key_file_end_after_a_minute() {
        let mut watched = Watched::new();
        let (now, text) = (Instant::now(), std::fs::read_to_string(watched.path()).expect("a key file"));
        for damaged in ["[[key", &text.replace("acme", "other").replacen("other", "acme", 1)] {
            std::fs::write(watched.path(), damaged).expect("written");
            for (secs, status) in [(0, 200), (59, 200), (60, 503), (90, 503)] {
                assert_eq!(
                    watched.status(now + Duration::from_secs(secs)),
                    status,
                    "{damaged} after {secs} s"
                );
                assert_eq!(watched.site.metrics.key_file_unread.get(), 1, "{damaged} after {secs} s");
            }
            std::fs::write(watched.path(), &text).expect("repaired");
            assert_eq!(watched.status(now + Duration::from_secs(91)), 200);
            assert_eq!(watched.site.metrics.key_file_unread.get(), 0);
        }
        assert_eq!(watched.site.metrics.failed_reloads.get(), 2);
    }

    #[test]
    fn a_revocation_counts_though_the_file_was_malformed_before() {
        let mut watched = Watched::new();
        let (now, text) = (Instant::now(), std::fs::read_to_string(watched.path()).expect("a key file"));
        std::fs::write(watched.path(), "[[key").expect("written");
        assert_eq!(watched.status(now), 200);
        std::fs::write(watched.path(), text).expect("repaired");
        KeyFile::change(watched.path(), |file| file.revoke(&watched.id, NOW)).expect("revoked");
        assert_eq!(watched.status(now), 401);
    }
}
