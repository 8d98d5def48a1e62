//! Settings that cannot work are reported before the first request: what is wrong, where, and the way out.

use crate::support::command::{Sunlake, shipped, sunlake};
use crate::support::proxy::Reply;
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::weather::Weather;
use crate::support::{lake, source};

const KEY: &str = "flb_0000000000000000000000000000000000000000000000000000000000000000";
/// Port 9 of this machine is the discard service, which nobody runs; nothing is sent in these tests anyway.
const NOWHERE: &str = "http://127.0.0.1:9";

#[test]
fn a_wrong_word_or_value_in_a_pipeline_names_its_line_and_what_is_right() {
    let scratch = Scratch::new();
    for (text, line, right) in [
        ("name = \"p\"\n\n[budget]\nkeep_per_dya = 3\n", "line 4", "did you mean `keep_per_day`?"),
        ("name = \"p\"\n[extrct]\ndays = 3\n", "line 2", "did you mean `extract`?"),
        ("name = \"p\"\n[extract]\ndays = 3\ntypes = [\"lcc\"]\n", "line 4", "did you mean `llc`?"),
        ("name = \"p\"\n[checks]\nquarantine = \"fial\"\n", "line 3", "did you mean `fail`?"),
        ("name = \"p\"\n[source.sample]\nplan = \"agencey\"\n", "line 3", "did you mean `agency`?"),
        ("name = \"p\"\n[extract]\ndays = 0\n", "line 3", "window"),
        ("name = \"p\"\n[extract]\ndays = \"month\"\n", "line 3", "window"),
        ("name = \"Bad Name\"\n", "line 1", "lower-case"),
        ("name = \"p\"\n[budget]\nmax_requests = -1\n", "line 3", "whole number"),
        ("name = \"p\n", "line 1", "string"),
    ] {
        let pipeline = scratch.file("p.toml", text);
        let done = Sunlake::run(&pipeline, &scratch.lake())
            .args(["--base-url", NOWHERE])
            .env("SUNLAKE_API_KEY", KEY);
        done.finish().exits(3).says(line).says("p.toml").says(right);
    }
    assert!(!scratch.lake().join("commits").exists());
}

#[test]
fn a_missing_pipeline_file_is_named_and_the_nearest_there_is() {
    let scratch = Scratch::new();
    Sunlake::run(&scratch.path("nowhere.toml"), &scratch.lake()).finish().exits(3).says("nowhere.toml");
    let daily = scratch.file("daily.toml", "name = \"daily\"\n");
    let hint = format!("did you mean {}?", daily.display());
    Sunlake::run(&scratch.path("dialy.toml"), &scratch.lake()).finish().exits(3).says(&hint);
}

#[test]
fn an_error_of_sql_has_one_line_with_its_file_and_at_most_its_place_and_a_hint() {
    let scratch = Scratch::new();
    let run = |text: &str| {
        let pipeline = scratch.file("p.toml", text);
        let run = Sunlake::run(&pipeline, &scratch.lake()).args(["--base-url", NOWHERE]);
        let done = run.env("SUNLAKE_API_KEY", KEY).finish().exits(3);
        let (errors, others): (Vec<_>, Vec<_>) =
            done.stderr.lines().partition(|line| line.starts_with("error: "));
        assert_eq!(errors.len(), 1, "{}", done.shown());
        let is_more = |line: &&str| line.starts_with("hint: ") || line.starts_with("  ");
        assert!(others.iter().all(is_more), "{}", done.shown());
        done
    };
    let condition = "name = \"p\"\n[aggregates]\nenabled = false\n[enrich]\nwhere = \"conty = 1\"\n";
    run(condition).says("p.toml, line 5: `where`").says("conty = 1");
    run("name = \"p\"\n[aggregates]\nfolder = \"mine\"\n")
        .says("p.toml: ")
        .says("[aggregates] enabled = false");
    std::fs::create_dir(scratch.path("aggregates")).expect("a folder");
    let aggregate = scratch.file("aggregates/mine.sql", "SELECT kounty FROM filings");
    run("name = \"p\"\n").says(&aggregate.to_string_lossy()).says("kounty");
}

