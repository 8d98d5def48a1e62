//! The results of the shipped SQL files over a lake small enough to count by hand.

mod comparisons;
mod growth_simulation;

use super::figures::read::read_figures;
use super::on_disk::Cells;
use super::reconcile::{Scope, read_reconciliation};
use super::run::{check_sum, load_aggregates};
use super::tiny_lake::{TinyLake, coverage, lake_as_of, lake_covered_by, lake_with_gap};
use crate::table::{Cell, Table, cell};
use jiff::civil::{Date, date};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::path::Path;

const SHIPPED: &str = "city_month county_month county_type_day county_type_month county_type_window county_window \
                       hot_addresses month new_and_vanished reconcile sector_county_month sector_month type_month \
                       week weekday_profile weekday_type_profile zip3_month";

/// Lines of SQL without comments, at most.
const MOST_LINES: usize = 40;

fn shipped_dir() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/pipelines/aggregates"))
}

fn shipped_sql(name: &str) -> String {
    std::fs::read_to_string(shipped_dir().join(format!("{name}.sql"))).expect(name)
}

/// The rows of a shipped aggregate, cells joined by `|`, null as nothing.
fn run(lake: &TinyLake, name: &str) -> Vec<String> {
    let file = lake.run(name, &shipped_sql(name)).expect(name);
    let reader = std::fs::File::open(file.path).expect("a file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(reader).expect("parquet").build().expect("rows");
    let mut lines = Vec::new();
    for batch in reader {
        let batch = batch.expect("rows");
        for row in 0..batch.num_rows() {
            let cells = batch.columns().iter().map(|cells| cell(cells, row).expect("a cell"));
            let line: Vec<String> =
                cells.map(|cell| cell.as_ref().map_or_else(String::new, Cell::to_string)).collect();
            lines.push(line.join("|"));
        }
    }
    assert_eq!(lines.len() as u64, file.rows);
    lines
}

fn starting(lines: Vec<String>, start: &str) -> Vec<String> {
    lines.into_iter().filter(|line| line.starts_with(start)).collect()
}

#[test]
fn folder_has_the_documented_aggregates_each_with_its_purpose_on_top() {
    let aggregates = load_aggregates(shipped_dir()).expect("a folder of SQL");
    let names: Vec<&str> = aggregates.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.join(" "), SHIPPED);
    for (name, sql) in &aggregates {
        assert!(
            sql.starts_with("-- ") && sql.lines().next().is_some_and(|line| line.ends_with('?')),
            "{name}"
        );
        assert!(sql.contains("\nORDER BY "), "{name} has no order");
        let lines = sql.lines().filter(|line| !line.starts_with("--")).count();
        assert!(lines <= MOST_LINES, "{name} has {lines} lines");
    }
}

/// Aggregate, how the lines begin that are compared, what they show; then the lines.
const OF_TEN_FILINGS: &str = "\
# county_type_day -- listed rows of every day
2026-08-15|Duval|llc|1
2026-07-06|Duval|corporation|1
2026-07-06|Duval|fictitious|1
2026-07-06|Duval|llc|1
2026-07-06||llc|1
2026-07-01|Duval|llc|1
2026-06-15|Duval|llc|1
2026-06-15|Lee|llc|1
2025-07-04|Duval|llc|1
# county_window -- counts back from today, with today as day 1
2026-08-02|Duval|5|0|3|4|1||false|0.8|1|0|0|||||63
2026-08-02||1|0|1|1|0||false|0.2|2|0|0|||||63
2026-08-02|Lee|1|0|0|0|1||false|0.0|3|0|0|||||63
# county_type_window
2026-08-02|Duval|corporation|1|0|1|1|0||false|1.0|1|0|0|||||63
2026-08-02|Duval|fictitious|1|0|1|1|0||false|1.0|1|0|0|||||63
2026-08-02|Duval|llc|3|0|1|2|1||false|0.6666666666666666|1|0|0|||||63
2026-08-02||llc|1|0|1|1|0||false|0.3333333333333333|2|0|0|||||63
2026-08-02|Lee|llc|1|0|0|0|1||false|0.0|3|0|0|||||63
# week -- holidays and the days after are not compared
2026-08-10|1|0|false|0|0|0|||false
2026-07-06|4|7|true|6|0|0|||false
2026-06-29|1|7|true|4|0|0|||false
2026-06-15|2|7|true|6|0|0|||false
2025-06-30|1|6|false|0|0|0|||false
# sector_county_month 2026-07 -- a county against the state
2026-07|Duval|food|3|0.75|0.9375
2026-07|Duval|trade|1|0.25|1.25
2026-07||food|1|1.0|1.25
# city_month 2026-07 -- spellings are joined
2026-07|Duval|JACKSONVILLE|4|2|1.0|1
2026-07|||1|0|1.0|1
# zip3_month 2026-07 -- groups by postal region
2026-07|322|4|2|0.8|1
2026-07||1|0|0.2|2
# hot_addresses -- the ZIP far above its county comes first
2026-08-02|32202|Duval|4|2|2|0.5714285714285714|0.8|1.6|1
2026-08-02|||1|1|0|0.14285714285714285|1.0||2
2026-08-02|32210|Duval|1|1|2|0.14285714285714285|0.2|0.4|2
2026-08-02|33901|Lee|1|0|1|0.14285714285714285|1.0|1.0|2
# reconcile -- the newest count of the API next to the lake's
county|last 30 days|Duval|2026-08-02|3|3|0|true
day|2026-07-06||2026-08-02|3|3|0|true
day|2026-05-01||2026-08-02|7|0|-7|false
month|2026-07||2026-08-02|6|5|-1|true
month_type|2026-07|llc|2026-08-02|4|3|-1|true
month_type|2026-07|other|2026-08-02|0|0|0|true
# new_and_vanished -- by the day of the run
2026-08-02|Duval|llc|1|1|0
2026-08-01|Lee|llc|0|0|1
";

