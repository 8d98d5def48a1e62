//! Mistakes that cost an account's requests, or somebody's files, are refused before they do.

use crate::support::command::{Sunlake, project, shipped, sunlake};
use crate::support::lake;
use crate::support::proxy::{Proxy, Reply};
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::source::{self, Source};
use crate::support::weather::Weather;
use std::collections::BTreeSet;

#[test]
fn a_run_later_than_the_apis_own_day_is_refused_before_anything_is_read() {
    let weather = Weather::new(|_| Reply::Forward);
    let lines = "[extract]\ndays = 14";
    // The server's clock is behind this day, so its own day is looked up.
    for (today, requests) in [("2100-01-01", 2), ("2026-03-21", 6)] {
        let before = weather.proxy.log().len();
        weather.command_of(today, lines).finish().exits(3).says("2026-03-20").says(today).says("--today");
        assert_eq!(weather.proxy.log().len() - before, requests, "{:?}", weather.proxy.targets());
    }
    let plan = |today: &str| {
        let plan = Sunlake::on(&weather.scratch.lake(), ["plan", "--json"]).args([weather.pipeline(lines)]);
        weather.asking(plan, today).finish()
    };
    plan("2026-03-21").exits(3).says("2026-03-20");
    weather.assert_nothing_published();
    weather.run(lines).complete();
    weather.assert_complete();
}

#[test]
fn a_day_after_this_clocks_is_that_of_an_api_that_says_so() {
    let of_small = Source { lake: source::small().lake.clone(), today: "2100-03-20" };
    let server = ApiServer::generous(&of_small, AGENCY);
    let (proxy, scratch) = (Proxy::counting(server.address), Scratch::new());
    let run = |today: &str| {
        Sunlake::run(&shipped("daily.toml"), &scratch.lake())
            .asking(&proxy.url(), today, &server.key)
            .finish()
    };
    run("2100-03-21").exits(3);
    run("2100-03-20").exits(0);
}

#[test]
fn a_lake_of_a_later_day_names_the_snapshot_to_go_back_to() {
    let scratch = Scratch::new();
    let pipeline = scratch.file("sample.toml", &source::sample_pipeline(5, 0.01));
    let run = |today: &str| Sunlake::run(&pipeline, &scratch.lake()).args(["--today", today]).finish();
    run("2026-03-20").complete();
    run("2026-03-25").complete();
    run("2026-03-21").exits(3).says("2026-03-25").says("`sunlake snapshot rollback 1 --lake ");
    Sunlake::on(&scratch.lake(), ["snapshot", "rollback", "1"]).finish().exits(0);
    run("2026-03-21").complete();
    run("2026-03-19").exits(3).says("no snapshot is as of an earlier day");
    assert_eq!(lake::commits(&scratch.lake()).len(), 4);
}

#[test]
fn the_sample_never_spends_an_account_that_only_a_variable_names() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let (proxy, scratch) = (Proxy::counting(server.address), Scratch::new());
    let pipeline = scratch.file("sample.toml", &source::sample_pipeline(3, 0.01));
    let run = |what: &str| {
        let command =
            Sunlake::on(&scratch.lake(), [what, "--today", source::small().today]).args([&pipeline]);
        command.env("SUNLAKE_API_KEY", &server.key)
    };
    for what in ["run", "plan"] {
        let done = run(what).env("SUNLAKE_BASE_URL", &proxy.url()).finish().exits(3);
        done.says("sample.toml reads the embedded sample").says("SUNLAKE_BASE_URL").says("--base-url");
    }
    assert!(proxy.log().is_empty() && !scratch.lake().exists());
    run("run").args(["--base-url", &proxy.url()]).finish().exits(0);
    assert!(!proxy.log().is_empty());
}

#[test]
fn a_pipeline_must_be_named_where_an_account_is() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("pipelines")).expect("a folder");
    for name in ["sample.toml", "daily.toml"] {
        scratch.file(&format!("pipelines/{name}"), &source::sample_pipeline(3, 0.01));
    }
    let here = |what: &str| Sunlake::new([what]).within(&scratch.path(""));
    for (name, value) in [
        ("SUNLAKE_BASE_URL", "http://127.0.0.1:9"),
        ("SUNLAKE_API_KEY", "flb_0"),
        ("SUNLAKE_API_KEY_FILE", "k"),
    ] {
        for what in ["run", "plan"] {
            let done = here(what).env(name, value).finish().exits(2).says(name);
            done.says("backfill, daily, enrich, registry, sample");
        }
    }
    here("run").args(["--base-url", "http://127.0.0.1:9"]).finish().exits(2).says("--base-url");
    here("run").args(["--today", "2026-03-20"]).finish().exits(0);
}

