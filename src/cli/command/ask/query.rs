//! `query`: SQL over the tables and views of a snapshot.

use super::in_duckdb::with_duckdb;
use super::near_miss::hints;
use super::rows::{objects_of, rendered};
use crate::aggregate::{SnapshotFiles, run_query, tables_of_query};
use crate::cli::args::{QueryArguments, RowFormat, SnapshotName};
use crate::cli::context::folder::require_folder_of;
use crate::cli::context::open_lake::{open_lake, require_snapshot, snapshot_number};
use crate::cli::exit::{self, CommandError};
use crate::cli::output::words::print_bytes;
use crate::cli::session::Session;
use crate::contract::escape::{escaped, on_one_line};
use crate::export::write_new;
use crate::lake::{Commit, Lake};
use crate::pipeline::PipelineError;
use serde_json::Value;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::path::Path;
use tempfile::NamedTempFile;

/// What is asked, of which snapshot.
pub(crate) struct Question {
    pub(crate) sql: String,
    /// The newest, if none is named.
    pub(crate) snapshot: Option<SnapshotName>,
}

pub(crate) fn query(session: &Session<'_>, arguments: &QueryArguments) -> Result<u8, CommandError> {
    let sql = match (&arguments.sql, &arguments.file) {
        (Some(sql), None) => sql.clone(),
        (None, Some(file)) => read_sql(file)?,
        _ => {
            let error = CommandError::Usage("no query is given".to_owned());
            return Err(error.with_hint(
                "sunlake query \"SELECT county, COUNT(*) FROM filings GROUP BY county\", or -f FILE",
            ));
        }
    };
    if arguments.format == Some(RowFormat::Atom) {
        return Err(CommandError::Usage("atom is a form of `sunlake changes` alone".to_owned()));
    }
    let question = Question { sql, snapshot: arguments.snapshot };
    let has_found = answer(session, &question, arguments.format, arguments.output.as_deref())?;
    say_hints(session, &question, has_found);
    Ok(exit::DONE)
}

/// Says what a condition on filings may have meant by a text that no row has.
pub(crate) fn hint_at_condition(session: &Session<'_>, condition: &str, snapshot: Option<SnapshotName>) {
    if session.common.quiet {
        return;
    }
    let sql = format!("SELECT business_id FROM filings WHERE (\n{condition}\n) LIMIT 1");
    let question = Question { sql, snapshot };
    if let Ok(rows) = rows_of(session, &question) {
        say_hints(session, &question, !rows.is_empty());
    }
}

fn say_hints(session: &Session<'_>, question: &Question, has_found: bool) {
    if session.common.quiet {
        return;
    }
    let rows = |sql| rows_of(session, &Question { sql, snapshot: question.snapshot }).ok();
    for hint in hints(&question.sql, has_found, &rows) {
        // The rows are on stdout: a program that reads them is not disturbed.
        let _ = writeln!(io::stderr(), "hint: {}", escaped(&on_one_line(&hint), &[]));
    }
}

/// The text of a file, without the byte order mark that some editors write.
fn read_sql(file: &Path) -> Result<String, CommandError> {
    let is_stdin = file == Path::new("-");
    let read = if is_stdin { io::read_to_string(io::stdin()) } else { std::fs::read_to_string(file) };
    let sql = read.map_err(|source| match source.kind() {
        ErrorKind::NotFound | ErrorKind::IsADirectory => {
            CommandError::Settings(format!("cannot read {}: {source}", file.display()))
                .with_hint("give the path of a file with one query")
        }
        _ => CommandError::Io(format!("cannot read {}", file.display()), source),
    })?;
    Ok(sql.trim_start_matches('\u{feff}').to_owned())
}

