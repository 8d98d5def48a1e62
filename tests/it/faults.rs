//! What the network, the API and the records do to a run, and what it does then.

use crate::support::command::{Sunlake, state_next_to, sunlake};
use crate::support::proxy::{Proxy, Reply, Request};
use crate::support::scratch::Scratch;
use crate::support::source;
use crate::support::weather::Weather;
use crate::support::{http, lake};
use serde_json::Value;
use std::net::TcpListener;
use std::time::{Duration, Instant};

fn html(status: u16) -> Reply {
    let page = "<html><body><h1>Bad gateway</h1></body></html>".to_owned();
    Reply::Answer(status, vec![("Content-Type", "text/html".to_owned())], page)
}

/// Seconds from the answer of one request until the next one comes.
fn pause_after(proxy: &Proxy, number: usize) -> f64 {
    let log = proxy.log();
    log[number].at.duration_since(log[number - 1].at).as_secs_f64()
}

#[test]
fn every_kind_of_passing_fault_is_retried_and_the_lake_is_complete() {
    let weather = Weather::new(|request| match request.number {
        1 | 14 => Reply::error(503, Vec::new()),
        4 => Reply::BreakOff,
        7 => Reply::Reset,
        9 => Reply::Answer(200, Vec::new(), "{\"data\": [{\"id\": ".to_owned()),
        11 => html(502),
        16 => Reply::Slow(Duration::from_millis(1_500)),
        18 => Reply::error(500, Vec::new()),
        20 => Reply::error(504, Vec::new()),
        22 => Reply::Answer(200, Vec::new(), "\u{0}\u{1}garbage".to_owned()),
        24 => html(200),
        _ => Reply::Forward,
    });
    let summary = weather.run("").complete();
    weather.assert_complete();
    assert_eq!(summary["requests"]["retried"], 10, "{summary}");
    assert_eq!(summary["requests"]["sent"], weather.proxy.log().len(), "{summary}");
}

#[test]
fn a_service_that_stays_down_ends_the_run_after_a_fixed_number_of_attempts() {
    let weather = Weather::new(|request| match request.number {
        1..=8 => Reply::Forward,
        _ => Reply::error(503, Vec::new()),
    });
    let done = weather.run("[budget]\nattempts = 3").exits(6).says("503").says("3 attempts");
    assert_eq!(weather.proxy.log().len(), 11, "three attempts and no more{}", done.shown());
    assert_eq!(done.json()["exit_code"], 6);
    assert_eq!(done.json()["requests"]["sent"], 11, "{}", done.shown());
    assert!(done.json()["run_id"].as_str().is_some_and(|id| id.contains("Z-backfill-")), "{}", done.shown());
    weather.assert_nothing_published();
    weather.proxy.follow(|_| Reply::Forward);
    weather.run("[budget]\nattempts = 3").complete();
    weather.assert_complete();
    let targets = weather.proxy.pages();
    let distinct: std::collections::BTreeSet<_> = targets.iter().collect();
    assert!(targets.len() <= distinct.len() + 3, "what had been answered was not asked again: {targets:#?}");
}

#[test]
fn a_refusal_whose_cause_is_gone_does_not_end_the_next_run_too() {
    for (status, code) in [(403, 4), (404, 3)] {
        for number in [3, 15] {
            let weather = Weather::new(move |request| match request.number == number {
                true => Reply::error(status, Vec::new()),
                false => Reply::Forward,
            });
            weather.run("").exits(code).says(&status.to_string());
            weather.assert_nothing_published();
            weather.run("").complete();
            weather.assert_complete();
            let targets = weather.proxy.pages();
            let distinct: std::collections::BTreeSet<_> = targets.iter().collect();
            assert!(
                targets.len() <= distinct.len() + 2,
                "only what was refused is asked again: {targets:#?}"
            );
        }
    }
}

/// A body of JSON with a change.
fn changed(body: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut value = serde_json::from_str(body).expect("JSON");
    change(&mut value);
    value.to_string()
}

