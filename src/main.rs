//! Parses the command line, runs the command, and exits with its code. Only this file reads clock and environment.

use clap::FromArgMatches;
use clap::parser::ValueSource;
use std::ffi::OsStr;
use std::process::ExitCode;
use sunlake::cli::{
    Cli, Command, World, answer_shell, carry_out, command_line, explain, without_empty_variables,
};

#[expect(
    clippy::disallowed_methods,
    reason = "the clock and the environment enter the program here, and here only"
)]
#[expect(clippy::print_stderr, reason = "before the runtime there is no log")]
fn main() -> ExitCode {
    let is_empty = |name: &OsStr| std::env::var_os(name).is_some_and(|value| value.is_empty());
    match answer_shell(std::env::args_os().collect(), std::env::current_dir().ok().as_deref(), &is_empty) {
        Ok(true) => return ExitCode::SUCCESS,
        Ok(false) => {}
        Err(error) => error.exit(),
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
    if matches!(cli.command, Command::Run { .. } | Command::Demo | Command::Replay { .. }) {
        restart_with_lean_memory();
    }
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

/// Settings that keep the memory of a run independent of the number of rows.
///
/// By default glibc's allocator keeps freed memory in every thread; these make it return the memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LEAN: [(&str, &str); 3] =
    [("MALLOC_ARENA_MAX", "2"), ("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_TRIM_THRESHOLD_", "131072")];

/// Set by a restart, so that a second one cannot follow: a loader may erase `MALLOC_*` from the environment.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const RESTARTED: &str = "SUNLAKE_RESTARTED";

/// Variables for a restart: the missing settings and the guard; none after a restart, or if no setting is missing.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn variables_to_add(is_set: impl Fn(&str) -> bool) -> Vec<(&'static str, &'static str)> {
    let mut missing: Vec<_> = LEAN.into_iter().filter(|(name, _)| !is_set(name)).collect();
    if is_set(RESTARTED) || missing.is_empty() {
        return Vec::new();
    }
    missing.push((RESTARTED, "1"));
    missing
}

/// Restarts the program in the same process, because glibc reads its settings only at the start.
///
/// Settings that are already there stay. If the restart fails, the run continues without the settings.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(clippy::disallowed_methods, reason = "the environment enters the program here")]
fn restart_with_lean_memory() {
    use std::os::unix::process::CommandExt;
    let added = variables_to_add(|name| std::env::var_os(name).is_some());
    let mut arguments = std::env::args_os();
    if let (false, Ok(program), Some(name)) = (added.is_empty(), std::env::current_exe(), arguments.next()) {
        let _ = std::process::Command::new(program).arg0(name).args(arguments).envs(added).exec();
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn restart_with_lean_memory() {}

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

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn a_restart_happens_at_most_once_even_if_its_settings_are_erased() {
        assert_eq!(variables_to_add(|_| false).len(), LEAN.len() + 1);
        assert!(
            variables_to_add(|name| name == RESTARTED).is_empty(),
            "settings are erased, the guard is not"
        );
        assert!(variables_to_add(|name| name != RESTARTED).is_empty(), "every setting is there");
    }
}
