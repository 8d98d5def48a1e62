//! Full disks, kills at any moment, and readers who look while runs publish.

use crate::support::command::{Finished, Running, Sunlake, sunlake};
use crate::support::dice::Dice;
use crate::support::lake::{self, files_below_if_there};
use crate::support::proxy::Reply;
use crate::support::scratch::Scratch;
use crate::support::source;
use crate::support::weather::Weather;
use crate::support::{PATIENCE, python, wait_for};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Claims what a lake that something happened to must be: it opens, and its newest snapshot is sound.
fn assert_sound(lake: &Path, when: &str) {
    let on = |command: &str| sunlake(lake, &[command]);
    let status = on("status");
    // A run begins with its record; a kill may leave the record under a temporary name.
    let is_begun = files_below_if_there(&lake.join("runs")).iter().any(|file| file.ends_with("run.json"));
    assert!(status.stderr.is_empty() || !is_begun, "{when}{}", status.shown());
    match has_commit(lake) {
        false => on("verify").exits(3).says("no snapshot"),
        true => on("verify").exits(0),
    };
}

/// Whether anything is committed; what a killed run left under a temporary name is no commit.
fn has_commit(lake: &Path) -> bool {
    let files = files_below_if_there(&lake.join("commits"));
    let names = files.iter().filter_map(|path| path.file_name()?.to_str());
    names.into_iter().any(|name| !name.starts_with('.'))
}

#[test]
fn a_file_size_limit_ends_a_run_with_9_and_one_line_and_the_next_run_resumes() {
    let ground = Weather::new(|_| Reply::Forward);
    let lake = ground.scratch.lake();
    let mut stopped = 0;
    for kibibytes in [4, 16, 32, 48] {
        // A write beyond the limit is refused like one on a full disk; the signal that comes with it is not wanted.
        let limit = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", kibibytes * 2);
        let ended = ground.run_into(&lake).through(&["sh", "-c", &limit, "sh"]).finish();
        assert_sound(&lake, &format!("{kibibytes} KiB"));
        assert_reported_in_one_line(ended, "too large");
        stopped += 1;
    }
    let sent = ground.proxy.targets().len();
    ground.run_into(&lake).finish().exits(0);
    lake::assert_same(&lake::filings(&lake), &lake::filings(&ground.source.lake), "with room again");
    let mut distinct = ground.proxy.pages();
    let all = distinct.len();
    distinct.sort();
    distinct.dedup();
    // A page that could not be kept did not count, once a run.
    assert!(
        all <= distinct.len() + stopped,
        "{all} requests for {} pages, {sent} before there was room",
        distinct.len()
    );
}

fn assert_reported_in_one_line(ended: Finished, why: &str) {
    let ended = ended.exits(9);
    let reported: Vec<&str> = ended.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(reported.len(), 1, "{}", ended.shown());
    assert!(reported[0].contains(why) && !ended.stderr.contains("panic"), "{}", ended.shown());
}

/// Runs on a small disk that grows step by step; prints the exit code of each run.
const SMALL_DISK: &str = r#"
disk=$1; shift
mount -t tmpfs -o size=32k none "$disk" || exit 99
for size in 32k 48k 64k 80k 96k 112k 128k 160k 192k 224k 256k 512k 64m; do
    mount -o remount,size=$size "$disk"
    "$@" > "$disk.out" 2>> "$disk.err"
    code=$?
    "$SUNLAKE" verify --lake "$disk/lake" > /dev/null 2>&1
    echo "$size $code $?"
done
cp -a "$disk/lake" "$disk.kept"
"#;

