//! What runs, and what is refused.

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
        ("SELECT floor(3) || '', ceil(3) || '', trunc(3) || '', floor(2.5) || ''", "3.0|3.0|3|2"),
        (
            "SELECT median(x) = -0.1, quantile_cont(y, 0.3) = -1.54 FROM (SELECT -0.1 AS x, -1.00 AS y UNION ALL SELECT -0.2, -2.37 UNION ALL SELECT NULL, 0.55) t",
            "true|true",
        ),
        ("SELECT median(x) OVER () = -0.1 FROM (SELECT -0.1 AS x UNION ALL SELECT -0.2) t", "true true"),
        (
            "SELECT 'a%b' ILIKE 'AX%B' ESCAPE 'X', 'axcb' ILIKE 'Ax%B' ESCAPE 'X', 'A%' LIKE 'AX%' ESCAPE 'X'",
            "true|false|true",
        ),
        (
            "SELECT TRY_CAST('0A' AS INTEGER), TRY_CAST('a_1' AS INTEGER), 1 _a, CAST('0' AS INTEGER)",
            "null|null|1|0",
        ),
        ("SELECT strftime(DATE '2026-01-05', '%-m/%-d/%-y %-I %-j 100%%')", "1/5/26 12 5 100%"),
        (
            "SELECT split_part('a---b', '--', -1), split_part('aaa', 'aa', -1), split_part('a,b', ',', -2), split_part('a,b', ',', -3)",
            "-b|a|a|",
        ),
        (
            "SELECT length(trim(' \u{a0}\u{2003}a\u{3000}\u{1680}')), length(ltrim('\u{202f}a ')), length(rtrim('\ta\u{200b}\n'))",
            "1|2|4",
        ),
        (
            "SELECT TRY_CAST(12345 AS DECIMAL(6,1)) = 12345, TRY_CAST(123456 AS DECIMAL(6,1)), TRY_CAST(99999.95 AS DECIMAL(6,1))",
            "true|null|null",
        ),
        (
            "SELECT CAST(-1.25 AS DECIMAL(3,1)) = -1.3, TRY_CAST(123.4 AS DECIMAL(2)), CAST(1 AS DECIMAL(38,2)) = 1",
            "true|null|true",
        ),
        (
            "SELECT sum(x), sum(-x) FROM (SELECT 9223372036854775806 AS x UNION ALL SELECT 1) t",
            "9223372036854775807|-9223372036854775807",
        ),
        ("SELECT 'total' AS k, count(*) AS n FROM filings WHERE county = 'Nowhere' GROUP BY ALL", "total|0"),
        ("SELECT 'a' AS k, county, count(*) FROM filings WHERE county = 'Nowhere' GROUP BY ALL", ""),
        ("SELECT 'a' AS k, count(*) AS n FROM filings WHERE county = 'Nowhere' GROUP BY k", ""),
        ("SELECT 'a' AS k FROM filings WHERE county = 'Lee' OR zip = '32210' GROUP BY ALL", "a a"),
        (
            "SELECT entity_type, count(*) FROM filings AS f(a, entity_type, c, d) WHERE listed GROUP BY entity_type",
            "|9",
        ),
        ("SELECT true = 1 IN (1, 5), false = 2 IN (1, 5), NOT 1 = 2 IN (3)", "true|true|true"),
        ("SELECT false = 2 BETWEEN 1 AND 5, 2 BETWEEN 1 AND 3 = true, 1 + 1 IN (2)", "false|true|true"),
        ("SELECT false = 'a' ILIKE 'b', 'a' LIKE 'a' = true, 'a' || 'b' LIKE 'a' || '%'", "true|true|true"),
        ("SELECT false = 1 IN (SELECT 2), 1 IN (1) IN (false), false <> 2 NOT IN (2)", "true|false|false"),
        ("SELECT true IS DISTINCT FROM false AND false, 1 IS NOT DISTINCT FROM 2 OR true", "false|true"),
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

