//! What runs, and what is refused.

mod as_duckdb;

use super::dialect::{plan, tables_named};
use super::tiny_lake::lake_with_gap;
use crate::fuzz::try_changed;

/// The rows of a query, cells joined by `|`, rows by a blank; or why it does not run.
fn asked(sql: &str) -> String {
    let lake = lake_with_gap(None);
    let planned = match plan(sql, &lake.tables) {
        Ok(planned) => planned,
        Err(refusal) => return format!("{}; {}", refusal.reason, refusal.hint.unwrap_or_default()),
    };
    let frame = match planned.collect() {
        Ok(frame) => frame,
        Err(error) => return error.to_string(),
    };
    let row = |row: usize| {
        let cells = frame.columns().iter().map(|column| column.get(row).expect("a cell").to_string());
        cells.collect::<Vec<_>>().join("|").replace('"', "")
    };
    (0..frame.height()).map(row).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_polars_answered_in_another_sense_has_its_own() {
    for (sql, answer) in [
        ("WITH filings AS (SELECT * FROM filings WHERE county = 'Lee') SELECT count(*) FROM filings", "1"),
        ("SELECT 1 AS a WHERE false", ""),
        ("SELECT sum(1) FROM filings", "10"),
        ("SELECT sum(1) FROM filings WHERE false", "null"),
        ("SELECT -7 % 3, round(2.5), substr('hello', -2), 7 // 2, 7 / 2, 0.1 + 0.2", "-1|3|lo|3|3.5|0.3"),
        ("SELECT DATE '2026-01-31' + INTERVAL '1 month' = DATE '2026-02-28'", "true"),
        ("SELECT count(*) FROM filings WHERE (county = 'Lee') IS NOT TRUE", "9"),
        ("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3", "1"),
        (
            "SELECT '2026-03-01' IN (SELECT DATE '2026-03-01'), true IN (SELECT 1), 1.5 IN (SELECT 1)",
            "true|true|false",
        ),
        (
            "SELECT count(*) FROM filings a LEFT JOIN filings b ON a.business_id > b.business_id AND b.county = 'Lee'",
            "10",
        ),
        (
            "SELECT DISTINCT county, rank() OVER (ORDER BY county) AS r FROM filings ORDER BY r",
            "Duval|1 Lee|9 null|10",
        ),
        (
            "SELECT count(*) FROM filings WHERE county NOT IN (SELECT county FROM filings WHERE county IS NULL)",
            "0",
        ),
    ] {
        assert_eq!(asked(sql), answer, "{sql}");
    }
}

#[test]
fn what_has_no_plan_is_refused_with_a_form_or_is_for_another_program() {
    for (sql, says) in [
        ("SELECT 9223372036854775807 + business_id FROM filings", "a sum is beyond 64 bits"),
        ("SELECT sum(business_id * 900000000000000000) FROM filings", "a sum is beyond 64 bits"),
        ("SELECT 5 % 0", "NULLIF"),
        ("SELECT county, count(*) FROM filings", "county is selected from groups"),
        ("SELECT name FROM filings WHERE zip = 33101", "in single quotes"),
        ("SELECT name FROM filings WHERE filed_date = 20260301", "the number 20260301"),
        ("SELECT name FROM filings WHERE filed_month = DATE '2026-03-01'", "filed_month = '2026-03'"),
        ("SELECT name FROM filings WHERE count(*) > 1", "HAVING"),
        ("SELECT string_agg(name, ',') FROM filings", "is not run here"),
        ("SELECT name FROM filings ORDER BY 3", "no place of a column"),
        (
            "SELECT a.county FROM filings a JOIN filings b ON a.zip = b.zip ORDER BY kounty",
            "did you mean county?",
        ),
        ("SELECT now()", "name the day"),
        ("SELECT CAST('x' AS INTEGER)", "is not a whole number"),
        (
            "SELECT count(*) FROM filings WHERE filed_date IN (SELECT '2026-03-01')",
            "a text is compared with a day",
        ),
        ("SELECT 1 IN (SELECT name FROM filings)", "a text is compared with a number"),
        ("SELECT true IN (SELECT name FROM filings)", "values of different types"),
    ] {
        let said = asked(sql);
        assert!(said.contains(says) && said.lines().count() == 1, "{sql}: {said}");
    }
}

/// polars multiplies by the reciprocal of a constant: 49 / 49 was less than 1, and 3 / 10 was 0.30000000000000004.
#[test]
fn a_division_gives_the_nearest_double() {
    let numbers =
        (1..=100).map(|number| format!("SELECT {number} AS x")).collect::<Vec<_>>().join(" UNION ALL ");
    let all = asked(&format!(
        "SELECT bool_and(x / 49 = x / (x - x + 49)), bool_and(floor(x / 49) = x // 49), \
         bool_and(x * 0.1 = CAST(x AS DOUBLE) / 1e1), bool_and(x / 10 = x * 0.1) FROM ({numbers}) AS numbers"
    ));
    assert_eq!(all, "true|true|true|true");
    let one = "SELECT CAST(floor(avg(x) / 49) AS BIGINT), avg(x * 0.1) = 4.9e0 FROM (SELECT 49 AS x UNION ALL SELECT 49) AS a";
    assert_eq!(asked(one), "1|true");
    assert_eq!(
        asked("SELECT x / 0, x / NULL FROM (SELECT 1 AS x UNION ALL SELECT 1) AS a"),
        "inf|null inf|null"
    );
}

/// Two thousand comparisons took minutes and gigabytes, and ten thousand sums overflowed the stack.
#[test]
fn a_query_of_a_thousand_operators_or_of_a_hundred_queries_runs_and_a_longer_one_is_refused() {
    let sum = |operators: usize| asked(&format!("SELECT 1{}", "+1".repeat(operators)));
    assert_eq!(sum(1000), "1001");
    assert_eq!(
        sum(1001),
        "it has 1001 operators, at most 1000 can run; many values are one operator: zip IN ('32801', '32803')"
    );
    let union = |queries: usize| asked(&vec!["SELECT 1 AS x"; queries].join(" UNION ALL "));
    assert_eq!(union(128).len(), 255);
    assert!(union(129).starts_with("it has 129 queries in one, at most 128 can run"));
    let values = vec!["'33101'"; 20_000].join(", ");
    assert_eq!(asked(&format!("SELECT count(*) FROM filings WHERE zip IN ({values}) OR true")), "10");
    let too_deep =
        "it is nested too deeply; name its inner steps: WITH step AS (SELECT …) SELECT … FROM step";
    assert_eq!(asked(&format!("SELECT {}1{}", "(".repeat(99), ")".repeat(99))), too_deep);
}

/// Each of these was read twice as often as the one around it, forty of them without an end.
#[test]
fn a_text_that_the_parser_tries_again_and_again_is_refused() {
    for word in ["INTERVAL ", "filings.", "CASE WHEN ", "CAST(CASE ", "NOT (CASE WHEN "] {
        let refusal = tables_named(&format!("SELECT 1 = {}", word.repeat(40))).expect_err(word);
        let is_bounded = ["INTERVAL ", "filings."].contains(&word);
        assert_eq!(refusal.reason == "it is nested too deeply", is_bounded, "{word}: {}", refusal.reason);
    }
    for (word, end) in [("CAST(", " AS BIGINT)"), ("CASE WHEN true THEN ", " END"), ("NOT (", " = 2)")] {
        let said = asked(&format!("SELECT {}1{} AS x", word.repeat(20), end.repeat(20)));
        assert!(said.len() < 6, "{word}: {said}");
    }
}

#[test]
fn unnamed_columns_have_the_names_of_duckdb() {
    let lake = lake_with_gap(None);
    let sql = "SELECT count(*), sum(f.business_id), max(name), 1 + 2, county, county FROM filings f GROUP BY county";
    let frame = plan(sql, &lake.tables).expect(sql).without_rows();
    let names: Vec<&str> = frame.get_column_names().into_iter().map(|name| name.as_str()).collect();
    assert_eq!(names, ["count_star()", "sum(f.business_id)", "max(name)", "(1 + 2)", "county", "county_1"]);
}

#[test]
fn tables_of_a_view_are_those_it_reads() {
    let named =
        tables_named("SELECT * FROM Businesses b JOIN days d ON d.filed_date = b.filed_date").expect("SQL");
    assert_eq!(named, ["days", "entity_types", "filings", "industry_labels"]);
}

/// Subqueries ten deep overflowed the stack of a thread where a table's name was looked for before the plan.
#[test]
fn subqueries_in_one_another_run_up_to_the_depth_that_is_refused() {
    let nested = |levels: usize| {
        format!("{}SELECT county FROM filings{}", "SELECT * FROM (".repeat(levels), ") AS a".repeat(levels))
    };
    assert_eq!(tables_named(&nested(20)).expect("SQL"), ["filings"]);
    assert_eq!(asked(&nested(20)).matches("Lee").count(), 1);
    for levels in [30, 49, 60, 100] {
        let refusal = tables_named(&nested(levels)).err().map(|refusal| refusal.reason);
        assert_eq!(refusal.as_deref(), Some("it is nested too deeply"), "{levels}");
    }
}

#[test]
fn fuzz_of_sql() {
    let lake = lake_with_gap(None);
    let examples = [
        "SELECT county, COUNT(*) AS n FROM filings WHERE listed GROUP BY county HAVING COUNT(*) > 1 ORDER BY n DESC LIMIT 3",
        "WITH a AS (SELECT filed_date, SUM(1) OVER (PARTITION BY county ORDER BY filed_date ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS s FROM filings) SELECT * FROM a",
        "SELECT * FROM filings f LEFT JOIN days d ON f.filed_date = d.filed_date AND d.filings > 2 WHERE f.name LIKE 'A%' OR f.city IN (SELECT city FROM filings)",
        "SELECT CASE WHEN a.x IS NULL THEN -1 ELSE a.x % 3 END, CAST('7' AS BIGINT) FROM (SELECT 1 AS x UNION ALL SELECT NULL) a",
        "SELECT date_trunc('month', filed_date), EXTRACT(year FROM filed_date) FROM filings EXCEPT SELECT DATE '2026-01-01', 3",
    ];
    try_changed(&examples, |input| {
        let sql = String::from_utf8_lossy(input);
        let _ = tables_named(&sql);
        if let Err(refusal) = plan(&sql, &lake.tables) {
            assert!(!refusal.reason.is_empty() && !refusal.reason.contains("panicked"), "{}", refusal.reason);
        }
    });
}
