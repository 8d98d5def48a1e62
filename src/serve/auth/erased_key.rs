//! A key closed on a full disk.

use super::key_file::KeyFile;
use super::keys_error::KeysError;
use super::replace_file::behind_links;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

impl KeyFile {
    /// Closes a key on a disk without room for another file: its digest is overwritten in its place, by one that no key has. The key file
    /// keeps its length.
    pub(crate) fn erase(path: &Path, id: &str) -> Result<(), KeysError> {
        let path = &behind_links(path).map_err(|source| KeysError::Storage(path.to_owned(), source))?;
        let text = Self::text(path)?;
        let file = Self::parse(path, &text)?;
        let key = file.keys.iter().find(|key| key.id == id).ok_or_else(|| KeysError::NoKey(id.to_owned()))?;
        let place = text.find(&key.digest).ok_or_else(|| KeysError::Digest(id.to_owned()))?;
        let digest = blake3::hash(format!("no key has {}", key.digest).as_bytes()).to_hex();
        let written = File::options().write(true).open(path).and_then(|file| {
            file.write_all_at(digest.as_bytes(), place as u64)?;
            file.sync_all()
        });
        written.map_err(|source| KeysError::Storage(path.to_owned(), source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;
    use crate::serve::auth::access::{Accounts, LimitOverride};
    use crate::serve::auth::key_file::KeyRequest;
    use jiff::Timestamp;
    use secrecy::ExposeSecret as _;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    #[test]
    fn an_erased_key_is_refused_and_the_others_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("keys.toml");
        let create = |number| {
            KeyFile::change(&path, |file| {
                file.create(
                    KeyRequest { account: "acme", plan: Plan::Agency, scopes: &[], expires_on: None },
                    [number; 32],
                    NOW,
                )
            })
            .expect("a key")
        };
        let (erased, other) = (create(1), create(2));
        let before = std::fs::read(&path).expect("a file");
        KeyFile::erase(&path, &erased.id).expect("erased");
        assert_eq!(std::fs::read(&path).expect("a file").len(), before.len());
        let keys = KeyFile::read(&path).expect("a key file");
        let accounts = Accounts::from_key_file(&keys, &LimitOverride::default(), NOW).expect("accounts");
        assert!(accounts.authenticate(erased.key.expose_secret(), NOW).is_none());
        assert!(accounts.authenticate(other.key.expose_secret(), NOW).is_some());
        assert!(matches!(KeyFile::erase(&path, "key_0"), Err(KeysError::NoKey(_))));
        // With room again it gets its time.
        KeyFile::change(&path, |file| file.revoke(&erased.id, NOW)).expect("revoked");
    }
}
