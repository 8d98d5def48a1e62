//! Names in a lake: snapshot numbers, months, table folders, runs. No other text ever becomes part of a path.

use crate::contract::eastern::day_of_epoch;
use crate::lake::error::LakeError;
use jiff::civil::Date;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// A month of filings: the partition key, `YYYY-MM` in the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Month(i32);

impl Month {
    /// The month of a day; none outside the years 0 to 9999.
    pub fn of(day: Date) -> Option<Self> {
        let (year, month) = (i32::from(day.year()), i32::from(day.month()));
        (0..=9999).contains(&year).then_some(Self(year * 12 + month - 1))
    }

    /// The month of a Date32 value, days since 1970-01-01.
    pub(crate) fn of_epoch_day(epoch_day: i32) -> Option<Self> {
        Self::of(day_of_epoch(epoch_day)?)
    }

    /// Its number: year * 12 + month - 1.
    pub(crate) const fn number(self) -> i32 {
        self.0
    }

    /// A month from exactly `YYYY-MM`.
    pub fn parse(text: &str) -> Option<Self> {
        let (year, month) = text.split_once('-')?;
        let shaped =
            year.len() == 4 && month.len() == 2 && text.bytes().filter(u8::is_ascii_digit).count() == 6;
        let (year, month): (i32, i32) = (year.parse().ok()?, month.parse().ok()?);
        (shaped && (1..=12).contains(&month)).then_some(Self(year * 12 + month - 1))
    }

    /// Folder of the month in a partitioned table.
    pub fn folder(self) -> String {
        format!("{MONTH_FOLDER}{self}")
    }

    /// The month of a partition folder.
    pub fn from_folder(name: &str) -> Option<Self> {
        Self::parse(name.strip_prefix(MONTH_FOLDER)?)
    }
}

const MONTH_FOLDER: &str = "filed_month=";

impl fmt::Display for Month {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:04}-{:02}", self.0 / 12, self.0 % 12 + 1)
    }
}

impl serde::Serialize for Month {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Month {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("no month"))
    }
}

/// Name of a snapshot's folder and of its commit, without `.json`.
pub(crate) fn snapshot_name(snapshot: u64) -> String {
    format!("{snapshot:06}")
}

/// The number in a snapshot name, if it is spelled as [`snapshot_name`] does.
pub(crate) fn parse_snapshot(name: &str) -> Option<u64> {
    let number = name.parse().ok()?;
    (snapshot_name(number) == name).then_some(number)
}

/// The snapshot numbers in file names such as `000042.json`.
pub(crate) fn snapshot_numbers(names: &[String]) -> BTreeSet<u64> {
    names.iter().filter_map(|name| parse_snapshot(name.strip_suffix(".json")?)).collect()
}

/// File name of a part with this digest.
pub(crate) fn part_name(blake3: &str) -> String {
    format!("part-{}.parquet", blake3.get(..16).unwrap_or(blake3))
}

/// A run id that may become a folder: letters, digits, `-`, `_`, `.`, not hidden, 64 at most.
pub(crate) fn check_run_id(run_id: &str) -> Result<(), LakeError> {
    let fits = (1..=80).contains(&run_id.len())
        && !run_id.starts_with('.')
        && run_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    refuse_unless(fits, "run id", run_id)
}

fn refuse_unless(fits: bool, what: &'static str, name: &str) -> Result<(), LakeError> {
    if fits { Ok(()) } else { Err(LakeError::Name { what, name: name.to_owned() }) }
}

/// A name of a small file: folders and a file of the lake's own making, none hidden.
pub(crate) fn check_file_name(name: &str) -> Result<(), LakeError> {
    let fits = name.split('/').all(|part| check_run_id(part).is_ok());
    refuse_unless(fits, "name of a file of the lake", name)
}

/// The folder of an aggregate: `agg_` and its name of lower-case letters, digits and `_`.
pub(crate) fn aggregate_folder(name: &str) -> Result<String, LakeError> {
    let fits = (1..=64).contains(&name.len()) && name.bytes().all(is_table_byte);
    refuse_unless(fits, "name of an aggregate (a-z, 0-9 and _)", name)?;
    Ok(format!("{AGGREGATE}{name}"))
}

pub(crate) const AGGREGATE: &str = "agg_";

fn is_table_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'
}

/// Whether a file entry of a commit stays in its table's folder: `table/part` or `table/month/part`.
pub(crate) fn is_entry_path(table: &str, path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let shaped = match parts.as_slice() {
        [folder, part] => *folder == table && is_part(part),
        [folder, month, part] => *folder == table && Month::from_folder(month).is_some() && is_part(part),
        _ => false,
    };
    plain && shaped && !table.is_empty() && table.bytes().all(is_table_byte)
}

fn is_part(name: &str) -> bool {
    name.starts_with("part-") && name.ends_with(".parquet")
}

/// The month in an entry's path, for a partitioned table.
pub(crate) fn month_in(path: &str) -> Option<Month> {
    path.split('/').nth(1).and_then(Month::from_folder)
}

/// A mark on a snapshot, set after its commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Retention rules never prune it.
    Pinned,
    /// Its tables are deleted, or will be.
    Pruned,
}

impl Mark {
    pub(crate) const ALL: [Self; 2] = [Self::Pinned, Self::Pruned];

