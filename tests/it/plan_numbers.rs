//! Plans with numbers that no limits table has: a run finds them in a few requests, once, and reads everything. A window that changes later
//! is found too.

use crate::support::command::{Finished, Sunlake, state_next_to};
use crate::support::lake;
use crate::support::scratch::Scratch;
use crate::support::server::{ApiServer, Plan};
use crate::support::source;
use serde_json::Value;

/// An account with these rows per call, max offset and window.
fn server((rows_per_call, max_offset, window_days): (i64, i64, i64)) -> ApiServer {
    ApiServer::generous(source::small(), Plan { name: "enterprise", rows_per_call, max_offset, window_days })
}

/// `sunlake WHAT --json` of a pipeline that reads the window.
fn sunlake(what: &str, scratch: &Scratch, server: &ApiServer) -> Finished {
    let pipeline = scratch.file("p.toml", "name = \"p\"\n[aggregates]\nenabled = false\n");
    let command = Sunlake::on(&scratch.lake(), [what, "--json"]).args([pipeline]);
    let command = command.env_os("SUNLAKE_STATE", state_next_to(&scratch.lake()).as_os_str());
    command.asking(&server.url(), source::small().today, &server.key).finish()
}

fn learned(scratch: &Scratch) -> Value {
    lake::commits(&scratch.lake()).pop().expect("a commit")["state"]["plan"].clone()
}

/// Requests that show that a window is unchanged. The counts show it of a shorter one.
fn probes(window_days: i64) -> i64 {
    if window_days > 90 { 2 } else { 0 }
}

#[test]
fn a_plan_with_numbers_of_no_table_is_measured_once_and_read_completely() {
    // A max offset below the rows of a call, one row, and no multiple of them; windows between those of the table.
    for numbers in [(100, 90, 30), (60, 1, 30), (100, 250, 33), (100, 5_000, 100), (35, 1_000, 364)] {
        let (server, scratch) = (server(numbers), Scratch::new());
        let [first, second] = ["run", "run"].map(|what| sunlake(what, &scratch, &server).exits(0).json());
        let found = lake::filings(&scratch.lake());
        lake::assert_same(&found, &lake::filings(&source::small().lake), "a plan of other numbers");
        assert_eq!(first["outcome"], "complete", "{numbers:?}: {first}");
        let days = 2 * numbers.2;
        assert_eq!(first["coverage"]["complete"], days, "{numbers:?}: {first}");
        let learned = learned(&scratch);
        assert_eq!(
            (&learned["rows_per_call"], &learned["window_days"]),
            (&numbers.0.into(), &numbers.2.into())
        );
        assert!(learned["max_offset"].as_i64().is_some_and(|offset| offset <= numbers.1), "{learned}");
        // Where pages end early, the check requests a total a day; otherwise two for each 92 days begun.
        let totals = if numbers.1 < 1_000 { numbers.2 } else { (days + 91) / 92 * 2 };
        let most = 8 + totals + probes(numbers.2);
        assert!(
            second["requests"]["sent"].as_i64().is_some_and(|sent| sent <= most),
            "{numbers:?}: {second}"
        );
    }
}

#[test]
fn a_learned_window_that_grows_or_shrinks_is_read_as_it_is_now() {
    // The last number is the window by the counts alone, which are of 90 days at most.
    for (before, now, by_counts) in
        [(40, 110, 90), (110, 30, 30), (20, 33, 33), (110, 200, 110), (200, 110, 200)]
    {
        let (first, then, scratch) =
            (server((100, 5_000, before)), server((100, 5_000, now)), Scratch::new());
        sunlake("run", &scratch, &first).complete();
        assert_eq!(learned(&scratch)["window_days"], before);
        let price = sunlake("plan", &scratch, &then).exits(0).json();
        assert_eq!(price["plan"]["window_days"], by_counts, "{before} to {now}: {price}");
        let changed = sunlake("run", &scratch, &then).complete();
        assert_eq!(changed["coverage"]["days"], 2 * now, "{before} to {now}: {changed}");
        let again = sunlake("run", &scratch, &then).exits(0).json();
        assert_eq!(again["coverage"]["days"], 2 * now, "{before} to {now}: {again}");
        assert_eq!(again["requests"]["by_stage"]["counts"], 1 + probes(now), "{before} to {now}: {again}");
        let price = sunlake("plan", &scratch, &then).exits(0).json();
        assert_eq!(price["plan"]["window_days"], now, "{price}");
        let found = lake::filings(&scratch.lake());
        lake::assert_same(&found, &lake::filings(&source::small().lake), "a window that changed");
    }
}

#[test]
fn a_run_that_is_resumed_a_day_later_does_not_trust_its_counts_of_a_window_that_shrank() {
    let scratch = Scratch::new();
    let on = |today, window_days| {
        let plan = Plan { name: "enterprise", rows_per_call: 100, max_offset: 5_000, window_days };
        ApiServer::of_lake(&source::small().lake, today, plan)
    };
    let run = |server: &ApiServer, today, lines: &str| {
        let text = format!("name = \"p\"\n[aggregates]\nenabled = false\n{lines}");
        let command = Sunlake::run(&scratch.file("p.toml", &text), &scratch.lake());
        command.asking(&server.url(), today, &server.key).finish()
    };
    run(&on("2026-03-20", 110), "2026-03-20", "").complete();
    // Account, lists, counts, and the window: nothing is left for filings.
    let stopped = run(&on("2026-03-21", 110), "2026-03-21", "[budget]\nmax_requests = 8\n").exits(5).json();
    assert_eq!(stopped["requests"]["by_stage"]["counts"], 3, "{stopped}");
    let next = run(&on("2026-03-22", 30), "2026-03-22", "").complete();
    assert_eq!(next["finished_first"]["run_id"], stopped["run_id"], "{next}");
    assert_eq!(next["coverage"]["days"], 60, "{next}");
    let found = lake::filings(&scratch.lake());
    lake::assert_same(&found, &lake::filings(&source::small().lake), "a window that shrank");
}
