//! The lake's counts against the API's: the result of `reconcile.sql`, as the report shows it.

use super::error::AggregateError;
use super::on_disk::{Cells, flag, long, text};

/// What a count of the API covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// One day without fictitious names, from the daily counts. Comparable days must be equal.
    Day,
    /// One month, from the statewide figures. May differ by businesses that the API counts but does not list.
    Month,
    /// One month and type. May differ in the same way.
    MonthType,
    /// One county's last 30 days. May differ in the same way.
    County,
}

impl Scope {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "day" => Self::Day,
            "month" => Self::Month,
            "month_type" => Self::MonthType,
            "county" => Self::County,
            _ => return None,
        })
    }
}

/// One count of the API next to the lake's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) scope: Scope,
    /// `YYYY-MM-DD`, `YYYY-MM` or `last 30 days`.
    pub(crate) period: String,
    /// A type, or the name of a county; empty for all.
    pub(crate) subject: String,
    pub(crate) api_count: i64,
    pub(crate) lake_count: i64,
    /// Whether the lake is complete for the period.
    pub(crate) is_comparable: bool,
}

impl Comparison {
    /// Businesses the lake has more than the API says; negative when it has fewer.
    pub(crate) const fn difference(&self) -> i64 {
        self.lake_count - self.api_count
    }
}

/// All comparisons of a snapshot, in the order of the aggregate: by scope, newest period first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reconciliation {
    pub(crate) comparisons: Vec<Comparison>,
}

impl Reconciliation {
    /// The comparisons of one scope whose period is complete in the lake.
    pub(crate) fn comparable(&self, scope: Scope) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(move |row| row.scope == scope && row.is_comparable)
    }

    /// The comparable ones of a scope that differ, largest difference first.
    pub(crate) fn differences(&self, scope: Scope) -> Vec<&Comparison> {
        let mut differing: Vec<_> = self.comparable(scope).filter(|row| row.difference() != 0).collect();
        differing.sort_by_key(|row| std::cmp::Reverse(row.difference().unsigned_abs()));
        differing
    }
}

/// Reads the result of `reconcile.sql`. Rows of an unknown scope are left out: a changed `reconcile.sql` may compare more.
pub(super) fn read_reconciliation(cells: &Cells) -> Result<Reconciliation, AggregateError> {
    let (scopes, periods, subjects) =
        (cells.texts("scope")?, cells.texts("period")?, cells.texts("subject")?);
    let comparable = cells.flags("is_comparable")?;
    let (api, lake) = (cells.longs("api_count")?, cells.longs("lake_count")?);
    let comparison = |row| {
        Some(Comparison {
            scope: Scope::from_name(scopes.get(row)?)?,
            period: text(periods, row),
            subject: text(subjects, row),
            api_count: long(api, row),
            lake_count: long(lake, row),
            is_comparable: flag(comparable, row),
        })
    };
    Ok(Reconciliation { comparisons: cells.rows().filter_map(comparison).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comparable_rows_differ_and_the_largest_comes_first() {
        let row = |period: &str, api_count, lake_count, is_comparable| Comparison {
            scope: Scope::Day,
            period: period.to_owned(),
            subject: String::new(),
            api_count,
            lake_count,
            is_comparable,
        };
        let comparisons =
            vec![row("a", 5, 4, true), row("b", 5, 5, true), row("c", 9, 0, false), row("d", 5, 9, true)];
        let reconciliation = Reconciliation { comparisons };
        let periods: Vec<_> =
            reconciliation.differences(Scope::Day).iter().map(|row| row.period.as_str()).collect();
        assert_eq!(periods, ["d", "a"]);
        assert_eq!(reconciliation.differences(Scope::Month).len(), 0);
    }
}
