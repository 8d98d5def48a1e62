//! SQL of `DuckDB` that describes tables: literals, comments, and options of Parquet files.

use super::described::Described;
use std::fmt::{Result, Write};

/// A text made by writing to it.
pub(super) fn text_of(write: impl FnOnce(&mut String) -> Result) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut text);
    text
}

/// A text as an SQL literal.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Options of `read_parquet` for the files of a table.
pub(super) const fn partitioning(table: &Described) -> &'static str {
    match table.is_partitioned {
        true => "hive_partitioning = true, hive_types = {'filed_month': VARCHAR}",
        false => "hive_partitioning = false",
    }
}

/// Writes the comments of a table or a view, and of its columns.
pub(super) fn write_comments(sql: &mut String, kind: &str, table: &Described) -> Result {
    let name = &table.name;
    writeln!(sql, "COMMENT ON {kind} {name} IS {};", quoted(&table.about))?;
    for column in table.columns.iter().filter(|column| !column.meaning.is_empty()) {
        writeln!(sql, "COMMENT ON COLUMN {name}.\"{}\" IS {};", column.name, quoted(&column.meaning))?;
    }
    Ok(())
}