fn without_its_last_row(body: String) -> String {
    changed(&body, |page| drop(page["data"].as_array_mut().map(Vec::pop)))
}

#[test]
fn a_page_that_holds_fewer_rows_than_its_total_leaves_is_asked_for_anew_by_this_run_and_the_next() {
    let mut spoiled = 0;
    let weather = Weather::new(move |request| match is_first_page(request) && spoiled == 0 {
        true => {
            spoiled += 1;
            Reply::Change(without_its_last_row)
        }
        false => Reply::Forward,
    });
    weather.run("").complete();
    weather.assert_complete();

    let weather = Weather::new(move |request| match is_first_page(request) {
        true => Reply::Change(without_its_last_row),
        false => Reply::Forward,
    });
    weather.run("").exits(6).says("rows, but a total of");
    weather.assert_nothing_published();
    weather.proxy.follow(|_| Reply::Forward);
    weather.run("").complete();
    weather.assert_complete();
}

fn is_first_page(request: &Request) -> bool {
    request.target.contains("offset=0") && request.target.contains("businesses?")
}

fn with_a_nameless_row(body: String) -> String {
    changed(&body, |page| {
        if let Some(row) = page["data"].get_mut(0) {
            row["name"] = Value::Null;
        }
    })
}

fn with_a_row_of_another_day(body: String) -> String {
    changed(&body, |page| {
        let mut rows = page["data"].as_array_mut().into_iter().flatten();
        if let Some(row) = rows.find(|row| row["filed_date"] == "2026-03-12") {
            row["filed_date"] = "2026-01-02".into();
        }
    })
}

#[test]
fn a_row_of_another_day_is_named_and_its_day_is_not_complete() {
    let is_listing = |target: &str| target.contains("filed_from=") || target.contains("/filings/daily/");
    let weather = Weather::new(move |request| match is_listing(&request.target) {
        true => Reply::Change(with_a_row_of_another_day),
        false => Reply::Forward,
    });
    let done = weather.run("[extract]\ndays = 14").exits(5);
    let summary = done.json();
    let incomplete = summary["coverage"]["incomplete"].to_string();
    assert!(incomplete.contains("2026-03-12"), "{summary}");
    done.says("lists business ").says(" of 2026-01-02: the days asked for").says("report it to the service");
}

#[test]
fn a_bad_record_is_quarantined_once_even_when_its_run_resumes_often() {
    let script = |fictitious: fn() -> Reply| {
        move |request: &Request| match request.target.contains("type=fictitious") {
            true => fictitious(),
            false if request.target.contains("offset=0") => Reply::Change(with_a_nameless_row),
            false => Reply::Forward,
        }
    };
    let weather = Weather::new(script(|| Reply::Hold));
    let lines = "[extract]\ndays = 14\n[plan]\nrows_per_call = 100\nmax_offset = 2000\nwindow_days = 90";
    for _ in 0..2 {
        let run = weather.command(lines).start();
        let is_held = |request: &Request| request.target.contains("type=fictitious") && !request.answered;
        crate::support::wait_for("the second listing", Duration::from_secs(20), || {
            weather.proxy.log().last().filter(|request| is_held(request)).map(|_| ())
        });
        assert_eq!(lake::quarantined(&weather.scratch.lake()).len(), 1, "the first listing has landed");
        run.kill();
    }
    weather.proxy.follow(script(|| Reply::Forward));
    weather.proxy.release();
    let summary = weather.run(lines).exits(5).json();
    assert_eq!(summary["quarantined"], 1, "{summary}");
    assert_eq!(lake::quarantined(&weather.scratch.lake()).len(), 1);
}

