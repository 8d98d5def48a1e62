//! What `DuckDB` answers in its own way: keys of joins, aliases, times, operators, groups, numbers, texts.

use super::asked;

fn assert_answers(answers: &[(&str, &str)]) {
    for (sql, answer) in answers {
        assert_eq!(asked(sql), *answer, "{sql}");
    }
}

fn assert_refused(refused: &[(&str, &str)]) {
    for (sql, says) in refused {
        let said = asked(sql);
        assert!(said.contains(says) && said.lines().count() == 1, "{sql}: {said}");
    }
}

/// The keys of each side had the value of both, or no column.
#[test]
fn a_join_with_using_has_one_column_of_both_sides_and_one_of_each() {
    let joined = |how: &str| {
        format!(
            "(SELECT 1 AS k, 10 AS a UNION ALL SELECT 2, 20) f {how} JOIN (SELECT 1 AS k, 5 AS b UNION ALL SELECT 3, 7) g USING (k)"
        )
    };
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
        let sql = format!("SELECT {select} FROM {} ORDER BY k", joined(how));
        assert_eq!(asked(&sql), answer, "{sql}");
    }
    let outer = joined("FULL");
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
    let other = |key: &str| format!("FULL JOIN (SELECT '{key}' AS k) g USING (k) ORDER BY k");
    for (select, rest, answer) in [
        ("x AS y, -x AS y, y + 0", "WHERE k = 'a'".to_owned(), "5|-5|-5"),
        ("x AS y, -x AS y", "WHERE y > 0".to_owned(), ""),
        ("t.k, g.k", other("aa"), "a|null null|aa b|null c|null"),
        ("g.k", other("b"), "b null null"),
    ] {
        let sql = format!("SELECT {select} FROM {table} {rest}");
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
        ("CAST(DATE '2026-11-28' AS TIMESTAMP) = '2026-11-27 23:00:00-01:00'", "false"),
        ("CAST(DATE '2026-11-28' AS TIMESTAMPTZ) = '2026-11-27 23:00:00-01:00'", "true"),
        ("DATE '2026-11-27' + INTERVAL 1 DAY = '2026-11-28 00:00:00-05:00'", "true"),
        ("min(date_trunc('month', filed_date)) IN ('2026-05-31 23:00:00-01:00')", "false"),
        ("date_trunc('hour', TIMESTAMPTZ '2026-11-28 00:00:00Z') = '2026-11-28 01:00:00+01:00'", "true"),
        (
            "TIMESTAMP '2026-11-28 00:00:00' IN ('2026-11-28 01:00:00+01:00', TIMESTAMPTZ '2026-11-28 09:00:00Z')",
            "true",
        ),
        ("count_if(filed_date = '2026-06-15 12:00:00')", "2"),
        ("count_if(filed_date < '2026-06-15 12:00:00')", "1"),
        ("count_if(filed_date IN ('2026-06-15 12:00:00'))", "2"),
        ("count_if(filed_date BETWEEN '2026-06-15 12:00:00' AND '2026-07-01 01:00:00')", "3"),
        ("count_if(filed_date = TIMESTAMP '2026-06-15 12:00:00')", "0"),
    ] {
        assert_eq!(asked(&format!("SELECT {condition} FROM filings LIMIT 1")), answer, "{condition}");
    }
    assert_refused(&[
        ("SELECT hour('2026-06-15 12:00:00')", "name the type of the text"),
        ("SELECT TIMESTAMPTZ '2026-11-28 23:00:00 -05:00'", "a text is used as a day"),
        ("SELECT TIMESTAMP '2026-11-28 23:59:60'", "a text is used as a day"),
        ("SELECT CAST('2026-11-28 23:59:60' AS TIMESTAMP)", "in another form"),
        ("SELECT CAST('2026-02-30' AS DATE)", "is not a day"),
    ]);
}

#[test]
fn operators_bind_as_in_duckdb() {
    assert_answers(&[
        ("SELECT true = 1 IN (1, 5), false = 2 IN (1, 5), NOT 1 = 2 IN (3)", "true|true|true"),
        ("SELECT false = 2 BETWEEN 1 AND 5, 2 BETWEEN 1 AND 3 = true, 1 + 1 IN (2)", "false|true|true"),
        ("SELECT false = 'a' ILIKE 'b', 'a' LIKE 'a' = true, 'a' || 'b' LIKE 'a' || '%'", "true|true|true"),
        ("SELECT false = 1 IN (SELECT 2), 1 IN (1) IN (false), false <> 2 NOT IN (2)", "true|false|false"),
        ("SELECT true IS DISTINCT FROM false AND false, 1 IS NOT DISTINCT FROM 2 OR true", "false|true"),
        (
            "SELECT (1 < 2) < 3, 2 = (2 = 2), NULL IS DISTINCT FROM 1 = NULL, 0 = 1 IS FALSE",
            "true|false|false|true",
        ),
    ]);
    assert_refused(&[
        ("SELECT 1 < 2 < 3", "use AND: a < b AND b < c"),
        ("SELECT count(*) FROM filings WHERE NOT county = zip <> city", "in a row"),
        ("SELECT 1 = 1 IN (1) = true", "in a row"),
    ]);
}

