//! A pipeline imports the state's files: every table is what the state's register says, whatever the order of arrival.
//!
//! `tests/state_files`: an invented register in the state's layouts, with odd records, and the tables it must become. Both are made
//! by an independent program.

use crate::support::bad_disk;
use crate::support::command::{Finished, Sunlake, project, sunlake};
use crate::support::lake::{Cells, commits, copy_tree, current, files_below, point, quarantined, rows};
use crate::support::s3::Bucket;
use crate::support::scratch::Scratch;
use crate::support::server::{ApiServer, ENTERPRISE};
use jiff::civil::Date;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(crate) const TODAY: &str = "2026-11-22";
/// Columns of `changes` that the truth has.
const COMPARED: [&str; 8] =
    ["name", "status", "dissolved_date", "city", "zip", "county", "industry_sector", "industry_type"];

fn state_files() -> PathBuf {
    project().join("tests/state_files")
}

/// A pipeline that imports the folder `files` next to it, without aggregates and report.
pub(crate) fn pipeline(scratch: &Scratch, more: &str) -> PathBuf {
    pipeline_of(scratch, "files", more)
}

fn pipeline_of(scratch: &Scratch, folder: &str, more: &str) -> PathBuf {
    let text = format!(
        "name = \"state\"\n[import]\nfolder = \"{folder}\"\n{more}[checks]\ndrop = \"tell\"\n\
         [aggregates]\nenabled = false\n[report]\nenabled = false\n"
    );
    scratch.file("state.toml", &text)
}

pub(crate) fn import(scratch: &Scratch, pipeline: &Path) -> Finished {
    Sunlake::run(pipeline, &scratch.lake()).args(["--today", TODAY]).finish()
}

/// Files of the register, with their names.
fn delivered(is_delivered: &dyn Fn(&str) -> bool) -> Vec<(String, PathBuf)> {
    let from = state_files().join("files");
    let name = |file: &Path| file.strip_prefix(&from).expect("a file of the register").display().to_string();
    let files = files_below(&from).into_iter().map(|file| (name(&file), file));
    files.filter(|(name, _)| is_delivered(name)).collect()
}

/// Puts files of the register into the folder of the import.
fn deliver(scratch: &Scratch, is_delivered: &dyn Fn(&str) -> bool) {
    for (name, file) in delivered(is_delivered) {
        let to = scratch.path("files").join(name);
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        std::fs::copy(&file, to).expect("a copy");
    }
}

/// The records of a CSV file.
fn csv(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).expect("a CSV file");
    let (mut records, mut record, mut field, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(std::mem::take(&mut field)),
            '\n' if !is_quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            letter => field.push(letter),
        }
    }
    records
}

/// The rows of the truth, by column. Columns that the table has under no name are left out.
fn truth(table: &str, without: &[&str]) -> BTreeSet<Vec<(String, String)>> {
    let mut records = csv(&state_files().join(format!("truth/{table}.csv"))).into_iter();
    let columns = records.next().expect("columns");
    let row = |record: Vec<String>| {
        let cells = columns.iter().cloned().zip(record);
        let mut cells: Vec<(String, String)> = cells
            .filter(|(name, _)| !without.contains(&name.as_str()))
            .map(|(name, cell)| (name, if cell == "\\N" { String::new() } else { cell }))
            .collect();
        cells.sort();
        cells
    };
    records.map(row).collect()
}

/// A cell of a row of the truth.
fn value(row: &[(String, String)], name: &str) -> String {
    row.iter().find(|(column, _)| column == name).expect("a column").1.clone()
}

/// The rows of the lake, with the columns of the truth.
fn found(lake: &Path, table: &str, columns: &BTreeSet<String>) -> BTreeSet<Vec<(String, String)>> {
    let row = |cells: Cells| -> Vec<(String, String)> {
        let kept = cells.into_iter().filter(|(name, _)| columns.contains(&**name));
        kept.map(|(name, cell)| (name.to_string(), cell.unwrap_or_default())).collect()
    };
    rows(lake, table, &[]).into_iter().map(row).collect()
}

