//! Checks before a snapshot is published (pure): their findings, and what each finding does to the run.

use crate::pipeline::config::spec::{ChecksSpec, OnFailure};
use jiff::civil::Date;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) quarantined: u64,
    pub(crate) unknown_fields: u64,
    pub(crate) incomplete_days: u64,
    pub(crate) vanished: u64,
    pub(crate) rows_before: u64,
    /// Businesses that the API counts and no prefix gave, described.
    pub(crate) missing_businesses: Option<String>,
    /// Complete days of this run with more or fewer rows than the API counts.
    pub(crate) miscounted: Vec<Miscount>,
    /// Settled months whose file changed.
    pub(crate) settled_months: Vec<MonthRows>,
    /// Rows of new files with a null key or another row's key, by table.
    pub(crate) repeated_keys: Vec<(String, u64)>,
    /// Rows of new files with an impossible date, by what is wrong.
    pub(crate) odd_dates: Vec<(&'static str, u64)>,
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
}

pub(crate) fn findings(spec: &ChecksSpec, evidence: &Evidence) -> Vec<Finding> {
    let some = |number: u64, what: &str| (number > 0).then(|| format!("{number} {what}"));
    let checks = [
        (
            spec.quarantine,
            some(evidence.quarantined, "records could not be normalized and are in quarantine"),
        ),
        (spec.unknown_fields, some(evidence.unknown_fields, "unknown field values were kept in `extra`")),
        (spec.incomplete_days, some(evidence.incomplete_days, "days are incomplete")),
        (spec.missing_businesses, evidence.missing_businesses.clone()),
        (spec.counts, counts(evidence)),
        (spec.vanished, vanished(evidence, spec.max_vanished_percent)),
        (spec.drop, drop_of_months(evidence, spec.max_drop_percent)),
        (spec.keys, keys(evidence)),
        (spec.dates, dates(evidence)),
        (spec.aggregates, sums(evidence)),
    ];
    checks.into_iter().filter_map(|(then, found)| found.map(|what| Finding { what, then })).collect()
}

/// What the most severe finding does to the run.
pub(crate) fn verdict(found: &[Finding]) -> OnFailure {
    found.iter().map(|finding| finding.then).max().unwrap_or(OnFailure::Tell)
}

pub(crate) fn findings_that(found: &[Finding], then: OnFailure) -> Vec<String> {
    found.iter().filter(|finding| finding.then == then).map(|finding| finding.what.clone()).collect()
}

fn counts(evidence: &Evidence) -> Option<String> {
    let first = evidence.miscounted.first()?;
    let Miscount { day, counted, listed } = first;
    let days = evidence.miscounted.len();
    Some(format!(
        "{days} complete days have more or fewer rows than the API counts, {day}: {listed} of {counted}"
    ))
}

fn vanished(evidence: &Evidence, limit: f64) -> Option<String> {
    let Evidence { vanished, rows_before, .. } = *evidence;
    let percent = share(vanished, rows_before);
    (percent > limit).then(|| {
        format!(
            "{vanished} of {rows_before} filings ({percent:.1}%) are no longer listed, more than max_vanished_percent = {limit}"
        )
    })
}

fn drop_of_months(evidence: &Evidence, limit: f64) -> Option<String> {
    let is_shrunk =
        |month: &&MonthRows| share(month.before.saturating_sub(month.after), month.before) > limit;
    let shrunk = evidence.settled_months.iter().filter(is_shrunk);
    let shown = shrunk.map(|month| format!("{} from {} to {}", month.month, month.before, month.after));
    all(&format!("settled months list fewer filings by more than max_drop_percent = {limit}"), shown)
}

fn keys(evidence: &Evidence) -> Option<String> {
    let shown = evidence.repeated_keys.iter().map(|(table, rows)| format!("{rows} in {table}"));
    all("rows that share their key with another or have none", shown)
}

fn dates(evidence: &Evidence) -> Option<String> {
    let farthest = evidence.farthest.map(|day| format!("the newest on {day}"));
    let shown = evidence.odd_dates.iter().map(|(what, rows)| format!("{rows} {what}")).chain(farthest);
    all("filings with impossible dates", shown)
}

fn sums(evidence: &Evidence) -> Option<String> {
    let shown =
        evidence.sums.iter().map(|(name, sum, source)| format!("agg_{name} has {sum}, its source {source}"));
    all("aggregates do not add up", shown)
}

/// A finding with all its cases; none without a case.
fn all(what: &str, cases: impl Iterator<Item = String>) -> Option<String> {
    let cases: Vec<String> = cases.collect();
    (!cases.is_empty()).then(|| format!("{what}: {}", cases.join(", ")))
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
            assert_eq!(verdict(&findings(&spec, &evidence)), asked);
        }
        assert_eq!(verdict(&[]), OnFailure::Tell);
    }

    #[test]
    fn each_check_describes_its_finding_and_the_most_severe_decides() {
        let evidence = Evidence {
            unknown_fields: 2,
            incomplete_days: 3,
            miscounted: vec![Miscount { day: date(2026, 11, 3), counted: 7, listed: 6 }],
            repeated_keys: vec![("filings".to_owned(), 4)],
            odd_dates: vec![("filed before 1800", 5)],
            sums: vec![("county_type_day".to_owned(), 10, 11)],
            ..Evidence::default()
        };
        let found = findings(&ChecksSpec::default(), &evidence);
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
        assert_eq!(verdict(&found), OnFailure::Fail);
        assert_eq!(findings_that(&found, OnFailure::Hold).len(), 1);
    }
}