#[test]
fn a_missing_key_or_address_says_how_to_give_one() {
    let scratch = Scratch::new();
    let run = || Sunlake::run(&shipped("backfill.toml"), &scratch.lake());
    let nowhere = || run().args(["--base-url", NOWHERE]);
    nowhere().finish().exits(3).says("SUNLAKE_API_KEY").says("SUNLAKE_API_KEY_FILE");
    let no_address = run().env("SUNLAKE_API_KEY", KEY).finish().exits(3);
    no_address.says("--base-url").says("SUNLAKE_BASE_URL");
    let empty = nowhere().env("SUNLAKE_API_KEY", " ").finish().exits(3);
    empty.says("SUNLAKE_API_KEY: ").says("empty");
    let file = scratch.file("key", "\n");
    let file = file.to_string_lossy();
    let empty_file = nowhere().env("SUNLAKE_API_KEY", "").env("SUNLAKE_API_KEY_FILE", &file);
    empty_file.finish().exits(3).says("empty").says(&file);
    let no_file = nowhere().env("SUNLAKE_API_KEY_FILE", "/nonexistent/key");
    no_file.finish().exits(3).says("/nonexistent/key");
}

#[test]
fn a_failed_run_still_prints_one_object_with_json() {
    let scratch = Scratch::new();
    let done = Sunlake::run(&shipped("backfill.toml"), &scratch.lake())
        .args(["--base-url", NOWHERE])
        .finish()
        .exits(3);
    let summary = done.json();
    assert_eq!((&summary["outcome"], &summary["exit_code"]), (&"failed".into(), &3.into()), "{summary}");
    assert_eq!(summary["pipeline"], "backfill");
}

#[test]
fn plain_http_to_another_host_and_keys_in_addresses_are_refused() {
    let scratch = Scratch::new();
    for (address, says) in [
        ("http://192.0.2.1", "https"),
        ("ftp://127.0.0.1", "ftp"),
        ("http://user:secret@127.0.0.1:9", "base URL"),
        ("not an address", "begin with https:// or http://"),
        ("127.0.0.1:1234", "begin with https:// or http://"),
    ] {
        let run = Sunlake::run(&shipped("backfill.toml"), &scratch.lake()).args(["--base-url", address]);
        let done = run.env("SUNLAKE_API_KEY", KEY).finish().exits(3).says(says);
        assert!(!done.stderr.contains("secret"), "{}", done.shown());
    }
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    for arguments in [
        &["rum"][..],
        &["run", "--frobnicate"],
        &["run", "--today", "2026-02-30"],
        &["serve", "--keys", "keys.toml", "--max-connections", "0"],
        &[],
    ] {
        let done = Sunlake::new(arguments).finish().exits(2);
        assert!(done.stdout.is_empty(), "{}", done.shown());
        assert!(!done.stderr.is_empty(), "{}", done.shown());
    }
}

#[test]
fn a_wrong_variable_is_named() {
    for (name, value, arguments, says) in [
        ("SUNLAKE_TODAY", "tomorrow", &["status"][..], "a day is YYYY-MM-DD"),
        ("SUNLAKE_QUIET", "maybe", &["status"][..], "give 1, true, yes or on, or 0, false, no or off"),
        ("SUNLAKE_VERBOSE", "maybe", &["status"][..], "give 0, 1 or 2"),
        ("SUNLAKE_KEEP_LAST", "x", &["snapshot", "prune"][..], "invalid value"),
        ("SUNLAKE_MAX_CONNECTIONS", "0", &["serve", "--keys", "keys.toml"][..], "a whole number from 1"),
    ] {
        Sunlake::new(arguments).env(name, value).finish().exits(2).says(name).says(says);
    }
    let typed = Sunlake::new(["status", "--today", "tomorrow"]).finish().exits(2);
    typed.says("--today").says("a day is YYYY-MM-DD");
}

#[test]
fn an_empty_variable_counts_as_unset() {
    let scratch = Scratch::new();
    let sample = scratch.file("sample.toml", &source::sample_pipeline(3, 0.01));
    let names = ["LAKE", "TODAY", "BASE_URL", "API_KEY", "QUIET", "VERBOSE", "LOG_FORMAT", "WORK", "STATE"];
    let run = Sunlake::new(["run".as_ref(), sample.as_os_str()]).within(&scratch.path(""));
    let run = names.iter().fold(run, |run, name| run.env(&format!("SUNLAKE_{name}"), ""));
    run.finish().exits(0);
    assert!(scratch.path("output/current").exists(), "the default lake");
    let serve = Sunlake::new(["serve", "--keys", "none.toml"]).env("SUNLAKE_MAX_CONNECTIONS", "");
    serve.env("SUNLAKE_LISTEN", "").finish().exits(3);
}