#[test]
fn a_lake_path_that_is_a_mistake_is_refused_by_every_command_and_nothing_is_written() {
    let scratch = Scratch::new();
    let pipeline = scratch.file("sample.toml", &source::sample_pipeline(3, 0.01));
    std::fs::create_dir(scratch.path("home")).expect("a folder");
    scratch.file("home/letter.txt", "To the editor");
    let inside = source::small().lake.join("current");
    let inside = inside.to_string_lossy();
    for (lake, says) in [
        ("home", "a folder of other files"),
        ("~/lake", "give the full path: "),
        ("s3:/bucket/lake", "give s3://bucket/lake"),
        (&*inside, "is inside the lake"),
    ] {
        for arguments in
            [&["run", "sample.toml"][..], &["status"], &["report"], &["serve", "--keys", "none.toml"]]
        {
            let command = Sunlake::new(arguments).args(["--lake", lake, "--today", "2026-03-20"]);
            command.within(&scratch.path("")).finish().exits(3).says(says).says("hint: ");
        }
    }
    assert_eq!(lake::names(&scratch.path("")).len(), 2, "the pipeline and the folder");
    assert!(pipeline.exists() && lake::names(&scratch.path("home")).len() == 1);
}

#[test]
fn on_a_terminal_the_first_run_of_an_account_asks_before_it_starts_a_new_lake() {
    let weather = Weather::new(|_| Reply::Forward);
    let script = project().join("tests/it/terminal.py");
    let script = script.to_string_lossy();
    let on_terminal = |answer: &str| {
        let run =
            Sunlake::on(&weather.scratch.lake(), ["run"]).args([weather.pipeline("[extract]\ndays = 14")]);
        weather.asking(run, weather.source.today).through(&["python3", &script, answer]).finish()
    };
    let declined = on_terminal("n").exits(5);
    assert!(
        declined.stdout.contains("total  ") && declined.stdout.contains("was not started"),
        "{}",
        declined.shown()
    );
    let stopped = on_terminal("\u{3}").exits(5);
    assert!(stopped.stdout.contains("was not started"), "{}", stopped.shown());
    assert!(weather.proxy.log().len() <= 6, "{:?}", weather.proxy.targets());
    weather.assert_nothing_published();
    let accepted = on_terminal("y").exits(0);
    assert!(accepted.stdout.contains("Start this run?"), "{}", accepted.shown());
    let again = on_terminal("n").exits(0);
    assert!(!again.stdout.contains("Start this run?"), "{}", again.shown());
    let other = weather.scratch.path("other");
    let run = Sunlake::on(&other, ["run", "--yes"]).args([weather.pipeline("[extract]\ndays = 14")]);
    let yes = weather.asking(run, weather.source.today).through(&["python3", &script, "n"]).finish().exits(0);
    assert!(!yes.stdout.contains("Start this run?"), "{}", yes.shown());
}

#[test]
fn look_ups_in_a_lake_without_filings_say_what_to_read_first() {
    let weather = Weather::new(|_| Reply::Forward);
    let pipeline = weather.pipeline("[enrich]\nwhere = \"TRUE\"");
    for what in ["run", "plan"] {
        let command = Sunlake::on(&weather.scratch.lake(), [what]).args([&pipeline]);
        let done = weather.asking(command, weather.source.today).finish().exits(3);
        done.says("has no filings").says("sunlake run backfill");
    }
    assert!(weather.proxy.log().is_empty(), "nothing is asked");
    let of_sample = Sunlake::run(&shipped("sample-details.toml"), &weather.scratch.lake()).finish().exits(3);
    of_sample.says("hint: read filings into this lake first: `sunlake run sample --lake ");
}

