//! Every request to an object store, by names in the lake. Time and retries are limited.

use super::blocking::BlockingRuntime;
use super::deletion::{SingleDeletes, delete};
use super::disk::Storage;
use crate::lake::error::LakeError;
use crate::lake::format::manifest::Digest;
use futures::stream::{self, StreamExt, TryStreamExt};
use object_store::path::Path as ObjectPath;
use object_store::{
    Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion, WriteMultipart,
};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const AT_ONCE: usize = 8;
/// Size of the parts of an upload; a shorter file is uploaded in one request.
const PART_BYTES: usize = 8 << 20;
const PARTS_AT_ONCE: usize = 4;

/// A store, and the lake's prefix in it.
#[derive(Debug, Clone)]
pub(crate) struct Objects {
    pub(super) store: Arc<dyn ObjectStore>,
    /// Prefix of all names: empty, or with a `/` at its end.
    pub(super) prefix: String,
    /// The lake's address, as the user gave it.
    address: String,
    /// Digest of the address and of the settings that name another store behind it.
    pub(super) place: String,
    pub(super) runtime: Arc<BlockingRuntime>,
    /// For a store of S3 that deletes no list of objects.
    pub(super) single: Option<SingleDeletes>,
    #[cfg(test)]
    faults: super::fault_injection::Faults,
}

pub(crate) struct Document {
    pub(crate) bytes: Vec<u8>,
    version: UpdateVersion,
}

/// An object to download, and the file for it.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) name: String,
    pub(crate) to: PathBuf,
}

impl Objects {
    /// The lake under `prefix` of a store. `address` is its address for users.
    pub(crate) fn new(
        store: Arc<dyn ObjectStore>,
        prefix: &ObjectPath,
        address: &str,
    ) -> Result<Self, LakeError> {
        let prefix = prefix.as_ref();
        Ok(Self {
            store,
            prefix: if prefix.is_empty() { String::new() } else { format!("{prefix}/") },
            address: address.trim_end_matches('/').to_owned(),
            place: blake3::hash(address.as_bytes()).to_hex().to_string(),
            runtime: Arc::new(BlockingRuntime::start(address)?),
            single: None,
            #[cfg(test)]
            faults: super::fault_injection::Faults::default(),
        })
    }

    /// The same store, failing as `faults` says.
    #[cfg(test)]
    pub(crate) fn with_faults(&self, faults: super::fault_injection::Faults) -> Self {
        Self { faults, ..self.clone() }
    }

    /// The address of the lake, or of something in it.
    pub(crate) fn url(&self, name: &str) -> String {
        if name.is_empty() { self.address.clone() } else { format!("{}/{name}", self.address) }
    }

