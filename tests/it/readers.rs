//! Analysts' tools read the lake in one line each, and all see the same.

use crate::support::command::project;
use crate::support::scratch::Scratch;
use crate::support::{lake, python, source};
use serde_json::Value;

/// Claims that what a reader sees of every table is what another sees, and that it sees all tables of the commit.
fn assert_same_tables(reader: &str, sees: &Value, other: &Value, commit: &Value) {
    let tables = sees.as_object().expect("tables");
    for (table, figures) in tables {
        assert_eq!(figures, &other[table], "{table}, as {reader} sees it");
    }
    let committed = commit["tables"].as_object().expect("tables");
    assert_eq!(tables.len(), committed.len(), "{reader} sees every table");
    for (table, manifest) in committed {
        assert_eq!(sees[table]["rows"], manifest["rows"], "rows of {table}, as {reader} sees them");
    }
}

#[test]
fn duckdb_polars_pandas_and_pyarrow_see_the_same_in_every_table_now_and_before() {
    let source = source::history();
    let old = source.lake.join("snapshots/000001");
    let seen = python::json("readers.py", &[&source.lake.join("current"), &old]);
    let readers = seen.as_object().expect("readers");
    assert_eq!(readers.len(), 4);
    let commits = lake::commits(&source.lake);
    let first = &seen["with_duckdb"];
    for (reader, sees) in readers {
        assert_same_tables(reader, &sees["old"], &first["old"], &commits[0]);
        assert_same_tables(reader, &sees["current"], &first["current"], &commits[1]);
        assert_eq!(sees["listed"], sees["added_up"], "{reader}: the aggregate adds the filings up");
        assert_eq!(sees["id_sum"], first["id_sum"], "{reader}");
    }
    assert_ne!(first["old"]["filings"], first["current"]["filings"], "the old snapshot is another");
    let rows = lake::filings(&source.lake);
    assert_eq!(first["current"]["filings"]["rows"], rows.len(), "the readers see every row");
    let sum: i64 = rows.keys().sum();
    assert_eq!(first["id_sum"], sum);
    let gone = rows.values().filter(|cells| cells["listed"].as_deref() == Some("false")).count();
    let listed: i64 = first["listed"].as_object().expect("sums").values().filter_map(Value::as_i64).sum();
    assert!(gone > 0, "some rows are gone, or this claims less");
    assert_eq!(usize::try_from(listed).ok(), Some(rows.len() - gone));
    let month = &first["current"]["filings"]["columns"]["filed_month"];
    assert!(month[1].as_str().is_some_and(|month| month.len() == 7), "{month}");
}

#[test]
#[ignore = "installs and starts Spark with two executor processes: 4 to 10 minutes"]
fn spark_reads_every_table_and_the_shipped_sql_gives_the_same_cells() {
    let source = source::history();
    let scratch = Scratch::new();
    let (current, old) = (lake::current(&source.lake), source.lake.join("snapshots/000001"));
    let out = scratch.path("spark");
    let folder = project().join("pipelines");
    let seen = python::json_with("requirements-spark.txt", "spark.py", &[&current, &old, &folder, &out]);
    assert!(seen["executors"].as_u64().is_some_and(|found| found >= 2), "{}", seen["executors"]);
    let others = python::json("readers.py", &[&current, &old]);
    let commits = lake::commits(&source.lake);
    assert_same_tables("Spark", &seen["old"], &others["with_duckdb"]["old"], &commits[0]);
    assert_same_tables("Spark", &seen["current"], &others["with_duckdb"]["current"], &commits[1]);
    let compared = python::json("cells.py", &[&current, &out]);
    super::aggregates::assert_equal_cells(&compared);
}
