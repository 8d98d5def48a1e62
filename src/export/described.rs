//! Tables and columns of a snapshot in words: tables from the column dictionary, aggregates from the footers of their files.
//! And the SQL of comments and views that is made of them.

use super::error::ExportError;
use crate::contract::escape::PATTERN_SIGNS;
use crate::lake::{Commit, FileEntry, INVENTED, Lake, TableManifest};
use crate::table::{ABOUT_KEY, Footer, Table, columns};
use crate::table::{VIEWS, View};
use arrow_schema::DataType;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// A table or an aggregate of a snapshot, but for its rows.
#[derive(Debug, Clone)]
pub(super) struct Described {
    /// Folder name.
    pub(super) name: String,
    /// What a row is, or the question of an aggregate.
    pub(super) about: String,
    /// More about an aggregate; empty for a table.
    pub(super) notes: String,
    pub(super) columns: Vec<DescribedColumn>,
    /// Key columns; empty for an aggregate.
    pub(super) key: &'static [&'static str],
    /// Whether `filed_month` is part of the path.
    pub(super) is_partitioned: bool,
}

/// Writes the views that the tables can answer, after them.
pub(super) fn write_views(text: &mut String, tables: &[Described]) -> fmt::Result {
    let has = |name: &str| tables.iter().any(|table| table.name == name);
    for View { name, about, sql, .. } in VIEWS.iter().filter(|view| view.is_of(has)) {
        writeln!(text, "\nCREATE OR REPLACE VIEW {name} AS\n{sql};")?;
        writeln!(text, "COMMENT ON VIEW {name} IS {};", quoted(about))?;
    }
    Ok(())
}

/// A column of a table or an aggregate.
#[derive(Debug, Clone)]
pub(super) struct DescribedColumn {
    pub(super) name: String,
    pub(super) kind: DataType,
    pub(super) nullable: bool,
    pub(super) meaning: String,
}

/// What a type is called in a data package, in the dictionary, by DuckLake, and by Delta.
pub(super) struct TypeNames {
    pub(super) package: &'static str,
    pub(super) dictionary: &'static str,
    pub(super) ducklake: &'static str,
    pub(super) delta: &'static str,
}

pub(super) const fn type_names(kind: &DataType) -> TypeNames {
    let (package, dictionary, ducklake, delta) = match kind {
        DataType::Int32 => ("integer", "int32", "int32", "integer"),
        DataType::Int64 => ("integer", "int64", "int64", "long"),
        DataType::Float64 => ("number", "double", "float64", "double"),
        DataType::Boolean => ("boolean", "boolean", "boolean", "boolean"),
        DataType::Date32 => ("date", "date", "date", "date"),
        DataType::Timestamp(..) => ("datetime", "timestamp", "timestamptz", "timestamp"),
        _ => ("string", "text", "varchar", "string"),
    };
    TypeNames { package, dictionary, ducklake, delta }
}

/// Every table and aggregate of a snapshot that has a file: tables in their documented order, then aggregates.
pub(super) fn describe(lake: &Lake, commit: &Commit) -> Result<Vec<Described>, ExportError> {
    let mut described = Vec::new();
    for table in Table::ALL {
        let manifest = commit.tables.get(table.name()).filter(|manifest| !manifest.files.is_empty());
        described.extend(manifest.map(|manifest| of_table(table, manifest)));
    }
    for (name, manifest) in commit.tables.iter().filter(|(name, _)| Table::from_name(name).is_none()) {
        if let Some(first) = lake.open_snapshot(commit).paths(name)?.first() {
            described.push(of_footer(name, &Footer::open(first)?, manifest));
        }
    }
    if commit.is_invented() {
        described.iter_mut().for_each(|table| table.about.extend([" ", INVENTED]));
    }
    Ok(described)
}

pub(super) fn of_table(table: Table, manifest: &TableManifest) -> Described {
    let columns = columns(table).iter().map(|column| DescribedColumn {
        name: column.name.to_owned(),
        kind: column.kind.data_type(),
        nullable: column.nullable,
        meaning: column.meaning.to_owned(),
    });
    Described {
        name: table.name().to_owned(),
        about: table.meaning().to_owned(),
        notes: String::new(),
        columns: columns.collect(),
        key: table.key(),
        // A lake of the state's files has the details and officers of each month apart.
        is_partitioned: has_months(manifest),
    }
}

/// Whether the paths of files have the month of their rows.
pub(super) fn has_months(manifest: &TableManifest) -> bool {
    manifest.files.iter().any(|file| month_of(file).is_some())
}

