//! The bytes of one archived page in a segment:
//!
//! ```text
//! skippable zstd frame:  magic (4) · length (4) · blake3 of the header, first 8 bytes · header, JSON
//! zstd frame:            the body
//! ```
//!
//! So `zstdcat` of a segment prints the bodies. The header has the length and digest of the frame after it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// First bytes of a record: a magic number that zstd decoders skip.
const MAGIC: [u8; 4] = 0x184D_2A5A_u32.to_le_bytes();
/// Bytes before the JSON of a header.
const LEAD: usize = 16;
/// Longest body. Every page of this API is shorter, so a header with more is damaged.
const BODY_BYTES: u64 = 1 << 30;

/// A page without its body.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) key: String,
    pub(super) occurrence: u32,
    pub(super) status: u16,
    pub(super) received_at: Timestamp,
    /// Length of the zstd frame after the header.
    pub(super) packed_bytes: u64,
    pub(super) bytes: u64,
    /// Digest of the zstd frame.
    pub(super) blake3: String,
}

/// The record of a page: its header, and the zstd frame of its body.
pub(super) fn record(header: &Header, packed: &[u8]) -> std::io::Result<Vec<u8>> {
    let json = serde_json::to_vec(header)?;
    let length = u32::try_from(json.len() + 8).map_err(std::io::Error::other)?;
    let mut record = Vec::with_capacity(LEAD + json.len() + packed.len());
    record.extend_from_slice(&MAGIC);
    record.extend_from_slice(&length.to_le_bytes());
    record.extend_from_slice(&blake3::hash(&json).as_bytes()[..8]);
    record.extend_from_slice(&json);
    record.extend_from_slice(packed);
    Ok(record)
}

/// The record at the beginning of `bytes`: header, offset of its frame, length; none when it is torn or damaged.
pub(super) fn record_at(bytes: &[u8]) -> Option<(Header, usize, usize)> {
    let (magic, rest) = bytes.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (digest, rest) = rest.split_first_chunk::<8>()?;
    let json = rest.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?.checked_sub(8)?)?;
    if *magic != MAGIC || blake3::hash(json).as_bytes()[..8] != digest[..] {
        return None;
    }
    let header: Header = serde_json::from_slice(json).ok()?;
    if header.bytes > BODY_BYTES {
        return None;
    }
    let frame = LEAD + json.len();
    let end = frame.checked_add(usize::try_from(header.packed_bytes).ok()?)?;
    let packed = bytes.get(frame..end)?;
    (blake3::hash(packed).to_hex().as_str() == header.blake3).then_some((header, frame, end))
}

/// Where the next record may begin.
pub(super) fn next_magic(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == MAGIC)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::try_changed;

    #[test]
    fn fuzz_of_archived_pages() {
        let packed = zstd::encode_all(&b"{}"[..], 1).expect("packed");
        let header = r#"{"key": "filed:2026-11-20", "occurrence": 1, "status": 200, "received_at": "2026-11-20T12:00:00Z",
            "packed_bytes": PACKED, "bytes": 2, "blake3": "DIGEST"}"#;
        let header = header.replace("PACKED", &packed.len().to_string());
        let header = header.replace("DIGEST", blake3::hash(&packed).to_hex().as_str());
        let header: Header = serde_json::from_str(&header).expect("a header");
        let page = record(&header, &packed).expect("a record");
        assert!(record_at(&page).is_some());
        try_changed(&[page], |input| {
            let at = next_magic(input).unwrap_or(0);
            if let Some((_, frame, end)) = record_at(&input[at..]) {
                assert!(frame <= end && at + end <= input.len());
            }
        });
    }
}
