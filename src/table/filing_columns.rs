//! Columns of a batch by name and type: the one way to read a table column by column.

use super::dictionary::columns;
use super::error::TableError;
use super::tables::Table;
use arrow_array::{
    Array, BooleanArray, Date32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};

/// A column of a batch as an array of its table's type.
///
/// # Errors
///
/// [`TableError::Schema`] for a column that is missing or has another type, and for a null in a column that has none.
pub(crate) fn typed_column<'a, A: Array + 'static>(
    batch: &'a RecordBatch,
    table: Table,
    name: &'static str,
) -> Result<&'a A, TableError> {
    let known = columns(table).iter().find(|column| column.name == name);
    let missing = || TableError::no_column(format!("table {}", table.name()), name);
    known.ok_or_else(missing)?.of(batch, table)
}

/// A batch of `filings`, all columns or some. Each method returns one column.
#[derive(Debug, Clone, Copy)]
pub struct FilingColumns<'a>(&'a RecordBatch);

impl<'a> FilingColumns<'a> {
    /// The columns of `batch`. Nothing is checked before a column is asked for.
    pub const fn new(batch: &'a RecordBatch) -> Self {
        Self(batch)
    }

    /// Number of rows.
    pub fn rows(self) -> usize {
        self.0.num_rows()
    }
}

macro_rules! filing_columns {
    ($($name:ident: $array:ty),* $(,)?) => {
        impl<'a> FilingColumns<'a> {$(
            #[doc = concat!("Column `", stringify!($name), "`.\n\n# Errors\n\nThe column is missing, or has another type.")]
            pub fn $name(self) -> Result<&'a $array, TableError> {
                typed_column(self.0, Table::Filings, stringify!($name))
            }
        )*}
    };
}

filing_columns! {
    business_id: Int64Array,
    document_number: StringArray,
    name: StringArray,
    entity_type: StringArray,
    status: StringArray,
    filed_date: Date32Array,
    dissolved_date: Date32Array,
    city: StringArray,
    zip: StringArray,
    industry_sector: StringArray,
    industry_type: StringArray,
    listed: BooleanArray,
    first_seen_at: TimestampMicrosecondArray,
    changed_at: TimestampMicrosecondArray,
    extra: StringArray,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::business::tests::filing;
    use crate::table::{FilingRow, Row};
    use jiff::Timestamp;
    use jiff::civil::date;

    #[test]
    fn every_method_returns_the_column_of_its_name_and_a_missing_one_is_an_error() {
        let rows = [filing(7, date(2026, 11, 20), Timestamp::UNIX_EPOCH)];
        let batch = FilingRow::batch(&rows).expect("a batch");
        let filings = FilingColumns::new(&batch);
        assert_eq!(filings.rows(), 1);
        assert_eq!(filings.business_id().expect("a column").value(0), 7);
        for texts in [
            filings.name(),
            filings.entity_type(),
            filings.status(),
            filings.city(),
            filings.zip(),
            filings.industry_sector(),
            filings.industry_type(),
        ] {
            assert_eq!(texts.expect("a column").null_count(), 0);
        }
        assert_eq!(filings.filed_date().expect("a column").value(0), 20_777);
        assert!(filings.dissolved_date().expect("a column").is_null(0));
        assert!(filings.listed().expect("a column").value(0));
        for instants in [filings.first_seen_at(), filings.changed_at()] {
            assert_eq!(instants.expect("a column").value(0), 0);
        }
        let ids = batch.project(&[0]).expect("one column");
        let error = FilingColumns::new(&ids).listed().expect_err("no such column");
        assert_eq!(error.to_string(), "table filings has no column listed");
    }
}
