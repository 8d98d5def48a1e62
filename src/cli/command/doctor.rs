//! `doctor`: what a run needs, looked at one by one. Sends one request at most, and only with an address and a key; changes
//! nothing but the count of it.

use crate::cli::args::Common;
use crate::cli::context::api_access::{Access, api_key};
use crate::cli::context::open_lake::{no_snapshot, open_lake};
use crate::cli::exit;
use crate::cli::exit::CommandError;
use crate::cli::output::text;
use crate::cli::output::text::count;
use crate::cli::{World, print, print_line, state_dir};
use crate::client::{Bounds, Budget, Client, ClientConfig, Ledger, RetryPolicy, StopSwitch};
use crate::contract::account::Account;
use crate::contract::eastern::day_start;
use crate::contract::plan::Plan;
use crate::lake::{Lake, LakeError};
use crate::pipeline::PipelineError;
use crate::pipeline::config::file::Pipeline;
use crate::pipeline::config::sql::check_sql;
use jiff::civil::{Date, date};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A clock this far from the API's is told.
const NOTABLE_SKEW: SignedDuration = SignedDuration::from_secs(30);
/// A clock this far from the API's takes one day for another, and waits wrongly.
const BAD_SKEW: SignedDuration = SignedDuration::from_secs(300);
/// With less room than this a run is sure to fail.
const LEAST_ROOM: u64 = 64 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Good,
    /// Worth knowing; a run goes on.
    Note,
    Bad,
}

/// What was found about one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    subject: &'static str,
    verdict: Verdict,
    what: String,
    exit_code: u8,
}

fn good(subject: &'static str, what: impl Into<String>) -> Finding {
    Finding { subject, verdict: Verdict::Good, what: what.into(), exit_code: exit::DONE }
}

fn note(subject: &'static str, what: impl Into<String>) -> Finding {
    Finding { verdict: Verdict::Note, ..good(subject, what) }
}

fn bad(subject: &'static str, exit_code: u8, what: impl Into<String>) -> Finding {
    Finding { verdict: Verdict::Bad, exit_code, ..good(subject, what) }
}

fn failed(subject: &'static str, error: impl Into<CommandError>) -> Finding {
    let error = error.into();
    bad(subject, error.code(), error.to_string())
}

pub(crate) async fn doctor(common: &Common, world: &World, pipelines: &Path) -> Result<u8, CommandError> {
    let now = (world.now)();
    let mut findings = vec![zone(day_start)];
    let mut requests = 0;
    match open_lake(common, world) {
        Ok(lake) => {
            findings.extend(of_lake(&lake, world, now)?);
            let (of_account, sent) = account(common, world, &lake).await;
            requests = sent;
            findings.extend(of_account);
        }
        // Requests are counted in its folder where there is no other.
        Err(error) => findings.push(failed("lake", error)),
    }
    findings.extend(of_pipelines(pipelines));
    let code = worst(&findings);
    if common.json {
        let told = serde_json::json!({ "findings": findings, "requests": requests, "exit_code": code });
        print_line(&text::json(&told)?)?;
    } else {
        print(&words(&findings, requests))?;
    }
    Ok(code)
}

/// The code of the first thing that is bad; they are looked at in the order of what stands on what.
fn worst(findings: &[Finding]) -> u8 {
    let bad = findings.iter().find(|finding| finding.verdict == Verdict::Bad);
    bad.map_or(exit::DONE, |finding| finding.exit_code)
}

fn words(findings: &[Finding], requests: u64) -> String {
    let line = |finding: &Finding| {
        let verdict = match finding.verdict {
            Verdict::Good => "good",
            Verdict::Note => "note",
            Verdict::Bad => "BAD",
        };
        format!("{verdict:<5} {:<10} {}\n", finding.subject, finding.what)
    };
    let told: String = findings.iter().map(line).collect();
    format!("{told}requests sent: {requests}\n")
}

/// Whether Eastern days begin when they do: five hours after UTC's in winter, four in summer.
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

