//! The lake's tables: key, partition, order, columns. The only floor that knows Arrow schemas.
//!
//! [`columns`] is the one column dictionary; everything that describes a table (schema, checks,
//! catalogue, documentation) is derived from it.
//!
//! A row type ([`FilingRow`] and its like) is a [`Row`]: it goes to a batch of its table and back. Batches go to files
//! through [`ParquetFile`] and come back through [`read_table`].

mod business;
mod change;
mod column;
mod count;
mod coverage;
mod error;
mod file;
mod filing_columns;
mod footer;
mod layout;
mod officer;
mod order;
mod read;
mod reference;
mod row;

#[cfg(test)]
pub(crate) use business::tests::filing;
pub use business::{DetailRow, FilingRow, dissolved_day};
pub use change::{Change, ChangeRow};
pub use column::{Column, ColumnKind, columns};
pub use count::{ALL_TYPES, CountyRow, DailyCountRow, MonthlyCountRow, StatewideRow, TypeCountRow};
pub use coverage::{CoverageRow, EVERY_OTHER_TYPE};
pub use error::TableError;
#[cfg(test)]
pub(crate) use file::tests::write_rows;
pub use file::{ABOUT_KEY, ParquetFile, ROW_GROUP_ROWS, SCHEMA_VERSION_KEY, Sink, WrittenFile};
pub use filing_columns::FilingColumns;
pub(crate) use filing_columns::typed_column;
pub use footer::{Bounds, Footer, Span};
pub use layout::{FileLayout, check_schema};
pub use officer::OfficerRow;
pub use order::sort_batch;
pub use read::{ParquetRows, read_parquet, read_rows, read_table, read_whole};
pub use reference::{EntityTypeRow, IndustryTypeRow, SegmentRow, industries};
pub use row::{Row, disk_instant};

use arrow::datatypes::{Field, Schema, SchemaRef};
use std::sync::Arc;

/// Version of all table schemas together; written into every file and every commit.
pub const SCHEMA_VERSION: u32 = 1;

/// A table of the lake, aggregates apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// One row a business, the newest observation.
    Filings,
    /// What a look-up of one business adds.
    Details,
    /// Officers of looked-up businesses.
    Officers,
    /// What appeared, changed, vanished, returned.
    Changes,
    /// The API's own count of each day, by the day it was asked.
    DailyCounts,
    /// The API's own counts of each county, by the day they were asked.
    Counties,
    /// The API's own monthly counts, by the day they were asked.
    MonthlyCounts,
    /// The API's own statewide figures, by the day they were asked.
    Statewide,
    /// The API's own split by type of the last 30 days, by the day it was asked.
    TypeSplit,
    /// Sectors and industry types.
    IndustryTypes,
    /// Segments and what they hold.
    IndustrySegments,
    /// Entity types and labels.
    EntityTypes,
    /// How complete each day is.
    Coverage,
}

impl Table {
    /// All tables, in the order they are documented.
    pub const ALL: [Self; 13] = [
        Self::Filings,
        Self::Details,
        Self::Officers,
        Self::Changes,
        Self::DailyCounts,
        Self::Counties,
        Self::MonthlyCounts,
        Self::Statewide,
        Self::TypeSplit,
        Self::IndustryTypes,
        Self::IndustrySegments,
        Self::EntityTypes,
        Self::Coverage,
    ];

