//! Variables of the environment that libraries below the program read, and end it if they cannot use a value.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;

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

/// Proxies are read from these variables, and from those in small letters only if these are not there.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];

/// Names of the variables without which the program must start: numbers of threads that are none, empty names of proxies that hide others,
/// and settings of polars, most of which are read unchecked.
pub fn unusable_variables(all: impl Iterator<Item = (OsString, OsString)>) -> Vec<OsString> {
    let all: Vec<(OsString, OsString)> = all.collect();
    let given: HashSet<&OsStr> =
        all.iter().filter(|(_, value)| !value.is_empty()).map(|(name, _)| name.as_os_str()).collect();
    let hides = |name: &OsStr| {
        let is_proxy = PROXIES.iter().any(|known| *known == name);
        is_proxy && !given.contains(name) && given.contains(&*name.to_ascii_lowercase())
    };
    let is_usable = |(name, value): &&(OsString, OsString)| is_usable(name, value) && !hides(name);
    all.iter().filter(|one| !is_usable(one)).map(|(name, _)| name.clone()).collect()
}

fn is_usable(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let number = || value.to_str()?.parse::<u32>().ok();
    match (NUMBERS.iter().find(|(known, _)| *known == name), &*name) {
        (Some((_, most)), _) => number().is_some_and(|number| (1..=*most).contains(&number)),
        (None, "POLARS_VERBOSE") => number().is_some_and(|number| number <= 1),
        (None, "POLARS_TEMP_DIR") => Path::new(value).is_dir(),
        (None, name) => !name.starts_with("POLARS_"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_threads_and_two_settings_of_polars_are_usable() {
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
        assert!(!is_left_out("POLARS_TEMP_DIR", "/tmp") && is_left_out("POLARS_TEMP_DIR", "/tmp/nowhere/x"));
        assert!(!is_left_out("POLARS_VERBOSE", "1") && is_left_out("POLARS_VERBOSE", "yes"));
        assert!(!is_left_out("PATH", "") && !is_left_out("SUNLAKE_LAKE", "x"));
    }

    #[test]
    fn an_empty_proxy_is_left_out_where_it_would_hide_the_one_in_small_letters() {
        for name in PROXIES {
            let left_out = |value: &str, small: &str| {
                let small = (name.to_lowercase().into(), small.into());
                unusable_variables([(name.into(), value.into()), small].into_iter())
            };
            assert_eq!(left_out("", "proxy"), [name]);
            assert!(left_out("", "").is_empty() && left_out("proxy", "other").is_empty());
        }
    }
}
