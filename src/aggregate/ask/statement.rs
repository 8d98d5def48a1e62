//! What is given as a query and is none: nothing, the name of a file, a statement that would change tables, another program's
//! command.

use crate::contract::nearest::nearest;

/// How alike a misspelt first word is to the right one.
const ALIKE: f64 = 0.8;

const BEGINNINGS: [&str; 4] = ["SELECT", "WITH", "FROM", "EXPLAIN"];
const CHANGING: [&str; 8] = ["ALTER", "CREATE", "DELETE", "DROP", "INSERT", "MERGE", "TRUNCATE", "UPDATE"];

/// What is wrong with a text that cannot be a query, and the way out.
pub(super) fn mistake(sql: &str) -> Option<(String, String)> {
    let sql = without_comments(sql);
    let ends = |c: char| c.is_whitespace() || c == '(' || c == ';';
    let word = sql.trim_start_matches('(').trim_start().split(ends).next().unwrap_or_default();
    let upper = word.to_uppercase();
    if sql.is_empty() {
        return Some((
            "it is empty".to_owned(),
            "such as: SELECT county, filings FROM agg_county_window".to_owned(),
        ));
    }
    if BEGINNINGS.contains(&&*upper) {
        return None;
    }
    if word.ends_with(".sql") {
        return Some((format!("{word} is a file"), format!("sunlake query -f {word}")));
    }
    let way_out = match nearest(&upper, BEGINNINGS, ALIKE) {
        Some(near) => format!("did you mean {near}?"),
        None if CHANGING.contains(&&*upper) => {
            "a query changes nothing; for tables of your own: `sunlake export duckdb FILE`".to_owned()
        }
        None => "for the tables: `sunlake status --tables`; for their columns: catalog/TABLES.md of the lake"
            .to_owned(),
    };
    Some((format!("a query begins with SELECT or WITH, not with {word}"), way_out))
}

/// The text from its first word that is no comment.
fn without_comments(sql: &str) -> &str {
    let mut rest = sql.trim();
    loop {
        let after = match rest {
            line if line.starts_with("--") => line.split_once('\n').map_or("", |(_, after)| after),
            block if block.starts_with("/*") => block.split_once("*/").map_or("", |(_, after)| after),
            other => return other,
        };
        rest = after.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_query_has_a_way_out() {
        for (text, wrong, way_out) in [
            ("", "it is empty", "such as: SELECT"),
            ("-- only a comment", "it is empty", "SELECT"),
            ("growth.sql", "growth.sql is a file", "sunlake query -f growth.sql"),
            ("SELEC 1", "not with SELEC", "did you mean SELECT?"),
            ("delete FROM filings", "not with delete", "a query changes nothing"),
            ("SHOW TABLES", "not with SHOW", "sunlake status --tables"),
            (".tables", "not with .tables", "catalog/TABLES.md"),
        ] {
            let (said, hint) = mistake(text).expect(text);
            assert!(said.contains(wrong) && hint.contains(way_out), "{said}; {hint}");
        }
        for query in
            ["select 1", " (SELECT 1)", "-- why\n/* and\nhow */ WITH a AS (SELECT 1) FROM a", "FROM filings"]
        {
            assert_eq!(mistake(query), None, "{query}");
        }
    }
}
