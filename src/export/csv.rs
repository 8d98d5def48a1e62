//! Text files as RFC 4180 defines them, one for each table. A spreadsheet that opens one runs no formula of it.

use super::error::ExportError;
use super::outlet::Pending;
use super::replaceable::check_csv;
use super::snapshot::selected_tables;
use crate::contract::escape::escaped;
use crate::lake::{Commit, Lake};
use crate::table::{Cell, Footer, Table, TableError, cell, columns, read_parquet, typed_column};
use arrow_array::{Array, BooleanArray, Int64Array, RecordBatch};
use arrow_schema::Schema;
use arrow_select::filter::filter_record_batch;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The column that says of which business a row is.
const BUSINESS: &str = "business_id";

/// A written file.
#[derive(Serialize)]
pub(crate) struct CsvFile {
    pub(crate) table: String,
    pub(crate) path: PathBuf,
    /// Rows without the header line.
    pub(crate) rows: u64,
}

/// Writes `<folder>/<table>.csv` for each table of a snapshot. No file gets its name before all are complete.
///
/// No `names` are all tables and aggregates. `raw` leaves cells as they are, even those that a spreadsheet would run as a
/// formula. `force` replaces files that no export made.
///
/// With `chosen` businesses, only their rows are written. Tables without businesses are left out then, and refused if named.
pub(crate) fn export_csv(
    lake: &Lake,
    commit: &Commit,
    folder: &Path,
    names: &[String],
    chosen: Option<&HashSet<i64>>,
    raw: bool,
    force: bool,
) -> Result<Vec<CsvFile>, ExportError> {
    let mut tables = selected_tables(commit, names)?;
    if chosen.is_some() {
        if let Some(other) = names.iter().find(|name| table_of_businesses(name).is_none()) {
            return Err(ExportError::NoBusinesses(other.clone()));
        }
        tables.retain(|table| table_of_businesses(table).is_some());
    }
    if !force {
        check_csv(lake, commit, folder, &tables)?;
    }
    let mut pending = Vec::new();
    let mut files = Vec::new();
    for table in tables {
        let path = folder.join(format!("{table}.csv"));
        let mut file = Pending::new(&path)?;
        let only = table_of_businesses(&table).zip(chosen);
        let rows = write_table(lake, commit, &table, raw, only, &mut file)?;
        pending.push(file);
        files.push(CsvFile { table, path, rows });
    }
    pending.into_iter().try_for_each(Pending::publish)?;
    Ok(files)
}

/// The table of this name, if each of its rows belongs to one business.
fn table_of_businesses(name: &str) -> Option<Table> {
    Table::from_name(name).filter(|table| columns(*table).iter().any(|column| column.name == BUSINESS))
}

/// The rows of a batch that belong to chosen businesses.
fn rows_of(chosen: &HashSet<i64>, table: Table, batch: &RecordBatch) -> Result<RecordBatch, TableError> {
    let ids = typed_column::<Int64Array>(batch, table, BUSINESS)?.values();
    let is_chosen: BooleanArray = ids.iter().map(|id| Some(chosen.contains(id))).collect();
    filter_record_batch(batch, &is_chosen).map_err(|source| TableError::arrow("choose", table.name(), source))
}

fn write_table(
    lake: &Lake,
    commit: &Commit,
    table: &str,
    raw: bool,
    only: Option<(Table, &HashSet<i64>)>,
    out: &mut Pending,
) -> Result<u64, ExportError> {
    let files = commit.tables.get(table).map_or(&[][..], |manifest| &manifest.files);
    let snapshot = lake.open_snapshot(commit);
    let mut rows = 0;
    // Newest month first, as each file has its newest day first.
    for (at, entry) in files.iter().rev().enumerate() {
        let file = snapshot.file(entry)?;
        if at == 0 {
            out.put(&csv_head(Footer::open(&file)?.schema(), raw, CRLF))?;
        }
        for batch in read_parquet(&file, None)? {
            let mut batch = batch?;
            if let Some((table, chosen)) = only {
                batch = rows_of(chosen, table, &batch)?;
            }
            out.put(&csv_lines(&batch, raw, CRLF)?)?;
            rows += batch.num_rows() as u64;
        }
    }
    Ok(rows)
}

/// The ends of lines in a file for spreadsheets.
const CRLF: &str = "\r\n";

/// The names of columns as the first line, with this end. A query may give them any name.
pub(crate) fn csv_head(schema: &Schema, raw: bool, end: &str) -> Vec<u8> {
    let mut line = Vec::new();
    for (at, field) in schema.fields().iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        write_text(&mut line, field.name(), raw);
    }
    line.extend_from_slice(end.as_bytes());
    line
}

