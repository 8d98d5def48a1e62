//! A register that changes while it is read by name: what was there all the time is found.

use crate::support::command::sunlake;
use crate::support::dice::Dice;
use crate::support::lake;
use crate::support::name_api::{Business, NameApi, Register, add};
use crate::support::scratch::Scratch;
use jiff::ToSpan;
use jiff::civil::{Date, date};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const MONDAY: Date = date(2026, 3, 16);

/// A register with 200 names of one usual prefix and these names, filed years ago.
fn register(names: &[&str]) -> Register {
    let mut register = Register::default();
    let usual: Vec<String> = (0..200).map(|number| format!("SA{number}")).collect();
    let names = usual.iter().map(String::as_str).chain(names.iter().copied());
    names.for_each(|name| add(&mut register.businesses, name, date(2001, 2, 3)));
    register
}

/// A pipeline that reads the register by pages of this many rows.
fn pipeline(scratch: &Scratch, rows_per_call: u32, registry: &str, max_requests: Option<u32>) -> PathBuf {
    let budget = max_requests.map_or(String::new(), |most| format!("[budget]\nmax_requests = {most}\n"));
    let text = format!(
        "name = \"registry\"\n[registry]\n{registry}\n[plan]\nrows_per_call = {rows_per_call}\nmax_offset = 2000\n\
         window_days = 90\n[aggregates]\nenabled = false\n[report]\nenabled = false\n{budget}"
    );
    scratch.file("registry.toml", &text)
}

/// Runs a pipeline on one morning after another until it ends; `night` changes the register after each. Returns the last summary and day.
fn read(
    api: &NameApi,
    pipeline: &Path,
    lake: &Path,
    mut today: Date,
    mut night: impl FnMut(&mut Register, Date),
) -> (Value, Date) {
    for _ in 0..40 {
        let done = api.run(pipeline, lake, today).finish();
        let summary = done.json();
        if summary["stopped"].is_null() {
            return (summary, today);
        }
        done.exits(5);
        today = today.checked_add(1.day()).expect("a day");
        night(&mut api.register(), today);
    }
    panic!("it never ends");
}

/// Checks that the lake has all these businesses.
fn assert_found(lake: &Path, there: &BTreeMap<i64, Business>) {
    let found = lake::filings(lake);
    let missing: Vec<&str> = there
        .iter()
        .filter(|(id, _)| !found.contains_key(id))
        .map(|(_, business)| &business.name[..])
        .collect();
    assert!(missing.is_empty(), "{} of {} are missing: {missing:?}", missing.len(), there.len());
}

#[test]
fn arrivals_that_make_up_the_sum_do_not_end_the_search_and_what_no_prefix_gives_is_reported() {
    let scratch = Scratch::new();
    let lake = scratch.lake();
    let names = ["SUNRISE", "SUNSET", "DBA SUNNY", "ABLE", "CORAL", "MANATEE", "D4", "=OR ELSE", "}X", "Q"];
    let mut register = register(&names);
    let mut is_first = true;
    register.drifts(move |businesses| {
        if std::mem::take(&mut is_first) {
            // With these, as many rows as at the beginning are read before the last three names.
            ["KA", "VA", "WA", "YA"].iter().for_each(|name| add(businesses, name, MONDAY));
        }
    });
    let api = NameApi::start(register);
    let pipeline = pipeline(&scratch, 100, "", Some(600));
    let mut there = api.register().listed(true);
    there.retain(|_, business| business.name != "Q");
    let (summary, last) = read(&api, &pipeline, &lake, MONDAY, |register, today| {
        // Too late for its prefix.
        if today == date(2026, 3, 17) {
            add(&mut register.businesses, "SUN ONE", today);
        }
    });
    assert_found(&lake, &there);
    assert!(last > date(2026, 3, 17), "read as of {last}");
    let reported = &summary["register"];
    assert_eq!(reported["businesses_total"], 215, "the total of the last morning: {summary}");
    assert_eq!((&reported["missing"], &reported["left"]), (&2.into(), &0.into()), "SUN ONE and Q: {summary}");
    let prefixes = reported["starts"].as_u64().expect("a number");
    assert_eq!(reported["empty"], prefixes - 13, "those of all mornings count: {summary}");
    let said = summary["checks"][0].as_str().expect("a check");
    assert!(said.contains("counts 215 businesses, the lake holds 213"), "{said}");
    let status = sunlake(&lake, &["status", "--json"]).exits(0).json();
    let shown = (&status["register"]["businesses_total"], &status["register"]["missing"]);
    assert_eq!(shown, (&215.into(), &2.into()), "{status}");
    let text = sunlake(&lake, &["status"]).exits(0).stdout;
    assert!(text.contains("; 215 businesses by the API's count, 2 of them not in the lake"), "{text}");
}

#[test]
fn names_that_the_api_lists_under_two_prefixes_count_once() {
    let scratch = Scratch::new();
    let names = ["ßTAR", "ßTEP", "ßTOP", "SSH", "ABLE", "QUAY", "XENON", "ZOO"];
    let api = NameApi::start(register(&names));
    let pipeline = pipeline(&scratch, 100, "fictitious = false", None);
    let summary = api.run(&pipeline, &scratch.lake(), MONDAY).finish().complete();
    assert_found(&scratch.lake(), &api.register().listed(true));
    assert_eq!((&summary["register"]["rows"], &summary["register"]["missing"]), (&208.into(), &0.into()));
    let again = api.run(&pipeline, &scratch.lake(), MONDAY).finish().exits(0).json();
    assert_eq!(again["requests"]["sent"], 5, "{again}");
}

