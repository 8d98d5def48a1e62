//! Files of the state count by their content: broken, doubled, half understood and copied ones, each named.

use crate::state_files::{import, pipeline};
use crate::state_order::{Files, company, event, file, line, partner, put, text};
use crate::support::command::{Finished, sunlake};
use crate::support::lake::{Cells, commits, current, files_below, quarantined, rows};
use crate::support::scratch::Scratch;
use jiff::civil::{self, Weekday};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

const PAGE: &str = "<!DOCTYPE html><html><body>Please sign in</body></html>\n";
/// Records of a part of a set: enough to compare the parts with each other.
const RECORDS: usize = 40;

/// The records of a part; their last transactions are of the last days of a month.
fn part(digit: usize, month: u32) -> String {
    let day = |at: usize| format!("{month:02}{:02}2026", 28 - at % 4);
    (0..RECORDS).map(|at| company(&format!("L2{at:09}{digit}"), &[(496, &day(at))])).collect()
}

/// A set with an event of each business.
fn set(folder: &str, month: u32) -> Files {
    let mut files: Files =
        (0..10).map(|digit| (format!("{folder}/cor/cordata{digit}.txt"), part(digit, month))).collect();
    let of_part = |digit| (0..RECORDS).map(move |at| event(&format!("L2{at:09}{digit}"), "01052020", &[]));
    files.push(file(&format!("{folder}/cor/corevt.txt"), &(0..10).flat_map(of_part).collect::<Vec<_>>()));
    files
}

fn replaced(mut files: Files, name: &str, text: &str) -> Files {
    files.iter_mut().filter(|(known, _)| known.ends_with(name)).for_each(|(_, old)| text.clone_into(old));
    files
}

fn imported(scratch: &Scratch) -> Finished {
    import(scratch, &pipeline(scratch, ""))
}

/// The outcome and the list of an import.
fn partial(scratch: &Scratch, list: &str) -> Value {
    let summary = imported(scratch).exits(5).json();
    assert_eq!(summary["outcome"], "partial", "{summary}");
    summary["import"][list].clone()
}

#[test]
fn a_part_of_a_set_that_is_not_all_of_it_publishes_nothing() {
    for digit in 0..10 {
        let (text, name) = (part(digit, 9), format!("cordata{digit}.txt"));
        let half = text.len() / 2;
        let of_other = part((digit + 1) % 10, 9);
        let of_older = part(digit, 6);
        let events = event(&format!("L20000000{digit}"), "09282026", &[]).repeat(RECORDS);
        let zeros = format!("{}{}", &text[..half], "\0".repeat(half));
        let with_page = format!("{}{PAGE}", &text[..half]);
        let shifted: String = text.lines().map(|line| format!("  {line}\r\n")).collect();
        let broken = [
            ("empty", ""),
            ("cut at a line's end", &text[..half]),
            ("cut in a line", &text[..half + 700]),
            ("of another layout", &events),
            ("shifted", &shifted),
            ("of another part", &of_other),
            ("of an older set", &of_older),
            ("a page", PAGE),
            ("a page after records", &with_page),
            ("never written to its end", &zeros),
        ];
        for (what, broken) in broken {
            let scratch = Scratch::new();
            put(&scratch, &replaced(set("q", 9), &name, broken));
            let done = imported(&scratch);
            assert!(done.shown().contains(&name), "{what}: {}", done.shown());
            done.exits(9);
            assert!(!scratch.lake().join("current").exists(), "{digit} {what}");
        }
    }
}

