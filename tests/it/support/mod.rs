//! What the tests stand on.

pub(crate) mod bad_disk;
pub(crate) mod certificate;
pub(crate) mod changing_api;
pub(crate) mod command;
pub(crate) mod details;
pub(crate) mod dice;
pub(crate) mod free_port;
pub(crate) mod http;
pub(crate) mod lake;
pub(crate) mod listings;
pub(crate) mod markdown;
pub(crate) mod mcp;
pub(crate) mod name_api;
pub(crate) mod node;
pub(crate) mod proxy;
pub(crate) mod python;
pub(crate) mod redis;
pub(crate) mod relay;
pub(crate) mod s3;
pub(crate) mod scratch;
pub(crate) mod server;
pub(crate) mod source;
pub(crate) mod source_paths;
pub(crate) mod source_shape;
pub(crate) mod weather;

use std::time::{Duration, Instant};

/// Looks again and again, less often the longer it takes, until there is something to see; panics when the deadline passes first.
pub(crate) fn wait_for<T>(what: &str, deadline: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(begun.elapsed() < deadline, "waited {deadline:?} for {what}");
        let pause = begun.elapsed() / 32;
        std::thread::sleep(pause.clamp(Duration::from_millis(1), Duration::from_millis(20)));
    }
}

/// Long enough for anything the tests wait for on a slow machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);
