//! Rows come and go while they are read: what was there all the time is landed, once.

use crate::support::command::{Running, Sunlake};
use crate::support::http::send;
use crate::support::lake::{self, Cells, point};
use crate::support::proxy::{Proxy, Reply, with_a_row_more};
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer, Plan, STARTER};
use crate::support::source::{self, Source};
use crate::support::{PATIENCE, wait_for};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The day the first of the served snapshots was made as.
const TODAY: &str = "2026-01-12";

type Rows = BTreeMap<i64, Cells>;

/// Snapshots of the moving source, oldest first.
fn versions() -> Vec<PathBuf> {
    let snapshots = source::moving().lake.join("snapshots");
    lake::names(&snapshots).iter().map(|number| snapshots.join(number)).collect()
}

/// The shipped backfill without its aggregates.
fn backfill(scratch: &Scratch) -> PathBuf {
    scratch.file(
        "backfill.toml",
        "name = \"backfill\"\n[extract]\ndays = \"window\"\n[aggregates]\nenabled = false\n",
    )
}

/// Rows that the API lists under no type, of the days of a plan's window.
fn listed(lake: &Path, plan: Plan) -> Rows {
    let today: jiff::civil::Date = TODAY.parse().expect("a day");
    let first = today.checked_sub(jiff::Span::new().days(plan.window_days - 1)).expect("a day").to_string();
    let is = |cells: &Cells, column: &str, value: &str| cells[column].as_deref() == Some(value);
    let mut rows = lake::filings(lake);
    rows.retain(|_, cells| {
        let day = cells["filed_date"].as_deref().expect("a day");
        let is_active = is(cells, "status", "active") && is(cells, "listed", "true");
        is_active && !is(cells, "entity_type", "fictitious") && (first.as_str()..=TODAY).contains(&day)
    });
    rows
}

/// Days that a lake calls incomplete.
fn incomplete(lake: &Path) -> BTreeSet<String> {
    let mut rows = lake::rows(lake, "coverage", &[]);
    rows.retain(|row| row["complete"].as_deref() == Some("false"));
    rows.into_iter().map(|row| row["filed_date"].clone().expect("a day")).collect()
}

/// A proxy before the server that switches it to the next snapshot after every N requests.
fn moving(server: &ApiServer, versions: Vec<PathBuf>, every: usize) -> Proxy {
    let (address, authorization) = (server.address, format!("Bearer {}", server.key));
    let total = move || {
        let reported = send(address, "GET", "/v1/fl/stats", &[("Authorization", &authorization)]);
        reported.expect("an answer").json()["data"]["businesses_total"].as_u64().expect("a total")
    };
    let link = server.scratch.path("served").join("current");
    let mut next = versions.into_iter().skip(1);
    Proxy::scripted(address, move |request| {
        if request.number % every == 0
            && let Some(version) = next.next()
        {
            let before = total();
            point(&link, &version);
            wait_for("the next snapshot", PATIENCE, || (total() != before).then_some(()));
        }
        Reply::Forward
    })
}

/// Checks that every row listed in all states is in the lake, on complete days, and that no other row is.
fn assert_true_to(states: &[Rows], landed: &Rows, incomplete: &BTreeSet<String>) {
    for (id, cells) in &states[0] {
        let is_whole = !incomplete.contains(cells["filed_date"].as_deref().unwrap_or_default());
        let stayed = states.iter().all(|state| state.contains_key(id));
        assert!(!stayed || !is_whole || landed.contains_key(id), "{id} is missing: {cells:?}");
    }
    for id in landed.keys() {
        assert!(states.iter().any(|state| state.contains_key(id)), "{id} was never listed");
    }
}

/// What a source lists under each of its snapshots; it shows the oldest at the end.
fn states(shown: &Source, versions: &[PathBuf], plan: Plan) -> Vec<Rows> {
    std::fs::create_dir(&shown.lake).expect("a folder");
    let look = |version: &PathBuf| {
        point(&shown.lake.join("current"), version);
        listed(&shown.lake, plan)
    };
    let states: Vec<Rows> = versions.iter().map(look).collect();
    for pair in states.windows(2) {
        let without = |all: &Rows, of: &Rows| all.keys().filter(|id| !of.contains_key(id)).count();
        let (came, went) = (without(&pair[1], &pair[0]), without(&pair[0], &pair[1]));
        assert!(came > 20 && went > 0, "{came} rows came and {went} went: too few to test anything");
    }
    point(&shown.lake.join("current"), &versions[0]);
    states
}

