//! Rows of `filings` from borrowed texts, written column by column: a copy of each text costs more than all else of a row.

use super::business::FilingRow;
use super::error::TableError;
use super::row::batch_of;
use crate::contract::eastern::epoch_days;
use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Date32Builder, Int64Builder, StringBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use jiff::Timestamp;
use jiff::civil::Date;
use std::sync::Arc;

/// A column under construction.
trait Column {
    /// The cells so far; the column is empty again.
    fn take(&mut self) -> ArrayRef;
}

/// A column with cells of a type.
trait ColumnOf<T>: Column {
    fn push(&mut self, cell: T);
}

macro_rules! columns {
    ($($builder:ident of $cell:ty: |$cell_name:ident| $value:expr, |$array:ident| $taken:expr;)*) => {$(
        impl Column for $builder {
            fn take(&mut self) -> ArrayRef {
                let $array = self.finish();
                Arc::new($taken)
            }
        }

        impl ColumnOf<$cell> for $builder {
            fn push(&mut self, $cell_name: $cell) {
                self.append_value($value);
            }
        }

        impl ColumnOf<Option<$cell>> for $builder {
            fn push(&mut self, cell: Option<$cell>) {
                self.append_option(cell.map(|$cell_name| $value));
            }
        }
    )*};
}

columns! {
    Int64Builder of i64: |number| number, |array| array;
    StringBuilder of &str: |text| text, |array| array;
    BooleanBuilder of bool: |is| is, |array| array;
    Date32Builder of Date: |day| epoch_days(day), |array| array;
    TimestampMicrosecondBuilder of Timestamp: |at| at.as_microsecond(), |array| array.with_timezone("UTC");
}

macro_rules! filing_batch {
    ($($field:ident: $cell:ty => $builder:ident, $read:ident;)*) => {
        /// A [`FilingRow`] with borrowed texts.
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct FilingText<'a> { $(pub(crate) $field: $cell,)* }

        impl<'a> From<&'a FilingRow> for FilingText<'a> {
            fn from(row: &'a FilingRow) -> Self {
                Self { $($field: row.$field.$read(),)* }
            }
        }

        /// Rows that become a batch.
        #[derive(Debug, Default)]
        pub(crate) struct FilingBatch { $($field: $builder,)* }

        impl FilingBatch {
            pub(crate) fn len(&self) -> usize {
                self.business_id.len()
            }

            pub(crate) fn push(&mut self, row: &FilingText<'_>) {
                $(self.$field.push(row.$field);)*
            }

            /// The rows so far; it is empty again.
            pub(crate) fn take(&mut self) -> Result<RecordBatch, TableError> {
                batch_of::<FilingRow>(vec![$(self.$field.take()),*])
            }
        }
    };
}

// In the order of the columns of `FilingRow`.
filing_batch! {
    business_id: i64 => Int64Builder, clone;
    document_number: &'a str => StringBuilder, as_str;
    name: &'a str => StringBuilder, as_str;
    entity_type: &'a str => StringBuilder, as_str;
    company_type: &'a str => StringBuilder, as_str;
    status: &'a str => StringBuilder, as_str;
    filed_date: Date => Date32Builder, clone;
    dissolved_date: Option<Date> => Date32Builder, clone;
    city: &'a str => StringBuilder, as_str;
    city_clean: &'a str => StringBuilder, as_str;
    zip: &'a str => StringBuilder, as_str;
    county: Option<&'a str> => StringBuilder, as_deref;
    county_key: Option<&'a str> => StringBuilder, as_deref;
    industry_sector: &'a str => StringBuilder, as_str;
    industry_type: &'a str => StringBuilder, as_str;
    url: &'a str => StringBuilder, as_str;
    source: &'a str => StringBuilder, as_str;
    listed: bool => BooleanBuilder, clone;
    first_seen_at: Timestamp => TimestampMicrosecondBuilder, clone;
    changed_at: Timestamp => TimestampMicrosecondBuilder, clone;
    extra: Option<&'a str> => StringBuilder, as_deref;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::filing;
    use crate::table::row::Row;
    use jiff::civil::date;

    #[test]
    fn a_batch_of_texts_is_the_batch_of_its_rows() {
        let plain = filing(1, date(2026, 11, 20), Timestamp::UNIX_EPOCH);
        let full = FilingRow {
            dissolved_date: Some(date(2026, 11, 21)),
            county: None,
            county_key: None,
            extra: Some("{}".to_owned()),
            listed: false,
            ..plain.clone()
        };
        let mut batch = FilingBatch::default();
        for rows in [&[plain.clone(), full.clone()][..], &[full], &[]] {
            rows.iter().for_each(|row| batch.push(&row.into()));
            assert_eq!(batch.len(), rows.len());
            assert_eq!(batch.take().expect("a batch"), FilingRow::batch(rows).expect("a batch"));
        }
    }
}
