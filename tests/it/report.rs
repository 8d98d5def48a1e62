//! The report that a run writes: one file that shows every county, runs only its own script, and is small.

use crate::support::command::{Sunlake, succeed};
use crate::support::scratch::Scratch;
use crate::support::{node, source};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
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
    let page = source::small().lake.join("catalog/report.html");
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