/// Reads a window under a plan's limits while the API advances, after every few requests, to what the next day's run found.
fn read_while_it_moves(plan: Plan, every: usize) {
    let (versions, scratch) = (versions(), Scratch::new());
    let shown = Source { lake: scratch.path("shown"), today: TODAY };
    let states = states(&shown, &versions, plan);
    let server = ApiServer::generous(&shown, plan);
    let proxy = moving(&server, versions, every);
    let run = || {
        Sunlake::run(&backfill(&scratch), &scratch.lake()).asking(&proxy.url(), TODAY, &server.key).finish()
    };
    let summary = run().json();
    let sent = proxy.log().len();
    assert!(sent > every * (states.len() - 1), "{sent} requests: it did not move often enough");
    let not_whole = incomplete(&scratch.lake());
    assert!(not_whole.len() <= 15, "{not_whole:?} were left incomplete: {summary}");
    assert_true_to(&states, &listed(&scratch.lake(), plan), &not_whole);
    run().complete();
    let found: BTreeSet<i64> = listed(&scratch.lake(), plan).into_keys().collect();
    let expected: BTreeSet<i64> = states[states.len() - 1].keys().copied().collect();
    assert!(found == expected, "a morning later: {} rows, {} expected", found.len(), expected.len());
}

#[test]
fn rows_that_stay_are_landed_while_others_move_under_starter_limits() {
    read_while_it_moves(STARTER, 40);
}

#[test]
fn rows_that_stay_are_landed_while_others_move_under_agency_limits() {
    read_while_it_moves(AGENCY, 16);
}

#[test]
fn rows_that_stay_are_kept_while_others_move_and_days_are_brought_up_to_date() {
    let (versions, scratch) = (versions(), Scratch::new());
    let shown = Source { lake: scratch.path("shown"), today: TODAY };
    let states = states(&shown, &versions, STARTER);
    let server = ApiServer::generous(&shown, STARTER);
    let run = |address: &str| {
        Sunlake::run(&backfill(&scratch), &scratch.lake()).asking(address, TODAY, &server.key).finish()
    };
    run(&server.url()).complete();
    let rest = versions[1..].to_vec();
    let total = || server.get("/v1/fl/stats").json()["data"]["businesses_total"].as_u64();
    let before = total();
    point(&server.scratch.path("served").join("current"), &rest[0]);
    wait_for("the next snapshot", PATIENCE, || (total() != before).then_some(()));
    let proxy = moving(&server, rest, 6);
    let summary = run(&proxy.url()).json();
    assert!(proxy.log().len() > 24, "it did not move often enough: {summary}");
    let not_whole = incomplete(&scratch.lake());
    assert!(not_whole.len() <= 15, "{not_whole:?} were left incomplete: {summary}");
    assert_true_to(&states, &listed(&scratch.lake(), STARTER), &not_whole);
}

/// Whether it has been done.
static SWAPPED: AtomicBool = AtomicBool::new(false);

/// The first page of two days as sent when its first row was passed over, and the older day got a row during the read: no
fn with_a_row_for_another(body: String) -> String {
    let mut page: Value = serde_json::from_str(&body).expect("a page");
    let rows = page["data"].as_array_mut().expect("rows");
    let gone = rows.remove(0);
    let mut came = rows.last().expect("a row").clone();
    came["id"] = "1".into();
    if came["filed_date"] == gone["filed_date"] || SWAPPED.swap(true, Ordering::SeqCst) {
        return body;
    }
    rows.push(came);
    page.to_string()
}

#[test]
fn a_row_that_took_the_place_of_another_between_pages_is_found_by_the_counts_of_their_days() {
    let (source, scratch) = (source::small(), Scratch::new());
    let server = ApiServer::generous(source, AGENCY);
    let proxy = Proxy::scripted(server.address, |request| {
        let later = ["limit=100&offset=100", "limit=100&offset=200", "limit=100&offset=300"];
        match later.iter().any(|page| request.target.contains(page)) && !request.target.contains("type=") {
            true => Reply::Change(with_a_row_for_another),
            false => Reply::Forward,
        }
    });
    Sunlake::run(&backfill(&scratch), &scratch.lake())
        .asking(&proxy.url(), source.today, &server.key)
        .finish()
        .complete();
    assert!(SWAPPED.load(Ordering::SeqCst), "a page holds rows of two days: {:#?}", proxy.targets());
    let of_a_day = |target: &&String| {
        // Requests for one row of a day beyond the window measure the plan.
        let is_in_window = !target.contains("=2025-");
        target.contains("limit=1&") && is_in_window && !target.contains("type=")
    };
    let looked_at = proxy.targets().iter().filter(of_a_day).count();
    assert_eq!(looked_at, 2, "the two days' totals are asked for: {:#?}", proxy.targets());
    lake::assert_same(&lake::filings(&scratch.lake()), &lake::filings(&source.lake), "after the swap");
}