#[test]
fn a_lake_that_is_not_there_is_named_and_not_made() {
    let scratch = Scratch::new();
    let on_it = |arguments: &[&str]| sunlake(&scratch.lake(), arguments);
    let lake = scratch.lake().to_string_lossy().into_owned();
    let csv = scratch.path("csv").to_string_lossy().into_owned();
    for arguments in [
        &["status"][..],
        &["snapshot", "list"],
        &["verify"],
        &["report"],
        &["replay", "r"],
        &["snapshot", "show", "1"],
        &["snapshot", "pin", "1"],
        &["export", "csv", csv.as_str()],
    ] {
        on_it(arguments).exits(3).says(&lake).says("sunlake run");
    }
    assert!(!scratch.lake().exists(), "a name mistyped makes no folder");
}

#[test]
fn a_file_where_a_folder_is_wanted_and_a_folder_that_is_not_there_are_named() {
    let scratch = Scratch::new();
    let file = scratch.file("afile", "x");
    Sunlake::new(["export".as_ref(), "csv".as_ref(), file.as_os_str()])
        .finish()
        .exits(3)
        .says("afile is a file; a folder is wanted");
    let keys = scratch.path("nowhere/keys.toml");
    Sunlake::new(["keys", "create", "--account", "acme", "--plan", "starter", "--keys"])
        .args([keys.as_os_str()])
        .finish()
        .exits(3)
        .says("there is no folder")
        .says("nowhere");
}

#[test]
fn a_refusal_names_the_address_or_the_key_and_where_it_was_given() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let scratch = Scratch::new();
    let file = scratch.file("key", KEY);
    let run = |base_url: &str| {
        Sunlake::run(&shipped("backfill.toml"), &scratch.lake())
            .args(["--base-url", base_url, "--today", source::small().today])
            .env("SUNLAKE_API_KEY_FILE", &file.to_string_lossy())
            .finish()
    };
    run(&server.url()).exits(4).says("401").says(&file.to_string_lossy());
    let twice = format!("{}/v1", server.url());
    run(&twice).exits(3).says("404").says(&twice).says("--base-url").says("without /v1");
}

#[test]
fn the_key_may_come_from_a_file_and_flags_from_variables() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let scratch = Scratch::new();
    let file = scratch.file("key", &format!("{}\n", server.key));
    let backfill = shipped("backfill.toml");
    Sunlake::new(["run".as_ref(), backfill.as_os_str()])
        .env("SUNLAKE_API_KEY_FILE", &file.to_string_lossy())
        .env("SUNLAKE_BASE_URL", &server.url())
        .env("SUNLAKE_LAKE", &scratch.lake().to_string_lossy())
        .env("SUNLAKE_TODAY", source::small().today)
        .env("SUNLAKE_JSON", "true")
        .finish()
        .complete();
    assert!(!lake::filings(&scratch.lake()).is_empty());
}

#[test]
fn a_price_costs_three_requests_at_most_and_a_run_then_spends_about_as_much() {
    let weather = Weather::new(|_| Reply::Forward);
    let command = |what: &str| {
        let command = Sunlake::on(&weather.scratch.lake(), [what, "--json"]).args([shipped("backfill.toml")]);
        weather.asking(command, weather.source.today).finish()
    };
    let price = command("plan").exits(0).json();
    assert!(weather.proxy.log().len() <= 3, "{:?}", weather.proxy.targets());
    for key in
        ["pipeline", "today", "plan", "remaining", "stages", "requests", "lower_bound", "minutes", "fits"]
    {
        assert!(price.get(key).is_some(), "{key} is missing in {price}");
    }
    for key in ["rows_per_call", "max_offset", "window_days", "per_minute", "per_day", "per_month"] {
        assert!(price["plan"].get(key).is_some(), "plan.{key} is missing in {price}");
    }
    let stage = &price["stages"][0];
    for key in ["name", "slices", "rows", "requests"] {
        assert!(stage.get(key).is_some(), "stages[].{key} is missing in {price}");
    }
    let number = |key: &str| price[key].as_f64().expect("a number");
    assert!(number("requests") >= number("lower_bound"), "{price}");
    let summary = command("run").complete();
    let sent = summary["requests"]["sent"].as_f64().expect("a number");
    assert!(sent <= number("requests") * 1.5 + 10.0, "{sent} were sent: {price}");
    assert!(number("requests") <= sent * 1.5 + 10.0, "{sent} were sent: {price}");
}

