//! Loading a snapshot: all its tables that the API shows.

use super::files::LoadError;
use super::files::each_row;
use super::{files, filings};
use crate::contract::business::Officer;
use crate::contract::reference::Industries;
use crate::serve::index::builder::{DetailTail, SeenChange};
use crate::serve::index::{CountyName, Index, IndexBuilder};
use crate::table::{
    Change, ChangeRow, CountyRow, DetailRow, IndustryTypeRow, OfficerRow, Row, SegmentRow, Table, industries,
};
use std::path::Path;

/// The index of a snapshot: its filings, and its details, officers, changes, counties and industries where it has them.
pub(crate) fn load_snapshot(snapshot: &Path) -> Result<Index, LoadError> {
    let mut builder = IndexBuilder::default();
    if !files::folder(snapshot, Table::Filings).is_dir() {
        return Err(LoadError::NoFilings(snapshot.to_owned()));
    }
    builder.identity = files::identity(snapshot)?;
    filings::load_filings(snapshot, &mut builder)?;
    load_details(snapshot, &mut builder)?;
    load_officers(snapshot, &mut builder)?;
    load_changes(snapshot, &mut builder)?;
    builder.counties = load_counties(snapshot)?;
    builder.industries = Some(load_industries(snapshot)?).filter(|lists| !lists.sectors.is_empty());
    builder.finish().map_err(|source| LoadError::Rows(snapshot.to_owned(), source))
}

/// Adds the details of each business that was looked up.
fn load_details(snapshot: &Path, builder: &mut IndexBuilder) -> Result<(), LoadError> {
    each_row(snapshot, |row: DetailRow| {
        let (principal, mailing) = (row.principal_address(), row.mailing_address());
        let tail = DetailTail {
            principal_address: &principal,
            mailing_address: mailing.as_ref(),
            registered_agent_name: &row.registered_agent_name,
            formation_state: &row.formation_state,
            last_annual_report_year: row.last_annual_report_year,
            officer_count: row.officer_count,
            license_count: row.license_count,
        };
        builder.push_tail(row.business_id, &tail);
    })
}

/// Adds the officers of each business that has any.
fn load_officers(snapshot: &Path, builder: &mut IndexBuilder) -> Result<(), LoadError> {
    let mut officers: Vec<(i64, Officer)> = Vec::new();
    each_row(snapshot, |row: OfficerRow| officers.push((row.business_id, row.into_officer())))?;
    officers.sort();
    for group in officers.chunk_by(|a, b| a.0 == b.0) {
        builder.push_officers(group[0].0, group.iter().map(|(_, officer)| officer));
    }
    Ok(())
}

/// Adds what changed of each business. First readings are left out: they are most of the rows.
fn load_changes(snapshot: &Path, builder: &mut IndexBuilder) -> Result<(), LoadError> {
    each_row(snapshot, |row: ChangeRow| {
        let change = SeenChange {
            observed_at: row.observed_at,
            observed_on: row.observed_on,
            change: row.change.name(),
            field: &row.field,
            old: row.old.as_deref(),
            new: row.new.as_deref(),
        };
        if row.change != Change::Appeared {
            builder.push_change(row.business_id, &change);
        }
    })
}

/// The counties by key and display name, in the order of their keys.
fn load_counties(snapshot: &Path) -> Result<Vec<CountyName>, LoadError> {
    let rows: Vec<CountyRow> = sorted(snapshot)?;
    let names =
        rows.into_iter().map(|row| CountyName { key: row.county_key.to_uppercase(), name: row.county });
    Ok(names.collect())
}

/// The industry lists, sorted.
fn load_industries(snapshot: &Path) -> Result<Industries, LoadError> {
    let (types, segments): (Vec<IndustryTypeRow>, Vec<SegmentRow>) = (sorted(snapshot)?, sorted(snapshot)?);
    Ok(industries(&types, &segments))
}

