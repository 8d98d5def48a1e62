//! Details and officers for a lake's filings, from the sample that made it, for servers that need them.

use super::source::{self, Source};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::Path;
use sunlake::sample::{SampleSpec, businesses};
use sunlake::table::{DetailRow, OfficerRow, Row};

/// Makes a snapshot folder of the source's tables, with details and officers of every business of [`source::small`].
pub(crate) fn snapshot_with_details(source: &Source, folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    let tables = source.lake.join("current").canonicalize().expect("a snapshot");
    for table in std::fs::read_dir(tables).expect("tables").flatten() {
        if !["details", "officers"].iter().any(|name| table.file_name() == *name) {
            symlink(table.path(), folder.join(table.file_name())).expect("a link");
        }
    }
    let today = source.today.parse().expect("a day");
    let spec = SampleSpec {
        seed: 1,
        today,
        days: source::SMALL_DAYS,
        scale: source::SMALL_SCALE,
        shape: sunlake::sample::Shape::Plain,
    };
    let at = jiff::Timestamp::UNIX_EPOCH;
    let (mut details, mut officers) = (Vec::new(), Vec::new());
    for business in businesses(&spec) {
        let id = business.detail.summary.business_id().expect("an id");
        details.push(DetailRow::from_detail(&business.detail, at).expect("a row"));
        officers.extend(
            (0..).zip(&business.officers).map(|(place, officer)| OfficerRow::new(id, place, officer, at)),
        );
    }
    write_rows(&folder.join(DetailRow::TABLE.name()), &details);
    write_rows(&folder.join(OfficerRow::TABLE.name()), &officers);
}

/// Makes a folder with the rows in one file.
pub(crate) fn write_rows<R: Row>(folder: &Path, rows: &[R]) {
    let batch = R::batch(rows).expect("a batch");
    std::fs::create_dir_all(folder).expect("a folder");
    let file = File::create(folder.join("part.parquet")).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
}
