//! Functions of many rows: as steps of a grouping in polars, and row by row over the frame of a window.

use super::value::{Cell, Kind};
use polars::prelude::{
    Column, DataType, Expr, Field, Float64Chunked, IntoColumn as _, PolarsError, PolarsResult,
    QuantileMethod, SortOptions, col, lit, map_multiple, when,
};
use std::cmp::Ordering;

/// What is made of many values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reduce {
    /// Number of rows.
    Rows,
    /// Number of values.
    Count,
    Sum,
    Avg,
    Min,
    Max,
    /// Of a sample or of all, squared or not.
    Deviation {
        of_all: bool,
        is_squared: bool,
    },
    /// Between the values around this part of them.
    Quantile(f64),
}

const fn deviation(of_all: bool, is_squared: bool) -> Reduce {
    Reduce::Deviation { of_all, is_squared }
}

/// The functions of many rows: their names, what they take, and what is made of it. The letters are those of `functions`.
pub(super) const REDUCES: [(&[&str], &str, Reduce); 14] = [
    (&["count"], "a", Reduce::Count),
    // The sum of 1 for each that is true: NULL of no values.
    (&["count_if", "countif"], "b", Reduce::Sum),
    (&["sum"], "n", Reduce::Sum),
    (&["avg", "mean"], "n", Reduce::Avg),
    (&["min"], "a", Reduce::Min),
    (&["max"], "a", Reduce::Max),
    (&["bool_and", "every"], "b", Reduce::Min),
    (&["bool_or"], "b", Reduce::Max),
    (&["stddev", "stddev_samp"], "d", deviation(false, false)),
    (&["stddev_pop"], "d", deviation(true, false)),
    (&["variance", "var_samp"], "d", deviation(false, true)),
    (&["var_pop"], "d", deviation(true, true)),
    (&["median"], "d", Reduce::Quantile(0.5)),
    (&["quantile_cont"], "dd", Reduce::Quantile(0.0)),
];

impl Reduce {
    /// The type of the result for values of a type.
    pub(super) const fn gives(self, kind: Kind) -> Kind {
        match self {
            Self::Rows | Self::Count => Kind::Integer,
            Self::Sum | Self::Min | Self::Max => kind,
            Self::Avg | Self::Deviation { .. } | Self::Quantile(_) => Kind::Double,
        }
    }

    /// The steps of a grouping over column `of`, with names that begin with `to`; and the result from these.
    pub(super) fn steps(self, kind: Kind, is_distinct: bool, of: &str, to: &str) -> (Vec<Expr>, Expr) {
        let values = || if is_distinct { col(of).drop_nulls().unique() } else { col(of) };
        // A sum of floats depends on their order in its last digits: theirs is by size.
        let by_size = || match kind {
            Kind::Double => values().sort(SortOptions::default()),
            _ => values(),
        };
        let one = |step: Expr| (vec![step.alias(to)], col(to));
        let count = |step: Expr| one(step.cast(DataType::Int64));
        let [second, third] = [format!("{to}_b"), format!("{to}_c")];
        match self {
            Self::Rows => count(polars::prelude::len()),
            Self::Count if is_distinct => count(col(of).drop_nulls().n_unique()),
            Self::Count => count(col(of).count()),
            Self::Sum if kind == Kind::Double => {
                let steps = vec![by_size().sum().alias(to), col(of).count().alias(&*second)];
                (steps, when(col(&*second).gt(lit(0))).then(col(to)).otherwise(Cell::Null.literal(kind)))
            }
            Self::Sum => {
                let near = values().cast(DataType::Float64).sum();
                let count = col(of).count().cast(DataType::Int64);
                let steps = vec![values().sum().alias(to), near.alias(&*second), count.alias(&*third)];
                (steps, checked_sum([col(to), col(&*second), col(&*third)]))
            }
            Self::Avg => {
                let (steps, mean) = one(by_size().mean());
                (steps, unscaled(mean, kind))
            }
            Self::Max if kind == Kind::Double => {
                let steps = vec![col(of).max().alias(to), col(of).is_nan().any(true).alias(&*second)];
                (steps, when(col(&*second)).then(lit(f64::NAN)).otherwise(col(to)))
            }
            Self::Min => one(col(of).min()),
            Self::Max => one(col(of).max()),
            Self::Deviation { of_all, is_squared: true } => one(by_size().var(u8::from(!of_all))),
            Self::Deviation { of_all, .. } => one(by_size().std(u8::from(!of_all))),
            Self::Quantile(part) => one(values().quantile(lit(part), QuantileMethod::Linear)),
        }
    }
}

