//! Windows, growth, weeks and weekdays, over lakes of one or two counties.

use super::{run, starting};
use crate::aggregate::tiny_lake::{TinyLake, covered, row};
use crate::contract::eastern::days_newest_first;
use crate::table::Table;
use jiff::civil::date;

/// A lake of one county, with these filings a day on each of these days, and complete days from May on.
fn bay(filings: &[(&str, usize)]) -> TinyLake {
    counties(&filings.iter().map(|(day, number)| ("Bay", *day, *number)).collect::<Vec<_>>())
}

/// The same with counties.
fn counties(filings: &[(&str, &str, usize)]) -> TinyLake {
    let filing = |county: &str, day: &str| {
        row([("filed_date", day), ("county", county), ("entity_type", "llc"), ("listed", "true")])
    };
    let of_day = |(county, day, number): &(&str, &str, usize)| vec![filing(county, day); *number];
    let rows = filings.iter().flat_map(of_day).collect();
    let read = days_newest_first(date(2026, 5, 1), date(2026, 8, 2));
    let coverage = read.flat_map(|day| ["*", "fictitious"].map(|listing| covered(day, listing, "0", "true")));
    TinyLake::of([
        (Table::Filings, rows),
        (Table::Coverage, coverage.collect()),
        (Table::Statewide, vec![row([("observed_on", "2026-08-02")])]),
    ])
}

#[test]
fn window_edges_are_today_and_the_days_6_29_and_364_before_and_15_to_74() {
    let window = |days: [&str; 6]| run(&bay(&days.map(|day| (day, 1))), "county_window")[0].clone();
    // Today, and 6, 29, 364, 15 and 45 days ago.
    let inside = ["2026-08-02", "2026-07-27", "2026-07-04", "2025-08-03", "2026-07-18", "2026-06-18"];
    // Growth compares Saturday the 18th of July and Thursday the 18th of June, both with days that have none.
    assert_eq!(
        window(inside),
        "2026-08-02|Bay|6|2|4|2|1|0.0|false|1.0|1|1|1|-0.9342250473151118|14.20335567234472|0.0|0.0|94"
    );
    // Tomorrow, and 7, 30, 365, 14 and 75 days ago.
    let outside = ["2026-08-03", "2026-07-26", "2026-07-03", "2025-08-02", "2026-07-19", "2026-05-19"];
    assert_eq!(window(outside), "2026-08-02|Bay|4|0|2|1|0||false|1.0|1|0|0|||||94");
}

/// Growth, whether it is reliable, its interval, and points from the state's of `Bay`, with these filings four weeks apart.
fn growth_of_bay(newer: usize, older: usize) -> (String, bool, [f64; 3]) {
    let filings = [
        ("Bay", "2026-07-14", newer),
        ("Bay", "2026-06-16", older),
        ("Lee", "2026-07-14", 1_000),
        ("Lee", "2026-06-16", 1_000),
        // A 1st of a month counts for nothing.
        ("Bay", "2026-07-01", 500),
    ];
    let lines = run(&counties(&filings), "county_window");
    let bay = starting(lines, "2026-08-02|Bay").remove(0);
    let cells: Vec<&str> = bay.split('|').collect();
    let number = |at: usize| cells[at].parse::<f64>().expect("a number");
    (
        cells[7].to_owned(),
        cells[8] == "true",
        [number(13), number(14), number(16)].map(|n| (n * 1e3).round() / 1e3),
    )
}

#[test]
fn growth_is_reliable_where_the_state_is_outside_its_interval() {
    // The state grows by 30 and 60 of 1,100. Intervals by Wilson's formula, 99 %.
    assert_eq!(growth_of_bay(130, 100), ("0.30000000000000004".to_owned(), false, [-0.076, 0.828, 27.273]));
    assert_eq!(growth_of_bay(160, 100), ("0.6000000000000001".to_owned(), true, [0.154, 1.219, 54.545]));
    assert_eq!(growth_of_bay(100, 160), ("-0.375".to_owned(), true, [-0.549, -0.133, -32.328]));
    assert!(!growth_of_bay(99, 20).1, "few filings are no news, whatever the interval");
}

