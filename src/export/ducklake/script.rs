//! The catalogue as an SQL script for DuckDB: the tables of the specification, then their rows.

use super::super::described::{DescribedColumn, folder_expression, quoted, text_of, type_names, uuid};
use super::super::error::ExportError;
use super::super::replaceable::snapshot_table;
use super::life::{FileLife, Life, TableLife};
use super::shape::MONTH;
use super::versions::{Versions, versions};
use crate::contract::escape::escaped;
use crate::lake::{Commit, Lake};
use std::fmt::{self, Write};

/// The tables of the specification, a statement a line.
pub(super) const TABLES: &str = include_str!("tables.sql");

/// Rows of one statement.
const ROWS: usize = 500;

/// The script that makes the catalogue of all kept snapshots but some, and the numbers of those in it.
pub(in crate::export) fn ducklake_script(
    lake: &Lake,
    newest: &Commit,
    without: &[u64],
) -> Result<(String, Vec<u64>), ExportError> {
    let all = versions(lake, newest, without)?;
    let numbers = all.versions.iter().map(|version| version.number).collect();
    Ok((script(lake, newest, &all), numbers))
}

fn script(lake: &Lake, newest: &Commit, all: &Versions) -> String {
    text_of(|text| {
        writeln!(
            text,
            "-- A DuckLake 1.0 catalogue of {} up to snapshot {}: no row is copied.",
            escaped(&lake.to_string(), &[]),
            newest.snapshot
        )?;
        writeln!(text, "-- Make it in a new file:  duckdb florida.ducklake < ducklake.sql")?;
        writeln!(
            text,
            "-- Read it:  ATTACH 'ducklake:florida.ducklake' AS fl (READ_ONLY); FROM fl.filings AT (VERSION => 1);"
        )?;
        let data_path = data_path(lake, text)?;
        writeln!(text, "BEGIN;")?;
        text.push_str(TABLES);
        writeln!(text, "{}", snapshot_table(newest))?;
        let made_by = quoted(concat!("sunlake ", env!("CARGO_PKG_VERSION")));
        let metadata = [
            ("version", "'1.0'"),
            ("created_by", &made_by),
            ("data_path", &data_path),
            ("encrypted", "'false'"),
        ];
        insert(
            text,
            "ducklake_metadata",
            metadata.iter().map(|(key, value)| format!("'{key}', {value}, NULL, NULL")),
        )?;
        write_versions(text, all)?;
        write_tables(text, all)?;
        write_columns(text, all)?;
        write_files(text, all)?;
        writeln!(text, "COMMIT;")
    })
}

/// The expression of the lake's place, which ends with `/`; writes how to say another.
fn data_path(lake: &Lake, text: &mut String) -> Result<String, fmt::Error> {
    if lake.shown().is_none() {
        return Ok(quoted(&format!("{lake}/")));
    }
    writeln!(text, "-- If the lake has another path than where this was written:")?;
    writeln!(
        text,
        "--     duckdb -cmd \"SET VARIABLE lake = '/path/of/the/lake'\" florida.ducklake < ducklake.sql"
    )?;
    Ok(format!("{} || '/'", folder_expression(lake)))
}

fn write_versions(text: &mut String, all: &Versions) -> fmt::Result {
    let first = all.versions.first().map_or(1, |version| version.number);
    let snapshots = all.versions.iter().map(|version| {
        let (number, at, ids) = (version.number, version.at, version.ids);
        format!("{number}, '{at}', {}, {}, {}", version.schema, ids.catalog, ids.file)
    });
    insert(text, "ducklake_snapshot", snapshots)?;
    let changes = all.versions.iter().map(|version| {
        let (changes, message) = (quoted(&version.changes.join(",")), quoted(&version.message));
        format!("{}, {changes}, 'sunlake', {message}, NULL", version.number)
    });
    insert(text, "ducklake_snapshot_changes", changes)?;
    let schema = format!("0, '{}', {first}, NULL, 'main', '', true", uuid("main"));
    insert(text, "ducklake_schema", [schema].into_iter())?;
    let versions = all.schemas.iter().map(|(number, version, table)| format!("{number}, {version}, {table}"));
    insert(text, "ducklake_schema_versions", versions)
}