/// The keys of each side had the value of both, or no column.
#[test]
fn a_join_with_using_has_one_column_of_both_sides_and_one_of_each() {
    let sides = "(SELECT 1 AS k, 10 AS a UNION ALL SELECT 2, 20) f {} JOIN (SELECT 1 AS k, 5 AS b UNION ALL SELECT 3, 7) g USING (k)";
    let third = "(SELECT 3 AS k, 8 AS c UNION ALL SELECT 4, 9) h USING (k)";
    for (how, select, answer) in [
        ("INNER", "*", "1|10|5"),
        ("LEFT", "*", "1|10|5 2|20|null"),
        ("RIGHT", "*", "1|10|5 3|null|7"),
        ("FULL", "*", "1|10|5 2|20|null 3|null|7"),
        ("INNER", "k, f.k, g.k", "1|1|1"),
        ("LEFT", "k, f.k, g.k", "1|1|1 2|2|null"),
        ("RIGHT", "k, f.k, g.k", "1|1|1 3|null|3"),
        ("FULL", "k, f.k, g.k", "1|1|1 2|2|null 3|null|3"),
        ("FULL", "f.*, g.*", "1|10|1|5 2|20|null|null null|null|3|7"),
        ("FULL", "* EXCLUDE (k)", "10|5 20|null null|7"),
        ("FULL", "g.k + f.a", "11 null null"),
        ("SEMI", "*", "1|10"),
        ("ANTI", "k, f.k", "2|2"),
    ] {
        let sql = format!("SELECT {select} FROM {} ORDER BY k", sides.replace("{}", how));
        assert_eq!(asked(&sql), answer, "{sql}");
    }
    let outer = sides.replace("{}", "FULL");
    for (sql, answer) in [
        (
            format!("SELECT k, f.k, g.k, h.k FROM {outer} FULL JOIN {third} ORDER BY k"),
            "1|1|1|null 2|2|null|null 3|null|3|3 4|null|null|4",
        ),
        (format!("SELECT * FROM {outer} RIGHT JOIN {third} ORDER BY k"), "3|null|7|8 4|null|null|9"),
        (format!("SELECT count(*) FROM {outer} WHERE f.k IS NULL"), "1"),
        ("SELECT g.* FROM (SELECT 1 AS k) f RIGHT JOIN (SELECT 2 AS k) g USING (k)".to_owned(), "2"),
        (format!("SELECT k, count(*) FROM {outer} GROUP BY k ORDER BY k"), "1|1 2|1 3|1"),
        (
            "SELECT count(d.filed_date) = count(*), min(filed_date = f.filed_date) FROM filings f JOIN days d USING (filed_date)"
                .to_owned(),
            "true|true",
        ),
    ] {
        assert_eq!(asked(&sql), answer, "{sql}");
    }
    let said = asked(&format!("SELECT f.k, count(*) FROM {outer} GROUP BY k"));
    assert!(said.starts_with("k is selected from groups"), "{said}");
}

/// An alias came before the column of its name everywhere in ORDER BY, and the first of two aliases before the last.
#[test]
fn an_alias_is_sorted_by_where_it_is_alone_and_inside_of_an_expression_the_column_is() {
    let table = "(SELECT 'a' AS k, 5 AS x UNION ALL SELECT 'b', 1 UNION ALL SELECT 'c', 9) t";
    for (select, order, answer) in [
        ("k, -x AS x", "x", "c|-9 a|-5 b|-1"),
        ("k, -x AS x", "(x)", "c|-9 a|-5 b|-1"),
        ("k, -x AS x", "x + 0", "b|-1 a|-5 c|-9"),
        ("k, -x AS x", "t.x", "b|-1 a|-5 c|-9"),
        ("k, -x AS y", "y + 0", "c|-9 a|-5 b|-1"),
        ("k, -x AS x", "rank() OVER (ORDER BY x)", "b|-1 a|-5 c|-9"),
        ("x AS y, -x AS y", "y", "9|-9 5|-5 1|-1"),
        ("*, -x AS x", "x", "c|9|-9 a|5|-5 b|1|-1"),
        ("-x AS x, *", "x", "-9|c|9 -5|a|5 -1|b|1"),
    ] {
        let sql = format!("SELECT {select} FROM {table} ORDER BY {order}");
        assert_eq!(asked(&sql), answer, "{sql}");
    }
    let grouped = format!("SELECT k, sum(x) AS x FROM {table} GROUP BY k ORDER BY");
    assert_eq!(asked(&format!("{grouped} sum(x) DESC")), "c|9 a|5 b|1");
    assert_eq!(asked(&format!("{grouped} rank() OVER (ORDER BY sum(x))")), "b|1 a|5 c|9");
    assert_eq!(asked(&format!("{grouped} x")), "b|1 a|5 c|9");
}

