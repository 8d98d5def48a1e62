//! The clock, the environment and the randomness of a process, as values that `main` provides.

use jiff::Timestamp;

/// What a command takes from outside the program.
pub struct World {
    /// The clock.
    pub now: fn() -> Timestamp,
    /// Reads an environment variable.
    pub variable: fn(&str) -> Option<String>,
    /// The environment variables whose names have one of these prefixes.
    pub variables: fn(&[&str]) -> Vec<(String, String)>,
    /// Name of this process and its host.
    pub holder: fn() -> String,
    /// Peak memory of the process in bytes; 0 where the system does not report it.
    pub peak_rss_bytes: fn() -> u64,
    /// Number of files the process may have open; `None` where the system does not report it.
    pub max_open_files: fn() -> Option<u64>,
    /// 256 random bits.
    pub random: fn() -> Result<[u8; 32], std::io::Error>,
}
