//! `doctor`: checks what a run needs. Sends at most 1 request, and only with an address and a key; changes nothing else.

use crate::cli::context::api_access::{Access, api_key};
use crate::cli::context::open_lake::{is_in_store, no_snapshot, open_lake, state_dir};
use crate::cli::exit::{self, CommandError};
use crate::cli::output::error_text::{ErrorText, with_causes};
use crate::cli::session::Session;
use crate::client::{Bounds, Budget, Client, ClientConfig, Ledger, StopSwitch};
use crate::contract::account::Account;
use crate::contract::eastern::day_start;
use crate::contract::endpoint::DATA_SCOPE;
use crate::contract::hint::MAKE_SNAPSHOT;
use crate::contract::plan::Plan;
use crate::lake::{Lake, LakeError};
use jiff::civil::{Date, date};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A larger difference from the API's clock is noted.
const NOTABLE_SKEW: SignedDuration = SignedDuration::from_secs(30);
/// With a larger difference, a run reads the wrong day and waits too long or too short.
const BAD_SKEW: SignedDuration = SignedDuration::from_secs(300);
/// With less free space than this, a run fails.
const LEAST_SPACE: u64 = 64 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Good,
    /// A run works all the same.
    Note,
    Bad,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    subject: &'static str,
    verdict: Verdict,
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    exit_code: u8,
}

fn good(subject: &'static str, what: impl Into<String>) -> Finding {
    Finding { subject, verdict: Verdict::Good, what: what.into(), hint: None, exit_code: exit::DONE }
}

fn note(subject: &'static str, what: impl Into<String>) -> Finding {
    Finding { verdict: Verdict::Note, ..good(subject, what) }
}

fn bad(subject: &'static str, exit_code: u8, what: impl Into<String>) -> Finding {
    Finding { verdict: Verdict::Bad, exit_code, ..good(subject, what) }
}

fn failed(subject: &'static str, error: impl Into<CommandError>) -> Finding {
    let error = error.into();
    let ErrorText { error: what, hint, .. } = ErrorText::of(&error);
    Finding { hint, ..bad(subject, error.code(), what) }
}

pub(crate) async fn doctor(session: &Session<'_>) -> Result<u8, CommandError> {
    let mut findings = vec![zone(day_start)];
    let mut requests = 0;
    match open_lake(session) {
        Ok(lake) => {
            findings.extend(of_lake(session, &lake)?);
            let (of_account, sent) =
                account(session, &lake).await.unwrap_or_else(|finding| (vec![finding], 0));
            requests = sent;
            findings.extend(of_account);
        }
        // The lake's folder may be the one where requests are counted, so none is sent.
        Err(error) => findings.push(failed("lake", error)),
    }
    let code = worst(&findings);
    let value = serde_json::json!({ "findings": findings, "requests": requests, "exit_code": code });
    session.report(&value, |screen| screen.write_str(&text(&findings, requests)))?;
    Ok(code)
}

/// The exit code of the first bad finding; each check depends only on those before it.
fn worst(findings: &[Finding]) -> u8 {
    let bad = findings.iter().find(|finding| finding.verdict == Verdict::Bad);
    bad.map_or(exit::DONE, |finding| finding.exit_code)
}

fn text(findings: &[Finding], requests: u64) -> String {
    let line = |finding: &Finding| {
        let verdict = match finding.verdict {
            Verdict::Good => "good",
            Verdict::Note => "note",
            Verdict::Bad => "BAD",
        };
        let hint = finding.hint.iter().map(|hint| format!("hint  {:<10} {hint}\n", finding.subject));
        format!("{verdict:<5} {:<10} {}\n{}", finding.subject, finding.what, hint.collect::<String>())
    };
    let lines: String = findings.iter().map(line).collect();
    format!("{lines}requests sent: {requests}\n")
}

