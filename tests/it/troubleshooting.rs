//! Every row of the table of exit codes in `docs/troubleshooting.md` is tried: what leads to the code, and what the row says to do.

use crate::operation::AS_NOBODY;
use crate::state_files::{import, pipeline};
use crate::state_order::{company, complete_set, file, put};
use crate::support::command::{Finished, Sunlake, project, sunlake};
use crate::support::lake::{damage, part};
use crate::support::proxy::Reply;
use crate::support::scratch::Scratch;
use crate::support::source::{self, WITHOUT_AGGREGATES, sample_pipeline};
use crate::support::weather::Weather;
use std::path::Path;

/// The code and the case of each row, and what tries it.
static TRIED: [(&str, &str, fn()); 16] = [
    ("1", "always", a_bug),
    ("2", "always", a_wrong_command_line),
    ("3", "the message names a line of a file", a_wrong_line),
    ("3", "the message names a variable or an address", a_missing_address),
    ("3", "the message names a day", a_wrong_day),
    ("3", "the message names files of the state", a_second_file),
    ("4", "always", a_wrong_key),
    ("5", "`import` of the summary is null", a_spent_budget),
    ("5", "`import` names files", a_broken_daily_file),
    ("6", "always", an_api_that_is_away),
    ("7", "the snapshot is `held`", strict_checks),
    ("7", "`nothing was published`", || { /* With the row above. */ }),
    ("8", "always", a_second_run),
    ("9", "the disk is full", a_full_disk),
    ("9", "a file of the lake is damaged", a_damaged_lake),
    ("9", "a file of the state is damaged", a_damaged_set),
];

#[test]
fn each_row_of_the_exit_codes_leads_out() {
    let page = std::fs::read_to_string(project().join("docs/troubleshooting.md")).expect("the page");
    let (_, section) = page.split_once("\n## By exit code\n").expect("the section");
    let (section, _) = section.split_once("\n## ").expect("the next section");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| "));
    let rows: Vec<(&str, &str)> = rows
        .filter(|row| row.starts_with(|first: char| first.is_ascii_digit()))
        .map(|row| {
            let mut cells = row.split(" | ");
            (cells.next().unwrap_or_default(), cells.next().unwrap_or_default())
        })
        .collect();
    let tried: Vec<(&str, &str)> = TRIED.iter().map(|(code, case, _)| (*code, *case)).collect();
    assert_eq!(rows, tried, "a row is not tried, or is no more");
    assert!((1..=9).all(|code: u8| tried.iter().any(|(tried, _)| *tried == code.to_string())), "{tried:?}");
    let halves = TRIED.split_at(TRIED.len() / 2);
    std::thread::scope(|scope| {
        let half =
            |half: &'static [(_, _, fn())]| scope.spawn(move || half.iter().for_each(|(.., trial)| trial()));
        for half in [half(halves.0), half(halves.1)] {
            half.join().expect("tried");
        }
    });
}

fn sample(days: u32, scale: f64) -> String {
    let text = sample_pipeline(days, scale);
    let (before, _) = text.split_once("folder =").expect("aggregates");
    format!("{before}{WITHOUT_AGGREGATES}\n")
}

/// A run of the sample with further lines in its pipeline file.
fn run(scratch: &Scratch, today: &str, lines: &str) -> Finished {
    let file = scratch.file("sample.toml", &format!("{}{lines}", sample(3, 0.01)));
    Sunlake::run(&file, &scratch.lake()).args(["--today", today]).finish()
}

/// No thread can be started.
fn a_bug() {
    let limited = [AS_NOBODY.as_slice(), &["prlimit", "--nproc=1"]].concat();
    let help = || Sunlake::new(["doctor", "-v"]).within(Path::new("/"));
    help()
        .through(&limited)
        .finish()
        .exits(1)
        .says("error: a bug in sunlake")
        .says("hint: run it again with `-v`");
}