#[test]
fn a_set_that_falls_short_of_the_last_one_publishes_nothing() {
    let scratch = Scratch::new();
    put(&scratch, &set("first", 6));
    imported(&scratch).complete();
    let text = part(4, 9);
    for (name, short) in [
        ("cordata4.txt", text[..text.len() / 2].to_owned()),
        ("corevt.txt", event("L20000000000", "01052020", &[])),
    ] {
        put(&scratch, &replaced(set("second", 9), name, &short));
        imported(&scratch)
            .exits(9)
            .says(name)
            .says("of the set of 2026-06-28")
            .says("max_short_percent = 100");
        assert_eq!(commits(&scratch.lake()).len(), 1);
    }
    // A part of the last set, in the place of the new one.
    put(&scratch, &replaced(set("second", 9), "cordata4.txt", &part(4, 6)));
    imported(&scratch).exits(9).says("second/cor/cordata4.txt: it is that of the set of 2026-06-28");
    put(&scratch, &replaced(set("second", 9), "cordata4.txt", &text[..text.len() / 2]));
    import(&scratch, &pipeline(&scratch, "max_short_percent = 100\n")).complete();
}

/// A record of each kind of daily file.
fn daily() -> [(&'static str, String); 6] {
    [
        ("c", company("L26000000001", &[])),
        ("ce", event("L20000000000", "10132026", &[])),
        ("f", line(2098, &[&[(1, "G26000000001"), (13, "A NAME"), (339, "10132026"), (352, "A")]])),
        ("fe", line(762, &[&[(1, "G26000000002"), (13, "G26000000001"), (232, "10132026"), (245, "REN")]])),
        ("g", partner("GP2600000001", "ADAMS               ANN", "10132026")),
        ("ge", line(910, &[&[(1, "GP2600000002"), (13, "GP2600000001"), (103, "10132026")]])),
    ]
}

/// Days with a file that is broken, each in its own way.
const BROKEN: [&str; 5] = ["2026-10-13", "2026-10-14", "2026-10-15", "2026-10-16", "2026-10-20"];
/// Days with a good file, before, between and after them.
const GOOD: [&str; 3] = ["2026-10-12", "2026-10-19", "2026-10-21"];

/// Claims that each of these texts makes its day missing, until a good one comes.
fn days_are_missing(broken: &dyn Fn(&[String; 5]) -> [String; 5]) {
    for (kind, record) in daily() {
        let name = |day: &str, kind: &str| format!("{}{kind}.txt", day.replace('-', ""));
        let texts = std::array::from_fn::<_, 5, _>(|at| {
            let mut own = record.clone();
            own.replace_range(11..12, &at.to_string());
            own.repeat(RECORDS)
        });
        let broken = broken(&texts);
        let scratch = Scratch::new();
        put(&scratch, &set("q", 9));
        put(&scratch, &GOOD.map(|day| file(&name(day, "c"), &[])));
        if kind != "c" {
            put(&scratch, &BROKEN.map(|day| file(&name(day, "c"), &[])));
        }
        let names = BROKEN.map(|day| name(day, kind));
        put(&scratch, &std::array::from_fn::<_, 5, _>(|at| (names[at].clone(), broken[at].clone())));
        let summary = imported(&scratch).exits(5).json();
        assert_eq!(files_of(&summary["import"]["unread"]), names, "{summary}");
        let missing = summary["import"]["missing_days"].to_string();
        for day in BROKEN {
            assert_eq!(missing.contains(day), kind == "c", "{summary}");
        }
        // The next run says so again, and publishes nothing.
        assert_eq!(files_of(&partial(&scratch, "unread")), names, "{kind}");
        assert_eq!(commits(&scratch.lake()).len(), 1);
        put(&scratch, &std::array::from_fn::<_, 5, _>(|at| (names[at].clone(), texts[at].clone())));
        imported(&scratch).complete();
    }
}

#[test]
fn a_day_whose_file_is_broken_is_missing_until_a_good_file_comes() {
    days_are_missing(&|texts| {
        [
            PAGE.to_owned(),
            texts[1][..texts[1].len() / 2 - 100].to_owned(),
            line(500, &[&[(1, "L26000000001")]]).repeat(RECORDS),
            format!("{}{PAGE}", &texts[3][..texts[3].len() / RECORDS]),
            "x".repeat(9 << 20),
        ]
    });
}

/// A text with zeros in place of some bytes, as a power cut or a download that ends early leaves it: its size is right.
fn unwritten(text: &str, from: usize, until: usize) -> String {
    format!("{}{}{}", &text[..from], "\0".repeat(until - from), &text[until..])
}

#[test]
fn a_day_whose_file_has_zeros_that_were_never_written_is_missing_until_a_good_file_comes() {
    days_are_missing(&|texts| {
        let (length, end) = (texts[0].len() / RECORDS, texts[0].len());
        [
            // From within a record on, from a line's end on, and the last line end.
            unwritten(&texts[0], 2 * length + 300, end),
            unwritten(&texts[1], 2 * length, end),
            unwritten(&texts[2], end - 2, end),
            // A block of a disk across two records, and two of the records.
            unwritten(&texts[3], length - 100, length + 412),
            unwritten(&texts[4], 3 * length, 5 * length),
        ]
    });
}

/// Replaces a text by an archive with it.
fn archive(scratch: &Scratch, folder: &str, stem: &str) {
    let (folder, text) = (scratch.path("files").join(folder), format!("{stem}.txt"));
    let zipped = Command::new("python3")
        .current_dir(&folder)
        .args(["-m", "zipfile", "-c"])
        .args([&format!("{stem}.zip"), &text])
        .status();
    assert!(zipped.expect("python3").success());
    std::fs::remove_file(folder.join(text)).expect("removed");
}

#[test]
fn a_set_with_zeros_that_were_never_written_publishes_nothing() {
    let [_, (_, event), (_, name), (_, name_event), (_, partner), (_, partner_event)] = daily();
    for (folder, stem, text) in [
        ("cor", "cordata4", part(4, 9)),
        ("cor", "corevt", event.repeat(RECORDS)),
        ("fic", "ficdata", name.repeat(RECORDS)),
        ("fic", "ficevt", name_event.repeat(RECORDS)),
        ("gen", "genfile", partner.repeat(RECORDS)),
        ("gen", "genevt", partner_event.repeat(RECORDS)),
    ] {
        let (length, file) = (text.len() / RECORDS, format!("{stem}.txt"));
        for (from, until) in [(30 * length + 300, text.len()), (3 * length - 100, 3 * length + 412)] {
            let scratch = Scratch::new();
            put(&scratch, &set("q", 9));
            put(&scratch, &[(format!("q/{folder}/{file}"), unwritten(&text, from, until))]);
            let refused =
                |name: &str| imported(&scratch).exits(9).says(&format!("{name}: it has zero bytes in place"));
            refused(&file);
            // An archive of such a file has a checksum of its zeros.
            archive(&scratch, &format!("q/{folder}"), stem);
            refused(&format!("{stem}.zip/{file}"));
            assert!(!scratch.lake().join("current").exists(), "{file} from {from}");
        }
    }
}

/// Names of the files that were not read, sorted.
fn files_of(unread: &Value) -> Vec<&str> {
    let mut files: Vec<_> =
        unread.as_array().expect("a list").iter().filter_map(|unread| unread["file"].as_str()).collect();
    files.sort_unstable();
    files
}

/// A mirror that writes the text of one day under the name of another loses a day.
#[test]
fn a_day_with_the_records_of_another_day_is_missing_until_its_own_come() {
    for (kind, record) in daily() {
        let scratch = Scratch::new();
        put(&scratch, &set("q", 9));
        let (first, second) = (format!("20261012{kind}.txt"), format!("20261013{kind}.txt"));
        put(&scratch, &[(first.clone(), record.clone()), (second.clone(), record.clone())]);
        for _ in 0..2 {
            let unread = partial(&scratch, "unread");
            let why = format!("it has the records of {first}, which is of another day");
            assert_eq!(unread, serde_json::json!([{ "file": second, "why": why }]));
        }
        let mut own = record.clone();
        own.replace_range(11..12, "9");
        put(&scratch, &[(second, own)]);
        let done = imported(&scratch);
        assert_eq!(done.stderr.contains("days have no file of events"), kind == "c", "{}", done.shown());
        done.complete();
    }
}

/// Days of which the lake knows a file that is gone: damaged on a Saturday, empty on a Tuesday, and a Friday's with the records of Thursday.
#[test]
fn what_the_lake_knows_of_a_file_that_is_gone_stays_when_all_others_are_read_again() {
    let scratch = Scratch::new();
    let daily = |day: &str, text: &str| (format!("2026{day}c.txt"), text.to_owned());
    let record = |number: u32| company(&format!("L2600000000{number}"), &[]);
    let remove = |name: &str| std::fs::remove_file(scratch.path("files").join(name)).expect("removed");
    let names = |counts: &dyn Fn(&Cells) -> bool| -> BTreeSet<String> {
        let known = rows(&scratch.lake(), "imports", &[]).into_iter();
        known.filter(|cells| counts(cells)).map(|cells| text(&cells, "file")).collect()
    };
    let is_partial = |unread: &[&str]| {
        let done = imported(&scratch);
        assert!(!done.stderr.contains("files that the lake has read are gone"), "{}", done.shown());
        let summary = done.exits(5).json();
        let missing = &summary["import"]["missing_days"];
        assert_eq!(*missing, serde_json::json!(["2026-10-02", "2026-10-03"]), "{summary}");
        assert_eq!(files_of(&summary["import"]["unread"]), unread, "{summary}");
        assert_eq!(names(&|cells| cells["fault"].is_some()), BTreeSet::from(["20261003c.txt".to_owned()]));
    };
    put(&scratch, &[set("first", 8), set("second", 9)].concat());
    put(&scratch, &["0929", "0930", "1005", "1006", "1007"].map(|day| daily(day, "")));
    put(&scratch, &[daily("1001", &record(1)), daily("1002", &record(1)), daily("1003", PAGE)]);
    is_partial(&["20261002c.txt", "20261003c.txt"]);
    ["20261002c.txt", "20261003c.txt", "20261006c.txt"].into_iter().for_each(remove);
    is_partial(&["20261002c.txt", "20261003c.txt"]);
    // A file that is not newer than the newest set.
    put(&scratch, &[daily("0901", &record(2))]);
    let mut expected = names(&|_| true);
    expected.insert("20260901c.txt".to_owned());
    is_partial(&["20261002c.txt", "20261003c.txt"]);
    assert_eq!(names(&|_| true), expected);
    // A repair that leaves rows out.
    let (files, away) = (scratch.path("files"), scratch.path("away"));
    std::fs::rename(&files, &away).expect("renamed");
    for part in files_below(&current(&scratch.lake()).join("details")) {
        std::fs::write(part, "no Parquet").expect("damaged");
    }
    sunlake(&scratch.lake(), &["verify", "--repair"]).exits(9);
    std::fs::rename(away, files).expect("renamed");
    is_partial(&["20261003c.txt"]);
    put(&scratch, &[daily("1002", &record(3)), daily("1003", &record(4))]);
    imported(&scratch).complete();
}

#[test]
fn two_files_for_one_place_of_a_set_are_refused_unless_they_are_copies() {
    let text = part(3, 9);
    // As long as the other one.
    let other = text.replacen("SOME LLC", "SOME INC", 1);
    for name in [
        "cor/cordata3 (1).txt",
        "cor/cordata3 - Copy.txt",
        "cor/cordata3 2.txt",
        "cordata/cordata3.txt",
        "CORDATA3.TXT",
        "cor/cordata3.txt copy/cordata3 copy.txt",
    ] {
        let scratch = Scratch::new();
        put(&scratch, &set("q", 9));
        for text in [&other, &text[..text.len() / 2]] {
            put(&scratch, &[(format!("q/{name}"), text.to_owned())]);
            imported(&scratch).exits(3).says("q/cor/cordata3.txt").says(name).says("a folder of its own");
            assert!(!scratch.lake().join("current").exists(), "{name}");
        }
        put(&scratch, &[(format!("q/{name}"), text.clone())]);
        imported(&scratch).complete();
    }
}

#[test]
fn two_files_of_one_day_are_refused_unless_they_are_copies_or_one_is_broken() {
    let scratch = Scratch::new();
    put(&scratch, &set("q", 9));
    for ((kind, record), folder) in
        daily().into_iter().zip(["", "2026/", "c/", "20261013c.zip/", "old/", "a b/"])
    {
        let (name, other) = (format!("20261013{kind}.txt"), format!("{folder}20261013{kind} (1).txt"));
        put(&scratch, &[(name.clone(), record.clone())]);
        let mut of_other_number = record.clone();
        of_other_number.replace_range(11..12, "9");
        for text in [record.repeat(2), of_other_number] {
            put(&scratch, &[(other.clone(), text)]);
            imported(&scratch).exits(3).says(&name).says(&other).says("file of 2026-10-13, and differ");
        }
        for text in [PAGE, &record] {
            put(&scratch, &[(other.clone(), text.to_owned())]);
            imported(&scratch).exits(0);
        }
        std::fs::remove_file(scratch.path("files").join(&other)).expect("removed");
    }
}

#[test]
fn what_resembles_a_file_of_the_state_is_read_or_named_and_litter_is_neither() {
    let scratch = Scratch::new();
    put(&scratch, &set("q", 9));
    let litter = [
        "README.txt",
        "q/__MACOSX/._cordata0.txt",
        "q/.DS_Store",
        "Thumbs.db",
        "q/cor/desktop.ini",
        "q/cor/.20261012c.txt.swp",
    ];
    put(&scratch, &litter.map(|name| (name.to_owned(), "x".to_owned())));
    imported(&scratch).complete();
    for name in [
        "20261012c.gz",
        "20261012ce.txt.crdownload",
        "q/cor/cordata3.txt.part",
        "q/cor/corevt.7z",
        "q/fic/FICDATA",
        "20271012c.txt",
    ] {
        put(&scratch, &[(name.to_owned(), "x".to_owned())]);
        assert_eq!(partial(&scratch, "unread")[0]["file"], name);
        std::fs::remove_file(scratch.path("files").join(name)).expect("removed");
    }
    assert_eq!(imported(&scratch).exits(0).json()["outcome"], "unchanged");
}

#[test]
fn folders_in_archives_and_unpacked_ones_are_part_of_their_set() {
    let scratch = Scratch::new();
    let files = set("q", 9);
    put(&scratch, &files);
    let cor = scratch.path("files/q/cor");
    let inner = scratch.path("files/q/cordata");
    std::fs::create_dir_all(&inner).expect("a folder");
    for digit in 0..10 {
        let name = format!("cordata{digit}.txt");
        std::fs::rename(cor.join(&name), inner.join(&name)).expect("renamed");
    }
    let archive = scratch.path("files/q/cor/cordata (1).zip");
    let zipped = Command::new("python3").args(["-m", "zipfile", "-c"]).arg(&archive).arg(&inner).status();
    assert!(zipped.expect("python3").success());
    // Next to its archive.
    imported(&scratch).complete();
    std::fs::remove_dir_all(&inner).expect("removed");
    let (lake, other) = (scratch.lake(), Scratch::new());
    assert_eq!(imported(&scratch).exits(0).json()["outcome"], "unchanged");
    std::fs::rename(scratch.path("files"), other.path("files")).expect("renamed");
    imported(&other).complete();
    assert_eq!(rows(&lake, "filings", &[]).len(), 10 * RECORDS);
    assert_eq!(rows(&other.lake(), "filings", &[]).len(), 10 * RECORDS);
    assert_eq!(rows(&other.lake(), "events", &[]).len(), 10 * RECORDS);
}

#[test]
fn a_set_without_events_or_a_kind_that_the_last_one_had_is_not_complete() {
    let scratch = Scratch::new();
    let mut files = set("q", 9);
    let events = files.pop().expect("events");
    put(&scratch, &files);
    assert_eq!(partial(&scratch, "missing_files")[0], "corevt.txt of the set of 2026-09-28");
    assert_eq!(partial(&scratch, "missing_files")[0], "corevt.txt of the set of 2026-09-28");
    put(&scratch, &[events]);
    imported(&scratch).complete();
    // Kinds that come without the other half of their pair.
    let [_, _, (_, name), (_, name_event), (_, partner), _] = daily();
    for (file, text, missing) in [
        ("q/gen/genfile.txt", &partner, "genevt.txt of the set of 2026-09-28"),
        ("q/fic/ficevt.txt", &name_event, "ficdata.txt of the set of 2026-09-28"),
    ] {
        put(&scratch, &[(file.to_owned(), text.clone())]);
        assert!(partial(&scratch, "missing_files").to_string().contains(missing), "{missing}");
    }
    put(&scratch, &[("q/fic/ficdata.txt".to_owned(), name), file("q/gen/genevt.txt", &[])]);
    imported(&scratch).complete();
    // A kind that only the last set has.
    put(&scratch, &set("later", 10));
    let missing = ["ficdata.txt", "genfile.txt", "ficevt.txt", "genevt.txt"];
    let found = partial(&scratch, "missing_files");
    assert_eq!(found, serde_json::json!(missing.map(|name| format!("{name} of the set of 2026-10-28"))));
    for name in ["latest/gen/genevt.txt", "latest/corevt.txt", "latest/fic/ficdata.txt"] {
        put(&scratch, &[file(name, &[])]);
        assert!(partial(&scratch, "waiting").to_string().contains(name), "{name}");
    }
    put(&scratch, &set("latest", 11)[1..]);
    imported(&scratch).exits(3).says("latest").says("cordata0.txt");
}

#[test]
fn an_archive_with_the_text_of_the_last_set_is_a_file_of_the_new_set_too() {
    let [_, _, (_, name), (_, name_event), (_, partner), (_, partner_event)] = daily();
    let event = event("L20000000000", "01052020", &[]);
    let same = [
        ("corevt", event),
        ("ficdata", name),
        ("ficevt", name_event),
        ("genfile", partner),
        ("genevt", partner_event),
    ];
    for is_late in [false, true] {
        let scratch = Scratch::new();
        let put_corporations = |folder: &str, month| put(&scratch, &set(folder, month)[..10]);
        let put_same = |folder: &str| {
            for (stem, text) in &same {
                put(&scratch, &[(format!("{folder}/{stem}.txt"), text.clone())]);
                archive(&scratch, folder, stem);
            }
        };
        put_corporations("first", 6);
        put_same("first");
        imported(&scratch).complete();
        put_corporations("second", 9);
        if is_late {
            let missing = partial(&scratch, "missing_files");
            assert_eq!(missing.as_array().expect("files").len(), same.len(), "{missing}");
        }
        put_same("second");
        let summary = imported(&scratch).complete();
        assert_eq!(summary["import"]["missing_files"], serde_json::json!([]), "{summary}");
        let of_second = |cells: &Cells| text(cells, "source_date") == "2026-09-28";
        let files = rows(&scratch.lake(), "imports", &[]).into_iter().filter(of_second);
        assert_eq!(files.count(), 10 + same.len());
        assert_eq!(imported(&scratch).exits(0).json()["outcome"], "unchanged");
    }
}

#[test]
fn days_are_not_complete_with_fictitious_names_of_which_no_file_was_read() {
    let scratch = Scratch::new();
    put(&scratch, &set("q", 9));
    let listings = || -> BTreeSet<String> {
        let rows = rows(&scratch.lake(), "coverage", &[]).into_iter();
        rows.map(|cells| cells["entity_type"].clone().expect("a listing")).collect()
    };
    let complete_days = || {
        let days = rows(&scratch.lake(), "days", &[]).into_iter();
        days.filter(|cells| cells["complete"].as_deref() == Some("true")).count()
    };
    imported(&scratch).says("no file of fictitious names was read").complete();
    assert_eq!(listings(), BTreeSet::from(["*".to_owned()]));
    assert_eq!(complete_days(), 0);
    let status = sunlake(&scratch.lake(), &["status"]).exits(0);
    assert!(!status.stdout.contains("fictitious names included"), "{}", status.shown());
    // What the program knows itself is there in every lake.
    let lists = ["county_facts", "entity_types", "industry_labels"]
        .map(|table| rows(&scratch.lake(), table, &[]).len());
    assert!(lists[0] == 67 && lists[1] == 6 && lists[2] > 50, "{lists:?}");
    let [_, _, (_, name), (_, name_event), ..] = daily();
    put(&scratch, &[("q/fic/ficdata.txt".to_owned(), name), ("q/fic/ficevt.txt".to_owned(), name_event)]);
    let done = imported(&scratch);
    assert!(!done.stderr.contains("no file of fictitious names"), "{}", done.shown());
    assert_eq!(listings(), BTreeSet::from(["*".to_owned(), "fictitious".to_owned()]));
    assert!(complete_days() > 0);
}

/// When one kind of daily file no longer comes, the others say nothing of its days.
#[test]
fn days_are_complete_only_as_far_as_the_files_of_their_kind_reach() {
    let names = line(2098, &[&[(1, "G26000000001"), (13, "A NAME"), (339, "09282026"), (352, "A")]]);
    let event = line(762, &[&[(1, "G26000000002"), (13, "G26000000001"), (232, "09282026"), (245, "REN")]]);
    let weekdays = |last: i8| {
        let days = (29..=30).map(|day| (9, day)).chain((1..=last).map(|day| (10, day)));
        days.map(|(month, day)| civil::date(2026, month, day))
            .filter(|day| !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday))
    };
    for (last_c, last_f, complete) in [
        (30, 30, [("*", "2026-10-16"), ("fictitious", "2026-10-16")]),
        (9, 30, [("*", "2026-09-25"), ("fictitious", "2026-10-16")]),
        (30, 9, [("*", "2026-10-16"), ("fictitious", "2026-09-25")]),
    ] {
        let scratch = Scratch::new();
        put(&scratch, &set("q", 9));
        put(
            &scratch,
            &[
                file("q/fic/ficdata.txt", std::slice::from_ref(&names)),
                file("q/fic/ficevt.txt", std::slice::from_ref(&event)),
            ],
        );
        for (kind, last) in [("c", last_c), ("f", last_f)] {
            let files = weekdays(last).map(|day| file(&format!("{}{kind}.txt", day.strftime("%Y%m%d")), &[]));
            put(&scratch, &files.collect::<Vec<_>>());
        }
        let summary = imported(&scratch).complete();
        let missing = |list: &str| summary["import"][list].as_array().expect("days").len();
        let expected = |last| weekdays(30).count() - weekdays(last).count();
        assert_eq!(missing("missing_days"), expected(last_c), "{summary}");
        assert_eq!(missing("missing_days_of_names"), expected(last_f), "{summary}");
        let newest = |listing: &str| {
            let rows = rows(&scratch.lake(), "coverage", &[]).into_iter();
            let is_complete =
                |cells: &Cells| text(cells, "complete") == "true" && text(cells, "entity_type") == listing;
            rows.filter(is_complete).map(|cells| text(&cells, "filed_date")).max().unwrap_or_default()
        };
        for (listing, day) in complete {
            assert_eq!(newest(listing), day, "{listing} of {last_c} and {last_f}");
        }
    }
}