fn sorted<R: Row + Ord>(snapshot: &Path) -> Result<Vec<R>, LoadError> {
    let mut rows: Vec<R> = Vec::new();
    each_row(snapshot, |row: R| rows.push(row))?;
    rows.sort();
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::id::BusinessIdParam;
    use crate::contract::reference::{Sector, Segment};
    use crate::serve::fixture::{SEEN_AT, detail, filing, write_table as write, write_table};
    use jiff::civil::date;

    #[test]
    fn a_snapshot_has_its_lists_and_its_vanished_rows_are_found_by_id_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let snapshot = folder.path();
        let july = [filing("2", "2026-07-31", "true"), filing("3", "2026-07-31", "false")];
        write(snapshot, Table::Filings, "filed_month=2026-07/part-a.parquet", &july);
        let june = [filing("1", "2026-06-30", "true")];
        write(snapshot, Table::Filings, "filed_month=2026-06/part-b.parquet", &june);
        let looked_up = DetailRow::from_detail(&detail(1, 1), SEEN_AT).expect("a row");
        write(snapshot, Table::Details, "d.parquet", &[looked_up]);
        let officer = Officer { name: "A".to_owned(), title: "MGR".to_owned() };
        write(snapshot, Table::Officers, "o.parquet", &[OfficerRow::new(1, 0, &officer, SEEN_AT)]);
        let county = |key: &str| CountyRow {
            observed_on: date(2026, 7, 31),
            county: key.to_owned(),
            county_key: key.to_owned(),
            filings_last_7_days: 0,
            filings_last_30_days: 0,
            filings_previous_30_days: 0,
            active_businesses: 0,
        };
        let counties = [county("DUVAL"), county("BAY")];
        write(snapshot, Table::Counties, "c.parquet", &counties);
        let types = ["food.cafe", "food.bar"].map(str::to_owned).to_vec();
        let food = Sector { sector: "food".to_owned(), types };
        write(snapshot, Table::IndustryTypes, "i.parquet", &IndustryTypeRow::from(date(2026, 7, 31), &food));

        let index = load_snapshot(snapshot).expect("an index");
        assert_eq!((index.rows(), index.listed_on(date(2026, 7, 31))), (3, 1));
        assert_eq!(index.listed_on(date(2026, 6, 30)), 1);
        let row = |id| index.row_of_id(BusinessIdParam::parse(id).expect("an id"));
        assert_eq!(row("3").map(|row| index.columns.uncoded.ids[row as usize]), Some(3));
        assert_eq!(index.officers_of(row("1").expect("a row")), Some("[{\"name\":\"A\",\"title\":\"MGR\"}]"));
        assert!(index.detail_json(row("1").expect("a row")).is_some());
        assert!(index.detail_json(row("2").expect("a row")).is_none());
        assert_eq!(
            index.county_names,
            ["BAY", "DUVAL"].map(|key| CountyName { key: key.to_owned(), name: key.to_owned() })
        );
        assert_eq!(index.industries.sectors[0].types, ["food.bar", "food.cafe"]);
        assert_eq!(index.stats(date(2026, 7, 31)).updated_at, "2026-07-31T16:00:00Z");
        assert_eq!(index.stats(date(2026, 7, 31)).businesses_total, 2);
    }

    #[test]
    fn a_folder_without_filings_a_duplicate_and_a_damaged_file_are_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(matches!(load_snapshot(folder.path()), Err(LoadError::NoFilings(_))));
        let twice = [filing("2", "2026-07-31", "true"), filing("2", "2026-07-30", "true")];
        write(folder.path(), Table::Filings, "f.parquet", &twice);
        let error = load_snapshot(folder.path()).expect_err("a duplicate");
        assert!(error.to_string().contains("business 2 occurs twice"), "{error}");
        std::fs::write(folder.path().join("filings/f.parquet"), "no parquet").expect("written");
        assert!(matches!(load_snapshot(folder.path()), Err(LoadError::Damaged(..))));
    }

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
