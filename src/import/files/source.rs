//! Which files of a folder are the state's, of which kind and day.
//!
//! Names are compared without case. Files with other names are ignored. A quarterly set is the quarterly files of one folder; the
//! folders `cor`, `fic`, `gen` and `events` below it, and archives, are part of it.

use super::archive::{ArchiveError, Member, members};
use super::layout::Kind;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A text of records: a file, or a member of an archive.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Path in the folder, with `/`; of members `archive/member`.
    pub name: String,
    /// What its records are.
    pub kind: Kind,
    /// The day of a daily file; none of a file of a quarterly set.
    pub day: Option<Date>,
    /// The set of a quarterly file; empty of a daily file.
    pub set: String,
    /// Size of the text.
    pub bytes: u64,
    /// Size and checksum, or size and time of the last change: equal stamps mean an unchanged file.
    pub stamp: String,
    path: PathBuf,
    form: Form,
}

/// How a text is stored.
#[derive(Debug, Clone)]
enum Form {
    Plain,
    Member(Member),
    /// A copy that an import kept, compressed by zstd.
    Copy,
}

/// Why a folder cannot be imported.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of an error names its fields")]
pub enum SourceError {
    #[error("cannot read {path}: {source}")]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("cannot read the archive {path}: {source}")]
    Archive { path: PathBuf, source: ArchiveError },
    #[error("the quarterly set in {set} is incomplete: {missing} is missing")]
    Incomplete { set: String, missing: String },
    #[error("{file}: none of its {lines} lines is a record of {length} bytes")]
    NoRecord { file: String, lines: u64, length: usize },
}