#[test]
fn a_cut_text_is_refused_in_a_folder_that_is_named_like_an_archive() {
    let text = part(4, 9);
    let cut = &text[..text.len() - 700];
    let scratch = Scratch::new();
    put(&scratch, &replaced(set("q", 9), "cordata4.txt", cut));
    let cor = scratch.path("files/q/cor");
    let folder = scratch.path("files/q/cordata.zip");
    std::fs::rename(&cor, &folder).expect("renamed");
    imported(&scratch).exits(9).says("q/cordata.zip/cordata4.txt: it ends within a record");
    assert!(!scratch.lake().join("current").exists());
}

#[test]
fn a_long_line_goes_to_quarantine_and_the_others_count() {
    let scratch = Scratch::new();
    put(&scratch, &set("q", 9));
    let long = format!("{}{}\n", company("L26000000001", &[]), "x".repeat(9 << 20));
    put(
        &scratch,
        &[("20261012c.txt".to_owned(), format!("{long}{}", company("L26000000002", &[]).repeat(3)))],
    );
    assert_eq!(imported(&scratch).complete()["quarantined"], 1);
    assert_eq!(rows(&scratch.lake(), "filings", &[]).len(), 10 * RECORDS + 2);
}

#[test]
fn each_record_of_a_line_that_lost_its_end_is_in_quarantine() {
    let scratch = Scratch::new();
    put(&scratch, &set("q", 9));
    let number = |at: usize| format!("L2600000000{at}");
    let all: String = (0..6).map(|at| company(&number(at), &[])).collect();
    let (length, name) = (all.len() / 6, "20261012c.txt");
    let joined = format!("{}{}", &all[..2 * length - 2], &all[2 * length..]);
    put(&scratch, &[(name.to_owned(), joined)]);
    let summary = imported(&scratch).complete();
    assert_eq!(summary["quarantined"], 2, "{summary}");
    assert!(summary["checks"].to_string().contains("2 records could not be normalized"), "{summary}");
    assert_eq!(rows(&scratch.lake(), "filings", &[]).len(), 10 * RECORDS + 4);
    let row = rows(&scratch.lake(), "imports", &[]).into_iter().find(|cells| text(cells, "file") == name);
    let row = row.expect("the file");
    assert_eq!([text(&row, "records"), text(&row, "quarantined")], ["6", "2"]);
    let kept = quarantined(&scratch.lake());
    assert_eq!(kept.len(), 2, "{kept:?}");
    for (rejected, at) in kept.iter().zip(1..) {
        assert_eq!(rejected["line"], 2, "{rejected}");
        assert_eq!(rejected["reason"], "line of several records", "{rejected}");
        assert!(rejected["record"].as_str().expect("a record").starts_with(&number(at)), "{rejected}");
    }
}

