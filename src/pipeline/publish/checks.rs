//! Checks before a snapshot is published (pure): their findings, and what each finding does to the run.
//!
//! A finding that a person accepted stops no later run, unless it has grown: the data or the API may never be otherwise.

use crate::lake::Month;
use crate::pipeline::config::spec::{ChecksSpec, OnFailure};
use crate::pipeline::state::run_state::{Accepted, RunState};
use jiff::civil::Date;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) quarantined: u64,
    /// Values of unknown fields, by field.
    pub(crate) unknown_fields: BTreeMap<String, u64>,
    pub(crate) incomplete_days: u64,
    pub(crate) vanished: u64,
    pub(crate) rows_before: u64,
    /// Businesses that the API counts and no prefix gave: their number, and a description.
    pub(crate) missing_businesses: Option<(u64, String)>,
    /// Complete days of this run with more or fewer rows than the API counts.
    pub(crate) miscounted: Vec<Miscount>,
    /// Settled months whose file changed.
    pub(crate) settled_months: Vec<MonthRows>,
    /// Rows of new files with a null key or another row's key, by table.
    pub(crate) repeated_keys: Vec<(String, u64)>,
    /// Rows of new files with an impossible date, by what is wrong and filing month.
    pub(crate) impossible_dates: BTreeMap<(&'static str, Option<Month>), u64>,
    /// The newest of these dates that is more than a year from now.
    pub(crate) farthest: Option<Date>,
    /// Aggregates whose sum differs: name, their sum, the source's.
    pub(crate) sums: Vec<(String, i64, i64)>,
}

/// A day whose rows and count differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Miscount {
    pub(crate) day: Date,
    pub(crate) counted: i64,
    pub(crate) listed: i64,
}

/// Listed filings of a month, before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MonthRows {
    pub(crate) month: String,
    pub(crate) before: u64,
    pub(crate) after: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) what: String,
    pub(crate) then: OnFailure,
    /// The check, by its key in a pipeline file.
    check: &'static str,
    /// The size of each part of it; empty where another run finds something else.
    sizes: BTreeMap<String, u64>,
}

/// What a check found, with the size of each part.
type Found = Option<(String, BTreeMap<String, u64>)>;

pub(crate) fn findings(spec: &ChecksSpec, evidence: &Evidence) -> Vec<Finding> {
    let fields = evidence.unknown_fields.keys().map(|field| (field.clone(), 1)).collect();
    let checks: [(&'static str, OnFailure, Found); 10] = [
        (
            "quarantine",
            spec.quarantine,
            some(evidence.quarantined, "records could not be normalized and are in quarantine"),
        ),
        (
            "unknown_fields",
            spec.unknown_fields,
            some(evidence.unknown_fields.values().sum(), "unknown field values were kept in `extra`")
                .map(|(what, _)| (what, fields)),
        ),
        ("incomplete_days", spec.incomplete_days, some(evidence.incomplete_days, "days are incomplete")),
        ("missing_businesses", spec.missing_businesses, missing_businesses(evidence)),
        ("counts", spec.counts, counts(evidence)),
        ("vanished", spec.vanished, vanished(evidence, spec.max_vanished_percent)),
        ("drop", spec.drop, drop_of_months(evidence, spec.max_drop_percent)),
        ("keys", spec.keys, keys(evidence)),
        ("dates", spec.dates, dates(evidence)),
        (SUMS, spec.aggregates, sums(evidence)),
    ];
    let finding = |(check, then, found): (&'static str, OnFailure, Found)| {
        found.map(|(what, sizes)| Finding { what, then, check, sizes })
    };
    checks.into_iter().filter_map(finding).collect()
}

/// The check of the sums of aggregates.
const SUMS: &str = "aggregates";

/// What the findings do to a run, and the sizes that later runs may find again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) then: OnFailure,
    pub(crate) accepted: Accepted,
}