/// The month of the rows of a file, where its path has it.
pub(super) fn month_of(file: &FileEntry) -> Option<&str> {
    file.path.split('/').nth(1)?.strip_prefix("filed_month=")
}

pub(super) fn of_footer(name: &str, footer: &Footer, manifest: &TableManifest) -> Described {
    let head = Head::parse(footer.key_value(ABOUT_KEY).unwrap_or_default());
    let columns = footer.schema().fields().iter().map(|field| DescribedColumn {
        name: field.name().clone(),
        kind: field.data_type().clone(),
        nullable: field.is_nullable(),
        meaning: head.columns.get(field.name()).cloned().unwrap_or_default(),
    });
    Described {
        name: name.to_owned(),
        columns: columns.collect(),
        about: head.question,
        notes: head.notes,
        key: &[],
        is_partitioned: has_months(manifest),
    }
}

/// The head comment of an aggregate's SQL: a question, notes, and indented lines with a column's name and meaning.
///
/// A line with a deeper indent continues the line above.
#[derive(Debug, Default, PartialEq)]
struct Head {
    question: String,
    notes: String,
    columns: BTreeMap<String, String>,
}

impl Head {
    fn parse(text: &str) -> Self {
        let mut head = Self::default();
        let mut column: Option<String> = None;
        for line in text.lines() {
            let indent = line.len() - line.trim_start().len();
            match (indent, line.trim()) {
                (_, "") => column = None,
                (0, note) if head.question.is_empty() => head.question = note.to_owned(),
                (0, note) => {
                    column = None;
                    append(&mut head.notes, note);
                }
                (1..=2, line) => {
                    let (name, meaning) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
                    head.columns.insert(name.to_owned(), meaning.trim().to_owned());
                    column = Some(name.to_owned());
                }
                (_, more) => {
                    if let Some(meaning) = column.as_ref().and_then(|name| head.columns.get_mut(name)) {
                        append(meaning, more);
                    }
                }
            }
        }
        head
    }
}

fn append(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}

/// A text made by writing to it.
pub(crate) fn text_of(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut text);
    text
}

/// A text as an SQL literal.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The expression of a pattern that finds a path alone, of the expression of the path.
pub fn pattern_expression(path: &str) -> String {
    format!(r"regexp_replace({path}, '([{PATTERN_SIGNS}])', '[\1]', 'g')")
}

/// The expression of the folder of a lake, which a variable may replace.
pub(super) fn folder_expression(lake: &Lake) -> String {
    let absolute = std::path::absolute(lake.root()).unwrap_or_else(|_| lake.root().to_owned());
    format!("coalesce(getvariable('lake'), {})", quoted(&absolute.display().to_string()))
}

/// A UUID made from a text: the same each time.
pub(super) fn uuid(seed: &str) -> String {
    let hex = blake3::hash(seed.as_bytes()).to_hex();
    format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}

/// Options of `read_parquet` for the files of a table.
pub(super) const fn partitioning(table: &Described) -> &'static str {
    if table.is_partitioned {
        "hive_partitioning = true, hive_types = {'filed_month': VARCHAR}"
    } else {
        "hive_partitioning = false"
    }
}

/// Writes the comments of a table or a view, and of its columns.
pub(super) fn write_comments(sql: &mut String, kind: &str, table: &Described) -> fmt::Result {
    let name = &table.name;
    writeln!(sql, "COMMENT ON {kind} {name} IS {};", quoted(&table.about))?;
    for column in table.columns.iter().filter(|column| !column.meaning.is_empty()) {
        writeln!(sql, "COMMENT ON COLUMN {name}.\"{}\" IS {};", column.name, quoted(&column.meaning))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_made_of_an_expression() {
        let expression = r"regexp_replace('a*b', '([*?[])', '[\1]', 'g')";
        assert_eq!(pattern_expression("'a*b'"), expression);
    }

    #[test]
    fn a_head_comment_has_a_question_notes_and_columns() {
        let head = Head::parse(
            "How did each county do?\n\nOne row a month.\nMore of it.\n  filed_month   YYYY-MM\n  is_complete   the month is over and\n                complete\n",
        );
        assert_eq!(
            (head.question.as_str(), head.notes.as_str()),
            ("How did each county do?", "One row a month. More of it.")
        );
        let columns: Vec<_> =
            head.columns.iter().map(|(name, meaning)| (name.as_str(), meaning.as_str())).collect();
        assert_eq!(columns, [("filed_month", "YYYY-MM"), ("is_complete", "the month is over and complete")]);
        assert_eq!(Head::parse(""), Head::default());
    }
}
