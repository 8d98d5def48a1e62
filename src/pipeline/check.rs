//! Checks before a snapshot is published (pure): what they find, and whether it holds publication back.

use super::spec::{ChecksSpec, OnFailure};

/// What the checks look at.
#[derive(Debug, Clone, Default)]
pub(super) struct Evidence {
    pub(super) quarantined: u64,
    pub(super) unknown_fields: u64,
    pub(super) incomplete_days: u64,
    pub(super) vanished: u64,
    pub(super) rows_before: u64,
    /// Businesses the API counts and no start of a name gave, in words.
    pub(super) missing_businesses: Option<String>,
}

/// A check that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) what: String,
    pub(super) holds: bool,
}

/// All findings, the worst not first but in a fixed order.
pub(super) fn findings(spec: &ChecksSpec, evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |failed: bool, on: OnFailure, what: String| {
        if failed {
            findings.push(Finding { what, holds: on == OnFailure::Fail });
        }
    };
    let Evidence { quarantined, unknown_fields, incomplete_days, vanished, rows_before, .. } = *evidence;
    find(
        quarantined > 0,
        spec.quarantine,
        format!("{quarantined} records could not be normalized and are in quarantine"),
    );
    find(
        unknown_fields > 0,
        spec.unknown_fields,
        format!("{unknown_fields} unknown field values were kept in `extra`"),
    );
    find(
        incomplete_days > 0,
        spec.incomplete_days,
        format!("{incomplete_days} days could not be proven whole"),
    );
    if let Some(words) = &evidence.missing_businesses {
        find(true, spec.missing_businesses, words.clone());
    }
    let percent = if rows_before == 0 { 0.0 } else { vanished as f64 * 100.0 / rows_before as f64 };
    let limit = spec.max_vanished_percent;
    find(
        percent > limit,
        OnFailure::Fail,
        format!(
            "{vanished} of {rows_before} filings ({percent:.1}%) are no longer listed, more than max_vanished_percent = {limit}"
        ),
    );
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_drop_holds_publication_and_a_small_one_is_life() {
        let evidence = |vanished| Evidence { vanished, rows_before: 1_000, ..Evidence::default() };
        assert!(findings(&ChecksSpec::default(), &evidence(100)).is_empty());
        let found = findings(&ChecksSpec::default(), &evidence(101));
        assert!(found.len() == 1 && found[0].holds, "{found:?}");
    }

    #[test]
    fn quarantine_is_told_or_holds_as_the_pipeline_says() {
        let evidence = Evidence { quarantined: 1, ..Evidence::default() };
        let strict = ChecksSpec { quarantine: OnFailure::Fail, ..ChecksSpec::default() };
        assert!(!findings(&ChecksSpec::default(), &evidence)[0].holds);
        assert!(findings(&strict, &evidence)[0].holds);
    }
}