    /// A small object; none where there is no such object.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Document>, LakeError> {
        self.runtime.wait(self.document(name))
    }

    async fn document(&self, name: &str) -> Result<Option<Document>, LakeError> {
        let answer = match self.store.get(&self.path(name)?).await {
            Err(Error::NotFound { .. }) => return Ok(None),
            other => other.map_err(self.failed("read", name))?,
        };
        let version =
            UpdateVersion { e_tag: answer.meta.e_tag.clone(), version: answer.meta.version.clone() };
        let bytes = answer.bytes().await.map_err(self.failed("read", name))?;
        Ok(Some(Document { bytes: bytes.to_vec(), version }))
    }

    /// Writes a small object, over an existing one too.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), LakeError> {
        self.put(name, bytes, PutMode::Overwrite).map(|_| ())
    }

    /// Creates a small object; `false` when it exists.
    pub(crate) fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, LakeError> {
        self.put(name, bytes, PutMode::Create)
    }

    /// Replaces the version of a small object that was read; `false` when its version has changed since. A store without
    /// such a condition overwrites it.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8], old: &Document) -> Result<bool, LakeError> {
        self.put(name, bytes, PutMode::Update(old.version.clone()))
    }

    fn put(&self, name: &str, bytes: &[u8], mode: PutMode) -> Result<bool, LakeError> {
        self.may("write", name)?;
        let payload = PutPayload::from(bytes.to_vec());
        let written = self.runtime.wait(async {
            let path = self.path(name)?;
            let conditional = matches!(mode, PutMode::Update(_));
            match self.store.put_opts(&path, payload.clone(), PutOptions::from(mode)).await {
                // It may be this very write, whose answer was lost before it was tried again.
                Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {
                    Ok(self.document(name).await?.is_some_and(|found| found.bytes == bytes))
                }
                Err(Error::NotImplemented { .. }) if conditional => {
                    self.store.put(&path, payload).await.map_err(self.failed("write", name))?;
                    Ok(true)
                }
                other => other.map(|_| true).map_err(self.failed("write", name)),
            }
        })?;
        self.answered("write", name)?;
        Ok(written)
    }

    /// Uploads files concurrently. Each upload is atomic.
    pub(crate) fn upload(&self, files: &[(PathBuf, String)]) -> Result<(), LakeError> {
        let uploads = stream::iter(files).map(|(file, name)| self.upload_one(file, name));
        self.runtime.wait(uploads.buffer_unordered(AT_ONCE).try_collect::<Vec<()>>())?;
        self.answered("write", "")
    }

    async fn upload_one(&self, file: &Path, name: &str) -> Result<(), LakeError> {
        self.may("write", name)?;
        let unread = || LakeError::storage("read", file);
        let failed = || self.failed("write", name);
        let path = self.path(name)?;
        let mut source = File::open(file).map_err(unread())?;
        let mut part = Vec::new();
        read_part(&mut source, &mut part).map_err(unread())?;
        if part.len() < PART_BYTES {
            self.store.put(&path, PutPayload::from(part)).await.map_err(failed())?;
            return Ok(());
        }
        let upload = self.store.put_multipart(&path).await.map_err(failed())?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
        while !part.is_empty() {
            if let Err(error) = upload.wait_for_capacity(PARTS_AT_ONCE).await {
                // The store clears the uploaded parts; the first error is the one to report.
                let _ = upload.abort().await;
                return Err(failed()(error));
            }
            upload.put(std::mem::take(&mut part).into());
            read_part(&mut source, &mut part).map_err(unread())?;
        }
        upload.finish().await.map(|_| ()).map_err(failed())
    }

    /// Downloads objects concurrently; none for a missing one. In the order of `wanted`.
    pub(crate) fn download(
        &self,
        storage: &Storage,
        wanted: Vec<Wanted>,
    ) -> Result<Vec<Option<Digest>>, LakeError> {
        let downloads = stream::iter(wanted).map(|wanted| self.download_one(storage, wanted));
        self.runtime.wait(downloads.buffered(AT_ONCE).try_collect())
    }

    async fn download_one(&self, storage: &Storage, wanted: Wanted) -> Result<Option<Digest>, LakeError> {
        let failed = || self.failed("read", &wanted.name);
        let answer = match self.store.get(&self.path(&wanted.name)?).await {
            Err(Error::NotFound { .. }) => return Ok(None),
            other => other.map_err(failed())?,
        };
        let mut file = storage.create(&wanted.to)?;
        let (mut pieces, mut hasher, mut bytes) = (answer.into_stream(), blake3::Hasher::new(), 0);
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(failed())?;
            file.write_all(&piece).map_err(LakeError::storage("write", &wanted.to))?;
            hasher.update(&piece);
            bytes += piece.len() as u64;
        }
        Ok(Some(Digest { bytes, blake3: hasher.finalize().to_hex().to_string() }))
    }

    /// Names of all objects in a folder and its sub-folders, sorted; with `after`, those that sort after it.
    pub(crate) fn list(&self, folder: &str, after: Option<&str>) -> Result<Vec<String>, LakeError> {
        let (path, after) = (self.path(folder)?, after.map(|name| self.path(name)).transpose()?);
        let found = match &after {
            Some(after) => self.store.list_with_offset(Some(&path), after),
            None => self.store.list(Some(&path)),
        };
        let found: Vec<_> = self.runtime.wait(found.try_collect()).map_err(self.failed("list", folder))?;
        Ok(sorted(found.iter().filter_map(|object| self.name(&object.location))))
    }

    /// Names of the folders in a folder, sorted.
    pub(crate) fn folders(&self, folder: &str) -> Result<Vec<String>, LakeError> {
        let path = self.path(folder)?;
        let found = self.runtime.wait(self.store.list_with_delimiter(Some(&path)));
        let found = found.map_err(self.failed("list", folder))?;
        Ok(sorted(found.common_prefixes.iter().filter_map(|path| Some(path.filename()?.to_owned()))))
    }

    /// Deletes objects; a missing one is no error.
    pub(crate) fn delete(&self, names: &[String]) -> Result<(), LakeError> {
        let (mut paths, mut refused) = (Vec::new(), Ok(()));
        for name in names {
            refused = self.may("delete", name);
            if refused.is_err() {
                break;
            }
            paths.push(self.path(name)?);
        }
        let deleted = self.runtime.wait(delete(&*self.store, self.single.as_ref(), &paths));
        deleted.map_err(self.failed("delete in", ""))?;
        refused
    }

    pub(super) fn path(&self, name: &str) -> Result<ObjectPath, LakeError> {
        let path = format!("{}{name}", self.prefix);
        ObjectPath::parse(&path).map_err(|_| LakeError::Name { what: "name of an object", name: path })
    }

    pub(super) fn name(&self, path: &ObjectPath) -> Option<String> {
        path.as_ref().strip_prefix(&self.prefix).map(str::to_owned)
    }

    pub(super) fn failed(&self, op: &'static str, name: &str) -> impl FnOnce(Error) -> LakeError + use<> {
        let url = self.url(name);
        move |error| LakeError::Remote { op, url, what: cause(&error) }
    }

    /// Counts one change before it is made; tests let it fail here.
    fn may(&self, op: &'static str, name: &str) -> Result<(), LakeError> {
        #[cfg(test)]
        self.faults.request().map_err(|error| self.broken(op, name, &error))?;
        let _ = (op, name);
        Ok(())
    }

    /// Tests lose the answer to a change here.
    fn answered(&self, op: &'static str, name: &str) -> Result<(), LakeError> {
        #[cfg(test)]
        self.faults.answer().map_err(|error| self.broken(op, name, &error))?;
        let _ = (op, name);
        Ok(())
    }

    #[cfg(test)]
    fn broken(&self, op: &'static str, name: &str, error: &std::io::Error) -> LakeError {
        LakeError::Remote { op, url: self.url(name), what: error.to_string() }
    }
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn read_part(source: &mut File, part: &mut Vec<u8>) -> std::io::Result<()> {
    part.clear();
    source.take(PART_BYTES as u64).read_to_end(part).map(|_| ())
}

