//! What aggregates cost: seconds, CPU-seconds and peak memory in MiB of each round. `benches/aggregates.py` starts it for each
//! aggregate, next to the same SQL on DuckDB.

#![expect(clippy::print_stdout, reason = "a bench prints its results on stdout")]

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;
use sunlake::aggregate::{SnapshotFiles, in_order, load_aggregates, run_aggregate};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// As in the program.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> Result {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [snapshot, names, rounds] = words.as_slice() else {
        return Err("a snapshot's folder, names, rounds".into());
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/aggregates");
    let names: BTreeSet<&str> = names.split(',').collect();
    let mut aggregates = load_aggregates(&folder)?;
    aggregates.retain(|(name, _)| names.contains(name.as_str()) || names.contains("all"));
    let mut tables = tables(Path::new(snapshot))?;
    let out = tempfile::tempdir()?;
    for _ in 0..rounds.parse()? {
        let (begun, busy) = (Instant::now(), cpu_secs());
        for (name, sql) in in_order(&aggregates)? {
            let made = run_aggregate(name, sql, &tables, out.path())?;
            tables.insert(format!("agg_{name}"), vec![made.path]);
        }
        println!("{} {} {}", begun.elapsed().as_secs_f64(), cpu_secs() - busy, peak_rss_mib());
    }
    Ok(())
}

/// The files of each table of a snapshot.
fn tables(snapshot: &Path) -> Result<SnapshotFiles> {
    let mut tables = SnapshotFiles::new();
    for entry in std::fs::read_dir(snapshot)? {
        let folder = entry?.path();
        let mut files = Vec::new();
        collect_files(&folder, &mut files)?;
        files.sort();
        if let Some(name) = folder.file_name() {
            tables.insert(name.to_string_lossy().into_owned(), files);
        }
    }
    Ok(tables)
}

fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => collect_files(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}

fn cpu_secs() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn peak_rss_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0) >> 10
}