#[test]
#[ignore = "mounts a small disk, which wants user namespaces or root; 10 s"]
fn a_full_disk_ends_a_run_with_9_and_the_next_run_resumes_when_there_is_room() {
    let ground = Weather::new(|_| Reply::Forward);
    let disk = ground.scratch.path("disk");
    std::fs::create_dir_all(&disk).expect("a folder");
    let script = ground.scratch.file("small-disk.sh", SMALL_DISK);
    let wrapped = ["unshare", "-Urm", "sh", &script.to_string_lossy(), &disk.to_string_lossy()];
    let ended =
        ground.run_into(&disk.join("lake")).names_itself("SUNLAKE").through(&wrapped).finish().exits(0);
    let codes: Vec<Vec<&str>> = ended.stdout.lines().map(|line| line.split(' ').collect()).collect();
    let full = codes.iter().filter(|words| words[1] == "9").count();
    assert!(full >= 3, "{}", ended.shown());
    for words in &codes {
        assert!(["0", "9"].contains(&words[1]) && ["0", "3"].contains(&words[2]), "{}", ended.shown());
    }
    assert_eq!(codes.last().map(|words| words[1]), Some("0"), "{}", ended.shown());
    let reported = std::fs::read_to_string(disk.with_extension("err")).expect("what was said");
    let lines: Vec<&str> = reported.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(lines.len(), full, "{reported}");
    assert!(lines.iter().all(|line| line.contains("No space left")), "{reported}");
    lake::assert_same(
        &lake::filings(&disk.with_extension("kept")),
        &lake::filings(&ground.source.lake),
        "with room again",
    );
}

/// Kills this number of runs at random moments, half of them while they merge and publish; a run that ended before is no kill, and a
/// lake that is done is left for a new one. Gives how many runs were started, and how many lakes were finished.
fn kill_runs(kills: u64, seed: u64) -> (u64, u64) {
    let ground = Weather::new(|_| Reply::Forward);
    let expected = lake::filings(&ground.source.lake);
    let calm = ground.run_into(&ground.scratch.path("calm")).finish();
    let whole_millis = calm.took.as_millis().try_into().unwrap_or(u64::MAX);
    calm.complete();
    let (mut dice, mut started, mut killed, mut finished) = (Dice::new(seed), 0, 0, 0);
    let mut lake = ground.scratch.path("lake-0");
    while killed < kills {
        started += 1;
        let mut run = ground.run_into(&lake).start();
        let pause = match dice.below(2) {
            0 => Duration::from_millis(dice.below(whole_millis + whole_millis / 5)),
            _ => {
                wait_for_merge(&mut run, &lake);
                Duration::from_micros(dice.below(120_000))
            }
        };
        let due = Instant::now() + pause;
        wait_for("the moment of the kill", PATIENCE, || {
            (Instant::now() >= due || !run.is_running()).then_some(())
        });
        let when = format!("run {started} of seed {seed}");
        killed += u64::from(run.is_running());
        run.kill();
        assert_sound(&lake, &when);
        if has_commit(&lake) {
            // Now and then a run ends before the kill, or finds nothing left to do.
            ground.run_into(&lake).finish().exits(0);
            lake::assert_same(&lake::filings(&lake), &expected, &when);
            assert_sound(&lake, &when);
            std::fs::remove_dir_all(&lake).expect("removed");
            finished += 1;
            lake = ground.scratch.path(&format!("lake-{finished}"));
        }
    }
    ground.run_into(&lake).finish().exits(0);
    lake::assert_same(&lake::filings(&lake), &expected, "in the end");
    (started, finished)
}

/// Waits until a run merges what it read, or has ended.
fn wait_for_merge(run: &mut Running, lake: &Path) {
    let merges = || {
        let files = files_below_if_there(&lake.join("runs"));
        files.iter().any(|path| {
            path.components().any(|part| part.as_os_str() == "staged")
                && path.iter().any(|part| part == "filings")
        })
    };
    wait_for("a merge", PATIENCE, || (merges() || !run.is_running()).then_some(()));
}

#[test]
fn runs_killed_at_random_leave_a_sound_lake_each_time_and_the_rows_of_a_calm_one() {
    kill_runs(8, 1);
}