/// Tables and views.
fn write_tables(text: &mut String, all: &Versions) -> fmt::Result {
    let tables = all.tables.iter().map(|table| {
        let (id, uuid, life, name) = (table.id, &table.uuid, span(table.life), quoted(&table.name));
        format!("{id}, '{uuid}', {life}, 0, {name}, '', true")
    });
    insert(text, "ducklake_table", tables)?;
    let comments = all
        .tables
        .iter()
        .map(|table| format!("{}, {}, 'comment', {}", table.id, span(table.life), quoted(&table.about)));
    insert(text, "ducklake_tag", comments)?;
    let views = || all.views.iter();
    let queries = views().map(|(id, view, life)| {
        let (uuid, name, sql) = (uuid(&format!("{} {id}", view.name)), quoted(view.name), quoted(view.sql));
        format!("{id}, '{uuid}', {}, 0, {name}, 'duckdb', {sql}, ''", span(*life))
    });
    insert(text, "ducklake_view", queries)?;
    let about =
        views().map(|(id, view, life)| format!("{id}, {}, 'comment', {}", span(*life), quoted(view.about)));
    insert(text, "ducklake_tag", about)?;
    let sizes = all.tables.iter().map(|table| {
        let open = || table.files.iter().filter(|file| file.life.is_open());
        let (rows, bytes) =
            (open().map(|file| file.rows).sum::<u64>(), open().map(|file| file.bytes).sum::<u64>());
        format!("{}, {rows}, {}, {bytes}", table.id, table.next_row)
    });
    insert(text, "ducklake_table_stats", sizes)?;
    let partitions =
        || all.tables.iter().flat_map(|table| table.partitions.iter().map(move |one| (table, one)));
    let infos = partitions().map(|(table, (id, life))| format!("{id}, {}, {}", table.id, span(*life)));
    insert(text, "ducklake_partition_info", infos)?;
    let keys = partitions().filter_map(|(table, (id, _))| {
        Some(format!("{id}, {}, 0, {}, 'identity'", table.id, table.known_column(MONTH)?))
    });
    insert(text, "ducklake_partition_column", keys)
}

/// The columns of tables, and by which names they are found in the files.
fn write_columns(text: &mut String, all: &Versions) -> fmt::Result {
    let every =
        || all.tables.iter().flat_map(|table| table.columns.iter().map(move |column| (table, column)));
    let columns = every().map(|(table, column)| {
        let (shape, life) = (&column.shape, span(column.life));
        format!(
            "{}, {life}, {}, {}, {}, '{}', NULL, 'NULL', {}, NULL, 'literal', 'duckdb'",
            column.id,
            table.id,
            column.order,
            quoted(&shape.name),
            type_names(&shape.kind).ducklake,
            shape.nullable
        )
    });
    insert(text, "ducklake_column", columns)?;
    let comments = every().filter(|(_, column)| !column.shape.meaning.is_empty()).map(|(table, column)| {
        let (life, meaning) = (span(column.life), quoted(&column.shape.meaning));
        format!("{}, {}, {life}, 'comment', {meaning}", table.id, column.id)
    });
    insert(text, "ducklake_column_tag", comments)?;
    let mappings = mappings(all);
    let ids = mappings.iter().map(|(id, table, _)| format!("{id}, {}, 'map_by_name'", table.id));
    insert(text, "ducklake_column_mapping", ids)?;
    let names = mappings.iter().flat_map(|(id, table, has_month)| {
        names(table).into_iter().enumerate().map(move |(at, (column, name))| {
            let is_partition = *has_month && name == MONTH;
            format!("{id}, {at}, {}, {column}, NULL, {is_partition}", quoted(name))
        })
    });
    insert(text, "ducklake_name_mapping", names)
}