fn assert_equal(lake: &Path, table: &str, without: &[&str]) {
    let expected = truth(table, without);
    let columns = expected.first().expect("rows").iter().map(|(name, _)| name.clone()).collect();
    let found = found(lake, table, &columns);
    let missing: Vec<_> = expected.difference(&found).take(2).collect();
    let extra: Vec<_> = found.difference(&expected).take(2).collect();
    assert!(missing.is_empty() && extra.is_empty(), "{table}: missing {missing:#?}, not expected {extra:#?}");
}

fn changes_found(lake: &Path) -> BTreeSet<Vec<String>> {
    let text = |cells: &Cells, name: &str| cells[name].clone().unwrap_or_default();
    let names = ["observed_on", "business_id", "change", "field", "old", "new"];
    let compared = |cells: &Cells| {
        cells["change"].as_deref() != Some("changed") || COMPARED.contains(&text(cells, "field").as_str())
    };
    let rows = rows(lake, "changes", &[]).into_iter().filter(compared);
    rows.map(|cells| names.iter().map(|name| text(&cells, name)).collect()).collect()
}

fn changes_expected() -> BTreeSet<Vec<String>> {
    let records = csv(&state_files().join("truth/changes.csv")).into_iter().skip(1);
    let plain = |cell: String| if cell == "\\N" { String::new() } else { cell };
    records.map(|record| record.into_iter().map(plain).collect()).collect()
}

/// Compares every table with the truth.
fn assert_is_register(lake: &Path) {
    assert_equal(lake, "filings", &["id", "inactive_reason"]);
    assert_equal(lake, "details", &[]);
    assert_equal(lake, "officers", &[]);
    assert_equal(lake, "events", &[]);
    assert_eq!(changes_found(lake), changes_expected());
    let reasons: usize = rows(lake, "filings", &[]).iter().filter(|row| row["extra"].is_some()).count();
    let expected = truth("filings", &[])
        .iter()
        .flatten()
        .filter(|(n, v)| n == "inactive_reason" && !v.is_empty())
        .count();
    assert_eq!(reasons, expected);
    assert_every_day_is_covered(lake);
}

/// A day without filings is covered too, or its month would never be complete. Two weeks before the newest file, every day is.
fn assert_every_day_is_covered(lake: &Path) {
    let day =
        |cells: &Cells, name: &str| cells[name].as_ref().expect("a day").parse::<Date>().expect("a date");
    let imports = rows(lake, "imports", &[]);
    let newest = imports.iter().map(|cells| day(cells, "source_date")).max().expect("a file");
    let mut covered = rows(lake, "coverage", &[]);
    covered.retain(|cells| day(cells, "filed_date") <= newest);
    let days: BTreeSet<Date> = covered.iter().map(|cells| day(cells, "filed_date")).collect();
    let first = *days.first().expect("a day");
    assert_eq!((newest - first).get_days() as usize + 1, days.len(), "{first} to {newest}");
    assert_eq!(covered.len(), 2 * days.len(), "fictitious names, and all others");
    covered.retain(|cells| cells["complete"].as_deref() == Some("false"));
    let oldest = covered.iter().map(|cells| day(cells, "filed_date")).min().expect("an incomplete day");
    assert!((newest - oldest).get_days() < 90, "{oldest} is not complete; the newest file is of {newest}");
}

fn quarantine(lake: &Path) -> BTreeSet<(String, u64, String)> {
    let text = |record: &Value, name: &str| record[name].as_str().unwrap_or_default().to_owned();
    let records = quarantined(lake).into_iter();
    records
        .map(|record| {
            (text(&record, "file"), record["line"].as_u64().expect("a line"), text(&record, "reason"))
        })
        .collect()
}

