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

use serde::Serialize;
use std::io;

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
    Whole,
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
pub(crate) fn look(bytes: &[u8]) -> Seal {
    let Some(start) = bytes.len().checked_sub(BEFORE.len() + DIGEST + AFTER.len()) else {
        return Seal::Missing;
    };
    let (body, tail) = bytes.split_at(start);
    let (before, rest) = tail.split_at(BEFORE.len());
    let (digest, after) = rest.split_at(DIGEST);
    match (before == BEFORE, after == AFTER) {
        (true, true) if blake3::hash(body).to_hex().as_bytes() == digest => Seal::Whole,
        (false, false) => Seal::Missing,
        _ => Seal::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_document_is_json_and_no_changed_bit_goes_unseen() {
        let bytes = sealed(&serde_json::json!({"snapshot": 42, "state": {"a": [1, 2]}})).expect("sealed");
        let value: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!((&value["snapshot"], value["seal"].as_str().map(str::len)), (&42.into(), Some(64)));
        assert_eq!(look(&bytes), Seal::Whole);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert_ne!(look(&damaged), Seal::Whole, "byte {at}, bit {bit}");
            }
            assert_ne!(look(&bytes[..at]), Seal::Whole, "cut at {at}");
        }
    }

    #[test]
    fn what_was_never_sealed_says_so() {
        assert_eq!(look(b"{\n  \"snapshot\": 1\n}\n"), Seal::Missing);
        assert_eq!(look(b""), Seal::Missing);
        assert!(sealed(&serde_json::json!({})).is_err());
        assert!(sealed(&7).is_err());
    }
}