fn write_files(text: &mut String, all: &Versions) -> fmt::Result {
    let every = || all.tables.iter().flat_map(|table| table.files.iter().map(move |file| (table, file)));
    insert(text, "ducklake_data_file", every().map(|(table, file)| data_file(table, file)))?;
    let months = every().filter_map(|(table, file)| {
        Some(format!("{}, {}, 0, {}", file.id, table.id, quoted(file.month.as_ref()?)))
    });
    insert(text, "ducklake_file_partition_value", months)?;
    insert(text, "ducklake_file_column_stats", every().flat_map(|(table, file)| bounds(table, file)))
}

fn data_file(table: &TableLife, file: &FileLife) -> String {
    let (id, life, path) = (file.id, span(file.life), quoted(&file.path));
    let footer = file.footer.map_or("NULL".to_owned(), |bytes| bytes.to_string());
    let partition = file.month.as_ref().and_then(|_| {
        let at =
            |life: &Life| life.begin <= file.life.begin && life.end.is_none_or(|end| file.life.begin < end);
        table.partitions.iter().find(|(_, life)| at(life)).map(|(id, _)| id.to_string())
    });
    format!(
        "{id}, {}, {life}, NULL, {path}, true, 'parquet', {}, {}, {footer}, {}, {}, NULL, {}, NULL",
        table.id,
        file.rows,
        file.bytes,
        file.first_row,
        partition.unwrap_or("NULL".to_owned()),
        mapping_id(table, file.month.is_some())
    )
}

/// The bounds of a file that its commit knows: of columns without nulls.
fn bounds(table: &TableLife, file: &FileLife) -> Vec<String> {
    let dates = file.dates.map(|(low, high)| ("filed_date", low.to_string(), high.to_string()));
    let month = file.month.clone().map(|month| (MONTH, month.clone(), month));
    let known = dates.into_iter().chain(month);
    known
        .filter_map(|(name, low, high)| {
            let is_it = |shape: &DescribedColumn| shape.name == name && !shape.nullable;
            let column = table.columns.iter().find(|column| is_it(&column.shape))?;
            Some(format!(
                "{}, {}, {}, NULL, {}, 0, '{low}', '{high}', NULL, NULL",
                file.id, table.id, column.id, file.rows
            ))
        })
        .collect()
}

/// The mappings of tables: id, table, and whether `filed_month` is in the path of a file.
fn mappings(all: &Versions) -> Vec<(u64, &TableLife, bool)> {
    let of = |table| [false, true].map(|has_month| (mapping_id(table, has_month), table, has_month));
    let is_used =
        |table: &TableLife, has_month| table.files.iter().any(|file| file.month.is_some() == has_month);
    all.tables.iter().flat_map(of).filter(|(_, table, has_month)| is_used(table, *has_month)).collect()
}

fn mapping_id(table: &TableLife, has_month: bool) -> u64 {
    table.id * 2 + u64::from(has_month)
}

/// Ids and names of all columns that a table ever had, each once.
fn names(table: &TableLife) -> Vec<(u64, &str)> {
    let mut names: Vec<_> =
        table.columns.iter().map(|column| (column.id, column.shape.name.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// First and last snapshot of a row.
fn span(life: Life) -> String {
    format!("{}, {}", life.begin, life.end.map_or("NULL".to_owned(), |end| end.to_string()))
}

/// Writes the statements that insert rows.
fn insert(text: &mut String, table: &str, rows: impl Iterator<Item = String>) -> fmt::Result {
    let rows: Vec<String> = rows.collect();
    for rows in rows.chunks(ROWS) {
        writeln!(text, "INSERT INTO {table} VALUES\n({});", rows.join("),\n("))?;
    }
    Ok(())
}
