//! From SQL to rows.

use super::names::Ids;
use super::reduce::unscaled;
use super::refusal::{NO_PLAN, Result, not_here};
use super::rows::{Planner, orders_kept};
use super::statement::{on_large_stack, parsed, tables_of};
use super::value::Kind;
use crate::aggregate::tables::Tables;
use polars::error::{PolarsError, PolarsResult, set_warning_function};
use polars::frame::DataFrame;
use polars::prelude::{DataType, Engine, LazyFrame, col};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Files of this size together are read at once, up to twice as fast as in batches: about 1.3 million rows of an aggregate, or 70,000
/// filings.
const MOST_IN_MEMORY: u64 = 2 << 20;

/// A query that can run.
pub(in crate::aggregate) struct Plan {
    frame: LazyFrame,
    columns: Vec<(String, Kind)>,
    bytes: u64,
}

/// The names of the tables that SQL reads, those of a view in place of the view. Names that it defines itself may be among them.
pub(in crate::aggregate) fn tables_named(sql: &str) -> Result<Vec<String>> {
    Ok(tables_of(&parsed(sql)?).into_iter().collect())
}

/// Plans the query of a text over tables. Subqueries in place of values are run.
pub(in crate::aggregate) fn plan(sql: &str, tables: &dyn Tables) -> Result<Plan> {
    set_warning_function(|what, _| tracing::debug!("polars: {what}"));
    guarded(|| planned(sql, tables)).unwrap_or_else(|| not_here(NO_PLAN))
}

/// The rows of the query of a text.
pub(in crate::aggregate) fn rows(sql: &str, tables: &dyn Tables) -> Result<DataFrame> {
    Ok(plan(sql, tables)?.collect()?)
}

/// The result of what the SQL engine does, on a stack that is large enough; none if it panics.
fn guarded<T>(run: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(|| on_large_stack(run))).ok()
}

fn planned(sql: &str, tables: &dyn Tables) -> Result<Plan> {
    let query = parsed(sql)?;
    let rows = Planner { tables, ids: Ids::default() }.query(&query, &Vec::new())?;
    let (mut selected, mut columns) = (Vec::new(), Vec::new());
    for column in rows.columns {
        let (stored, name) = (col(column.id), column.name);
        let (value, kind) = match column.kind {
            Kind::Decimal(0) => (stored, Kind::Integer),
            Kind::Decimal(_) => (unscaled(stored.cast(DataType::Float64), column.kind), Kind::Double),
            kind => (stored, kind),
        };
        selected.push(value.cast(kind.in_polars()).alias(&name));
        columns.push((name, kind));
    }
    let frame = rows.frame.select(selected);
    let files = tables_of(&query).into_iter().filter_map(|table| Some(tables.rows(&table)?.ok()?.1));
    let sizes = files.flatten().filter_map(|file| std::fs::metadata(file).ok());
    Ok(Plan { frame, columns, bytes: sizes.map(|file| file.len()).sum() })
}

impl Plan {
    /// The rows, in types of the lake. Of large files they are read and aggregated in batches, so that memory does not grow with the lake.
    pub(in crate::aggregate) fn collect(self) -> PolarsResult<DataFrame> {
        let is_small = self.bytes <= MOST_IN_MEMORY;
        let frame = orders_kept(self.frame);
        let run = || {
            if is_small {
                frame.collect()
            } else {
                frame.collect_with_engine(Engine::Streaming).map(|rows| rows.unwrap_single())
            }
        };
        guarded(run).unwrap_or_else(|| Err(PolarsError::InvalidOperation("a panic".into())))
    }

    /// The columns of the result, without rows.
    pub(in crate::aggregate) fn without_rows(&self) -> DataFrame {
        let fields = self.columns.iter().map(|(name, kind)| (name.as_str().into(), kind.in_polars()));
        DataFrame::empty_with_schema(&fields.collect())
    }
}
