//! `pipelines/catalogs/dbt_sources.yml`: tables and aggregates as sources of dbt, with their descriptions.

use super::page::{files_of, project, same};
use super::tables::AggregateHead;
use sunlake::export::pattern_expression;
use sunlake::table::{ColumnKind, Table, columns};

const HEAD: &str = "\
# Sources for dbt with its adapter for DuckDB (dbt-duckdb): the newest snapshot of a lake. Copy this file into `models/`.
# SUNLAKE_LAKE is the path of the lake. For a bucket, or for older snapshots, attach a DuckLake catalogue: docs/guides/exports.md.
# Generated: SUNLAKE_BLESS=1 cargo test reference_pages. Do not edit.

version: 2
sources:
  - name: sunlake
    description: Florida business filings, from a lake of sunlake.
    tables:
";

/// A text in YAML: JSON's strings are YAML's. Braces would be filled in by dbt.
fn text(words: &str) -> String {
    let words = words.replace("{{", "{ {").replace("[`", "`").replace("`]", "`");
    serde_json::to_string(&words).expect("a string")
}

/// The head of a source's entry: `files` is the pattern of its files, and `options` how they are read.
fn entry(name: &str, about: &str, files: &str, options: &str) -> String {
    let lake = pattern_expression(r#"'{{ env_var('SUNLAKE_LAKE', 'output') | replace("'", "''") }}'"#);
    let location = format!("read_parquet({lake} || '/current/{name}/{files}', {options})");
    format!(
        "      - name: {name}\n        description: {}\n        meta:\n          external_location: {}\n        columns:\n",
        text(about),
        serde_json::to_string(&location).expect("a string")
    )
}

fn column(name: &str, kind: Option<&str>, meaning: &str) -> String {
    let kind = kind.map(|kind| format!("            data_type: {kind}\n")).unwrap_or_default();
    format!("          - name: {name}\n{kind}            description: {}\n", text(meaning))
}

/// A type by its name in DuckDB.
const fn kind(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Int32 => "integer",
        ColumnKind::Int64 => "bigint",
        ColumnKind::Text => "varchar",
        ColumnKind::Boolean => "boolean",
        ColumnKind::Double => "double",
        ColumnKind::Date => "date",
        ColumnKind::Timestamp => "timestamptz",
    }
}

#[test]
fn dbt_sources_are_the_tables_and_aggregates() {
    let mut page = HEAD.to_owned();
    for table in Table::ALL {
        let is_partitioned = table.is_partitioned();
        let (files, options) = match is_partitioned {
            true => ("**/*.parquet", "hive_partitioning = true, hive_types_autocast = false"),
            false => ("**/*.parquet", "hive_partitioning = false"),
        };
        page.push_str(&entry(table.name(), table.meaning(), files, options));
        for of in columns(table) {
            page.push_str(&column(of.name, Some(kind(of.kind)), of.meaning));
        }
        if is_partitioned {
            page.push_str(&column("filed_month", Some("varchar"), "month of filed_date, YYYY-MM"));
        }
    }
    for file in files_of(&project().join("pipelines/aggregates"), "sql") {
        let name = file.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let head = AggregateHead::of(&std::fs::read_to_string(&file).expect("SQL"));
        page.push_str(&entry(
            &format!("agg_{name}"),
            &head.question,
            "*.parquet",
            "hive_partitioning = false",
        ));
        for (name, meaning) in &head.columns {
            page.push_str(&column(name, None, meaning));
        }
    }
    same(&project().join("pipelines/catalogs/dbt_sources.yml"), &page);
}
