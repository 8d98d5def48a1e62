//! The columns of a table in a snapshot: from the column dictionary; of an aggregate, and of a snapshot
//! with other columns, from the footer of a file.

use super::super::described::{Described, DescribedColumn, has_months, of_footer, of_table};
use super::super::error::ExportError;
use crate::lake::{Commit, Lake, TableManifest};
use crate::table::{Footer, SCHEMA_VERSION, Table};
use arrow_schema::DataType;
use std::collections::BTreeMap;

/// The column that is only in the path of a file.
pub(super) const MONTH: &str = "filed_month";

/// Shapes of the tables of many snapshots. A footer is read once for each SQL text of an aggregate, and for each version of the
/// schema of a table.
pub(super) struct Shapes<'a> {
    lake: &'a Lake,
    of_footers: BTreeMap<(String, String), Option<Described>>,
}

impl<'a> Shapes<'a> {
    pub(super) const fn new(lake: &'a Lake) -> Self {
        Self { lake, of_footers: BTreeMap::new() }
    }

    /// The tables of a snapshot that have a file, by name. One whose footer is damaged is left out.
    pub(super) fn of(&mut self, commit: &Commit) -> Result<BTreeMap<String, Described>, ExportError> {
        let mut shapes = BTreeMap::new();
        for (name, manifest) in commit.tables.iter().filter(|(_, manifest)| !manifest.files.is_empty()) {
            let shape = match Table::from_name(name) {
                Some(table) if commit.schema_version == SCHEMA_VERSION => Some(of_table(table, manifest)),
                table => self.of_footer(commit, name, table, manifest)?,
            };
            shapes.extend(shape.map(|shape| (name.clone(), with_month(shape))));
        }
        Ok(shapes)
    }

    fn of_footer(
        &mut self,
        commit: &Commit,
        name: &str,
        table: Option<Table>,
        manifest: &TableManifest,
    ) -> Result<Option<Described>, ExportError> {
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
            self.of_footers.insert(key.clone(), described);
        }
        Ok(self.of_footers[&key].clone())
    }
}

/// The table with the column of its path, last.
fn with_month(mut table: Described) -> Described {
    if table.is_partitioned {
        let (name, meaning) = (MONTH.to_owned(), "month of filed_date, YYYY-MM".to_owned());
        table.columns.push(DescribedColumn { name, kind: DataType::Utf8, nullable: false, meaning });
    }
    table
}