#[test]
fn a_register_is_imported_once_and_replayed_from_its_copies() {
    let scratch = Scratch::new();
    deliver(&scratch, &|_| true);
    let pipeline = pipeline(&scratch, "archive = true\n");
    let summary = import(&scratch, &pipeline).complete();
    let lake = scratch.lake();
    assert_is_register(&lake);
    let expected = csv(&state_files().join("truth/quarantine.csv")).into_iter().skip(1);
    let expected: BTreeSet<(String, u64, String)> =
        expected.map(|line| (line[0].clone(), line[1].parse().expect("a line"), line[2].clone())).collect();
    assert_eq!(quarantine(&lake), expected);
    assert_eq!(summary["quarantined"].as_u64(), Some(expected.len() as u64));
    // A copy of a file, and an empty one, are not read again.
    let again = import(&scratch, &pipeline).exits(0).json();
    assert_eq!((again["outcome"].as_str(), commits(&lake).len()), (Some("unchanged"), 1));
    let run_id = summary["run_id"].as_str().expect("a run");
    std::fs::remove_dir_all(scratch.path("files")).expect("removed");
    let replayed = sunlake(&lake, &["replay", run_id, "--json"]).exits(0).json();
    assert_eq!(replayed["snapshots"][0]["different"], serde_json::json!([]), "{replayed}");
    assert!(sunlake(&lake, &["verify", "--json"]).exits(0).json()["sound"].as_bool().unwrap_or(false));
}

/// When and by which run a row was written.
const OF_RUN: [&str; 4] = ["run_id", "imported_at", "stamp", "file"];

pub(crate) fn tables(lake: &Path) -> Vec<(String, Vec<Cells>)> {
    let of_state = [
        "filings",
        "details",
        "officers",
        "events",
        "unmatched_events",
        "records",
        "changes",
        "imports",
        "coverage",
        "statewide",
        "statewide_history",
        "days",
        "months",
    ];
    let sorted = |table: &str| {
        let mut rows = rows(lake, table, &OF_RUN);
        rows.sort();
        (table.to_owned(), rows)
    };
    of_state.into_iter().map(sorted).collect()
}

#[test]
fn files_in_any_order_of_arrival_give_the_same_lake() {
    let at_once = Scratch::new();
    deliver(&at_once, &|_| true);
    import(&at_once, &pipeline(&at_once, "")).complete();
    let expected = tables(&at_once.lake());
    // The third day, the names, the second day's events, the corporations, then all the rest.
    let groups: [&dyn Fn(&str) -> bool; 5] = [
        &|name| name.contains("20261014"),
        &|name| name.contains("quarterly/fic"),
        &|name| name.contains("20261013ce"),
        &|name| name.contains("quarterly/cor"),
        &|_| true,
    ];
    let late = Scratch::new();
    let pipeline = pipeline(&late, "");
    for (number, group) in groups.into_iter().enumerate() {
        deliver(&late, group);
        let is_waiting = matches!(number, 1 | 2);
        let done = import(&late, &pipeline);
        let summary = done.json();
        let waiting = summary["import"]["waiting"].as_array().expect("a list").len();
        assert_eq!(waiting > 0, is_waiting, "{summary}");
        // Before the last delivery the set lacks the events of corporations, or has no corporations.
        done.exits(if is_waiting { 5 } else { 0 });
    }
    assert_is_register(&late.lake());
    for ((table, found), (_, expected)) in tables(&late.lake()).into_iter().zip(expected) {
        assert!(found == expected, "{table} depends on the order of arrival");
    }
}

#[test]
fn a_kill_at_any_moment_changes_nothing_that_is_published() {
    let scratch = Scratch::new();
    deliver(&scratch, &|name| name.contains("quarterly"));
    let pipeline = pipeline(&scratch, "");
    import(&scratch, &pipeline).complete();
    let lake = scratch.lake();
    let published = current(&lake);
    deliver(&scratch, &|_| true);
    for staged in [0, 3, 20] {
        let mut running = Sunlake::run(&pipeline, &lake).args(["--today", TODAY]).start();
        let files = || {
            let runs = lake.join("runs");
            files_below(&runs).iter().filter(|path| path.to_string_lossy().contains("staged")).count()
        };
        while files() < staged {
            assert!(running.is_running(), "the import ended before it was killed");
            std::thread::yield_now();
        }
        running.kill();
        assert_eq!(current(&lake), published);
    }
    import(&scratch, &pipeline).complete();
    assert_is_register(&lake);
}

