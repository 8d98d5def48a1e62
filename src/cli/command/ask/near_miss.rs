//! What a text meant that no row has: `county = 'MIAMI-DADE'`.

use crate::aggregate::compared_texts;
use crate::contract::hint::nearest;
use crate::export::described::quoted;
use serde_json::Value;
use std::collections::BTreeMap;

/// Columns of few values, and a table that has all of these.
const COLUMNS: [(&str, &str); 9] = [
    ("city_clean", "filings"),
    ("county", "filings"),
    ("county_key", "filings"),
    ("entity_type", "filings"),
    ("filed_month", "filings"),
    ("industry_sector", "filings"),
    ("industry_type", "filings"),
    ("status", "filings"),
    ("change", "changes"),
];
/// How alike values are that are taken for one another.
const ALIKE: f64 = 0.8;
/// At most this number of values is shown where none is near.
const MOST_SHOWN: usize = 20;

/// Of a query, which of its texts no row has, and what may be meant. `rows` answers SQL; there are no hints of what it
/// cannot read. Of a query that found rows, only texts in other letters are named: another table may have the others, as
/// `coverage` has the type `*`.
pub(super) fn hints(sql: &str, has_found: bool, rows: &dyn Fn(String) -> Option<Vec<Value>>) -> Vec<String> {
    let values = |query: String| -> Vec<String> {
        let first = |row: &Value| Some(row.as_object()?.values().next()?.as_str()?.to_owned());
        rows(query).iter().flatten().filter_map(first).collect()
    };
    let (mut hints, compared) = (Vec::new(), compared_texts(sql));
    let mut read: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, text) in &compared.equal {
        let of_few = COLUMNS.iter().find(|(column, _)| column.eq_ignore_ascii_case(name));
        if let Some((column, table)) = of_few {
            // A list has many texts of one column.
            if !read.contains_key(column) {
                let sql = format!("SELECT {column} FROM {table} GROUP BY {column} ORDER BY {column}");
                read.insert(column, values(sql));
            }
            hints.extend(hint(column, text, &read[column], has_found));
        } else if name.eq_ignore_ascii_case("name") && !has_found {
            let capitals = quoted(&text.to_uppercase());
            let named = values(format!("SELECT name FROM filings WHERE upper(name) = {capitals} LIMIT 1"));
            hints.extend(named.first().map(|meant| did_you_mean("name", text, meant)));
        }
    }
    if !has_found && let Some((column, pattern)) = compared.like.first() {
        hints.push(format!(
            "LIKE takes capitals and small letters as they are: {column} ILIKE '{pattern}' does not"
        ));
    }
    let null = |column| format!("nothing is equal to NULL: {column} IS NULL, or IS NOT NULL");
    hints.extend(compared.null.first().map(null));
    hints.dedup();
    hints
}

fn did_you_mean(column: &str, text: &str, meant: &str) -> String {
    format!("no row has {column} = '{text}'; did you mean '{meant}'?")
}

/// What is said of a text that is none of the known values; nothing where nothing is near and there are many.
fn hint(column: &str, text: &str, known: &[String], has_found: bool) -> Option<String> {
    let known: Vec<&str> = known.iter().map(String::as_str).filter(|value| !value.is_empty()).collect();
    if text.is_empty() || known.contains(&text) {
        return None;
    }
    if has_found {
        return in_other_letters(text, &known).map(|meant| did_you_mean(column, text, meant));
    }
    meant(text, &known).map(|meant| did_you_mean(column, text, meant)).or_else(|| {
        let is_few = (1..=MOST_SHOWN).contains(&known.len());
        is_few.then(|| format!("no row has {column} = '{text}'; there are {}", known.join(", ")))
    })
}

/// The known value that differs from a text by its capitals alone.
fn in_other_letters<'k>(text: &str, known: &[&'k str]) -> Option<&'k str> {
    let small = text.to_lowercase();
    known.iter().copied().find(|value| value.to_lowercase() == small)
}

/// The known value nearest to a text that is none of them. Another month is no misspelt one: of those, the one that a day is in.
fn meant<'k>(text: &str, known_values: &[&'k str]) -> Option<&'k str> {
    let known = || known_values.iter().copied();
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return known().find(|value| text.starts_with(value));
    }
    let small = text.to_lowercase();
    let is_part = |value: &&str| value.to_lowercase().split(['-', '.', ' ']).any(|part| part == small);
    in_other_letters(text, known_values)
        .or_else(|| nearest(text, known(), ALIKE))
        .or_else(|| known().find(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_equalities_lists_and_patterns() {
        let sql = "SELECT name FROM filings f WHERE f.county = 'MIAMI-DADE' AND City_Clean<>'Orlando' AND entity_type >= 'llc' \
                   AND county IN ('orange', 'Lee') AND name LIKE 'Sun%' AND f.dissolved_date = NULL";
        let compared = compared_texts(sql);
        let pairs = |texts: &[(&str, &str)]| -> Vec<(String, String)> {
            texts.iter().map(|(column, text)| ((*column).to_owned(), (*text).to_owned())).collect()
        };
        let equal =
            [("county", "MIAMI-DADE"), ("City_Clean", "Orlando"), ("county", "orange"), ("county", "Lee")];
        assert_eq!((compared.equal, compared.like), (pairs(&equal), pairs(&[("name", "Sun%")])));
        assert_eq!(compared.null, ["dissolved_date"]);
        assert!(compared_texts("SELECT 1").equal.is_empty());
    }

    #[test]
    fn what_is_meant_has_the_same_letters_or_nearly_or_is_a_part() {
        let known = ["Miami-Dade", "Duval", "ORLANDO"];
        for (text, expected) in [
            ("MIAMI-DADE", Some("Miami-Dade")),
            ("Orlando", Some("ORLANDO")),
            ("Duvall", Some("Duval")),
            ("Dade", Some("Miami-Dade")),
            ("Bay", None),
        ] {
            assert_eq!(meant(text, &known), expected, "{text}");
        }
        let months = ["2026-09", "2026-10"];
        assert_eq!([meant("2026-10-01", &months), meant("2026-11", &months)], [Some("2026-10"), None]);
    }

    #[test]
    fn of_few_values_all_are_shown() {
        let known = |number: usize| -> Vec<String> { (0..number).map(|at| format!("value{at}")).collect() };
        let shown = "no row has status = 'x'; there are value0, value1";
        assert_eq!(hint("status", "x", &known(2), false).as_deref(), Some(shown));
        assert_eq!([hint("status", "x", &known(21), false), hint("status", "x", &[], false)], [None, None]);
        let of_found = |text| hint("status", text, &known(2), true);
        assert_eq!(of_found("*"), None, "rows of another table have it");
        assert!(of_found("VALUE1").is_some());
        assert_eq!(
            [hint("status", "value1", &known(2), false), hint("status", "", &known(2), false)],
            [None, None]
        );
    }
}
