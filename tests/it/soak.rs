//! Days that a lake calls complete have every row that the API lists, whatever changes while they are read.
//!
//! A round is a world from a seed: a plan's caps, a register, mornings. The API changes rows between pages, fails, and kills the
//! run, all by dice. After each run that published, every complete day is compared with what the API lists.
//!
//! `cargo test soak -- --ignored --nocapture` runs many rounds: `SUNLAKE_SOAK_ROUNDS` of them at each drift, or at
//! `SUNLAKE_SOAK_DRIFT` alone, from the seed `SUNLAKE_SOAK_SEED` on.

mod claims;
mod report;
mod round;
mod world;

use crate::support::listings::{Filing, Listings};
use crate::support::server::{AGENCY, ApiServer};
use crate::support::source;
use report::{Report, Sums};
use round::soak;
use std::collections::BTreeSet;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Changes for each page of rows.
const DRIFTS: [f64; 5] = [0.0, 0.01, 0.05, 0.2, 1.0];
/// Rounds of the short tests at each drift, in addition to those that failed once: seeds of few requests, one with faults, one with
/// kills and faults.
const SHORT: [u64; 2] = [18, 34];
/// Seeds that failed once, with their drift; the short tests run them too.
const FAILED_ONCE: &[(u64, f64)] = &[
    // A budget ended a run that knew from the counts that days had grown.
    (57, 0.0),
    // A budget ended a run that knew that one of several days had grown, and not yet which.
    (1155, 0.0),
    // A paused run read its old pages again, with a row that had left since.
    (1031, 0.01),
    // A row came to a day that the walk had passed.
    (45, 0.01),
    (20, 0.05),
    // A row came above the rows that were searched; a part's total showed it, and a budget ended the run.
    (10065, 0.05),
    // Days stayed wrong on calm mornings: one of `*`, and fictitious names of which as many came as left.
    (55, 0.2),
    // A day known to differ was completed by a sum, in which a new row of the day before made up for its lost one.
    (21, 0.2),
    // One day lost a row after it was read and the next gained one; the last check added them up.
    (1043, 0.2),
    (1098, 0.2),
    // All rows of a day left; pages passed over the day, and its known rows stayed.
    (3003, 0.2),
    // A resumed run answered with pages from before the day was found to differ.
    (1135, 0.2),
    // A row came above the last row of a page; the next query repeated one row more than it was asked for.
    (10136, 0.2),
    // A resumed run sent pages ahead that it did not want; they were newer than the answers of the last check that it had from before.
    (60016, 1.0),
    // A budget ended a run while it read a range that no day of had landed yet; the last check passed over the listing.
    (20697, 1.0),
    // A budget ended a run before days of fictitious names were read again; one had lost a row and another gained one since.
    (70846, 1.0),
    // A budget ended a run after it read the newest rows of a day; the second page had another total than the first, which decided.
    (102403, 0.2),
];

/// Every third round has kills, every fourth has faults.
fn round(server: &ApiServer, seed: u64, drift: f64) -> Report {
    let (has_kills, has_faults) = (seed % 3 == 1, seed % 4 == 2);
    let round = || soak(server, seed, drift, has_kills, has_faults);
    catch_unwind(AssertUnwindSafe(round)).unwrap_or_else(|_| {
        let mut report = Report::new(seed, drift);
        report.failures.push("the round ended in a panic; see above".to_owned());
        report
    })
}

/// The rounds of the seeds, on all cores, in the order of the seeds.
fn rounds(server: &ApiServer, seeds: &[u64], drift: f64) -> Vec<Report> {
    let (next, reports) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    let report = round(server, *seed, drift);
                    reports.lock().expect("reports").push(report);
                }
            });
        }
    });
    let mut reports = reports.into_inner().expect("reports");
    reports.sort_by_key(|report| report.seed);
    reports
}

fn failures(reports: &[Report]) -> Vec<String> {
    reports.iter().filter_map(Report::failed).collect()
}

fn assert_complete_days_are_true(drift: f64) {
    let failed_once = FAILED_ONCE.iter().filter(|(_, of)| *of == drift).map(|(seed, _)| *seed);
    let seeds: Vec<u64> = SHORT.into_iter().chain(failed_once).collect();
    let server = ApiServer::generous(source::history(), AGENCY);
    let reports = rounds(&server, &seeds, drift);
    let failures = failures(&reports);
    assert!(failures.is_empty(), "\n{}\n{}", failures.join("\n"), Sums(&reports));
}

