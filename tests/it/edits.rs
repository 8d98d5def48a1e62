//! Rows that change where they stand, on the morning on which others leave or come.

use crate::support::command::{Finished, Sunlake};
use crate::support::details::write_rows;
use crate::support::lake::{self, Cells};
use crate::support::scratch::Scratch;
use crate::support::server::{ApiServer, STARTER};
use crate::support::source::{self, Source};
use crate::support::{PATIENCE, wait_for};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use sunlake::table::{FilingRow, read_rows};

/// The rows that one query reaches under Starter.
const REACH: usize = 1_050;

/// A served source whose filings the test rewrites, and a lake that is brought up to date from it.
struct Living {
    server: ApiServer,
    shown: PathBuf,
    scratch: Scratch,
    today: &'static str,
    versions: usize,
}

impl Living {
    /// A lake that has read the source as it was.
    fn begun(source: &'static Source) -> Self {
        let scratch = Scratch::new();
        let shown = scratch.path("shown");
        std::fs::create_dir_all(&shown).expect("a folder");
        lake::copy_tree(&lake::current(&source.lake), &shown.join("0"));
        std::os::unix::fs::symlink(shown.join("0"), shown.join("current")).expect("a link");
        let served = Source { lake: shown.clone(), today: source.today };
        let server = ApiServer::generous(&served, STARTER);
        let living = Self { server, shown, scratch, today: source.today, versions: 0 };
        living.run().complete();
        living
    }

    fn run(&self) -> Finished {
        self.run_with("")
    }

    fn run_with(&self, extract: &str) -> Finished {
        let text = format!(
            "name = \"daily\"\n[plan]\nrows_per_call = 50\nmax_offset = 1000\nwindow_days = 30\n\
             [aggregates]\nenabled = false\n{extract}"
        );
        Sunlake::run(&self.scratch.file("daily.toml", &text), &self.scratch.lake())
            .asking(&self.server.url(), self.today, &self.server.key)
            .finish()
    }

    /// Changes the filings that the API serves.
    fn rewrite(&mut self, change: impl Fn(&mut FilingRow)) {
        let before = self.shown.join(self.versions.to_string());
        self.versions += 1;
        let next = self.shown.join(self.versions.to_string());
        lake::copy_tree(&before, &next);
        let mut of_month: BTreeMap<String, Vec<FilingRow>> = BTreeMap::new();
        for file in lake::files_below(&before.join("filings")) {
            for mut row in read_rows::<FilingRow>(&file).expect("rows") {
                change(&mut row);
                of_month.entry(row.filed_date.strftime("%Y-%m").to_string()).or_default().push(row);
            }
        }
        std::fs::remove_dir_all(next.join("filings")).expect("removed");
        for (month, rows) in of_month {
            write_rows(&next.join("filings").join(format!("filed_month={month}")), &rows);
        }
        let etag = || self.server.get("/v1/fl/stats").header("etag").map(str::to_owned);
        let shown_before = etag();
        let link = self.server.scratch.path("served").join("current");
        lake::point(&link, &next);
        wait_for("the changed filings", PATIENCE, || (etag() != shown_before).then_some(()));
    }

    /// What the API lists under no type, and what the lake does.
    fn listed(&self) -> (BTreeMap<i64, Date>, BTreeMap<i64, Date>) {
        let served = self.shown.join(self.versions.to_string()).join("filings");
        let rows = lake::files_below(&served)
            .into_iter()
            .flat_map(|file| read_rows::<FilingRow>(&file).expect("rows"));
        let is_listed =
            |row: &FilingRow| row.listed && row.status == "active" && row.entity_type != "fictitious";
        let from: Date = "2025-12-14".parse().expect("a day");
        let truth = rows.filter(|row| is_listed(row) && row.filed_date >= from);
        let truth = truth.map(|row| (row.business_id, row.filed_date)).collect();
        let is = |cells: &Cells, column: &str, value: &str| cells[column].as_deref() == Some(value);
        let mut found = lake::filings(&self.scratch.lake());
        found.retain(|_, cells| is(cells, "listed", "true") && !is(cells, "entity_type", "fictitious"));
        let day = |cells: &Cells| cells["filed_date"].as_deref().and_then(|day| day.parse().ok());
        (truth, found.iter().map(|(id, cells)| (*id, day(cells).expect("a day"))).collect())
    }

