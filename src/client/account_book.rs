//! The accounts of one service, and which keys belong to the same one (pure).
//!
//! Limits belong to an account, but the API identifies keys. So each key starts with counts of its own. Two keys belong to one
//! account when `/v1/me` reports, for one of them, exactly the requests that the other has sent since the last report. From then on
//! they share their counts.

use super::counts::Counts;
use crate::contract::eastern::{eastern_day, month_of};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// This many requests that match to the last one are no coincidence.
const ENOUGH_TO_MATCH: u64 = 20;

/// The accounts of one service: the content of its ledger file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct AccountBook {
    pub(super) format: u32,
    pub(super) service: String,
    /// Counts were lost: keys new to this book send nothing before this time.
    #[serde(default)]
    pub(super) quiet_until: Option<Timestamp>,
    pub(super) accounts: Vec<Entry>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Digests of its keys, with the last answer of `/v1/me` to each.
    pub(super) keys: BTreeMap<String, Option<AccountProbe>>,
    pub(super) counts: Counts,
}

/// The state of all keys when `/v1/me` answered one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AccountProbe {
    month: String,
    /// Requests of the account in that month, by the answer.
    month_used: u32,
    /// Requests that each known key had sent.
    sent: BTreeMap<String, u64>,
    under_way: u64,
}

impl AccountBook {
    pub(super) fn position(&self, key: &str) -> Option<usize> {
        self.accounts.iter().position(|entry| entry.keys.contains_key(key))
    }

    /// The account of a key. A new key gets one of its own, and waits as long as new keys must.
    pub(super) fn entry(&mut self, key: &str) -> &mut Entry {
        let at = self.position(key).unwrap_or_else(|| {
            let mut counts = Counts::default();
            counts.pause_until(self.quiet_until.unwrap_or(Timestamp::UNIX_EPOCH));
            self.accounts.push(Entry { keys: BTreeMap::from([(key.to_owned(), None)]), counts });
            self.accounts.len() - 1
        });
        &mut self.accounts[at]
    }

    /// The state of all keys now, when `/v1/me` reports the account's requests of this month.
    pub(super) fn probe(&self, now: Timestamp, month_used: u32) -> AccountProbe {
        AccountProbe {
            month: month_of(eastern_day(now)),
            month_used,
            sent: self
                .accounts
                .iter()
                .flat_map(|entry| entry.keys.keys().map(|key| (key.clone(), entry.counts.sent)))
                .collect(),
            under_way: self.accounts.iter().map(|entry| entry.counts.under_way() as u64).sum(),
        }
    }

    /// Another account of this book that is the key's own. Since the last probe of the key, its account has used requests that the
    /// key did not send; the other account has sent exactly that number.
    pub(super) fn same_account(&self, key: &str, now: &AccountProbe) -> Option<usize> {
        let own = self.position(key)?;
        let before = self.accounts[own].keys.get(key)?.as_ref().filter(|probe| probe.month == now.month)?;
        // A key that was unknown then had sent nothing.
        let since = |key: &str| now.sent.get(key)?.checked_sub(before.sent.get(key).copied().unwrap_or(0));
        let used = u64::from(now.month_used.checked_sub(before.month_used)?);
        let by_others = used.checked_sub(since(key)?)?;
        let unsure = before.under_way + now.under_way;
        (0..self.accounts.len()).filter(|at| *at != own).find(|at| {
            let sent = self.accounts[*at].keys.keys().find_map(|key| since(key)).unwrap_or(0);
            sent >= ENOUGH_TO_MATCH + 4 * unsure && by_others.abs_diff(sent) <= unsure
        })
    }

    /// Merges another account into the key's.
    pub(super) fn join(&mut self, key: &str, other: usize) {
        let other = self.accounts.remove(other);
        let entry = self.entry(key);
        entry.counts.absorb(other.counts);
        entry.keys.extend(other.keys);
        // Earlier probes compare counts that are no longer separate.
        entry.keys.values_mut().for_each(|probe| *probe = None);
    }
}
