//! A run takes as much memory for a million rows as for a tenth of them, and a server no more after new snapshots.

use crate::operation::becomes;
use crate::service::{TOLD_METRICS, metrics_address};
use crate::support::command::{Sunlake, project, succeed};
use crate::support::scratch::{self, Scratch};
use crate::support::server::{ApiServer, ENTERPRISE};
use crate::support::source::{Source, sample_pipeline};
use crate::support::{PATIENCE, wait_for};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::process::Command;

const TODAY: &str = "2026-03-20";

/// A lake of this number of days of all Florida, to be served.
fn florida(days: u32) -> Source {
    let name = format!("florida-{days}");
    let text = sample_pipeline(days, 1.0).replace("\"agency\"", "\"enterprise\"");
    let pipeline = scratch::root().join(format!("{name}.toml"));
    std::fs::write(&pipeline, text).expect("a pipeline file");
    let lake = scratch::root().join(name);
    Sunlake::run(&pipeline, &lake).args(["--today", TODAY]).finish().exits(0);
    Source { lake, today: TODAY }
}

/// Rows landed from a server in another process, and the most memory that took, in MiB: a first run, and one that finds
/// everything as it was.
fn run(days: u32) -> (u64, [u64; 2]) {
    let server = ApiServer::generous(&florida(days), ENTERPRISE);
    let scratch = Scratch::new();
    let aggregates = project().join("pipelines/aggregates");
    let text = format!("name = \"p\"\n[extract]\ndays = {days}\n[aggregates]\nfolder = {aggregates:?}\n");
    let pipeline = scratch.file("p.toml", &text);
    let run = || -> Value {
        let run = Sunlake::run(&pipeline, &scratch.lake()).args(["--base-url", &server.url()]);
        run.args(["--today", TODAY]).env("SUNLAKE_API_KEY", &server.key).finish().exits(0).json()
    };
    let [first, again] = [run(), run()];
    let mebibytes = |summary: &Value| summary["peak_rss_bytes"].as_u64().expect("a number") >> 20;
    (first["rows"]["filings"]["total"].as_u64().expect("a number"), [mebibytes(&first), mebibytes(&again)])
}

#[test]
#[ignore = "reads a million rows, twice: about five minutes"]
fn a_million_rows_take_no_more_memory_than_a_hundred_thousand() {
    let (few, small) = run(40);
    println!("{few} rows: {small:?} MiB, first and again");
    let (many, large) = run(365);
    println!("{many} rows: {large:?} MiB, first and again");
    assert!(few <= 150_000 && many >= 850_000, "{few} and {many} rows");
    for (small, large) in small.into_iter().zip(large) {
        assert!(large * 100 <= small * 120, "{large} MiB for {many} rows, {small} for {few}");
    }
}

#[test]
#[ignore = "makes a lake of a million rows and serves it, a minute"]
fn a_new_snapshot_takes_twice_the_memory_for_a_moment_and_then_none() {
    let source = florida(365);
    let server = ApiServer::with_flags(&source, ENTERPRISE, &TOLD_METRICS);
    let metrics = metrics_address(&server);
    let [old, next] = ["served/current", "served/next"].map(|name| server.scratch.path(name));
    let begun = server.memory();
    for snapshot in [2, 3] {
        let copy = server.scratch.path(&snapshot.to_string());
        let first = source.lake.join("current").canonicalize().expect("a snapshot");
        succeed(Command::new("cp").args(["-rl"]).args([&first, &copy]));
        symlink(&copy, &next).and_then(|()| std::fs::rename(&next, &old)).expect("a link");
        becomes(metrics, "sunlake_snapshot", f64::from(snapshot));
        let is_back = || (server.memory() * 100 <= begun * 120).then_some(());
        wait_for("the memory of the start", PATIENCE, is_back);
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process.id())).expect("a process");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its peak");
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    let [begun, peak, ended] = [begun, peak << 10, server.memory()].map(|bytes| bytes >> 20);
    println!("{begun} MiB at the start, {peak} at most, {ended} after two new snapshots");
    assert!(peak * 100 <= begun * 220, "{peak} MiB, {begun} at the start");
}
