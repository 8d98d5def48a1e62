//! The columns of a table in a snapshot, in the types of DuckLake: from the column dictionary; of an aggregate, and of a snapshot
//! with other columns, from the footer of a file.

use super::super::described::{Described, DescribedColumn, has_months, of_footer, of_table};
use super::super::error::ExportError;
use crate::lake::{Commit, Lake, TableManifest};
use crate::table::{Footer, SCHEMA_VERSION, Table};
use arrow::datatypes::DataType;
use std::collections::BTreeMap;

/// What a table is in a snapshot, but for its rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    /// What a row is.
    pub(super) about: String,
    /// Its columns in order, `filed_month` of the path last.
    pub(super) columns: Vec<ColumnShape>,
    /// Whether `filed_month` is part of the path.
    pub(super) is_partitioned: bool,
}

/// A column in the words of DuckLake.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ColumnShape {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) nullable: bool,
    pub(super) meaning: String,
}

/// The column that is only in the path of a file.
pub(super) const MONTH: &str = "filed_month";

/// Shapes of the tables of many snapshots. A footer is read once for each SQL text of an aggregate, and for each version of the
/// schema of a table.
pub(super) struct Shapes<'a> {
    lake: &'a Lake,
    of_footers: BTreeMap<(String, String), Option<Shape>>,
}

impl<'a> Shapes<'a> {
    pub(super) const fn new(lake: &'a Lake) -> Self {
        Self { lake, of_footers: BTreeMap::new() }
    }

    /// The tables of a snapshot that have a file, by name. One whose footer is damaged is left out.
    pub(super) fn of(&mut self, commit: &Commit) -> Result<BTreeMap<String, Shape>, ExportError> {
        let mut shapes = BTreeMap::new();
        for (name, manifest) in commit.tables.iter().filter(|(_, manifest)| !manifest.files.is_empty()) {
            let shape = match Table::from_name(name) {
                Some(table) if commit.schema_version == SCHEMA_VERSION => {
                    Some(Shape::of(of_table(table, manifest)))
                }
                table => self.of_footer(commit, name, table, manifest)?,
            };
            shapes.extend(shape.map(|shape| (name.clone(), shape)));
        }
        Ok(shapes)
    }

    fn of_footer(
        &mut self,
        commit: &Commit,
        name: &str,
        table: Option<Table>,
        manifest: &TableManifest,
    ) -> Result<Option<Shape>, ExportError> {
        let sql = commit.state["aggregates"][name.strip_prefix("agg_").unwrap_or(name)].as_str();
        let version = match (table, sql) {
            (Some(_), _) => format!("{} {}", commit.schema_version, has_months(manifest)),
            (None, Some(sql)) => sql.to_owned(),
            (None, None) => manifest.files.first().map(|file| file.blake3.clone()).unwrap_or_default(),
        };
        let key = (name.to_owned(), version);
        if !self.of_footers.contains_key(&key) {
            let paths = self.lake.open_snapshot(commit).paths(name)?;
            let footer = paths.first().and_then(|path| Footer::open(path).ok());
            let described = footer.map(|footer| {
                let found = of_footer(name, &footer, manifest);
                let about = table.map_or(found.about, |table| table.meaning().to_owned());
                Described { about, ..found }
            });
            self.of_footers.insert(key.clone(), described.map(Shape::of));
        }
        Ok(self.of_footers[&key].clone())
    }
}

impl Shape {
    fn of(table: Described) -> Self {
        let mut columns: Vec<ColumnShape> = table.columns.into_iter().map(ColumnShape::of).collect();
        if table.is_partitioned {
            let meaning = "month of filed_date, YYYY-MM".to_owned();
            columns.push(ColumnShape { name: MONTH.to_owned(), kind: "varchar", nullable: false, meaning });
        }
        Self { about: table.about, columns, is_partitioned: table.is_partitioned }
    }
}

impl ColumnShape {
    fn of(column: DescribedColumn) -> Self {
        let kind = match column.kind {
            DataType::Int32 => "int32",
            DataType::Int64 => "int64",
            DataType::Float64 => "float64",
            DataType::Boolean => "boolean",
            DataType::Date32 => "date",
            DataType::Timestamp(..) => "timestamptz",
            _ => "varchar",
        };
        Self { name: column.name, kind, nullable: column.nullable, meaning: column.meaning }
    }
}