/// The same a fortnight later: of July nearly all filings have arrived.
const OF_MONTHS: &str = "\
# county_type_month 2026-07 -- only complete months are compared
2026-07|Duval|corporation|1|0||0||1.0|1|true|true
2026-07|Duval|fictitious|1|0||0||1.0|1|true|true
2026-07|Duval|llc|2|1|1.0|1|1.0|0.6666666666666666|1|true|true
2026-07||llc|1|0||0||0.3333333333333333|2|true|true
# county_type_month 2026-08
2026-08|Duval|llc|1|2||||1.0|1|false|false
# county_type_month 2026-06|Lee
2026-06|Lee|llc|1|||||0.5|1|true|true
# county_month 2026-07 -- a county that no record names is one too
2026-07|Duval|4|1|3.0|1|3.0|0.8|1|true|true
2026-07||1|0||0||0.2|2|true|true
# type_month -- of the state
2026-08|llc|1|3||||1.0|false|false
2026-07|corporation|1|0||0||0.2|true|true
2026-07|fictitious|1|0||0||0.2|true|true
2026-07|llc|3|2|0.5|1|2.0|0.6|true|true
2026-06|llc|2|||||1.0|true|true
2025-07|llc|1|||||1.0|true|true
# month -- sums of the state
2026-08|1|5||||2|false|1|false
2026-07|5|2|2.0|1|5.0|31|true|6|true
2026-06|2|||||30|true|2|true
2025-07|1|||||31|true|1|true
# sector_month 2026-07
2026-07|food|4|1|3.0|0.8|true|true
2026-07|trade|1|0||0.2|true|true
";

#[test]
fn shipped_aggregates_of_ten_filings_are_those_counted_by_hand() {
    let lakes =
        [(lake_with_gap(None), OF_TEN_FILINGS), (lake_as_of("2026-08-15", coverage(None)), OF_MONTHS)];
    for (lake, blocks) in lakes {
        for block in blocks.split("# ").skip(1) {
            let (head, expected) = block.split_once('\n').expect("a head");
            let (what, _) = head.split_once(" --").unwrap_or((head, ""));
            let (name, start) = what.split_once(' ').unwrap_or((what, ""));
            assert_eq!(starting(run(&lake, name), start).join("\n"), expected.trim_end(), "{head}");
        }
    }
}

/// On the first of a month the one that is over is complete, and of its last days filings still arrive: it looked like a collapse.
#[test]
fn a_month_is_compared_when_its_filings_have_arrived() {
    let (early, settled) =
        (lake_as_of("2026-08-14", coverage(None)), lake_as_of("2026-08-15", coverage(None)));
    let july = |lake: &TinyLake, name: &str| starting(run(lake, name), "2026-07").remove(0);
    assert_eq!(july(&early, "month"), "2026-07|5|2||1||31|true|6|false");
    assert_eq!(july(&settled, "month"), "2026-07|5|2|2.0|1|5.0|31|true|6|true");
    for name in ["county_month", "county_type_month", "type_month", "sector_month"] {
        let (early, settled) = (july(&early, name), july(&settled, name));
        assert!(early.ends_with("|true|false") && settled.ends_with("|true|true"), "{early} {settled}");
    }
}

/// Every aggregate adds up to its source, as its head says.
#[test]
fn every_aggregate_with_filings_adds_up_to_its_source() {
    let lake = lake_with_gap(None);
    let without = ["reconcile"];
    for name in SHIPPED.split(' ') {
        let sql = shipped_sql(name);
        let mut tables = lake.tables.clone();
        tables.insert(format!("agg_{name}"), vec![lake.run(name, &sql).expect(name).path]);
        let sum = check_sum(name, &sql, &tables).expect(name);
        assert_eq!(sum.is_none(), without.contains(&name), "{name} says to what it adds up");
        // None of these days is ordinary.
        let has_rows = !name.starts_with("weekday");
        assert!(
            sum.is_none_or(|sum| sum.aggregate == sum.source && (sum.source > 0) == has_rows),
            "{name}: {sum:?}"
        );
    }
}