/// Longest cause in an error; a store may answer with a page.
const CAUSE_CHARS: usize = 200;

/// The deepest cause of an error, on one line. Queries of addresses are left out: they may contain a signature.
fn cause(error: &Error) -> String {
    if matches!(error, Error::PermissionDenied { .. } | Error::Unauthenticated { .. }) {
        return "the store refuses the credentials of the environment, or they may not do this".to_owned();
    }
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    let text = deepest.to_string();
    let words = text.split_whitespace().map(|word| word.split('?').next().unwrap_or_default());
    let line = words.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(CAUSE_CHARS) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::memory::InMemory;

    fn objects() -> Objects {
        let store = Arc::new(InMemory::new());
        Objects::new(store, &ObjectPath::from("lakes/one"), "s3://bucket/lakes/one/").expect("a store")
    }

    #[test]
    fn object_is_created_once_and_replaced_only_in_the_version_that_was_read() -> Result<(), LakeError> {
        let objects = objects();
        assert!(objects.read("commits/1.json")?.is_none());
        assert!(objects.create("commits/1.json", b"one")?);
        assert!(!objects.create("commits/1.json", b"two")?);
        let old = objects.read("commits/1.json")?.expect("an object");
        assert_eq!(old.bytes, b"one");
        assert!(objects.replace("commits/1.json", b"three", &old)?);
        assert!(!objects.replace("commits/1.json", b"four", &old)?);
        assert_eq!(objects.read("commits/1.json")?.expect("an object").bytes, b"three");
        Ok(())
    }

    #[test]
    fn downloads_equal_uploads_for_every_file_size() -> Result<(), LakeError> {
        let (objects, dir) = (objects(), tempfile::tempdir().expect("a folder"));
        let storage = Storage::default();
        for size in [0, 1, PART_BYTES - 1, PART_BYTES, 2 * PART_BYTES + 17] {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            let (from, to) = (dir.path().join("from"), dir.path().join("to"));
            std::fs::write(&from, &bytes).expect("written");
            objects.upload(&[(from, "a/b".to_owned())])?;
            let wanted = Wanted { name: "a/b".to_owned(), to: to.clone() };
            let missing = Wanted { name: "a/c".to_owned(), to: dir.path().join("none") };
            let downloaded = objects.download(&storage, vec![wanted, missing])?;
            let blake3 = blake3::hash(&bytes).to_hex().to_string();
            assert_eq!(downloaded, [Some(Digest { bytes: size as u64, blake3 }), None]);
            assert_eq!(std::fs::read(&to).expect("a file"), bytes);
        }
        Ok(())
    }

    #[test]
    fn names_are_listed_and_deleted() -> Result<(), LakeError> {
        let objects = objects();
        for name in ["runs/a/run.json", "runs/b/run.json", "commits/1.json", "commits/2.json"] {
            objects.write(name, b"x")?;
        }
        assert_eq!(objects.folders("runs")?, ["a", "b"]);
        assert_eq!(objects.list("commits", Some("commits/1.json"))?, ["commits/2.json"]);
        objects.delete(&["commits/1.json".to_owned(), "commits/none".to_owned()])?;
        assert_eq!(objects.list("commits", None)?, ["commits/2.json"]);
        assert_eq!(objects.url("x"), "s3://bucket/lakes/one/x");
        Ok(())
    }

    #[test]
    fn cause_is_one_line_without_a_signature() {
        let text = "GET https://x.example/a?sig=SECRET failed:\n <xml>\n denied</xml>";
        let error = Error::Generic { store: "S3", source: text.into() };
        assert_eq!(cause(&error), "GET https://x.example/a failed: <xml> denied</xml>");
    }
}
