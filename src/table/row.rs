//! Converts rows between values and columns. Columns are found by name.
//!
//! A row type declares its columns once, as the fields of a `table_row!`: name, type, and what it says.

use super::column::{Column, ColumnKind, schema_of};
use super::error::TableError;
use super::tables::Table;
use crate::contract::eastern::{day_of_epoch, epoch_days};
use arrow_array::builder::StringBuilder;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, TimestampMicrosecondArray,
};
use jiff::Timestamp;
use jiff::civil::Date;
use std::cmp::Ordering;
use std::sync::Arc;

/// A row of one table, convertible to and from batches of that table's schema.
pub trait Row: Sized {
    /// The table it is a row of.
    const TABLE: Table;
    /// Its columns, in file order.
    const COLUMNS: &'static [Column];

    /// The rows as one batch, in the given order.
    fn batch(rows: &[Self]) -> Result<RecordBatch, TableError>;

    /// The rows of a batch, in its order. Columns are found by name; others are ignored.
    fn rows(batch: &RecordBatch) -> Result<Vec<Self>, TableError>;
}

/// Some columns of a table. The rows that are read of them have default values in the other fields.
pub trait Part {
    /// The rows of the table.
    type Row: Row;

    /// The names of the columns.
    const COLUMNS: &'static [&'static str];

    /// The rows of a batch of these columns, in its order.
    fn rows(batch: &RecordBatch) -> Result<Vec<Self::Row>, TableError>;
}

/// An instant at the disk's precision: microseconds, finer digits cut off.
pub fn disk_instant(instant: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(instant.as_microsecond()).unwrap_or(instant)
}

/// The Rust type of a column's cells.
pub(super) trait Cell: Sized {
    type Column: Array + 'static;
    const KIND: ColumnKind;
    const NULLABLE: bool = false;

    /// The cells as a column; none for null.
    fn column<'a>(cells: impl Iterator<Item = Option<&'a Self>> + Clone) -> Self::Column
    where
        Self: 'a;

    /// One cell of a column; `Err` says what its value is instead.
    fn read(column: &Self::Column, row: usize) -> Result<Self, (String, &'static str)>;
}

impl<T: Cell> Cell for Option<T> {
    type Column = T::Column;
    const KIND: ColumnKind = T::KIND;
    const NULLABLE: bool = true;

    fn column<'a>(cells: impl Iterator<Item = Option<&'a Self>> + Clone) -> Self::Column
    where
        Self: 'a,
    {
        T::column(cells.map(|cell| cell.and_then(Self::as_ref)))
    }

    fn read(column: &Self::Column, row: usize) -> Result<Self, (String, &'static str)> {
        column.is_valid(row).then(|| T::read(column, row)).transpose()
    }
}

macro_rules! plain_cells {
    ($($cell:ty => $column:ty, $kind:ident;)*) => {$(
        impl Cell for $cell {
            type Column = $column;
            const KIND: ColumnKind = ColumnKind::$kind;

            fn column<'a>(cells: impl Iterator<Item = Option<&'a Self>> + Clone) -> Self::Column {
                cells.map(Option::<&Self>::copied).collect()
            }

            fn read(column: &Self::Column, row: usize) -> Result<Self, (String, &'static str)> {
                Ok(column.value(row))
            }
        }
    )*};
}

/// A share or a mean: a float with an order.
#[derive(Debug, Clone, Copy)]
pub struct Ratio(pub f64);

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ratio {}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Cell for Ratio {
    type Column = Float64Array;
    const KIND: ColumnKind = ColumnKind::Double;

    fn column<'a>(cells: impl Iterator<Item = Option<&'a Self>> + Clone) -> Self::Column {
        cells.map(|ratio| ratio.map(|ratio| ratio.0)).collect()
    }

    fn read(column: &Self::Column, row: usize) -> Result<Self, (String, &'static str)> {
        Ok(Self(column.value(row)))
    }
}

plain_cells! {
    i32 => Int32Array, Int32;
    i64 => Int64Array, Int64;
    bool => BooleanArray, Boolean;
}

impl Cell for String {
    type Column = StringArray;
    const KIND: ColumnKind = ColumnKind::Text;

    fn column<'a>(cells: impl Iterator<Item = Option<&'a Self>> + Clone) -> Self::Column {
        // The room is known: texts are copied once.
        let (rows, bytes) = (cells.clone().count(), cells.clone().flatten().map(String::len).sum());
        let mut column = StringBuilder::with_capacity(rows, bytes);
        cells.for_each(|text| column.append_option(text));
        column.finish()
    }

    fn read(column: &Self::Column, row: usize) -> Result<Self, (String, &'static str)> {
        Ok(column.value(row).to_owned())
    }
}