/// Whether Eastern days begin 5 hours after UTC's in winter and 4 hours in summer.
fn zone(start: impl Fn(Date) -> Timestamp) -> Finding {
    let hours = |day: Date| start(day).as_second().rem_euclid(86_400) / 3_600;
    match (hours(date(2026, 1, 15)), hours(date(2026, 7, 15))) {
        (5, 4) => good("time zone", "Eastern days begin at 5 h UTC in winter and 4 h in summer"),
        (winter, summer) => bad(
            "time zone",
            exit::BUG,
            format!(
                "Eastern days begin at {winter} h UTC in winter and {summer} h in summer, not at 5 and 4"
            ),
        ),
    }
}

fn of_lake(session: &Session<'_>, lake: &Lake) -> Result<Vec<Finding>, CommandError> {
    let mut findings = vec![free_space(lake.root()), storage(session, lake)?];
    findings.extend(snapshot(lake, session.now()).unwrap_or_else(|error| vec![failed("lake", error)]));
    Ok(findings)
}

/// Free space on the disk of the lake, or of the folder it will be made in.
fn free_space(root: &Path) -> Finding {
    let folder = nearest(root);
    match fs4::available_space(&folder) {
        Err(error) => bad("disk", exit::STORAGE, format!("{}: {}", folder.display(), with_causes(&error))),
        Ok(free) => {
            let what = format!("{} MiB free at {}", free >> 20, folder.display());
            if free < LEAST_SPACE { bad("disk", exit::STORAGE, what) } else { good("disk", what) }
        }
    }
}

