//! `status` and `report`: the contents of the lake, on one screen.

use crate::cli::context::open_lake::{
    existing_state_dir, no_snapshot, open_lake, require_lake, without_snapshot,
};
use crate::cli::exit::CommandError;
use crate::cli::output::words::{complete_days, count, noun, number, of_these_missing, open_days, prefixes};
use crate::cli::session::Session;
use crate::client::AccountUsed;
use crate::contract::eastern::{instant, span_days};
use crate::contract::hint::MAKE_SNAPSHOT;
use crate::export::catalog::write_catalog;
use crate::lake::{Lake, RunRecord};
use crate::pipeline::maintain::status::{LakeStatus, lake_status};
use crate::pipeline::publish::report::write_report;
use jiff::civil::Date;
use std::fmt::{self, Write};
use std::path::Path;

/// Incomplete days that are listed.
const LISTED_DAYS: usize = 5;
/// Runs that are listed.
const LISTED_RUNS: usize = 5;

pub(crate) fn status(session: &Session<'_>, tables: bool) -> Result<u8, CommandError> {
    let lake = open_lake(session)?;
    require_lake(&lake)?;
    let status = lake_status(&lake, &existing_state_dir(session, &lake), session.now())?;
    session.report(&status, |text| status_text(text, &status, &lake, session, tables))
}

pub(crate) fn report(session: &Session<'_>) -> Result<u8, CommandError> {
    let lake = open_lake(session)?;
    let Some(commit) = lake.current()? else {
        return Err(without_snapshot(&lake));
    };
    let path = write_report(&lake, &commit, None)?.display().to_string();
    let catalog = write_catalog(&lake, &commit)?;
    let value = serde_json::json!({ "snapshot": commit.snapshot, "report": path, "catalog": catalog });
    session.report(&value, |text| writeln!(text, "{path}"))
}

/// The state of a lake; with the rows of each table where they are asked for.
fn status_text(
    text: &mut String,
    status: &LakeStatus,
    lake: &Lake,
    session: &Session<'_>,
    tables: bool,
) -> fmt::Result {
    match status.snapshots.first() {
        None if status.runs_now.is_some() => writeln!(text, "{}; a run makes it now", no_snapshot(lake))?,
        None => writeln!(text, "{}; {MAKE_SNAPSHOT}", no_snapshot(lake))?,
        Some(newest) => {
            let (snapshot, at) = (newest.snapshot, instant(newest.committed_at));
            let kept = status.snapshots.len();
            writeln!(text, "lake       {lake}: snapshot {snapshot} of {at}, {kept} kept")?;
            newest_day(text, status, session.today)?;
            coverage(text, status)?;
            register(text, status)?;
        }
    }
    // Addresses that were only tried have no requests this month.
    let used = status.budgets.iter().filter(|account| account.used.month > 0);
    used.into_iter().try_for_each(|account| quota(text, account))?;
    runs(text, status)?;
    for (table, rows) in status.rows.iter().filter(|_| tables) {
        writeln!(text, "  {table:<28} {:>12} {}", number(*rows), noun(*rows, "row"))?;
    }
    match next(status, session) {
        Some(next) => writeln!(text, "next       {next}"),
        None => Ok(()),
    }
}

fn newest_day(text: &mut String, status: &LakeStatus, today: Date) -> fmt::Result {
    let Some(day) = status.newest_complete else { return Ok(()) };
    let age = match span_days(day, today).saturating_sub(1) {
        0 => "today".to_owned(),
        1 => "yesterday".to_owned(),
        days => format!("{} old", count(days.into(), "day")),
    };
    writeln!(text, "newest     complete day {day}, {age}")
}

fn coverage(text: &mut String, status: &LakeStatus) -> fmt::Result {
    if status.days_wanted == 0 {
        return Ok(());
    }
    let days = &status.calendar;
    let (complete, wanted) = (days.complete.len() as u64, days.wanted.len() as u64);
    let listings = days.listings.iter().map(String::as_str);
    writeln!(text, "coverage   {}", complete_days(complete, wanted, listings))?;
    let open = status.coverage.iter().filter(|day| !day.complete || day.landed != day.expected);
    let rows = |rows: i64| rows.unsigned_abs();
    let open = open.map(|day| (day.day, &*day.entity_type, rows(day.landed), rows(day.expected)));
    open_days(text, &days.unread, &open.collect::<Vec<_>>(), LISTED_DAYS)
}

fn register(text: &mut String, status: &LakeStatus) -> fmt::Result {
    let Some(register) = &status.register else { return Ok(()) };
    writeln!(
        text,
        "registry   {} read, {}, the oldest as of {}; {} businesses by the API's count{}",
        prefixes(register.starts),
        count(register.rows, "row"),
        register.oldest_read.map_or("never".to_owned(), |day| day.to_string()),
        number(register.businesses_total),
        of_these_missing(register.missing)
    )
}

/// What an account has left, by this host's ledger: no request is sent for it.
fn quota(text: &mut String, account: &AccountUsed) -> fmt::Result {
    let used = account.used;
    match account.limits {
        Some(limits) => {
            let left = |limit: u32, used: u32| number(limit.saturating_sub(used).into());
            let (today, month) = (left(limits.per_day, used.day), left(limits.per_month, used.month));
            write!(text, "quota      {today} requests left today, {month} this month")?;
        }
        None => {
            let (today, month) = (number(used.day.into()), number(used.month.into()));
            write!(text, "quota      {today} requests used today, {month} this month")?;
        }
    }
    writeln!(
        text,
        "; {}, {} {}",
        account.service,
        noun(account.keys.len() as u64, "key"),
        account.keys.join(", ")
    )
}

fn runs(text: &mut String, status: &LakeStatus) -> fmt::Result {
    for (at, run) in status.runs.iter().take(LISTED_RUNS).enumerate() {
        let (head, process) = if at == 0 { ("runs", &status.runs_now) } else { ("", &None) };
        let now =
            || process.as_ref().map_or("unfinished".to_owned(), |process| format!("running: {process}"));
        let ended = run.finished.clone().unwrap_or_else(now);
        writeln!(text, "{head:<10} {} as of {}: {ended}", run.run_id, run.today)?;
    }
    Ok(())
}

/// What to do next, and why.
fn next(status: &LakeStatus, session: &Session<'_>) -> Option<String> {
    let newest = status.runs.iter().find(|run| run.is_of_pipeline)?;
    let command = |pipeline: &str, day| session.run_command(Path::new(pipeline), day);
    let run = command(&newest.pipeline_file, newest.today);
    let of_days = status.runs.iter().find(|run| run.is_of_pipeline && run.reads_days);
    let read_days = command(&of_days.unwrap_or(newest).pipeline_file, newest.today.max(session.today));
    // What an import lacks comes with later files.
    let is_behind = of_days.is_some() && status.days_complete < status.days_wanted;
    let is_old = status.newest_complete.is_some_and(|day| day < session.today);
    Some(match &newest.finished {
        None if status.runs_now.is_some() => return None,
        None => format!("resume the unfinished run: {run}"),
        Some(ended) if ended == RunRecord::HELD => {
            format!(
                "look at the snapshot that waits for review: sunlake snapshot list{}",
                session.lake_flag()
            )
        }
        Some(_) if is_behind => format!("read the days that are not complete: {read_days}"),
        Some(_) if is_old => format!("read the newest days: {read_days}"),
        Some(_) => return None,
    })
}