#[test]
fn a_variable_of_a_library_with_a_value_that_it_cannot_use_is_left_out_with_a_warning() {
    let scratch = Scratch::new();
    let pipeline = scratch.file("sample.toml", &source::sample_pipeline(3, 0.01));
    for (name, value) in [
        ("TOKIO_WORKER_THREADS", "2.5"),
        ("TOKIO_WORKER_THREADS", "0"),
        ("TOKIO_WORKER_THREADS", ""),
        ("POLARS_MAX_THREADS", "0"),
        ("POLARS_MAX_THREADS", "all"),
        ("POLARS_MAX_THREADS", "1000000"),
        ("RAYON_NUM_THREADS", "99999999"),
        ("RUST_MIN_STACK", "99999999999999"),
        ("POLARS_MAX_CONCURRENT_SCANS", "x"),
        ("POLARS_ROW_GROUP_PREFETCH_SIZE", "0"),
        ("POLARS_NUM_READERS_PRE_INIT", "-1"),
        ("POLARS_HOT_TABLE_SIZE", "many"),
        ("POLARS_PANIC_ON_ERR", "1"),
    ] {
        let run = Sunlake::run(&pipeline, &scratch.lake()).args(["--today", "2026-03-20"]).env(name, value);
        let done = run.finish().exits(0).says("WARN").says(name);
        assert!(!done.stderr.contains("panicked"), "{}", done.shown());
    }
    let count = Sunlake::on(&scratch.lake(), ["query", "SELECT count(*) FROM filings"]);
    let done = count.env("POLARS_MAX_THREADS", "2").env("TOKIO_WORKER_THREADS", "2").finish().exits(0);
    assert!(done.stderr.is_empty(), "{}", done.shown());
}

#[test]
fn the_time_zone_of_the_machine_is_not_that_of_the_days() {
    let scratch = Scratch::new();
    for (name, value) in [("TZ", "Mars/Olympus"), ("TZ", ":/nowhere"), ("TZDIR", "/nowhere")] {
        let done = Sunlake::on(&scratch.lake(), ["doctor"]).env(name, value).finish().exits(0);
        done.says_on_stdout("good  time zone");
    }
    // Zone files that say something else: every zone is UTC.
    let zones = scratch.path("zones");
    std::fs::create_dir_all(zones.join("America")).expect("a folder");
    let utc = b"TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x04\0\0\0\0\0\0UTC\0";
    let twice = [&utc[..], utc, b"\nUTC0\n"].concat();
    std::fs::write(zones.join("America/New_York"), twice).expect("a zone");
    let done = Sunlake::on(&scratch.lake(), ["doctor"]).env("TZDIR", &zones.to_string_lossy()).finish();
    done.exits(0).says_on_stdout("good  time zone");
}

#[test]
fn requests_that_are_counted_for_one_lake_alone_are_warned_about() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let scratch = Scratch::new();
    let asked = |variables: &[(&str, &str)]| {
        let doctor = Sunlake::on(&scratch.lake(), ["doctor", "--base-url", &server.url()]);
        let doctor =
            doctor.env("SUNLAKE_API_KEY", &server.key).without("SUNLAKE_STATE").without("XDG_STATE_HOME");
        variables.iter().fold(doctor, |doctor, (name, value)| doctor.env(name, value)).finish().exits(0)
    };
    let file = scratch.file("file", "").to_string_lossy().into_owned();
    for (name, value) in
        [("HOME", "/proc/nobody"), ("HOME", &*file), ("XDG_STATE_HOME", &*file), ("HOME", "")]
    {
        let done = asked(&[(name, value)]);
        done.says("WARN").says("requests are counted in this lake alone").says("SUNLAKE_STATE");
    }
    let (home, state) = (scratch.path("home"), scratch.path("state"));
    for (name, folder) in [("HOME", &home), ("SUNLAKE_STATE", &state)] {
        let done = asked(&[("HOME", "/proc/nobody"), (name, &folder.to_string_lossy())]);
        assert!(done.stderr.is_empty(), "{}", done.shown());
    }
}