#[test]
fn a_run_as_of_a_day_before_the_lake_s_own_is_refused_and_changes_nothing() {
    let weather = Weather::new(|_| Reply::Forward);
    let lines = "[extract]\ndays = 14";
    weather.run(lines).complete();
    let asked = weather.proxy.log().len();
    weather.command_of("2026-03-19", lines).finish().exits(3).says("--today").says("2026-03-20");
    assert_eq!((weather.proxy.log().len(), lake::commits(&weather.scratch.lake()).len()), (asked, 1));
}

#[test]
fn a_run_of_an_earlier_day_that_fails_its_checks_for_good_does_not_keep_later_days_from_being_read() {
    let weather = Weather::new(move |request| match is_first_page(request) {
        true => Reply::Change(with_a_nameless_row),
        false => Reply::Forward,
    });
    let lines = "[extract]\ndays = 14\n[plan]\nrows_per_call = 100\nmax_offset = 2000\nwindow_days = 90\n\
                 [checks]\nquarantine = \"fail\"";
    let run = |today: &str| weather.command_of(today, lines).finish();
    let day_before = run("2026-03-19").exits(7).says("quarantine");
    weather.proxy.follow(|_| Reply::Forward);
    // Its pages are archived unchanged.
    let asked = weather.proxy.pages().len();
    run("2026-03-19").exits(7).says("quarantine");
    assert_eq!(weather.proxy.pages().len(), asked, "no page is paid for twice");
    weather.assert_nothing_published();
    let today = run(weather.source.today).says("given up").complete();
    assert_ne!(today["run_id"], day_before.json()["run_id"]);
    weather.assert_complete();
}

#[test]
fn sql_that_cannot_run_is_reported_before_the_first_request() {
    let weather = Weather::new(|_| Reply::Forward);
    std::fs::create_dir(weather.scratch.path("aggregates")).expect("a folder");
    weather.scratch.file("aggregates/mine.sql", "SELECT kounty FROM filings");
    let pipeline = weather.scratch.file("backfill.toml", "name = \"backfill\"\n");
    let run = Sunlake::run(&pipeline, &weather.scratch.lake());
    weather.asking(run, weather.source.today).finish().exits(3).says("mine.sql");
    weather.scratch.file("aggregates/mine.sql", "SELECT county FROM filings WHERE filed_date = 20260301");
    let run = Sunlake::run(&pipeline, &weather.scratch.lake());
    weather.asking(run, weather.source.today).finish().exits(3).says("DATE '2026-03-01'");
    assert!(weather.proxy.log().is_empty(), "nothing was asked for");
}

#[test]
fn answers_outside_the_contract_end_the_run_after_retries() {
    for body in ["{\"data\": {}}", "null", "<html></html>", "{\"data\": []}"] {
        let weather = Weather::new(move |request| match request.target.starts_with("/v1/fl/businesses") {
            true => Reply::Answer(200, Vec::new(), body.to_owned()),
            false => Reply::Forward,
        });
        let done = weather.run("[budget]\nattempts = 2").exits(6).says("/v1/fl/businesses");
        assert!(done.stderr.lines().count() < 10, "it is reported in short{}", done.shown());
        weather.assert_nothing_published();
    }
}

#[test]
fn no_request_goes_out_before_a_retry_after_has_passed() {
    let weather = Weather::new(|request| match request.number {
        10 => Reply::error(429, vec![("Retry-After", "2".to_owned())]),
        _ => Reply::Forward,
    });
    weather.run("").complete();
    weather.assert_complete();
    let pause = pause_after(&weather.proxy, 10);
    assert!(pause >= 2.0, "the next request came after {pause:.3} s");
    assert!(pause < 4.0, "the next request came only after {pause:.3} s");
}