/// The offset was dropped everywhere, and a day was compared with a text as with a time.
#[test]
fn a_time_has_its_offset_and_a_text_next_to_a_day_is_a_day() {
    for written in ["-05:00", "-05", "-0500", ".5-05:00", "-05:00:30"] {
        let sql =
            format!("SELECT TIMESTAMPTZ '2026-11-28 23:00:00{written}' >= TIMESTAMP '2026-11-29 04:00:00'");
        assert_eq!(asked(&sql), "true", "{sql}");
    }
    for (condition, answer) in [
        ("TIMESTAMPTZ '2026-11-28 23:00:00+05:30' = TIMESTAMP '2026-11-28 17:30:00'", "true"),
        ("CAST('2026-11-28 23:00:00-05' AS TIMESTAMPTZ) = TIMESTAMP '2026-11-29 04:00:00'", "true"),
        ("TIMESTAMPTZ '2026-11-28 23:00-05' = TIMESTAMP '2026-11-29 04:00:00'", "true"),
        ("TIMESTAMPTZ '2026-11-28T23:00:00Z' = TIMESTAMP '2026-11-28 23:00:00'", "true"),
        ("TIMESTAMP '2026-11-28 23:00:00-05:00' = TIMESTAMP '2026-11-28 23:00:00'", "true"),
        ("CAST('2026-11-28 23:00:00-05' AS TIMESTAMP) = TIMESTAMP '2026-11-28 23:00:00'", "true"),
        ("CAST('2026-11-28 23:00:00-05' AS DATE) = DATE '2026-11-28'", "true"),
        (
            "TRY_CAST('2026-02-30' AS DATE) IS NULL AND TRY_CAST('2026-13-01 08:00:00' AS TIMESTAMP) IS NULL",
            "true",
        ),
        ("max(changed_at) = '1970-01-01 01:00:00+01'", "true"),
        ("count_if(filed_date = '2026-06-15 12:00:00')", "2"),
        ("count_if(filed_date < '2026-06-15 12:00:00')", "1"),
        ("count_if(filed_date IN ('2026-06-15 12:00:00'))", "2"),
        ("count_if(filed_date BETWEEN '2026-06-15 12:00:00' AND '2026-07-01 01:00:00')", "3"),
        ("count_if(filed_date = TIMESTAMP '2026-06-15 12:00:00')", "0"),
    ] {
        assert_eq!(asked(&format!("SELECT {condition} FROM filings LIMIT 1")), answer, "{condition}");
    }
    for (sql, says) in [
        ("SELECT hour('2026-06-15 12:00:00')", "name the type of the text"),
        ("SELECT TIMESTAMPTZ '2026-11-28 23:00:00 -05:00'", "a text is used as a day"),
        ("SELECT TIMESTAMP '2026-11-28 23:59:60'", "in another form"),
        ("SELECT CAST('2026-02-30' AS DATE)", "is not a day"),
    ] {
        let said = asked(sql);
        assert!(said.contains(says) && said.lines().count() == 1, "{sql}: {said}");
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
        (
            "SELECT CASE WHEN business_id = 1 THEN 0 ELSE 5 % (business_id - 1) END FROM filings",
            "in a part of a CASE that is not taken: use NULLIF(x, 0)",
        ),
        ("SELECT CASE WHEN zip <> '' THEN CAST(zip AS INTEGER) END FROM filings", "TRY_CAST gives NULL"),
        ("SELECT 1_000 AS a", "write 1000"),
        ("SELECT TRY_CAST('1_000' AS INTEGER)", "in another form"),
        ("SELECT TRY_CAST('-0x1F' AS BIGINT)", "in another form"),
        ("SELECT TRY_CAST('1_000' AS DOUBLE)", "in another form"),
        ("SELECT ntile(2.0) OVER (ORDER BY name) FROM filings", "ntile takes a whole number"),
        ("SELECT nth_value(name, 1.0) OVER () FROM filings", "nth_value takes a whole number"),
        ("SELECT row_number() FILTER (WHERE listed) OVER () FROM filings", "is not run here"),
        ("SELECT first_value(DISTINCT name) OVER () FROM filings", "is not run here"),
        (
            "SELECT sum(1) OVER (ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW) FROM filings",
            "begins after its end",
        ),
        (
            "SELECT sum(1) OVER (ROWS BETWEEN CURRENT ROW AND UNBOUNDED PRECEDING) FROM filings",
            "begins after its end",
        ),
        ("SELECT 'a' LIKE 'b' ESCAPE 'xy'", "more than one character"),
        ("SELECT DATE '2026-01-01' + INTERVAL '1' YEAR TO MONTH", "no number of days or months"),
        ("SELECT strftime(DATE '2026-01-05', '%-a')", "a form that is not known"),
        ("SELECT strftime(DATE '2026-01-05', 'x%-')", "a form that is not known"),
        ("SELECT CAST(123456 AS DECIMAL(6,1))", "123456 is too large for the type"),
        ("SELECT CAST(CAST(1.5 AS DECIMAL(3,1)) * 100 AS DECIMAL(3,1))", "150.0 is too large for the type"),
        ("SELECT CAST(1 AS DECIMAL(2,4))", "is not known"),
        (
            "SELECT sum(x) FROM (SELECT 2305843009213694207 AS x UNION ALL SELECT 2305843009213694207 UNION ALL SELECT 2305843009213694207 UNION ALL SELECT 2305843009213693187) t",
            "a sum is beyond 64 bits",
        ),
        (
            "SELECT sum(x) FROM (SELECT -9223372036854775807 AS x UNION ALL SELECT -1 UNION ALL SELECT -1) t",
            "a sum is beyond 64 bits",
        ),
        ("SELECT county, row_number() OVER () AS n FROM filings GROUP BY ALL", "GROUP BY is about one row"),
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
