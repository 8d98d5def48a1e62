//! Parses the command line, runs the command, and exits with its code. Only this file reads clock and environment.

use clap::FromArgMatches;
use clap::parser::ValueSource;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::ExitCode;
use sunlake::cli::{
    Cli, LEFT_OUT, World, carry_out, command_line, explain, not_text, unusable_variables,
    without_empty_variables,
};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// A panic is a bug, and ends with the exit code of one.
#[expect(clippy::print_stderr, reason = "the log may be part of what failed")]
fn main() -> ExitCode {
    std::panic::catch_unwind(run).unwrap_or_else(|_| {
        eprintln!("error: a bug in sunlake; the lines above say where\nhint: run it again with `-v`");
        ExitCode::from(sunlake::cli::exit::BUG)
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the clock and the environment enter the program here, and here only"
)]
#[expect(clippy::print_stderr, reason = "before the runtime there is no log")]
fn run() -> ExitCode {
    let is_empty = |name: &OsStr| std::env::var_os(name).is_some_and(|value| value.is_empty());
    let unusable = unusable_variables(std::env::vars_os());
    if !unusable.is_empty() {
        let error = start_without(&unusable);
        eprintln!(
            "error: cannot start without {}: {error}\nhint: unset it",
            unusable.join(OsStr::new(", ")).to_string_lossy().escape_debug()
        );
        return ExitCode::from(sunlake::cli::exit::SETTINGS);
    }
    if let Some(given) = not_text(std::env::args_os(), std::env::vars_os()) {
        eprintln!("error: {given} is not text in UTF-8\nhint: give the file or folder another name");
        return ExitCode::from(sunlake::cli::exit::USAGE);
    }
    let line = without_empty_variables(command_line(), &is_empty);
    let matches = line.try_get_matches().unwrap_or_else(|error| match explain(&error) {
        Some(text) => {
            eprint!("{text}");
            std::process::exit(i32::from(sunlake::cli::exit::USAGE))
        }
        None => error.exit(),
    });
    let mut cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    cli.common.is_lake_given =
        matches.value_source("lake").is_some_and(|source| source != ValueSource::DefaultValue);
    cli.common.is_url_typed = matches.value_source("base_url") == Some(ValueSource::CommandLine);
    let world = World {
        now: jiff::Timestamp::now,
        variable: |name| std::env::var(name).ok().filter(|value| !value.is_empty()),
        variables: |prefixes| {
            let all = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
            let named = all.filter(|(name, _)| prefixes.iter().any(|prefix| name.starts_with(prefix)));
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
            eprintln!("error: cannot start threads: {error}");
            return ExitCode::from(sunlake::cli::exit::BUG);
        }
    };
    ExitCode::from(runtime.block_on(carry_out(cli, &world)))
}

/// This program once more in its own place, without some variables. Returns only if that fails.
fn start_without(unusable: &[OsString]) -> std::io::Error {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return error,
    };
    let mut arguments = std::env::args_os();
    let mut command = std::process::Command::new(program);
    command.arg0(arguments.next().unwrap_or_default()).args(arguments);
    for name in unusable {
        command.env_remove(name);
    }
    command.env(LEFT_OUT, unusable.join(OsStr::new(", "))).exec()
}

/// Name of this process, and of its host if the kernel reports it.
fn holder() -> String {
    let process = std::process::id();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match host.trim() {
        "" => format!("process {process}"),
        host => format!("process {process} on {host}"),
    }
}

/// Peak memory of this process, as the kernel reports it.
fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// The soft limit on open files, as the kernel reports it.
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