#[test]
fn a_retry_after_outlives_the_process_that_heard_it() {
    let weather = Weather::new(|request| match request.number {
        10 => Reply::error(429, vec![("Retry-After", "3".to_owned())]),
        _ => Reply::Forward,
    });
    let run = weather.command("").start();
    weather.proxy.wait_for_requests(10);
    // The ledger is written once the answer is in.
    let ledger_tells = || {
        let ledgers = lake::files_below_if_there(&state_next_to(&weather.scratch.lake()));
        let texts = ledgers.iter().filter_map(|path| std::fs::read(path).ok());
        let mut read = texts.filter_map(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        let paused = |ledger: Value| ledger["accounts"][0]["counts"]["not_before"].as_i64() > Some(0);
        read.any(paused).then_some(())
    };
    crate::support::wait_for("the pause in the ledger", Duration::from_secs(3), ledger_tells);
    run.kill();
    weather.run("").complete();
    let pause = pause_after(&weather.proxy, 10);
    assert!(pause >= 3.0, "another process asked after {pause:.3} s");
}

#[test]
fn a_429_with_a_retry_after_of_nothing_or_none_is_retried_soon() {
    for header in [Some("0"), None, Some("soon")] {
        let weather = Weather::new(move |request| match request.number {
            10 | 11 => {
                Reply::error(429, header.map(|value| ("Retry-After", value.to_owned())).into_iter().collect())
            }
            _ => Reply::Forward,
        });
        let summary = weather.run("").complete();
        weather.assert_complete();
        assert_eq!(summary["requests"]["retried"], 2, "{header:?}: {summary}");
        let pauses = [pause_after(&weather.proxy, 10), pause_after(&weather.proxy, 11)];
        assert!(pauses.iter().all(|pause| *pause > 0.1), "{header:?}: not at once, but after {pauses:?} s");
        assert!(pauses.iter().all(|pause| *pause < 10.0), "{header:?}: soon, not after {pauses:?} s");
    }
}

#[test]
fn an_absurd_retry_after_ends_the_run_at_once_and_holds_the_next_one_back() {
    let weather = Weather::new(|request| match request.number {
        10 => Reply::error(429, vec![("Retry-After", "86400".to_owned())]),
        _ => Reply::Forward,
    });
    let done = weather.run("").exits(5);
    assert!(done.took < Duration::from_secs(20), "{}", done.shown());
    let summary = done.json();
    assert_eq!(summary["outcome"], "partial", "{summary}");
    assert!(summary["stopped"].as_str().is_some_and(|why| why.contains("864")), "{summary}");
    let again = weather.run("").exits(5);
    assert!(again.took < Duration::from_secs(20), "{}", again.shown());
    assert_eq!(weather.proxy.log().len(), 10, "nothing goes out before the day is over{}", again.shown());
}

#[test]
fn a_spent_day_ends_the_run_in_good_order() {
    // The account record says that three requests are left today.
    let weather = Weather::new(|request| match request.target.as_str() {
        "/v1/me" => Reply::Change(|body| changed(&body, |account| account["remaining"]["day"] = 3.into())),
        _ => Reply::Forward,
    });
    let done = weather.run("").exits(5);
    let targets = weather.proxy.targets();
    assert_eq!(targets.len(), 3, "{targets:?}{}", done.shown());
    assert!(done.took < Duration::from_secs(20), "it does not wait for tomorrow{}", done.shown());
    let summary = done.json();
    assert!(summary["go_on_after"].is_string(), "{summary}");
}

#[test]
fn a_run_that_does_not_fit_reads_the_newest_days_and_says_when_it_will_be_complete() {
    let source = source::large();
    // Of 400 requests a day and 100,000 a month 150 are left today.
    let weather = Weather::over(source, |request| match request.target.as_str() {
        "/v1/me" => Reply::Change(|body| {
            changed(&body, |account| {
                account["limits"]["perDay"] = 400.into();
                account["limits"]["perMonth"] = 100_000.into();
                account["remaining"]["day"] = 150.into();
                account["remaining"]["month"] = 90_000.into();
            })
        }),
        _ => Reply::Forward,
    });
    let pipeline = weather.pipeline(
        "[budget]\nkeep_per_day = 50\n[extract]\ndays = 35\n[plan]\nrows_per_call = 40\n\
         max_offset = 800\nwindow_days = 90",
    );
    let command = |what: &str| {
        let command = Sunlake::on(&weather.scratch.lake(), [what, "--json"]).args([&pipeline]);
        weather.asking(command, source.today).finish()
    };
    let price = command("plan").exits(0).json();
    let today: jiff::civil::Date = source.today.parse().expect("a day");
    let needed = price["requests"].as_u64().expect("a number");
    assert!((418..560).contains(&needed), "{price}");
    // 97 today, 349 a day from tomorrow on.
    let expected = |needed: u64, today_left: u64| {
        let days = needed.saturating_sub(today_left).div_ceil(349);
        today.checked_add(jiff::ToSpan::days(days as i64)).expect("a day").to_string()
    };
    assert_eq!(price["fits"], false, "{price}");
    assert_eq!(price["complete_on"], expected(needed, 97), "{price}");
    let summary = command("run").exits(5).json();
    assert_eq!(summary["outcome"], "partial", "{summary}");
    assert_eq!(summary["complete_on"], expected(needed, 97), "{summary}");
    let coverage = &summary["coverage"];
    let proven = coverage["complete"].as_u64().expect("a number");
    assert!(proven > 0, "complete days are done: {coverage}");
    let incomplete = coverage["incomplete"].as_array().expect("days").iter();
    let missing = incomplete.filter(|day| day["entity_type"] == "*").filter_map(|day| day["day"].as_str());
    let newest = missing.max().expect("a day");
    assert!(newest < "2026-01-05", "the newest days come first: {coverage}");
    // A second run the same day sends at most what was set aside for the check, and reports the same.
    let before = weather.proxy.pages().len();
    let again = command("run").exits(5).json();
    assert!(weather.proxy.pages().len() <= before + 4, "no more than was set aside: {again}");
    assert_eq!(again["complete_on"], summary["complete_on"], "{again}");
}

#[test]
fn after_a_429_the_account_is_asked_what_others_have_used() {
    let weather = Weather::new(|request| match request.number {
        10 => Reply::error(429, vec![("Retry-After", "1".to_owned())]),
        _ => Reply::Forward,
    });
    weather.run("").complete();
    let log = weather.proxy.log();
    assert_eq!(log[10].target, log[9].target, "the refused request goes first");
    // Requests that waited too may arrive first.
    assert!(log[11..14].iter().any(|request| request.target == "/v1/me"), "{:?}", &log[9..14]);
    assert_eq!(log.iter().filter(|request| request.target == "/v1/me").count(), 2);
}

#[test]
fn a_redirect_is_not_followed_and_the_key_reaches_no_other_address() {
    let elsewhere = Proxy::scripted("127.0.0.1:9".parse().expect("an address"), |_| html(200));
    for status in [301, 302, 307, 308] {
        let target = format!("{}/v1/me", elsewhere.url());
        let weather =
            Weather::new(move |_| Reply::Answer(status, vec![("Location", target.clone())], String::new()));
        weather.run("").exits(3).says("redirect").says("is the address of the API");
        assert_eq!(weather.proxy.log().len(), 1, "a redirect is not worth another try");
        weather.assert_nothing_published();
    }
    assert!(elsewhere.log().is_empty(), "{:?}", elsewhere.log());
    // The claim can fail: what is sent there is seen.
    http::send(elsewhere.address, "GET", "/", &[]).expect("an answer");
    assert_eq!(elsewhere.log().len(), 1);
}

#[test]
fn a_wrong_key_and_a_key_without_scope_end_the_run_with_4_at_once() {
    let weather = Weather::new(|_| Reply::Forward);
    let wrong = "flb_ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
    let done = weather.command("").env("SUNLAKE_API_KEY", wrong).finish().exits(4).says("401");
    assert_eq!(weather.proxy.log().len(), 1, "{}", done.shown());
    weather.proxy.follow(|request| match request.target.as_str() {
        "/v1/me" => Reply::Forward,
        _ => Reply::error(403, Vec::new()),
    });
    let before = weather.proxy.log().len();
    weather.run("").exits(4).says("403");
    assert_eq!(weather.proxy.log().len(), before + 2);
    weather.assert_nothing_published();
}

#[test]
fn an_address_where_nobody_listens_ends_the_run_after_bounded_attempts() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let scratch = Scratch::new();
    let pipeline =
        scratch.file("p.toml", "name = \"p\"\n[budget]\nattempts = 2\n[aggregates]\nenabled = false\n");
    let done = Sunlake::run(&pipeline, &scratch.lake())
        .args(["--base-url", &format!("http://{address}")])
        .env("SUNLAKE_API_KEY", "flb_0000")
        .finish()
        .exits(6)
        .says("2 attempts");
    assert!(done.took < Duration::from_secs(15), "{}", done.shown());
    assert_eq!(done.json()["outcome"], "failed");
    assert_eq!(done.json()["requests"]["sent"], 2, "{}", done.shown());
}