/// Decides. A finding with `hold` that the newest snapshot has, with the same or a larger size, does not stop the run: it was accepted. After
/// a repair that left rows out, neither does a sum that no longer adds up. The snapshot remembers what it shows by being published.
pub(crate) fn verdict(found: &mut [Finding], before: &RunState) -> Verdict {
    for finding in found.iter_mut().filter(|finding| finding.then == OnFailure::Hold) {
        let is_of_loss = finding.check == SUMS && before.sums_may_differ;
        if is_of_loss || is_accepted(finding, &before.accepted) {
            finding.then = OnFailure::Tell;
        }
    }
    Verdict {
        then: found.iter().map(|finding| finding.then).max().unwrap_or(OnFailure::Tell),
        accepted: found
            .iter()
            .filter(|finding| !finding.sizes.is_empty())
            .map(|finding| (finding.check.to_owned(), finding.sizes.clone()))
            .collect(),
    }
}

fn is_accepted(finding: &Finding, accepted: &Accepted) -> bool {
    let Some(known) = accepted.get(finding.check) else { return false };
    let is_known = |(part, size): (&String, &u64)| known.get(part).is_some_and(|known| size <= known);
    !finding.sizes.is_empty() && finding.sizes.iter().all(is_known)
}

pub(crate) fn findings_that(found: &[Finding], then: OnFailure) -> Vec<String> {
    found.iter().filter(|finding| finding.then == then).map(|finding| finding.what.clone()).collect()
}

/// A finding of one number.
fn some(number: u64, what: &str) -> Found {
    (number > 0).then(|| (format!("{number} {what}"), one(number)))
}

fn one(size: u64) -> BTreeMap<String, u64> {
    BTreeMap::from([(String::new(), size)])
}

fn missing_businesses(evidence: &Evidence) -> Found {
    evidence.missing_businesses.clone().map(|(number, what)| (what, one(number)))
}

fn counts(evidence: &Evidence) -> Found {
    let first = evidence.miscounted.first()?;
    let Miscount { day, counted, listed } = first;
    let days = evidence.miscounted.len();
    let size = |miscount: &Miscount| (miscount.day.to_string(), miscount.counted.abs_diff(miscount.listed));
    Some((
        format!(
            "{days} complete days have more or fewer rows than the API counts, {day}: {listed} of {counted}"
        ),
        evidence.miscounted.iter().map(size).collect(),
    ))
}

fn vanished(evidence: &Evidence, limit: f64) -> Found {
    let Evidence { vanished, rows_before, .. } = *evidence;
    let percent = share(vanished, rows_before);
    (percent > limit).then(|| {
        let what = format!(
            "{vanished} of {rows_before} filings ({percent:.1}%) are no longer listed, more than max_vanished_percent = {limit}"
        );
        (what, BTreeMap::new())
    })
}

fn drop_of_months(evidence: &Evidence, limit: f64) -> Found {
    let is_shrunk =
        |month: &&MonthRows| share(month.before.saturating_sub(month.after), month.before) > limit;
    let shrunk = evidence.settled_months.iter().filter(is_shrunk);
    let shown = shrunk.map(|month| format!("{} from {} to {}", month.month, month.before, month.after));
    let what = format!("settled months list fewer filings by more than max_drop_percent = {limit}");
    all(&what, shown, BTreeMap::new())
}

fn keys(evidence: &Evidence) -> Found {
    let shown = evidence.repeated_keys.iter().map(|(table, rows)| format!("{rows} in {table}"));
    let sizes = evidence.repeated_keys.iter().cloned().collect();
    all("rows that share their key with another or have none", shown, sizes)
}

fn dates(evidence: &Evidence) -> Found {
    let mut by_kind: BTreeMap<&str, u64> = BTreeMap::new();
    let mut sizes = BTreeMap::new();
    for ((what, month), rows) in &evidence.impossible_dates {
        *by_kind.entry(what).or_default() += rows;
        sizes.insert(format!("{what}, {}", month.map(|month| month.to_string()).unwrap_or_default()), *rows);
    }
    let farthest = evidence.farthest.map(|day| format!("the newest on {day}"));
    let shown = by_kind.iter().map(|(what, rows)| format!("{rows} {what}")).chain(farthest);
    all("filings with impossible dates", shown, sizes)
}

