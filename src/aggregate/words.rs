//! What is wrong with SQL, in plain words, and the way out.

use crate::contract::nearest::nearest;

/// How alike names of tables and columns are that are taken for one another.
const ALIKE: f64 = 0.8;

/// The names nearest to a wrong one of a table or column, or all there are.
pub(crate) fn right_names(wrong: &str, known: &[&str]) -> String {
    match nearest(wrong, known.iter().copied(), ALIKE) {
        Some(near) => format!("did you mean {near}?"),
        None if known.is_empty() => "there is none".to_owned(),
        None => format!("there are {}", known.join(", ")),
    }
}

const NO_DAY: &str = "a text is used as a day and is none";
const A_DAY: &str = "a day is YYYY-MM-DD: '2026-11-20'";

const QUOTES: &str = "a text is in single quotes, a number in none: zip = '33101', business_id = 42";

/// Words of polars: a part of its message, what they mean, and the way out. Without a meaning, they are the message itself.
const MEANT: [(&str, &str, &str); 21] = [
    (
        "Unterminated string literal",
        "",
        "a text ends with a single quote, and a quote in it is written twice: 'O''NEIL'",
    ),
    ("one (and only one) statement", "it has more than one statement", "ask one query at a time"),
    ("appropriate format to parse dates", NO_DAY, A_DAY),
    ("cannot compare 'date/datetime/time' to a string value", NO_DAY, A_DAY),
    ("invalid DATE literal", NO_DAY, A_DAY),
    ("conversion from `str` to `date", NO_DAY, A_DAY),
    (
        "is a day, and it is compared with the number",
        "",
        "write a day as DATE '2026-03-01'; without quotes, 2026-03-01 is the number 2022",
    ),
    (
        "values in Date data",
        "a day is compared with something else",
        "write a day as DATE '2026-03-01'; without quotes, 2026-03-01 is the number 2022",
    ),
    ("cannot compare string with numeric type", "a text is compared with a number", QUOTES),
    ("values in String data", "a text is compared with something else", QUOTES),
    (
        "counts over other counts",
        "",
        "count first: WITH a AS (SELECT county, COUNT(*) AS n FROM filings GROUP BY county) SELECT *, SUM(n) OVER () AS state FROM a",
    ),
    (
        "and nothing is grouped",
        "",
        "name the column after GROUP BY too: SELECT county, COUNT(*) AS n FROM filings GROUP BY county",
    ),
    (
        "in ON is about one table",
        "",
        "join the rows that count: JOIN (SELECT * FROM details WHERE principal_state = 'FL') d ON d.business_id = f.business_id",
    ),
    (
        "is none of the columns to sort by",
        "",
        "name it: SELECT county, COUNT(*) AS n FROM filings GROUP BY county ORDER BY n",
    ),
    (
        "duplicate output name",
        "two columns have one name",
        "give them names: MIN(county) AS first, MAX(county) AS last",
    ),
    ("pattern must be a string literal", "", "a text is in single quotes: LIKE '%SUN%'"),
    ("relation '", "", "a table has no name before its own: FROM filings"),
    (
        "expected String type, got: date",
        "a day is used as a text",
        "for a month: filed_date BETWEEN DATE '2026-03-01' AND DATE '2026-03-31'",
    ),
    ("Expected: an expression, found: %", "", "a text is in single quotes: LIKE '%SUN%'"),
    ("Expected: ", "", "such as: SELECT name FROM filings WHERE county = 'Duval' LIMIT 10"),
    (
        "should participate in the GROUP BY",
        "",
        "name the column after GROUP BY too, or take MIN or MAX of it",
    ),
];

/// Functions that people ask for.
const FUNCTIONS: &str = "ABS AVG CAST COALESCE CONCAT COUNT DATE_PART EXTRACT FIRST LENGTH LOWER MAX MEDIAN MIN ROUND \
                         STDDEV STRPOS SUBSTR SUM UPPER";

/// Functions of other programs, and what to write here.
const OTHER_SQL: [(&str, &str); 3] = [
    ("CURRENT_DATE CURRENT_TIMESTAMP GETDATE NOW TODAY", "name the day: filed_date >= DATE '2026-03-01'"),
    ("DAY MONTH QUARTER WEEK YEAR", "such as: EXTRACT(YEAR FROM filed_date)"),
    ("DATE_TRUNC STRFTIME TO_CHAR", "the view businesses has filed_month, a DATE"),
];