#[test]
fn a_second_run_at_the_same_time_exits_with_8_and_disturbs_nothing() {
    let weather = Weather::new(|_| Reply::Forward);
    weather.proxy.hold_after(10);
    let first = weather.command("").start();
    weather.proxy.wait_for_requests(11);
    let begun = Instant::now();
    let second = weather.run("").exits(8).says("process");
    assert!(begun.elapsed() < Duration::from_secs(10), "it does not wait{}", second.shown());
    assert_eq!(weather.proxy.log().len(), 11, "the second run asked nothing");
    let status = sunlake(&weather.scratch.lake(), &["status"]).exits(0);
    let is_under_way = status.stdout.contains(": running: ") && !status.stdout.contains("resume");
    assert!(is_under_way, "{}", status.shown());
    weather.proxy.follow(|_| Reply::Forward);
    weather.proxy.release();
    first.finish().complete();
    weather.assert_complete();
}

/// Breaks the record of one business wherever it is listed, and gives two others a field that nobody knows.
fn odd_records(body: String) -> String {
    let Ok(mut page) = serde_json::from_str::<Value>(&body) else { return body };
    for record in page["data"].as_array_mut().into_iter().flatten() {
        let Some(id) = record["id"].as_str().map(str::to_owned) else { continue };
        let digits: u64 =
            id.chars().filter(char::is_ascii_digit).collect::<String>().parse().expect("a number");
        match digits % 100 {
            7 => record["name"] = Value::Null,
            8 => record["industry"]["naics"] = "238160".into(),
            9 => record["llc_series"] = serde_json::json!({ "of": [1, 2.50] }),
            _ => {}
        }
    }
    page.to_string()
}

