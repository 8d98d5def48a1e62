//! The report that a run writes: one file that shows every county, runs only its own script, and is small.

use crate::support::command::{Sunlake, succeed};
use crate::support::lake;
use crate::support::node;
use crate::support::scratch::Scratch;
use crate::support::source::{self, complete_sample_pipeline};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::Date;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

fn report() -> String {
    std::fs::read_to_string(source::small().lake.join("catalog/report.html")).expect("a report")
}

/// The text between each of `before` and the next `after`.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Vec<&'t str> {
    text.split(before).skip(1).filter_map(|rest| rest.split(after).next()).collect()
}

#[test]
fn the_policy_of_the_report_allows_its_own_style_and_script_alone() {
    let html = report();
    let policy = between(&html, "http-equiv=\"Content-Security-Policy\" content=\"", "\"")[0];
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    for (tag, directive) in [("style", "style-src"), ("script", "script-src")] {
        let of_tag = between(&html, &format!("<{tag}>"), &format!("</{tag}>"));
        assert_eq!((of_tag.len(), html.matches(&format!("<{tag}")).count()), (1, 1), "{tag}");
        let hash = STANDARD.encode(Sha256::digest(of_tag[0]));
        assert!(policy.contains(&format!("{directive} 'sha256-{hash}'")), "{tag}: {policy}");
    }
    assert!(!html.contains("style=") && !html.contains("http://") && !html.contains("https://"));
    assert!(html.len() < 400_000, "{} bytes", html.len());
}

#[test]
fn an_aggregate_of_the_user_with_other_columns_leaves_its_part_of_the_report_out() {
    let scratch = Scratch::new();
    let own = scratch.path("own");
    std::fs::create_dir(&own).expect("a folder");
    scratch.file("own/city_month.sql", "SELECT county, COUNT(*) AS n FROM filings GROUP BY county");
    let sample = "[source]\nembedded = true\n[source.sample]\nseed = 1\ndays = 14\nscale = 0.05\nplan = \"agency\"\n\
                  per_minute = 60000\nper_day = 1000000\nper_month = 10000000\n[extract]\ndays = 14\n";
    let pipeline = scratch.file("p.toml", &format!("name = \"p\"\n{sample}[aggregates]\nfolder = {own:?}\n"));
    let ran = Sunlake::run(&pipeline, &scratch.lake()).finish();
    ran.exits(0).says("the report shows nothing of agg_city_month, which is not as shipped");
    let report = std::fs::read_to_string(scratch.lake().join("catalog/report.html")).expect("a report");
    assert!(report.contains("</html>"));
}

#[test]
fn every_county_has_a_shape_a_tile_a_row_and_a_part_and_every_link_leads_to_one() {
    let html = report();
    assert_eq!(html.matches("<a class=\"shape").count(), 67);
    let ids: BTreeSet<&str> = between(&html, " id=\"", "\"").into_iter().collect();
    assert_eq!(ids.iter().filter(|id| id.starts_with("county-")).count(), 67);
    let links = between(&html, " href=\"#", "\"");
    let of_counties = links.iter().filter(|link| link.starts_with("county-")).count();
    assert_eq!(of_counties, 3 * 67, "map, tiles, table");
    for link in links {
        assert!(ids.contains(link), "{link}");
    }
}

#[test]
#[ignore = "needs Debian's package chromium; installs node packages, a minute"]
fn the_report_works_in_a_browser_on_both_sizes_with_and_without_its_script() {
    let page = source::history().lake.join("catalog/report.html");
    succeed(Command::new("chromium").arg("--version"));
    let seen = node::json("report.mjs", &page);
    for view in seen.as_array().expect("views") {
        let name = &view["name"];
        assert_eq!((&view["shapes"], &view["tiles"]), (&json!(67), &json!(67)), "{name}");
        assert_eq!(view["faults"], json!([]), "{name}: console, requests, accessibility");
        assert_eq!(view["wider"], 0, "{name}: nothing is wider than the window");
        assert_eq!(view["cut"], json!([]), "{name}: no table is cut");
        assert_eq!(view["switched"], json!([true, true]), "{name}: by key, by pointer");
        assert_eq!(view["counties"], json!(["county-duval", "county-polk"]), "{name}: by key, by pointer");
    }
    assert_eq!(seen.as_array().map(Vec::len), Some(8));
}

/// The days that a lake has read, with whether they are complete, and whether both listings were read.
fn days_read(lake: &Path) -> BTreeMap<Date, (bool, bool)> {
    let mut complete: BTreeMap<Date, bool> = BTreeMap::new();
    let mut listings: BTreeMap<Date, usize> = BTreeMap::new();
    for row in lake::rows(lake, "coverage", &[]) {
        let day: Date = row["filed_date"].as_deref().expect("a day").parse().expect("a day");
        *complete.entry(day).or_insert(true) &= row["complete"].as_deref() == Some("true");
        *listings.entry(day).or_default() += 1;
    }
    let both = |day: &Date| listings[day] == 2;
    complete.iter().map(|(day, complete)| (*day, (*complete && both(day), both(day)))).collect()
}