/// A message of polars without what is no help.
pub(super) fn problem(said: &str) -> String {
    if let Some((column, _)) = unknown_column(said) {
        return format!("there is no column {column}");
    }
    if let Some((column, table)) = column_of_table(said) {
        return format!("there is no column {column} in {table}");
    }
    if let Some(name) = quoted_after(said, "no table or struct column named ") {
        return format!("nothing in the query is called {name}");
    }
    match (unknown_function(said), meant(said)) {
        (Some(function), _) => format!("there is no function {function}"),
        (None, Some((_, meaning, _))) if !meaning.is_empty() => (*meaning).to_owned(),
        _ => first_sentence(said).trim_start_matches("sql parser error: ").to_owned(),
    }
}

fn meant(said: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    MEANT.iter().find(|(part, ..)| said.contains(part))
}

fn unknown_function(said: &str) -> Option<&str> {
    quoted_after(said, "unsupported function ")
}

/// What is between single quotes after a text.
fn quoted_after<'s>(said: &'s str, before: &str) -> Option<&'s str> {
    said.split_once(before)?.1.strip_prefix('\'')?.split('\'').next()
}

/// The column that polars does not find in a table, and the table's name in the query.
pub(super) fn column_of_table(said: &str) -> Option<(&str, &str)> {
    Some((quoted_after(said, "no column named ")?, quoted_after(said, "found in table ")?))
}

/// The way out of a problem that polars reports.
pub(crate) fn way_out(said: &str) -> Option<String> {
    if let Some(function) = unknown_function(said) {
        let upper = function.to_uppercase();
        let known = OTHER_SQL.iter().find(|(names, _)| names.split(' ').any(|name| name == upper));
        if let Some((_, way_out)) = known {
            return Some((*way_out).to_owned());
        }
        return nearest(function, FUNCTIONS.split_whitespace(), ALIKE)
            .map(|near| format!("did you mean {near}?"));
    }
    if let Some((.., way_out)) = meant(said) {
        return Some((*way_out).to_owned());
    }
    let (column, known) = unknown_column(said)?;
    if nearest(&column, known.iter().map(String::as_str), ALIKE).is_none() {
        return Some(format!(
            "a text is in single quotes: '{column}'; for a column, there are {}",
            known.join(", ")
        ));
    }
    Some(right_names(&column, &known.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// The column that polars does not find, and those there are.
fn unknown_column(said: &str) -> Option<(String, Vec<String>)> {
    let (_, rest) = said.split_once("unable to find column \"")?;
    let (column, rest) = rest.split_once('"')?;
    let (_, known) = rest.split_once("valid columns: [")?;
    let known = known.split_once(']')?.0.split(", ").map(|name| name.trim_matches('"').to_owned());
    Some((column.to_owned(), known.filter(|name| !name.is_empty()).collect()))
}

/// The first line of a message; the rest is internal detail.
fn first_sentence(said: &str) -> &str {
    said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_column_is_a_name_misspelt_or_a_text_in_the_wrong_quotes() {
        let said = |column: &str| {
            format!(
                "not found: unable to find column \"{column}\"; valid columns: [\"county\", \"entity_type\"]"
            )
        };
        assert_eq!(problem(&said("kounty")), "there is no column kounty");
        assert_eq!(way_out(&said("kounty")).as_deref(), Some("did you mean county?"));
        assert_eq!(way_out(&said("COUNTY")).as_deref(), Some("did you mean county?"));
        let text = "a text is in single quotes: 'llc'; for a column, there are county, entity_type";
        assert_eq!(way_out(&said("llc")).as_deref(), Some(text));
        assert_eq!(problem("sql parser error: Expected: x\n\ninner"), "Expected: x");
        assert_eq!(way_out("unsupported function 'foo'"), None);
        assert_eq!(way_out("unsupported function 'cuont'").as_deref(), Some("did you mean COUNT?"));
        assert_eq!(problem("no column named 'kounty' found in table 'f'"), "there is no column kounty in f");
        let day = "conversion failed: could not find an appropriate format to parse dates, please define one";
        assert_eq!(problem(day), NO_DAY);
    }
}