fn of_lake(lake: &Lake, world: &World, now: Timestamp) -> Result<Vec<Finding>, CommandError> {
    let mut findings = Vec::new();
    findings.push(room(lake.root()));
    findings.push(storage(lake, world)?);
    findings.push(match lake.holder() {
        Ok(Some(holder)) => {
            note("lock", format!("held by {holder}; a second run would end with exit code 8"))
        }
        Ok(None) => good("lock", "free"),
        Err(error) => failed("lock", error),
    });
    findings.extend(snapshot(lake, now).unwrap_or_else(|error| vec![failed("lake", error)]));
    Ok(findings)
}

/// Room on the disk of the lake, or of the folder it will be made in.
fn room(root: &Path) -> Finding {
    let folder = nearest(root);
    let free = match fs4::available_space(&folder) {
        Ok(free) => free,
        Err(error) => return bad("disk", exit::STORAGE, format!("{}: {error}", folder.display())),
    };
    let told = format!("{} MiB free at {}", free >> 20, folder.display());
    match free {
        ..LEAST_ROOM => bad("disk", exit::STORAGE, told),
        _ => good("disk", told),
    }
}

/// The folder, or the nearest one above it that there is.
fn nearest(folder: &Path) -> PathBuf {
    let there = folder.ancestors().find(|above| above.is_dir());
    there.filter(|found| !found.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// Whether the lake's home keeps what commits rely on; for a lake still to come, whether its folder can be made.
fn storage(lake: &Lake, world: &World) -> Result<Finding, CommandError> {
    let random =
        (world.random)().map_err(|source| CommandError::Io { what: "no random bits".to_owned(), source })?;
    let token: String = random[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    if lake.root().is_dir() {
        return Ok(match lake.probe(&token) {
            Ok(()) => good("storage", format!("{lake} can be written to, and creates a file only once")),
            Err(error) => failed("storage", error),
        });
    }
    let folder = nearest(lake.root());
    Ok(match tempfile::tempfile_in(&folder) {
        Ok(_) => {
            note("storage", format!("there is no lake at {lake} yet; {} can be written to", folder.display()))
        }
        Err(error) => {
            let what = format!(
                "there is no lake at {lake} yet, and {} cannot be written to: {error}",
                folder.display()
            );
            bad("storage", exit::STORAGE, what)
        }
    })
}

/// The newest commit, what readers see, unfinished runs; and whether the clock is behind the commit.
fn snapshot(lake: &Lake, now: Timestamp) -> Result<Vec<Finding>, LakeError> {
    let Some(commit) = lake.current()? else {
        return Ok(vec![note("lake", no_snapshot(lake))]);
    };
    let number = commit.snapshot;
    let mut findings = Vec::new();
    findings.push(match lake.kept_snapshots()?.contains(&number) {
        true => {
            good("lake", format!("snapshot {number} of {}, committed {}", commit.today, commit.committed_at))
        }
        false => {
            bad("lake", exit::STORAGE, format!("the files of snapshot {number}, the newest, are missing"))
        }
    });
    if lake.shown().is_some_and(|shown| shown != number) {
        findings.push(note(
            "lake",
            format!("`current` does not show snapshot {number} yet; the next run repairs that"),
        ));
    }
    let unfinished = lake.runs()?.into_iter().filter(|run| run.finished.is_none()).count() as u64;
    if unfinished > 0 {
        findings.push(note(
            "lake",
            format!("{} did not finish; the next run of the same pipeline goes on", count(unfinished, "run")),
        ));
    }
    if now < commit.committed_at {
        let what = format!("it says {now}, before the newest commit was made ({})", commit.committed_at);
        findings.push(bad("clock", exit::SETTINGS, what));
    }
    Ok(findings)
}

/// Every pipeline file of the folder, as a run would read it.
fn of_pipelines(folder: &Path) -> Vec<Finding> {
    let subject = "pipelines";
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return vec![note(subject, format!("{}: {error}", folder.display()))],
    };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut findings = Vec::new();
    for file in &files {
        let read = Pipeline::read(file).map_err(PipelineError::from);
        let checked =
            read.and_then(|pipeline| check_sql(&pipeline).map_err(|error| pipeline.with_file(error)));
        // What several files share is told once.
        let found = checked.err().map(|error| failed(subject, error));
        let new = found.filter(|finding| !findings.contains(finding));
        findings.extend(new);
    }
    if findings.is_empty() {
        let files = count(files.len() as u64, "file");
        findings.push(good(subject, format!("{files} of {} can be run", folder.display())));
    }
    findings
}

/// Key, scope, plan and clock, by one answer of `/v1/me`; and the requests it took.
async fn account(common: &Common, world: &World, lake: &Lake) -> (Vec<Finding>, u64) {
    let key = match api_key(world) {
        Ok(key) => key,
        Err(error) => return (vec![note("key", format!("not looked at: {error}"))], 0),
    };
    let Some(base_url) = &common.base_url else {
        return (
            vec![note("key", "not looked at: no address of the API in --base-url or SUNLAKE_BASE_URL")],
            0,
        );
    };
    let access = match Access::of_flag(base_url, key) {
        Ok(access) => access,
        Err(error) => return (vec![failed("key", error)], 0),
    };
    let key = access.key.clone();
    let (_switch, stop) = StopSwitch::new();
    let ledger = Ledger::of(&state_dir(common, world, lake), base_url, &key);
    let bounds = Bounds { max_requests: Some(1), ..Bounds::default() };
    let mut config = ClientConfig::new(base_url);
    config.retry = RetryPolicy { attempts: 1, ..RetryPolicy::default() };
    let client = match Client::new(config, key, Budget::new(ledger, world.now, bounds, stop), world.now) {
        Ok(client) => client,
        Err(error) => return (vec![failed("key", access.told(error))], 0),
    };
    let mut findings = match client.account().await {
        Ok(account) => of_account(&account),
        Err(error) => vec![failed("key", access.told(error))],
    };
    findings.extend(client.skew().map(of_skew));
    (findings, client.budget().sent())
}

fn of_account(account: &Account) -> Vec<Finding> {
    let (id, caps, left) = (&account.id, &account.limits, &account.remaining);
    let key = match account.scopes.iter().any(|scope| scope == "data") {
        true => good("key", format!("{id} is accepted, with scope data")),
        false => {
            let scopes = account.scopes.join(", ");
            bad("key", exit::KEY_REFUSED, format!("{id} is accepted, but has no scope data; it has {scopes}"))
        }
    };
    let name = match Plan::from_caps(caps.per_minute, caps.per_day, caps.per_month) {
        Some(plan) => format!("{plan:?}").to_lowercase(),
        None => "one that no table knows".to_owned(),
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

/// How far this clock is ahead of the API's.
fn of_skew(skew: SignedDuration) -> Finding {
    let seconds = skew.as_secs();
    let told = match seconds {
        0.. => format!("{seconds} s ahead of the API's"),
        _ => format!("{} s behind the API's", -seconds),
    };
    match skew.abs() {
        far if far >= BAD_SKEW => bad("clock", exit::SETTINGS, told),
        far if far >= NOTABLE_SKEW => note("clock", told),
        _ => good("clock", told),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::account::{AccountLimits, Remaining};

    #[test]
    fn the_zone_is_judged_by_winter_and_summer() {
        assert_eq!(zone(day_start).verdict, Verdict::Good);
        let utc = |day: Date| day.to_zoned(jiff::tz::TimeZone::UTC).expect("a day").timestamp();
        assert_eq!((zone(utc).verdict, zone(utc).exit_code), (Verdict::Bad, exit::BUG));
    }

    #[test]
    fn a_clock_is_judged_by_how_far_it_is_off() {
        let verdict = |seconds| of_skew(SignedDuration::from_secs(seconds)).verdict;
        let judged = [0, 29, -31, 299, 301, -86_400].map(verdict);
        use Verdict::{Bad, Good, Note};
        assert_eq!(judged, [Good, Good, Note, Note, Bad, Bad]);
        assert_eq!(of_skew(SignedDuration::from_secs(-40)).what, "40 s behind the API's");
    }

    #[test]
    fn a_key_without_the_scope_is_bad_and_the_first_bad_thing_gives_the_code() {
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
        findings.insert(0, note("lock", "held"));
        assert_eq!(worst(&findings), exit::STORAGE);
        assert!(words(&findings, 1).starts_with("note  lock       held\nBAD   disk       full\n"));
    }
}