/// The last days of a lake in words: those since it begins, at most `days`; the newest 15 fill, if both listings were read.
fn days_in_words(read: &BTreeMap<Date, (bool, bool)>, today: Date, days: i32) -> String {
    let oldest = *read.keys().next().expect("a day");
    let span = days.min((today - oldest).get_days() + 1);
    let day = |ago: i32| today - jiff::Span::new().days(ago);
    let are_all = (0..span)
        .all(|ago| read.get(&day(ago)).is_some_and(|(complete, both)| *complete || (*both && ago < 15)));
    format!("{span} days{}", if are_all { "" } else { ", incomplete" })
}

/// The labels of the map by their measure, and the county table: the words of its head, and the sum of each column.
fn labels_and_sums(html: &str) -> (BTreeMap<String, String>, Vec<(String, i64)>) {
    let labels = between(html, "<label for=\"by-", "</label>");
    let labels = labels.iter().filter_map(|label| label.split_once("\">"));
    let labels = labels.map(|(key, text)| (key.to_owned(), text.to_owned())).collect();
    let table = between(html, "<caption>Counties</caption>", "</table>")[0];
    let heads = between(table, "<th class=\"number\">", "</th>");
    let mut sums: Vec<(String, i64)> = heads.iter().map(|head| ((*head).to_owned(), 0)).collect();
    for row in between(table, "<th scope=\"row\">", "</tr>") {
        let cells = between(row, "<td class=\"number\">", "</td>");
        assert_eq!(cells.len(), sums.len());
        for (cell, (_, sum)) in cells.iter().zip(&mut sums) {
            *sum += cell.replace(',', "").parse::<i64>().unwrap_or(0);
        }
    }
    (labels, sums)
}

#[test]
fn a_label_says_the_days_behind_its_figure() {
    let scratch = Scratch::new();
    let today: Date = "2026-03-20".parse().expect("a day");
    for (name, days, budget) in [
        ("short", 20, ""),
        ("quarter", 90, ""),
        ("year", 400, ""),
        ("cut", 90, "[budget]\nmax_requests = 20\n"),
    ] {
        let text = complete_sample_pipeline(days, 0.01).replace("\"agency\"", "\"enterprise\"");
        let pipeline = scratch.file(&format!("{name}.toml"), &format!("{text}{budget}"));
        let lake = scratch.path(name);
        Sunlake::run(&pipeline, &lake).args(["--today", "2026-03-20"]).finish().exits(if budget.is_empty() {
            0
        } else {
            5
        });
        let html = std::fs::read_to_string(lake.join("catalog/report.html")).expect("a report");
        let (labels, sums) = labels_and_sums(&html);
        let read = days_read(&lake);
        let words = |days| days_in_words(&read, today, days);
        let ago = |day: Date| (today - day).get_days();
        let settled =
            read.iter().filter(|(day, (complete, _))| (15..45).contains(&ago(**day)) && *complete).count()
                == 30;
        assert_eq!(labels.contains_key("settled"), settled, "{name}: {labels:?}");
        assert_eq!(labels.contains_key("people"), settled, "{name}: {labels:?}");
        let is_longer = words(365).split(' ').next() != words(30).split(' ').next();
        assert_eq!(labels.contains_key("year"), is_longer, "{name}: {labels:?}");
        for (key, days) in [("week", 7), ("month", 30), ("year", 365)] {
            let Some(label) = labels.get(key) else { continue };
            let filling = if key == "year" { "" } else { ", still filling" };
            assert_eq!(*label, format!("{}{filling}", words(days)), "{name}");
            // The figure is that of these days.
            let is_of_days = |row: &&lake::Cells| {
                let day = row["filed_date"].as_deref().expect("a day").parse().expect("a day");
                row["listed"].as_deref() == Some("true") && (0..days).contains(&ago(day))
            };
            let filed = lake::rows(&lake, "filings", &[]).iter().filter(is_of_days).count();
            let sum = sums.iter().find(|(head, _)| head == label).expect("the column of the label").1;
            assert_eq!(sum, filed as i64, "{name}: {label}");
        }
        assert_eq!(html.contains("365 days"), words(365).starts_with("365 "), "{name}");
        let (before, _) = html.split_once("\" checked>").expect("a choice");
        let default = before.rsplit("id=\"by-").next().expect("its name");
        let first = if settled {
            "settled"
        } else if is_longer {
            "year"
        } else {
            "month"
        };
        assert_eq!(default, first, "{name}");
    }
}
