//! The texts of the state among the files of a folder, and what only resembles them.

use super::archive::{ArchiveError, Member, members};
use super::layout::Kind;
use super::names::{is_litter, kind_of, part_of_set, resembles, set_of};
use super::origin::Origin;
use crate::contract::hint::of_io;
use crate::import::sound::{Expected, Fault};
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;
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
    #[error("{file}: {fault}")]
    Unusable { file: String, fault: Fault },
    #[error("{one} and {other} are both {what}, and differ")]
    TwoClaims { one: String, other: String, what: String },
    #[error("{file}: {why}")]
    Implausible { file: String, why: String },
    /// A file that an import writes between reading and merging.
    #[error("cannot write the files of an import: {0}")]
    Spool(#[from] io::Error),
}

impl SourceError {
    /// The way out, where there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unreadable { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => {
                    "put the state's files there, or name their folder in `[import] folder` of the pipeline file"
                }
                io::ErrorKind::PermissionDenied => "make the files and their folder readable for this user",
                _ => return of_io(source),
            },
            Self::Spool(source) => return of_io(source),
            Self::Archive { .. } => "copy the archive again from the state's server",
            Self::Incomplete { .. } => {
                "copy all of the set from the state's server, or move its files out of the folder"
            }
            Self::Unusable { .. } => "copy the file again, or move it out of the folder",
            Self::TwoClaims { .. } => "remove the wrong file, and keep each set in a folder of its own",
            Self::Implausible { .. } => {
                "copy the file again from the state's server; if it is right, set `max_short_percent = 100` in `[import]` of the pipeline file"
            }
        };
        Some(hint.to_owned())
    }
}

/// A file that resembles one of the state's and was not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unread {
    /// Its path in the folder.
    pub file: String,
    /// Why it was not read.
    pub why: String,
}

/// The texts of the state, and what only resembles them.
#[derive(Debug, Default)]
pub struct Sources {
    /// The texts, by name.
    pub files: Vec<SourceFile>,
    /// The others, by name.
    pub unread: Vec<Unread>,
}

/// The texts of the state among files. A quarterly set without one of its ten files of corporations is an error.
pub fn source_files(files: Vec<(String, Origin)>) -> Result<Sources, SourceError> {
    let mut found = Sources::default();
    for (name, origin) in files {
        if is_litter(&name) {
            continue;
        }
        if name.to_ascii_lowercase().ends_with(".zip") {
            found.add_archive(&origin, &name)?;
        } else {
            found.add(&name, origin, Form::Plain);
        }
    }
    found.files.sort_by(|one, other| one.name.cmp(&other.name));
    found.unread.sort_by(|one, other| one.file.cmp(&other.file));
    check_sets(&found.files)?;
    Ok(found)
}

impl Sources {
    fn add(&mut self, name: &str, origin: Origin, form: Form) {
        match SourceFile::of(name, origin, form) {
            Some(file) => self.files.push(file),
            None if resembles(name) => self.leave(name, "its name is not one of the state's names"),
            None => {}
        }
    }

    fn leave(&mut self, file: &str, why: &str) {
        self.unread.push(Unread { file: file.to_owned(), why: why.to_owned() });
    }

    fn add_archive(&mut self, archive: &Origin, name: &str) -> Result<(), SourceError> {
        let failed = |source| SourceError::Archive { path: archive.path.clone(), source };
        let before = (self.files.len(), self.unread.len());
        for member in members(archive).map_err(failed)? {
            // Some archivers of Windows write its separator.
            let name = format!("{name}/{}", member.name.replace('\\', "/"));
            if !is_litter(&name) {
                self.add(&name, archive.clone(), Form::Member(member));
            }
        }
        if before == (self.files.len(), self.unread.len()) && resembles(name) {
            self.leave(name, "there is no file of the state in it");
        }
        Ok(())
    }
}

impl SourceFile {
    /// None for a name that is not one of the state's.
    fn of(name: &str, origin: Origin, form: Form) -> Option<Self> {
        let (kind, day) = kind_of(name)?;
        let (bytes, stamp) = match &form {
            Form::Member(Member { bytes, crc32, .. }) => {
                (*bytes, format!("{bytes} bytes with checksum {crc32:08x}"))
            }
            Form::Plain | Form::Copy => (origin.bytes, origin.stamp.clone()),
        };
        Some(Self { name: name.to_owned(), kind, day, set: set_of(name, day), bytes, stamp, origin, form })
    }

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

    /// What its name and place say of its records.
    pub fn expected(&self) -> Expected {
        let is_daily = self.day.is_some();
        let has_parts = !is_daily && self.kind == Kind::Corporate;
        let part = if has_parts { part_of_set(&self.name) } else { None };
        // A folder may be named like an archive; a kept copy of a member has its name.
        let is_of_archive = self.name.to_ascii_lowercase().contains(".zip/");
        let is_checked = is_of_archive && !matches!(self.form, Form::Plain);
        Expected { kind: self.kind, is_daily, part, is_checked }
    }

    /// The error of a text that is not what its name says.
    pub fn unusable(&self, fault: Fault) -> SourceError {
        SourceError::Unusable { file: self.name.clone(), fault }
    }

    /// A text known by its name alone; none for a name that is not one of the state's.
    pub fn named(name: &str) -> Option<Self> {
        Self::of(name, Origin::at(PathBuf::new()), Form::Plain)
    }

    /// Whether there is a file behind it.
    pub fn is_there(&self) -> bool {
        self.origin.is_there()
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

/// Refuses a quarterly set without one of its ten files of corporations.
fn check_sets(files: &[SourceFile]) -> Result<(), SourceError> {
    let mut parts: BTreeMap<&str, BTreeSet<u8>> = BTreeMap::new();
    for file in files {
        if let Some(part) = file.expected().part {
            parts.entry(file.set.as_str()).or_default().insert(part);
        }
    }
    for (set, parts) in parts {
        let missing: Vec<String> =
            (0..=9).filter(|part| !parts.contains(part)).map(|part| format!("cordata{part}.txt")).collect();
        if !missing.is_empty() {
            return Err(SourceError::Incomplete { set: set.to_owned(), missing: missing.join(", ") });
        }
    }
    Ok(())
}
