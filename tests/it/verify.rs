//! `sunlake verify` says which file is not what its commit says, and nothing else.

use crate::support::command::{Finished, sunlake};
use crate::support::lake::{copy_tree, files_below, names, part};
use crate::support::scratch::Scratch;
use crate::support::source;
use std::path::{Path, PathBuf};

/// A lake whose files are its own, so that they can be damaged.
pub(crate) fn copy(scratch: &Scratch) -> PathBuf {
    let (from, to) = (&source::history().lake, scratch.lake());
    copy_tree(from, &to);
    to
}

fn verify(lake: &Path, arguments: &[&str]) -> Finished {
    sunlake(lake, &[&["verify"], arguments].concat())
}

#[test]
fn a_sound_lake_is_sound_in_all_its_snapshots() {
    let lake = &source::history().lake;
    for arguments in [&[][..], &["1"], &["2"]] {
        let report = verify(lake, &[arguments, &["--json"][..]].concat()).exits(0).json();
        assert_eq!(
            (&report["sound"], &report["problems"]),
            (&true.into(), &serde_json::json!([])),
            "{report}"
        );
        assert!(report["files"].as_u64() > Some(20), "{report}");
        assert!(report["rows"].as_u64() > Some(10_000), "{report}");
    }
}

#[test]
fn a_flipped_byte_is_found_wherever_it_is() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    for table in ["filings", "coverage", "agg_county_type_day", "statewide"] {
        let path = part(&lake, 2, table);
        let sound = std::fs::read(&path).expect("a file");
        for at in [4, sound.len() / 2, sound.len() - 5] {
            let mut bytes = sound.clone();
            bytes[at] ^= 0x10;
            std::fs::write(&path, &bytes).expect("damage");
            let done = verify(&lake, &[]).exits(9);
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            assert!(
                done.stdout.contains(&name) && done.stdout.contains(table),
                "{table}, byte {at}{}",
                done.shown()
            );
            let problems = done.stdout.lines().filter(|line| line.contains("part-")).count();
            assert_eq!(problems, 1, "the others are sound{}", done.shown());
        }
        std::fs::write(&path, &sound).expect("repair");
    }
    verify(&lake, &[]).exits(0);
}

#[test]
fn a_truncated_a_missing_and_a_strange_file_are_named() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    let (torn, missing) = (part(&lake, 2, "filings"), part(&lake, 2, "agg_type_month"));
    let bytes = std::fs::read(&torn).expect("a file");
    std::fs::write(&torn, &bytes[..bytes.len() / 2]).expect("damage");
    std::fs::remove_file(&missing).expect("damage");
    let strange = torn.with_file_name("part-0000000000000000.parquet");
    std::fs::write(&strange, &bytes).expect("damage");
    let done = verify(&lake, &["--json"]).exits(9);
    let report = done.json();
    assert_eq!(report["sound"], false);
    let problems: Vec<_> = report["problems"].as_array().expect("problems").clone();
    for path in [&torn, &missing, &strange] {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let named = problems
            .iter()
            .filter(|problem| problem["path"].as_str().is_some_and(|path| path.ends_with(&name)));
        assert_eq!(named.count(), 1, "{name}{}", done.shown());
    }
    assert_eq!(problems.len(), 3, "{report}");
}

#[test]
fn a_lake_without_a_snapshot_says_how_to_make_one() {
    let scratch = Scratch::new();
    verify(&scratch.lake(), &[]).exits(3).says("sunlake run");
    verify(&scratch.lake(), &["--repair"]).exits(3).says("sunlake run");
    sunlake(&scratch.lake(), &["snapshot", "prune", "--keep-last", "1"]).exits(3).says("sunlake run");
    assert!(!scratch.lake().exists(), "a name mistyped makes no folder");
}

#[test]
fn status_shows_snapshots_rows_and_coverage_and_changes_nothing() {
    let lake = &source::history().lake;
    let before = (names(lake), files_below(&lake.join("snapshots")));
    let status = sunlake(lake, &["status", "--json"]).exits(0).json();
    assert_eq!(status["snapshot"], 2, "{status}");
    assert_eq!(status["snapshots"].as_array().map(Vec::len), Some(2));
    assert!(status["rows"]["filings"].as_u64() > Some(5_000), "{status}");
    assert!(status["coverage"].as_array().is_some_and(|days| days.len() >= 140), "{status}");
    assert_eq!(before, (names(lake), files_below(&lake.join("snapshots"))));
}
