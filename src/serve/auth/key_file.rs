//! The key file: accounts and keys in TOML. It holds digests; a key itself is seen once, when it is made.

use crate::contract::plan::{Plan, PlanLimits};
use jiff::Timestamp;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What every key begins with.
pub(crate) const KEY_PREFIX: &str = "flb_";

/// Why the key file cannot be used or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The file cannot be read or written.
    #[error("cannot use the key file {path}: {source}")]
    File {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not what a key file is.
    #[error("{path} is not a key file: {source}")]
    Form {
        /// Where.
        path: PathBuf,
        /// Why, with the line.
        source: Box<toml::de::Error>,
    },
    /// The file cannot be put into words.
    #[error("the keys cannot be written down: {0}")]
    Write(#[from] toml::ser::Error),
    /// A key belongs to nobody.
    #[error("key {key} belongs to account {account:?}, which the key file does not have")]
    UnknownAccount {
        /// Key id.
        key: String,
        /// Name that was not found.
        account: String,
    },
    /// A digest is not 64 hexadecimal digits.
    #[error("the digest of key {0} is damaged")]
    Digest(String),
    /// The account has as many active keys as its plan allows.
    #[error("account {account:?} has {active} active keys, all that its plan allows")]
    TooMany {
        /// Name of the account.
        account: String,
        /// Active keys.
        active: usize,
    },
    /// The account exists with another plan.
    #[error("account {account:?} is on plan {has:?}, not {asked:?}")]
    OtherPlan {
        /// Name of the account.
        account: String,
        /// Plan in the file.
        has: Plan,
        /// Plan asked for.
        asked: Plan,
    },
    /// A word that is no scope.
    #[error("{0:?} is not a scope: lower-case letters, digits, - and _ only")]
    Scope(String),
    /// An account without a name.
    #[error("an account needs a name")]
    NoName,
    /// No such key.
    #[error("no key has the id {0:?}")]
    NoKey(String),
}

/// One account of the key file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountRecord {
    /// Name of the account.
    pub name: String,
    /// Its plan.
    pub plan: Plan,
    /// Whether the plan has API access; an account without it is answered 403.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub api_access: bool,
    /// Limits in place of the plan's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<PlanLimits>,
}

/// One key of the key file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyRecord {
    /// Key id, for `keys revoke` and the account record.
    pub id: String,
    /// Name of its account.
    pub account: String,
    /// blake3 digest of the key, hexadecimal.
    pub digest: String,
    /// Scopes.
    pub scopes: Vec<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

/// What `keys create` asks for.
#[derive(Debug, Clone, Copy)]
pub struct KeyRequest<'a> {
    /// Name of the account; made when the file does not have it.
    pub account: &'a str,
    /// Plan of the account.
    pub plan: Plan,
    /// Scopes of the key; may be none, for a key that opens `/v1/me` alone.
    pub scopes: &'a [String],
}

/// A key just made: its id, and the key itself, to be shown once.
#[derive(Debug)]
pub struct NewKey {
    /// Key id.
    pub id: String,
    /// The key.
    pub key: SecretString,
}

/// Accounts and keys as they stand in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyFile {
    /// Accounts.
    #[serde(default, rename = "account", skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<AccountRecord>,
    /// Keys, oldest first, revoked ones included.
    #[serde(default, rename = "key", skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<KeyRecord>,
}

impl KeyFile {
    /// Reads a key file.
    ///
    /// # Errors
    /// [`KeysError::File`] or [`KeysError::Form`].
    pub fn read(path: &Path) -> Result<Self, KeysError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| KeysError::File { path: path.to_owned(), source })?;
        toml::from_str(&text)
            .map_err(|source| KeysError::Form { path: path.to_owned(), source: Box::new(source) })
    }

    /// Reads a key file; one that does not exist yet is empty.
    ///
    /// # Errors
    /// As [`KeyFile::read`].
    pub fn read_or_new(path: &Path) -> Result<Self, KeysError> {
        match Self::read(path) {
            Err(KeysError::File { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                Ok(Self::default())
            }
            read => read,
        }
    }

    /// Reads a key file, changes it and writes it back; another process that wants to do the same waits.
    ///
    /// # Errors
    /// As [`KeyFile::read_or_new`], `change` and [`KeyFile::write`].
    pub fn change<T>(
        path: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, KeysError>,
    ) -> Result<T, KeysError> {
        // A file of its own, since the key file is another one after each change.
        let beside = path.with_added_extension("lock");
        let unusable = |source| KeysError::File { path: beside.clone(), source };
        let lock = File::create(&beside).map_err(unusable)?;
        lock.lock().map_err(unusable)?;
        let mut file = Self::read_or_new(path)?;
        let done = change(&mut file)?;
        file.write(path)?;
        Ok(done)
    }

    /// Replaces a key file whole; only its owner may read it.
    ///
    /// # Errors
    /// [`KeysError::File`] or [`KeysError::Write`]; the old file then still stands, unless it is the folder that the disk
    /// did not keep.
    pub fn write(&self, path: &Path) -> Result<(), KeysError> {
        let text = toml::to_string(self)?;
        replace_file(path, text.as_bytes())
            .map_err(|source| KeysError::File { path: path.to_owned(), source })
    }

    /// Makes a key from 256 random bits, and its account if there is none yet.
    ///
    /// # Errors
    /// [`KeysError`] when the plan allows no further key, or the request contradicts the file.
    pub fn create(
        &mut self,
        request: KeyRequest<'_>,
        random: [u8; 32],
        now: Timestamp,
    ) -> Result<NewKey, KeysError> {
        if let Some(wrong) = request.scopes.iter().find(|scope| !is_scope(scope)) {
            return Err(KeysError::Scope(wrong.clone()));
        }
        self.admit_account(request.account, request.plan)?;
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
        });
        Ok(NewKey { id, key: key.into() })
    }

    /// Revokes a key; one that is revoked already stays as it is.
    ///
    /// # Errors
    /// [`KeysError::NoKey`].
    pub fn revoke(&mut self, id: &str, now: Timestamp) -> Result<(), KeysError> {
        let key = self.keys.iter_mut().find(|key| key.id == id);
        let key = key.ok_or_else(|| KeysError::NoKey(id.to_owned()))?;
        key.revoked_at.get_or_insert(now);
        Ok(())
    }

    fn admit_account(&mut self, name: &str, plan: Plan) -> Result<(), KeysError> {
        if name.trim().is_empty() {
            return Err(KeysError::NoName);
        }
        let active = self.keys.iter().filter(|key| key.account == name && key.revoked_at.is_none()).count();
        match self.accounts.iter().find(|account| account.name == name) {
            Some(account) if account.plan != plan => {
                return Err(KeysError::OtherPlan {
                    account: name.to_owned(),
                    has: account.plan,
                    asked: plan,
                });
            }
            Some(_) if active >= plan.active_keys() => {
                return Err(KeysError::TooMany { account: name.to_owned(), active });
            }
            Some(_) => {}
            None => self.accounts.push(AccountRecord {
                name: name.to_owned(),
                plan,
                api_access: true,
                limits: None,
            }),
        }
        Ok(())
    }
}

