//! The way out of SQL that is not run here: the same query in `DuckDB`, over the views of the lake.

use crate::aggregate::AggregateError;
use crate::cli::exit::CommandError;
use crate::lake::Lake;
use crate::pipeline::PipelineError;

/// The error, with the command that runs the query in `DuckDB` if it can run there.
pub(crate) fn with_duckdb(lake: &Lake, error: AggregateError, sql: &str) -> CommandError {
    let is_for_duckdb =
        matches!(&error, AggregateError::Query(why) | AggregateError::Condition(why) if why.is_for_duckdb);
    let error = CommandError::from(PipelineError::from(error));
    let views = lake.root().join("catalog/views.sql");
    if is_for_duckdb && views.try_exists().unwrap_or(false) {
        error.with_hint(format!("duckdb -init {} -c {}", quoted(&views.display().to_string()), quoted(sql)))
    } else {
        error
    }
}

/// A word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.trim().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_ends_the_word_and_begins_it_again() {
        assert_eq!(quoted("SELECT 'O''Neil' "), r"'SELECT '\''O'\'''\''Neil'\'''");
    }
}