#[test]
fn files_in_an_object_store_give_the_same_lake() {
    let (scratch, bucket) = (Scratch::new(), Bucket::new("state-files"));
    let pipeline = pipeline_of(&scratch, &format!("{}/", bucket.lake()), "archive = true\n");
    let import = |lake: &Path| {
        let run = Sunlake::run(&pipeline, lake).args(["--today", TODAY]);
        bucket.opened_by(run, &scratch.path("work")).finish()
    };
    let lake = scratch.lake();
    import(&lake)
        .exits(3)
        .says(&format!("cannot read {}: there is no file", bucket.lake()))
        .says("hint: put the state's files there");
    bucket.put(&delivered(&|name| name.contains("quarterly")));
    import(&lake).complete();
    bucket.put(&delivered(&|_| true));
    let summary = import(&lake).complete();
    assert_is_register(&lake);
    assert_eq!(import(&lake).exits(0).json()["outcome"].as_str(), Some("unchanged"));
    let run_id = summary["run_id"].as_str().expect("a run");
    let replayed = sunlake(&lake, &["replay", run_id, "--json"]).exits(0).json();
    assert_eq!(replayed["snapshots"][0]["different"], serde_json::json!([]), "{replayed}");
    bucket.flip(&["doc/quarterly/cor/cordata.zip"]);
    let archive = format!("the archive {}/doc/quarterly/cor/cordata.zip: it is damaged", bucket.lake());
    import(&scratch.path("another")).exits(9).says(&archive);
    assert!(!scratch.path("another/current").exists());
}

#[test]
fn every_business_is_served_with_its_details_and_officers() {
    let scratch = Scratch::new();
    deliver(&scratch, &|_| true);
    import(&scratch, &pipeline(&scratch, "")).complete();
    let server = ApiServer::of_lake(&scratch.lake(), TODAY, ENTERPRISE);
    let answer = |target: &str| {
        let answer = server.get(&format!("/v1/fl/{target}"));
        assert_eq!(answer.status, 200, "{target}: {}", answer.text());
        answer.json()["data"].clone()
    };
    let (mut officers, mut filings) = (BTreeMap::new(), BTreeMap::new());
    for row in truth("officers", &[]) {
        let officer = serde_json::json!({ "name": value(&row, "name"), "title": value(&row, "title") });
        let of_business: &mut BTreeMap<usize, Value> =
            officers.entry(value(&row, "business_id")).or_default();
        of_business.insert(value(&row, "position").parse().expect("a number"), officer);
    }
    for row in truth("filings", &[]).into_iter().filter(|row| value(row, "entity_type") != "other") {
        filings.insert(value(&row, "business_id"), row);
    }
    for row in truth("details", &[]) {
        let id = value(&row, "business_id");
        let Some(filing) = filings.get(&id) else { continue };
        let detail = answer(&format!("businesses/{id}"));
        assert_eq!(detail["name"], value(filing, "name"));
        assert_eq!(detail["principal_address"]["street"], value(&row, "principal_street"));
        assert_eq!(detail["mailing_address"]["zip"].as_str().unwrap_or_default(), value(&row, "mailing_zip"));
        assert_eq!(detail["registered_agent_name"], value(&row, "registered_agent_name"));
        let number = value(filing, "document_number");
        assert_eq!(answer(&format!("businesses/by-document/{number}")), detail);
        let expected = officers.remove(&id).unwrap_or_default().into_values().take(25);
        assert_eq!(answer(&format!("businesses/{id}/officers")), Value::Array(expected.collect()), "{id}");
    }
    for target in
        ["businesses?q=the", "filings/daily", "filings/daily/2026-10-14", "counties", "counties/DUVAL"]
    {
        assert!(!answer(target).is_null(), "{target}");
    }
    assert_eq!(answer("stats")["latest_filing_date"].as_str().map(str::len), Some(10));
}

