//! Whatever happens to a file of a lake, `sunlake verify` names that file; and `verify --repair` reports what it repaired.

use crate::support::command::{Finished, Sunlake, sunlake};
use crate::support::dice::Dice;
use crate::support::lake::{copy_tree, files_below, names};
use crate::support::scratch::Scratch;
use crate::support::source::sample_pipeline;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Files whose damage `verify` does not look for, and why.
const EXCEPTIONS: [(&str, &str); 2] = [
    ("state/lock", "names the process that has the lake; empty while none has it"),
    ("log", "the log of a run, for people: its last lines come after the run has noted its files"),
];

pub(crate) fn is_exception(file: &Path) -> bool {
    EXCEPTIONS.iter().any(|(name, _)| file.ends_with(name))
}

/// A run of the sample, as of a day, with further lines in its pipeline file.
fn run(scratch: &Scratch, lake: &Path, name: &str, today: &str, lines: &str) -> Finished {
    let text = sample_pipeline(30, 0.04).replace("name = \"sample\"", &format!("name = \"{name}\""));
    let pipeline = scratch.file(&format!("{name}.toml"), &format!("{text}{lines}"));
    Sunlake::run(&pipeline, lake).args(["--today", today]).finish()
}

/// A lake with every kind of file: 1 snapshot is pinned, 2 is pruned, 3 is published by a run that stopped at a limit, 4 is
/// the newest, 5 is pending review.
fn lake_of_everything() -> &'static Path {
    static MADE: OnceLock<(Scratch, PathBuf)> = OnceLock::new();
    let (_, lake) = MADE.get_or_init(|| {
        let scratch = Scratch::new();
        let lake = scratch.lake();
        run(&scratch, &lake, "sample", "2026-03-14", "").complete();
        run(&scratch, &lake, "sample", "2026-03-16", "").complete();
        run(&scratch, &lake, "short", "2026-03-17", "[budget]\nmax_requests = 10\n").exits(5);
        run(&scratch, &lake, "sample", "2026-03-17", "").complete();
        sunlake(&lake, &["snapshot", "pin", "1"]).exits(0);
        sunlake(&lake, &["snapshot", "prune", "--keep-last", "2"]).exits(0);
        let strict = "[checks]\nmax_vanished_percent = 0.0\n";
        run(&scratch, &lake, "strict", "2026-03-24", strict).exits(7);
        (scratch, lake)
    });
    lake
}

fn copy(scratch: &Scratch) -> PathBuf {
    let lake = scratch.lake();
    copy_tree(lake_of_everything(), &lake);
    lake
}

/// What a file or link is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    Bytes(Vec<u8>),
    Link(PathBuf),
}

impl Content {
    pub(crate) fn of(path: &Path) -> Self {
        std::fs::read_link(path)
            .map_or_else(|_| Self::Bytes(std::fs::read(path).expect("a file")), Self::Link)
    }

    /// Writes it in place of what is there.
    pub(crate) fn put(&self, path: &Path) {
        let _ = std::fs::remove_file(path);
        match self {
            Self::Bytes(bytes) => std::fs::write(path, bytes).expect("written"),
            Self::Link(to) => symlink(to, path).expect("a link"),
        }
    }
}

/// Damages a file; returns how.
pub(crate) fn damage(path: &Path, files: &[PathBuf], dice: &mut Dice) -> String {
    let before = Content::of(path);
    loop {
        let (how, after) = damaged(&before, files, dice);
        if after.as_ref() != Some(&before) {
            match &after {
                Some(content) => content.put(path),
                None => std::fs::remove_file(path).expect("removed"),
            }
            return how;
        }
    }
}

/// What a damage leaves of a file; none when it is removed.
fn damaged(before: &Content, files: &[PathBuf], dice: &mut Dice) -> (String, Option<Content>) {
    let bytes = match before {
        Content::Bytes(bytes) => bytes.clone(),
        Content::Link(_) if dice.below(2) == 0 => return ("removed".to_owned(), None),
        Content::Link(_) => {
            let other = dice.below(5);
            return (
                format!("leads to {other}"),
                Some(Content::Link(format!("snapshots/{other:06}").into())),
            );
        }
    };
    let mut bytes = bytes;
    let at = dice.below(bytes.len() as u64) as usize;
    let how = match dice.below(5) {
        0 => {
            bytes[at] ^= 1 << dice.below(8);
            format!("byte {at} flipped")
        }
        1 => {
            bytes.truncate(at);
            format!("cut to {at} bytes")
        }
        2 => {
            bytes.clear();
            "emptied".to_owned()
        }
        3 => return ("removed".to_owned(), None),
        _ => {
            let other = dice.one_of(files);
            return (format!("replaced by {}", other.display()), Some(Content::of(other)));
        }
    };
    (how, Some(Content::Bytes(bytes)))
}

