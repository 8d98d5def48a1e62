//! Sealed JSON: a document that ends with the digest of all bytes before, so every changed bit is found.
//!
//! ```text
//! {
//!   "snapshot": 42,
//!   "seal": "<blake3 of the bytes up to the comma, hex>"
//! }
//! ```
//!
//! It stays JSON: other programs ignore the field `seal`.

use crate::lake::error::LakeError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::path::Path;

/// Bytes between the document and its digest.
const BEFORE: &[u8] = b",\n  \"seal\": \"";
/// Bytes after the digest.
const AFTER: &[u8] = b"\"\n}\n";
/// Length of a digest in hex.
const DIGEST: usize = 64;

/// State of a document's seal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seal {
    /// The digest matches.
    Intact,
    /// There is no seal: the end of the document is missing.
    Missing,
    /// The digest or part of the seal differs.
    Broken,
}

/// A struct or map as sealed JSON.
pub(crate) fn sealed(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    if !bytes.ends_with(b"\n}") {
        return Err(io::Error::other("only an object with fields can be sealed"));
    }
    bytes.truncate(bytes.len() - 2);
    let digest = blake3::hash(&bytes).to_hex();
    bytes.extend_from_slice(BEFORE);
    bytes.extend_from_slice(digest.as_bytes());
    bytes.extend_from_slice(AFTER);
    Ok(bytes)
}

/// Compares a document with its seal.
pub(crate) fn check_seal(bytes: &[u8]) -> Seal {
    let Some(start) = bytes.len().checked_sub(BEFORE.len() + DIGEST + AFTER.len()) else {
        return Seal::Missing;
    };
    let (body, tail) = bytes.split_at(start);
    let (before, rest) = tail.split_at(BEFORE.len());
    let (digest, after) = rest.split_at(DIGEST);
    match (before == BEFORE, after == AFTER) {
        (true, true) if blake3::hash(body).to_hex().as_bytes() == digest => Seal::Intact,
        (false, false) => Seal::Missing,
        _ => Seal::Broken,
    }
}

/// The value in a sealed document.
///
/// # Errors
///
/// [`LakeError::Damaged`] when the document is not what was sealed, or has another shape.
pub(crate) fn unseal<T: DeserializeOwned>(bytes: &[u8], path: &Path) -> Result<T, LakeError> {
    if check_seal(bytes) != Seal::Intact {
        return Err(LakeError::damaged(path, "it is not what was written"));
    }
    serde_json::from_slice(bytes).map_err(|error| LakeError::damaged(path, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_document_is_json_and_every_changed_bit_is_found() {
        let bytes = sealed(&serde_json::json!({"snapshot": 42, "state": {"a": [1, 2]}})).expect("sealed");
        let value: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!((&value["snapshot"], value["seal"].as_str().map(str::len)), (&42.into(), Some(64)));
        assert_eq!(check_seal(&bytes), Seal::Intact);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert_ne!(check_seal(&damaged), Seal::Intact, "byte {at}, bit {bit}");
            }
            assert_ne!(check_seal(&bytes[..at]), Seal::Intact, "cut at {at}");
        }
    }

    #[test]
    fn document_without_a_seal_has_a_missing_seal() {
        assert_eq!(check_seal(b"{\n  \"snapshot\": 1\n}\n"), Seal::Missing);
        assert_eq!(check_seal(b""), Seal::Missing);
        assert!(sealed(&serde_json::json!({})).is_err());
        assert!(sealed(&7).is_err());
    }
}
