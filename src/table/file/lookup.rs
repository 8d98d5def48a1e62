//! The rows of one business in a file: only the pages that have them are read, and of the columns only those that are asked for.
//!
//! The bounds of the pages of `business_id` say where the business may be. Its rows are found in this column, then read in the others.
//! A file without these bounds, or with large pages, is read in the same way: there is more to read. Pages of the format's second version
//! and encodings that this program does not write are refused.

use super::column_values::{ColumnValues, Unpacker};
use super::placed::PlacedFile;
use crate::table::error::TableError;
use crate::table::row::Part;
use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::PageLocation;
use parquet::file::statistics::Statistics;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The column by which a business is found. Rows are sorted by it.
pub(super) const ID: &str = "business_id";

/// A file whose footer is known.
pub(super) struct KnownFile<'a> {
    pub(super) file: &'a Arc<PlacedFile>,
    pub(super) path: &'a Path,
    pub(super) footer: &'a ArrowReaderMetadata,
    pub(super) unpacker: &'a Unpacker,
}

impl KnownFile<'_> {
    /// The rows of a business, in the order of the file.
    pub(super) fn rows_of_business<P: Part>(&self, business_id: i64) -> Result<Vec<P::Row>, TableError> {
        let id = self.place(ID)?;
        let shown = P::COLUMNS.iter().map(|column| self.place(column)).collect::<Result<Vec<_>, _>>()?;
        let mut found = Vec::new();
        for group in 0..self.footer.metadata().num_row_groups() {
            let rows = self.rows_with(group, id, business_id)?;
            if !rows.is_empty() {
                found.extend(P::rows(&self.batch(group, &shown, &rows)?)?);
            }
        }
        Ok(found)
    }

    /// The rows of a row group whose id is this one.
    fn rows_with(&self, group: usize, id: usize, business_id: i64) -> Result<Vec<usize>, TableError> {
        let maybe = rows_of_pages(self.footer.metadata(), group, id, business_id).into_iter().flatten();
        let ids = self.column(group, id).values::<i64>(maybe.clone());
        let ids = ids.map_err(|source| self.damaged(source))?;
        let rows = maybe.zip(ids).filter(|(_, found)| *found == Some(business_id));
        Ok(rows.map(|(row, _)| row).collect())
    }

    /// Some columns of some rows of a row group.
    fn batch(&self, group: usize, columns: &[usize], rows: &[usize]) -> Result<RecordBatch, TableError> {
        let arrays = columns.iter().map(|column| self.column(group, *column).array(rows));
        let arrays = arrays.collect::<Result<Vec<_>, _>>().map_err(|source| self.damaged(source))?;
        let schema = self.footer.schema().project(columns);
        schema
            .and_then(|schema| RecordBatch::try_new(Arc::new(schema), arrays))
            .map_err(|source| TableError::arrow("read", self.path.display().to_string(), source))
    }

    fn column(&self, group: usize, column: usize) -> ColumnValues<'_> {
        ColumnValues { file: self.file, footer: self.footer, unpacker: self.unpacker, group, column }
    }

    fn damaged(&self, source: ParquetError) -> TableError {
        TableError::parquet("read", self.path, source)
    }

    /// Where a column is in the file.
    fn place(&self, column: &str) -> Result<usize, TableError> {
        let place = self.footer.schema().index_of(column);
        place.map_err(|_| TableError::no_column(self.path.display().to_string(), column))
    }
}

/// The rows of the pages of a row group that may have an id; all of its rows where the file does not say.
fn rows_of_pages(footer: &ParquetMetaData, group: usize, id: usize, business_id: i64) -> Vec<Range<usize>> {
    let may_be = |min: Option<&i64>, max: Option<&i64>| {
        min.is_none_or(|min| *min <= business_id) && max.is_none_or(|max| *max >= business_id)
    };
    let rows = footer.row_group(group);
    let all = usize::try_from(rows.num_rows()).unwrap_or(0);
    match rows.column(id).statistics() {
        Some(Statistics::Int64(span)) if !may_be(span.min_opt(), span.max_opt()) => return Vec::new(),
        _ => {}
    }
    let index = footer.page_index_for_row_group(group);
    let (Some(ColumnIndexMetaData::INT64(bounds)), Some(pages)) =
        (index.column_index(id), index.page_locations(id))
    else {
        return std::iter::once(0..all).filter(|rows| !rows.is_empty()).collect();
    };
    let starts = || pages.iter().map(|page| usize::try_from(page.first_row_index).unwrap_or(all));
    let pages = starts().zip(starts().skip(1).chain([all])).enumerate();
    pages
        .filter(|(page, _)| may_be(bounds.min_value(*page), bounds.max_value(*page)))
        .map(|(_, (start, end))| start..end)
        .collect()
}

