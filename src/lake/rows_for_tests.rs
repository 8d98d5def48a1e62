//! Filings for the tests of the lake.

use crate::contract::eastern::epoch_days;
use crate::table::Table;
use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Int64Array, StringArray, TimestampMicrosecondArray, new_null_array,
};
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

/// A filing as a test cares about it.
#[derive(Debug, Clone)]
pub(super) struct Filing {
    pub(super) business_id: i64,
    pub(super) filed_date: String,
    pub(super) name: String,
    pub(super) entity_type: &'static str,
    /// `last_seen_at`, seconds.
    pub(super) seen: i64,
}

pub(super) fn filing(business_id: i64, filed_date: &str) -> Filing {
    let name = format!("BUSINESS {business_id}");
    Filing { business_id, filed_date: filed_date.to_owned(), name, entity_type: "llc", seen: 100 }
}

impl Filing {
    pub(super) fn seen(self, seen: i64) -> Self {
        Self { seen, ..self }
    }

    pub(super) fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    pub(super) fn typed(self, entity_type: &'static str) -> Self {
        Self { entity_type, ..self }
    }
}

pub(super) fn filings(rows: &[Filing]) -> RecordBatch {
    let text = |value: &dyn Fn(&Filing) -> String| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(value(row))).collect::<StringArray>())
    };
    let seen = || -> ArrayRef {
        let micros: Vec<i64> = rows.iter().map(|row| row.seen * 1_000_000).collect();
        Arc::new(TimestampMicrosecondArray::from(micros).with_timezone("UTC"))
    };
    let schema = Table::Filings.schema();
    let columns = schema.fields().iter().map(|field| -> ArrayRef {
        match field.name().as_str() {
            "business_id" => Arc::new(rows.iter().map(|row| row.business_id).collect::<Int64Array>()),
            "name" => text(&|row| row.name.clone()),
            "entity_type" => text(&|row| row.entity_type.to_owned()),
            "filed_date" => {
                let day = |row: &Filing| epoch_days(row.filed_date.parse().expect("a date"));
                Arc::new(Date32Array::from_iter_values(rows.iter().map(day)))
            }
            "listed" => Arc::new(BooleanArray::from(vec![true; rows.len()])),
            "first_seen_at" | "last_seen_at" => seen(),
            "document_number" => text(&|row| format!("L{:011}", row.business_id)),
            _ if field.is_nullable() => new_null_array(field.data_type(), rows.len()),
            _ => {
                assert_eq!(field.data_type(), &DataType::Utf8, "{}", field.name());
                text(&|_| String::new())
            }
        }
    });
    RecordBatch::try_new(schema.clone(), columns.collect()).expect("filings")
}

/// Rows of `entity_types`: key and label.
pub(super) fn labels(labels: &[(&str, &str)]) -> RecordBatch {
    let columns: [ArrayRef; 3] = [
        Arc::new(Date32Array::from(vec![20_000; labels.len()])),
        Arc::new(StringArray::from_iter_values(labels.iter().map(|(key, _)| key))),
        Arc::new(StringArray::from_iter_values(labels.iter().map(|(_, label)| label))),
    ];
    RecordBatch::try_new(Table::EntityTypes.schema(), columns.to_vec()).expect("rows")
}