/// The folder, or its nearest parent that exists.
fn nearest(folder: &Path) -> PathBuf {
    let there = folder.ancestors().find(|above| above.is_dir());
    there.filter(|found| !found.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// Whether the storage of the lake is one that commits can rely on; without a lake, whether its folder can be made.
fn storage(session: &Session<'_>, lake: &Lake) -> Result<Finding, CommandError> {
    let random = session.random("a probe of the storage")?;
    let token: String = random[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    if is_in_store(session.common) || lake.root().is_dir() {
        return Ok(match lake.probe(&token) {
            Ok(()) => good("storage", format!("{lake} can be written to, and creates a file only once")),
            Err(error) => failed("storage", error),
        });
    }
    let folder = nearest(lake.root());
    let (made, place) = (tempfile::tempfile_in(&folder), folder.display());
    Ok(match made.map_err(|error| with_causes(&error)) {
        Ok(_) => note("storage", format!("there is no lake at {lake} yet; {place} can be written to")),
        Err(why) => {
            let what = format!("there is no lake at {lake} yet, and {place} cannot be written to: {why}");
            bad("storage", exit::STORAGE, what)
        }
    })
}

/// The newest commit, and whether the clock is behind it.
fn snapshot(lake: &Lake, now: Timestamp) -> Result<Vec<Finding>, LakeError> {
    let Some(commit) = lake.current()? else {
        return Ok(vec![note("lake", format!("{}; {MAKE_SNAPSHOT}", no_snapshot(lake)))]);
    };
    let number = commit.snapshot;
    let mut findings = Vec::new();
    findings.push(if lake.kept_snapshots()?.contains(&number) {
        good("lake", format!("snapshot {number} of {}, committed {}", commit.today, commit.committed_at))
    } else {
        bad("lake", exit::STORAGE, format!("the files of snapshot {number}, the newest, are missing"))
    });
    if now < commit.committed_at {
        let what = format!("it says {now}, before the newest commit was made ({})", commit.committed_at);
        findings.push(bad("clock", exit::SETTINGS, what));
    }
    Ok(findings)
}

/// Key, scope, plan and clock, from one answer of `/v1/me`, and the number of requests sent.
///
/// # Errors
/// The finding that kept the request from being sent.
async fn account(session: &Session<'_>, lake: &Lake) -> Result<(Vec<Finding>, u64), Finding> {
    let (key, key_in) =
        api_key(session.world).map_err(|error| note("key", format!("not checked: {error}")))?;
    let no_address = || note("key", "not checked: no address of the API in --base-url or SUNLAKE_BASE_URL");
    let base_url = session.common.base_url.as_ref().ok_or_else(no_address)?;
    let access = Access::of_flag(base_url, key, key_in).map_err(|error| failed("key", error))?;
    let (key, now) = (access.key.clone(), session.world.now);
    let (_switch, stop) = StopSwitch::new();
    let ledger = Ledger::of(&state_dir(session, lake), base_url, &key);
    let bounds = Bounds { max_requests: Some(1), ..Bounds::default() };
    let base_url = base_url.to_owned();
    let config = ClientConfig { base_url, attempts: Some(1), ..ClientConfig::default() };
    let client = Client::new(config, key, Budget::new(ledger, now, bounds, stop), now)
        .map_err(|error| failed("key", access.with_context(error)))?;
    let mut findings = match client.account().await {
        Ok(account) => of_account(&account),
        Err(error) => vec![failed("key", access.with_context(error))],
    };
    findings.extend(client.skew().map(of_skew));
    Ok((findings, client.budget().sent()))
}

fn of_account(account: &Account) -> Vec<Finding> {
    let (id, caps, left) = (&account.id, &account.limits, &account.remaining);
    let key = if account.scopes.iter().any(|scope| scope == DATA_SCOPE) {
        good("key", format!("{id} is accepted, with scope data"))
    } else {
        let scopes = account.scopes.join(", ");
        bad("key", exit::KEY_REFUSED, format!("{id} is accepted, but has no scope data; it has {scopes}"))
    };
    let name = match Plan::from_caps(caps.per_minute, caps.per_day, caps.per_month) {
        Some(plan) => format!("{plan:?}").to_lowercase(),
        None => "unknown limits".to_owned(),
    };
    let plan = good(
        "plan",
        format!(
            "{name}: {} of {} requests left today, {} of {} this month",
            left.day, caps.per_day, left.month, caps.per_month
        ),
    );
    vec![key, plan]
}

/// The difference from the API's clock; positive if this clock is ahead.
fn of_skew(skew: SignedDuration) -> Finding {
    let seconds = skew.as_secs();
    let what = match seconds {
        0.. => format!("{seconds} s ahead of the API's"),
        _ => format!("{} s behind the API's", -seconds),
    };
    match skew.abs() {
        far if far >= BAD_SKEW => bad("clock", exit::SETTINGS, what),
        far if far >= NOTABLE_SKEW => note("clock", what),
        _ => good("clock", what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::account::{AccountLimits, Remaining};

    #[test]
    fn the_time_zone_is_checked_in_winter_and_summer() {
        assert_eq!(zone(day_start).verdict, Verdict::Good);
        let utc = |day: Date| day.to_zoned(jiff::tz::TimeZone::UTC).expect("a day").timestamp();
        assert_eq!((zone(utc).verdict, zone(utc).exit_code), (Verdict::Bad, exit::BUG));
    }

    #[test]
    fn a_clock_is_checked_by_its_difference() {
        let verdict = |seconds| of_skew(SignedDuration::from_secs(seconds)).verdict;
        let judged = [0, 29, -31, 299, 301, -86_400].map(verdict);
        use Verdict::{Bad, Good, Note};
        assert_eq!(judged, [Good, Good, Note, Note, Bad, Bad]);
        assert_eq!(of_skew(SignedDuration::from_secs(-40)).what, "40 s behind the API's");
    }

    #[test]
    fn a_key_without_the_scope_is_bad_and_the_first_bad_finding_sets_the_exit_code() {
        let account = |scope: &str| Account {
            kind: "client".to_owned(),
            id: "k1".to_owned(),
            scopes: vec![scope.to_owned()],
            limits: AccountLimits { per_minute: 1, per_day: 2, per_month: 3 },
            remaining: Remaining { minute: 1, day: 2, month: 3 },
        };
        assert_eq!(worst(&of_account(&account("data"))), exit::DONE);
        let mut findings = of_account(&account("admin"));
        assert_eq!(worst(&findings), exit::KEY_REFUSED);
        findings.insert(0, bad("disk", exit::STORAGE, "full"));
        findings.insert(0, note("lock", "taken"));
        assert_eq!(worst(&findings), exit::STORAGE);
        assert!(text(&findings, 1).starts_with("note  lock       taken\nBAD   disk       full\n"));
    }
}