#[test]
fn bad_records_go_to_quarantine_as_sent_and_unknown_fields_are_kept_and_all_others_are_published() {
    let weather = Weather::new(|request| match request.target.starts_with("/v1/fl/businesses?") {
        true => Reply::Change(odd_records),
        false => Reply::Forward,
    });
    let summary = weather.run("").exits(5).json();
    assert_eq!(summary["outcome"], "partial", "{summary}");
    let expected = lake::filings(&weather.source.lake);
    let found = lake::filings(&weather.scratch.lake());
    let bad: Vec<i64> = expected.keys().copied().filter(|id| id % 100 == 7).collect();
    assert!(bad.len() > 2, "{} records are bad", bad.len());
    assert_eq!(summary["quarantined"], bad.len(), "{summary}");
    assert_eq!(found.len(), expected.len() - bad.len(), "all others landed");
    let records = lake::quarantined(&weather.scratch.lake());
    let mut held: Vec<i64> = records.iter().filter_map(|record| record["business_id"].as_i64()).collect();
    held.sort_unstable();
    assert_eq!(held, bad);
    for record in &records {
        let whole: Value =
            serde_json::from_str(record["record"].as_str().expect("text")).expect("the record as sent");
        assert!(whole["document_number"].is_string() && whole["name"].is_null(), "{record}");
        assert!(record["reasons"].to_string().contains("name"), "{record}");
        assert!(
            record["slice"].as_str().is_some_and(|slice| slice.contains("/v1/fl/businesses")),
            "{record}"
        );
    }
    for (id, cells) in &found {
        let extra = cells["extra"].as_deref();
        match id % 100 {
            8 => assert_eq!(extra, Some("{\"industry.naics\":\"238160\"}")),
            9 => assert_eq!(extra, Some("{\"llc_series\":{\"of\":[1,2.5]}}")),
            _ => assert_eq!(extra, None, "{id}"),
        }
    }
    let reported = summary["unknown_fields"].as_object().expect("fields").keys().cloned().collect::<Vec<_>>();
    assert_eq!(reported, ["industry.naics", "llc_series"], "{summary}");
    let short = summary["coverage"]["incomplete"].as_array().map(Vec::len);
    assert!(short > Some(0), "days that miss a record are reported: {summary}");
}

