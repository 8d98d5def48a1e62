//! Which files of a folder are the state's, of which kind and day.
//!
//! Names are compared without case. Files with other names are ignored. A quarterly set is the quarterly files of one folder; the
//! folders `cor`, `fic`, `gen` and `events` below it, and archives, are part of it.

use super::archive::{ArchiveError, Member, members};
use super::layout::Kind;
use super::origin::Origin;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::PathBuf;

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
    origin: Origin,
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

/// The texts of the state among files, by name.
pub fn source_files(files: Vec<(String, Origin)>) -> Result<Vec<SourceFile>, SourceError> {
    let mut found = Vec::new();
    for (name, origin) in files {
        if name.to_ascii_lowercase().ends_with(".zip") {
            found.extend(members_of(&origin, &name)?);
        } else if let Some((kind, day)) = kind_of(&name) {
            let (bytes, stamp, set) = (origin.bytes, origin.stamp.clone(), set_of(&name, day));
            found.push(SourceFile { name, kind, day, set, bytes, stamp, origin, form: Form::Plain });
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    check_sets(&found)?;
    Ok(found)
}

fn members_of(archive: &Origin, name: &str) -> Result<Vec<SourceFile>, SourceError> {
    let failed = |source| SourceError::Archive { path: archive.path.clone(), source };
    let mut found = Vec::new();
    for member in members(archive).map_err(failed)? {
        let name = format!("{name}/{}", member.name);
        if let Some((kind, day)) = kind_of(&name) {
            found.push(SourceFile {
                bytes: member.bytes,
                stamp: format!("{} bytes with checksum {:08x}", member.bytes, member.crc32),
                set: set_of(&name, day),
                name,
                kind,
                day,
                origin: archive.clone(),
                form: Form::Member(member),
            });
        }
    }
    Ok(found)
}

impl SourceFile {
    /// Its text, from the start. A damaged member of an archive is an error at its end.
    pub fn open(&self) -> Result<Box<dyn Read + Send>, SourceError> {
        let path = || self.origin.path.clone();
        let unreadable = |source| SourceError::Unreadable { path: path(), source };
        match &self.form {
            Form::Member(member) => {
                member.open(&self.origin).map_err(|source| SourceError::Archive { path: path(), source })
            }
            Form::Plain => self.origin.text().map_err(unreadable),
            Form::Copy => {
                let text = self.origin.text().map_err(unreadable)?;
                Ok(Box::new(zstd::Decoder::new(text).map_err(unreadable)?))
            }
        }
    }

    /// The error of a read from its text.
    pub fn failed(&self, source: io::Error) -> SourceError {
        let path = self.origin.path.clone();
        match self.form {
            Form::Member(_) => SourceError::Archive { path, source: ArchiveError::Damaged(source) },
            _ => SourceError::Unreadable { path, source },
        }
    }

    /// A text known by its name alone; none for a name that is not one of the state's.
    pub fn named(name: &str) -> Option<Self> {
        let (kind, day) = kind_of(name)?;
        let (name, set, origin) = (name.to_owned(), set_of(name, day), Origin::at(PathBuf::new()));
        Some(Self { name, kind, day, set, bytes: 0, stamp: String::new(), origin, form: Form::Plain })
    }

    /// Whether there is a file behind it.
    pub fn is_there(&self) -> bool {
        self.origin.is_there()
    }

    /// The same text with the stamp it had before.
    pub fn with_stamp(self, stamp: &str) -> Self {
        Self { stamp: stamp.to_owned(), ..self }
    }

    /// The same text in a copy.
    pub fn in_copy(self, path: PathBuf) -> Self {
        Self { origin: Origin::at(path), form: Form::Copy, ..self }
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
