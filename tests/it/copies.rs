//! Copies of a lake by programs that follow links, or keep none: `current` is a folder or a file in them.

use crate::support::command::{Finished, Sunlake, succeed, sunlake};
use crate::support::lake::{files_below, names};
use crate::support::scratch::Scratch;
use crate::support::source::{self, sample_pipeline};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The lake, copied with a folder in place of each link.
fn copied(scratch: &Scratch, lake: &Path) -> PathBuf {
    let copy = scratch.path("copy");
    succeed(Command::new("cp").arg("-rL").arg(lake).arg(&copy));
    assert!(copy.join("current").symlink_metadata().is_ok_and(|found| found.is_dir()));
    copy
}

fn assert_shows(lake: &Path, snapshot: u64) {
    let link = std::fs::read_link(lake.join("current")).expect("a link");
    assert_eq!(link, PathBuf::from(format!("snapshots/{snapshot:06}")));
    let left: Vec<String> = names(lake).into_iter().filter(|name| name.starts_with(".tmp")).collect();
    assert!(left.is_empty(), "{left:?}");
    sunlake(lake, &["verify"]).exits(0);
}

#[test]
fn a_run_and_a_repair_make_the_copied_link_a_link_again() {
    let scratch = Scratch::new();
    let pipeline = scratch.file("sample.toml", &sample_pipeline(3, 0.01));
    let run = |lake: &Path, today: &str| Sunlake::run(&pipeline, lake).args(["--today", today]).finish();
    run(&scratch.lake(), "2026-03-19").complete();
    let copy = copied(&scratch, &scratch.lake());
    sunlake(&copy, &["verify"]).exits(9).says_on_stdout("current");
    let repaired = sunlake(&copy, &["verify", "--repair"]).exits(0);
    repaired.says_on_stdout("current");
    assert_shows(&copy, 1);
    std::fs::remove_dir_all(&copy).expect("removed");
    let copy = copied(&scratch, &scratch.lake());
    run(&copy, "2026-03-20").complete();
    assert_shows(&copy, 2);
}

/// Any command that writes, and the repair.
fn writing(lake: &Path) -> [Finished; 2] {
    [sunlake(lake, &["snapshot", "prune", "--keep-last", "9"]), sunlake(lake, &["verify", "--repair"])]
}

#[test]
fn a_file_with_the_name_of_the_snapshot_or_nothing_in_its_place_becomes_a_link() {
    let scratch = Scratch::new();
    let copy = copied(&scratch, &source::history().lake);
    let current = copy.join("current");
    for text in [Some("snapshots/000002"), Some("snapshots/000002\n"), None] {
        let _ = std::fs::remove_dir_all(&current);
        let _ = std::fs::remove_file(&current);
        if let Some(text) = text {
            std::fs::write(&current, text).expect("a file");
        }
        for done in writing(&copy) {
            done.exits(0);
        }
        assert_shows(&copy, 2);
    }
}

#[test]
fn any_other_folder_of_that_name_stays_as_it_is() {
    let scratch = Scratch::new();
    let copy = copied(&scratch, &source::history().lake);
    let (current, part) = (copy.join("current"), |at: usize| files_below(&copy.join("current"))[at].clone());
    let changes: [&dyn Fn(); 5] = [
        &|| std::fs::write(current.join("thesis.docx"), "mine").expect("a file"),
        &|| {
            std::fs::create_dir_all(current.join("filings/more"))
                .and_then(|()| std::fs::write(current.join("filings/more/x"), ""))
                .expect("a file")
        },
        &|| std::fs::remove_file(part(0)).expect("removed"),
        &|| std::fs::write(part(0), "other").expect("a file"),
        &|| {
            std::fs::remove_dir_all(&current).expect("removed");
            succeed(Command::new("cp").arg("-r").arg(copy.join("snapshots/000001")).arg(&current));
        },
    ];
    for change in changes {
        std::fs::remove_dir_all(&current).expect("removed");
        succeed(Command::new("cp").arg("-r").arg(copy.join("snapshots/000002")).arg(&current));
        change();
        let content = || -> Vec<_> {
            files_below(&current)
                .into_iter()
                .map(|file| (std::fs::read(&file).expect("a file"), file))
                .collect()
        };
        let before = content();
        for done in writing(&copy) {
            done.exits(9)
                .says("is a folder with other files than the newest snapshot")
                .says("hint: move the folder");
        }
        assert!(before == content(), "nothing of it was touched");
        assert!(!names(&copy).iter().any(|name| name.starts_with(".tmp")), "{:?}", names(&copy));
    }
    // The way out.
    std::fs::rename(&current, scratch.path("copy-copy")).expect("renamed");
    sunlake(&copy, &["verify", "--repair"]).exits(0);
    assert_shows(&copy, 2);
}