/// The nearest double to one double by another. polars multiplies by the reciprocal of a constant: 49 / 49 is less than 1 then.
pub(super) fn divided(one: Expr, other: Expr) -> Expr {
    let run = |columns: &mut [Column]| -> PolarsResult<Column> {
        let of = |at: usize| columns[at].as_materialized_series().rechunk();
        let (one, other) = (of(0), of(1));
        let (one, other) = (one.f64()?, other.f64()?);
        let rows = if one.len() == 1 { other.len() } else { one.len() };
        let at = |of: &Float64Chunked, row: usize| of.get(if of.len() == 1 { 0 } else { row });
        let quotients: Float64Chunked = (0..rows).map(|row| Some(at(one, row)? / at(other, row)?)).collect();
        Ok(quotients.with_name(one.name().clone()).into_column())
    };
    map_multiple(run, [one, other], |_, fields: &[Field]| {
        Ok(Field::new(fields[0].name().clone(), DataType::Float64))
    })
}

/// A number in units of a decimal place as a double.
pub(super) fn unscaled(of: Expr, kind: Kind) -> Expr {
    match kind {
        Kind::Decimal(places @ 1..) => divided(of, lit(10_f64.powi(places.into()))),
        _ => of,
    }
}

fn too_large() -> PolarsError {
    PolarsError::ComputeError("a sum is beyond 64 bits: cast it to DOUBLE first".into())
}

/// The sum, none of no values. polars lets it wrap around, by 2^64 each time: its sum in floats is far from it then.
fn checked_sum(of: [Expr; 3]) -> Expr {
    let check = |columns: &mut [Column]| -> PolarsResult<Column> {
        let (near, count) = (columns[1].f64()?, columns[2].i64()?);
        let is_far = |(sum, near): (Option<i64>, Option<f64>)| match (sum, near) {
            (Some(sum), Some(near)) => (near - sum as f64).abs() >= i64::MAX as f64,
            _ => false,
        };
        if columns[0].i64()?.iter().zip(near.iter()).any(is_far) {
            return Err(too_large());
        }
        if count.iter().all(|count| count != Some(0)) {
            return Ok(columns[0].clone());
        }
        let sums =
            columns[0].i64()?.iter().zip(count.iter()).map(|(sum, count)| sum.filter(|_| count != Some(0)));
        let sums: Vec<Option<i64>> = sums.collect();
        Ok(Column::new(columns[0].name().clone(), sums))
    };
    map_multiple(check, of, |_, fields: &[Field]| Ok(fields[0].clone()))
}

/// The values of a frame so far.
#[derive(Default)]
pub(super) struct Tally {
    rows: i64,
    count: i64,
    whole: i128,
    sum: f64,
    mean: f64,
    squares: f64,
    /// The least value, or the most.
    best: Option<Cell<'static>>,
    values: Vec<f64>,
}

impl Tally {
    pub(super) fn add(&mut self, reduce: Reduce, cell: &Cell<'_>) {
        self.rows += 1;
        if *cell == Cell::Null {
            return;
        }
        self.count += 1;
        match reduce {
            Reduce::Min => self.keep_first(cell, Ordering::Less),
            Reduce::Max => self.keep_first(cell, Ordering::Greater),
            Reduce::Quantile(_) => self.values.push(cell.double()),
            Reduce::Deviation { .. } => {
                let from = cell.double() - self.mean;
                self.mean += from / self.count as f64;
                self.squares += from * (cell.double() - self.mean);
            }
            _ => {
                self.whole += i128::from(cell.int());
                self.sum += cell.double();
            }
        }
    }

    fn keep_first(&mut self, cell: &Cell<'_>, wanted: Ordering) {
        if self.best.as_ref().is_none_or(|best| cell.order(best) == wanted) {
            self.best = Some(cell.clone().owned());
        }
    }

    pub(super) fn result(&mut self, reduce: Reduce, kind: Kind) -> PolarsResult<Cell<'static>> {
        let scale = 10_f64.powi(kind.places().unwrap_or(0).into());
        Ok(match reduce {
            Reduce::Rows => Cell::Int(self.rows),
            Reduce::Count => Cell::Int(self.count),
            _ if self.count == 0 => Cell::Null,
            Reduce::Sum if kind == Kind::Double => Cell::Double(self.sum),
            Reduce::Sum => Cell::Int(i64::try_from(self.whole).map_err(|_| too_large())?),
            Reduce::Avg if kind == Kind::Double => Cell::Double(self.sum / self.count as f64),
            Reduce::Avg => Cell::Double(self.whole as f64 / self.count as f64 / scale),
            Reduce::Min | Reduce::Max => self.best.clone().unwrap_or(Cell::Null),
            Reduce::Deviation { of_all: false, .. } if self.count == 1 => Cell::Null,
            Reduce::Deviation { of_all, is_squared } => {
                let variance = self.squares / (self.count - i64::from(!of_all)) as f64;
                Cell::Double(if is_squared { variance } else { variance.sqrt() })
            }
            Reduce::Quantile(part) => {
                self.values.sort_by(f64::total_cmp);
                let at = part * (self.values.len() - 1) as f64;
                let (low, high) = (self.values[at.floor() as usize], self.values[at.ceil() as usize]);
                Cell::Double(low + (high - low) * at.fract())
            }
        })
    }
}