    pub(crate) const fn folder(self) -> &'static str {
        match self {
            Self::Pinned => "pins",
            Self::Pruned => "pruned",
        }
    }

    /// The folders of the two files of each mark: the loss of one file is found, and loses no mark.
    pub(crate) fn folders(self) -> [String; 2] {
        [self.folder().to_owned(), format!("copies/{}", self.folder())]
    }

    /// Names of the file of a mark, and of its copy.
    pub(crate) fn files(self, snapshot: u64) -> [String; 2] {
        self.folders().map(|folder| format!("{folder}/{}.json", snapshot_name(snapshot)))
    }
}

/// Names in the folder of a run.
pub(crate) const RECORD: &str = "run.json";
pub(crate) const SUMMARY: &str = "summary.json";
pub(crate) const RAW: &str = "raw";
pub(crate) const JOURNAL: &str = "journal";
/// Folder of a run for copies of the files that it imported.
pub(crate) const COPIES: &str = "files";
/// Copies of the commits that the run made.
pub(crate) const COMMITS: &str = "commits";
pub(crate) const QUARANTINE: &str = "quarantine";
/// How the name of a file ends that a repair set aside, or that notes what it left of another.
pub(crate) const DAMAGED: &str = ".damaged";

/// Folder of the descriptions of the newest snapshot.
pub(crate) const CATALOG: &str = "catalog";
/// The file in it that names the files of all kept snapshots.
pub(crate) const DUCKLAKE: &str = "ducklake.sql";
/// The list of the digests of the files in that folder.
pub(crate) const CATALOG_LIST: &str = "catalog/files.json";

/// The folder of a file, `.` for a bare name.
pub(crate) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Paths in a lake.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) root: PathBuf,
}

impl Layout {
    pub(crate) fn current(&self) -> PathBuf {
        self.root.join("current")
    }

    pub(crate) fn commits(&self) -> PathBuf {
        self.root.join("commits")
    }

    /// Name in the lake of the commit of a snapshot.
    pub(crate) fn commit_name(snapshot: u64) -> String {
        format!("commits/{}.json", snapshot_name(snapshot))
    }

    pub(crate) fn commit(&self, snapshot: u64) -> PathBuf {
        self.root.join(Self::commit_name(snapshot))
    }

    /// Name in the lake of the commit of a snapshot that is pending review.
    pub(crate) fn pending_name(snapshot: u64) -> String {
        format!("held/{}.json", snapshot_name(snapshot))
    }

    pub(crate) fn snapshots(&self) -> PathBuf {
        self.root.join("snapshots")
    }

    pub(crate) fn snapshot(&self, snapshot: u64) -> PathBuf {
        self.snapshots().join(snapshot_name(snapshot))
    }

    /// Target of `current` for a snapshot: relative, so that it stays valid when the lake gets another path.
    pub(crate) fn current_target(snapshot: u64) -> PathBuf {
        Path::new("snapshots").join(snapshot_name(snapshot))
    }

    /// The snapshot that a target of `current` names.
    pub(crate) fn shown_by(target: &Path) -> Option<u64> {
        parse_snapshot(target.file_name()?.to_str()?)
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    pub(crate) fn run(&self, run_id: &str) -> PathBuf {
        self.runs().join(run_id)
    }

    pub(crate) fn staged(&self, run_id: &str) -> PathBuf {
        self.run(run_id).join("staged")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.state().join("lock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_months_become_folders() {
        assert_eq!(
            Month::parse("2026-11").map(|month| month.folder()).as_deref(),
            Some("filed_month=2026-11")
        );
        assert_eq!(Month::of_epoch_day(0), Month::parse("1970-01"));
        assert_eq!(Month::of_epoch_day(-1), Month::parse("1969-12"));
        assert_eq!(Month::of_epoch_day(i32::MAX), None);
        for wrong in ["2026-13", "2026-00", "2026-1", "226-011", "../../etc", "2026-11/..", "+026-11", ""] {
            assert_eq!(Month::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn entries_of_a_commit_stay_in_their_table() {
        assert!(is_entry_path("filings", "filings/filed_month=2026-11/part-00.parquet"));
        assert!(is_entry_path("agg_x", "agg_x/part-00.parquet"));
        for wrong in [
            "filings/../part-0.parquet",
            "/filings/part-0.parquet",
            "other/part-0.parquet",
            "filings/x/part-0.parquet",
        ] {
            assert!(!is_entry_path("filings", wrong), "{wrong}");
        }
        assert!(!is_entry_path("..", "../part-0.parquet"));
    }

    #[test]
    fn names_from_outside_are_checked() {
        assert!(check_run_id("20261120T115500Z-ab12").is_ok());
        for wrong in ["", "..", ".hidden", "a/b", "a\\b", "ä"] {
            assert!(check_run_id(wrong).is_err(), "{wrong}");
        }
        assert!(check_file_name("catalog/TABLES.md").is_ok());
        for wrong in ["", "/etc/passwd", "catalog/../x", "catalog//x", "catalog/"] {
            assert!(check_file_name(wrong).is_err(), "{wrong}");
        }
        assert!(aggregate_folder("county_type_day").is_ok());
        assert!(aggregate_folder("../x").is_err());
        assert_eq!(parse_snapshot("000042"), Some(42));
        assert_eq!(parse_snapshot("42"), None);
        assert_eq!(parse_snapshot("1000000"), Some(1_000_000));
    }
}