/// All texts of a folder, by name.
pub fn source_files(folder: &Path) -> Result<Vec<SourceFile>, SourceError> {
    let mut found = Vec::new();
    for path in files_below(folder)? {
        let relative = path.strip_prefix(folder).unwrap_or(&path);
        let name = relative
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect::<Vec<_>>()
            .join("/");
        if name.to_ascii_lowercase().ends_with(".zip") {
            found.extend(members_of(&path, &name)?);
        } else if let Some((kind, day)) = kind_of(&name) {
            found.push(plain_file(path, name, kind, day)?);
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    check_sets(&found)?;
    Ok(found)
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>, SourceError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| SourceError::Unreadable { path, source }
    };
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(unreadable(&folder))? {
            let path = entry.map_err(unreadable(&folder))?.path();
            match fs::metadata(&path).map_err(unreadable(&path))?.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    Ok(files)
}

fn plain_file(path: PathBuf, name: String, kind: Kind, day: Option<Date>) -> Result<SourceFile, SourceError> {
    let unreadable = |source| SourceError::Unreadable { path: path.clone(), source };
    let about = fs::metadata(&path).map_err(unreadable)?;
    let changed = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let changed = changed.map_or(0, |since| since.as_nanos());
    let stamp = format!("{} bytes changed at {changed}", about.len());
    let set = set_of(&name, day);
    Ok(SourceFile { bytes: about.len(), stamp, set, name, kind, day, path, form: Form::Plain })
}

fn members_of(path: &Path, name: &str) -> Result<Vec<SourceFile>, SourceError> {
    let failed = |source| SourceError::Archive { path: path.to_owned(), source };
    let mut found = Vec::new();
    for member in members(path).map_err(failed)? {
        let name = format!("{name}/{}", member.name);
        if let Some((kind, day)) = kind_of(&name) {
            found.push(SourceFile {
                bytes: member.bytes,
                stamp: format!("{} bytes with checksum {:08x}", member.bytes, member.crc32),
                set: set_of(&name, day),
                name,
                kind,
                day,
                path: path.to_owned(),
                form: Form::Member(member),
            });
        }
    }
    Ok(found)
}

impl SourceFile {
    /// Its text, from the start. A damaged member of an archive is an error at its end.
    pub fn open(&self) -> Result<Box<dyn Read + Send>, SourceError> {
        let archive = |source| SourceError::Archive { path: self.path.clone(), source };
        let unreadable = |source| SourceError::Unreadable { path: self.path.clone(), source };
        match &self.form {
            Form::Member(member) => member.open(&self.path).map_err(archive),
            Form::Plain => Ok(Box::new(File::open(&self.path).map_err(unreadable)?)),
            Form::Copy => {
                let file = File::open(&self.path).map_err(unreadable)?;
                Ok(Box::new(zstd::Decoder::new(file).map_err(unreadable)?))
            }
        }
    }

    /// The error of a read from its text.
    pub fn failed(&self, source: io::Error) -> SourceError {
        match self.form {
            Form::Member(_) => {
                SourceError::Archive { path: self.path.clone(), source: ArchiveError::Damaged(source) }
            }
            _ => SourceError::Unreadable { path: self.path.clone(), source },
        }
    }

    /// A text known by its name alone; none for a name that is not one of the state's.
    pub fn named(name: &str) -> Option<Self> {
        let (kind, day) = kind_of(name)?;
        let (name, set, path) = (name.to_owned(), set_of(name, day), PathBuf::new());
        Some(Self { name, kind, day, set, bytes: 0, stamp: String::new(), path, form: Form::Plain })
    }

    /// Whether there is a file behind it.
    pub fn is_there(&self) -> bool {
        self.path.is_file()
    }

    /// The same text with the stamp it had before.
    pub fn with_stamp(self, stamp: &str) -> Self {
        Self { stamp: stamp.to_owned(), ..self }
    }

    /// The same text in a copy.
    pub fn in_copy(self, path: PathBuf) -> Self {
        Self { path, form: Form::Copy, ..self }
    }

    /// Its rank among files of one date: quarterly sets, then daily records, then daily events.
    pub const fn rank(&self) -> u8 {
        match (self.day, self.kind.is_event()) {
            (None, _) => 0,
            (Some(_), false) => 1,
            (Some(_), true) => 2,
        }
    }
}

/// Kind and day of a file by the last part of its name.
fn kind_of(name: &str) -> Option<(Kind, Option<Date>)> {
    let base = name.rsplit('/').next()?.to_ascii_lowercase();
    let stem = base.strip_suffix(".txt")?;
    if let Some(daily) = daily(stem) {
        return Some(daily);
    }
    let stem = stem.strip_suffix(|last: char| last.is_ascii_digit()).unwrap_or(stem);
    let kind = match stem {
        "cordata" => Kind::Corporate,
        "corevt" | "corevent" | "corevet" => Kind::CorporateEvent,
        "ficdata" => Kind::Fictitious,
        "ficevt" => Kind::FictitiousEvent,
        "genfile" => Kind::Partnership,
        "genevt" => Kind::PartnershipEvent,
        _ => return None,
    };
    Some((kind, None))
}

/// Kind and day of `YYYYMMDDc` and the like.
fn daily(stem: &str) -> Option<(Kind, Option<Date>)> {
    let (digits, letters) = stem.split_at_checked(8)?;
    let kind = match letters {
        "c" => Kind::Corporate,
        "ce" => Kind::CorporateEvent,
        "f" | "fn" => Kind::Fictitious,
        "fe" => Kind::FictitiousEvent,
        "g" => Kind::Partnership,
        "ge" => Kind::PartnershipEvent,
        _ => return None,
    };
    let number = |from: usize, to: usize| digits.get(from..to)?.parse().ok();
    let day = Date::new(number(0, 4)?, number(4, 6)? as i8, number(6, 8)? as i8).ok()?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some((kind, Some(day)))
}

/// The folder of the set of a quarterly file; empty for a daily file.
pub fn set_of(name: &str, day: Option<Date>) -> String {
    if day.is_some() {
        return String::new();
    }
    let mut parts: Vec<&str> = name.split('/').collect();
    parts.pop();
    let is_inside = |part: &str| {
        let part = part.to_ascii_lowercase();
        part.ends_with(".zip") || ["cor", "fic", "gen", "events"].contains(&part.as_str())
    };
    while parts.last().is_some_and(|last| is_inside(last)) {
        parts.pop();
    }
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// Refuses a quarterly set without one of its ten files of corporations.
fn check_sets(files: &[SourceFile]) -> Result<(), SourceError> {
    let mut digits: BTreeMap<&str, BTreeSet<char>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.kind == Kind::Corporate && file.day.is_none()) {
        let digit = file.name.to_ascii_lowercase().trim_end_matches(".txt").chars().last();
        if let Some(digit) = digit.filter(char::is_ascii_digit) {
            digits.entry(file.set.as_str()).or_default().insert(digit);
        }
    }
    for (set, digits) in digits {
        let missing: Vec<String> = ('0'..='9')
            .filter(|digit| !digits.contains(digit))
            .map(|digit| format!("cordata{digit}.txt"))
            .collect();
        if !missing.is_empty() {
            return Err(SourceError::Incomplete { set: set.to_owned(), missing: missing.join(", ") });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn names_give_kind_day_and_set() {
        let day = Some(date(2026, 10, 12));
        for (name, expected) in [
            ("doc/cor/20261012c.txt", Some((Kind::Corporate, day))),
            ("doc/cor/events/20261012CE.TXT", Some((Kind::CorporateEvent, day))),
            ("20261012fn.txt", Some((Kind::Fictitious, day))),
            ("a/cordata.zip/cordata7.txt", Some((Kind::Corporate, None))),
            ("a/corevt.txt", Some((Kind::CorporateEvent, None))),
            ("a/20261332c.txt", None),
            ("a/npcordata.txt", None),
            ("a/README.TXT", None),
            ("a/+0261012c.txt", None),
        ] {
            assert_eq!(kind_of(name), expected, "{name}");
        }
        for (name, set) in [
            ("doc/quarterly/cor/cordata.zip/cordata7.txt", "doc/quarterly"),
            ("doc/Quarterly/Cor/corevt.txt", "doc/Quarterly"),
            ("cordata1.txt", "."),
            ("2026q3/ficdata.txt", "2026q3"),
        ] {
            assert_eq!(set_of(name, None), set, "{name}");
        }
    }
}
