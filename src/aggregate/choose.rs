//! Chooses businesses by a condition in SQL.

use super::error::{AggregateError, first_line};
use super::run::{SnapshotFiles, Tables, collect, register_tables};
use polars::error::PolarsError;
use polars::prelude::LazyFrame;

/// Ids of the filings that a condition chooses, newest first. The condition follows `WHERE` and may name every table.
pub(crate) fn choose_businesses(condition: &str, tables: &SnapshotFiles) -> Result<Vec<i64>, AggregateError> {
    if tables.get("filings").is_none_or(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let frame = chosen(condition, tables, collect)?;
    let ids = frame.column("business_id").and_then(|column| column.i64());
    Ok(ids.map_err(|error| wrong(condition, &error))?.iter().flatten().collect())
}

/// The result of `run` for the query of the ids that a condition chooses.
pub(super) fn chosen<T>(
    condition: &str,
    tables: &dyn Tables,
    run: impl FnOnce(LazyFrame) -> Result<T, PolarsError>,
) -> Result<T, AggregateError> {
    // The line break keeps a comment in the condition from hiding the bracket.
    let sql = format!(
        "SELECT business_id FROM filings WHERE (\n{condition}\n) ORDER BY filed_date DESC, business_id DESC"
    );
    let mut context = match register_tables("where", &sql, tables) {
        Err(AggregateError::Sql { source, .. }) => return Err(wrong(condition, &source)),
        Err(AggregateError::MissingTable { table, known, .. }) => {
            return Err(wrong(condition, &format!("there is no table {table}; there is {known}")));
        }
        other => other?,
    };
    context.execute(&sql).and_then(run).map_err(|error| wrong(condition, &error))
}

fn wrong(condition: &str, error: &dyn std::fmt::Display) -> AggregateError {
    AggregateError::Condition { condition: condition.to_owned(), reason: first_line(error) }
}

#[cfg(test)]
mod tests {
    use super::super::tiny_lake::{TinyLake, row};
    use super::*;
    use crate::table::Table;

    #[test]
    fn a_condition_chooses_the_newest_first_and_a_wrong_one_is_quoted() {
        let filing = |id, kind| {
            row([
                ("business_id", id),
                ("entity_type", kind),
                ("listed", "true"),
                ("filed_date", "2026-07-31"),
            ])
        };
        let older = row([("business_id", "9"), ("listed", "true"), ("filed_date", "2026-07-01")]);
        let lake = TinyLake::of([(
            Table::Filings,
            vec![older, filing("1", "llc"), filing("2", "trust"), filing("3", "llc")],
        )]);
        let all = choose_businesses("TRUE", &lake.tables).expect("ids");
        assert_eq!(all, [3, 2, 1, 9]);
        let listed = choose_businesses("listed AND entity_type = 'llc' -- only these", &lake.tables);
        assert_eq!(listed.expect("ids"), [3, 1]);
        let error = choose_businesses("kounty = 'Orange'", &lake.tables).expect_err("no such column");
        assert!(error.to_string().contains("kounty = 'Orange'"), "{error}");
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
        assert!(choose_businesses("TRUE", &SnapshotFiles::new()).expect("nothing to choose from").is_empty());
    }
}
