//! The key file: accounts and keys in TOML.
//!
//! The file stores digests. A key itself is shown once, when it is made.

use super::key_text::edited;
use super::keys_error::KeysError;
use super::replace_file::{behind_links, open_lock, replace_file};
use super::unique::{line, twice as twice_in};
use crate::contract::eastern::eastern_day;
use crate::contract::endpoint::DATA_SCOPE;
use crate::contract::plan::{Plan, PlanLimits};
use jiff::Timestamp;
use jiff::civil::Date;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::Path;

/// The prefix of every key.
pub(crate) const KEY_PREFIX: &str = "flb_";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccountRecord {
    pub(crate) name: String,
    pub(crate) plan: Plan,
    /// Whether the plan has API access; without it every request is answered 403.
    #[serde(default = "yes", skip_serializing_if = "bool::clone")]
    pub(crate) api_access: bool,
    /// Limits in place of the plan's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) limits: Option<PlanLimits>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyRecord {
    /// Key id, for `keys revoke` and the account record.
    pub(crate) id: String,
    pub(crate) account: String,
    /// blake3 digest of the key, hexadecimal.
    pub(crate) digest: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revoked_at: Option<Timestamp>,
    /// The Eastern day from which the key is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_on: Option<Date>,
}

/// Whether a server accepts a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeyState {
    Active,
    Expired,
    Revoked,
}

impl KeyRecord {
    /// The state on an Eastern day.
    pub(crate) fn state(&self, today: Date) -> KeyState {
        match (self.revoked_at, self.expires_on) {
            (Some(_), _) => KeyState::Revoked,
            (None, Some(day)) if day <= today => KeyState::Expired,
            _ => KeyState::Active,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyRequest<'a> {
    /// Name of the account; created when the file does not have it.
    pub(crate) account: &'a str,
    pub(crate) plan: Plan,
    /// Scopes of the key; without any it opens only `/v1/me`.
    pub(crate) scopes: &'a [String],
    /// The Eastern day from which the key is refused.
    pub(crate) expires_on: Option<Date>,
}

/// A key just created: its id, and the key itself, to be shown once.
#[derive(Debug)]
pub(crate) struct NewKey {
    pub(crate) id: String,
    pub(crate) key: SecretString,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyFile {
    #[serde(default, rename = "account", skip_serializing_if = "Vec::is_empty")]
    pub(crate) accounts: Vec<AccountRecord>,
    /// Keys, oldest first, revoked ones included.
    #[serde(default, rename = "key", skip_serializing_if = "Vec::is_empty")]
    pub(crate) keys: Vec<KeyRecord>,
}

impl KeyFile {
    /// Reads a key file in which nothing is there twice.
    pub(crate) fn read(path: &Path) -> Result<Self, KeysError> {
        Self::unique(path, &Self::text(path)?)
    }

    pub(crate) fn unique(path: &Path, text: &str) -> Result<Self, KeysError> {
        let file = Self::parse(path, text)?;
        let twice = |(what, value, lines)| KeysError::Twice(path.to_owned(), what, value, lines);
        twice_in(text).map_or(Ok(file), |found| Err(twice(found)))
    }

    /// The text of a key file.
    pub(crate) fn text(path: &Path) -> Result<String, KeysError> {
        std::fs::read_to_string(path).map_err(|source| match source.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => KeysError::NoFile(path.to_owned(), source),
            _ => KeysError::Storage(path.to_owned(), source),
        })
    }

    /// The accounts and keys of a text, some perhaps twice.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, KeysError> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            KeysError::Malformed(path.to_owned(), line(text, error.span()), error.message().to_owned())
        })
    }

    /// Reads a key file, changes it and writes it back, under a lock that other processes wait for. A missing file is empty; a link
    /// stays a link. A change adds accounts and keys, or revokes keys. After an error the old file is unchanged, unless the sync of the folder failed.
    pub(crate) fn change<T>(
        path: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, KeysError>,
    ) -> Result<T, KeysError> {
        let path = &behind_links(path).map_err(|source| KeysError::Storage(path.to_owned(), source))?;
        // A file of its own: each change replaces the key file.
        let lock_path = path.with_added_extension("lock");
        let locked = open_lock(&lock_path, path).and_then(|lock| lock.lock().map(|()| lock));
        let _lock = locked.map_err(|source| KeysError::Storage(lock_path, source))?;
        let text = match Self::text(path) {
            Err(KeysError::NoFile(_, source)) if source.kind() == ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let before = Self::unique(path, &text)?;
        let mut after = before.clone();
        let done = change(&mut after)?;
        let text = after.text_from(&before, &text)?;
        replace_file(path, text.as_bytes()).map_err(|source| KeysError::Storage(path.to_owned(), source))?;
        Ok(done)
    }

    /// The text of the file after a change, made from the text before.
    fn text_from(&self, before: &Self, text: &str) -> Result<String, KeysError> {
        let added = Self {
            accounts: self.accounts.get(before.accounts.len()..).unwrap_or_default().to_vec(),
            keys: self.keys.get(before.keys.len()..).unwrap_or_default().to_vec(),
        };
        let keys = before.keys.iter().zip(&self.keys).enumerate();
        let revoked = keys.filter(|(_, (before, after))| before.revoked_at != after.revoked_at);
        let revoked = revoked.filter_map(|(place, (_, after))| Some((place, after.revoked_at?.to_string())));
        let edited = edited(text, &toml::to_string(&added)?, revoked);
        edited.map_or_else(|| Ok(toml::to_string(self)?), Ok)
    }

    /// Creates a key from 256 random bits, and its account if there is none yet.
    pub(crate) fn create(
        &mut self,
        request: KeyRequest<'_>,
        random: [u8; 32],
        now: Timestamp,
    ) -> Result<NewKey, KeysError> {
        if let Some(wrong) = request.scopes.iter().find(|scope| *scope != DATA_SCOPE) {
            return Err(KeysError::Scope(wrong.clone()));
        }
        let today = eastern_day(now);
        if let Some(day) = request.expires_on.filter(|day| *day <= today) {
            return Err(KeysError::Expired(day, today));
        }
        self.admit_account(request.account, request.plan, today)?;
        let key = format!("{KEY_PREFIX}{}", blake3::Hash::from_bytes(random).to_hex());
        let digest = blake3::hash(key.as_bytes());
        let id = key_id(&digest);
        self.keys.push(KeyRecord {
            id: id.clone(),
            account: request.account.to_owned(),
            digest: digest.to_hex().to_string(),
            scopes: request.scopes.to_vec(),
            created_at: now,
            revoked_at: None,
            expires_on: request.expires_on,
        });
        Ok(NewKey { id, key: key.into() })
    }

    /// Revokes a key; a revoked key keeps its time.
    pub(crate) fn revoke(&mut self, id: &str, now: Timestamp) -> Result<(), KeysError> {
        let key = self.keys.iter_mut().find(|key| key.id == id);
        let key = key.ok_or_else(|| KeysError::NoKey(id.to_owned()))?;
        key.revoked_at.get_or_insert(now);
        Ok(())
    }

    fn admit_account(&mut self, name: &str, plan: Plan, today: Date) -> Result<(), KeysError> {
        if name.trim().is_empty() || name.contains(char::is_control) {
            return Err(KeysError::NoName);
        }
        let own = self.keys.iter().filter(|key| key.account == name);
        let active = own.filter(|key| key.state(today) == KeyState::Active).count();
        match self.accounts.iter().find(|account| account.name == name) {
            Some(account) if account.plan != plan => {
                Err(KeysError::OtherPlan(name.to_owned(), account.plan, plan))
            }
            Some(_) if active >= plan.active_keys() => Err(KeysError::TooMany(name.to_owned(), plan, active)),
            Some(_) => Ok(()),
            None => {
                let name = name.to_owned();
                self.accounts.push(AccountRecord { name, plan, api_access: true, limits: None });
                Ok(())
            }
        }
    }
}

