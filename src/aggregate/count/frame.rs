//! Counts as columns of polars.

use super::rows::{Counter, Key, count_rows};
use polars::error::{PolarsError, PolarsResult};
use polars::frame::DataFrame;
use polars::prelude::{Column, DataType, NamedFrom as _, PlSmallStr, Series};
use std::path::PathBuf;

/// The listed filings of files, counted by keys: a column for each key, then one with the counts. And the names of the columns.
pub(in crate::aggregate) fn counted(
    files: &[PathBuf],
    keys: &[Key],
) -> PolarsResult<(DataFrame, Vec<PlSmallStr>)> {
    let failed = |error| PolarsError::ComputeError(format!("{error}").into());
    let counted = count_rows(files, keys).map_err(failed)?;
    let names: Vec<PlSmallStr> = (0..=keys.len()).map(|at| format!("counted_{at}").into()).collect();
    let key = |(at, key): (usize, &Key)| key_column(names[at].clone(), *key, at, &counted);
    let mut columns: Vec<Column> = keys.iter().enumerate().map(key).collect::<PolarsResult<_>>()?;
    columns.push(Series::new(names[keys.len()].clone(), counted.rows().collect::<Vec<_>>()).into());
    Ok((DataFrame::new_infer_height(columns)?, names))
}

fn key_column(name: PlSmallStr, key: Key, at: usize, counted: &Counter<'_>) -> PolarsResult<Column> {
    let series = match key {
        Key::Day => Series::new(name, counted.days(at).collect::<Vec<_>>()).cast(&DataType::Date)?,
        Key::Month | Key::Text(_) => Series::new(name, counted.texts(at).collect::<Vec<_>>()),
    };
    Ok(series.into())
}