#[test]
#[ignore = "500 kills, or SUNLAKE_KILL_ROUNDS of them: minutes"]
fn five_hundred_killed_runs() {
    let kills = std::env::var("SUNLAKE_KILL_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(500);
    let seed = std::env::var("SUNLAKE_KILL_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(7);
    let begun = Instant::now();
    let (started, finished) = kill_runs(kills, seed);
    println!("{kills} of {started} runs killed, {finished} lakes finished, {:.0?}", begun.elapsed());
}

#[test]
fn of_runs_that_start_at_once_on_one_folder_one_writes_and_the_others_exit_with_8() {
    let ground = Weather::new(|_| Reply::Forward);
    let lake = ground.scratch.lake();
    // Whichever gets the folder waits for an answer until the others have ended.
    ground.proxy.hold_after(10);
    let mut runs: Vec<Running> = (0..4).map(|_| ground.run_into(&lake).start()).collect();
    wait_for("the end of all but one", PATIENCE, || {
        (runs.iter_mut().map(Running::is_running).filter(|is_running| *is_running).count() <= 1).then_some(())
    });
    let held = runs.iter_mut().position(Running::is_running).expect("one that writes");
    let writing = runs.swap_remove(held);
    for refused in runs {
        refused.finish().exits(8);
    }
    ground.proxy.release();
    writing.finish().complete();
    assert_eq!(lake::commits(&lake).len(), 1);
    assert_sound(&lake, "after all");
    lake::assert_same(&lake::filings(&lake), &lake::filings(&ground.source.lake), "after all");
}

/// Publishes one day after another while DuckDB reads; returns the snapshots it saw, and how often the link changed
/// while it listed files.
fn watch(days: u32) -> (usize, u64) {
    let scratch = Scratch::new();
    let (lake, stop) = (scratch.lake(), scratch.path("stop"));
    let pipeline = scratch.file("sample.toml", &source::sample_pipeline(10, 0.02));
    let first: jiff::civil::Date = "2026-03-02".parse().expect("a date");
    let run = |day: u32| {
        let today = first.checked_add(jiff::Span::new().days(i64::from(day))).expect("a day").to_string();
        Sunlake::run(&pipeline, &lake).args(["--today", &today]).finish().complete();
    };
    run(0);
    let mut reader = python::command("watching.py")
        .args([&lake, &stop])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python");
    // From its first look on, days change under it; a look at the last of them ends it.
    let mut looked = String::new();
    BufReader::new(reader.stdout.as_mut().expect("stdout")).read_line(&mut looked).expect("a line");
    (1..=days).for_each(run);
    std::fs::write(&stop, "").expect("a mark");
    let reported = python::reported("watching.py", &reader.wait_with_output().expect("python"));
    let rows: BTreeMap<String, i64> = lake::commits(&lake)
        .iter()
        .map(|commit| {
            (commit["snapshot"].to_string(), commit["tables"]["filings"]["rows"].as_i64().expect("rows"))
        })
        .collect();
    assert_eq!(rows.len() as u32, days + 1);
    let seen = reported["seen"].as_object().expect("snapshots");
    for (snapshot, figures) in seen {
        assert_eq!(figures[0], rows[snapshot], "snapshot {snapshot}: {figures}");
        assert_eq!(
            figures[1], figures[2],
            "snapshot {snapshot}: the aggregate is of the same rows: {figures}"
        );
    }
    for total in reported["totals"].as_array().expect("totals") {
        assert!(rows.values().any(|rows| total == rows), "{total} is of no snapshot: {rows:?}");
    }
    (seen.len(), reported["gone"].as_u64().expect("a count"))
}

#[test]
fn readers_see_complete_snapshots_only_while_runs_publish() {
    assert!(watch(6).0 > 1);
}

#[test]
#[ignore = "200 commits, minutes"]
fn readers_see_complete_snapshots_only_through_200_commits() {
    let (seen, gone) = watch(200);
    println!("200 commits, {seen} snapshots seen, {gone} times the link changed while files were listed");
    assert!(seen > 50);
}
