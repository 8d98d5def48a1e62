//! The catalogue as an SQL script for DuckDB: the tables of the specification, then their rows.

use super::super::described::{quoted, text_of};
use super::super::error::ExportError;
use super::super::replaceable::snapshot_table;
use super::life::{FileLife, Life, TableLife, uuid};
use super::shape::MONTH;
use super::versions::{Versions, versions};
use crate::lake::{Commit, Lake};
use std::fmt::{self, Write};

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
            "-- A DuckLake 1.0 catalogue of {lake} up to snapshot {}: no row is copied.",
            newest.snapshot
        )?;
        writeln!(text, "-- Make it in a new file:  duckdb florida.ducklake < ducklake.sql")?;
        writeln!(
            text,
            "-- Read it:  ATTACH 'ducklake:florida.ducklake' AS fl (READ_ONLY); FROM fl.filings AT (VERSION => 1);"
        )?;
        let data_path = data_path(lake, text)?;
        writeln!(text, "BEGIN;")?;
        for (name, columns) in TABLES {
            writeln!(text, "CREATE TABLE {name}({columns});")?;
        }
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
    let absolute = std::path::absolute(lake.root()).unwrap_or_else(|_| lake.root().to_owned());
    Ok(format!("coalesce(getvariable('lake'), {}) || '/'", quoted(&absolute.display().to_string())))
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
        Some(format!("{id}, {}, 0, {}, 'identity'", table.id, column_id(table, MONTH)?))
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
            shape.kind,
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
            let is_it = |shape: &super::shape::ColumnShape| shape.name == name && !shape.nullable;
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

