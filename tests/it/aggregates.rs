//! The shipped SQL gives the same on the engine inside and on DuckDB, unchanged, cell by cell; Spark is in `readers`.

use crate::support::command::project;
use crate::support::lake::{current, names};
use crate::support::{python, source};
use serde_json::Value;

/// Claims that every shipped aggregate was compared, has rows, and differs in no cell.
pub(crate) fn assert_equal_cells(results: &Value) {
    let compared = results.as_object().expect("aggregates");
    let shipped =
        names(&project().join("pipelines/aggregates")).iter().filter(|name| name.ends_with(".sql")).count();
    assert_eq!(compared.len(), shipped, "every file was run");
    let mut wrong = Vec::new();
    for (name, result) in compared {
        let agree = result["columns"][0] == result["columns"][1]
            && result["rows"][0] == result["rows"][1]
            && result["differences"] == 0;
        if !agree {
            wrong.push(format!("{name}: {result}"));
        }
        if result["rows"][0] == 0 {
            wrong.push(format!("{name} has no rows, so that nothing is compared"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn shipped_sql_gives_the_same_cells_on_duckdb() {
    let source = source::history();
    let folder = project().join("pipelines/aggregates");
    assert_equal_cells(&python::json("aggregates.py", &[&current(&source.lake), &folder]));
}