#[test]
fn groups_are_by_what_depends_on_the_row() {
    assert_answers(&[
        ("SELECT 'total' AS k, count(*) AS n FROM filings WHERE county = 'Nowhere' GROUP BY ALL", "total|0"),
        ("SELECT 'a' AS k, county, count(*) FROM filings WHERE county = 'Nowhere' GROUP BY ALL", ""),
        ("SELECT 'a' AS k, count(*) AS n FROM filings WHERE county = 'Nowhere' GROUP BY k", ""),
        ("SELECT 'a' AS k FROM filings WHERE county = 'Lee' OR zip = '32210' GROUP BY ALL", "a a"),
        // The files have another column of this name.
        (
            "SELECT entity_type, count(*) FROM filings f(a, entity_type, c, d) WHERE listed GROUP BY entity_type",
            "|9",
        ),
    ]);
    assert_refused(&[(
        "SELECT county, row_number() OVER () AS n FROM filings GROUP BY ALL",
        "GROUP BY is about one row",
    )]);
}

#[test]
fn numbers_are_those_of_duckdb() {
    assert_answers(&[
        ("SELECT TRY_CAST(12345 AS DECIMAL(6,1)) = 12345, TRY_CAST(123456 AS DECIMAL(6,1))", "true|null"),
        ("SELECT TRY_CAST(99999.95 AS DECIMAL(6,1)), TRY_CAST(123.4 AS DECIMAL(2))", "null|null"),
        ("SELECT CAST(-1.25 AS DECIMAL(3,1)) = -1.3, CAST(1 AS DECIMAL(38,2)) = 1", "true|true"),
        (
            "SELECT sum(x), sum(-x) FROM (SELECT 9223372036854775806 AS x UNION ALL SELECT 1) t",
            "9223372036854775807|-9223372036854775807",
        ),
        ("SELECT TRY_CAST('0A' AS INTEGER), TRY_CAST('a_1' AS INTEGER), 1 _a", "null|null|1"),
        (
            "SELECT TRY_CAST('\u{a0}5' AS INTEGER), TRY_CAST('\t5\n' AS INTEGER), TRY_CAST('\u{2003}5' AS DOUBLE)",
            "null|5|null",
        ),
        ("SELECT TRY_CAST(' true' AS BOOLEAN), TRY_CAST('Yes' AS BOOLEAN)", "null|true"),
        (
            "SELECT TRY_CAST('32801-1234' AS INTEGER), TRY_CAST(' 2026-01-05 ' AS DATE) = '2026-01-05'",
            "null|true",
        ),
        (
            "SELECT nullif(1, 2.5) || '', nullif(0.5, 0.25) || '', nullif(2, 2.0), nullif(1, NULL)",
            "1|0.5|null|1",
        ),
        ("SELECT lag(x, 1, 9.5) OVER () || '', lead(x, 1, '7') OVER () FROM (SELECT 1 AS x) t", "10|7"),
        ("SELECT floor(3) || '', ceil(3) || '', trunc(3) || '', floor(2.5) || ''", "3.0|3.0|3|2"),
        ("SELECT median(CAST(x AS DOUBLE)) FROM (SELECT -0.1 AS x UNION ALL SELECT -0.4) t", "-0.25"),
    ]);
    assert_refused(&[
        ("SELECT CAST(123456 AS DECIMAL(6,1))", "123456 is too large for the type"),
        ("SELECT median(0.1 * length(name)) FROM filings", "depends on its digits"),
        ("SELECT quantile_cont(-0.5, 0.3) OVER () FROM filings", "depends on its digits"),
        ("SELECT CAST(CAST(1.5 AS DECIMAL(3,1)) * 100 AS DECIMAL(3,1))", "150.0 is too large for the type"),
        ("SELECT CAST(1 AS DECIMAL(2,4))", "is not known"),
        (
            "SELECT sum(x) FROM (SELECT 2305843009213694207 AS x UNION ALL SELECT 2305843009213694207 \
             UNION ALL SELECT 2305843009213694207 UNION ALL SELECT 2305843009213693187) t",
            "a sum is beyond 64 bits",
        ),
        (
            "SELECT sum(x) FROM (SELECT -9223372036854775807 AS x UNION ALL SELECT -1 UNION ALL SELECT -1) t",
            "a sum is beyond 64 bits",
        ),
        ("SELECT 1_000 AS a", "write 1000"),
        ("SELECT TRY_CAST('1_000' AS INTEGER)", "in another form"),
        ("SELECT TRY_CAST('-0x1F' AS BIGINT)", "in another form"),
        ("SELECT TRY_CAST('1e5.' AS INTEGER)", "in another form"),
        ("SELECT TRY_CAST('+-5' AS DOUBLE)", "in another form"),
        ("SELECT TRY_CAST('Epoch' AS DATE)", "in another form"),
        ("SELECT TRY_CAST('-infinity' AS TIMESTAMP)", "in another form"),
        ("SELECT TRY_CAST('1-1-1' AS DATE)", "in another form"),
        ("SELECT TRY_CAST('2026-01-05 10:00:00\t' AS DATE)", "in another form"),
        ("SELECT TRY_CAST('\u{a0}2026-01-05' AS DATE)", "in another form"),
        ("SELECT TRY_CAST('1_000' AS DOUBLE)", "in another form"),
    ]);
}

