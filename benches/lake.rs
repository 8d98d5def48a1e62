//! What a lake of many rows costs: a commit of one changed month, room on disk, usual queries. Prints Markdown.
//!
//! ```sh
//! cargo bench --bench lake -- 10000000 > docs/internals/lake.md
//! ```
//!
//! The second half needs python3 with venv and `PyPI`, for DuckDB and pyarrow.

#![expect(clippy::print_stdout, reason = "a bench prints its results on stdout")]

use arrow_array::RecordBatch;
use jiff::Timestamp;
use jiff::civil::{Date, date};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use sunlake::lake::{Commit, CommitInfo, Lake};
use sunlake::sample::{SampleSpec, Shape, businesses};
use sunlake::table::{FilingRow, Row, read_rows};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const TODAY: Date = date(2026, 11, 20);
/// Filings of Florida in a year, about.
const ROWS_A_YEAR: u64 = 930_000;
const BATCH_ROWS: usize = 8_192;

fn main() -> Result {
    let rows = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(1_000_000);
    let work = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    println!("# What a lake costs\n");
    println!(
        "Made by `cargo bench --bench lake -- {rows} > docs/internals/lake.md`; the rows are the sample's, from seed 1.\n"
    );
    println!("## One changed month\n");
    println!(
        "One business in twenty of one month gets another name; everything from reading to the new `current` is"
    );
    println!("measured. A first load is the entire lake in one commit.\n");
    println!(
        "| rows of the lake | months | first load, s | rows of the month | commit, s | bytes written | bytes of the lake |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for part in [16, 4, 1] {
        let root = work.path().join(format!("lake-{part}"));
        let lake = Lake::open(&root)?;
        let begun = Instant::now();
        let first = load(&lake, rows / part)?;
        let took = begun.elapsed().as_secs_f64();
        for month in changed_months(&first) {
            change(&lake, &first, &month, took)?;
        }
        if part > 1 {
            std::fs::remove_dir_all(&root)?;
        }
    }
    println!("\nPeak memory: {} MiB.\n", peak_rss_mib());
    compare(&work.path().join("lake-1"), work.path())
}

/// As many rows as asked for, about, in one commit.
fn load(lake: &Lake, rows: u64) -> Result<Commit> {
    let _lock = lake.lock("load", "bench")?;
    let days = u32::try_from((rows * 365).div_ceil(ROWS_A_YEAR))?.max(62);
    let spec = SampleSpec {
        seed: 1,
        today: TODAY,
        days,
        scale: rows as f64 / (f64::from(days) / 365.0 * ROWS_A_YEAR as f64),
        shape: Shape::Plain,
    };
    let mut staging = lake.stage("load")?;
    let mut waiting = Vec::with_capacity(BATCH_ROWS);
    for business in businesses(&spec) {
        waiting
            .push(FilingRow::from_summary(&business.detail.summary, Timestamp::UNIX_EPOCH).ok_or("no row")?);
        if waiting.len() == BATCH_ROWS {
            staging.spill_filings(batch(&waiting)?)?;
            waiting.clear();
        }
    }
    staging.spill_filings(batch(&waiting)?)?;
    staging.merge_filings(&BTreeSet::new(), &|_, _| true, Timestamp::UNIX_EPOCH, TODAY)?;
    Ok(staging.commit(info(0))?)
}

fn batch(rows: &[FilingRow]) -> Result<RecordBatch> {
    Ok(FilingRow::batch(rows)?)
}

fn info(second: i64) -> CommitInfo {
    CommitInfo {
        committed_at: Timestamp::from_second(second).unwrap_or(Timestamp::UNIX_EPOCH),
        today: TODAY,
        pipeline: "bench".to_owned(),
        requests_sent: 0,
        state: serde_json::Value::Null,
        checks: serde_json::Value::Null,
    }
}

/// A full month, and one that has just begun.
fn changed_months(commit: &Commit) -> Vec<String> {
    let files = commit.tables.get("filings").map(|table| table.files.as_slice()).unwrap_or_default();
    let months: Vec<String> =
        files.iter().filter_map(|file| Some(file.path.split('/').nth(1)?.to_owned())).collect();
    let of_today = format!("filed_month={:04}-{:02}", TODAY.year(), TODAY.month());
    let at = months.iter().position(|month| *month == of_today).unwrap_or(0);
    [at.checked_sub(1), Some(at)].into_iter().flatten().filter_map(|at| months.get(at).cloned()).collect()
}

fn change(lake: &Lake, first: &Commit, month: &str, load_secs: f64) -> Result {
    let parent = lake.current()?.ok_or("no snapshot")?;
    let files: Vec<PathBuf> = lake.open_snapshot(&parent).paths("filings")?;
    let file = files.iter().find(|path| path.to_string_lossy().contains(month)).ok_or("no such month")?;
    let rows: Vec<FilingRow> = read_rows(file)?;
    let number = i64::try_from(parent.snapshot)?;
    let seen = Timestamp::from_second(number * 1_000)?;
    let changed: Vec<FilingRow> = rows
        .iter()
        .step_by(20)
        .map(|row| FilingRow { name: format!("{} II", row.name), changed_at: seen, ..row.clone() })
        .collect();
    let run = format!("change-{number}");
    let begun = Instant::now();
    let commit = {
        let _lock = lake.lock(&run, "bench")?;
        let mut staging = lake.stage(&run)?;
        staging.spill_filings(batch(&changed)?)?;
        staging.merge_filings(&BTreeSet::new(), &|_, _| true, seen, TODAY)?;
        staging.commit(info(number * 1_000))?
    };
    let took = begun.elapsed().as_secs_f64();
    let known = digests(&parent);
    let written: u64 = digests(&commit)
        .iter()
        .filter(|(digest, _)| !known.contains_key(*digest))
        .map(|(_, bytes)| bytes)
        .sum();
    let filings = &first.tables["filings"];
    let bytes: u64 = filings.files.iter().map(|file| file.bytes).sum();
    println!(
        "| {} | {} | {load_secs:.1} | {} | {took:.2} | {written} | {bytes} |",
        filings.rows,
        filings.files.len(),
        rows.len()
    );
    Ok(())
}

fn digests(commit: &Commit) -> BTreeMap<&str, u64> {
    let files = commit.tables.values().flat_map(|table| &table.files);
    files.map(|file| (file.blake3.as_str(), file.bytes)).collect()
}

/// The same rows as DuckDB and pyarrow write them by default, and six queries on each, by DuckDB.
fn compare(lake: &Path, work: &Path) -> Result {
    let python = python()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/lake.py");
    let output = Command::new(python).arg(script).arg(lake.join("current/filings")).arg(work).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    print!("{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

/// An interpreter with the packages of the tests, made once in the build folder.
fn python() -> Result<PathBuf> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pyenv-bench");
    let python = home.join("bin/python");
    if !home.join("ready").try_exists()? {
        let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/requirements.txt");
        succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))?;
        succeed(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(requirements))?;
        std::fs::write(home.join("ready"), "")?;
    }
    Ok(python)
}

fn succeed(command: &mut Command) -> Result {
    let output = command.output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

fn peak_rss_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0) >> 10
}