fn a_wrong_command_line() {
    let lake = &source::small().lake;
    sunlake(lake, &["status", "--jsn"]).exits(2).says("--jsn");
    sunlake(lake, &["status", "--json"]).exits(0);
}

fn a_wrong_line() {
    let scratch = Scratch::new();
    run(&scratch, "2026-03-19", "[retention]\nlst = 1\n").exits(3).says("sample.toml, line").says("last");
    run(&scratch, "2026-03-19", "[retention]\nlast = 1\n").complete();
}

fn a_missing_address() {
    let weather = Weather::new(|_| Reply::Forward);
    let file = weather.pipeline("[extract]\ndays = 1\n");
    let run = || {
        Sunlake::run(&file, &weather.scratch.lake())
            .args(["--today", weather.source.today])
            .env("SUNLAKE_API_KEY", &weather.server.key)
    };
    run().finish().exits(3).says("SUNLAKE_BASE_URL");
    run().env("SUNLAKE_BASE_URL", "127.0.0.1:1").finish().exits(3).says("https://");
    run().env("SUNLAKE_BASE_URL", &weather.proxy.url()).finish().complete();
}

fn a_wrong_day() {
    let scratch = Scratch::new();
    run(&scratch, "2026-03-18", "").complete();
    run(&scratch, "2026-03-25", "").complete();
    run(&scratch, "2026-03-19", "").exits(3).says("sunlake snapshot rollback 1");
    sunlake(&scratch.lake(), &["snapshot", "rollback", "1"]).exits(0);
    run(&scratch, "2026-03-19", "").complete();
}

/// A lake of the state's files with the file of a day, and where that file is.
fn of_state(scratch: &Scratch) -> String {
    put(scratch, &complete_set("q", "10092026", &[]));
    let (name, text) = file("20261012c.txt", &[company("L26000000015", &[]), company("L26000000025", &[])]);
    put(scratch, &[(name.clone(), text)]);
    import(scratch, &pipeline(scratch, "")).complete();
    name
}

fn a_second_file() {
    let scratch = Scratch::new();
    of_state(&scratch);
    let second = file("second/20261012c.txt", &[company("L26000000035", &[])]);
    put(&scratch, std::slice::from_ref(&second));
    import(&scratch, &pipeline(&scratch, "")).exits(3).says(&second.0);
    std::fs::remove_file(scratch.path("files").join(&second.0)).expect("removed");
    import(&scratch, &pipeline(&scratch, "")).exits(0);
}

fn a_wrong_key() {
    let weather = Weather::new(|_| Reply::Forward);
    let wrong = "flb_0000000000000000000000000000000000000000";
    let lines = "[extract]\ndays = 1\n";
    weather.command(lines).env("SUNLAKE_API_KEY", wrong).finish().exits(4);
    let doctor = |key: &str| {
        let lake = weather.scratch.lake();
        let doctor = Sunlake::on(&lake, ["doctor", "--base-url", &weather.proxy.url()]);
        doctor.env("SUNLAKE_API_KEY", key).finish()
    };
    doctor(wrong).exits(4).says_on_stdout("key");
    weather.run(lines).complete();
}

fn a_spent_budget() {
    let weather = Weather::new(|_| Reply::Forward);
    let summary = weather.run("[budget]\nmax_requests = 5\n").exits(5).json();
    assert!(summary["import"].is_null(), "{summary}");
    assert!(summary["go_on_after"].is_string() || summary["go_on_after"].is_null(), "{summary}");
    weather.run("").complete();
}

fn a_broken_daily_file() {
    let scratch = Scratch::new();
    of_state(&scratch);
    let name = "20261013c.txt";
    put(&scratch, &[(name.to_owned(), "<!DOCTYPE html>\n".to_owned())]);
    let summary = import(&scratch, &pipeline(&scratch, "")).exits(5).json();
    assert_eq!(summary["import"]["unread"][0]["file"], name, "{summary}");
    put(&scratch, &[file(name, &[company("L26000000045", &[])])]);
    import(&scratch, &pipeline(&scratch, "")).complete();
}

