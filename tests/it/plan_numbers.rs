//! Plans with numbers that no limits table has: a run finds them in a few requests, once, and reads everything.

use crate::support::command::Sunlake;
use crate::support::lake;
use crate::support::scratch::Scratch;
use crate::support::server::{ApiServer, Plan};
use crate::support::source;
use serde_json::Value;

/// Reads everything, twice, under a plan with these rows per call, max offset and window. Returns both summaries and the learned plan.
fn read((rows_per_call, max_offset, window_days): (i64, i64, i64)) -> (Value, Value, Value) {
    let plan = Plan { name: "enterprise", rows_per_call, max_offset, window_days };
    let server = ApiServer::generous(source::small(), plan);
    let scratch = Scratch::new();
    let pipeline = scratch.file("p.toml", "name = \"p\"\n[aggregates]\nenabled = false\n");
    let run = || {
        let command = Sunlake::run(&pipeline, &scratch.lake());
        command.asking(&server.url(), source::small().today, &server.key).finish().exits(0).json()
    };
    let (first, second) = (run(), run());
    let found = lake::filings(&scratch.lake());
    lake::assert_same(&found, &lake::filings(&source::small().lake), "a plan of other numbers");
    let learned = lake::commits(&scratch.lake()).pop().expect("a commit")["state"]["plan"].clone();
    (first, second, learned)
}

#[test]
fn a_plan_with_numbers_of_no_table_is_measured_once_and_read_completely() {
    // A max offset below the rows of a call, one row, and no multiple of them; windows between those of the table.
    for numbers in [(100, 90, 30), (60, 1, 30), (100, 250, 33), (100, 5_000, 100), (35, 1_000, 364)] {
        let (first, second, learned) = read(numbers);
        assert_eq!(first["outcome"], "complete", "{numbers:?}: {first}");
        let days = 2 * numbers.2;
        assert_eq!(first["coverage"]["complete"], days, "{numbers:?}: {first}");
        assert_eq!(
            (&learned["rows_per_call"], &learned["window_days"]),
            (&numbers.0.into(), &numbers.2.into())
        );
        assert!(learned["max_offset"].as_i64().is_some_and(|offset| offset <= numbers.1), "{learned}");
        // Where pages end early, the check requests a total a day; otherwise two for each 92 days begun.
        let totals = if numbers.1 < 1_000 { numbers.2 } else { (days + 91) / 92 * 2 };
        let most = 8 + totals;
        assert!(
            second["requests"]["sent"].as_i64().is_some_and(|sent| sent <= most),
            "{numbers:?}: {second}"
        );
    }
}
