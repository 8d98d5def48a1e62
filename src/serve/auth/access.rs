//! Who may ask: accounts, keys, scopes. A key is known by its digest alone.

use super::key_file::{KeyFile, KeysError};
use super::limit_override::LimitOverride;
use crate::contract::plan::PlanLimits;
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// An account: what its keys share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountEntry {
    /// Name of the account.
    pub name: String,
    /// Its limits.
    pub limits: PlanLimits,
    /// Whether its plan has API access.
    pub api_access: bool,
}

/// The key of one request, once it is known.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The account of the key.
    pub account: Arc<AccountEntry>,
    /// Key id; not the key.
    pub key_id: Arc<str>,
    /// Scopes of the key.
    pub scopes: Arc<[String]>,
}

#[derive(Debug)]
struct KnownKey {
    digest: [u8; 32],
    caller: Caller,
}

/// All keys that open this server.
#[derive(Debug, Default)]
pub struct Accounts {
    keys: Vec<KnownKey>,
}

impl Accounts {
    /// One account with one key, for a server that lives inside another program.
    pub fn single(key: &str, account: &str, limits: PlanLimits, scopes: &[&str]) -> Self {
        let digest = blake3::hash(key.as_bytes());
        let caller = Caller {
            account: Arc::new(AccountEntry { name: account.to_owned(), limits, api_access: true }),
            key_id: super::key_file::key_id(&digest).into(),
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        };
        Self { keys: vec![KnownKey { digest: *digest.as_bytes(), caller }] }
    }

    /// The keys of a key file that are not revoked; every account has the limits of `instead` in place of its own.
    ///
    /// # Errors
    /// [`KeysError`] when a key names no account of the file, or its digest is damaged.
    pub fn from_key_file(file: &KeyFile, instead: &LimitOverride) -> Result<Self, KeysError> {
        let accounts: Vec<Arc<AccountEntry>> = file
            .accounts
            .iter()
            .map(|account| AccountEntry {
                name: account.name.clone(),
                limits: instead.apply(account.limits.unwrap_or_else(|| account.plan.limits())),
                api_access: account.api_access,
            })
            .map(Arc::new)
            .collect();
        let mut keys = Vec::new();
        for key in file.keys.iter().filter(|key| key.revoked_at.is_none()) {
            let account = accounts.iter().find(|account| account.name == key.account);
            let account = account.ok_or_else(|| KeysError::UnknownAccount {
                key: key.id.clone(),
                account: key.account.clone(),
            })?;
            let digest =
                blake3::Hash::from_hex(&key.digest).map_err(|_| KeysError::Digest(key.id.clone()))?;
            let caller = Caller {
                account: Arc::clone(account),
                key_id: key.id.as_str().into(),
                scopes: key.scopes.clone().into(),
            };
            keys.push(KnownKey { digest: *digest.as_bytes(), caller });
        }
        Ok(Self { keys })
    }

    /// The caller whose key this is. Every key is compared, each in constant time.
    pub fn authenticate(&self, key: &str) -> Option<Caller> {
        let digest = blake3::hash(key.as_bytes());
        let mut found = None;
        for known in &self.keys {
            if bool::from(known.digest.ct_eq(digest.as_bytes())) {
                found = Some(&known.caller);
            }
        }
        found.cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;

    #[test]
    fn only_the_exact_key_opens() {
        let accounts = Accounts::single("flb_secret", "acme", Plan::Starter.limits(), &["data"]);
        let caller = accounts.authenticate("flb_secret").expect("the key");
        assert_eq!((caller.account.name.as_str(), &*caller.scopes), ("acme", &["data".to_owned()][..]));
        for wrong in ["", "flb_secre", "flb_secret ", "FLB_SECRET"] {
            assert!(accounts.authenticate(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn nothing_printed_of_the_keys_holds_a_key() {
        let accounts = Accounts::single("flb_secret", "acme", Plan::Starter.limits(), &["data"]);
        assert!(!format!("{accounts:?}").contains("flb_secret"));
    }
}