/// The exit code and the named files of a verification.
fn verified(lake: &Path) -> (Finished, BTreeSet<PathBuf>) {
    let done = sunlake(lake, &["verify", "--json"]);
    let report = done.json();
    let problems = report["problems"].as_array().cloned().unwrap_or_default();
    let path = |problem: &Value| PathBuf::from(problem["path"].as_str().expect("a path"));
    (done, problems.iter().map(path).collect())
}

/// The folder of a file in the lake; of a file of a run, that in the run's folder, or its name.
pub(crate) fn kind(lake: &Path, file: &Path) -> String {
    let inside = file.strip_prefix(lake).expect("a file of the lake");
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts[0] == "runs" { format!("run {}", parts[2]) } else { parts[0].clone() }
}

/// The path of a file in the lake; of a file of a run without the random end of the run's id.
fn without_token(lake: &Path, file: &Path) -> String {
    let path = file.strip_prefix(lake).expect("a file of the lake").display().to_string();
    let parts: Vec<&str> = path.splitn(3, '/').collect();
    match parts.as_slice() {
        ["runs", run, inside] => format!("/runs/{}/{inside}", run.rsplit_once('-').expect("an id").0),
        _ => format!("/{path}"),
    }
}

/// Damages files of a copy of the lake, one at a time; returns the damages of which a verification did not name the file, or
/// named another too.
fn try_damages(seed: u64, count: u64) -> Vec<String> {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    let mut files = files_below(&lake);
    files.retain(|file| !is_exception(file));
    let mut by_kind: BTreeMap<String, Vec<&PathBuf>> = BTreeMap::new();
    for file in &files {
        by_kind.entry(kind(&lake, file)).or_default().push(file);
    }
    // A kind first: most files are those of tables.
    let kinds: Vec<Vec<&PathBuf>> = by_kind.into_values().collect();
    let mut dice = Dice::new(seed);
    let mut wrong = Vec::new();
    for _ in 0..count {
        let kind = dice.one_of(&kinds);
        let path = *dice.one_of(kind);
        let before = Content::of(path);
        let how = damage(path, &files, &mut dice);
        let (done, named) = verified(&lake);
        // Nothing else is named, so the damage before is undone.
        if named != BTreeSet::from([path.clone()]) || done.code() != Some(9) {
            wrong.push(format!("{} {how}: {named:?}", path.display()));
        }
        before.put(path);
    }
    let (done, named) = verified(&lake);
    assert!(named.is_empty(), "{named:?}");
    done.exits(0);
    wrong
}

#[test]
fn each_of_200_random_damages_is_named_by_its_file_alone() {
    let lake = lake_of_everything();
    let files: Vec<String> = files_below(lake).iter().map(|file| without_token(lake, file)).collect();
    for kind in [
        "/current",
        "/snapshots/000001/",
        "/snapshots/000004/",
        "/snapshots/000005/",
        "/commits/000001.json",
        "/held/000005.json",
        "/pins/000001.json",
        "/pruned/000002.json",
        "/copies/pins/000001.json",
        "-sample/run.json",
        "-short/run.json",
        "-strict/summary.json",
        "/raw/000001.zst",
        "/journal/000003.json",
        "-strict/commits/000005.json",
        "/catalog/report.html",
        "/catalog/files.json",
    ] {
        assert!(files.iter().any(|file| file.contains(kind)), "no {kind} in {files:#?}");
    }
    for (name, why) in EXCEPTIONS {
        assert!(files.iter().any(|file| file.ends_with(&format!("/{name}"))), "{name}: {why}");
    }
    let seed = std::env::var("SUNLAKE_DAMAGE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("seed {seed}");
    let wrong = std::thread::scope(|scope| {
        let half = |half: u64| scope.spawn(move || try_damages(2 * seed + half, 100));
        [half(0), half(1)].map(|half| half.join().expect("tried")).concat()
    });
    assert!(wrong.is_empty(), "seed {seed}, {} of 200:\n{}", wrong.len(), wrong.join("\n"));
}

/// The file of the newest run of a pipeline.
fn of_run(lake: &Path, pipeline: &str, name: &str) -> String {
    let runs = names(&lake.join("runs"));
    let run = runs.iter().rfind(|run| run.contains(&format!("-{pipeline}-"))).expect("a run");
    format!("runs/{run}/{name}")
}

#[test]
fn a_repair_reports_each_file_that_it_repaired() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    let runs = [
        ("sample", "run.json"),
        ("short", "run.json"),
        ("strict", "commits/000005.json"),
        ("sample", "raw/000001.zst"),
        ("short", "journal/000003.json"),
        ("short", "summary.json"),
    ];
    let mut files: Vec<String> = runs.iter().map(|(run, name)| of_run(&lake, run, name)).collect();
    files.extend(
        [
            "current",
            "commits/000004.json",
            "commits/000003.json",
            "commits/000001.json",
            "held/000005.json",
            "pins/000001.json",
            "pruned/000002.json",
            "copies/pruned/000002.json",
            "catalog/report.html",
            "catalog/files.json",
        ]
        .map(str::to_owned),
    );
    for name in files {
        let path = lake.join(&name);
        let before = Content::of(&path);
        std::fs::remove_file(&path).expect("removed");
        let repaired = sunlake(&lake, &["verify", "--repair", "--json"]).exits(0);
        let report = repaired.json();
        let actions = report["actions"].as_array().expect("actions");
        assert_eq!(actions.len(), 1, "{name}{}", repaired.shown());
        assert_eq!(actions[0]["path"], *path.to_string_lossy(), "{name}{}", repaired.shown());
        assert_eq!((&report["left"], &report["snapshot"]), (&json!([]), &Value::Null), "{name}");
        let is_exact = ["current", "commits/", "held/"].iter().any(|start| name.starts_with(start));
        assert!(!is_exact || Content::of(&path) == before, "{name} is what it was");
        let (done, named) = verified(&lake);
        assert!(named.is_empty(), "{name}: {named:?}");
        done.exits(0);
    }
}