#[test]
fn a_filing_type_that_the_api_does_not_have_is_counted_and_is_not_served() {
    let scratch = Scratch::new();
    deliver(&scratch, &|_| true);
    import(&scratch, &pipeline(&scratch, "")).complete();
    let all = truth("filings", &[]);
    let (others, served): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|row| value(row, "entity_type") == "other");
    let of_january = |row: &&Vec<(String, String)>| value(row, "filed_date").starts_with("2025-01");
    assert_eq!((others.len(), others.iter().filter(of_january).count()), (2, 2));
    let active: Vec<_> = served.iter().filter(|row| value(row, "status") == "active").collect();
    let is_listed = |row: &Vec<(String, String)>| value(row, "entity_type") != "fictitious";
    let server = ApiServer::of_lake(&scratch.lake(), "2025-02-10", ENTERPRISE);
    for row in &others {
        let (id, number) = (value(row, "business_id"), value(row, "document_number"));
        let look_ups = [
            format!("/v1/fl/businesses/{id}"),
            format!("/v1/fl/businesses/{id}/officers"),
            format!("/v1/fl/businesses/by-document/{number}"),
            format!("/changes/{id}"),
        ];
        for target in look_ups {
            assert_eq!(server.get(&target).status, 404, "{target}");
        }
    }
    let answer = |target: &str| server.get(&format!("/v1/fl/{target}")).json();
    let odd = active.iter().filter(|row| {
        is_listed(row)
            && value(row, "name").starts_with("ODD")
            && value(row, "filed_date").as_str() <= "2025-02-10"
    });
    for (target, total) in
        [("businesses?q=odd", odd.count()), ("filings/daily/2025-01-25", 0), ("filings/daily/2025-01-26", 0)]
    {
        assert_eq!(answer(target)["pagination"]["total"], total, "{target}");
    }
    for day in answer("filings/daily?days=90")["data"].as_array().expect("days") {
        let of_day = active.iter().filter(|row| is_listed(row) && day["date"] == value(row, "filed_date"));
        assert_eq!(day["count"], of_day.count(), "{day}");
    }
    let of_county = active.iter().filter(|row| value(row, "county") == "Monroe").count();
    assert_eq!(answer("counties/MONROE")["data"]["active_businesses"], of_county);
    let stats = answer("stats")["data"].clone();
    assert_eq!(stats["businesses_total"], served.len() + 2);
    let months = stats["monthly"].as_array().expect("months");
    let january = months.iter().find(|month| month["month"] == "2025-01").expect("a month");
    assert_eq!(january["total"], served.iter().filter(of_january).count() + 2);
    assert_eq!(january["by_type"]["other"], 2);
}

/// A snapshot may be pruned before the server has loaded the next one.
#[test]
fn a_look_up_in_a_pruned_snapshot_is_answered_from_the_next_one() {
    let scratch = Scratch::new();
    deliver(&scratch, &|name| name.contains("20261012"));
    import(&scratch, &pipeline(&scratch, "")).complete();
    let (snapshot, next) = (scratch.lake().join("current"), scratch.path("next"));
    let snapshot = snapshot.canonicalize().expect("a snapshot");
    copy_tree(&snapshot, &next);
    let filings = rows(&scratch.lake(), "filings", &[]);
    let llc = filings.iter().find(|row| row["entity_type"].as_deref() == Some("llc")).expect("a business");
    let target = format!("/v1/fl/businesses/{}", llc["business_id"].as_deref().expect("an id"));
    let server = ApiServer::of_lake(&scratch.lake(), TODAY, ENTERPRISE);
    let found = server.get(&target);
    assert_eq!(found.status, 200, "{}", found.text());
    std::fs::remove_dir_all(snapshot.join("details")).expect("pruned");
    // The server looks for it every second: until then the look-up waits.
    point(&server.scratch.path("served/current"), &next);
    let again = server.get(&target);
    assert_eq!((again.status, again.text()), (200, found.text()));
}