impl Cell for Date {
    type Column = Date32Array;
    const KIND: ColumnKind = ColumnKind::Date;

    fn column<'a>(cells: impl Iterator<Item = Option<&'a Self>> + Clone) -> Self::Column {
        cells.map(|day| day.copied().map(epoch_days)).collect()
    }

    fn read(column: &Self::Column, row: usize) -> Result<Self, (String, &'static str)> {
        let days = column.value(row);
        day_of_epoch(days).ok_or_else(|| (format!("day {days} of the epoch"), "beyond the calendar"))
    }
}

impl Cell for Timestamp {
    type Column = TimestampMicrosecondArray;
    const KIND: ColumnKind = ColumnKind::Timestamp;

    fn column<'a>(cells: impl Iterator<Item = Option<&'a Self>> + Clone) -> Self::Column {
        let micros = cells.map(|instant| instant.map(|instant| instant.as_microsecond()));
        micros.collect::<TimestampMicrosecondArray>().with_timezone("UTC")
    }

    fn read(column: &Self::Column, row: usize) -> Result<Self, (String, &'static str)> {
        let micros = column.value(row);
        Timestamp::from_microsecond(micros)
            .map_err(|_| (format!("{micros} µs of the epoch"), "beyond the calendar"))
    }
}

/// Reads cell by cell the column of this name, its type and nulls checked.
pub(super) fn cells<'a, T: Cell>(
    batch: &'a RecordBatch,
    table: Table,
    name: &'static str,
) -> Result<impl Fn(usize) -> Result<T, TableError> + 'a, TableError> {
    let column: &'a T::Column = column_of::<T>(name, "").of(batch, table)?;
    let value =
        move |row, (value, problem)| TableError::Value { column: name.to_owned(), row, value, problem };
    Ok(move |row| T::read(column, row).map_err(|found| value(row, found)))
}

/// The cells as a column of a batch; the array type follows from the cells' type.
pub(super) fn cell_column<'a, T: Cell + 'a>(cells: impl Iterator<Item = &'a T> + Clone) -> ArrayRef {
    Arc::new(T::column(cells.map(Some)))
}

/// A column with cells of a type.
pub(super) const fn column_of<T: Cell>(name: &'static str, meaning: &'static str) -> Column {
    Column { name, kind: T::KIND, nullable: T::NULLABLE, meaning }
}

/// The columns of a row type, in file order, as a batch of its table.
pub(super) fn batch_of<R: Row>(arrays: Vec<ArrayRef>) -> Result<RecordBatch, TableError> {
    RecordBatch::try_new(schema_of(R::COLUMNS), arrays)
        .map_err(|source| TableError::arrow("build", format!("table {}", R::TABLE.name()), source))
}

