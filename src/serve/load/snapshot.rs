//! Loading a snapshot: all its tables that the API shows.

use super::files::{self, LoadError, each_row};
use super::filings;
use crate::contract::business::Officer;
use crate::contract::reference::Industries;
use crate::serve::index::builder::SeenChange;
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
    builder.is_of_state = files::folder(snapshot, Table::Imports).is_dir();
    filings::load_filings(snapshot, &mut builder)?;
    load_details(snapshot, &mut builder)?;
    load_officers(snapshot, &mut builder)?;
    load_changes(snapshot, &mut builder)?;
    builder.counties = load_counties(snapshot)?;
    builder.industries = Some(load_industries(snapshot)?).filter(|lists| !lists.sectors.is_empty());
    builder.finish().map_err(|source| LoadError::Rows(snapshot.to_owned(), source))
}

/// Adds the details of each business that was looked up. Those by month of filing stay in their files.
fn load_details(snapshot: &Path, builder: &mut IndexBuilder) -> Result<(), LoadError> {
    builder.stored_details = files::by_month(snapshot, Table::Details)?;
    if !builder.stored_details.is_empty() {
        return Ok(());
    }
    each_row(snapshot, |row: DetailRow| builder.push_detail(&row))
}

/// Adds the officers of each business that has any. Those by month of filing stay in their files.
fn load_officers(snapshot: &Path, builder: &mut IndexBuilder) -> Result<(), LoadError> {
    builder.stored_officers = files::by_month(snapshot, Table::Officers)?;
    if !builder.stored_officers.is_empty() {
        return Ok(());
    }
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
    use crate::contract::id::DocumentNumber;
    use crate::contract::reference::{Sector, Segment};
    use crate::serve::fixture::{SEEN_AT, detail, filing, write_table as write, write_table};
    use crate::serve::index::listing_query::ListingQuery;
    use crate::table::FilingRow;
    use jiff::civil::date;

    #[test]
    fn a_snapshot_has_its_lists_and_its_vanished_rows_are_found_by_id_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let snapshot = folder.path();
        let july = [filing("2", "2026-07-31", true), filing("3", "2026-07-31", false)];
        write(snapshot, Table::Filings, "filed_month=2026-07/part-a.parquet", &july);
        let june = [filing("1", "2026-06-30", true)];
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
        let row = |id: &str| index.row_of_id(id.parse().expect("an id"));
        assert_eq!(row("3").map(|row| index.columns.uncoded.ids[row as usize]), Some(3));
        let officers = |id| index.officers_of(row(id).expect("a row")).expect("readable");
        assert_eq!(officers("1").as_deref(), Some("[{\"name\":\"A\",\"title\":\"MGR\"}]"));
        let detail = |id| index.detail_json(row(id).expect("a row")).expect("readable");
        assert!(detail("1").is_some() && detail("2").is_none());
        assert_eq!(
            index.county_names,
            ["BAY", "DUVAL"].map(|key| CountyName { key: key.to_owned(), name: key.to_owned() })
        );
        assert_eq!(index.industries.sectors[0].types, ["food.bar", "food.cafe"]);
        assert_eq!(index.stats(date(2026, 7, 31)).updated_at, "2026-07-31T16:00:00Z");
        assert_eq!(index.stats(date(2026, 7, 31)).businesses_total, 2);
    }

    #[test]
    fn details_and_officers_by_month_stay_in_their_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let snapshot = folder.path();
        let filings = [filing("1", "2026-07-30", true), filing("2", "2026-07-31", true)];
        write(snapshot, Table::Filings, "filed_month=2026-07/part-a.parquet", &filings);
        let details = [detail(1, 30), detail(2, 0)];
        let details = details.map(|detail| DetailRow::from_detail(&detail, SEEN_AT).expect("a row"));
        write(snapshot, Table::Details, "filed_month=2026-07/d.parquet", &details);
        let officer = |at: i32| Officer { name: format!("{:02}", 29 - at), title: "MGR".to_owned() };
        let officers: Vec<_> = (0..30).map(|at| OfficerRow::new(1, at, &officer(at), SEEN_AT)).collect();
        write(snapshot, Table::Officers, "filed_month=2026-07/o.parquet", &officers);
        let index = load_snapshot(snapshot).expect("an index");
        let row = |id: &str| index.row_of_id(id.parse().expect("an id")).expect("a row");
        let shown: Vec<Officer> = (0..25).map(|at| officer(29 - at)).collect();
        let list = index.officers_of(row("1")).expect("readable").expect("a list");
        assert_eq!(list, serde_json::to_string(&shown).expect("JSON"));
        assert_eq!(index.officers_of(row("2")).expect("readable").as_deref(), Some("[]"));
        let text = index.detail_json(row("1")).expect("readable").expect("a detail");
        let found: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(found["data"]["officer_count"], 30, "{found}");
        std::fs::remove_dir_all(snapshot.join("details")).expect("removed");
        assert!(index.detail_json(row("1")).is_err());
    }

    #[test]
    fn a_type_that_the_api_does_not_have_is_counted_and_not_served_from_the_states_files() {
        let (folder, day) = (tempfile::tempdir().expect("a folder"), date(2026, 7, 31));
        let number = "L26000000002";
        let other = FilingRow {
            entity_type: "other".to_owned(),
            document_number: number.to_owned(),
            ..filing("2", "2026-07-31", true)
        };
        let rows = [filing("1", "2026-07-31", true), other];
        write(folder.path(), Table::Filings, "f.parquet", &rows);
        // What is served: rows, the look-ups, the listing and the count of the day, the county's two; and what the statistics count.
        let counts = || {
            let index = load_snapshot(folder.path()).expect("an index");
            let number = DocumentNumber::parse(number).expect("a number");
            let found = [index.row_of_id(2), index.row_of_document(&number)].iter().flatten().count();
            let listed = ListingQuery::of_day(day).page(&index, 0, 9).total;
            let counties = index.county_counts(day);
            let county = counties.iter().find(|county| county.key == "HILLSBOROUGH").expect("a county");
            let of_county = [county.active_businesses, county.filings_last_7_days];
            let (stats, of_day) = (index.stats(day), index.listed_on(day));
            let month = stats.monthly.last().expect("a month");
            let counted =
                [stats.businesses_total, stats.filings.last_7_days, month.total, month.by_type["other"]];
            (index.rows(), found, listed, of_day, of_county, counted)
        };
        assert_eq!(counts(), (2, 2, 2, 2, [2, 2], [2, 2, 2, 1]), "as the API listed it");
        std::fs::create_dir(folder.path().join("imports")).expect("made");
        assert_eq!(counts(), (1, 0, 1, 1, [1, 1], [2, 2, 2, 1]));
    }

    #[test]
    fn a_folder_without_filings_a_duplicate_and_a_damaged_file_are_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(matches!(load_snapshot(folder.path()), Err(LoadError::NoFilings(_))));
        let twice = [filing("2", "2026-07-31", true), filing("2", "2026-07-30", true)];
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
