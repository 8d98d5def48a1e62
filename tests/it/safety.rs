//! Mistakes that cost an account's requests, or somebody's files, are refused before they do.

use crate::support::command::{Sunlake, project, shipped};
use crate::support::lake;
use crate::support::proxy::{Proxy, Reply};
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::source::{self, Source};
use crate::support::weather::Weather;

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
    run("2026-03-21").exits(3).says("2026-03-25").says("`sunlake snapshot rollback 1`");
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
            done.says("pipelines/daily.toml, pipelines/sample.toml");
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
    scratch.file("home/letter.txt", "Dear editor");
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
    assert!(weather.proxy.log().len() <= 3, "{:?}", weather.proxy.targets());
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