#[test]
fn a_prefix_with_a_known_name_is_read_again_however_little_the_register_grew() {
    let scratch = Scratch::new();
    let lake = scratch.lake();
    let api = NameApi::start(register(&["TA TOP"]));
    let pipeline = pipeline(&scratch, 100, "fictitious = false\nmax_age_days = 10", None);
    api.run(&pipeline, &lake, MONDAY).finish().complete();
    api.register().dissolve("TA TOP");
    add(&mut api.register().businesses, "SA NEW", date(2026, 4, 1));
    api.run(&pipeline, &lake, date(2026, 4, 2)).finish().complete();
    let found = lake::filings(&lake);
    let state =
        |id: i64| [&found[&id]["status"], &found[&id]["listed"]].map(|cell| cell.clone().expect("text"));
    assert_eq!(state(201), ["dissolved", "false"]);
    assert_eq!(state(202), ["active", "true"]);
}

#[test]
fn pages_of_a_prefix_that_were_read_on_two_days_join() {
    let scratch = Scratch::new();
    let filed = |number: i64| date(2020, 6, 1).checked_sub(number.days()).expect("a day");
    let mut register = Register::default();
    (0..100).for_each(|number| add(&mut register.businesses, &format!("AA{number}"), filed(number)));
    let api = NameApi::start(register);
    let there = api.register().listed(false);
    // The lists take 5 requests. The first morning ends after 4 of 10 pages of AA.
    let pipeline = pipeline(&scratch, 10, "status = \"active\"\nfictitious = false", Some(9));
    assert_eq!(api.run(&pipeline, &scratch.lake(), MONDAY).finish().exits(5).json()["register"]["starts"], 0);
    api.register().dissolve("AA15");
    add(&mut api.register().businesses, "AA LATE", filed(77));
    for morning in 1..6 {
        let today = MONDAY.checked_add(morning.days()).expect("a day");
        api.run(&pipeline, &scratch.lake(), today).finish();
    }
    assert_found(&scratch.lake(), &there);
}

/// A name under a random prefix, most often a usual one.
fn any_name(dice: &mut Dice, number: u64) -> String {
    let mut pick = |letters: &str| {
        let letters: Vec<char> = letters.chars().collect();
        letters[dice.below(letters.len() as u64) as usize]
    };
    let rare = pick("0123456789");
    let (first, second) = match rare {
        '0' => (pick("0123456789ABDGXZ#$=?}"), pick("0123456789ABXZ &-.")),
        '1' => (pick("ß0123456789"), pick("AT5")),
        _ => (pick("ABCMST"), pick("AEIO")),
    };
    format!("{first}{second} {number}")
}

/// Changes a register: names come, businesses dissolve.
fn change(businesses: &mut Vec<Business>, times: u64, dice: &mut Dice, today: Date) {
    for _ in 0..times {
        let id = businesses.len() as u64 + 1;
        let filed = today.checked_sub((dice.below(9) as i64).days()).expect("a day");
        add(businesses, &any_name(dice, id), filed);
        let dissolved = dice.below(id) as usize;
        businesses[dissolved].is_active = false;
    }
}

/// Reads a register over several mornings, with a kill, while rows change after pages and overnight.
fn read_while_rows_change(seed: u64, status: &str) {
    let (scratch, mut dice) = (Scratch::new(), Dice::new(seed));
    let mut register = Register::default();
    add(&mut register.businesses, "DBA ANYBODY", date(2001, 2, 3));
    for number in 0..400 {
        let filed = date(2025, 1, 1).checked_sub((dice.below(9_000) as i64).days()).expect("a day");
        add(&mut register.businesses, &any_name(&mut dice, number), filed);
    }
    let mut chance = Dice::new(seed + 1);
    register.drifts(move |businesses| {
        let times = u64::from(chance.below(10) == 0);
        change(businesses, times, &mut chance, MONDAY);
    });
    let api = NameApi::start(register);
    let pipeline = pipeline(&scratch, 10, &format!("status = \"{status}\""), Some(600));
    let with_dissolved = status == "all";
    let mut there = api.register().listed(with_dissolved);
    let killed = api.run(&pipeline, &scratch.lake(), MONDAY).start();
    api.proxy.wait_for_requests(100 + dice.below(500) as usize);
    killed.kill();
    let (summary, last) = read(&api, &pipeline, &scratch.lake(), MONDAY, |register, today| {
        change(&mut register.businesses, dice.below(9), &mut dice, today);
    });
    assert!(last > MONDAY.checked_add(2.days()).expect("a day"), "read as of {last} only");
    let register = api.register();
    let now = register.listed(with_dissolved);
    there.retain(|id, business| now.get(id) == Some(business));
    assert!(there.len() > 200, "{} businesses stayed as they were", there.len());
    assert_found(&scratch.lake(), &there);
    assert_eq!(summary["register"]["businesses_total"], register.businesses.len(), "{summary}");
    let found = lake::filings(&scratch.lake()).len();
    let missing = with_dissolved.then(|| register.businesses.len() - found);
    assert_eq!(summary["register"]["missing"], serde_json::json!(missing), "{found} rows: {summary}");
}

#[test]
fn every_business_that_stays_is_found_over_several_mornings_while_others_come_and_go() {
    read_while_rows_change(1, "all");
}

#[test]
#[ignore = "20 registers, 100,000 requests: several minutes"]
fn every_business_that_stays_is_found_whatever_changes() {
    for seed in 0..10 {
        read_while_rows_change(seed, "all");
        read_while_rows_change(seed, "active");
    }
}