/// Whether a total has been changed.
static MORE: AtomicBool = AtomicBool::new(false);

/// The page with a total as if a row had come since the page before; only the first time.
fn with_one_row_more(body: String) -> String {
    if MORE.swap(true, Ordering::SeqCst) { body } else { with_a_row_more(body) }
}

#[test]
fn days_whose_total_changed_between_the_pages_of_their_newest_rows_are_read_again_by_the_next_run() {
    let (versions, scratch) = (versions(), Scratch::new());
    let shown = Source { lake: scratch.path("shown"), today: TODAY };
    std::fs::create_dir(&shown.lake).expect("a folder");
    point(&shown.lake.join("current"), &versions[0]);
    let server = ApiServer::generous(&shown, STARTER);
    let plan = "[plan]\nrows_per_call = 10\nmax_offset = 1000\nwindow_days = 30\n[extract]\ndays = 10\n";
    let pipeline = scratch.file("p.toml", &format!("name = \"p\"\n{plan}[aggregates]\nenabled = false\n"));
    let run = |address: &str| {
        Sunlake::run(&pipeline, &scratch.lake()).asking(address, TODAY, &server.key).finish().exits(0)
    };
    run(&server.url());
    let total = || server.get("/v1/fl/stats").json()["data"]["businesses_total"].as_u64();
    let before = total();
    point(&server.scratch.path("served").join("current"), &versions[1]);
    wait_for("the next snapshot", PATIENCE, || (total() != before).then_some(()));
    let is_read = |target: &str, page: &str| target.contains(page) && !target.contains("type=");
    let proxy = Proxy::scripted(server.address, move |request| {
        match is_read(&request.target, "limit=10&offset=10") {
            true => Reply::Change(with_one_row_more),
            false => Reply::Forward,
        }
    });
    run(&proxy.url());
    assert!(MORE.load(Ordering::SeqCst), "new rows fill a page: {:#?}", proxy.targets());
    for (run_number, is_again) in [(3, true), (4, false)] {
        let before = proxy.targets().len();
        run(&proxy.url());
        let again = proxy.targets()[before..].iter().any(|target| is_read(target, "limit=10&offset=0"));
        assert_eq!(again, is_again, "run {run_number}: {:#?}", &proxy.targets()[before..]);
    }
}

/// Whether a total of a day that settles has been changed.
static SETTLED: AtomicBool = AtomicBool::new(false);

/// The page with a total as if a row had come.
fn with_another_total(body: String) -> String {
    SETTLED.store(true, Ordering::SeqCst);
    with_a_row_more(body)
}

#[test]
fn a_day_that_changed_before_it_was_settled_is_incomplete_when_requests_end() {
    let (source, scratch) = (source::small(), Scratch::new());
    let server = ApiServer::generous(source, STARTER);
    let plan = "[plan]\nrows_per_call = 10\nmax_offset = 1000\nwindow_days = 30\n";
    let pipeline = scratch.file("p.toml", &format!("name = \"p\"\n{plan}[aggregates]\nenabled = false\n"));
    let run = |url: &str, today: &str, key: &str| {
        Sunlake::run(&pipeline, &scratch.lake()).asking(url, today, key).finish()
    };
    run(&server.url(), source.today, &server.key).complete();
    // The days are 15 to 28 days old now, and no row came since.
    let today = "2026-04-04";
    let server = server.again(today, Running::kill);
    let proxy = Proxy::scripted(server.address, |request| {
        // No other listing has a second page.
        let is_settling = request.target.contains("limit=10&offset=10") && !request.target.contains("type=");
        match SETTLED.load(Ordering::SeqCst) {
            true => Reply::error(429, vec![("Retry-After", "86400".to_owned())]),
            false if is_settling => Reply::Change(with_another_total),
            false => Reply::Forward,
        }
    });
    let done = run(&proxy.url(), today, &server.key).exits(5);
    assert!(SETTLED.load(Ordering::SeqCst), "a day settles: {:#?}{}", proxy.targets(), done.shown());
    let mut days = incomplete(&scratch.lake());
    days.retain(|day| day.as_str() <= source.today);
    assert!(!days.is_empty(), "its total is known to differ: {:#?}{}", proxy.targets(), done.shown());
}

/// Whether the first counts have been changed.
static COUNTED: AtomicBool = AtomicBool::new(false);