/// Damages of files of a run other than its record: the file, and what is left of its bytes.
type OfRun = (&'static str, fn(&[u8]) -> Option<Vec<u8>>);

const OF_RUN: [OfRun; 7] = [
    ("raw/000001.zst", |_| Some(Vec::new())),
    ("raw/000001.zst", |_| None),
    ("raw/000001.zst", |bytes| Some(bytes[..bytes.len() - 7].to_vec())),
    ("raw/000001.zst", |bytes| {
        let mut bytes = bytes.to_vec();
        let half = bytes.len() / 2;
        bytes[half] ^= 1;
        bytes[half + 1] ^= 1;
        Some(bytes)
    }),
    // The second half of its pages is cut off: what is left is intact.
    ("raw/000001.zst", |bytes| {
        let half = bytes.len() / 2;
        let page = 0x184D_2A5A_u32.to_le_bytes();
        let next = bytes[half..].windows(4).position(|found| found == page).expect("a page");
        Some(bytes[..half + next].to_vec())
    }),
    ("journal/000004.json", |_| None),
    ("journal/000004.json", |bytes| Some(bytes[..bytes.len() / 2].to_vec())),
];

#[test]
fn files_of_a_run_are_named_and_repaired_alike_with_its_record_and_without() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    let run = lake.join(of_run(&lake, "sample", "")).components().collect::<PathBuf>();
    let (record, sound) = (run.join("run.json"), scratch.path("sound"));
    copy_tree(&run, &sound);
    for (at, (file, left)) in OF_RUN.into_iter().enumerate() {
        let path = run.join(file);
        let repaired = [false, true].map(|is_lost| {
            std::fs::remove_dir_all(&run).expect("removed");
            copy_tree(&sound, &run);
            match left(&std::fs::read(&path).expect("a file")) {
                Some(bytes) => std::fs::write(&path, bytes).expect("damaged"),
                None => std::fs::remove_file(&path).expect("removed"),
            }
            let mut expected = BTreeSet::from([path.clone()]);
            if is_lost {
                std::fs::write(&record, "").expect("emptied");
                expected.insert(record.clone());
            }
            let (done, named) = verified(&lake);
            assert_eq!(named, expected, "damage {at}{}", done.shown());
            done.exits(9);
            let repaired = sunlake(&lake, &["verify", "--repair", "--json"]).exits(0).json();
            let actions = repaired["actions"].as_array().expect("actions");
            let paths = actions.iter().map(|action| PathBuf::from(action["path"].as_str().expect("a path")));
            assert_eq!(paths.collect::<BTreeSet<_>>(), expected, "damage {at}: {repaired}");
            assert!(verified(&lake).1.is_empty(), "damage {at}");
            let action = actions.iter().find(|action| action["path"] == *path.to_string_lossy()).cloned();
            let record: Value =
                serde_json::from_slice(&std::fs::read(&record).expect("a record")).expect("JSON");
            std::fs::write(run.join("run.json"), "").expect("emptied");
            let again = verified(&lake).1;
            assert_eq!(again, BTreeSet::from([run.join("run.json")]), "damage {at}: the loss is known");
            let mut files = files_below(&run);
            files.retain(|file| !file.ends_with("run.json.damaged"));
            (action.expect("an action")["done"].clone(), record["files"].clone(), files)
        });
        assert_eq!(repaired[0], repaired[1], "damage {at}");
    }
}