/// The id of a key, made from its digest: it reveals nothing of the key.
pub(super) fn key_id(digest: &blake3::Hash) -> String {
    format!("key_{}", &digest.to_hex()[..12])
}

const fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::eastern::day_start;
    use crate::serve::auth::access::Accounts;
    use crate::serve::auth::access::LimitOverride;
    use secrecy::ExposeSecret;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn accounts(file: &KeyFile) -> Result<Accounts, KeysError> {
        Accounts::from_key_file(file, &LimitOverride::default(), NOW)
    }

    fn request<'a>(plan: Plan, scopes: &'a [String]) -> KeyRequest<'a> {
        KeyRequest { account: "acme", plan, scopes, expires_on: None }
    }

    #[test]
    fn key_is_accepted_until_revoked_and_is_never_in_the_file() {
        let (folder, scopes) = (tempfile::tempdir().expect("a folder"), ["data".to_owned()]);
        let path = folder.path().join("keys.toml");
        let create = |file: &mut KeyFile| file.create(request(Plan::Starter, &scopes), [7; 32], NOW);
        let made = KeyFile::change(&path, create).expect("a key");
        let key = made.key.expose_secret();
        assert_eq!(key.len(), "flb_".len() + 64);
        assert!(!std::fs::read_to_string(&path).expect("text").contains(&key[4..]));
        let mut read = KeyFile::read(&path).expect("read");
        let caller = accounts(&read).expect("accounts").authenticate(key, NOW).expect("known");
        assert_eq!((&*caller.key_id, caller.account.limits), (made.id.as_str(), Plan::Starter.limits()));
        read.revoke(&made.id, NOW).expect("revoked");
        assert!(accounts(&read).expect("accounts").authenticate(key, NOW).is_none());
        assert!(matches!(read.revoke("key_0", NOW), Err(KeysError::NoKey(_))));
    }

    #[test]
    fn plan_limits_active_keys_and_a_revoked_one_makes_room() {
        let mut file = KeyFile::default();
        let first = file.create(request(Plan::Starter, &[]), [1; 32], NOW).expect("the first key");
        file.create(request(Plan::Starter, &[]), [2; 32], NOW).expect("the second key");
        let third = file.create(request(Plan::Starter, &[]), [3; 32], NOW);
        assert!(matches!(third, Err(KeysError::TooMany(_, _, 2))));
        file.revoke(&first.id, NOW).expect("revoked");
        file.create(request(Plan::Starter, &[]), [4; 32], NOW).expect("room again");
    }

    #[test]
    fn key_ends_with_the_eastern_day_before_its_last_and_makes_room() {
        let (mut file, day) = (KeyFile::default(), jiff::civil::date(2026, 8, 1));
        let before = |secs: i64| day_start(day) - jiff::SignedDuration::from_secs(secs);
        let ending = KeyRequest { expires_on: Some(day), ..request(Plan::Starter, &[]) };
        let made = file.create(ending, [1; 32], before(1)).expect("a key");
        let is_known = |file: &KeyFile, now| {
            accounts(file).expect("accounts").authenticate(made.key.expose_secret(), now).is_some()
        };
        assert_eq!([1, 0, -1].map(|secs| is_known(&file, before(secs))), [true, false, false]);
        let late = file.create(ending, [2; 32], before(0));
        assert!(matches!(late, Err(KeysError::Expired(on, today)) if on == day && today == day), "{late:?}");
        file.create(request(Plan::Starter, &[]), [2; 32], before(1)).expect("the second key");
        let third = file.clone().create(request(Plan::Starter, &[]), [3; 32], before(1));
        assert!(matches!(third, Err(KeysError::TooMany(_, _, 2))));
        file.create(request(Plan::Starter, &[]), [3; 32], before(0)).expect("room again");
        file.revoke(&made.id, NOW).expect("revoked");
        assert_eq!(file.keys[0].state(day), KeyState::Revoked);
    }

    #[test]
    fn keys_created_in_parallel_stay_within_the_plan() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("keys.toml");
        let create = |number| {
            KeyFile::change(&path, |file| file.create(request(Plan::Agency, &[]), [number; 32], NOW)).is_ok()
        };
        let create = &create;
        let made = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..20).map(|number| scope.spawn(move || create(number))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a thread")).collect::<Vec<_>>()
        });
        assert_eq!(made.into_iter().filter(|made| *made).count(), 5);
        assert_eq!(KeyFile::read(&path).expect("a key file").keys.len(), 5);
    }

    #[test]
    fn disk_failure_and_missing_file_are_different_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("keys.toml");
        assert!(matches!(KeyFile::read(&path), Err(KeysError::NoFile(..))));
        assert!(matches!(KeyFile::read(folder.path()), Err(KeysError::Storage(..))));
        // The lock file cannot be created where a folder has its name.
        std::fs::create_dir(folder.path().join("keys.toml.lock")).expect("a folder");
        let failed = KeyFile::change(&path, |file| file.create(request(Plan::Agency, &[]), [1; 32], NOW));
        assert!(matches!(failed, Err(KeysError::Storage(..))), "{failed:?}");
    }

    #[test]
    fn link_to_the_key_file_stays_and_the_file_behind_it_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("keys.toml"), folder.path().join("link"));
        std::os::unix::fs::symlink("keys.toml", &link).expect("a link");
        let create = |file: &mut KeyFile| file.create(request(Plan::Agency, &[]), [1; 32], NOW);
        let made = KeyFile::change(&link, create).expect("a key");
        KeyFile::change(&link, |file| file.revoke(&made.id, NOW)).expect("revoked");
        assert!(link.is_symlink() && !path.is_symlink());
        assert!(KeyFile::read(&path).expect("a key file").keys[0].revoked_at.is_some());
    }

    #[test]
    fn another_plan_or_a_bad_scope_is_refused() {
        let mut file = KeyFile::default();
        file.create(request(Plan::Starter, &[]), [1; 32], NOW).expect("a key");
        let other = file.create(request(Plan::Agency, &[]), [2; 32], NOW);
        assert!(matches!(other, Err(KeysError::OtherPlan(..))));
        for scope in ["da ta", "foo", "DATA", ""] {
            let refused = file.create(request(Plan::Starter, &[scope.to_owned()]), [2; 32], NOW);
            assert!(matches!(refused, Err(KeysError::Scope(_))), "{scope}");
        }
        assert_eq!(file.keys.len(), 1);
    }
}