/// Checks that the pages of each column have all rows and all bytes of it, one after another: readers trust them.
pub(super) fn check_pages(footer: &ParquetMetaData) -> Result<(), ParquetError> {
    for (group, rows) in footer.row_groups().iter().enumerate() {
        let index = footer.page_index_for_row_group(group);
        for column in 0..rows.num_columns() {
            let bounds = index.column_index(column).map(|bounds| bounds.num_pages());
            let Some(pages) = index.page_locations(column) else { continue };
            let is_sound =
                are_all(pages, rows, column) && bounds.is_none_or(|most| most == pages.len() as u64);
            if !is_sound {
                let name = rows.column(column).column_path().string();
                return Err(ParquetError::General(format!("the index of the pages of {name} is not sound")));
            }
        }
    }
    Ok(())
}

fn are_all(pages: &[PageLocation], rows: &RowGroupMetaData, column: usize) -> bool {
    let (start, length) = rows.column(column).byte_range();
    let end = start.checked_add(length);
    let starts_of_rows = || pages.iter().map(|page| page.first_row_index);
    let rows_grow =
        starts_of_rows().zip(starts_of_rows().skip(1).chain([rows.num_rows()])).all(|(from, to)| from < to);
    let starts = || pages.iter().map(|page| u64::try_from(page.offset).ok());
    let ends = pages.iter().map(|page| {
        let length = u64::try_from(page.compressed_page_size).ok()?;
        u64::try_from(page.offset).ok()?.checked_add(length)
    });
    // A dictionary comes before the first page.
    let begins = starts().next().is_none_or(|first| first >= Some(start));
    let joined = ends.zip(starts().skip(1).chain([end])).all(|(end, next)| end.is_some() && end == next);
    rows_grow && starts_of_rows().next().unwrap_or(0) == 0 && begins && joined
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::contract::business::Officer;
    use crate::table::business::{DetailRow, OfficerRow, ShownDetail, ShownOfficer};
    use crate::table::file::kept_footers::{KeptFooters, footer_of};
    use crate::table::file::properties::ROW_GROUP_ROWS;
    use crate::table::file::write::tests::{part, write_batch, write_rows};
    use crate::table::order::sort_batch;
    use crate::table::row::Row;
    use crate::table::tables::Table;
    use jiff::Timestamp;
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    use std::fs::File;

    /// Officers of a business: three, in a file sorted by descending id.
    pub(crate) fn officers(business_id: i64) -> [OfficerRow; 3] {
        [0, 1, 2].map(|position| {
            let officer = Officer { name: format!("{business_id} {position}"), title: "MGR".to_owned() };
            OfficerRow::new(business_id, position, &officer, Timestamp::UNIX_EPOCH)
        })
    }

    fn detail(business_id: i64) -> DetailRow {
        DetailRow {
            business_id,
            principal_street: format!("{} Oak Street {business_id}", business_id * 7_919 % 10_007),
            registered_agent_name: format!("agent {}", business_id % 50),
            ..DetailRow::default()
        }
    }

    pub(crate) fn shown(officers: &[OfficerRow]) -> Vec<OfficerRow> {
        let shown = |row: &OfficerRow| OfficerRow {
            name: row.name.clone(),
            title: row.title.clone(),
            ..OfficerRow::default()
        };
        officers.iter().map(shown).collect()
    }

    fn footer(table: Table, path: &Path) -> (Arc<PlacedFile>, ArrowReaderMetadata) {
        let (file, _) = PlacedFile::open(path).expect("a file");
        let footer = footer_of(table, path, &file).expect("a footer");
        (Arc::new(PlacedFile::open(path).expect("a file").0), footer)
    }

    #[test]
    fn a_look_up_finds_the_rows_of_a_business_at_each_border() {
        let (_folder, path) = part();
        let last = 14_000;
        let rows: Vec<OfficerRow> = (1..=last).flat_map(|number| officers(2 * number)).collect();
        write_rows(&rows, &path, &[]).expect("written");
        let (file, footer) = footer(Table::Officers, &path);
        let unpacker = Unpacker::default();
        let known = KnownFile { file: &file, path: &path, footer: &footer, unpacker: &unpacker };
        let pages = footer.metadata().page_index_for_row_group(0).num_data_pages(2);
        assert_eq!((footer.metadata().num_row_groups(), pages), (2, Some(20)));
        // The rows of a page and of a row group are no multiple of three: each border is within a business.
        let rows = usize::try_from(3 * last).expect("rows");
        for border in (0..=rows).step_by(Table::Officers.page_rows().expect("rows")) {
            for business in [border.saturating_sub(3), border, border + 3].map(|row| row / 3) {
                let id = 2 * (last - i64::try_from(business).expect("a number"));
                let expected = if id > 0 { shown(&officers(id)) } else { Vec::new() };
                assert_eq!(known.rows_of_business::<ShownOfficer>(id).expect("rows"), expected, "{id}");
                let absent = known.rows_of_business::<ShownOfficer>(id + 1).expect("no rows");
                assert_eq!(absent, [], "{id}");
            }
        }
        assert_eq!(rows / ROW_GROUP_ROWS, 1);
    }

    #[test]
    fn only_the_pages_of_a_business_are_read() {
        let (_folder, path) = part();
        let rows: Vec<DetailRow> = (1..=20_000).map(detail).collect();
        write_rows(&rows, &path, &[]).expect("written");
        let (file, footer) = footer(Table::Details, &path);
        let unpacker = Unpacker::default();
        let known = KnownFile { file: &file, path: &path, footer: &footer, unpacker: &unpacker };
        let found = known.rows_of_business::<ShownDetail>(7_777).expect("rows");
        assert_eq!(found, [DetailRow { business_id: 0, ..detail(7_777) }]);
        let index = footer.metadata().page_index_for_row_group(0);
        let page = |column: usize| {
            // The file is sorted by descending id.
            let page = &index.page_locations(column).expect("pages")[(20_000 - 7_777) / 512];
            usize::try_from(page.compressed_page_size).expect("a size")
        };
        let group = footer.metadata().row_group(0);
        let dictionary = |column: usize| {
            let chunk = group.column(column);
            let bytes = chunk.dictionary_page_offset().map_or(0, |at| chunk.data_page_offset() - at);
            usize::try_from(bytes).expect("a size")
        };
        let most: usize = (0..group.num_columns()).map(|column| page(column) + dictionary(column)).sum();
        let all = std::fs::metadata(&path).expect("a file").len() as usize;
        assert!(file.bytes_read() <= most && most < all / 10, "{} of {most}, {all}", file.bytes_read());
        let before = file.bytes_read();
        assert_eq!(known.rows_of_business::<ShownDetail>(20_001).expect("no rows"), []);
        assert_eq!(file.bytes_read(), before, "bounds alone say that it is not there");
    }

    #[test]
    fn files_with_large_pages_or_without_their_index_are_read() {
        let (folder, _) = part();
        let rows: Vec<OfficerRow> = (1..=3_000).flat_map(|number| officers(2 * number)).collect();
        let batch = sort_batch(Table::Officers, &OfficerRow::batch(&rows).expect("a batch")).expect("sorted");
        let large = folder.path().join("large.parquet");
        write_batch(None, &batch, &large, &[]).expect("written");
        let plain = folder.path().join("plain.parquet");
        let properties = WriterProperties::builder()
            .set_offset_index_disabled(true)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_max_row_group_row_count(Some(2_048));
        let file = File::create(&plain).expect("a file");
        let mut writer =
            ArrowWriter::try_new(file, batch.schema(), Some(properties.build())).expect("a writer");
        writer.write(&batch).expect("written");
        writer.close().expect("written");
        let footers = KeptFooters::within(1 << 20);
        for path in [&large, &plain] {
            for id in [2, 2_048, 4_096, 5_998, 6_000] {
                let found = footers.rows_of_business::<ShownOfficer>(path, id).expect("rows");
                assert_eq!(found, shown(&officers(id)));
            }
            for id in [0, 3, 6_001] {
                let found = footers.rows_of_business::<ShownOfficer>(path, id).expect("no rows");
                assert_eq!(found, []);
            }
        }
    }
}
