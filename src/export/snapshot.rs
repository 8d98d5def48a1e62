//! The snapshot and the tables to export.

use super::error::ExportError;
use crate::lake::{Commit, Lake};

/// The commit of a snapshot that has its files, published or pending review; without a number the newest that readers see.
pub(super) fn snapshot(lake: &Lake, number: Option<u64>) -> Result<Commit, ExportError> {
    match number {
        Some(number) => Ok(lake.present_or_pending(number)?),
        None => lake.current()?.ok_or_else(|| ExportError::NoSnapshot(lake.to_string())),
    }
}

/// The tables with these names; without names, every table that has a file.
pub(super) fn selected_tables(commit: &Commit, names: &[String]) -> Result<Vec<String>, ExportError> {
    let known = commit.tables.iter().filter(|(_, manifest)| !manifest.files.is_empty());
    let known: Vec<String> = known.map(|(name, _)| name.clone()).collect();
    if let Some(table) = names.iter().find(|name| !known.contains(name)) {
        let near = nearest(table, &known).map(str::to_owned);
        return Err(ExportError::NoTable { snapshot: commit.snapshot, table: table.clone(), known, near });
    }
    Ok(known.into_iter().filter(|name| names.is_empty() || names.contains(name)).collect())
}

/// The name nearest to a misspelt one, if one is near.
fn nearest<'n>(wrong: &str, names: &'n [String]) -> Option<&'n str> {
    let scored = names.iter().map(|name| (strsim::jaro_winkler(wrong, name), name.as_str()));
    let (score, name) = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (score > 0.6).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_table_has_a_nearest_name_and_a_different_word_has_none() {
        let names = ["counties", "filings", "agg_settling"].map(str::to_owned);
        assert_eq!(nearest("filing", &names), Some("filings"));
        assert_eq!(nearest("countys", &names), Some("counties"));
        assert_eq!(nearest("zzz", &names), None);
    }
}