/// The id of a key: it comes from the digest, so it tells nothing of the key.
pub(crate) fn key_id(digest: &blake3::Hash) -> String {
    format!("key_{}", &digest.to_hex()[..12])
}

/// Writes a file beside the old one and puts it in its place, for good; a reader sees the old or the new, whole.
fn replace_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    // Until the folder is kept too, a power cut brings the old file back.
    File::open(folder)?.sync_all()
}

fn is_scope(word: &str) -> bool {
    !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
const fn is_yes(value: &bool) -> bool {
    *value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::auth::access::Accounts;
    use crate::serve::auth::limit_override::LimitOverride;
    use secrecy::ExposeSecret;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn accounts(file: &KeyFile) -> Result<Accounts, KeysError> {
        Accounts::from_key_file(file, &LimitOverride::default())
    }

    fn request<'a>(plan: Plan, scopes: &'a [String]) -> KeyRequest<'a> {
        KeyRequest { account: "acme", plan, scopes }
    }

    #[test]
    fn a_key_opens_until_it_is_revoked_and_the_file_never_holds_it() {
        let (folder, scopes) = (tempfile::tempdir().expect("a folder"), ["data".to_owned()]);
        let path = folder.path().join("keys.toml");
        let mut file = KeyFile::read_or_new(&path).expect("a new file");
        let made = file.create(request(Plan::Starter, &scopes), [7; 32], NOW).expect("a key");
        let key = made.key.expose_secret();
        assert_eq!(key.len(), "flb_".len() + 64);
        file.write(&path).expect("written");
        assert!(!std::fs::read_to_string(&path).expect("text").contains(&key[4..]));
        let mut read = KeyFile::read(&path).expect("read");
        assert_eq!(read, file);
        let caller = accounts(&read).expect("accounts").authenticate(key).expect("known");
        assert_eq!((&*caller.key_id, caller.account.limits), (made.id.as_str(), Plan::Starter.limits()));
        read.revoke(&made.id, NOW).expect("revoked");
        assert!(accounts(&read).expect("accounts").authenticate(key).is_none());
        assert!(matches!(read.revoke("key_0", NOW), Err(KeysError::NoKey(_))));
    }

    #[test]
    fn a_plan_allows_so_many_active_keys_and_a_revoked_one_makes_room() {
        let mut file = KeyFile::default();
        let first = file.create(request(Plan::Starter, &[]), [1; 32], NOW).expect("the first key");
        file.create(request(Plan::Starter, &[]), [2; 32], NOW).expect("the second key");
        let third = file.create(request(Plan::Starter, &[]), [3; 32], NOW);
        assert!(matches!(third, Err(KeysError::TooMany { active: 2, .. })));
        file.revoke(&first.id, NOW).expect("revoked");
        file.create(request(Plan::Starter, &[]), [4; 32], NOW).expect("room again");
    }

    #[test]
    fn of_many_that_make_keys_at_once_so_many_succeed_as_the_plan_allows() {
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
    fn what_contradicts_the_file_is_refused() {
        let mut file = KeyFile::default();
        file.create(request(Plan::Starter, &[]), [1; 32], NOW).expect("a key");
        let other = file.create(request(Plan::Agency, &[]), [2; 32], NOW);
        assert!(matches!(other, Err(KeysError::OtherPlan { .. })));
        let scopes = ["da ta".to_owned()];
        assert!(matches!(
            file.create(request(Plan::Starter, &scopes), [2; 32], NOW),
            Err(KeysError::Scope(_))
        ));
        assert_eq!(file.keys.len(), 1);
    }

    #[test]
    fn limits_of_an_account_replace_those_of_its_plan_and_unknown_words_are_refused() {
        let text = "[[account]]\nname = \"acme\"\nplan = \"agency\"\napi_access = false\n[account.limits]\n\
                    rows_per_call = 7\nmax_offset = 1\nwindow_days = 2\nper_minute = 3\nper_day = 4\nper_month = 5\n";
        let file: KeyFile = toml::from_str(text).expect("a key file");
        let limits = file.accounts[0].limits.expect("limits");
        assert_eq!((limits.rows_per_call, file.accounts[0].api_access), (7, false));
        assert!(toml::from_str::<KeyFile>("[[acount]]\nname = \"x\"\n").is_err());
    }
}
