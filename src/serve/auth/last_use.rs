//! When each key was used last: from the usage file of a server, under way or not, or from the store of several.

use super::counted::MeterError;
use super::usage_account::MAX_KEYS;
use super::usage_file::Contents;
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// What is known of the last use of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastUse {
    At(Timestamp),
    Never,
    /// A store forgets an account that sends nothing for a month.
    NotThisMonth,
    Unknown,
}

/// The last uses that a usage file has.
#[derive(Debug)]
pub(crate) struct LastUses {
    accounts: HashMap<String, BTreeMap<String, Timestamp>>,
    /// Of an account that is missing, and of a key that is missing where no key can have been forgotten.
    missing: [LastUse; 2],
}

impl LastUses {
    /// Reads a usage file. It needs no lock: the server writes a line at a time.
    pub(crate) fn read(path: &Path) -> Result<Self, MeterError> {
        let bytes = std::fs::read(path).map_err(|source| MeterError::Storage(path.to_owned(), source))?;
        Self::of(&bytes).ok_or_else(|| MeterError::Foreign(path.to_owned()))
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        let contents = Contents::of(bytes)?;
        let accounts = contents.lines.into_iter().map(|(line, _)| (line.account, line.keys)).collect();
        // A damaged line may be of any account.
        let account = if contents.damaged.is_empty() { LastUse::Never } else { LastUse::Unknown };
        Some(Self { accounts, missing: [account, LastUse::Never] })
    }

    /// The last uses of accounts in a store.
    pub(super) fn of_store(accounts: HashMap<String, BTreeMap<String, Timestamp>>) -> Self {
        Self { accounts, missing: [LastUse::NotThisMonth; 2] }
    }

    /// The last use of a key of an account.
    pub(crate) fn of_key(&self, account: &str, key: &str) -> LastUse {
        let [no_account, no_key] = self.missing;
        match self.accounts.get(account) {
            Some(keys) => match keys.get(key) {
                Some(at) => LastUse::At(*at),
                // The oldest uses of an account with more keys are forgotten.
                None if keys.len() >= MAX_KEYS => LastUse::Unknown,
                None => no_key,
            },
            None => no_account,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::auth::usage_file::Line;

    #[test]
    fn only_a_key_that_cannot_have_been_forgotten_was_never_used() {
        let at = Timestamp::UNIX_EPOCH;
        let line = |account: &str, number: usize| {
            let keys = (0..number).map(|key| (format!("key_{key}"), at)).collect();
            let line = Line { account: account.to_owned(), keys, ..Line::default() };
            serde_json::to_string(&line).expect("JSON") + "\n"
        };
        let text = format!("{}{}", line("acme", 1), line("large", MAX_KEYS));
        let uses = LastUses::of(text.as_bytes()).expect("a usage file");
        let damaged = LastUses::of(format!("{text}{{\"acc\n").as_bytes()).expect("a usage file");
        for (account, key, use_, after_damage) in [
            ("acme", "key_0", LastUse::At(at), LastUse::At(at)),
            ("acme", "key_1", LastUse::Never, LastUse::Never),
            ("large", "key_1", LastUse::At(at), LastUse::At(at)),
            ("large", "key_none", LastUse::Unknown, LastUse::Unknown),
            ("other", "key_0", LastUse::Never, LastUse::Unknown),
        ] {
            assert_eq!(uses.of_key(account, key), use_, "{account} {key}");
            assert_eq!(damaged.of_key(account, key), after_damage, "{account} {key}");
        }
        assert!(LastUses::of(b"# Ours.\n").is_none());
    }
}
