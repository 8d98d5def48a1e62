//! The catalogue of a snapshot: `datapackage.json`, `TABLES.md`, `views.sql` and `ducklake.sql`, each replaced atomically.

use super::delta::complete_log;
use super::described::{
    Described, DescribedColumn, describe, folder_expression, partitioning, pattern_expression, quoted,
    text_of, type_names, write_comments, write_views,
};
use super::ducklake::ducklake_script;
use super::error::ExportError;
use crate::contract::escape::{self, pattern_of};
use crate::lake::{Commit, FileEntry, INVENTED, Lake};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// Writes the catalogue of a snapshot, in an object store also the Delta log; returns the paths of the catalogue's files.
pub(crate) fn write_catalog(lake: &Lake, commit: &Commit) -> Result<Vec<PathBuf>, ExportError> {
    let tables = describe(lake, commit)?;
    let mut package = serde_json::to_string_pretty(&datapackage(commit, &tables)).unwrap_or_default();
    package.push('\n');
    let (dictionary, views) = (dictionary(commit, &tables), views(lake, commit, &tables));
    let (ducklake, snapshots) = ducklake_script(lake, commit, &[])?;
    let texts = [
        ("datapackage.json", &package),
        ("TABLES.md", &dictionary),
        ("views.sql", &views),
        ("ducklake.sql", &ducklake),
    ];
    let written =
        lake.write_catalog_files(&texts.map(|(name, text)| (name, text.as_bytes())), Some(&snapshots))?;
    complete_log(lake)?;
    Ok(written)
}

/// Takes snapshots out of `ducklake.sql` before they are pruned, so that it never names a file that is gone. On a full disk the file is
/// deleted: the next catalogue has it again.
pub(crate) fn leave_out(lake: &Lake, snapshots: &[u64]) -> Result<(), ExportError> {
    let Some(newest) = lake.current()?.filter(|_| !snapshots.is_empty()) else { return Ok(()) };
    let (script, left) = ducklake_script(lake, &newest, snapshots)?;
    match lake.write_catalog_files(&[("ducklake.sql", script.as_bytes())], Some(&left)) {
        Err(error) if error.is_full_disk() => Ok(lake.drop_catalog_file("ducklake.sql")?),
        written => Ok(written.map(drop)?),
    }
}

/// A Frictionless data package with a resource for each table, and paths relative to the lake.
fn datapackage(commit: &Commit, tables: &[Described]) -> Value {
    json!({
        "profile": "data-package",
        "name": "sunlake",
        "title": "Florida business filings",
        "description": format!(
            "Snapshot {} of a sunlake lake. Paths are relative to the lake's folder, the one above this file's.",
            commit.snapshot
        ),
        "version": commit.snapshot.to_string(),
        "created": commit.committed_at.to_string(),
        "snapshot": commit.snapshot,
        "run_id": commit.run_id,
        "today": commit.today.to_string(),
        "schema_version": commit.schema_version,
        "resources": tables.iter().map(|table| resource(commit, table)).collect::<Vec<_>>(),
    })
}

fn resource(commit: &Commit, table: &Described) -> Value {
    let manifest = &commit.tables[&table.name];
    let files = manifest.files.iter().map(|file| {
        let (path, hash) = (commit.object_of(file), format!("blake3:{}", file.blake3));
        json!({"path": path, "bytes": file.bytes, "rows": file.rows, "hash": hash})
    });
    let mut resource = json!({
        "profile": "data-resource",
        "name": table.name,
        "description": table.about,
        "path": manifest.files.iter().map(|file| commit.object_of(file)).collect::<Vec<_>>(),
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
        "files": files.collect::<Vec<_>>(),
        // An empty text is a value.
        "schema": {"fields": table.columns.iter().map(field).collect::<Vec<_>>(), "missingValues": []},
    });
    // frictionless compares `rows` with the rows that it reads: those of the first file.
    if manifest.files.len() == 1 {
        resource["rows"] = json!(manifest.rows);
    }
    if !table.notes.is_empty() {
        resource["notes"] = json!(table.notes);
    }
    if !table.key.is_empty() {
        resource["schema"]["primaryKey"] = json!(table.key);
    }
    if table.is_partitioned {
        resource["partitions"] = json!([{"name": "filed_month", "type": "string", "format": "YYYY-MM"}]);
    }
    resource
}

fn field(column: &DescribedColumn) -> Value {
    let kind = type_names(&column.kind).package;
    let mut field = json!({"name": column.name, "type": kind, "description": column.meaning});
    if !column.nullable {
        field["constraints"] = json!({"required": true});
    }
    field
}

