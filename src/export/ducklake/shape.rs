//! The columns of a table in a snapshot, in the types of `DuckLake`: of a table from the column dictionary, of an aggregate from
//! the footer of a file.

use super::super::described::{Described, DescribedColumn, of_aggregate, of_table};
use super::super::error::ExportError;
use crate::lake::{Commit, Lake, TableManifest};
use crate::table::{Footer, Table};
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

/// A column in the words of `DuckLake`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ColumnShape {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) nullable: bool,
    pub(super) meaning: String,
}

/// The column that is only in the path of a file.
pub(super) const MONTH: &str = "filed_month";

/// Shapes of the tables of many snapshots. The footer of an aggregate is read once for each of its SQL texts.
pub(super) struct Shapes<'a> {
    lake: &'a Lake,
    aggregates: BTreeMap<(String, String), Option<Shape>>,
}

impl<'a> Shapes<'a> {
    pub(super) const fn new(lake: &'a Lake) -> Self {
        Self { lake, aggregates: BTreeMap::new() }
    }

    /// The tables of a snapshot that have a file, by name. An aggregate whose file is damaged is left out.
    pub(super) fn of(&mut self, commit: &Commit) -> Result<BTreeMap<String, Shape>, ExportError> {
        let mut shapes = BTreeMap::new();
        for (name, manifest) in commit.tables.iter().filter(|(_, manifest)| !manifest.files.is_empty()) {
            let shape = match Table::from_name(name) {
                Some(table) => Some(Shape::of(of_table(table, manifest))),
                None => self.of_aggregate(commit, name, manifest)?,
            };
            shapes.extend(shape.map(|shape| (name.clone(), shape)));
        }
        Ok(shapes)
    }

    fn of_aggregate(
        &mut self,
        commit: &Commit,
        name: &str,
        manifest: &TableManifest,
    ) -> Result<Option<Shape>, ExportError> {
        let sql = &commit.state["aggregates"][name.strip_prefix("agg_").unwrap_or(name)];
        let text = sql.as_str().or(manifest.files.first().map(|file| file.blake3.as_str()));
        let key = (name.to_owned(), text.unwrap_or_default().to_owned());
        if !self.aggregates.contains_key(&key) {
            let paths = self.lake.open_snapshot(commit).paths(name)?;
            let footer = paths.first().and_then(|path| Footer::open(path).ok());
            let shape = footer.map(|footer| Shape::of(of_aggregate(name, &footer, manifest)));
            self.aggregates.insert(key.clone(), shape);
        }
        Ok(self.aggregates[&key].clone())
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
