//! Sealed JSON: a document that ends with the digest of everything before, so that not one changed bit goes unseen.
//!
//! ```text
//! {
//!   "snapshot": 42,
//!   "seal": "<blake3 of the bytes up to the comma, hex>"
//! }
//! ```
//!
//! It stays JSON: whoever does not care reads past the seal.

use crate::lake::error::LakeError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::path::Path;

/// What stands between the document and its digest.
const BEFORE: &[u8] = b",\n  \"seal\": \"";
/// What stands behind the digest.
const AFTER: &[u8] = b"\"\n}\n";
/// Length of a digest in hex.
const DIGEST: usize = 64;

/// What a document says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seal {
    /// It is as it was written.
    Intact,
    /// It has no seal: an older sunlake wrote it, or its end is gone.
    Missing,
    /// It is not what was sealed.
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

/// Whether a document is what was sealed.
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
    if check_seal(bytes) == Seal::Broken {
        return Err(LakeError::damaged(path, "it is not what was written"));
    }
    serde_json::from_slice(bytes).map_err(|error| LakeError::damaged(path, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_document_is_json_and_no_changed_bit_goes_unseen() {
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
    fn what_was_never_sealed_says_so() {
        assert_eq!(check_seal(b"{\n  \"snapshot\": 1\n}\n"), Seal::Missing);
        assert_eq!(check_seal(b""), Seal::Missing);
        assert!(sealed(&serde_json::json!({})).is_err());
        assert!(sealed(&7).is_err());
    }
}