/// The data dictionary, for people.
fn dictionary(commit: &Commit, tables: &[Described]) -> String {
    text_of(|text| {
        writeln!(text, "# Tables of snapshot {}\n", commit.snapshot)?;
        writeln!(
            text,
            "Committed {} by run `{}`, as of {}. Read a table with `FROM 'current/<table>/**/*.parquet'`.\n",
            commit.committed_at, commit.run_id, commit.today
        )?;
        if commit.is_invented() {
            writeln!(text, "**{INVENTED}**\n")?;
        }
        writeln!(text, "| table | rows | files | bytes |\n| --- | ---: | ---: | ---: |")?;
        for table in tables {
            let manifest = &commit.tables[&table.name];
            let (rows, files) = (manifest.rows, manifest.files.len());
            let bytes: u64 = manifest.files.iter().map(|file| file.bytes).sum();
            writeln!(text, "| [`{0}`](#{0}) | {rows} | {files} | {bytes} |", table.name)?;
        }
        for table in tables {
            writeln!(text, "\n## `{}`\n", table.name)?;
            for paragraph in [&table.about, &table.notes].into_iter().filter(|words| !words.is_empty()) {
                writeln!(text, "{}\n", escaped(paragraph))?;
            }
            if !table.key.is_empty() {
                writeln!(text, "Key: `{}`.\n", table.key.join("`, `"))?;
            }
            if table.is_partitioned {
                writeln!(
                    text,
                    "Partitioned by `filed_month` (text, `YYYY-MM`), which is only in the path.\n"
                )?;
            }
            writeln!(text, "| column | type | null | meaning |\n| --- | --- | --- | --- |")?;
            for column in &table.columns {
                let null = if column.nullable { "yes" } else { "" };
                let (kind, meaning) = (type_names(&column.kind).dictionary, escaped(&column.meaning));
                writeln!(text, "| `{}` | {kind} | {null} | {meaning} |", column.name)?;
            }
        }
        Ok(())
    })
}

/// A text with its Markdown marks escaped, for a cell of a table.
fn escaped(words: &str) -> String {
    words.replace('|', "\\|").replace('<', "\\<").replace('*', "\\*").replace('\n', " ")
}

/// `DuckDB` views. For a lake in a folder they read `current`, and a macro of each table reads a snapshot by its number.
///
/// An object store has no `current`, so there they name the files of this snapshot.
fn views(lake: &Lake, commit: &Commit, tables: &[Described]) -> String {
    let is_folder = lake.shown().is_some();
    let root = pattern_expression(&folder_expression(lake));
    text_of(|text| {
        if is_folder {
            head_of_folder(text, commit)?
        } else {
            writeln!(
                text,
                "-- Views over snapshot {} of {}.",
                commit.snapshot,
                escape::escaped(&lake.to_string(), &[])
            )?
        }
        for table in tables {
            let name = &table.name;
            let pattern = if table.is_partitioned { "**/*.parquet" } else { "*.parquet" };
            let options = partitioning(table);
            let url = |file: &FileEntry| quoted(&pattern_of(&format!("{lake}/{}", commit.object_of(file))));
            let files = if is_folder {
                format!("{root} || {}", quoted(&format!("/current/{name}/{pattern}")))
            } else {
                format!("[{}]", commit.files(Some(name)).map(url).collect::<Vec<_>>().join(", "))
            };
            writeln!(text, "\nCREATE OR REPLACE VIEW {name} AS")?;
            writeln!(text, "    SELECT * FROM read_parquet({files}, {options});")?;
            write_comments(text, "VIEW", table)?;
            if is_folder {
                let number = "lpad(CAST(snapshot AS VARCHAR), 6, '0')";
                writeln!(text, "CREATE OR REPLACE MACRO {name}_at(snapshot) AS TABLE")?;
                writeln!(
                    text,
                    "    SELECT * FROM read_parquet({root} || '/snapshots/' || {number} || '/{name}/{pattern}', {options});"
                )?;
            }
        }
        write_views(text, tables)
    })
}

fn head_of_folder(text: &mut String, commit: &Commit) -> std::fmt::Result {
    writeln!(
        text,
        "-- Views over the newest snapshot ({} when this was written), and <table>_at(N) for snapshot N.",
        commit.snapshot
    )?;
    writeln!(text, "-- If the lake has another path than where it was written, set it before a query:")?;
    writeln!(text, "--     SET VARIABLE lake = '/path/of/the/lake';")
}
