//! Rows of a query in the form that is asked for.

use super::atom::feed;
use crate::cli::args::RowFormat;
use crate::cli::output::words::{count, lines};
use crate::contract::escape::{escaped, escaped_json};
use crate::export::csv::{csv_head, csv_lines};
use crate::table::{Cell, TableError, cell, read_batch};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, FieldRef};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::Path;

/// Rows of a table that are printed on a terminal.
const MOST_ROWS: usize = 100;
/// Columns between two columns of a table.
const GAP: usize = 2;
/// No column of texts becomes narrower than this. Numbers, days and times are never cut.
const LEAST_WIDTH: usize = 12;

/// The rows of a Parquet file as bytes. `width`: columns of the terminal that shows them; none where there is no terminal. `now`: the
/// time of a feed without changes.
pub(super) fn rendered(
    file: &Path,
    format: RowFormat,
    width: Option<usize>,
    now: Timestamp,
) -> Result<Vec<u8>, TableError> {
    let rows = read_batch(file, None)?;
    Ok(match format {
        RowFormat::Table => table(&rows, width)?.into_bytes(),
        RowFormat::Markdown => markdown(&rows)?.into_bytes(),
        RowFormat::Csv => [csv_head(&rows.schema(), false, "\n"), csv_lines(&rows, false, "\n")?].concat(),
        RowFormat::Json => json_lines([Value::Array(objects(&rows)?)]),
        RowFormat::Ndjson => json_lines(objects(&rows)?),
        RowFormat::Parquet => std::fs::read(file).map_err(|source| TableError::Io {
            action: "read",
            path: file.to_owned(),
            source,
        })?,
        RowFormat::Atom => feed(&objects(&rows)?, now).into_bytes(),
    })
}

fn json_lines(values: impl IntoIterator<Item = Value>) -> Vec<u8> {
    values
        .into_iter()
        .flat_map(|value| format!("{}\n", escaped_json(&value.to_string())).into_bytes())
        .collect()
}

/// The rows of a Parquet file as JSON objects.
pub(super) fn objects_of(file: &Path) -> Result<Vec<Value>, TableError> {
    objects(&read_batch(file, None)?)
}

fn objects(rows: &RecordBatch) -> Result<Vec<Value>, TableError> {
    let schema = rows.schema();
    let object = |row| {
        let cells = rows.columns().iter().zip(schema.fields());
        let fields = cells.map(|(cells, field)| Ok((field.name().clone(), in_json(cells, row)?)));
        fields.collect::<Result<Map<_, _>, _>>().map(Value::Object)
    };
    (0..rows.num_rows()).map(object).collect()
}

/// A cell as JSON. Days and instants are text.
fn in_json(cells: &dyn Array, row: usize) -> Result<Value, TableError> {
    Ok(match cell(cells, row)? {
        None => Value::Null,
        Some(Cell::Integer(number)) => json!(number),
        Some(Cell::Double(number)) => json!(number),
        Some(Cell::Flag(flag)) => json!(flag),
        Some(other) => json!(other.to_string()),
    })
}

/// A cell as a person reads it.
fn text(cells: &dyn Array, row: usize) -> Result<String, TableError> {
    Ok(match cell(cells, row)? {
        None => String::new(),
        Some(Cell::Text(text)) => escaped(text, &[]).into_owned(),
        Some(Cell::Double(number)) => rounded(number),
        Some(other) => other.to_string(),
    })
}

