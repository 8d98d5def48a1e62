//! Analysts' tools read the lake in one line each, and all see the same.

use crate::support::lake;
use crate::support::python;
use crate::support::source;
use serde_json::Value;

#[test]
fn duckdb_polars_pandas_and_pyarrow_see_the_same_filings_and_sums() {
    let source = source::history();
    let seen = python::json("readers.py", &[&source.lake.join("current")]);
    let readers = seen.as_object().expect("readers");
    assert_eq!(readers.len(), 4);
    let first = &seen["with_duckdb"];
    for (reader, sees) in readers {
        for (what, value) in sees.as_object().expect("figures") {
            assert_eq!(value, &first[what], "{what}, as {reader} sees it");
        }
        assert_eq!(sees["listed"], sees["added_up"], "{reader}: the aggregate adds the filings up");
    }
    let rows = lake::filings(&source.lake);
    assert_eq!(first["filings"], rows.len(), "the readers see every row");
    let sum: i64 = rows.keys().sum();
    assert_eq!(first["id_sum"], sum);
    let gone = rows.values().filter(|cells| cells["listed"].as_deref() == Some("false")).count();
    let listed: i64 = first["listed"].as_object().expect("sums").values().filter_map(Value::as_i64).sum();
    assert!(gone > 0, "some rows are gone, or this claims less");
    assert_eq!(usize::try_from(listed).ok(), Some(rows.len() - gone));
    let months = first["months"].as_object().expect("months");
    assert!(months.len() >= 3 && months.keys().all(|month| month.len() == 7), "{months:?}");
}
