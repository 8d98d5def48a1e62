//! Variables of the environment that libraries below the program read, and end it if they cannot use a value.

use std::ffi::{OsStr, OsString};

/// More threads than this are refused by many systems.
const MOST_THREADS: u32 = 1024;
/// A larger stack of each thread is refused, too.
const MOST_STACK_BYTES: u32 = 1 << 30;

/// Whole numbers from 1, and the largest that can be used.
const NUMBERS: [(&str, u32); 5] = [
    ("POLARS_MAX_THREADS", MOST_THREADS),
    ("TOKIO_WORKER_THREADS", MOST_THREADS),
    ("RAYON_NUM_THREADS", MOST_THREADS),
    ("RAYON_RS_NUM_CPUS", MOST_THREADS),
    ("RUST_MIN_STACK", MOST_STACK_BYTES),
];

/// Carries the names of variables that were left out into the program that starts without them.
pub const LEFT_OUT: &str = "SUNLAKE_LEFT_OUT";

/// Names of the variables without which the program must start: numbers of threads that are none, and every other setting of polars, most
/// of which are read unchecked.
pub fn unusable_variables(all: impl Iterator<Item = (OsString, OsString)>) -> Vec<OsString> {
    all.filter(|(name, value)| !is_usable(name, value)).map(|(name, _)| name).collect()
}

fn is_usable(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let number = || value.to_str()?.parse::<u32>().ok();
    match NUMBERS.iter().find(|(known, _)| *known == name) {
        Some((_, most)) => number().is_some_and(|number| (1..=*most).contains(&number)),
        None => !name.starts_with("POLARS_"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_threads_is_usable_and_no_other_setting_of_polars() {
        let is_left_out = |name: &str, value: &str| {
            !unusable_variables([(name.into(), value.into())].into_iter()).is_empty()
        };
        for (name, most) in NUMBERS {
            for wrong in ["2.5", "0", "-1", "x", "", " 2", "2 ", "1e3", "9999999999", "99999999999999999999"]
            {
                assert!(is_left_out(name, wrong), "{name}={wrong:?}");
            }
            assert!(is_left_out(name, &(most + 1).to_string()), "{name}");
            assert!(!is_left_out(name, "1") && !is_left_out(name, &most.to_string()), "{name}");
        }
        assert!(is_left_out("POLARS_MAX_CONCURRENT_SCANS", "4") && is_left_out("POLARS_PANIC_ON_ERR", "1"));
        assert!(!is_left_out("PATH", "") && !is_left_out("SUNLAKE_LAKE", "x"));
    }
}
