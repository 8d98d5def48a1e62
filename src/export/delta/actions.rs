//! Actions of a log entry, as the Delta protocol defines them.

use crate::lake::{Commit, FileEntry};
use crate::table::{Bounds, Column, ColumnKind, Footer, Table, columns};
use serde_json::{Map, Value, json};

/// Longest text in the statistics of a file, in bytes.
const STATISTICS_TEXT: usize = 64;

/// The snapshot that a version comes from.
pub(super) fn provenance(commit: &Commit) -> Value {
    json!({"commitInfo": {
        "timestamp": commit.committed_at.as_millisecond(),
        "operation": "WRITE",
        "operationParameters": {"mode": "Overwrite", "partitionBy": "[\"filed_month\"]"},
        "engineInfo": concat!("sunlake/", env!("CARGO_PKG_VERSION")),
        "isBlindAppend": false,
        "sunlakeSnapshot": commit.snapshot,
        "sunlakeRun": commit.run_id,
        "sunlakeCommittedAt": commit.committed_at.to_string(),
    }})
}

/// A file that a version adds.
pub(super) fn add(path: &str, file: &FileEntry, at: i64, footer: &Footer) -> Value {
    let month = path.split('/').next().and_then(|folder| folder.split_once('='));
    let partition: Map<String, Value> =
        month.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    json!({"add": {
        "path": path,
        "partitionValues": partition,
        "size": file.bytes,
        "modificationTime": at,
        "dataChange": true,
        "stats": statistics(footer).to_string(),
    }})
}

/// Rows, nulls and bounds of a file. A bound that the footer does not have exactly is left out.
///
/// Bounds of timestamps are left out, because readers round them in different ways.
fn statistics(footer: &Footer) -> Value {
    let (mut least, mut most, mut nulls) = (Map::new(), Map::new(), Map::new());
    for field in footer.schema().fields() {
        let span = footer.span(field.name());
        if let Some(count) = span.nulls {
            nulls.insert(field.name().clone(), json!(count));
        }
        let bounds = match span.bounds {
            Some(Bounds::Integers(low, high)) => Some((json!(low), json!(high))),
            Some(Bounds::Days(low, high)) => Some((json!(low.to_string()), json!(high.to_string()))),
            Some(Bounds::Texts(low, high)) if low.len().max(high.len()) <= STATISTICS_TEXT => {
                Some((json!(low), json!(high)))
            }
            _ => None,
        };
        if let Some((low, high)) = bounds {
            least.insert(field.name().clone(), low);
            most.insert(field.name().clone(), high);
        }
    }
    json!({"numRecords": footer.rows(), "minValues": least, "maxValues": most, "nullCount": nulls})
}

/// The schema of the table in the form of the log.
pub(super) fn schema_string() -> String {
    let kind = |column: &Column| match column.kind {
        ColumnKind::Int32 => "integer",
        ColumnKind::Int64 => "long",
        ColumnKind::Text => "string",
        ColumnKind::Boolean => "boolean",
        ColumnKind::Date => "date",
        ColumnKind::Timestamp => "timestamp",
    };
    let field = |name: &str, kind: &str, nullable: bool, meaning: &str| json!({"name": name, "type": kind, "nullable": nullable, "metadata": {"comment": meaning}});
    let mut fields: Vec<Value> = columns(Table::Filings)
        .iter()
        .map(|column| field(column.name, kind(column), column.nullable, column.meaning))
        .collect();
    fields.push(field("filed_month", "string", true, "month of filed_date, YYYY-MM"));
    json!({"type": "struct", "fields": fields}).to_string()
}