    /// Folder name of the table in a snapshot.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Filings => "filings",
            Self::Details => "details",
            Self::Officers => "officers",
            Self::Changes => "changes",
            Self::DailyCounts => "daily_counts",
            Self::Counties => "counties",
            Self::MonthlyCounts => "monthly_counts",
            Self::Statewide => "statewide",
            Self::TypeSplit => "type_split",
            Self::IndustryTypes => "industry_types",
            Self::IndustrySegments => "industry_segments",
            Self::EntityTypes => "entity_types",
            Self::Coverage => "coverage",
        }
    }

    /// What a row of it says.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Filings => "One row a business, the newest observation.",
            Self::Details => "What a look-up of one business adds.",
            Self::Officers => "Officers of looked-up businesses.",
            Self::Changes => "What appeared, changed, vanished, returned.",
            Self::DailyCounts => "The API's own count of each day, by the day it was asked.",
            Self::Counties => "The API's own counts of each county, by the day they were asked.",
            Self::MonthlyCounts => "The API's own monthly counts, by the day they were asked.",
            Self::Statewide => "The API's own statewide figures, by the day they were asked.",
            Self::TypeSplit => "The API's own split by type of the last 30 days, by the day it was asked.",
            Self::IndustryTypes => "Sectors and industry types.",
            Self::IndustrySegments => "Segments and what they hold.",
            Self::EntityTypes => "Entity types and labels.",
            Self::Coverage => "How complete each day is.",
        }
    }

    /// The table of a folder name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }

    /// Columns that together name a row; no two rows of a table share them, none of them is null.
    pub const fn key(self) -> &'static [&'static str] {
        match self {
            Self::Filings | Self::Details => &["business_id"],
            Self::Officers => &["business_id", "position"],
            Self::Changes => &["run_id", "business_id", "change", "field"],
            Self::DailyCounts => &["observed_on", "date"],
            Self::Counties => &["observed_on", "key"],
            Self::MonthlyCounts => &["observed_on", "month", "type"],
            Self::Statewide => &["observed_on"],
            Self::TypeSplit => &["observed_on", "type"],
            Self::IndustryTypes => &["observed_on", "sector", "type"],
            Self::IndustrySegments => &["observed_on", "segment", "kind", "member"],
            Self::EntityTypes => &["observed_on", "key"],
            Self::Coverage => &["filed_date", "entity_type"],
        }
    }

    /// Sort order in a file: column and whether it descends. It holds the whole key, so that rows have one order.
    pub const fn sort(self) -> &'static [(&'static str, bool)] {
        match self {
            Self::Filings => &[("filed_date", true), ("business_id", true)],
            Self::Details => &[("business_id", true)],
            Self::Officers => &[("business_id", true), ("position", false)],
            Self::Changes => &[
                ("observed_at", true),
                ("business_id", true),
                ("change", false),
                ("field", false),
                ("run_id", false),
            ],
            Self::DailyCounts => &[("observed_on", true), ("date", true)],
            Self::Counties => &[("observed_on", true), ("key", false)],
            Self::MonthlyCounts => &[("observed_on", true), ("month", true), ("type", false)],
            Self::Statewide => &[("observed_on", true)],
            Self::TypeSplit => &[("observed_on", true), ("type", false)],
            Self::IndustryTypes => &[("observed_on", true), ("sector", false), ("type", false)],
            Self::IndustrySegments => {
                &[("observed_on", true), ("segment", false), ("kind", false), ("member", false)]
            }
            Self::EntityTypes => &[("observed_on", true), ("key", false)],
            Self::Coverage => &[("filed_date", true), ("entity_type", false)],
        }
    }

    /// Columns with a bloom filter.
    pub const fn bloom(self) -> &'static [&'static str] {
        match self {
            Self::Filings => &["business_id", "document_number"],
            Self::Details | Self::Officers => &["business_id"],
            _ => &[],
        }
    }

    /// Columns whose values hardly repeat.
    pub const fn distinct(self) -> &'static [&'static str] {
        match self {
            Self::Filings => &["business_id", "id", "document_number", "name", "url"],
            Self::Officers => &["business_id", "name"],
            Self::Details | Self::Changes => &["business_id"],
            _ => &[],
        }
    }

    /// Whether the table is partitioned by `filed_month`, which then stands in the path alone.
    pub const fn is_partitioned(self) -> bool {
        matches!(self, Self::Filings)
    }

    /// The Arrow schema of every file of the table.
    pub fn schema(self) -> SchemaRef {
        let fields: Vec<Field> = columns(self)
            .iter()
            .map(|column| Field::new(column.name, column.kind.data_type(), column.nullable))
            .collect();
        Arc::new(Schema::new(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sorts_and_blooms_name_columns_and_no_key_is_nullable() {
        for table in Table::ALL {
            let schema = table.schema();
            for name in table.key() {
                let field = schema.field_with_name(name).expect("a key names a column");
                assert!(!field.is_nullable(), "{}.{name}", table.name());
            }
            for (name, _) in table.sort() {
                let field = schema.field_with_name(name).expect("an order names a column");
                assert!(!field.is_nullable(), "{}.{name}", table.name());
            }
            for name in table.key() {
                assert!(table.sort().iter().any(|(by, _)| by == name), "{} by {name}", table.name());
            }
            for name in table.bloom().iter().chain(table.distinct()) {
                assert!(schema.field_with_name(name).is_ok(), "{}.{name}", table.name());
            }
        }
    }
}
