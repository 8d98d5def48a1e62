//! One value of a column that a file of the lake can have.

use super::error::TableError;
use crate::contract::eastern::day_of_epoch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::DataType;
use jiff::Timestamp;
use jiff::civil::Date;
use std::fmt::{Display, Formatter};

/// A value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// A text.
    Text(&'a str),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Double(f64),
    /// True or false.
    Flag(bool),
    /// A day.
    Day(Date),
    /// An instant, to the microsecond.
    Instant(Timestamp),
}

/// Returns the value of a row; none for null.
///
/// # Errors
/// No table of a lake has columns of this type, or the value is beyond the years −9999 to 9999.
pub fn cell(column: &dyn Array, row: usize) -> Result<Option<Cell<'_>>, TableError> {
    if column.is_null(row) {
        return Ok(None);
    }
    let found = match column.data_type() {
        DataType::Utf8 => Some(Cell::Text(column.as_string::<i32>().value(row))),
        DataType::Int64 => Some(Cell::Integer(value::<Int64Type>(column, row))),
        DataType::Int32 => Some(Cell::Integer(value::<Int32Type>(column, row).into())),
        DataType::Float64 => Some(Cell::Double(value::<Float64Type>(column, row))),
        DataType::Boolean => Some(Cell::Flag(column.as_boolean().value(row))),
        DataType::Date32 => day_of_epoch(value::<Date32Type>(column, row)).map(Cell::Day),
        DataType::Timestamp(..) => column
            .as_primitive_opt::<TimestampMicrosecondType>()
            .and_then(|instants| Timestamp::from_microsecond(instants.value(row)).ok())
            .map(Cell::Instant),
        _ => None,
    };
    let unknown = || TableError::UnsupportedType {
        column: "of the file".to_owned(),
        found: column.data_type().clone(),
    };
    found.map(Some).ok_or_else(unknown)
}

fn value<T: ArrowPrimitiveType>(column: &dyn Array, row: usize) -> T::Native {
    column.as_primitive::<T>().value(row)
}

/// Days and instants as ISO 8601 has them, instants in UTC; numbers with a fraction always show it.
impl Display for Cell<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Double(number) => write!(f, "{number:?}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Day(day) => write!(f, "{day}"),
            Self::Instant(instant) => write!(f, "{instant}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Date32Array, Float64Array, Int32Array, StringArray, UInt32Array};

    #[test]
    fn values_are_shown_and_what_no_table_has_is_an_error() {
        let shown = |column: &dyn Array| cell(column, 0).map(|cell| cell.map(|cell| cell.to_string()));
        let text = |text: &str| Some(text.to_owned());
        assert!(shown(&Date32Array::from(vec![20_000])).is_ok_and(|day| day == text("2024-10-04")));
        assert!(shown(&Float64Array::from(vec![2.0])).is_ok_and(|number| number == text("2.0")));
        assert!(shown(&Float64Array::from(vec![f64::NAN])).is_ok_and(|number| number == text("NaN")));
        assert!(shown(&Int32Array::from(vec![-7])).is_ok_and(|number| number == text("-7")));
        assert!(shown(&StringArray::from(vec![None::<&str>])).is_ok_and(|null| null.is_none()));
        for wrong in [&UInt32Array::from(vec![1]) as &dyn Array, &Date32Array::from(vec![i32::MAX])] {
            assert!(matches!(shown(wrong), Err(TableError::UnsupportedType { .. })));
        }
    }
}
