//! Key → caller: the accounts and keys that a server accepts, and the limits of a test instance. It stores digests, never keys.

use super::key_file::{AccountRecord, KeyFile, KeyState, key_id};
use super::keys_error::KeysError;
use crate::contract::eastern::eastern_day;
use crate::contract::plan::PlanLimits;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::{HashMap, HashSet};
use std::str::FromStr;
use std::sync::Arc;

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
    /// The Eastern day from which the key is refused.
    expires_on: Option<Date>,
}

/// Every key that the server accepts, by its digest.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    keys: HashMap<[u8; 32], Caller>,
}

impl Accounts {
    /// One account with one key, for a server inside another program.
    pub(crate) fn single(key: &str, account: &str, limits: PlanLimits, scopes: &[&str]) -> Self {
        let digest = blake3::hash(key.as_bytes());
        let caller = Caller {
            account: Arc::new(AccountEntry { name: account.to_owned(), limits, api_access: true }),
            key_id: key_id(&digest).into(),
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
            expires_on: None,
        };
        Self { keys: [(*digest.as_bytes(), caller)].into() }
    }

    /// The keys of a key file that are not revoked. The limits of `plan_override` replace those of every account.
    pub(crate) fn from_key_file(
        file: &KeyFile,
        plan_override: &LimitOverride,
        now: Timestamp,
    ) -> Result<Self, KeysError> {
        let accounts = by_name(&file.accounts, plan_override)?;
        within_plans(file, eastern_day(now))?;
        let mut keys = HashMap::new();
        for key in file.keys.iter().filter(|key| key.revoked_at.is_none()) {
            let account = accounts.get(key.account.as_str());
            let account =
                account.ok_or_else(|| KeysError::UnknownAccount(key.id.clone(), key.account.clone()))?;
            let digest =
                blake3::Hash::from_hex(&key.digest).map_err(|_| KeysError::Digest(key.id.clone()))?;
            let caller = Caller {
                account: Arc::clone(account),
                key_id: key.id.as_str().into(),
                scopes: key.scopes.clone().into(),
                expires_on: key.expires_on,
            };
            keys.insert(*digest.as_bytes(), caller);
        }
        Ok(Self { keys })
    }

    /// The same without the keys that a file calls revoked.
    pub(crate) fn without_revoked(&self, file: &KeyFile) -> Self {
        let mut keys = self.keys.clone();
        let revoked = file.keys.iter().filter(|key| key.revoked_at.is_some());
        for digest in revoked.filter_map(|key| blake3::Hash::from_hex(&key.digest).ok()) {
            keys.remove(digest.as_bytes());
        }
        Self { keys }
    }

    /// The number of accounts that have a key.
    pub(crate) fn count(&self) -> usize {
        self.keys.values().map(|caller| &caller.account.name).collect::<HashSet<_>>().len()
    }

    /// The caller of a key; `None` when it is unknown or has expired. How long the look-up takes says something about the digest of what was
    /// sent, and nothing about a key.
    pub(crate) fn authenticate(&self, key: &str, now: Timestamp) -> Option<Caller> {
        let caller = self.keys.get(blake3::hash(key.as_bytes()).as_bytes())?;
        let has_expired = caller.expires_on.is_some_and(|day| day <= eastern_day(now));
        (!has_expired).then(|| caller.clone())
    }
}

/// The accounts by name. Each has limits of at least 1.
fn by_name<'a>(
    accounts: &'a [AccountRecord],
    plan_override: &LimitOverride,
) -> Result<HashMap<&'a str, Arc<AccountEntry>>, KeysError> {
    let mut found = HashMap::new();
    for account in accounts {
        let mut limits = account.limits.unwrap_or_else(|| account.plan.limits());
        if let Some((name, _)) = LIMITS.iter().find(|(_, limit)| *limit(&mut limits) == 0) {
            return Err(KeysError::NoLimit(account.name.clone(), name));
        }
        let entry = AccountEntry {
            name: account.name.clone(),
            limits: plan_override.apply(limits),
            api_access: account.api_access,
        };
        found.insert(account.name.as_str(), Arc::new(entry));
    }
    Ok(found)
}

