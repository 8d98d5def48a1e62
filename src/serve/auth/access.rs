//! Key → caller: the accounts and keys that a server accepts. It stores digests, never keys.

use super::key_file::{KeyFile, KeysError, key_id};
use super::limit_override::LimitOverride;
use crate::contract::plan::PlanLimits;
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// An account; its keys share all of this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AccountEntry {
    pub(crate) name: String,
    pub(crate) limits: PlanLimits,
    /// Whether its plan has API access.
    pub(crate) api_access: bool,
}

/// The account, id and scopes behind the key of a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) account: Arc<AccountEntry>,
    /// Key id, which is not the key.
    pub(crate) key_id: Arc<str>,
    pub(crate) scopes: Arc<[String]>,
}

/// Every key that the server accepts.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    keys: Vec<([u8; 32], Caller)>,
}

impl Accounts {
    /// One account with one key, for a server inside another program.
    pub(crate) fn single(key: &str, account: &str, limits: PlanLimits, scopes: &[&str]) -> Self {
        let digest = blake3::hash(key.as_bytes());
        let caller = Caller {
            account: Arc::new(AccountEntry { name: account.to_owned(), limits, api_access: true }),
            key_id: key_id(&digest).into(),
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        };
        Self { keys: vec![(*digest.as_bytes(), caller)] }
    }

    /// The keys of a key file that are not revoked. The limits of `plan_override` replace those of every account.
    pub(crate) fn from_key_file(file: &KeyFile, plan_override: &LimitOverride) -> Result<Self, KeysError> {
        let accounts: Vec<Arc<AccountEntry>> = file
            .accounts
            .iter()
            .map(|account| AccountEntry {
                name: account.name.clone(),
                limits: plan_override.apply(account.limits.unwrap_or_else(|| account.plan.limits())),
                api_access: account.api_access,
            })
            .map(Arc::new)
            .collect();
        let mut keys = Vec::new();
        for key in file.keys.iter().filter(|key| key.revoked_at.is_none()) {
            let account = accounts.iter().find(|account| account.name == key.account);
            let account =
                account.ok_or_else(|| KeysError::UnknownAccount(key.id.clone(), key.account.clone()))?;
            let digest =
                blake3::Hash::from_hex(&key.digest).map_err(|_| KeysError::Digest(key.id.clone()))?;
            let caller = Caller {
                account: Arc::clone(account),
                key_id: key.id.as_str().into(),
                scopes: key.scopes.clone().into(),
            };
            keys.push((*digest.as_bytes(), caller));
        }
        Ok(Self { keys })
    }

    /// The caller of a key; `None` when it is unknown. Every stored digest is compared, in constant time.
    pub(crate) fn authenticate(&self, key: &str) -> Option<Caller> {
        let digest = blake3::hash(key.as_bytes());
        let mut found = None;
        for (known, caller) in &self.keys {
            if bool::from(known.ct_eq(digest.as_bytes())) {
                found = Some(caller);
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
    fn only_the_exact_key_is_accepted() {
        let accounts = Accounts::single("flb_secret", "acme", Plan::Starter.limits(), &["data"]);
        let caller = accounts.authenticate("flb_secret").expect("the key");
        assert_eq!((caller.account.name.as_str(), &*caller.scopes), ("acme", &["data".to_owned()][..]));
        for wrong in ["", "flb_secre", "flb_secret ", "FLB_SECRET"] {
            assert!(accounts.authenticate(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn debug_output_of_accounts_contains_no_key() {
        let accounts = Accounts::single("flb_secret", "acme", Plan::Starter.limits(), &["data"]);
        assert!(!format!("{accounts:?}").contains("flb_secret"));
    }
}
