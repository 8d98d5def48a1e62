//! The API's lists of counties and industries, as last observed.

use super::error::LoadError;
use super::files::each_row;
use crate::contract::reference::Industries;
use crate::serve::index::CountyName;
use crate::table::{CountyRow, IndustryTypeRow, Row, SegmentRow, industries};
use jiff::civil::Date;
use std::path::Path;

/// The counties by key and display name, in the order of their keys.
pub(super) fn load_counties(snapshot: &Path) -> Result<Vec<CountyName>, LoadError> {
    let rows = newest(snapshot, |row: &CountyRow| row.observed_on)?;
    Ok(rows.into_iter().map(|row| CountyName { key: row.key.to_uppercase(), name: row.name }).collect())
}

/// The industry lists, sorted.
pub(super) fn load_industries(snapshot: &Path) -> Result<Industries, LoadError> {
    let types = newest(snapshot, |row: &IndustryTypeRow| row.observed_on)?;
    let segments = newest(snapshot, |row: &SegmentRow| row.observed_on)?;
    Ok(industries(&types, &segments))
}

/// The rows of a list as it was last observed, sorted.
fn newest<R: Row + Ord>(snapshot: &Path, observed_on: impl Fn(&R) -> Date) -> Result<Vec<R>, LoadError> {
    let mut rows: Vec<R> = Vec::new();
    each_row(snapshot, |row: R| rows.push(row))?;
    let newest = rows.iter().map(&observed_on).max();
    rows.retain(|row| Some(observed_on(row)) == newest);
    rows.sort();
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::reference::Segment;
    use crate::serve::fixture::write_table;
    use crate::table::Table;
    use jiff::civil::date;

    #[test]
    fn an_empty_segment_has_no_sectors_and_no_types() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let segment = |key: &str, sectors: &[&str], types: &[&str]| Segment {
            key: key.to_owned(),
            sectors: words(sectors),
            types: words(types),
        };
        let segments = [segment("meals", &["food"], &["trade.inn"]), segment("nothing", &[], &[])];
        let rows: Vec<_> =
            segments.iter().flat_map(|segment| SegmentRow::from(date(2026, 7, 31), segment)).collect();
        let snapshot = tempfile::tempdir().expect("a folder");
        write_table(snapshot.path(), Table::IndustrySegments, "s.parquet", &rows);
        assert_eq!(load_industries(snapshot.path()).expect("lists").segments, segments);
    }
}