/// Fails for an account with more active keys than its plan allows.
fn within_plans(file: &KeyFile, today: Date) -> Result<(), KeysError> {
    let mut active: HashMap<&str, usize> = HashMap::new();
    for key in file.keys.iter().filter(|key| key.state(today) == KeyState::Active) {
        *active.entry(&key.account).or_default() += 1;
    }
    for AccountRecord { name, plan, .. } in &file.accounts {
        match active.get(name.as_str()) {
            Some(keys) if *keys > plan.active_keys() => {
                return Err(KeysError::TooMany(name.clone(), *plan, *keys));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The limit of a plan that a name means.
type Limit = fn(&mut PlanLimits) -> &mut u32;

const LIMITS: [(&str, Limit); 6] = [
    ("rows_per_call", |limits| &mut limits.rows_per_call),
    ("max_offset", |limits| &mut limits.max_offset),
    ("window_days", |limits| &mut limits.window_days),
    ("per_minute", |limits| &mut limits.per_minute),
    ("per_day", |limits| &mut limits.per_day),
    ("per_month", |limits| &mut limits.per_month),
];

/// Limits by name, with their values.
#[derive(Debug, Clone, Default)]
pub struct LimitOverride {
    limits: Vec<(Limit, u32)>,
}

impl LimitOverride {
    /// The limits of an account, with these in their place.
    pub fn apply(&self, mut limits: PlanLimits) -> PlanLimits {
        for (limit, value) in &self.limits {
            *limit(&mut limits) = *value;
        }
        limits
    }
}

impl FromStr for LimitOverride {
    type Err = String;

    /// Reads `per_minute=100000,per_day=1000000`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self { limits: text.split(',').map(read).collect::<Result<_, String>>()? })
    }
}

fn read(pair: &str) -> Result<(Limit, u32), String> {
    let (name, value) = pair.split_once('=').ok_or_else(|| format!("{pair:?} is not LIMIT=NUMBER"))?;
    let known = LIMITS.iter().find(|(known, _)| *known == name.trim());
    let names = || LIMITS.map(|(name, _)| name).join(", ");
    let (_, limit) = known.ok_or_else(|| format!("{name:?} is none of {}", names()))?;
    let value: u32 = value.trim().parse().map_err(|_| format!("{value:?} is no limit of {name}"))?;
    (value > 0).then_some((*limit, value)).ok_or_else(|| format!("{name} must be at least 1"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;
    use crate::fuzz::try_changed;
    use crate::serve::auth::key_file::KeyRequest;
    use std::path::Path;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    #[test]
    fn only_the_exact_key_is_accepted() {
        let accounts = Accounts::single("flb_secret", "acme", Plan::Starter.limits(), &["data"]);
        let caller = accounts.authenticate("flb_secret", NOW).expect("the key");
        assert_eq!((caller.account.name.as_str(), &*caller.scopes), ("acme", &["data".to_owned()][..]));
        for wrong in ["", "flb_secre", "flb_secret ", "FLB_SECRET"] {
            assert!(accounts.authenticate(wrong, NOW).is_none(), "{wrong}");
        }
    }

    #[test]
    fn debug_output_of_accounts_contains_no_key() {
        let accounts = Accounts::single("flb_secret", "acme", Plan::Starter.limits(), &["data"]);
        assert!(!format!("{accounts:?}").contains("flb_secret"));
    }

    #[test]
    fn account_with_a_limit_of_0_is_refused() {
        let account = |name: &str, per_day: u32| AccountRecord {
            name: name.to_owned(),
            plan: Plan::Starter,
            api_access: true,
            limits: Some(PlanLimits { per_day, ..Plan::Starter.limits() }),
        };
        let load = |accounts: Vec<AccountRecord>| {
            let file = KeyFile { accounts, keys: Vec::new() };
            Accounts::from_key_file(&file, &LimitOverride::default(), NOW).map(|_| ())
        };
        load(vec![account("acme", 1), account("other", 1)]).expect("a good file");
        let none = load(vec![account("acme", 1), account("other", 0)]);
        assert!(matches!(none, Err(KeysError::NoLimit(name, "per_day")) if name == "other"));
    }

    #[test]
    fn named_limits_are_replaced_and_the_others_stay() {
        let read: LimitOverride = "per_minute=1000000, max_offset=100000".parse().expect("an override");
        let (starter, limits) = (Plan::Starter.limits(), read.apply(Plan::Starter.limits()));
        assert_eq!(limits, PlanLimits { per_minute: 1_000_000, max_offset: 100_000, ..starter });
        assert_eq!(LimitOverride::default().apply(starter), starter);
        for (wrong, says) in [
            ("per_minute", "LIMIT=NUMBER"),
            ("per_hour=1", "none of rows_per_call"),
            ("per_day=-1", "no limit of per_day"),
            ("per_day=0", "at least 1"),
            ("", "LIMIT=NUMBER"),
        ] {
            let error = wrong.parse::<LimitOverride>().expect_err(wrong);
            assert!(error.contains(says), "{wrong}: {error}");
        }
    }

    #[test]
    fn account_limits_replace_the_plans_and_unknown_keys_are_refused() {
        let text = "[[account]]\nname = \"acme\"\nplan = \"agency\"\napi_access = false\n[account.limits]\n\
                    rows_per_call = 7\nmax_offset = 1\nwindow_days = 2\nper_minute = 3\nper_day = 4\nper_month = 5\n";
        let file: KeyFile = toml::from_str(text).expect("a key file");
        let limits = file.accounts[0].limits.expect("limits");
        assert_eq!((limits.rows_per_call, file.accounts[0].api_access), (7, false));
        assert!(toml::from_str::<KeyFile>("[[acount]]\nname = \"x\"\n").is_err());
    }

    #[test]
    fn fuzz_of_key_files() {
        // As the program writes it.
        let mut file = KeyFile::default();
        let scopes = ["data".to_owned()];
        let request = KeyRequest { account: "acme", plan: Plan::Agency, scopes: &scopes, expires_on: None };
        file.create(request, [7; 32], NOW).expect("a key");
        let examples = [toml::to_string(&file).expect("TOML")];
        let read = |text: &str| KeyFile::parse(Path::new("keys.toml"), text);
        assert_eq!(read(&examples[0]).expect("the example is a key file").keys.len(), 1);
        try_changed(&examples, |input| {
            if let Ok(file) = read(&String::from_utf8_lossy(input)) {
                let _ = Accounts::from_key_file(&file, &LimitOverride::default(), NOW);
            }
        });
    }
}