#[test]
fn texts_are_those_of_duckdb() {
    assert_answers(&[
        ("SELECT split_part('a---b', '--', -1), split_part('aaa', 'aa', -1)", "-b|a"),
        ("SELECT split_part('a,b', ',', -2), split_part('a,b', ',', -3), split_part('a,b', ',', 3)", "a||"),
        ("SELECT length(trim(' \u{a0}\u{2003}a\u{3000}\u{1680}')), length(ltrim('\u{202f}a '))", "1|2"),
        ("SELECT length(rtrim('\ta\u{200b}\n'))", "4"),
        ("SELECT 'a%b' ILIKE 'AX%B' ESCAPE 'X', 'axcb' ILIKE 'Ax%B' ESCAPE 'X'", "true|false"),
        ("SELECT 'A%' LIKE 'AX%' ESCAPE 'X', 'Ab' LIKE 'AX%' ESCAPE 'X'", "true|false"),
        (
            "SELECT 'ΟΔΟΣ' ILIKE 'οδος', 'ΟΔΟΣ' ILIKE '%οσ', 'İx' ILIKE '_X', 'K' ILIKE 'k'",
            "false|true|true|true",
        ),
        ("SELECT upper('ßᾀῳᾶŉ') = 'ẞᾈῼᾶŉ', lower('ΣİẞᾈῼK') = 'σißᾀῳk'", "true|true"),
        ("SELECT strftime(DATE '2026-01-05', '%-m/%-d/%-y %-I %-j 100%%')", "1/5/26 12 5 100%"),
    ]);
}

/// Each ran as if one of its parts was not there.
#[test]
fn what_duckdb_refuses_is_refused() {
    assert_refused(&[
        ("SELECT ntile(2.0) OVER (ORDER BY name) FROM filings", "ntile takes a whole number"),
        ("SELECT nth_value(name, 1.0) OVER () FROM filings", "nth_value takes a whole number"),
        ("SELECT row_number() FILTER (WHERE listed) OVER () FROM filings", "is not run here"),
        ("SELECT first_value(DISTINCT name) OVER () FROM filings", "is not run here"),
        (
            "SELECT sum(1) OVER (ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW) FROM filings",
            "after its end",
        ),
        (
            "SELECT sum(1) OVER (ROWS BETWEEN CURRENT ROW AND UNBOUNDED PRECEDING) FROM filings",
            "after its end",
        ),
        ("SELECT 'a' LIKE 'b' ESCAPE 'xy'", "more than one character"),
        ("SELECT DATE '2026-01-01' + INTERVAL '1' YEAR TO MONTH", "no number of days or months"),
        ("SELECT strftime(DATE '2026-01-05', '%-a')", "a form that is not known"),
        ("SELECT strftime(DATE '2026-01-05', '%-Y')", "a form that is not known"),
        ("SELECT strftime(DATE '2026-01-05', 'x%-')", "a form that is not known"),
    ]);
}

/// All parts of a CASE are computed.
#[test]
fn an_error_in_a_case_names_what_avoids_it() {
    assert_refused(&[
        (
            "SELECT CASE WHEN business_id = 1 THEN 0 ELSE 5 % (business_id - 1) END FROM filings",
            "in a part of a CASE that is not taken: use NULLIF(x, 0)",
        ),
        ("SELECT CASE WHEN zip <> '' THEN CAST(zip AS INTEGER) END FROM filings", "TRY_CAST gives NULL"),
    ]);
}
