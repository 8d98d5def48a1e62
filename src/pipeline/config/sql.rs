//! The SQL of a pipeline: its aggregates, and the condition that selects businesses to look up.

use super::file::Pipeline;
use crate::aggregate::{check_aggregate, check_condition, load_aggregates};
use crate::pipeline::error::Result;

/// Names and SQL of the aggregates; none where the pipeline disables them.
pub(crate) fn aggregates_of(pipeline: &Pipeline) -> Result<Option<Vec<(String, String)>>> {
    let spec = &pipeline.spec.aggregates;
    match spec.enabled {
        true => Ok(Some(load_aggregates(&pipeline.folder.join(&spec.folder))?)),
        false => Ok(None),
    }
}

/// Runs the SQL of a pipeline on empty tables, so that errors show before a request is spent.
pub(crate) fn check_sql(pipeline: &Pipeline) -> Result<()> {
    for (name, sql) in aggregates_of(pipeline)?.unwrap_or_default() {
        check_aggregate(&name, &sql)?;
    }
    if let Some(spec) = &pipeline.spec.enrich {
        check_condition(&spec.condition)?;
    }
    Ok(())
}