    /// Ids of the businesses that the lake says have vanished.
    fn vanished(&self) -> BTreeSet<i64> {
        let changes = lake::rows(&self.scratch.lake(), "changes", &[]);
        let gone = changes.iter().filter(|row| row["change"].as_deref() == Some("vanished"));
        gone.filter_map(|row| row["business_id"].as_deref()?.parse().ok()).collect()
    }

    /// Rows of the heaviest day that stand deeper than pages reach, newest first.
    fn deep(&self) -> Vec<FilingRow> {
        let served = self.shown.join(self.versions.to_string()).join("filings");
        let mut by_day: BTreeMap<Date, Vec<FilingRow>> = BTreeMap::new();
        for file in lake::files_below(&served) {
            for row in read_rows::<FilingRow>(&file).expect("rows") {
                if row.listed && row.status == "active" && row.entity_type != "fictitious" {
                    by_day.entry(row.filed_date).or_default().push(row);
                }
            }
        }
        let mut rows = by_day.into_values().max_by_key(Vec::len).expect("a day");
        rows.sort_by_key(|row| std::cmp::Reverse(row.business_id));
        assert!(rows.len() > REACH + 200, "{} rows are not deep enough", rows.len());
        rows.split_off(REACH + 10)
    }

    /// Complete or not, the rows that the API counts and those that the lake lists: coverage of a day of the untyped listing.
    fn covered(&self, day: Date) -> [String; 3] {
        let day = day.to_string();
        let is_meant = |row: &Cells| {
            row["filed_date"].as_deref() == Some(&day) && row["entity_type"].as_deref() == Some("*")
        };
        let rows = lake::rows(&self.scratch.lake(), "coverage", &[]);
        let row = rows.iter().find(|row| is_meant(row)).expect("coverage of the day");
        ["complete", "expected", "landed"].map(|column| row[column].clone().expect("a value"))
    }
}

#[test]
fn a_day_whose_rows_another_pipeline_changed_is_incomplete_until_its_own_rows_are_read() {
    let mut living = Living::begun(source::small());
    let served = living.shown.join("0/filings");
    let rows: Vec<FilingRow> =
        lake::files_below(&served).iter().flat_map(|file| read_rows(file).expect("rows")).collect();
    let day: Date = "2026-03-11".parse().expect("a day");
    let of_type = |kind: &str, day: Date| {
        let row = rows.iter().find(|row| row.filed_date == day && row.entity_type == kind && row.listed);
        row.unwrap_or_else(|| panic!("no {kind} on {day}")).clone()
    };
    let (llc, corporation) = (of_type("llc", day), of_type("corporation", day));
    // The figures of all days show when the server has the next version.
    let elsewhere = of_type("llc", "2026-03-10".parse().expect("a day"));
    let all: i64 = living.covered(day)[2].parse().expect("a number");
    let covered = |complete: &str, expected: i64, landed: i64| {
        [complete.to_owned(), expected.to_string(), landed.to_string()]
    };
    living.rewrite(|row| {
        if row.business_id == llc.business_id {
            dissolve(row)
        }
    });
    living.run().complete();
    assert_eq!(living.covered(day), covered("true", all - 1, all - 1));
    // As many rows as before, but not the same ones: a pipeline of one type sees the row that came alone.
    living.rewrite(|row| match row.business_id {
        id if id == llc.business_id => *row = llc.clone(),
        id if [corporation.business_id, elsewhere.business_id].contains(&id) => dissolve(row),
        _ => {}
    });
    living.run_with("[extract]\ntypes = [\"llc\"]\n").complete();
    assert_eq!(
        living.covered(day),
        covered("false", all - 1, all),
        "the API counts fewer than the lake lists"
    );
    living.run().complete();
    assert_eq!(living.covered(day), covered("true", all - 1, all - 1));
    let (truth, found) = living.listed();
    assert_eq!(found, truth);
}

