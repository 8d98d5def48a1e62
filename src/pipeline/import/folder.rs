//! The files of `[import] folder`: of a folder of this machine, or under a prefix of an object store; and which of them an import reads.

use super::known::Known;
use super::sets::check_claims;
use crate::contract::eastern::plus_days;
use crate::import::files::layout::Kind;
use crate::import::files::origin::{Origin, Remote, Unreadable, files_of_folder};
use crate::import::files::source::{SourceError, SourceFile, Sources, Unread, source_files};
use crate::import::read::copy_name;
use crate::lake::{LakeError, Prefix, PrefixFile, Staging, is_address};
use crate::pipeline::error::Result;
use crate::pipeline::state::provenance::ImportedFiles;
use jiff::civil::Date;
use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The texts of a folder, by name.
pub(super) struct Texts {
    /// Those that the lake has not read.
    pub(super) unread: Vec<SourceFile>,
    /// Those of quarterly sets that wait for the corporations of their set, which date it.
    pub(super) waiting: Vec<SourceFile>,
    /// All but the waiting ones.
    pub(super) all: Vec<SourceFile>,
    /// Whether these seem to include everything that the lake has read.
    pub(super) has_all: bool,
    /// Files that resemble those of the state and are not read.
    pub(super) others: Vec<Unread>,
}

/// Finds the texts of a folder.
pub(super) fn texts_in(
    folder: &Path,
    variables: &[(String, String)],
    staging: &Staging,
    today: Date,
) -> Result<Texts> {
    let known = Known::of(staging)?;
    let Sources { files, unread: mut others } = sources_of(folder, variables)?;
    // A broken file of a day claims nothing; only its content shows it.
    check_claims(files.iter().filter(|file| file.day.is_none()), |file| known.digest_of(file))?;
    // The state's day may have begun before the day in the east of Florida.
    let is_to_come = |file: &SourceFile| file.day.is_some_and(|day| day > plus_days(today, 1));
    let (early, files): (Vec<SourceFile>, Vec<SourceFile>) = files.into_iter().partition(is_to_come);
    let why = format!("its day has not come on {today}");
    others.extend(early.into_iter().map(|file| Unread { file: file.name, why: why.clone() }));
    let dated: HashSet<String> = files
        .iter()
        .filter(|file| file.kind == Kind::Corporate && file.day.is_none())
        .map(|file| file.set.clone())
        .chain(known.dated_sets())
        .collect();
    let is_dated = |file: &SourceFile| file.day.is_some() || dated.contains(&file.set);
    let (all, waiting): (Vec<SourceFile>, Vec<SourceFile>) = files.into_iter().partition(is_dated);
    let unread: Vec<SourceFile> = all.iter().filter(|file| !known.has_read(file)).cloned().collect();
    let waiting = waiting.into_iter().filter(|file| !known.has_read(file)).collect();
    Ok(Texts { unread, waiting, has_all: known.are_all_in(&all), all, others })
}

/// The texts that an import read: its copies, else those of its folder on this machine. `Err` says what is missing.
pub(super) fn files_again(imported: &ImportedFiles, copies: &Path) -> Result<Vec<SourceFile>, String> {
    let found = sources_of(&imported.folder, &[]).unwrap_or_default().files;
    let mut by_name: HashMap<String, SourceFile> =
        found.into_iter().map(|file| (file.name.clone(), file)).collect();
    let again = imported.files.iter().map(|(name, digest, stamp)| {
        let copy = copies.join(copy_name(digest));
        let file = by_name.remove(name).or_else(|| SourceFile::named(name));
        let mut file = file.ok_or_else(|| format!("{name} is no file of the state"))?;
        file.stamp.clone_from(stamp);
        if copy.is_file() {
            Ok(file.in_copy(copy))
        } else if file.is_there() {
            Ok(file)
        } else {
            Err(format!("{name} is neither in {} nor among its copies", imported.folder.display()))
        }
    });
    again.collect()
}

/// All texts of the state in a folder. `variables` are those of the object stores.
fn sources_of(folder: &Path, variables: &[(String, String)]) -> Result<Sources> {
    let files = match folder.to_str().filter(|address| is_address(address)) {
        None => files_of_folder(folder),
        Some(address) => files_of_prefix(&Arc::new(Prefix::open(address, variables)?)),
    };
    Ok(source_files(files.map_err(|(path, source)| SourceError::Unreadable { path, source })?)?)
}

/// The files under a prefix of an object store, with their paths under it.
fn files_of_prefix(prefix: &Arc<Prefix>) -> Result<Vec<(String, Origin)>, Unreadable> {
    let failed = |source| (prefix.url("").into(), source);
    let files = prefix.list().map_err(|error| failed(cause(error)))?;
    if files.is_empty() {
        return Err(failed(io::Error::new(io::ErrorKind::NotFound, "there is no file")));
    }
    let origin = |file: PrefixFile| {
        let stamp = match &file.tag {
            Some(tag) => format!("{} bytes with tag {tag}", file.bytes),
            None => format!("{} bytes changed at {}", file.bytes, file.changed),
        };
        let (name, path, bytes) = (file.name.clone(), prefix.url(&file.name).into(), file.bytes);
        (name, Origin::remote(path, bytes, stamp, Arc::new(Object { prefix: Arc::clone(prefix), file })))
    };
    Ok(files.into_iter().map(origin).collect())
}

/// A file under a prefix of an object store.
#[derive(Debug)]
struct Object {
    prefix: Arc<Prefix>,
    file: PrefixFile,
}

impl Remote for Object {
    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        self.prefix.read(&self.file.name, self.file.tag.clone(), range).map_err(cause)
    }
}

/// The cause alone: the caller says what and where.
fn cause(error: LakeError) -> io::Error {
    match error {
        LakeError::Remote { what, .. } => io::Error::other(what),
        error => io::Error::other(error.to_string()),
    }
}
