//! The files of `[import] folder`: of a folder of this machine, or under a prefix of an object store.

use crate::import::files::origin::{Store, Stored, files_of_folder, files_of_store};
use crate::import::files::source::{SourceError, SourceFile, source_files};
use crate::lake::{LakeError, Prefix, PrefixFile, is_address};
use crate::pipeline::error::Result;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All texts of the state in a folder, by name. `variables` are those of the object stores.
pub(super) fn texts_of(folder: &Path, variables: &[(String, String)]) -> Result<Vec<SourceFile>> {
    let unreadable = |(path, source)| SourceError::Unreadable { path, source };
    let files = match folder.to_str().filter(|address| is_address(address)) {
        None => files_of_folder(folder).map_err(unreadable)?,
        Some(address) => {
            let store: Arc<dyn Store> = Arc::new(Objects(Prefix::open(address, variables)?));
            files_of_store(&store).map_err(unreadable)?
        }
    };
    Ok(source_files(files)?)
}

/// Files under a prefix of an object store.
#[derive(Debug)]
struct Objects(Prefix);

/// The cause alone: the caller says what and where.
fn cause(error: LakeError) -> io::Error {
    match error {
        LakeError::Remote { what, .. } => io::Error::other(what),
        error => io::Error::other(error.to_string()),
    }
}

impl Store for Objects {
    fn list(&self) -> io::Result<Vec<Stored>> {
        let stored = |file: PrefixFile| {
            let PrefixFile { name, bytes, tag, changed } = file;
            Stored { name, bytes, tag, changed }
        };
        Ok(self.0.list().map_err(cause)?.into_iter().map(stored).collect())
    }

    fn read(&self, file: &Stored, range: Range<u64>) -> io::Result<Vec<u8>> {
        self.0.read(&file.name, file.tag.clone(), range).map_err(cause)
    }

    fn address(&self, name: &str) -> PathBuf {
        self.0.url(name).into()
    }
}