/// A row type of a table: its columns in file order, with the names and types of its fields, and what they say.
macro_rules! table_row {
    ($(#[$doc:meta])* $row:ident of $table:ident {
        $($field:ident: $cell:ty = $meaning:expr,)*
    }) => {
        $(#[$doc])*
        ///
        /// [`columns`](crate::table::columns) says what each field means.
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the column dictionary has the meaning of each column")]
        pub struct $row { $(pub $field: $cell,)* }

        impl $crate::table::row::Row for $row {
            const TABLE: $crate::table::tables::Table = $crate::table::tables::Table::$table;
            const COLUMNS: &'static [$crate::table::column::Column] =
                &[$($crate::table::row::column_of::<$cell>(stringify!($field), $meaning)),*];

            fn batch(rows: &[Self]) -> Result<arrow_array::RecordBatch, $crate::table::error::TableError> {
                let arrays = vec![$($crate::table::row::cell_column(rows.iter().map(|row| &row.$field))),*];
                $crate::table::row::batch_of::<Self>(arrays)
            }

            fn rows(
                batch: &arrow_array::RecordBatch,
            ) -> Result<Vec<Self>, $crate::table::error::TableError> {
                $(let $field = $crate::table::row::cells(batch, Self::TABLE, stringify!($field))?;)*
                (0..batch.num_rows()).map(|row| Ok(Self { $($field: $field(row)?),* })).collect()
            }
        }
    };
}

/// Some columns of a row type.
macro_rules! part_of {
    ($(#[$doc:meta])* $part:ident of $row:ident { $($field:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $part;

        impl $crate::table::row::Part for $part {
            type Row = $row;
            const COLUMNS: &'static [&'static str] = &[$(stringify!($field)),*];

            fn rows(
                batch: &arrow_array::RecordBatch,
            ) -> Result<Vec<$row>, $crate::table::error::TableError> {
                let table = <$row as $crate::table::row::Row>::TABLE;
                $(let $field = $crate::table::row::cells(batch, table, stringify!($field))?;)*
                let row = |row| Ok($row { $($field: $field(row)?,)* ..$row::default() });
                (0..batch.num_rows()).map(row).collect()
            }
        }
    };
}

pub(super) use {part_of, table_row};

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::table::business::FilingRow;
    use crate::table::count::DailyCountRow;
    use crate::table::error::TableError;
    use arrow_schema::{Field, Schema};
    use jiff::civil::date;

    /// Claims that rows go to a batch of the table's schema and back, with their columns in any order.
    pub(crate) fn assert_round_trip<R: Row + PartialEq + std::fmt::Debug>(rows: &[R]) {
        let batch = R::batch(rows).expect("a batch");
        assert_eq!(batch.schema(), R::TABLE.schema());
        assert_eq!(R::rows(&batch).expect("rows"), rows);
        let backwards: Vec<usize> = (0..batch.num_columns()).rev().collect();
        let turned = batch.project(&backwards).expect("the same columns");
        assert_eq!(R::rows(&turned).expect("rows by name"), rows);
        assert_eq!(R::rows(&R::batch(&[]).expect("no rows")).expect("no rows"), []);
    }

    #[test]
    fn instants_keep_their_microseconds_to_the_edge_of_the_calendar() {
        let fine: Timestamp = "2026-11-20T12:00:00.123456789Z".parse().expect("an instant");
        assert_eq!(disk_instant(fine).to_string(), "2026-11-20T12:00:00.123456Z");
        assert_eq!(disk_instant(Timestamp::MIN).as_microsecond(), Timestamp::MIN.as_microsecond());
    }

    fn counts(columns: Vec<(&str, ArrayRef)>) -> Result<Vec<DailyCountRow>, TableError> {
        let fields = columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        DailyCountRow::rows(&RecordBatch::try_new(schema, arrays).expect("a batch"))
    }

    #[test]
    fn a_wrong_column_is_named() {
        let days = || Arc::new(Date32Array::from(vec![1])) as ArrayRef;
        let count = || Arc::new(Int64Array::from(vec![5])) as ArrayRef;
        let columns = |day: ArrayRef, count: ArrayRef| {
            counts(vec![("observed_on", days()), ("filed_date", day), ("filings", count)])
        };
        assert_eq!(columns(days(), count()).expect("rows").len(), 1);

        let missing = counts(vec![("observed_on", days()), ("filed_date", days())]).expect_err("no count");
        assert_eq!(missing.to_string(), "table daily_counts has no column filings");
        let narrow = columns(days(), Arc::new(Int32Array::from(vec![5]))).expect_err("a narrow count");
        assert_eq!(narrow.to_string(), "column filings of table daily_counts is Int32, and must be Int64");
        let null = columns(days(), Arc::new(Int64Array::from(vec![None]))).expect_err("a null");
        assert_eq!(
            null.to_string(),
            "column filings of table daily_counts is null in 1 rows, and may not be null"
        );
        let far = columns(Arc::new(Date32Array::from(vec![i32::MAX])), count()).expect_err("no day");
        assert_eq!(
            far.to_string(),
            "column filed_date, row 0: day 2147483647 of the epoch is beyond the calendar"
        );
    }

    #[test]
    fn an_instant_of_another_zone_is_refused() {
        let seen = "2026-11-20T12:00:00Z".parse().expect("an instant");
        let rows = [crate::table::business::tests::filing(1, date(2026, 11, 20), seen)];
        let batch = FilingRow::batch(&rows).expect("a batch");
        let at = batch.schema().index_of("changed_at").expect("a column");
        let mut arrays = batch.columns().to_vec();
        arrays[at] = Arc::new(TimestampMicrosecondArray::from(vec![0]).with_timezone("America/New_York"));
        let fields =
            batch.schema_ref().fields().iter().zip(&arrays).map(|(field, array)| {
                Field::new(field.name(), array.data_type().clone(), field.is_nullable())
            });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let other = RecordBatch::try_new(schema, arrays).expect("a batch");
        let refused = FilingRow::rows(&other).expect_err("another zone").to_string();
        assert!(refused.starts_with("column changed_at of table filings is Timestamp"), "{refused}");
    }
}