#[test]
fn one_incomplete_day_takes_its_month_out_of_every_comparison() {
    let lake = lake_as_of("2026-08-15", coverage(Some(date(2026, 6, 20))));
    assert_eq!(
        starting(run(&lake, "county_type_month"), "2026-07|Duval|llc"),
        ["2026-07|Duval|llc|2|||1|1.0|0.6666666666666666|1|true|true"]
    );
}

#[test]
fn a_day_without_fictitious_names_is_complete_only_without_them() {
    let mut coverage = coverage(None);
    coverage.retain(|row| row["filed_date"] != "2026-07-06" || row["entity_type"] == "*");
    let lake = lake_covered_by(coverage);
    let lines = |name: &str, start: &str| starting(run(&lake, name), start);
    assert_eq!(lines("month", "2026-07"), ["2026-07|5|2||1||30|false|6|false"]);
    assert_eq!(
        lines("county_type_month", "2026-07|Duval|llc"),
        ["2026-07|Duval|llc|2|1||1||0.6666666666666666|1|false|false"]
    );
    assert_eq!(
        lines("reconcile", ""),
        [
            "county|last 30 days|Duval|2026-08-02|3|3|0|false",
            "day|2026-07-06||2026-08-02|3|3|0|true",
            "day|2026-05-01||2026-08-02|7|0|-7|false",
            "month|2026-07||2026-08-02|6|5|-1|false",
            "month_type|2026-07|llc|2026-08-02|4|3|-1|false",
            "month_type|2026-07|other|2026-08-02|0|0|0|false",
        ]
    );
}

#[test]
fn comparisons_are_read_by_scope() {
    let lake = lake_with_gap(None);
    let file = lake.run("reconcile", &shipped_sql("reconcile")).expect("runs");
    let reconciliation = read_reconciliation(&Cells::read(&file.path).expect("reads")).expect("cells");
    assert!(reconciliation.differences(Scope::Day).is_empty());
    assert_eq!(reconciliation.comparable(Scope::Day).count(), 1);
    assert_eq!(reconciliation.differences(Scope::Month)[0].difference(), -1);
    assert_eq!(reconciliation.comparable(Scope::MonthType).count(), 2);
}

#[test]
fn empty_lake_gives_empty_aggregates_and_empty_figures() {
    let lake = TinyLake::of([
        (Table::Filings, vec![]),
        (Table::Coverage, vec![]),
        (Table::Changes, vec![]),
        (Table::Statewide, vec![]),
        (Table::DailyCounts, vec![]),
        (Table::MonthlyCounts, vec![]),
        (Table::Counties, vec![]),
    ]);
    let mut tables = lake.tables.clone();
    for name in SHIPPED.split(' ') {
        let file = lake.run(name, &shipped_sql(name)).expect(name);
        assert_eq!(file.rows, 0, "{name}");
        tables.insert(format!("agg_{name}"), vec![file.path]);
    }
    assert_eq!(
        read_figures(&tables, date(2026, 8, 2)).expect("figures"),
        super::figures::values::Figures::default()
    );
}

#[test]
fn figures_of_the_report_are_the_aggregates() {
    let lake = lake_with_gap(Some(date(2026, 7, 20)));
    let mut tables = lake.tables.clone();
    for name in SHIPPED.split(' ') {
        let file = lake.run(name, &shipped_sql(name)).expect(name);
        tables.insert(format!("agg_{name}"), vec![file.path]);
    }
    let figures = read_figures(&tables, date(2026, 8, 2)).expect("figures");
    assert_eq!(figures.as_of, Some(date(2026, 8, 2)));
    assert_eq!(figures.coverage[0].day, date(2026, 8, 2));
    let unproven: Vec<Date> =
        figures.coverage.iter().filter(|day| !day.is_complete).map(|day| day.day).collect();
    assert_eq!(unproven, [date(2026, 7, 20)]);
    assert!(figures.coverage.iter().all(|day| day.lacks.is_none()));
    assert_eq!(figures.days.last().map(|day| day.day), Some(date(2026, 7, 6)), "days to come are left out");
    assert_eq!(figures.counties[0].filings_last_30_days, 3);
    assert_eq!(figures.cities_month, "2026-06", "of July filings still arrive");
    assert!(figures.newest.iter().is_sorted_by_key(|business| std::cmp::Reverse(business.filed_date)));
    assert!(
        !figures.newest.is_empty()
            && figures.newest.iter().all(|business| business.filed_date <= figures.as_of)
    );
    assert_eq!(figures.county_details["Duval"].types[0].trend.len(), figures.trend_months.len());
    assert_eq!((figures.cities[0].city.as_str(), figures.cities[0].filings), ("FORT MYERS", 1));
    assert_eq!(figures.zips[0].times_county_mean, Some(1.6));
    assert_eq!((figures.weekdays.len(), figures.settling.len()), (7, 30));
    assert_eq!(figures.reconciliation.comparisons.len(), 6);
}