/// A number with four digits behind the point at most; one that would be 0 by this, by its power of ten.
fn rounded(number: f64) -> String {
    let text = format!("{number:.4}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "0" | "-0" if number != 0.0 => format!("{number:.3e}"),
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// A column of texts.
struct Column {
    name: String,
    is_number: bool,
    is_text: bool,
    cells: Vec<String>,
}

impl Column {
    /// The columns of the first rows, at most `most` of them.
    fn all(rows: &RecordBatch, most: usize) -> Result<Vec<Self>, TableError> {
        let shown = rows.num_rows().min(most);
        let column = |(field, cells): (&FieldRef, &ArrayRef)| {
            Ok(Self {
                name: escaped(field.name(), &[]).into_owned(),
                is_number: field.data_type().is_numeric(),
                is_text: *field.data_type() == DataType::Utf8,
                cells: (0..shown).map(|row| text(cells, row)).collect::<Result<_, _>>()?,
            })
        };
        rows.schema().fields().iter().zip(rows.columns()).map(column).collect()
    }

    /// The width that shows all of it, and the least.
    fn widths(&self) -> (usize, usize) {
        let cells = self.cells.iter().map(|text| console::measure_text_width(text)).max().unwrap_or(0);
        let all = cells.max(console::measure_text_width(&self.name));
        (all, if self.is_text { all.min(LEAST_WIDTH) } else { cells.max(all.min(LEAST_WIDTH)) })
    }
}

fn table(rows: &RecordBatch, width: Option<usize>) -> Result<String, TableError> {
    let most = if width.is_some() { MOST_ROWS } else { usize::MAX };
    let columns = Column::all(rows, most)?;
    let wanted: Vec<(usize, usize)> = columns.iter().map(Column::widths).collect();
    let (widths, left_out) = fitted(&wanted, width.unwrap_or(usize::MAX));
    Ok(lines(|out| {
        line(out, &columns, &widths, |column| &column.name)?;
        line_of_dashes(out, &widths)?;
        for row in 0..rows.num_rows().min(most) {
            line(out, &columns, &widths, |column| &column.cells[row])?;
        }
        let total = count(rows.num_rows() as u64, "row");
        if rows.num_rows() > most {
            writeln!(out, "first {most} of {total}; all of them: --format csv")?
        } else {
            writeln!(out, "{total}")?
        }
        if left_out > 0 {
            let names: Vec<&str> = columns[widths.len()..].iter().map(|column| &*column.name).collect();
            let names = names.join(", ");
            let note = format!("too wide for this terminal, left out: {names}; --format csv has them");
            writeln!(out, "{}", wrapped(&note, width.unwrap_or(usize::MAX)))?;
        }
        Ok(())
    }))
}

/// Widths of the columns that fit, and the number of those that do not, by the width that each wants and the least. The widest become
/// narrower first.
fn fitted(wanted: &[(usize, usize)], width: usize) -> (Vec<usize>, usize) {
    let gaps = |columns: usize| GAP * columns.saturating_sub(1);
    let fits = |columns: &usize| {
        wanted[..*columns].iter().map(|(_, least)| least).sum::<usize>() + gaps(*columns) <= width
    };
    let columns = (1..=wanted.len()).rev().find(fits).unwrap_or(wanted.len().min(1));
    let mut widths = wanted[..columns].to_vec();
    while widths.iter().map(|(wide, _)| wide).sum::<usize>() + gaps(columns) > width {
        let can_shrink = widths.iter_mut().filter(|(wide, least)| wide > least);
        let Some((widest, _)) = can_shrink.max_by_key(|(wide, _)| *wide) else { break };
        *widest -= 1;
    }
    (widths.into_iter().map(|(wide, _)| wide).collect(), wanted.len() - columns)
}

/// A text in lines of a width, broken between words.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => *line = format!("{line} {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

fn line(
    out: &mut String,
    columns: &[Column],
    widths: &[usize],
    text: impl Fn(&Column) -> &String,
) -> std::fmt::Result {
    let cell = |(column, width): (&Column, &usize)| {
        let text = console::truncate_str(text(column), *width, "…");
        let align = if column.is_number { console::Alignment::Right } else { console::Alignment::Left };
        console::pad_str(&text, *width, align, None).into_owned()
    };
    let cells: Vec<String> = columns.iter().zip(widths).map(cell).collect();
    writeln!(out, "{}", cells.join("  ").trim_end())
}

fn line_of_dashes(out: &mut String, widths: &[usize]) -> std::fmt::Result {
    let dashes: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    writeln!(out, "{}", dashes.join("  "))
}

/// A text in a cell of a Markdown table, without what would be a link, a picture, HTML or emphasis.
fn text_of_markdown(text: &str) -> String {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (mut safe, mut before, mut rest) = (String::new(), None, text.chars().peekable());
    while let Some(c) = rest.next() {
        // Within a word it is no emphasis, as in the names of columns.
        let is_within = c == '_' && is_word(before) && is_word(rest.peek().copied());
        if matches!(c, '\\' | '|' | '<' | '>' | '&' | '[' | ']' | '`' | '*' | '~' | '_') && !is_within {
            safe.push('\\');
        }
        safe.push(c);
        before = Some(c);
    }
    safe
}

fn markdown(rows: &RecordBatch) -> Result<String, TableError> {
    let columns = Column::all(rows, usize::MAX)?;
    let line = |cell: &dyn Fn(&Column) -> String| {
        format!("| {} |\n", columns.iter().map(cell).collect::<Vec<_>>().join(" | "))
    };
    let rule = |column: &Column| if column.is_number { "---:" } else { "---" }.to_owned();
    let head = line(&|column| text_of_markdown(&column.name)) + &line(&rule);
    let row = |row: usize| line(&|column| text_of_markdown(&column.cells[row]));
    Ok(head + &(0..rows.num_rows()).map(row).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_text_in_markdown() {
        for (text, safe) in [
            ("entity_type", "entity_type"),
            ("__A & B__ | <i>", "\\_\\_A \\& B\\_\\_ \\| \\<i\\>"),
            ("![i](http://x/y.png) `*~", "!\\[i\\](http://x/y.png) \\`\\*\\~"),
        ] {
            assert_eq!(text_of_markdown(text), safe);
        }
    }

    #[test]
    fn a_wide_table_fits_the_terminal() {
        let texts = [(5, 5), (40, 8), (10, 8)];
        assert_eq!(fitted(&texts, 80), (vec![5, 40, 10], 0));
        assert_eq!(fitted(&texts, 40), (vec![5, 21, 10], 0));
        assert_eq!(fitted(&[(20, 8); 4], 30), (vec![9, 9, 8], 1));
        assert_eq!(fitted(&[(20, 8), (12, 12)], 24), (vec![10, 12], 0), "a number is not cut");
        assert_eq!(fitted(&[(30, 8)], 10), (vec![10], 0));
        assert_eq!(fitted(&[], 10), (vec![], 0));
    }

    #[test]
    fn a_note_breaks_between_words() {
        assert_eq!(wrapped("left out: city_clean, zip", 16), "left out:\ncity_clean, zip");
        assert_eq!(wrapped("left out: city, zip", 80), "left out: city, zip");
        assert_eq!(wrapped("city_clean zip", 4), "city_clean\nzip");
    }

    #[test]
    fn ratios_have_four_digits_at_most() {
        assert_eq!([0.5, 1.0 / 3.0, 100.0].map(rounded), ["0.5", "0.3333", "100"]);
        assert_eq!([0.00004, -0.00001, -0.0].map(rounded), ["4.000e-5", "-1.000e-5", "0"]);
    }
}
