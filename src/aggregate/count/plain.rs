//! Finds the plain counts in SQL: queries in brackets that count the listed filings by a few columns.
//!
//! ```sql
//! (SELECT SUBSTR(CAST(f.filed_date AS STRING), 1, 7) AS filed_month, f.county, COUNT(*) AS filings
//!  FROM filings f WHERE f.listed GROUP BY SUBSTR(CAST(f.filed_date AS STRING), 1, 7), f.county)
//! ```
//!
//! Every aggregate of filings begins with one. Written in exactly this form it is counted by `rows`, several times as fast as
//! by the SQL engine; in any other form the engine runs it, with the same result. Pure.

use crate::table::{ColumnKind, Table, columns};
use std::ops::Range;

/// More columns are left to the SQL engine.
pub(super) const MOST_KEYS: usize = 4;

/// By what a query counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// The day.
    Day,
    /// The month of the day, as `YYYY-MM`.
    Month,
    /// A column of text.
    Text(&'static str),
}

impl Key {
    /// The name of its column in the result.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Day => "filed_date",
            Self::Month => "filed_month",
            Self::Text(name) => name,
        }
    }
}

/// A plain count in SQL.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PlainCount {
    pub(super) keys: Vec<Key>,
    /// Where it is in the SQL, without its brackets.
    pub(super) place: Range<usize>,
}

const MONTH: &str = "SUBSTR ( CAST ( f . filed_date AS STRING ) , 1 , 7 )";
const COUNT: &str = "COUNT ( * ) AS filings FROM filings f WHERE f . listed GROUP BY";

/// The plain counts in SQL, in its order.
pub(super) fn plain_counts(sql: &str) -> Vec<PlainCount> {
    let words = words(sql);
    let begins = (0..words.len()).filter(|at| words[*at].1 == "(");
    begins.filter_map(|at| Some(count_at(&words[at + 1..])?.finish(sql.len(), &words[at + 1..]))).collect()
}

struct Found {
    keys: Vec<Key>,
    words: usize,
}

impl Found {
    fn finish(self, end: usize, words: &[(usize, &str)]) -> PlainCount {
        let place = words[0].0..words.get(self.words).map_or(end, |(at, _)| *at);
        PlainCount { keys: self.keys, place }
    }
}

/// The count that begins here and ends with its bracket.
fn count_at(words: &[(usize, &str)]) -> Option<Found> {
    let mut reader = Reader { words, at: 0 };
    reader.take("SELECT")?;
    let mut keys = Vec::new();
    while reader.peek()? != "COUNT" {
        keys.push(reader.key(true)?);
        reader.take(",")?;
    }
    reader.take(COUNT)?;
    for (at, key) in keys.iter().enumerate() {
        if at > 0 {
            reader.take(",")?;
        }
        reader.key(false).filter(|by| by == key)?;
    }
    let found = Found { words: reader.at, keys };
    reader.take(")")?;
    (1..=MOST_KEYS).contains(&found.keys.len()).then_some(found)
}

struct Reader<'a> {
    words: &'a [(usize, &'a str)],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).map(|(_, word)| *word)
    }

    /// Takes these words, if they are next.
    fn take(&mut self, expected: &str) -> Option<()> {
        let mut at = self.at;
        for word in expected.split(' ') {
            self.words.get(at).filter(|(_, found)| *found == word)?;
            at += 1;
        }
        self.at = at;
        Some(())
    }

    /// Takes a key, in the list of columns with the name of a month.
    fn key(&mut self, is_column: bool) -> Option<Key> {
        if self.take(MONTH).is_some() {
            if is_column {
                self.take("AS filed_month")?;
            }
            return Some(Key::Month);
        }
        self.take("f .")?;
        let name = self.peek()?;
        self.at += 1;
        let column = columns(Table::Filings).iter().find(|column| column.name == name)?;
        match column.kind {
            _ if name == Key::Day.name() => Some(Key::Day),
            ColumnKind::Text => Some(Key::Text(column.name)),
            _ => None,
        }
    }
}

/// The words and signs of SQL with their places; comments are left out, a text in quotes is one word.
fn words(sql: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(first) = sql[at..].chars().next() {
        let rest = &sql[at..];
        let long = match first {
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '\'' | '"' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            _ if is_letter(first) => rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        if !first.is_whitespace() && !rest.starts_with("--") {
            words.push((at, &rest[..long]));
        }
        at += long;
    }
    words
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONTHLY: &str = "SELECT SUBSTR(CAST(f.filed_date AS STRING), 1, 7) AS filed_month, f.zip, COUNT(*) AS filings -- all\n
        FROM filings f WHERE f.listed GROUP BY SUBSTR(CAST(f.filed_date AS STRING), 1, 7), f.zip";

    #[test]
    fn a_plain_count_is_found_with_its_keys_and_its_place() {
        let sql = format!("WITH a AS ({MONTHLY}), b AS (SELECT 1) SELECT * FROM a -- ({MONTHLY}");
        let found = plain_counts(&sql);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].keys, [Key::Month, Key::Text("zip")]);
        assert_eq!(&sql[found[0].place.clone()], MONTHLY);
    }

    #[test]
    fn every_other_form_is_left_to_the_engine() {
        let bracketed = |sql: &str| plain_counts(&format!("WITH a AS ({sql}) SELECT * FROM a")).len();
        assert_eq!(bracketed(MONTHLY), 1);
        for (written, other) in [
            ("WHERE f.listed", "WHERE f.listed AND f.zip <> ''"),
            ("WHERE f.listed", "WHERE NOT f.listed"),
            ("filings f", "details f"),
            ("f.zip, COUNT", "f.zip AS z, COUNT"),
            ("f.zip, COUNT", "f.county, COUNT"),
            ("COUNT(*)", "COUNT(f.zip)"),
            (", 1, 7), f.zip", ", 1, 7), f.zip HAVING COUNT(*) > 1"),
            (", 1, 7) AS", ", 1, 4) AS"),
            ("f.zip", "f.business_id"),
            ("f.zip", "f.nothing"),
        ] {
            assert!(MONTHLY.contains(written), "{written}");
            assert_eq!(bracketed(&MONTHLY.replace(written, other)), 0, "{other}");
        }
        assert_eq!(bracketed("SELECT 'f' FROM filings f"), 0);
    }
}
