//! What an equality meant that no row has: `county = 'MIAMI-DADE'`.

use crate::aggregate::compared_texts;
use crate::cli::exit::CommandError;
use crate::contract::nearest::nearest;

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

/// Of a query that found nothing, which of its texts no row has, and the nearest that there is. `csv` answers SQL as CSV.
pub(super) fn hints(
    sql: &str,
    csv: &dyn Fn(String) -> Result<String, CommandError>,
) -> Result<Vec<String>, CommandError> {
    let mut hints = Vec::new();
    for (column, table, text) in equalities(sql) {
        let values = csv(format!("SELECT {column} FROM {table} GROUP BY {column}"))?;
        let known: Vec<&str> = values.lines().skip(1).map(|line| line.trim_matches('"')).collect();
        let hint = |meant| format!("no row has {column} = '{text}'; did you mean '{meant}'?");
        hints.extend(meant(&text, &known).map(hint));
    }
    Ok(hints)
}

/// The known value nearest to a text that is none of them. Another month is no misspelt one: of those, the one that a day is in.
fn meant<'k>(text: &str, known: &[&'k str]) -> Option<&'k str> {
    if known.contains(&text) {
        return None;
    }
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return known.iter().copied().find(|value| !value.is_empty() && text.starts_with(value));
    }
    let same_letters = known.iter().copied().find(|value| value.to_lowercase() == text.to_lowercase());
    same_letters.or_else(|| nearest(text, known.iter().copied(), ALIKE))
}

/// Column, table and text of the equalities of a query that compare one of the columns with a text.
fn equalities(sql: &str) -> Vec<(&'static str, &'static str, String)> {
    let of_few_values = |(name, text): (String, String)| {
        let (column, table) = COLUMNS.iter().find(|(column, _)| column.eq_ignore_ascii_case(&name))?;
        Some((*column, *table, text))
    };
    compared_texts(sql).into_iter().filter_map(of_few_values).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equalities_are_those_of_columns_of_few_values() {
        let sql = "SELECT name FROM filings f WHERE f.county = 'MIAMI-DADE' AND City_Clean='Orlando' AND name = 'X' \
                   AND status <> 'active' AND entity_type >= 'llc'";
        let expected =
            [("county", "filings", "MIAMI-DADE".to_owned()), ("city_clean", "filings", "Orlando".to_owned())];
        assert_eq!(equalities(sql), expected);
        assert_eq!(equalities("SELECT 1"), []);
    }

    #[test]
    fn what_is_meant_has_the_same_letters_or_nearly() {
        let known = ["Miami-Dade", "Duval", "ORLANDO"];
        assert_eq!(meant("MIAMI-DADE", &known), Some("Miami-Dade"));
        assert_eq!(meant("Orlando", &known), Some("ORLANDO"));
        assert_eq!(meant("Duvall", &known), Some("Duval"));
        assert_eq!((meant("Duval", &known), meant("Bay", &known)), (None, None));
        let months = ["2026-09", "2026-10", ""];
        assert_eq!(meant("2026-10-01", &months), Some("2026-10"));
        assert_eq!((meant("2026-11", &months), meant("2026-10", &months)), (None, None));
    }
}
