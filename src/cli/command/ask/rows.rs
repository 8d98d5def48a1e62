//! Rows of a query in the form that is asked for.

use crate::cli::args::RowFormat;
use crate::cli::output::words::{count, lines};
use crate::contract::eastern::day_of_epoch;
use crate::contract::escape::{escaped, escaped_json};
use crate::export::csv::{csv_head, csv_lines};
use crate::table::{TableError, read_batch};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Date32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
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

/// The rows of a Parquet file as bytes; none for a feed. `width`: columns of the terminal that shows them; none where there is no
/// terminal.
pub(super) fn rendered(
    file: &Path,
    format: RowFormat,
    width: Option<usize>,
) -> Result<Option<Vec<u8>>, TableError> {
    let rows = read_batch(file, None)?;
    Ok(Some(match format {
        RowFormat::Table => table(&rows, width).into_bytes(),
        RowFormat::Markdown => markdown(&rows).into_bytes(),
        RowFormat::Csv => [csv_head(&rows.schema(), false, "\n"), csv_lines(&rows, false, "\n")?].concat(),
        RowFormat::Json => json_lines([Value::Array(objects(&rows))]),
        RowFormat::Ndjson => json_lines(objects(&rows)),
        RowFormat::Parquet => std::fs::read(file).map_err(|source| TableError::Io {
            action: "read",
            path: file.to_owned(),
            source,
        })?,
        RowFormat::Atom => return Ok(None),
    }))
}

fn json_lines(values: impl IntoIterator<Item = Value>) -> Vec<u8> {
    values
        .into_iter()
        .flat_map(|value| format!("{}\n", escaped_json(&value.to_string())).into_bytes())
        .collect()
}

/// The rows of a Parquet file as JSON objects.
pub(super) fn objects_of(file: &Path) -> Result<Vec<Value>, TableError> {
    Ok(objects(&read_batch(file, None)?))
}

fn objects(rows: &RecordBatch) -> Vec<Value> {
    let schema = rows.schema();
    let object = |row| {
        let cells = rows.columns().iter().zip(schema.fields());
        Value::Object(
            cells.map(|(cells, field)| (field.name().clone(), cell(cells, row))).collect::<Map<_, _>>(),
        )
    };
    (0..rows.num_rows()).map(object).collect()
}

