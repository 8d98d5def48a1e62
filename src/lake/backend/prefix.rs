//! Files of others under a prefix of an object store: listed, and read in pieces.

use super::object_client::Objects;
use super::url;
use crate::lake::error::LakeError;
use futures::TryStreamExt;
use object_store::{Error, GetOptions, GetRange};
use std::ops::Range;

/// A prefix of an object store whose files are only read.
#[derive(Debug, Clone)]
pub struct Prefix(Objects);

/// A file under a prefix.
#[derive(Debug, Clone)]
pub struct PrefixFile {
    /// Its name under the prefix.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// The tag that the store gives this version of it.
    pub tag: Option<String>,
    /// When it was last changed.
    pub changed: String,
}

impl Prefix {
    /// The prefix with this address. `variables` are those of the environment with a prefix in
    /// [`CLOUD_VARIABLES`](url::CLOUD_VARIABLES).
    pub fn open(address: &str, variables: &[(String, String)]) -> Result<Self, LakeError> {
        url::open(address, variables).map(Self)
    }

    /// The address of a file under it; its own for an empty name.
    pub fn url(&self, name: &str) -> String {
        self.0.url(name)
    }

    /// All files under it.
    pub fn list(&self) -> Result<Vec<PrefixFile>, LakeError> {
        let this = &self.0;
        let found = this.store.list(Some(&this.path("")?)).try_collect::<Vec<_>>();
        let found = this.runtime.wait(found).map_err(this.failed("list", ""))?;
        let file = |object: object_store::ObjectMeta| {
            let (name, changed) = (this.name(&object.location)?, object.last_modified.to_rfc3339());
            Some(PrefixFile { name, bytes: object.size, tag: object.e_tag, changed })
        };
        Ok(found.into_iter().filter_map(file).collect())
    }

    /// Some bytes of a file, of the version with this tag.
    pub fn read(&self, name: &str, tag: Option<String>, range: Range<u64>) -> Result<Vec<u8>, LakeError> {
        let (this, path) = (&self.0, self.0.path(name)?);
        let range = Some(GetRange::Bounded(range));
        let options = GetOptions { range, if_match: tag, ..GetOptions::default() };
        let read = async { this.store.get_opts(&path, options).await?.bytes().await };
        let bytes = this.runtime.wait(read).map_err(|error| match error {
            Error::Precondition { .. } => LakeError::Remote {
                op: "read",
                url: this.url(name),
                what: "it was replaced while it was read".to_owned(),
            },
            error => this.failed("read", name)(error),
        })?;
        Ok(bytes.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::memory::InMemory;
    use object_store::path::Path as ObjectPath;
    use std::sync::Arc;

    #[test]
    fn a_file_is_read_in_pieces_until_it_is_replaced() -> Result<(), LakeError> {
        let objects =
            Objects::new(Arc::new(InMemory::new()), &ObjectPath::from("state"), "s3://bucket/state")?;
        objects.write("doc/cor/20261012c.txt", b"0123456789")?;
        let prefix = Prefix(objects.clone());
        let files = prefix.list()?;
        let file = &files[0];
        assert_eq!(files.len(), 1);
        assert_eq!((file.name.as_str(), file.bytes), ("doc/cor/20261012c.txt", 10));
        assert_eq!(prefix.read(&file.name, file.tag.clone(), 2..5)?, b"234");
        objects.write("doc/cor/20261012c.txt", b"9876543210")?;
        assert_ne!(prefix.list()?[0].tag, file.tag);
        let error = prefix.read(&file.name, file.tag.clone(), 5..8).expect_err("replaced").to_string();
        assert_eq!(
            error,
            "cannot read s3://bucket/state/doc/cor/20261012c.txt: it was replaced while it was read"
        );
        Ok(())
    }
}
