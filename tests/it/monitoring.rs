//! The metrics file of a run, and the dashboards and alerts that read it and the server's metrics.

use crate::service::{TOLD_METRICS, metrics_address};
use crate::support::command::{Sunlake, project, shipped, succeed};
use crate::support::lake::files_below;
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::source::{self, sample_pipeline};
use crate::support::{http, python};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The value of a metric, by its name and the first labels.
fn value(metrics: &str, name: &str) -> f64 {
    let found = metrics.lines().find_map(|line| line.strip_prefix(name)?.rsplit_once(' ')?.1.parse().ok());
    found.unwrap_or_else(|| panic!("{name} in\n{metrics}"))
}

#[test]
fn a_run_writes_its_metrics_and_so_does_a_failed_one() {
    let (scratch, source) = (Scratch::new(), source::small());
    let server = ApiServer::generous(source, AGENCY);
    let file = scratch.path("metrics/sunlake.prom");
    let run = |url: &str| {
        let run =
            Sunlake::run(&shipped("daily.toml"), &scratch.lake()).asking(url, source.today, &server.key);
        run.args(["--metrics-file".as_ref(), file.as_os_str()]).finish()
    };
    run(&server.url()).exits(3).says("the folder of the metrics file").says("hint: create the folder");
    assert!(!scratch.lake().exists(), "found before the run begins");
    std::fs::create_dir(scratch.path("metrics")).expect("a folder");
    let summary = run(&server.url()).complete();
    let metrics = text(&file);
    let of = |name: &str| value(&metrics, &format!("sunlake_{name}{{pipeline=\"daily\""));
    assert_eq!(of("run_exit_code"), 0.0);
    assert_eq!(Some(of("lake_snapshot")), summary["snapshot"].as_f64());
    assert_eq!(Some(of("coverage_wanted")), summary["coverage"]["days"].as_f64());
    assert_eq!(of("coverage_wanted"), of("coverage_complete"));
    let sent: f64 = metrics
        .lines()
        .filter(|line| line.starts_with("sunlake_run_requests{"))
        .map(|line| value(line, "sunlake_run_requests{"))
        .sum();
    assert_eq!(Some(sent), summary["requests"]["sent"].as_f64());
    let filings = value(&metrics, "sunlake_lake_rows{pipeline=\"daily\",table=\"filings\"}");
    assert_eq!(Some(filings), summary["rows"]["filings"]["total"].as_f64());
    let left = value(&metrics, "sunlake_quota_left{pipeline=\"daily\",window=\"day\"}");
    let remaining = server.get("/v1/me").json()["remaining"]["day"].as_f64();
    assert_eq!(Some(left - 1.0), remaining, "the request of this test is the one more");
    assert!(!metrics.contains(&server.key));
    assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o644);
    run("http://127.0.0.1:9").exits(6);
    let metrics = text(&file);
    assert_eq!(value(&metrics, "sunlake_run_exit_code{pipeline=\"daily\"}"), 6.0);
    assert!(!metrics.contains("sunlake_lake_snapshot"), "a failed run does not look for it");
    assert_eq!(
        files_below(&scratch.path("metrics")),
        std::slice::from_ref(&file),
        "nothing else is left there"
    );
}

/// The metrics that a text names.
fn named(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_part(c)).filter(|word| word.starts_with("sunlake_"));
    words.filter(|word| *word != "sunlake_daily").map(str::to_owned).collect()
}

/// Metrics of a run and of a server, as they are written.
fn written(scratch: &Scratch) -> String {
    let pipeline = scratch.file("sample.toml", &sample_pipeline(3, 0.02));
    let file = scratch.path("run.prom");
    let run = Sunlake::run(&pipeline, &scratch.lake()).args(["--today", "2026-03-20"]);
    run.env("SUNLAKE_METRICS_FILE", &file.to_string_lossy()).finish().complete();
    let server = ApiServer::with_flags(source::small(), AGENCY, &TOLD_METRICS);
    assert_eq!(server.get("/v1/me").status, 200);
    let page = http::send(metrics_address(&server), "GET", "/metrics", &[]).expect("the page").text();
    text(&file).replace("# EOF\n", "") + &page
}

#[test]
fn dashboards_and_alerts_name_metrics_that_exist() {
    // The sample has no account, and so no quota.
    let mut known = named(&written(&Scratch::new()));
    known.insert("sunlake_quota_left".to_owned());
    let deploy = project().join("pipelines/deploy");
    let mut files = files_below(&deploy.join("grafana"));
    files.extend(files_below(&deploy.join("prometheus")));
    assert_eq!(files.len(), 3);
    for file in files {
        let used = named(&text(&file));
        assert!(used.len() > 8, "{used:?}");
        let missing: Vec<&String> = used.difference(&known).collect();
        assert!(missing.is_empty(), "{}: {missing:?} of\n{known:#?}", file.display());
        if file.extension().is_some_and(|end| end == "json") {
            let board: serde_json::Value = serde_json::from_str(&text(&file)).expect("JSON");
            assert!(board["panels"].as_array().is_some_and(|panels| panels.len() > 8));
        }
    }
}

#[test]
fn workflows_and_alerts_are_yaml() {
    let script = "import sys, yaml\n\
                  for path in sys.argv[1:]:\n    assert isinstance(yaml.safe_load(open(path)), dict), path\n";
    let mut python = python::tool("python");
    python.args(["-c", script]);
    for file in [".github/workflows/ci.yml", ".github/workflows/release.yml"] {
        python.arg(project().join(file));
    }
    for file in ["github-actions.yml", "prometheus/alerts.yml"] {
        python.arg(project().join("pipelines/deploy").join(file));
    }
    succeed(&mut python);
}

#[test]
#[ignore = "needs promtool, of Debian's package prometheus"]
fn promtool_accepts_metrics_and_rules() {
    let scratch = Scratch::new();
    let pipeline = scratch.file("sample.toml", &sample_pipeline(3, 0.02));
    let file = scratch.path("run.prom");
    let run = Sunlake::run(&pipeline, &scratch.lake()).args(["--today", "2026-03-20"]);
    run.args(["--metrics-file".as_ref(), file.as_os_str()]).finish().complete();
    let promtool = std::env::var("PROMTOOL").unwrap_or("promtool".to_owned());
    let metrics = std::fs::File::open(&file).expect("the metrics");
    succeed(Command::new(&promtool).args(["check", "metrics"]).stdin(metrics));
    succeed(Command::new(&promtool).args(["check", "rules"]).arg(shipped("deploy/prometheus/alerts.yml")));
}
