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
const AFTER: &[u8] = b"\"\n}\n";
const DIGEST: usize = 64;

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

/// Whether a document is exactly what was sealed.
pub(crate) fn is_sealed(bytes: &[u8]) -> bool {
    let sealed = bytes.strip_suffix(AFTER).and_then(|bytes| bytes.split_last_chunk::<DIGEST>());
    sealed.is_some_and(|(body, digest)| {
        let body = body.strip_suffix(BEFORE);
        body.is_some_and(|body| blake3::hash(body).to_hex().as_bytes() == digest)
    })
}

pub(crate) fn unseal<T: DeserializeOwned>(bytes: &[u8], path: &Path) -> Result<T, LakeError> {
    if !is_sealed(bytes) {
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
        assert!(is_sealed(&bytes));
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert!(!is_sealed(&damaged), "byte {at}, bit {bit}");
            }
            assert!(!is_sealed(&bytes[..at]), "cut at {at}");
        }
    }

    #[test]
    fn document_without_a_seal_is_not_sealed() {
        assert!(!is_sealed(b"{\n  \"snapshot\": 1\n}\n"));
        assert!(!is_sealed(b""));
        assert!(sealed(&serde_json::json!({})).is_err());
        assert!(sealed(&7).is_err());
    }
}