/// Prints the rows that answer a question, or writes them to a file. Returns whether there is one; the count of nothing is none.
pub(crate) fn answer(
    session: &Session<'_>,
    question: &Question,
    format: Option<RowFormat>,
    output: Option<&Path>,
) -> Result<bool, CommandError> {
    let of_output = || output.map_or(Ok(None), of_ending);
    let format = format.map_or_else(of_output, |format| Ok(Some(format)))?;
    let format = format.unwrap_or(if session.common.json { RowFormat::Json } else { RowFormat::Table });
    refuse_terminal(format, output)?;
    output.map_or(Ok(()), require_folder_of)?;
    let (rows, number) = ask(session, question)?;
    let width = (output.is_none() && std::io::stdout().is_terminal())
        .then(|| usize::from(console::Term::stdout().size().1));
    let bytes = rendered(rows.path(), format, width, session.now()).map_err(PipelineError::from)?;
    put(&bytes, output)?;
    let is_nothing = |value: &Value| value.is_null() || value.as_f64() == Some(0.0);
    Ok(match number {
        0 => false,
        1 => !objects_of(rows.path())
            .map_err(PipelineError::from)?
            .iter()
            .filter_map(Value::as_object)
            .all(|row| row.values().all(is_nothing)),
        _ => true,
    })
}

/// The rows that answer a question, as JSON objects.
pub(super) fn rows_of(session: &Session<'_>, question: &Question) -> Result<Vec<Value>, CommandError> {
    let (rows, _) = ask(session, question)?;
    Ok(objects_of(rows.path()).map_err(PipelineError::from)?)
}

/// The rows that answer a question, in a Parquet file that goes when it is dropped, and their number.
fn ask(session: &Session<'_>, question: &Question) -> Result<(NamedTempFile, u64), CommandError> {
    let lake = open_lake(session)?;
    require_snapshot(&lake)?;
    let commit = commit(&lake, question.snapshot)?;
    let failed = |source| CommandError::Io("no temporary file for the rows".to_owned(), source);
    let file = NamedTempFile::new().map_err(failed)?;
    let tables = files(&lake, &commit, &question.sql)?;
    let rows = run_query(&question.sql, &tables, file.path());
    let rows = rows.map_err(|error| with_duckdb(&lake, error, &question.sql))?;
    Ok((file, rows))
}

fn commit(lake: &Lake, name: Option<SnapshotName>) -> Result<Commit, CommandError> {
    let number = snapshot_number(lake, name.unwrap_or(SnapshotName::Latest))?;
    Ok(lake.present(number)?)
}

/// All tables of a snapshot, with the files of those that the query reads.
fn files(lake: &Lake, commit: &Commit, sql: &str) -> Result<SnapshotFiles, CommandError> {
    let read = tables_of_query(sql).map_err(PipelineError::from)?;
    let snapshot = lake.open_snapshot(commit);
    let mut tables = SnapshotFiles::new();
    for table in commit.tables.keys() {
        let files = if read.contains(table) { snapshot.files(table)? } else { Vec::new() };
        tables.insert(table.clone(), files);
    }
    Ok(tables)
}

/// The form that the ending of a file names; none of a file without an ending, or of a text. Other endings promise what is not written.
fn of_ending(output: &Path) -> Result<Option<RowFormat>, CommandError> {
    let Some(ending) = output.extension() else { return Ok(None) };
    Ok(match ending.to_string_lossy().to_lowercase().as_str() {
        "csv" => Some(RowFormat::Csv),
        "json" => Some(RowFormat::Json),
        "ndjson" | "jsonl" => Some(RowFormat::Ndjson),
        "md" => Some(RowFormat::Markdown),
        "parquet" => Some(RowFormat::Parquet),
        "txt" => None,
        other => {
            let error = CommandError::Usage(format!("no form has the ending .{other}"));
            return Err(error.with_hint(
                "write .csv, which spreadsheets open, .json, .ndjson, .md or .parquet; or name a --format",
            ));
        }
    })
}

fn refuse_terminal(format: RowFormat, output: Option<&Path>) -> Result<(), CommandError> {
    if format == RowFormat::Parquet && output.is_none() && std::io::stdout().is_terminal() {
        let error = CommandError::Usage("Parquet is no text for a terminal".to_owned());
        return Err(error.with_hint("write it to a file: -o FILE"));
    }
    Ok(())
}

/// Prints, or writes a file that is not there yet.
fn put(rows: &[u8], output: Option<&Path>) -> Result<(), CommandError> {
    let Some(path) = output else { return print_bytes(rows) };
    if write_new(path, rows, 0o666)? {
        return Ok(());
    }
    let error = CommandError::Settings(format!("{} is there already", path.display()));
    Err(error.with_hint("name another file, or delete this one"))
}