fn sums(evidence: &Evidence) -> Found {
    let shown =
        evidence.sums.iter().map(|(name, sum, source)| format!("agg_{name} has {sum}, its source {source}"));
    let sizes = evidence.sums.iter().map(|(name, sum, source)| (name.clone(), sum.abs_diff(*source)));
    all("aggregates do not add up", shown, sizes.collect())
}

/// A finding with all its cases; none without a case.
fn all(what: &str, cases: impl Iterator<Item = String>, sizes: BTreeMap<String, u64>) -> Found {
    let cases: Vec<String> = cases.collect();
    (!cases.is_empty()).then(|| (format!("{what}: {}", cases.join(", ")), sizes))
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 * 100.0 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn then(evidence: &Evidence) -> Vec<OnFailure> {
        findings(&ChecksSpec::default(), evidence).iter().map(|finding| finding.then).collect()
    }

    #[test]
    fn a_large_loss_needs_review_and_a_small_one_does_not() {
        let evidence = |vanished| Evidence { vanished, rows_before: 1_000, ..Evidence::default() };
        assert_eq!(then(&evidence(100)), []);
        assert_eq!(then(&evidence(101)), [OnFailure::Hold]);
    }

    #[test]
    fn a_settled_month_may_shrink_a_little() {
        let month = |before, after| Evidence {
            settled_months: vec![MonthRows { month: "2026-07".to_owned(), before, after }],
            ..Evidence::default()
        };
        assert_eq!(then(&month(1_000, 900)), []);
        assert_eq!(then(&month(1_000, 1_100)), []);
        assert_eq!(then(&month(0, 0)), []);
        assert_eq!(then(&month(1_000, 899)), [OnFailure::Hold]);
    }

    #[test]
    fn quarantine_is_logged_reviewed_or_fails_as_configured() {
        let evidence = Evidence { quarantined: 1, ..Evidence::default() };
        for asked in [OnFailure::Tell, OnFailure::Hold, OnFailure::Fail] {
            let spec = ChecksSpec { quarantine: asked, ..ChecksSpec::default() };
            assert_eq!(verdict(&mut findings(&spec, &evidence), &RunState::default()).then, asked);
        }
        assert_eq!(verdict(&mut [], &RunState::default()).then, OnFailure::Tell);
    }

    #[test]
    fn each_check_describes_its_finding_and_the_most_severe_decides() {
        let evidence = Evidence {
            unknown_fields: BTreeMap::from([("fax".to_owned(), 2)]),
            incomplete_days: 3,
            miscounted: vec![Miscount { day: date(2026, 11, 3), counted: 7, listed: 6 }],
            repeated_keys: vec![("filings".to_owned(), 4)],
            impossible_dates: BTreeMap::from([(("filed before 1800", None), 5)]),
            sums: vec![("county_type_day".to_owned(), 10, 11)],
            ..Evidence::default()
        };
        let mut found = findings(&ChecksSpec::default(), &evidence);
        let said: Vec<&str> = found.iter().map(|finding| finding.what.as_str()).collect();
        assert_eq!(
            said,
            [
                "2 unknown field values were kept in `extra`",
                "3 days are incomplete",
                "1 complete days have more or fewer rows than the API counts, 2026-11-03: 6 of 7",
                "rows that share their key with another or have none: 4 in filings",
                "filings with impossible dates: 5 filed before 1800",
                "aggregates do not add up: agg_county_type_day has 10, its source 11",
            ]
        );
        assert_eq!(verdict(&mut found, &RunState::default()).then, OnFailure::Fail);
        assert_eq!(findings_that(&found, OnFailure::Hold).len(), 1);
    }

    /// Every check with `hold`.
    fn all_with_hold() -> ChecksSpec {
        let hold = OnFailure::Hold;
        ChecksSpec {
            quarantine: hold,
            unknown_fields: hold,
            incomplete_days: hold,
            missing_businesses: hold,
            counts: hold,
            keys: hold,
            dates: hold,
            ..ChecksSpec::default()
        }
    }

    #[test]
    fn what_was_accepted_stops_no_later_run_until_it_grows() {
        let month = Month::of(date(2026, 7, 1));
        type OfSize = fn(u64) -> Evidence;
        let grown: [(&str, OfSize); 8] = [
            ("quarantine", |size| Evidence { quarantined: size, ..Evidence::default() }),
            ("unknown_fields", |size| Evidence {
                unknown_fields: (0..size).map(|field| (field.to_string(), 9)).collect(),
                ..Evidence::default()
            }),
            ("incomplete_days", |size| Evidence { incomplete_days: size, ..Evidence::default() }),
            ("missing_businesses", |size| Evidence {
                missing_businesses: Some((size, size.to_string())),
                ..Evidence::default()
            }),
            ("counts", |size| Evidence {
                miscounted: vec![Miscount { day: date(2026, 7, 1), counted: 9, listed: 9 + size as i64 }],
                ..Evidence::default()
            }),
            ("keys", |size| Evidence {
                repeated_keys: vec![("counties".to_owned(), size)],
                ..Evidence::default()
            }),
            ("dates", |size| Evidence {
                impossible_dates: BTreeMap::from([(("filed before 1800", None), size)]),
                ..Evidence::default()
            }),
            ("aggregates", |size| Evidence {
                sums: vec![("own".to_owned(), 9, 9 + size as i64)],
                ..Evidence::default()
            }),
        ];
        let of = |evidence: &Evidence, before: &RunState| {
            verdict(&mut findings(&all_with_hold(), evidence), before)
        };
        for (check, evidence) in grown {
            let first = of(&evidence(5), &RunState::default());
            assert_eq!(first.then, OnFailure::Hold, "{check}");
            let after = RunState { accepted: first.accepted, ..RunState::default() };
            for (size, then) in [(5, OnFailure::Tell), (3, OnFailure::Tell), (6, OnFailure::Hold)] {
                assert_eq!(of(&evidence(size), &after).then, then, "{check} {size}");
            }
            // It shrank, and grows again.
            let smaller = RunState { accepted: of(&evidence(3), &after).accepted, ..RunState::default() };
            assert_eq!(of(&evidence(5), &smaller).then, OnFailure::Hold, "{check}");
        }
        // Another month has its own.
        let of_month = |month| Evidence {
            impossible_dates: BTreeMap::from([(("filed before 1800", month), 1)]),
            ..Evidence::default()
        };
        let after =
            RunState { accepted: of(&of_month(None), &RunState::default()).accepted, ..RunState::default() };
        assert_eq!(of(&of_month(month), &after).then, OnFailure::Hold);
    }

    #[test]
    fn a_loss_of_filings_is_reviewed_each_time_and_sums_after_a_repair_never() {
        let lost = Evidence { vanished: 500, rows_before: 1_000, ..Evidence::default() };
        let first = verdict(&mut findings(&all_with_hold(), &lost), &RunState::default());
        let after = RunState { accepted: first.accepted, ..RunState::default() };
        assert_eq!(verdict(&mut findings(&all_with_hold(), &lost), &after).then, OnFailure::Hold);
        let sums = Evidence { sums: vec![("own".to_owned(), 9, 12)], ..Evidence::default() };
        let repaired = RunState { sums_may_differ: true, ..RunState::default() };
        let seen = verdict(&mut findings(&all_with_hold(), &sums), &repaired);
        assert_eq!(seen.then, OnFailure::Tell);
        let after = RunState { accepted: seen.accepted, ..RunState::default() };
        assert_eq!(verdict(&mut findings(&all_with_hold(), &sums), &after).then, OnFailure::Tell);
    }
}