#[test]
fn a_lake_is_fed_by_the_api_or_by_files() {
    let scratch = Scratch::new();
    deliver(&scratch, &|name| name.contains("20261012"));
    let of_files = pipeline(&scratch, "");
    import(&scratch, &of_files).complete();
    let sample = scratch.file("sample.toml", &crate::support::source::sample_pipeline(3, 0.02));
    Sunlake::run(&sample, &scratch.lake())
        .args(["--today", TODAY])
        .finish()
        .exits(3)
        .says("was filled from the state's files, this run would read the embedded sample")
        .says("hint: give another lake with --lake");
    let other = Scratch::new();
    let sample = other.file("sample.toml", &crate::support::source::sample_pipeline(3, 0.02));
    Sunlake::run(&sample, &other.lake()).args(["--today", TODAY]).finish().exits(0);
    Sunlake::run(&of_files, &other.lake())
        .args(["--today", TODAY])
        .finish()
        .exits(3)
        .says("was filled from the embedded sample, this run would read the state's files");
}

#[test]
fn an_import_ends_after_the_disk_failed_in_one_month() {
    let scratch = Scratch::new();
    deliver(&scratch, &|_| true);
    let pipeline = pipeline(&scratch, "");
    // The months that follow must not wait for the one that failed.
    Sunlake::run(&pipeline, &scratch.lake())
        .args(["--today", TODAY])
        .env("LD_PRELOAD", &bad_disk::library().to_string_lossy())
        .env(bad_disk::FAILS_IN, "staged/filings/filed_month=")
        .finish()
        .exits(9)
        .says("Input/output error");
    assert!(!scratch.lake().join("current").exists());
    import(&scratch, &pipeline).complete();
    assert_is_register(&scratch.lake());
}

#[test]
fn an_import_whose_records_are_odd_may_wait_for_a_person() {
    let scratch = Scratch::new();
    deliver(&scratch, &|_| true);
    let pipeline = scratch.file(
        "state.toml",
        "name = \"state\"\n[import]\nfolder = \"files\"\n[checks]\nquarantine = \"hold\"\n[aggregates]\nenabled = false\n",
    );
    let summary = import(&scratch, &pipeline).exits(7).json();
    assert_eq!((&summary["outcome"], &summary["held"]), (&"failed".into(), &1.into()), "{summary}");
    assert!(!scratch.lake().join("current").exists());
}

#[test]
fn a_text_of_other_records_is_not_read_to_its_end() {
    let scratch = Scratch::new();
    let text = "a line of something else\n".repeat(5_000);
    std::fs::create_dir_all(scratch.path("files")).expect("a folder");
    std::fs::write(scratch.path("files/20261015c.txt"), text).expect("written");
    import(&scratch, &pipeline(&scratch, "")).exits(9).says("1000 lines");
}

#[test]
fn a_damaged_archive_or_an_incomplete_set_publishes_nothing() {
    let scratch = Scratch::new();
    deliver(&scratch, &|_| true);
    let pipeline = pipeline(&scratch, "");
    let archive = scratch.path("files/doc/quarterly/cor/cordata.zip");
    let whole = std::fs::read(&archive).expect("an archive");
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0);
    for bytes in [&whole[..middle], &damaged] {
        std::fs::write(&archive, bytes).expect("written");
        import(&scratch, &pipeline).exits(9).says("cordata.zip").says("damaged");
        assert!(!scratch.lake().join("current").exists());
    }
    std::fs::remove_file(&archive).expect("removed");
    let plain = state_files().join("files/doc/cor/20261012c.txt");
    std::fs::copy(plain, scratch.path("files/doc/quarterly/cor/cordata7.txt")).expect("a copy");
    import(&scratch, &pipeline).exits(3).says("cordata0.txt, cordata1.txt").says("hint: ");
    std::fs::remove_dir_all(scratch.path("files")).expect("removed");
    import(&scratch, &pipeline).exits(3).says("files").says("hint: ");
}