#[test]
fn a_run_without_record_and_journals_lacks_both() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    let files = ["run.json", "journal/000004.json"].map(|name| lake.join(of_run(&lake, "sample", name)));
    std::fs::remove_file(&files[0]).expect("removed");
    std::fs::remove_dir_all(files[1].parent().expect("a folder")).expect("removed");
    assert_eq!(verified(&lake).1, BTreeSet::from(files.clone()));
    let raw = lake.join(of_run(&lake, "sample", "raw/000001.zst"));
    std::fs::remove_file(&raw).expect("removed");
    assert_eq!(verified(&lake).1, files.into_iter().chain([raw]).collect::<BTreeSet<_>>());
    let repaired = sunlake(&lake, &["verify", "--repair"]).exits(0);
    assert_eq!(
        repaired.stdout.matches("it is lost; no snapshot needs it").count(),
        2,
        "{}",
        repaired.shown()
    );
}

#[test]
fn pages_that_no_repair_brings_back_stay_known_and_are_no_damage() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    let raw = lake.join(of_run(&lake, "sample", "raw/000001.zst"));
    std::fs::remove_file(&raw).expect("removed");
    for arguments in [&["verify", "--repair", "--json"][..], &["verify", "--json"][..]] {
        let report = sunlake(&lake, arguments).exits(0).json();
        let notes = report["notes"].as_array().expect("notes");
        let paths: Vec<&Value> = notes.iter().map(|note| &note["path"]).collect();
        assert_eq!(paths, [&json!(raw)], "{report}");
    }
    sunlake(&lake, &["verify"]).exits(0).says_on_stdout("sound but for 1 file of earlier runs");
    let run = raw.iter().rev().nth(2).and_then(|run| run.to_str()).expect("a run");
    sunlake(&lake, &["replay", run]).exits(9).says("is gone");
}

#[test]
fn what_no_repair_brings_back_is_named_with_another_way_out() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    let copy = of_run(&lake, "short", "commits/000003.json");
    for name in ["commits/000003.json", &copy] {
        std::fs::remove_file(lake.join(name)).expect("removed");
    }
    let strange = lake.join("snapshots/000004/filings/strange.parquet");
    std::fs::write(&strange, "x").expect("written");
    let done = sunlake(&lake, &["verify", "--repair"]).exits(9);
    for says in
        ["commits/000003.json: it is missing", "strange.parquet: the commit does not name", "from a backup"]
    {
        assert!(done.stdout.contains(says), "{says}{}", done.shown());
    }
}

#[test]
fn a_lake_whose_only_commit_is_lost_is_damaged_and_repaired() {
    let scratch = Scratch::new();
    let lake = scratch.lake();
    run(&scratch, &lake, "sample", "2026-03-14", "").complete();
    std::fs::remove_file(lake.join("commits/000001.json")).expect("removed");
    let (done, named) = verified(&lake);
    assert_eq!(named, BTreeSet::from([lake.join("commits/000001.json")]), "{}", done.shown());
    done.exits(9);
    let repaired = sunlake(&lake, &["verify", "--repair"]).exits(0);
    assert!(repaired.stdout.contains("commits/000001.json: it is missing"), "{}", repaired.shown());
    assert!(!repaired.stdout.contains("nothing is damaged"), "{}", repaired.shown());
    assert!(verified(&lake).1.is_empty());
    let again = sunlake(&lake, &["verify", "--repair"]).exits(0);
    assert_eq!(again.stdout, "nothing is damaged\n");
}

#[test]
fn a_newest_commit_that_is_damaged_with_its_copy_is_named_with_it_and_left_to_a_backup() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    let files = [lake.join("commits/000004.json"), lake.join(of_run(&lake, "sample", "commits/000004.json"))];
    let backup = files.each_ref().map(|file| Content::of(file));
    files.iter().for_each(|file| drop(crate::support::lake::damage(file)));
    assert_eq!(verified(&lake).1, BTreeSet::from(files.clone()));
    let done = sunlake(&lake, &["verify", "--repair"]).exits(9);
    assert!(done.stdout.contains("from a backup"), "{}", done.shown());
    files.iter().zip(&backup).for_each(|(file, content)| content.put(file));
    assert!(verified(&lake).1.is_empty());
}

#[test]
fn a_lake_is_sound_at_every_moment_of_a_run() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    let text = format!("{}[retention]\nlast = 1\n", sample_pipeline(70, 0.04));
    let text = text.replace("[extract]\ndays = 70", "[extract]\ndays = 30");
    let pipeline = scratch.file("busy.toml", &text.replace("name = \"sample\"", "name = \"busy\""));
    let mut busy = Sunlake::run(&pipeline, &lake).args(["--today", "2026-03-25"]).start();
    let mut looks = 0;
    while busy.is_running() {
        let (done, named) = verified(&lake);
        assert!(named.is_empty(), "{named:?}{}", busy.said());
        done.exits(0);
        looks += 1;
    }
    busy.finish().complete();
    assert!(looks > 1 && verified(&lake).1.is_empty(), "{looks} looks");
}