/// The first counts as they are when one row of the newest day with rows leaves before the day is read.
fn with_a_row_that_left(body: String) -> String {
    let mut answer: Value = serde_json::from_str(&body).expect("counts");
    let days = answer["data"].as_array_mut().expect("days");
    let rows = |day: &Value| day["count"].as_u64().expect("a count");
    let day = days.iter_mut().find(|day| rows(day) > 0).expect("a day with rows");
    day["count"] = (rows(day) + 1).into();
    if COUNTED.swap(true, Ordering::SeqCst) { body } else { answer.to_string() }
}

#[test]
fn a_count_older_than_the_reading_is_not_remembered_as_its_own() {
    let (source, scratch) = (source::small(), Scratch::new());
    let server = ApiServer::generous(source, AGENCY);
    let proxy = Proxy::scripted(server.address, |request| match request.target.contains("/daily?") {
        true => Reply::Change(with_a_row_that_left),
        false => Reply::Forward,
    });
    let run = || {
        Sunlake::run(&backfill(&scratch), &scratch.lake())
            .asking(&proxy.url(), source.today, &server.key)
            .finish()
            .exits(0)
    };
    run();
    lake::assert_same(&lake::filings(&scratch.lake()), &lake::filings(&source.lake), "read");
    let before = proxy.targets().len();
    run();
    let untyped = |target: &&String| target.contains("filed_from") && !target.contains("type=");
    let again: Vec<String> = proxy.targets()[before..].iter().filter(untyped).cloned().collect();
    // It is refused, so the window of an account that no table has is not longer than before.
    let beyond = "/v1/fl/businesses?filed_from=2025-12-20&filed_to=2025-12-20&limit=1&offset=0";
    assert_eq!(again, [beyond], "no day has changed");
}

/// The last row of every second day as listed, by its id, with the day before.
fn rows_of_two_days(server: &ApiServer) -> BTreeMap<String, String> {
    let authorization = format!("Bearer {}", server.key);
    let mut last = BTreeMap::new();
    for offset in (0..1000).step_by(100) {
        let target =
            format!("/v1/fl/businesses?filed_from=2026-03-07&filed_to=2026-03-20&limit=100&offset={offset}");
        let page = send(server.address, "GET", &target, &[("Authorization", &authorization)])
            .expect("an answer")
            .json();
        for row in page["data"].as_array().expect("rows") {
            let day: jiff::civil::Date = row["filed_date"].as_str().expect("a date").parse().expect("a day");
            if day.day() % 2 == 0 {
                last.insert(day, row["id"].as_str().expect("an id").to_owned());
            }
        }
    }
    last.into_iter().map(|(day, id)| (id, day.yesterday().expect("a day").to_string())).collect()
}

/// What `rows_of_two_days` gave.
static MOVED: OnceLock<BTreeMap<String, String>> = OnceLock::new();

/// The answer with these rows, or the counts of their days, as they were before the rows changed their days.
fn before_their_days_changed(body: String) -> String {
    let moved = MOVED.get().expect("the rows");
    let mut answer: Value = serde_json::from_str(&body).expect("an answer");
    for item in answer["data"].as_array_mut().expect("items") {
        if let Some(day) = item["id"].as_str().and_then(|id| moved.get(id)) {
            item["filed_date"] = day.as_str().into();
        }
        if let Some(count) = item["count"].as_i64() {
            let is_older = moved.values().any(|day| item["date"] == day.as_str());
            item["count"] = (count + if is_older { 1 } else { -1 }).into();
        }
    }
    answer.to_string()
}

#[test]
fn days_that_lack_a_row_are_found_although_their_neighbours_have_one_too_many() {
    const FORTNIGHT: Plan = Plan { name: "agency", rows_per_call: 100, max_offset: 2000, window_days: 14 };
    let (source, scratch) = (source::small(), Scratch::new());
    let server = ApiServer::generous(source, FORTNIGHT);
    assert_eq!(MOVED.get_or_init(|| rows_of_two_days(&server)).len(), 7, "pairs of days");
    let mut counted = 0;
    let proxy = Proxy::scripted(server.address, move |request| {
        counted += usize::from(request.target.contains("/daily?"));
        match (request.target.contains("/daily?") || request.target.contains("limit=100&")) && counted < 2 {
            true => Reply::Change(before_their_days_changed),
            false => Reply::Forward,
        }
    });
    let plan = "[plan]\nrows_per_call = 100\nmax_offset = 2000\nwindow_days = 14\n";
    let pipeline = scratch.file("p.toml", &format!("name = \"p\"\n{plan}[aggregates]\nenabled = false\n"));
    Sunlake::run(&pipeline, &scratch.lake())
        .asking(&proxy.url(), source.today, &server.key)
        .finish()
        .complete();
    lake::assert_same(
        &lake::filings(&scratch.lake()),
        &lake::filings(&source.lake),
        "after their days changed",
    );
}
