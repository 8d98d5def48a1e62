//! A day that SQL compares with a number. polars compares the number of days since 1970 and says nothing; no row is that day.

use crate::table::{ColumnKind, Table, columns};
use polars::error::PolarsError;
use polars::prelude::LazyFrame;

/// The operators between two values, as a plan writes them.
const COMPARES: [&str; 6] = [" == ", " != ", " >= ", " <= ", " > ", " < "];
/// What a plan writes before a number to which it could give no type: the other side has none that fits.
const UNTYPED: [&str; 2] = ["dyn int: ", "dyn float: "];

/// The query, if it compares no day with a number.
pub(super) fn days_with_days(query: LazyFrame) -> Result<LazyFrame, PolarsError> {
    match day_and_number(&query.clone().explain(true)?) {
        None => Ok(query),
        Some((column, number)) => {
            let problem = format!("{column} is a day, and it is compared with the number {number}");
            Err(PolarsError::InvalidOperation(problem.into()))
        }
    }
}

/// The column and the number, by the text of a plan, in which they are `col("filed_date") == dyn int: 20260301`.
fn day_and_number(plan: &str) -> Option<(&str, &str)> {
    UNTYPED.iter().flat_map(|mark| plan.match_indices(mark)).find_map(|(at, mark)| {
        let (before, after) = (&plan[..at], &plan[at + mark.len()..]);
        let number = after.split(|c: char| c.is_whitespace() || c == ')').next()?;
        let column = column_before(before).or_else(|| column_after(&after[number.len()..]))?;
        is_day(column).then_some((column, number))
    })
}

/// The column in a text that ends with `col("filed_date") == `.
fn column_before(text: &str) -> Option<&str> {
    let text = COMPARES.iter().find_map(|compares| text.strip_suffix(compares))?;
    Some(text.strip_suffix("\")")?.rsplit_once("col(\"")?.1)
}

/// The column in a text that begins with ` == col("filed_date")`.
fn column_after(text: &str) -> Option<&str> {
    let text = COMPARES.iter().find_map(|compares| text.strip_prefix(compares))?;
    Some(text.strip_prefix("col(\"")?.split_once('"')?.0)
}

/// Whether a column of the lake has days or instants. A name has one meaning in all tables.
fn is_day(name: &str) -> bool {
    let mut all = Table::ALL.into_iter().flat_map(|table| columns(table).iter());
    all.any(|column| column.name == name && matches!(column.kind, ColumnKind::Date | ColumnKind::Timestamp))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_shows_the_day_and_its_number() {
        let found = |plan: &str| day_and_number(plan).map(|(column, number)| format!("{column} {number}"));
        let day =
            "SELECTION: (col(\"filed_date\") >= dyn int: 1) & (col(\"filed_date\") <= dyn int: 20260301)";
        assert_eq!(found(day).as_deref(), Some("filed_date 1"));
        assert_eq!(
            found("FILTER col(\"changed_at\") > dyn float: 5\n  FROM").as_deref(),
            Some("changed_at 5")
        );
        assert_eq!(found("FILTER dyn int: 7 <= col(\"filed_date\")").as_deref(), Some("filed_date 7"));
        for fine in [
            "FILTER (col(\"filed_date\").dt.year() == 2026)",
            "FILTER col(\"listed\") == dyn int: 1",
            "SELECT [dyn int: 5, col(\"filed_date\")]",
        ] {
            assert_eq!(found(fine), None, "{fine}");
        }
    }
}