#[test]
fn status_counts_the_days_that_are_wanted_and_new_values_wait_for_the_first_window() {
    let weather = Weather::new(|_| Reply::Forward);
    let lines = "[extract]\ndays = 14\n[plan]\nrows_per_call = 100\nmax_offset = 2000\nwindow_days = 90\n";
    let bounded = format!("{lines}[budget]\nmax_requests = 8\n");
    // Every run resumes, until days are complete.
    let mut runs = std::iter::repeat_with(|| weather.run(&bounded).exits(5).json());
    let stopped = runs.find(|summary| !summary["snapshot"].is_null()).expect("endless");
    let status = sunlake(&weather.scratch.lake(), &["status", "--json"]).exits(0).json();
    let days = &stopped["coverage"];
    assert_eq!(
        (&status["days_wanted"], &status["days_complete"]),
        (&days["days"], &days["complete"]),
        "{status}"
    );
    assert!(days["complete"].as_u64() < days["days"].as_u64(), "{days}");
    let text = sunlake(&weather.scratch.lake(), &["status"]).exits(0);
    assert_eq!(days["listings"], serde_json::json!(["*", "fictitious"]));
    let incomplete = days["incomplete"].as_array().expect("days");
    let incomplete: BTreeSet<&str> = incomplete.iter().filter_map(|day| day["day"].as_str()).collect();
    let line =
        format!("coverage   {} of 14 days complete, fictitious names included\n", 14 - incomplete.len());
    let pipeline = weather.scratch.path("backfill.toml");
    let next = format!("next       resume the unfinished run: sunlake run {} --lake ", pipeline.display());
    assert!(text.stdout.contains(&line), "{}", text.shown());
    assert!(["not read yet", &next].iter().all(|words| text.stdout.contains(words)), "{}", text.shown());
    let done = weather.run(lines);
    assert!(!done.stderr.contains("never seen"), "{}", done.shown());
    assert_eq!(done.complete()["new_values"], serde_json::json!({}));
}

#[test]
fn the_command_that_continues_a_run_of_a_day_to_come_has_its_day() {
    let (scratch, day) = (Scratch::new(), "2100-03-19");
    let bounded = format!("{}[budget]\nmax_requests = 8\n", source::sample_pipeline(7, 0.05));
    let (pipeline, lake) = (scratch.file("ahead.toml", &bounded), scratch.lake());
    let run = || Sunlake::on(&lake, ["run", "--today", day]).args([&pipeline]).finish().exits(5);
    let (file, folder) = (pipeline.display(), lake.display());
    let command = format!("sunlake run {file} --lake {folder} --today {day}\n");
    let stopped = run();
    assert!(stopped.stdout.contains(&format!("resume     {command}")), "{}", stopped.shown());
    let status = sunlake(&lake, &["status"]).exits(0);
    let next = format!("next       resume the unfinished run: {command}");
    assert!(status.stdout.contains(&next), "{}", status.shown());
    run();
}

#[test]
fn a_run_that_cannot_begin_reports_its_requests_and_its_time() {
    let weather = Weather::new(|request| match request.number {
        1 => Reply::error(503, Vec::new()),
        _ => Reply::error(429, vec![("Retry-After", "7200".to_owned())]),
    });
    let stopped = weather.run("").exits(5).json();
    let requests = &stopped["requests"];
    assert_eq!((&requests["sent"], &requests["by_stage"]["reference"]), (&2.into(), &2.into()), "{stopped}");
    assert!(stopped["elapsed_secs"].as_f64() > Some(0.01), "{stopped}");
    weather.proxy.follow(|_| Reply::error(403, Vec::new()));
    let refused = weather.run("").code();
    assert!(refused.is_some_and(|code| code != 0));
}

#[test]
fn a_key_file_keeps_what_a_person_wrote_and_a_warning_names_one_that_others_can_read() {
    let scratch = Scratch::new();
    let file = scratch.path("keys.toml");
    let keys = |arguments: &[&str]| {
        Sunlake::new(["keys"]).args(arguments).args(["--keys".as_ref(), file.as_os_str()])
    };
    let create = ["create", "--account", "acme", "--plan", "starter"];
    keys(&create).finish().exits(0);
    keys(&[&create[..], &["--scopes", "foo"]].concat())
        .finish()
        .exits(3)
        .says("\"foo\"")
        .says("--scopes data");
    let mine = "# Ask Ann before you change this.\n";
    let text =
        format!("{mine}{}", std::fs::read_to_string(&file).expect("a key file").replace(" = ", "   = "));
    std::fs::write(&file, &text).expect("a key file");
    assert!(!keys(&["list"]).finish().exits(0).stderr.contains("chmod"), "only its owner can read it");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).expect("its mode");
    keys(&["list"]).finish().exits(0).says(&format!("chmod 600 {}", file.display()));
    let made = keys(&create).args(["--json"]).finish().exits(0).json();
    let added = std::fs::read_to_string(&file).expect("a key file");
    assert!(added.starts_with(&text), "{added}");
    keys(&["revoke", made["id"].as_str().expect("an id")]).finish().exits(0);
    let revoked = std::fs::read_to_string(&file).expect("a key file");
    assert!(revoked.starts_with(&added[..added.len() - 1]) && revoked.contains("revoked_at"), "{revoked}");

    let key = scratch.file("key", "flb_0");
    let run = Sunlake::run(&shipped("daily.toml"), &scratch.lake()).args(["--base-url", "http://192.0.2.1"]);
    run.env("SUNLAKE_API_KEY_FILE", &key.to_string_lossy()).finish().exits(3).says("chmod 600");
}