#[test]
fn a_week_is_unusual_against_the_same_weekdays_of_four_weeks_and_the_usual_change() {
    let days: Vec<String> =
        days_newest_first(date(2026, 5, 1), date(2026, 8, 2)).map(|day| day.to_string()).collect();
    let of_day = |day: &String| match day.as_str() {
        "2026-07-01" => 40,
        day if ("2026-07-06".."2026-07-13").contains(&day) => 12,
        _ => 4,
    };
    let filings: Vec<(&str, usize)> = days.iter().map(|day| (day.as_str(), of_day(day))).collect();
    let lines = run(&bay(&filings), "week");
    // Monday the 6th follows Independence Day, and Wednesday the 1st counts for nothing. Eight weeks have a change, all others none.
    assert_eq!(
        starting(lines.clone(), "2026-07-06"),
        ["2026-07-06|84|7|true|6|72|24|2.0|0.7071067811865476|true"]
    );
    assert_eq!(
        starting(lines.clone(), "2026-06-29"),
        ["2026-06-29|64|7|true|4|16|16|0.0|0.7071067811865476|false"]
    );
    let fills = starting(lines.clone(), "2026-07-13").remove(0);
    assert!(
        fills.starts_with("2026-07-13|28|7|false|6|24|") && fills.ends_with("||0.7071067811865476|false"),
        "{fills}"
    );
    assert_eq!(starting(lines, "2026-05-04"), ["2026-05-04|28|7|true|0|0|0||0.7071067811865476|false"]);
}

#[test]
fn weekday_profiles_count_ordinary_days_of_which_filings_have_arrived() {
    // A Monday and a Tuesday; then a 15th, the first open day after Independence Day, and a day of 14 days ago.
    let lake =
        bay(&[("2026-06-08", 3), ("2026-06-09", 1), ("2026-06-15", 9), ("2026-07-06", 9), ("2026-07-19", 9)]);
    let lines = run(&lake, "weekday_profile");
    // Of 11 Mondays from May 4 on: not Memorial Day, June 1, June 15 and July 6. Of 11 Tuesdays: not the one after Memorial Day.
    assert_eq!(lines[..2], ["1|7|3|0.42857142857142855", "2|10|1|0.1"]);
    assert!(lines[2..].iter().all(|line| line.ends_with("|0|0.0")), "{lines:?}");
    assert_eq!(run(&lake, "weekday_type_profile"), ["1|llc|7|3|0.42857142857142855", "2|llc|10|1|0.1"]);
}

/// Of the older days more had vanished: by what is listed the county grew.
#[test]
fn growth_counts_what_was_filed_and_is_no_longer_listed() {
    let rows = |day: &str, listed: &str, number: usize| {
        let filing =
            row([("filed_date", day), ("county", "Bay"), ("entity_type", "llc"), ("listed", listed)]);
        vec![filing; number]
    };
    let filings =
        [rows("2026-07-14", "true", 100), rows("2026-06-16", "true", 80), rows("2026-06-16", "false", 20)];
    let read = days_newest_first(date(2026, 5, 1), date(2026, 8, 2));
    let coverage = read.flat_map(|day| ["*", "fictitious"].map(|listing| covered(day, listing, "0", "true")));
    let lake = TinyLake::of([
        (Table::Filings, filings.concat()),
        (Table::Coverage, coverage.collect()),
        (Table::Statewide, vec![row([("observed_on", "2026-08-02")])]),
    ]);
    for name in ["county_window", "county_type_window"] {
        let line = run(&lake, name).remove(0);
        assert!(line.contains("|0.0|false|") && line.contains("|100|100|"), "{name}: {line}");
    }
}

/// Of seven filings four have no ZIP code: the county has two, with a mean of 1.5 filings.
#[test]
fn records_without_a_zip_code_count_as_none_of_their_county() {
    let filing =
        |zip: &str| row([("filed_date", "2026-07-14"), ("county", "Bay"), ("zip", zip), ("listed", "true")]);
    let zips = ["", "", "", "", "32401", "32401-1234", "32405"];
    let lake = TinyLake::of([
        (Table::Filings, Vec::from(zips.map(filing))),
        (Table::Coverage, vec![covered(date(2026, 7, 14), "*", "7", "true")]),
        (Table::Statewide, vec![row([("observed_on", "2026-08-02")])]),
    ]);
    let seen = |line: String| {
        let cells: Vec<&str> = line.split('|').collect();
        [1, 3, 5, 8].map(|at| cells[at]).join("|")
    };
    let seen: Vec<String> = run(&lake, "hot_addresses").into_iter().map(seen).collect();
    assert_eq!(seen, ["|4|2|", "32401|2|2|1.3333333333333333", "32405|1|2|0.6666666666666666"]);
}
