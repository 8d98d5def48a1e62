//! Parses the command line, carries the command out, and exits with its code. The only place that reads the world.

use clap::Parser;
use std::process::ExitCode;
use sunlake::cli::{Cli, Command, World, carry_out};

#[expect(
    clippy::disallowed_methods,
    reason = "the clock and the environment enter the program here, and here only"
)]
#[expect(clippy::print_stderr, reason = "without a runtime there is no log yet")]
fn main() -> ExitCode {
    let cli = Cli::parse();
    if matches!(cli.command, Command::Run { .. } | Command::Replay { .. }) {
        start_again_with_lean_memory();
    }
    let world = World {
        now: jiff::Timestamp::now,
        variable: |name| std::env::var(name).ok(),
        variables: |starts| {
            let all = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
            let named = all.filter(|(name, _)| starts.iter().any(|start| name.starts_with(start)));
            named.filter_map(|(name, value)| Some((name, value.into_string().ok()?))).collect()
        },
        holder,
        peak_rss_bytes,
        max_open_files,
        random,
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("sunlake: no threads to run on: {error}");
            return ExitCode::from(sunlake::cli::exit::BUG);
        }
    };
    ExitCode::from(runtime.block_on(carry_out(cli, &world)))
}

/// Settings under which a run takes as much memory for a million rows as for a tenth of them. The allocator of glibc gives back what
/// was freed; by itself it keeps much of it, thread by thread. Aggregates read the months of the lake one by one, and a join holds few
/// rows of both sides before it settles on the one to keep.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LEAN: [(&str, &str); 6] = [
    ("MALLOC_ARENA_MAX", "2"),
    ("MALLOC_MMAP_THRESHOLD_", "131072"),
    ("MALLOC_TRIM_THRESHOLD_", "131072"),
    ("POLARS_JOIN_SAMPLE_LIMIT", "10000"),
    ("POLARS_MAX_CONCURRENT_SCANS", "1"),
    ("POLARS_NUM_READERS_PRE_INIT", "1"),
];

/// Starts the program again in this same process, since glibc reads its settings at the start alone. Settings that are there
/// already stay; where starting again fails, the run goes on without.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(clippy::disallowed_methods, reason = "the environment enters the program here")]
fn start_again_with_lean_memory() {
    use std::os::unix::process::CommandExt;
    let missing: Vec<_> = LEAN.iter().filter(|(name, _)| std::env::var_os(name).is_none()).copied().collect();
    let mut arguments = std::env::args_os();
    if let (false, Ok(program), Some(name)) = (missing.is_empty(), std::env::current_exe(), arguments.next())
    {
        let _ = std::process::Command::new(program).arg0(name).args(arguments).envs(missing).exec();
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn start_again_with_lean_memory() {}

/// This process, and its host where the kernel tells the name.
fn holder() -> String {
    let process = std::process::id();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match host.trim() {
        "" => format!("process {process}"),
        host => format!("process {process} on {host}"),
    }
}

/// Most memory this process held at once, by the kernel's own account.
fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// The soft limit of open files, by the kernel's own account.
fn max_open_files() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// 256 bits from the kernel.
fn random() -> Result<[u8; 32], std::io::Error> {
    use std::io::Read;
    let mut bits = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bits)?;
    Ok(bits)
}
