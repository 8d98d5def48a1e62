//! The types of SQL, and values of them: literals, and cells of columns.

use crate::contract::eastern::day_of_epoch;
use polars::prelude::{
    AnyValue, BooleanChunked, Column, DataType, Expr, Float64Chunked, Int32Chunked, Int64Chunked,
    IntoColumn as _, IntoSeries as _, LiteralValue, PlSmallStr, PolarsResult, Scalar, Series, StringChunked,
    TimeUnit, TimeZone,
};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Decimal places that an exact number can have.
pub(super) const MOST_PLACES: u8 = 18;
pub(super) const DAY_MICROS: i64 = 86_400_000_000;

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Of NULL alone.
    Null,
    Bool,
    /// A whole number in 64 bits.
    Integer,
    /// An exact number with decimal places, in units of the last one: hundredths for 2.
    Decimal(u8),
    Double,
    Text,
    Day,
    /// Microseconds since 1970 in UTC; whether a text for it counts its offset, as of `TIMESTAMPTZ`.
    Time(bool),
}

impl Kind {
    /// The type in which polars holds it.
    pub(super) fn in_polars(self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Integer | Self::Decimal(_) | Self::Null => DataType::Int64,
            Self::Double => DataType::Float64,
            Self::Text => DataType::String,
            Self::Day => DataType::Date,
            Self::Time(_) => DataType::Datetime(TimeUnit::Microseconds, Some(TimeZone::UTC)),
        }
    }

    /// The type of a column of a file; none where SQL has none for it.
    pub(super) fn of(dtype: &DataType) -> Option<Self> {
        Some(match dtype {
            DataType::Boolean => Self::Bool,
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => Self::Integer,
            DataType::Float32 | DataType::Float64 => Self::Double,
            DataType::String => Self::Text,
            DataType::Date => Self::Day,
            DataType::Datetime(_, zone) => Self::Time(zone.is_some()),
            _ => return None,
        })
    }

    /// Decimal places of an exact number.
    pub(super) const fn places(self) -> Option<u8> {
        match self {
            Self::Integer => Some(0),
            Self::Decimal(places) => Some(places),
            _ => None,
        }
    }

    pub(super) fn is_number(self) -> bool {
        self.places().is_some() || self == Self::Double
    }

    /// The type that holds the values of two.
    pub(super) fn with(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (one, other) if one == other => one,
            (Self::Null, other) | (other, Self::Null) => other,
            (Self::Day, time @ Self::Time(_)) | (time @ Self::Time(_), Self::Day) => time,
            (Self::Time(_), Self::Time(_)) => Self::Time(true),
            (one, other) if one.is_number() && other.is_number() => match (one.places(), other.places()) {
                (Some(one), Some(other)) => Self::Decimal(one.max(other)),
                _ => Self::Double,
            },
            _ => return None,
        })
    }

    /// In the words of an error.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Bool => "TRUE or FALSE",
            Self::Integer => "a whole number",
            Self::Decimal(_) | Self::Double => "a number",
            Self::Text => "a text",
            Self::Day => "a day",
            Self::Time(_) => "a time",
        }
    }
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell<'a> {
    Null,
    Bool(bool),
    /// Of a number, in units of its decimal place.
    Int(i64),
    Double(f64),
    Text(Cow<'a, str>),
    Day(i32),
    Time(i64),
}