#[test]
fn a_day_with_a_bad_record_is_incomplete_until_the_record_comes_readable() {
    let weather = Weather::new(|request| match request.target.starts_with("/v1/fl/businesses?") {
        true => Reply::Change(with_a_nameless_row),
        false => Reply::Forward,
    });
    let first = weather.run("").exits(5).json();
    let bad = first["quarantined"].as_u64().expect("a number");
    let missing: i64 =
        first["coverage"]["incomplete"].as_array().expect("days").iter().map(missing_rows).sum();
    assert!(bad > 0 && missing >= bad as i64, "a fictitious name is missing in both listings: {first}");
    weather.proxy.follow(|_| Reply::Forward);
    weather.run("").complete();
    weather.assert_complete();
}

fn missing_rows(day: &Value) -> i64 {
    day["expected"].as_i64().expect("a number") - day["landed"].as_i64().expect("a number")
}

#[test]
fn checks_set_to_fail_hold_the_snapshot_back() {
    for (script, lines) in
        [("record", "[checks]\nquarantine = \"fail\""), ("record", "[checks]\nunknown_fields = \"fail\"")]
    {
        let weather = Weather::new(|request| match request.target.starts_with("/v1/fl/businesses?") {
            true => Reply::Change(odd_records),
            false => Reply::Forward,
        });
        let done = weather.run(lines).exits(7).says("nothing was published");
        assert_eq!(done.json()["exit_code"], 7, "{script}{}", done.shown());
        weather.assert_nothing_published();
        assert!(
            !lake::quarantined(&weather.scratch.lake()).is_empty(),
            "the bad records are kept all the same"
        );
    }
}

#[test]
fn a_register_that_lost_most_of_its_rows_is_not_published() {
    let weather = Weather::new(|_| Reply::Forward);
    weather.run("").complete();
    // The next morning every listing is half empty, and every count of it says so.
    weather.proxy.follow(|request| match request.target.as_str() {
        "/v1/me" => Reply::Forward,
        target
            if ["/v1/fl/businesses?", "/v1/fl/filings/daily/"]
                .iter()
                .any(|path| target.starts_with(path)) =>
        {
            Reply::Change(|body| {
                changed(&body, |page| {
                    page["data"] = Value::Array(Vec::new());
                    page["pagination"]["total"] = 0.into();
                    page["pagination"]["has_more"] = false.into();
                })
            })
        }
        target if target.starts_with("/v1/fl/filings/daily") => Reply::Change(|body| {
            changed(&body, |counts| {
                for day in counts["data"].as_array_mut().into_iter().flatten() {
                    day["count"] = 0.into();
                }
            })
        }),
        _ => Reply::Forward,
    });
    weather.run("").exits(7).says("max_vanished_percent");
    assert_eq!(lake::commits(&weather.scratch.lake()).len(), 1);
    weather.assert_complete();
}
