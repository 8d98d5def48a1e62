//! Hand-made files of the state: records that come twice, files that come late, in parts or again, and rows that were lost.

use crate::state_files::{import, pipeline, tables};
use crate::support::command::{Sunlake, sunlake};
use crate::support::lake::{Cells, commits, current, files_below, rows};
use crate::support::scratch::Scratch;
use std::path::Path;

/// Pieces of a line: first column, and text.
pub(crate) type Pieces<'a> = &'a [(usize, &'a str)];

/// A line of this length.
pub(crate) fn line(length: usize, pieces: &[Pieces<'_>]) -> String {
    let mut line = vec![b' '; length];
    for (first, text) in pieces.iter().copied().flatten() {
        line[first - 1..first - 1 + text.len()].copy_from_slice(text.as_bytes());
    }
    String::from_utf8(line).expect("ASCII") + "\r\n"
}

const COMPANY: Pieces<'_> = &[
    (13, "SOME LLC"),
    (205, "AFLAL"),
    (221, "1 MAIN ST"),
    (305, "MIAMI"),
    (333, "FL33130"),
    (345, "US"),
    (347, "1 MAIN ST"),
    (431, "MIAMI"),
    (459, "FL33130"),
    (471, "US01152020"),
    (504, "FL"),
    (669, "MGR PDOE                 JOHN"),
];
const FILED: usize = 473;

pub(crate) fn company(number: &str, pieces: Pieces<'_>) -> String {
    line(1440, &[&[(1, number)], COMPANY, pieces])
}

pub(crate) fn event(number: &str, filed: &str, pieces: Pieces<'_>) -> String {
    line(662, &[&[(1, number), (13, "00001CORLCNC"), (38, "LC NAME CHANGE"), (86, filed)], pieces])
}

pub(crate) fn renamed(number: &str, filed: &str, name: &str) -> String {
    event(number, filed, &[(211, name), (413, "Y")])
}

pub(crate) fn partner(number: &str, name: &str, filed: &str) -> String {
    let of_partner = [(1, number), (13, "A"), (14, "SOME GP"), (206, filed), (502, "P"), (515, name)];
    line(759, &[&of_partner, &[(241, "1 MAIN ST"), (329, "MIAMI"), (357, "FL33130")]])
}

/// Files, by name.
pub(crate) type Files = Vec<(String, String)>;

/// The files of corporations of a set; `last` is their newest day.
fn corporations(set: &str, last: &str, more: &[String]) -> Files {
    let file = |digit: usize| {
        let mut text = company(&format!("L2000000000{digit}"), &[(496, last)]);
        if digit == 5 {
            text.extend(more.iter().map(String::as_str));
        }
        (format!("{set}/cor/cordata{digit}.txt"), text)
    };
    (0..10).map(file).collect()
}

/// The files of corporations of a set, and of their events.
pub(crate) fn complete_set(set: &str, last: &str, more: &[String]) -> Files {
    let mut files = corporations(set, last, more);
    files.push(file(&format!("{set}/cor/corevt.txt"), &[renamed("L20000000001", last, "FILLER LLC")]));
    files
}

pub(crate) fn put(scratch: &Scratch, files: &[(String, String)]) {
    for (name, text) in files {
        let path = scratch.path("files").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    }
}

pub(crate) fn file(name: &str, lines: &[String]) -> (String, String) {
    (name.to_owned(), lines.concat())
}

pub(crate) fn text(cells: &Cells, column: &str) -> String {
    cells[column].clone().unwrap_or_default()
}

/// Values of a table's columns, sorted.
fn values(lake: &Path, table: &str, columns: &[&str], counts: &dyn Fn(&Cells) -> bool) -> Vec<Vec<String>> {
    let rows = rows(lake, table, &[]).into_iter().filter(|cells| counts(cells));
    let mut found: Vec<Vec<String>> =
        rows.map(|cells| columns.iter().map(|column| text(&cells, column)).collect()).collect();
    found.sort();
    found
}

#[test]
fn the_last_line_of_a_business_counts_whatever_its_filing_day() {
    let scratch = Scratch::new();
    let twice = |number: &str, days: [&str; 2]| {
        [
            company(number, &[(13, "FIRST LINE LLC"), (FILED, days[0])]),
            company(number, &[(13, "LAST LINE LLC"), (FILED, days[1])]),
        ]
    };
    let known = ["L21000000001", "L21000000002"].map(|number| company(number, &[(FILED, "05152019")]));
    put(&scratch, &complete_set("q", "10092026", &known));
    let partners = [("GP2000000001", ["01152020", "02152020"]), ("GP2000000002", ["02152020", "01152020"])];
    let partners = partners.map(|(number, days)| {
        [
            partner(number, "ADAMS               ANN", days[0]),
            partner(number, "BAKER               BOB", days[1]),
        ]
    });
    put(&scratch, &[file("q/gen/genfile.txt", &partners.concat()), file("q/gen/genevt.txt", &[])]);
    let [early, late] = ["01152021", "03152021"];
    let daily = ["L21000000001", "L21000000003"].map(|number| twice(number, [late, early])).concat();
    let more = ["L21000000002", "L21000000004"].map(|number| twice(number, [early, late])).concat();
    put(&scratch, &[file("20261012c.txt", &[daily, more].concat())]);
    import(&scratch, &pipeline(&scratch, "")).complete();
    let of = |start: &'static str| move |cells: &Cells| text(cells, "document_number").starts_with(start);
    let lake = scratch.lake();
    let found = values(&lake, "filings", &["document_number", "name", "filed_date"], &of("L21"));
    let expected = [("1", "2021-01-15"), ("2", "2021-03-15"), ("3", "2021-01-15"), ("4", "2021-03-15")];
    let expected = expected
        .map(|(last, day)| vec![format!("L2100000000{last}"), "LAST LINE LLC".to_owned(), day.to_owned()]);
    assert_eq!(found, expected);
    let officers = values(&lake, "officers", &["name"], &|cells| text(cells, "title") == "PARTNER");
    assert_eq!(officers.concat(), ["ADAMS, ANN", "ADAMS, ANN", "BAKER, BOB", "BAKER, BOB"]);
}

#[test]
fn an_empty_daily_file_is_a_day_without_filings_and_a_copy_is_read_once() {
    let scratch = Scratch::new();
    let daily = |day: u32| file(&format!("2026101{day}c.txt"), &[company(&format!("L2600000001{day}"), &[])]);
    put(&scratch, &complete_set("q", "10092026", &[]));
    put(&scratch, &[daily(2), daily(4), file("20261013c.txt", &[]), file("20261013ce.txt", &[])]);
    put(&scratch, &[("2026/20261012c.txt".to_owned(), daily(2).1)]);
    let pipeline = pipeline(&scratch, "");
    let summary = import(&scratch, &pipeline).complete();
    assert_eq!(summary["import"]["missing_days"], serde_json::json!([]), "{summary}");
    let of_day = |cells: &Cells| text(cells, "quarterly") == "false";
    let found = values(&scratch.lake(), "imports", &["file", "source_date", "records"], &of_day);
    let expected = [
        ["2026/20261012c.txt", "2026-10-12", "1"],
        ["20261012c.txt", "2026-10-12", "1"],
        ["20261013c.txt", "2026-10-13", "0"],
        ["20261013ce.txt", "2026-10-13", "0"],
        ["20261014c.txt", "2026-10-14", "1"],
    ];
    assert_eq!(found, expected);
    let again = import(&scratch, &pipeline).exits(0).json();
    assert_eq!((&again["outcome"], &again["import"]["files"]), (&"unchanged".into(), &0.into()), "{again}");
}

#[test]
fn every_column_of_a_business_that_may_change_is_noted() {
    let scratch = Scratch::new();
    let numbers = ["L21000000001", "L21000000002", "L21000000003"];
    put(&scratch, &complete_set("q", "10092026", &numbers.map(|number| company(number, &[]))));
    let changed = [(471, "CA"), (504, "DE"), (495, "Y")];
    let lines = [0, 1, 2].map(|at| company(numbers[at], &changed[at..=at]));
    put(&scratch, &[file("20261012c.txt", &lines)]);
    import(&scratch, &pipeline(&scratch, "")).complete();
    let found = values(&scratch.lake(), "changes", &["field", "old", "new"], &|_| true);
    let expected =
        [["formation_state", "FL", "DE"], ["mailing_country", "US", "CA"], ["more_officers", "", "true"]];
    assert_eq!(found, expected);
}

/// Two quarterly sets, and daily files before, between, on the days of and after them.
fn two_sets() -> [Files; 6] {
    let numbers = ["L21000000001", "L21000000002", "L21000000003", "L21000000004"];
    let named = |name: &str| numbers.map(|number| company(number, &[(13, name)])).to_vec();
    let daily = |day: u32, name: &str| {
        [
            file(&format!("2026{day:04}c.txt"), &[company(numbers[0], &[(13, name)])]),
            file(
                &format!("2026{day:04}ce.txt"),
                &[
                    renamed(numbers[1], &format!("{day:04}2026"), name),
                    renamed(numbers[2], "10142026", name),
                    renamed("L21000000006", "10122026", name),
                ],
            ),
        ]
    };
    let events = |set: &str, filed: &str, name: &str| {
        file(&format!("{set}/cor/corevt.txt"), &[renamed(numbers[3], filed, name)])
    };
    let of_unknown = file("20261016ce.txt", &[renamed("L29000000001", "10162026", "UNKNOWN LLC")]);
    // One business is of another filing day in the second set, and one is missing there.
    let refiled = |filed: &str| company("L21000000005", &[(FILED, filed)]);
    let gone = company("L21000000006", &[]);
    let first = [named("FIRST LLC"), vec![refiled("05152019"), gone]].concat();
    let first = corporations("first", "10082026", &first);
    let second = [named("SECOND LLC"), vec![refiled("03152021")]].concat();
    let second = corporations("second", "10152026", &second);
    [
        first,
        // The newest day of the first set is that of its events.
        vec![events("first", "10092026", "OF THE FIRST LLC")],
        [daily(1009, "NINTH LLC"), daily(1012, "TWELFTH LLC")].concat(),
        second,
        vec![events("second", "10152026", "OF THE SECOND LLC")],
        [&daily(1007, "SEVENTH LLC")[..], &daily(1015, "FIFTEENTH LLC"), &[of_unknown]].concat(),
    ]
}

#[test]
fn sets_and_days_in_any_order_of_arrival_give_the_same_lake() {
    let at_once = Scratch::new();
    let files = two_sets();
    put(&at_once, &files.concat());
    import(&at_once, &pipeline(&at_once, "")).complete();
    let expected = tables(&at_once.lake());
    let orders =
        [[0, 1, 2, 3, 4, 5], [3, 4, 0, 1, 2, 5], [2, 0, 5, 1, 4, 3], [5, 3, 2, 4, 1, 0], [0, 2, 1, 3, 5, 4]];
    for order in orders {
        let scratch = Scratch::new();
        let pipeline = pipeline(&scratch, "");
        for part in order {
            put(&scratch, &files[part]);
            import_of_some(&scratch, &pipeline);
        }
        for ((table, found), (_, expected)) in tables(&scratch.lake()).into_iter().zip(&expected) {
            assert_eq!(&found, expected, "{table} depends on the order of arrival: {order:?}");
        }
        let replayed = sunlake(&scratch.lake(), &["replay", &last_run(&scratch.lake()), "--json"]);
        let replayed = replayed.exits(0).json();
        assert_eq!(replayed["snapshots"][0]["different"], serde_json::json!([]), "{order:?}: {replayed}");
    }
}

/// A daily file was corrected in place, so that not everything can be read again; then a file of an earlier day comes.
#[test]
fn a_business_appeared_on_its_first_day_also_where_files_that_were_read_are_gone() {
    let scratch = Scratch::new();
    let lake = scratch.lake();
    let named = |number: &str, name: &str| company(number, &[(13, name)]);
    let [of_set, of_day] = ["L21000000001", "L21000000002"];
    let imported = || import(&scratch, &pipeline(&scratch, ""));
    put(&scratch, &complete_set("first", "10082026", &[]));
    let second = [of_set, of_day].map(|number| named(number, "SECOND LLC"));
    put(&scratch, &complete_set("second", "10152026", &second));
    put(&scratch, &[file("20261014c.txt", &[named(of_day, "DAILY LLC")])]);
    put(&scratch, &[file("20261016c.txt", &[company("L26000000001", &[])])]);
    imported().complete();
    let is_new = |cells: &Cells| text(cells, "change") == "appeared";
    let days = || values(&lake, "changes", &["observed_on"], &is_new).concat();
    assert_eq!(days(), ["2026-10-14", "2026-10-15", "2026-10-16"]);
    put(&scratch, &[file("20261016c.txt", &[company("L26000000002", &[])])]);
    imported().says("files that the lake has read are gone").complete();
    put(&scratch, &[file("20261009c.txt", &[of_set, of_day].map(|number| named(number, "LATE LLC")))]);
    imported().says("files that the lake has read are gone").complete();
    assert_eq!(days(), ["2026-10-09", "2026-10-09", "2026-10-16", "2026-10-16"]);
    let appeared = values(&lake, "changes", &["business_id", "observed_at"], &is_new);
    let is_of_day = |cells: &Cells| !text(cells, "document_number").starts_with("L20");
    let seen = values(&lake, "filings", &["business_id", "first_seen_at"], &is_of_day);
    assert_eq!(appeared, seen);
    // From the second set on, nothing is lost.
    let renamed = values(&lake, "changes", &["observed_on", "new"], &|cells| {
        text(cells, "field") == "name" && text(cells, "old") == "DAILY LLC"
    });
    assert_eq!(renamed, [["2026-10-15", "SECOND LLC"]]);
}

/// Imports what is there: complete, or not yet.
fn import_of_some(scratch: &Scratch, pipeline: &Path) {
    let done = import(scratch, pipeline);
    let summary = done.json();
    let is_partial = summary["outcome"] == "partial";
    done.exits(if is_partial { 5 } else { 0 });
}

fn last_run(lake: &Path) -> String {
    let newest = rows(lake, "imports", &[]).into_iter().map(|cells| text(&cells, "run_id")).max();
    newest.expect("a run")
}

/// Runs the parts one after another, and returns the tables.
fn tables_after(parts: &[&[(String, String)]]) -> Vec<(String, Vec<Cells>)> {
    let scratch = Scratch::new();
    let pipeline = pipeline(&scratch, "");
    for part in parts {
        put(&scratch, part);
        // A text of two days is named by 5.
        let done = import(&scratch, &pipeline);
        assert!(matches!(done.code(), Some(0 | 5)), "{}", done.shown());
    }
    tables(&scratch.lake())
}

#[test]
fn events_that_files_repeat_and_a_text_of_two_days_do_not_depend_on_their_order() {
    let number = "L21000000001";
    let ended = |filed: &str| event(number, filed, &[(18, "CORLCVOLDS"), (38, "VOLUNTARY DISSOLUTION")]);
    let filler = renamed("L20000000001", "10092026", "FILLER LLC");
    let set = |set: &str, last: &str, events: &[String]| -> Files {
        let mut files = corporations(set, last, &[]);
        files.push(file(&format!("{set}/cor/corevt.txt"), &[std::slice::from_ref(&filler), events].concat()));
        files
    };
    let of_number = [company(number, &[(205, "I")])];
    let record = vec![file("20261103c.txt", &of_number)];
    let first = [ended("10012026")];
    // The record comes after two sets with its event.
    let waiting = [set("a", "10092026", &first), set("b", "10202026", &first), record.clone()];
    // An event is in the older set and in a daily file after the newer set, which has another event.
    let other = [renamed(number, "10152026", "RENAMED LLC")];
    let known = [vec![file("20261001c.txt", &of_number)], set("a", "10092026", &first)].concat();
    let daily = vec![file("20261026ce.txt", &first)];
    let twice = [known, daily, set("b", "10202026", &other)];
    // One text under two days.
    let of_day = |name: &str, says: &str| vec![file(name, &[company(number, &[(13, says)])])];
    let two_days = [
        set("a", "10092026", &[]),
        [of_day("20261014c.txt", "BETWEEN LLC"), of_day("20261016c.txt", "TWICE LLC")].concat(),
        of_day("20261012c.txt", "TWICE LLC"),
    ];
    for (what, [one, two, three]) in
        [("events that wait", &waiting), ("events that repeat", &twice), ("a text of two days", &two_days)]
            .map(|(what, parts)| (what, parts.each_ref().map(Vec::as_slice)))
    {
        let expected = tables_after(&[&[one, two, three].concat()]);
        for order in [[one, two, three], [two, one, three], [one, three, two], [three, one, two]] {
            for ((table, found), (_, expected)) in tables_after(&order).into_iter().zip(&expected) {
                assert_eq!(&found, expected, "{table} with {what} depends on the order of arrival");
            }
        }
    }
}

#[test]
fn rows_that_a_repair_left_out_are_imported_again() {
    let all =
        ["filings", "details", "officers", "events", "records", "imports", "unmatched_events", "coverage"];
    for table in all {
        let (scratch, files) = (Scratch::new(), two_sets());
        let pipeline = pipeline(&scratch, "");
        put(&scratch, &files.concat());
        import(&scratch, &pipeline).complete();
        let (lake, damaged) = (scratch.lake(), scratch.path("away"));
        let expected = tables(&lake);
        std::fs::rename(scratch.path("files"), &damaged).expect("renamed");
        for part in files_below(&current(&lake).join(table)) {
            std::fs::write(part, "no Parquet").expect("damaged");
        }
        // The old snapshot stays damaged.
        sunlake(&lake, &["verify", "--repair"]).exits(9);
        std::fs::rename(damaged, scratch.path("files")).expect("renamed");
        import(&scratch, &pipeline).complete();
        for ((table_found, found), (_, expected)) in tables(&lake).into_iter().zip(&expected) {
            assert_eq!(&found, expected, "{table_found} after the loss of {table}");
        }
        // Which files were read is lost with the table that says so.
        let newest = commits(&lake).pop().expect("a commit");
        assert_eq!(
            newest["state"].get("has_losses").is_some(),
            table == "imports",
            "after the loss of {table}"
        );
        let again = import(&scratch, &pipeline).exits(0).json();
        assert_eq!(again["outcome"], "unchanged", "{again}");
    }
}

#[test]
fn a_day_before_the_lake_s_own_is_refused_and_other_aggregates_need_no_new_file() {
    let scratch = Scratch::new();
    put(&scratch, &complete_set("q", "10092026", &[]));
    std::fs::create_dir(scratch.path("aggregates")).expect("a folder");
    let text = "name = \"state\"\n[import]\nfolder = \"files\"\n[checks]\ndrop = \"tell\"\n";
    let pipeline = scratch.file("state.toml", text);
    let lake = scratch.lake();
    let run = |today: &str| Sunlake::run(&pipeline, &lake).args(["--today", today]).finish();
    run("2026-11-20").complete();
    run("2026-11-19").exits(3).says("was read as of 2026-11-20");
    let sql = |more: u64| format!("SELECT COUNT(*) + {more} AS filings FROM filings\n");
    for (more, number) in [(0, 2), (1, 3)] {
        scratch.file("aggregates/own.sql", &sql(more));
        assert_eq!(run("2026-11-20").complete()["snapshot"], number);
        assert_eq!(text_of_own(&lake), (10 + more).to_string());
        assert_eq!(run("2026-11-20").exits(0).json()["outcome"], "unchanged");
    }
    let run_id = commits(&lake)[2]["run_id"].as_str().expect("a run").to_owned();
    let replayed = sunlake(&lake, &["replay", &run_id, "--json"]).exits(0).json();
    assert_eq!(replayed["snapshots"][0]["different"], serde_json::json!([]), "{replayed}");
    std::fs::remove_file(scratch.path("aggregates/own.sql")).expect("removed");
    assert_eq!(run("2026-11-20").complete()["snapshot"], 4);
    assert!(!current(&lake).join("agg_own").exists());
}

fn text_of_own(lake: &Path) -> String {
    text(&rows(lake, "agg_own", &[])[0], "filings")
}
