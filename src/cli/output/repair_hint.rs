//! What is added to an error about a file of the lake: why it cannot be read, and how damage is put right.

use crate::export::ExportError;
use crate::lake::LakeError;
use crate::pipeline::PipelineError;
use crate::table::TableError;
use std::error::Error;
use std::io;
use std::path::Path;

/// What puts damage right.
pub(crate) const MENDS: &str = "`sunlake verify --repair` puts right what it can";

pub(crate) fn of_pipeline(error: &PipelineError) -> String {
    match error {
        PipelineError::Lake(error) => of_lake(error),
        PipelineError::Table(error) => of_table(error),
        PipelineError::Export(error) => of_export(error),
        _ => String::new(),
    }
}

pub(crate) fn of_export(error: &ExportError) -> String {
    match error {
        ExportError::Lake(error) => of_lake(error),
        ExportError::Table(error) => of_table(error),
        _ => String::new(),
    }
}

pub(crate) fn of_lake(error: &LakeError) -> String {
    match error {
        // Its own words end with how to look at the whole lake.
        LakeError::Damaged { .. } => format!(", {MENDS}"),
        LakeError::Storage { path, source, .. } if is_lost(path, source) => format!("; {MENDS}"),
        _ => String::new(),
    }
}

/// Its own words leave out why.
fn of_table(error: &TableError) -> String {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    match error {
        TableError::Io { path, source, .. } if is_lost(path, source) => format!("{cause}; {MENDS}"),
        _ => cause,
    }
}

/// Whether a file of a table is missing.
pub(crate) fn is_lost(path: &Path, source: &io::Error) -> bool {
    source.kind() == io::ErrorKind::NotFound && path.extension().is_some_and(|found| found == "parquet")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit::{CommandError, STORAGE};
    use std::path::PathBuf;

    #[test]
    fn damage_and_a_missing_table_file_are_told_with_what_puts_them_right() {
        let lost = |name: &str| LakeError::Storage {
            op: "open",
            path: PathBuf::from(name),
            source: io::Error::from(io::ErrorKind::NotFound),
        };
        let damaged = LakeError::Damaged { path: PathBuf::from("x"), what: "no".to_owned() };
        for error in [
            CommandError::from(PipelineError::from(damaged)),
            CommandError::from(lost("part-1.parquet")),
            CommandError::from(ExportError::from(lost("part-2.parquet"))),
        ] {
            assert!(error.to_string().ends_with(MENDS), "{error}");
            assert_eq!(error.code(), STORAGE, "{error}");
        }
        let other = CommandError::from(lost("record.json")).to_string();
        assert!(!other.contains(MENDS), "{other}");
    }

    #[test]
    fn an_error_of_a_table_is_told_with_its_cause() {
        let source = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = TableError::Io { action: "open", path: PathBuf::from("part-1.parquet"), source };
        let told = CommandError::from(PipelineError::from(error)).to_string();
        assert!(told.starts_with("cannot open part-1.parquet: "), "{told}");
    }
}