impl<'a> Cell<'a> {
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn owned(self) -> Cell<'static> {
        match self {
            Self::Text(text) => Cell::Text(text.into_owned().into()),
            Self::Null => Cell::Null,
            Self::Bool(of) => Cell::Bool(of),
            Self::Int(of) => Cell::Int(of),
            Self::Double(of) => Cell::Double(of),
            Self::Day(of) => Cell::Day(of),
            Self::Time(of) => Cell::Time(of),
        }
    }

    /// The text, empty for other values.
    pub(super) fn str(&self) -> &str {
        if let Self::Text(text) = self { text } else { "" }
    }

    fn into_text(self) -> Cow<'a, str> {
        if let Self::Text(text) = self { text } else { Cow::default() }
    }

    /// The whole number, day or time; 0 for other values.
    pub(super) fn int(&self) -> i64 {
        match self {
            Self::Int(of) | Self::Time(of) => *of,
            Self::Day(of) => (*of).into(),
            Self::Bool(of) => (*of).into(),
            _ => 0,
        }
    }

    pub(super) fn double(&self) -> f64 {
        if let Self::Double(of) = self { *of } else { self.int() as f64 }
    }

    /// Microseconds since 1970 of a day or a time.
    pub(super) fn micros(&self) -> i64 {
        if let Self::Day(day) = self { i64::from(*day) * DAY_MICROS } else { self.int() }
    }

    /// Days since 1970 of a day or a time.
    pub(super) fn day(&self) -> i64 {
        if let Self::Time(time) = self { time.div_euclid(DAY_MICROS) } else { self.int() }
    }

    /// The order of two values of one type: NaN after every number, NULL last.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Null, Self::Null) => Ordering::Equal,
            (Self::Null, _) => Ordering::Greater,
            (_, Self::Null) => Ordering::Less,
            (Self::Text(one), Self::Text(other)) => one.as_bytes().cmp(other.as_bytes()),
            (Self::Double(one), Self::Double(other)) => {
                one.partial_cmp(other).unwrap_or_else(|| one.is_nan().cmp(&other.is_nan()))
            }
            _ => self.int().cmp(&other.int()),
        }
    }

    /// Adds bytes by which equal values of one type are known.
    pub(super) fn add_key(&self, key: &mut Vec<u8>) {
        match self {
            Self::Null => key.push(0),
            Self::Text(text) => {
                key.push(1);
                key.extend_from_slice(&text.len().to_le_bytes());
                key.extend_from_slice(text.as_bytes());
            }
            Self::Double(of) => {
                let same = if of.is_nan() { f64::NAN } else { of + 0.0 };
                key.push(1);
                key.extend_from_slice(&same.to_bits().to_le_bytes());
            }
            _ => {
                key.push(1);
                key.extend_from_slice(&self.int().to_le_bytes());
            }
        }
    }

    /// The value as a literal of polars.
    pub(super) fn literal(&self, kind: Kind) -> Expr {
        let value = match self {
            Self::Null => AnyValue::Null,
            Self::Bool(of) => AnyValue::Boolean(*of),
            Self::Int(of) => AnyValue::Int64(*of),
            Self::Double(of) => AnyValue::Float64(*of),
            Self::Text(text) => AnyValue::StringOwned(PlSmallStr::from_str(text)),
            Self::Day(of) => AnyValue::Date(*of),
            Self::Time(of) => {
                AnyValue::DatetimeOwned(*of, TimeUnit::Microseconds, Some(TimeZone::UTC.into()))
            }
        };
        Expr::Literal(LiteralValue::Scalar(Scalar::new(kind.in_polars(), value)))
    }

    /// The value as text, as a cast writes it.
    pub(super) fn show(&self, kind: Kind) -> Result<String, String> {
        Ok(match (self, kind) {
            (Self::Text(text), _) => text.to_string(),
            (Self::Bool(of), _) => of.to_string(),
            (Self::Int(of), Kind::Integer) => of.to_string(),
            (Self::Int(of), Kind::Decimal(places)) => with_places(*of, places),
            (Self::Double(of), _) if *of == 0.0 || (1e-4..1e15).contains(&of.abs()) => format!("{of:?}"),
            (Self::Double(_), _) => return Err("a very large or small number has no text".to_owned()),
            (Self::Day(of), _) => day_of_epoch(*of).ok_or("a day is outside of the calendar")?.to_string(),
            _ => return Err("a time has no text here: use strftime(time, '%Y-%m-%d %H:%M:%S')".to_owned()),
        })
    }
}

/// A number of units of a decimal place as text.
fn with_places(of: i64, places: u8) -> String {
    let (unit, width) = (10_u64.pow(places.into()), usize::from(places));
    let (units, part) = (of.unsigned_abs() / unit, of.unsigned_abs() % unit);
    let sign = if of < 0 { "-" } else { "" };
    if places == 0 { of.to_string() } else { format!("{sign}{units}.{part:0width$}") }
}

/// The cells of a column, or a literal in place of one.
pub(super) enum Cells<'c> {
    Bool(&'c BooleanChunked),
    Int(&'c Int64Chunked),
    Double(&'c Float64Chunked),
    Text(&'c StringChunked),
    Day(&'c Int32Chunked),
    Time(&'c Int64Chunked),
    All(Cell<'c>),
}

impl<'c> Cells<'c> {
    pub(super) fn of(series: &'c Series) -> PolarsResult<Self> {
        Ok(match series.dtype() {
            DataType::Boolean => Self::Bool(series.bool()?),
            DataType::Float64 => Self::Double(series.f64()?),
            DataType::String => Self::Text(series.str()?),
            DataType::Date => Self::Day(&series.date()?.phys),
            DataType::Datetime(..) => Self::Time(&series.datetime()?.phys),
            _ => Self::Int(series.i64()?),
        })
    }

    pub(super) fn get(&self, row: usize) -> Cell<'c> {
        match self {
            Self::Bool(cells) => cells.get(row).map(Cell::Bool),
            Self::Int(cells) => cells.get(row).map(Cell::Int),
            Self::Double(cells) => cells.get(row).map(Cell::Double),
            Self::Text(cells) => cells.get(row).map(Cell::text),
            Self::Day(cells) => cells.get(row).map(Cell::Day),
            Self::Time(cells) => cells.get(row).map(Cell::Time),
            Self::All(cell) => Some(cell.clone()),
        }
        .unwrap_or(Cell::Null)
    }
}

/// A column of cells of one type.
pub(super) fn column_of<'a>(
    name: PlSmallStr,
    kind: Kind,
    cells: impl Iterator<Item = PolarsResult<Cell<'a>>>,
) -> PolarsResult<Column> {
    let cells = cells.map(|cell| cell.map(|cell| Some(cell).filter(|cell| *cell != Cell::Null)));
    let series = match kind {
        Kind::Text => gathered::<_, StringChunked>(cells, Cell::into_text)?.into_series(),
        Kind::Bool => gathered::<_, BooleanChunked>(cells, |of| of == Cell::Bool(true))?.into_series(),
        Kind::Double => gathered::<_, Float64Chunked>(cells, |of| of.double())?.into_series(),
        _ => gathered::<_, Int64Chunked>(cells, |of| of.int())?.into_series().cast(&kind.in_polars())?,
    };
    Ok(series.with_name(name).into_column())
}

fn gathered<'a, T, C: FromIterator<Option<T>>>(
    cells: impl Iterator<Item = PolarsResult<Option<Cell<'a>>>>,
    value: fn(Cell<'a>) -> T,
) -> PolarsResult<C> {
    cells.map(|cell| Ok(cell?.map(value))).collect()
}