/// A cell as JSON. Days and instants are text.
fn cell(cells: &dyn Array, row: usize) -> Value {
    if cells.is_null(row) {
        return Value::Null;
    }
    match cells.data_type() {
        DataType::Utf8 => json!(cells.as_string::<i32>().value(row)),
        DataType::Int64 => json!(cells.as_primitive::<Int64Type>().value(row)),
        DataType::Int32 => json!(cells.as_primitive::<Int32Type>().value(row)),
        DataType::Float64 => json!(cells.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => json!(cells.as_boolean().value(row)),
        DataType::Date32 => {
            json!(day_of_epoch(cells.as_primitive::<Date32Type>().value(row)).map(|day| day.to_string()))
        }
        DataType::Timestamp(..) => {
            let micros = cells.as_primitive::<TimestampMicrosecondType>().value(row);
            json!(Timestamp::from_microsecond(micros).ok().map(|instant| instant.to_string()))
        }
        _ => Value::Null,
    }
}

/// A cell as a person reads it.
fn text(cells: &dyn Array, row: usize) -> String {
    match cell(cells, row) {
        Value::Null => String::new(),
        Value::String(text) => escaped(&text, &[]).into_owned(),
        Value::Number(number) if !number.is_i64() => rounded(number.as_f64().unwrap_or_default()),
        other => other.to_string(),
    }
}

/// A number with four digits behind the point at most.
fn rounded(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Columns of text, the first line with their names.
struct Grid {
    names: Vec<String>,
    is_number: Vec<bool>,
    is_text: Vec<bool>,
    cells: Vec<Vec<String>>,
}

impl Grid {
    fn of(rows: &RecordBatch, most: usize) -> Self {
        let schema = rows.schema();
        let fields = schema.fields();
        let shown = |cells: &dyn Array| (0..rows.num_rows().min(most)).map(|row| text(cells, row)).collect();
        Self {
            names: fields.iter().map(|field| escaped(field.name(), &[]).into_owned()).collect(),
            is_number: fields.iter().map(|field| field.data_type().is_numeric()).collect(),
            is_text: fields.iter().map(|field| *field.data_type() == DataType::Utf8).collect(),
            cells: rows.columns().iter().map(|cells| shown(cells.as_ref())).collect(),
        }
    }

    /// Of each column, the width that shows all of it, and the least.
    fn widths(&self) -> Vec<(usize, usize)> {
        let width = |(at, name): (usize, &String)| {
            let cells =
                self.cells[at].iter().map(|text| console::measure_text_width(text)).max().unwrap_or(0);
            let all = cells.max(console::measure_text_width(name));
            (all, if self.is_text[at] { all.min(LEAST_WIDTH) } else { cells.max(all.min(LEAST_WIDTH)) })
        };
        self.names.iter().enumerate().map(width).collect()
    }
}

fn table(rows: &RecordBatch, width: Option<usize>) -> String {
    let most = if width.is_some() { MOST_ROWS } else { usize::MAX };
    let grid = Grid::of(rows, most);
    let (widths, left_out) = fitted(&grid.widths(), width.unwrap_or(usize::MAX));
    lines(|out| {
        line(out, &widths, |at| (&grid.names[at], grid.is_number[at]))?;
        line_of_dashes(out, &widths)?;
        for row in 0..rows.num_rows().min(most) {
            line(out, &widths, |at| (&grid.cells[at][row], grid.is_number[at]))?;
        }
        let total = count(rows.num_rows() as u64, "row");
        if rows.num_rows() > most {
            writeln!(out, "first {most} of {total}; all of them: --format csv")?
        } else {
            writeln!(out, "{total}")?
        }
        if left_out > 0 {
            let names = grid.names[widths.len()..].join(", ");
            let note = format!("too wide for this terminal, left out: {names}; --format csv has them");
            writeln!(out, "{}", wrapped(&note, width.unwrap_or(usize::MAX)))?;
        }
        Ok(())
    })
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
    let (mut wrapped, mut used) = (String::new(), 0);
    for word in text.split(' ') {
        let is_begun = used > 0;
        if is_begun && used + 1 + word.len() > width {
            wrapped.push('\n');
            used = 0;
        } else if is_begun {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += word.len();
    }
    wrapped
}

fn line<'g>(
    out: &mut String,
    widths: &[usize],
    cell: impl Fn(usize) -> (&'g String, bool),
) -> std::fmt::Result {
    let mut text = String::new();
    for (at, width) in widths.iter().enumerate() {
        let (content, is_number) = cell(at);
        let content = console::truncate_str(content, *width, "…");
        let align = if is_number { console::Alignment::Right } else { console::Alignment::Left };
        if at > 0 {
            text.push_str("  ");
        }
        text.push_str(&console::pad_str(&content, *width, align, None));
    }
    writeln!(out, "{}", text.trim_end())
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

fn markdown(rows: &RecordBatch) -> String {
    let grid = Grid::of(rows, usize::MAX);
    let safe = |text: &String| text_of_markdown(text);
    lines(|out| {
        writeln!(out, "| {} |", grid.names.iter().map(safe).collect::<Vec<_>>().join(" | "))?;
        let rule = |is_number: &bool| if *is_number { "---:" } else { "---" };
        writeln!(out, "| {} |", grid.is_number.iter().map(rule).collect::<Vec<_>>().join(" | "))?;
        (0..rows.num_rows()).try_for_each(|row| {
            let cells: Vec<String> = grid.cells.iter().map(|cells| safe(&cells[row])).collect();
            writeln!(out, "| {} |", cells.join(" | "))
        })
    })
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
    }
}
