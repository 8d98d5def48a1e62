//! A run that is at work when the Eastern day turns. The clock is the test's, so the run is made in this process.

use crate::support::command::{Running, Sunlake, state_next_to};
use crate::support::proxy::{Proxy, Reply};
use crate::support::scratch::Scratch;
use crate::support::server::{ApiServer, STARTER};
use crate::support::{lake, source};
use jiff::Timestamp;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use sunlake::client::{ApiKey, StopSwitch};
use sunlake::lake::Lake;
use sunlake::pipeline::config::file::Pipeline;
use sunlake::pipeline::publish::summary::{Outcome, RunSummary};
use sunlake::pipeline::state::SourceKind;
use sunlake::pipeline::{ApiContext, Events, RunContext, Source, run};

/// Seconds before 2026-03-21 begins in Florida.
const BEFORE: i64 = 300;

/// Requests answered before it does.
const ANSWERED: usize = 25;

/// The clock, in seconds since 1970.
static CLOCK: AtomicI64 = AtomicI64::new(0);

fn midnight() -> i64 {
    "2026-03-21T04:00:00Z".parse::<Timestamp>().expect("an instant").as_second()
}

fn now() -> Timestamp {
    Timestamp::from_second(CLOCK.load(Ordering::SeqCst)).expect("an instant")
}

/// A run as of the day before midnight, under the clock of this test.
fn run_at_midnight(pipeline: &Path, root: &Path, base_url: &str, key: &str) -> RunSummary {
    let pipeline = Pipeline::read(pipeline).expect("a pipeline");
    let (_switch, stop) = StopSwitch::new();
    let context = RunContext {
        lake: Lake::open(root).expect("a lake"),
        today: "2026-03-20".parse().expect("a day"),
        now,
        source: SourceKind::Account,
        token: "test".to_owned(),
        holder: "a test".to_owned(),
        events: Events::default(),
    };
    let api = ApiContext {
        state_dir: state_next_to(root),
        source: Source {
            base_url: base_url.to_owned(),
            key: ApiKey::parse(key).expect("a key"),
            allow_plain_http: true,
        },
        stop,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run(&pipeline, &context, &api)).expect("an outcome")
}

#[test]
fn a_window_that_moves_on_at_midnight_ends_the_run_in_good_order_and_the_next_day_finishes_it() {
    let (source, scratch) = (source::small(), Scratch::new());
    let server = ApiServer::generous(source, STARTER);
    CLOCK.store(midnight() - BEFORE, Ordering::SeqCst);
    let proxy = Proxy::scripted(server.address, |request| match request.number {
        0..=ANSWERED => Reply::Forward,
        _ => {
            CLOCK.store(midnight() + BEFORE, Ordering::SeqCst);
            Reply::error(403, Vec::new())
        }
    });
    // Days that may not fit are read in short ranges.
    let text = "name = \"backfill\"\n[aggregates]\nenabled = false\n";
    let pipeline = scratch.file("backfill.toml", &format!("{text}[budget]\nmax_requests = 40\n"));
    let summary = run_at_midnight(&pipeline, &scratch.lake(), &proxy.url(), &server.key);
    assert_eq!((summary.outcome, summary.exit_code), (Outcome::Partial, 5), "{summary:?}");
    assert_eq!(summary.requests.sent, proxy.log().len() as u64, "{summary:?}");
    assert!(summary.stopped.as_ref().is_some_and(|why| why.contains("403")), "{summary:?}");
    let landed = lake::filings(&scratch.lake()).len();
    assert!(landed > 0, "complete days are published: {summary:?}");

    let held: Vec<String> = proxy.log()[..ANSWERED].iter().map(|request| request.target.clone()).collect();
    let server = server.again("2026-03-21", Running::kill);
    let proxy = Proxy::counting(server.address);
    scratch.file("backfill.toml", text);
    let next = Sunlake::run(&pipeline, &scratch.lake())
        .args(["--base-url", &proxy.url(), "--today", "2026-03-21"])
        .env("SUNLAKE_API_KEY", &server.key)
        .finish()
        .complete();
    assert_eq!(next["finished_first"]["run_id"], summary.run_id, "{next}");
    let sent =
        [&next, &next["finished_first"]].map(|reported| reported["requests"]["sent"].as_u64().unwrap_or(0));
    assert_eq!(sent.iter().sum::<u64>(), proxy.log().len() as u64, "{next}");
    lake::assert_same(&lake::filings(&scratch.lake()), &lake::filings(&source.lake), "a day later");
    let mut again = proxy.targets();
    again.retain(|target| target.contains("businesses?") && held.contains(target));
    assert!(again.is_empty(), "no page is paid for twice: {again:?}");
}