fn an_api_that_is_away() {
    let weather = Weather::new(|_| Reply::error(503, Vec::new()));
    let lines = "[extract]\ndays = 1\n[budget]\nattempts = 1\n";
    weather.run(lines).exits(6).says("503");
    weather.proxy.follow(|_| Reply::Forward);
    weather.run(lines).complete();
}

/// Every run of the sample finds businesses that vanished; none may.
const STRICT: &str = "[checks]\nmax_vanished_percent = 0.0\nvanished = ";

fn strict_checks() {
    let scratch = Scratch::new();
    let (text, lake) = (sample(20, 0.04), scratch.lake());
    let run = |today: &str, lines: &str| {
        let file = scratch.file("strict.toml", &format!("{text}{lines}"));
        Sunlake::run(&file, &lake).args(["--today", today]).finish()
    };
    run("2026-03-17", "").complete();
    run("2026-03-24", &format!("{STRICT}\"fail\"\n")).exits(7).says("nothing was published");
    let lines = format!("{STRICT}\"hold\"\n");
    let number = run("2026-03-24", &lines).exits(7).json()["held"].to_string();
    sunlake(&lake, &["snapshot", "show", &number]).exits(0).says_on_stdout("max_vanished_percent");
    sunlake(&lake, &["snapshot", "accept", &number]).exits(0);
    run("2026-03-24", &lines).exits(0);
}

fn a_second_run() {
    let weather = Weather::new(|_| Reply::Forward);
    let lake = weather.scratch.lake();
    weather.proxy.hold_after(5);
    let first = weather.run_into(&lake).start();
    weather.proxy.wait_for_requests(6);
    weather.run_into(&lake).finish().exits(8);
    weather.proxy.release();
    weather.proxy.follow(|_| Reply::Forward);
    first.finish().complete();
    weather.run_into(&lake).finish().exits(0);
}

/// A write beyond a limit is refused like one on a full disk. That a prune needs no room, `lake::tests::keep` shows.
fn a_full_disk() {
    let scratch = Scratch::new();
    run(&scratch, "2026-03-18", "").complete();
    run(&scratch, "2026-03-19", "").complete();
    let file = scratch.path("sample.toml");
    let again = || Sunlake::run(&file, &scratch.lake()).args(["--today", "2026-03-20"]);
    again().through(&["sh", "-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh"]).finish().exits(9);
    sunlake(&scratch.lake(), &["snapshot", "prune", "--keep-last", "1"]).exits(0);
    again().finish().complete();
}

fn a_damaged_lake() {
    let scratch = Scratch::new();
    run(&scratch, "2026-03-18", "").complete();
    let lake = scratch.lake();
    let path = part(&lake, 1, "filings");
    damage(&path);
    for page in crate::support::lake::files_below(&lake.join("runs")) {
        if page.to_string_lossy().contains("/raw/") {
            std::fs::remove_file(page).expect("removed");
        }
    }
    sunlake(&lake, &["verify"]).exits(9).says_on_stdout(&path.display().to_string());
    sunlake(&lake, &["verify", "--repair"]).exits(9).says_on_stdout("leaves it out");
    sunlake(&lake, &["snapshot", "prune", "--keep-last", "1"]).exits(0);
    run(&scratch, "2026-03-19", "").complete();
    sunlake(&lake, &["verify"]).exits(0);
}

fn a_damaged_set() {
    let scratch = Scratch::new();
    let files = complete_set("q", "10092026", &[]);
    put(&scratch, &files);
    let (name, text) = &files[3];
    put(&scratch, &[(name.clone(), String::new())]);
    import(&scratch, &pipeline(&scratch, "")).exits(9).says(name);
    put(&scratch, &[(name.clone(), text.clone())]);
    import(&scratch, &pipeline(&scratch, "")).complete();
}