#[test]
fn a_day_that_lost_its_only_row_is_found_empty_by_one_request() {
    let mut living = Living::begun(source::small());
    let mut of_day: BTreeMap<Date, Vec<i64>> = BTreeMap::new();
    for file in lake::files_below(&living.shown.join("0/filings")) {
        for row in read_rows::<FilingRow>(&file).expect("rows") {
            if row.listed && row.entity_type == "fictitious" {
                of_day.entry(row.filed_date).or_default().push(row.business_id);
            }
        }
    }
    let (day, ids) = of_day.into_iter().find(|(_, ids)| ids.len() == 1).expect("a day with one such name");
    living.rewrite(|row| {
        if row.business_id == ids[0] {
            dissolve(row);
        }
    });
    let summary = living.run().complete();
    assert_eq!(living.vanished(), BTreeSet::from([ids[0]]), "of {day}");
    let sent = summary["requests"]["by_stage"]["fictitious"].as_u64().expect("requests");
    assert!(sent <= 6, "{summary}");
}

fn dissolve(row: &mut FilingRow) {
    (row.status, row.listed) = ("dissolved".to_owned(), false);
    row.dissolved_date = Some(row.filed_date);
}

#[test]
fn a_row_that_only_changed_is_not_taken_for_the_one_that_left() {
    let mut living = Living::begun(source::large());
    let deep = living.deep();
    let heaviest = deep.iter().fold(BTreeMap::<&str, usize>::new(), |mut counts, row| {
        *counts.entry(&row.industry_sector).or_default() += 1;
        counts
    });
    let heaviest = heaviest.into_iter().max_by_key(|(_, rows)| *rows).expect("a sector").0.to_owned();
    let (of_it, others): (Vec<&FilingRow>, Vec<&FilingRow>) =
        deep.iter().partition(|row| row.industry_sector == heaviest);
    let (changed, gone) = (of_it[of_it.len() / 2].business_id, others[others.len() / 2].business_id);
    let (sector, kind) = (others[0].industry_sector.clone(), others[0].industry_type.clone());
    living.rewrite(|row| {
        if row.business_id == changed {
            (row.industry_sector, row.industry_type) = (sector.clone(), kind.clone());
        }
        if row.business_id == gone {
            dissolve(row);
        }
    });
    living.run().complete();
    assert_eq!(living.vanished(), BTreeSet::from([gone]), "{changed} changed and is still listed");
    let (truth, found) = living.listed();
    assert!(truth == found, "{} rows listed, {} found", truth.len(), found.len());
}

#[test]
fn a_day_that_lost_a_row_to_another_day_and_gained_one_is_incomplete_until_read_again() {
    let mut living = Living::begun(source::large());
    let (truth, _) = living.listed();
    let on = |day: &str| -> Vec<i64> {
        let day: Date = day.parse().expect("a day");
        truth.iter().filter(|(_, of)| **of == day).map(|(id, _)| *id).collect()
    };
    let (older, newer) = (on("2026-01-06"), on("2026-01-08"));
    let (moved, came) = (older[older.len() / 2], newer[newer.len() / 2]);
    // One row leaves the day for a newer one and another takes its place: its count stays as it was.
    let (to, from): (Date, Date) =
        ("2026-01-09".parse().expect("a day"), "2026-01-06".parse().expect("a day"));
    living.rewrite(|row| match row.business_id {
        id if id == moved => row.filed_date = to,
        id if id == came => row.filed_date = from,
        _ => {}
    });
    let mut runs = 1;
    let mut ended = living.run();
    while ended.json()["exit_code"] == 5 && runs < 4 {
        assert!(
            !ended.json()["coverage"]["incomplete"].as_array().expect("days").is_empty(),
            "{}",
            ended.shown()
        );
        (ended, runs) = (living.run(), runs + 1);
    }
    ended.complete();
    let (truth, found) = living.listed();
    assert!(truth == found, "after {runs} runs: {} rows listed, {} found", truth.len(), found.len());
}