#[test]
fn copies_and_new_times_publish_no_snapshot() {
    let scratch = Scratch::new();
    let days = [file("20261012c.txt", &[company("L26000000001", &[])])];
    let files = [set("q", 9), days.to_vec()].concat();
    put(&scratch, &files);
    imported(&scratch).complete();
    let again = |what: &str| {
        let summary = imported(&scratch).exits(0).json();
        assert_eq!(summary["outcome"], "unchanged", "{what}: {summary}");
        assert_eq!(commits(&scratch.lake()).len(), 1, "{what}");
    };
    put(&scratch, &files);
    again("new times");
    let copied: Files = files.iter().map(|(name, text)| (format!("copy/{name}"), text.clone())).collect();
    put(&scratch, &copied);
    again("a copy of the folder");
    put(&scratch, &[("README.txt".to_owned(), "x".to_owned())]);
    again("a text of something else");
    put(&scratch, &[file("20261013c.txt", &[company("L26000000002", &[])])]);
    imported(&scratch).complete();
    assert_eq!(rows(&scratch.lake(), "filings", &[]).len(), 10 * RECORDS + 2);
}

#[test]
fn a_byte_order_mark_is_skipped_and_a_date_far_ahead_is_named_and_ends_no_axis() {
    let scratch = Scratch::new();
    put(&scratch, &set("q", 9));
    let lines = [company("L26000000001", &[]), company("L26000000002", &[(473, "07162062")])];
    put(&scratch, &[("20261012c.txt".to_owned(), format!("\u{feff}{}", lines.concat()))]);
    let summary = imported(&scratch).complete();
    assert_eq!(summary["quarantined"], 0, "{summary}");
    assert_eq!(rows(&scratch.lake(), "filings", &[]).len(), 10 * RECORDS + 2);
    let checks = summary["checks"].to_string();
    assert!(checks.contains("1 filed more than a year from now, the newest on 2062-07-16"), "{checks}");
    sunlake(&scratch.lake(), &["report"]).exits(0);
    let report = std::fs::read_to_string(scratch.lake().join("catalog/report.html")).expect("a report");
    assert!(report.contains("<title>2026-10-12 "), "the calendar");
    assert!(!report.contains("<title>2062-") && !report.contains("<title>2027-"), "the calendar");
    assert!(!report.contains("2062-07-16"), "neither among the newest businesses nor among the days");
}