/// The stand-in is written from the API's document alone, and so is the program's server.
#[test]
fn the_listings_of_the_soak_are_those_of_the_server() {
    let server = ApiServer::generous(source::history(), AGENCY);
    let mut listings = Listings::new(source::history().today.parse().expect("a day"), AGENCY);
    for filing in world::filings() {
        listings.add(filing.clone());
    }
    let mut statuses = BTreeSet::new();
    for target in targets(&world::filings()[700]) {
        let expected = server.get(&target);
        match listings.question(&target).and_then(|question| listings.answer(&question)) {
            Ok((body, _)) => assert_eq!(body, expected.json(), "{target}"),
            Err((status, why)) => assert_eq!(status, expected.status, "{target}: {why}"),
        }
        statuses.insert(expected.status);
    }
    assert_eq!(statuses, BTreeSet::from([200, 400, 403]));
}

/// Searches, days and counts, right and wrong ones, of places that a filing has.
fn targets(like: &Filing) -> Vec<String> {
    let (industry, day) = (&like.industry, like.filed);
    let (county, city) = (like.county.replace(' ', "%20"), like.city.to_lowercase().replace(' ', "%20"));
    let (three, name) = (&like.zip[..3], like.name[..3].to_lowercase().replace(' ', "%20"));
    let searches = [
        format!("filed_from={day}"),
        format!("filed_from={day}&filed_to={day}&limit=1000"),
        format!("filed_from={day}&limit=7&offset=9"),
        format!("filed_from={day}&type=fictitious"),
        format!("filed_from={day}&type=llc&industry={}", like.sector),
        format!("filed_from={day}&industry={industry}&county={county}"),
        format!("zip={three}&limit=3"),
        format!("zip={}&filed_from={day}", like.zip),
        format!("city={city}"),
        format!("q={name}"),
        format!("q={name}&filed_to={day}&offset=2000"),
        format!("filed_from={day}&offset=2001"),
        format!("filed_to={day}"),
        format!("county={county}"),
        format!("city={city}&filed_to={day}"),
        format!("filed_from={day}&status=all"),
        format!("filed_from={day}&limit=0"),
        format!("filed_from={day}&zip=12"),
        format!("filed_from={day}&colour=red"),
        format!("filed_from={day}&filed_to=2025-12-31"),
        "filed_from=2025-12-21".to_owned(),
        "filed_from=2025-12-20".to_owned(),
        "filed_from=2025-12-20&filed_to=2026-03-21".to_owned(),
        "filed_from=2025-12-21&filed_to=2026-03-23".to_owned(),
    ];
    let days = ["2026-03-20?limit=3", "2026-03-21", "2025-12-20", "2026-02-30", "2026-03-10?days=3"];
    let counts = ["?days=40", "", "?days=91", "?days=0"];
    let searches = searches.iter().map(|search| format!("/v1/fl/businesses?{search}"));
    let days = days.iter().map(|day| format!("/v1/fl/filings/daily/{day}"));
    searches.chain(days).chain(counts.iter().map(|count| format!("/v1/fl/filings/daily{count}"))).collect()
}

#[test]
fn complete_days_are_true_while_nothing_changes() {
    assert_complete_days_are_true(0.0);
}

#[test]
fn complete_days_are_true_while_one_page_in_a_hundred_changes_a_row() {
    assert_complete_days_are_true(0.01);
}

#[test]
fn complete_days_are_true_while_one_page_in_twenty_changes_a_row() {
    assert_complete_days_are_true(0.05);
}

#[test]
fn complete_days_are_true_while_one_page_in_five_changes_a_row() {
    assert_complete_days_are_true(0.2);
}

#[test]
fn complete_days_are_true_while_every_page_changes_a_row() {
    assert_complete_days_are_true(1.0);
}

fn variable<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}")))
}

#[test]
#[ignore = "100 rounds at each drift, or SUNLAKE_SOAK_ROUNDS of them: minutes"]
fn complete_days_are_true_in_many_rounds() {
    let first: u64 = variable("SUNLAKE_SOAK_SEED").unwrap_or(0);
    let number: u64 = variable("SUNLAKE_SOAK_ROUNDS").unwrap_or(100);
    let only: Option<f64> = variable("SUNLAKE_SOAK_DRIFT");
    let seeds: Vec<u64> = (first..first + number).collect();
    let server = ApiServer::generous(source::history(), AGENCY);
    let mut failed = 0;
    for drift in only.map_or(DRIFTS.to_vec(), |only| vec![only]) {
        let begun = Instant::now();
        let reports = rounds(&server, &seeds, drift);
        let failures = failures(&reports);
        println!("{}", failures.join("\n"));
        println!("{}; {:.0?}", Sums(&reports), begun.elapsed());
        failed += failures.len();
    }
    assert_eq!(failed, 0, "rounds failed");
}