/// The rows of a batch as lines. `raw` leaves cells as they are, even those that a spreadsheet would run as a formula.
pub(crate) fn csv_lines(batch: &RecordBatch, raw: bool, end: &str) -> Result<Vec<u8>, TableError> {
    let mut lines = Vec::new();
    for row in 0..batch.num_rows() {
        for (at, column) in batch.columns().iter().enumerate() {
            if at > 0 {
                lines.push(b',');
            }
            write_cell(&mut lines, column.as_ref(), row, raw)?;
        }
        lines.extend_from_slice(end.as_bytes());
    }
    Ok(lines)
}

/// Writes a cell. Null is an empty cell, an empty text is two quotes.
fn write_cell(line: &mut Vec<u8>, column: &dyn Array, row: usize, raw: bool) -> Result<(), TableError> {
    // Writing to a Vec cannot fail.
    let _ = match cell(column, row)? {
        None => Ok(()),
        Some(Cell::Text(text)) => {
            write_text(line, text, raw);
            Ok(())
        }
        Some(Cell::Instant(instant)) => write!(line, "{instant:.6}"),
        Some(Cell::Double(number)) => write!(line, "{number}"),
        Some(other) => write!(line, "{other}"),
    };
    Ok(())
}

/// Whether a spreadsheet could run a text as a formula. Many remove blanks and characters that show nothing before they look at it, and
/// take the full-width forms of the signs as the signs.
fn is_formula(text: &str) -> bool {
    let shown = text.trim_start_matches(|c: char| c.is_whitespace() || c.is_control() || is_invisible(c));
    shown.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '−'])
        || text.starts_with(['\t', '\r', '\n'])
}

/// Characters without a width: formats, joiners, marks of direction, fillers, variation selectors and tags.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Writes a text, in quotes if it has commas, quotes, line ends or outer spaces. If not `raw`, a text that a spreadsheet would run as a
/// formula gets an apostrophe, and what steers a terminal is written out.
fn write_text(line: &mut Vec<u8>, text: &str, raw: bool) {
    let shown = if raw { Cow::Borrowed(text) } else { escaped(text, &['\n', '\r', '\t']) };
    let text = &*shown;
    let is_formula = !raw && is_formula(text);
    let is_plain = !is_formula
        && !text.is_empty()
        && !text.contains([',', '"', '\r', '\n'])
        && !text.starts_with(char::is_whitespace)
        && !text.ends_with(char::is_whitespace);
    if is_plain {
        line.extend_from_slice(text.as_bytes());
        return;
    }
    line.push(b'"');
    if is_formula {
        line.push(b'\'');
    }
    for (at, part) in text.split('"').enumerate() {
        if at > 0 {
            line.extend_from_slice(b"\"\"");
        }
        line.extend_from_slice(part.as_bytes());
    }
    line.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cell(text: &str, raw: bool) -> String {
        let mut line = Vec::new();
        write_text(&mut line, text, raw);
        String::from_utf8(line).expect("UTF-8")
    }

    /// The text of one cell, as RFC 4180 reads it.
    fn read_back(cell: &str) -> String {
        match cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(inner) => inner.replace("\"\"", "\""),
            None => cell.to_owned(),
        }
    }

    #[test]
    fn a_formula_gets_an_apostrophe() {
        for (text, safe) in [
            ("=1+1", "\"'=1+1\""),
            ("+A1", "\"'+A1\""),
            ("-A1", "\"'-A1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\tx", "\"'\tx\""),
            ("\rx", "\"'\rx\""),
            (" =1+1", "\"' =1+1\""),
            (" \t\u{a0}=1+1", "\"' \t\u{a0}=1+1\""),
            ("\u{a0}@A", "\"'\u{a0}@A\""),
            ("\u{200b}+1", "\"'\u{200b}+1\""),
            ("\u{feff}-1", "\"'\u{feff}-1\""),
            ("\u{3000}=1", "\"'\u{3000}=1\""),
            ("\u{2003}\u{2060}=1", "\"'\u{2003}\u{2060}=1\""),
            ("\u{e0020}=1", "\"'\u{e0020}=1\""),
            ("\0=1", "\\u{0}=1"),
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("＝1+1", "\"'＝1+1\""),
            ("＋1", "\"'＋1\""),
            ("－1", "\"'－1\""),
            ("＠A", "\"'＠A\""),
            ("a =1", "a =1"),
            ("＃1", "＃1"),
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            (" a", "\" a\""),
            ("", "\"\""),
        ] {
            assert_eq!(cell(text, false), safe);
        }
        assert_eq!(cell("=1+1", true), "=1+1");
    }

    proptest! {
        #[test]
        fn every_text_is_read_back_and_none_begins_a_formula(text in "[=+\\-@＝＋－＠\\t\\r\\n\", \u{a0}\u{200b}\u{feff}\u{3000}a-zé]{0,12}") {
            prop_assert_eq!(read_back(&cell(&text, true)), text.clone());
            let safe = read_back(&cell(&text, false));
            prop_assert!(!is_formula(&safe));
            prop_assert_eq!(safe.strip_prefix('\'').filter(|rest| *rest == text).unwrap_or(&safe), text.as_str());
        }
    }
}