fn column_id(table: &TableLife, name: &str) -> Option<u64> {
    table.columns.iter().find(|column| column.shape.name == name).map(|column| column.id)
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

/// The tables of the specification.
pub(super) const TABLES: [(&str, &str); 28] = [
    ("ducklake_metadata", "key VARCHAR NOT NULL, value VARCHAR NOT NULL, scope VARCHAR, scope_id BIGINT"),
    (
        "ducklake_snapshot",
        "snapshot_id BIGINT PRIMARY KEY, snapshot_time TIMESTAMPTZ, schema_version BIGINT, next_catalog_id BIGINT, next_file_id BIGINT",
    ),
    (
        "ducklake_snapshot_changes",
        "snapshot_id BIGINT PRIMARY KEY, changes_made VARCHAR, author VARCHAR, commit_message VARCHAR, commit_extra_info VARCHAR",
    ),
    (
        "ducklake_schema",
        "schema_id BIGINT PRIMARY KEY, schema_uuid UUID, begin_snapshot BIGINT, end_snapshot BIGINT, schema_name VARCHAR, path VARCHAR, path_is_relative BOOLEAN",
    ),
    (
        "ducklake_table",
        "table_id BIGINT, table_uuid UUID, begin_snapshot BIGINT, end_snapshot BIGINT, schema_id BIGINT, table_name VARCHAR, path VARCHAR, path_is_relative BOOLEAN",
    ),
    (
        "ducklake_column",
        "column_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, table_id BIGINT, column_order BIGINT, column_name VARCHAR, column_type VARCHAR, initial_default VARCHAR, default_value VARCHAR, nulls_allowed BOOLEAN, parent_column BIGINT, default_value_type VARCHAR, default_value_dialect VARCHAR",
    ),
    ("ducklake_column_mapping", "mapping_id BIGINT, table_id BIGINT, type VARCHAR"),
    (
        "ducklake_column_tag",
        "table_id BIGINT, column_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, key VARCHAR, value VARCHAR",
    ),
    (
        "ducklake_data_file",
        "data_file_id BIGINT PRIMARY KEY, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, file_order BIGINT, path VARCHAR, path_is_relative BOOLEAN, file_format VARCHAR, record_count BIGINT, file_size_bytes BIGINT, footer_size BIGINT, row_id_start BIGINT, partition_id BIGINT, encryption_key VARCHAR, mapping_id BIGINT, partial_max BIGINT",
    ),
    (
        "ducklake_delete_file",
        "delete_file_id BIGINT PRIMARY KEY, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, data_file_id BIGINT, path VARCHAR, path_is_relative BOOLEAN, format VARCHAR, delete_count BIGINT, file_size_bytes BIGINT, footer_size BIGINT, encryption_key VARCHAR, partial_max BIGINT",
    ),
    (
        "ducklake_file_column_stats",
        "data_file_id BIGINT, table_id BIGINT, column_id BIGINT, column_size_bytes BIGINT, value_count BIGINT, null_count BIGINT, min_value VARCHAR, max_value VARCHAR, contains_nan BOOLEAN, extra_stats VARCHAR",
    ),
    (
        "ducklake_file_partition_value",
        "data_file_id BIGINT, table_id BIGINT, partition_key_index BIGINT, partition_value VARCHAR",
    ),
    (
        "ducklake_file_variant_stats",
        "data_file_id BIGINT, table_id BIGINT, column_id BIGINT, variant_path VARCHAR, shredded_type VARCHAR, column_size_bytes BIGINT, value_count BIGINT, null_count BIGINT, min_value VARCHAR, max_value VARCHAR, contains_nan BOOLEAN, extra_stats VARCHAR",
    ),
    (
        "ducklake_files_scheduled_for_deletion",
        "data_file_id BIGINT, path VARCHAR, path_is_relative BOOLEAN, schedule_start TIMESTAMPTZ",
    ),
    ("ducklake_inlined_data_tables", "table_id BIGINT, table_name VARCHAR, schema_version BIGINT"),
    (
        "ducklake_macro",
        "schema_id BIGINT, macro_id BIGINT, macro_name VARCHAR, begin_snapshot BIGINT, end_snapshot BIGINT",
    ),
    ("ducklake_macro_impl", "macro_id BIGINT, impl_id BIGINT, dialect VARCHAR, sql VARCHAR, type VARCHAR"),
    (
        "ducklake_macro_parameters",
        "macro_id BIGINT, impl_id BIGINT, column_id BIGINT, parameter_name VARCHAR, parameter_type VARCHAR, default_value VARCHAR, default_value_type VARCHAR",
    ),
    (
        "ducklake_name_mapping",
        "mapping_id BIGINT, column_id BIGINT, source_name VARCHAR, target_field_id BIGINT, parent_column BIGINT, is_partition BOOLEAN",
    ),
    (
        "ducklake_partition_column",
        "partition_id BIGINT, table_id BIGINT, partition_key_index BIGINT, column_id BIGINT, transform VARCHAR",
    ),
    (
        "ducklake_partition_info",
        "partition_id BIGINT, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT",
    ),
    ("ducklake_schema_versions", "begin_snapshot BIGINT, schema_version BIGINT, table_id BIGINT"),
    (
        "ducklake_sort_expression",
        "sort_id BIGINT, table_id BIGINT, sort_key_index BIGINT, expression VARCHAR, dialect VARCHAR, sort_direction VARCHAR, null_order VARCHAR",
    ),
    ("ducklake_sort_info", "sort_id BIGINT, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT"),
    (
        "ducklake_table_column_stats",
        "table_id BIGINT, column_id BIGINT, contains_null BOOLEAN, contains_nan BOOLEAN, min_value VARCHAR, max_value VARCHAR, extra_stats VARCHAR",
    ),
    (
        "ducklake_table_stats",
        "table_id BIGINT, record_count BIGINT, next_row_id BIGINT, file_size_bytes BIGINT",
    ),
    (
        "ducklake_tag",
        "object_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, key VARCHAR, value VARCHAR",
    ),
    (
        "ducklake_view",
        "view_id BIGINT, view_uuid UUID, begin_snapshot BIGINT, end_snapshot BIGINT, schema_id BIGINT, view_name VARCHAR, dialect VARCHAR, sql VARCHAR, column_aliases VARCHAR",
    ),
];
