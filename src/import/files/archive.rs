//! Members of zip files, streamed: stored, Deflate or Deflate64, with sizes beyond 4 GB (ZIP64).
//!
//! Only what the state's archives use. Format: PKWARE's APPNOTE.TXT, 4.3 and 4.4. An encrypted member, or one on another disk, is
//! an error.

use super::origin::Origin;
use deflate64::Deflate64Decoder;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::collections::HashSet;
use std::io::{self, BufReader, Read, Take};

/// Bytes of the record at the end of an archive, without its comment.
const END_BYTES: u64 = 22;
const LONGEST_COMMENT: u64 = 65_535;
/// Bytes before the name of a member.
const HEADER_BYTES: u64 = 30;
/// Says that a value is in the ZIP64 field.
const ELSEWHERE: u64 = 0xFFFF_FFFF;
/// No archive of the state has a directory this large.
const LARGEST_DIRECTORY: u64 = 1 << 26;

/// What is wrong with an archive.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of an error names its fields")]
pub enum ArchiveError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it is damaged: {0}")]
    Damaged(io::Error),
    #[error("it is damaged or incomplete: {0}")]
    Wrong(&'static str),
    #[error("{member} is compressed by method {method}; Deflate and Deflate64 are known")]
    Method { member: String, method: u16 },
}

/// A file in an archive.
#[derive(Debug, Clone)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its checksum.
    pub crc32: u32,
    method: u16,
    packed: u64,
    header: u64,
}

/// The files of an archive, by its directory.
pub(super) fn members(archive: &Origin) -> Result<Vec<Member>, ArchiveError> {
    let (entries, size, offset) = directory(archive)?;
    if size > LARGEST_DIRECTORY {
        return Err(ArchiveError::Wrong("its directory is too large"));
    }
    let bytes = part(archive, offset, size)?;
    let mut rest = Bytes(&bytes);
    let mut found = Vec::new();
    for _ in 0..entries {
        let member = rest.member().ok_or(ArchiveError::Wrong("its directory is cut"))?;
        found.extend(member?);
    }
    check_places(&found, offset)?;
    Ok(found)
}

/// Refuses members that share bytes or a name: a small archive could have any number of texts.
fn check_places(members: &[Member], directory: u64) -> Result<(), ArchiveError> {
    let mut places: Vec<(u64, u64)> = members
        .iter()
        .map(|member| {
            (member.header, member.header.saturating_add(HEADER_BYTES).saturating_add(member.packed))
        })
        .collect();
    places.sort_unstable();
    let starts = places.iter().skip(1).map(|(start, _)| *start).chain([directory]);
    if places.iter().zip(starts).any(|((_, end), next)| *end > next) {
        return Err(ArchiveError::Wrong("its members overlap"));
    }
    let names: HashSet<&str> = members.iter().map(|member| &*member.name).collect();
    if names.len() == members.len() { Ok(()) } else { Err(ArchiveError::Wrong("two members have one name")) }
}

fn part(archive: &Origin, from: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    archive.part(from, most)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Number of members, and size and place of the directory.
fn directory(archive: &Origin) -> Result<(u64, u64, u64), ArchiveError> {
    let longest = END_BYTES + LONGEST_COMMENT;
    let tail = part(archive, archive.bytes.saturating_sub(longest), longest)?;
    let at = tail.windows(4).rposition(|bytes| bytes == b"PK\x05\x06");
    let at = at.ok_or(ArchiveError::Wrong("its end is missing"))?;
    let cut = || ArchiveError::Wrong("its end is cut");
    let mut end = Bytes(tail.get(at + 10..).ok_or_else(cut)?);
    let (entries, size, offset) = end.three().ok_or_else(cut)?;
    let locator = at
        .checked_sub(20)
        .and_then(|from| tail.get(from..at))
        .filter(|bytes| bytes.starts_with(b"PK\x06\x07"));
    match locator {
        Some(locator) if entries == 0xFFFF || size == ELSEWHERE || offset == ELSEWHERE => {
            let place = Bytes(&locator[8..]).u64().ok_or_else(cut)?;
            let record = part(archive, place, 56)?;
            let numbers = record.strip_prefix(b"PK\x06\x06").and_then(|rest| rest.get(28..));
            let mut record = Bytes(numbers.ok_or_else(cut)?);
            let mut number = || record.u64().ok_or_else(cut);
            Ok((number()?, number()?, number()?))
        }
        _ => Ok((entries, size, offset)),
    }
}

/// Bytes that are taken from the front, little-endian.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Number of entries, size and place of the directory.
    fn three(&mut self) -> Option<(u64, u64, u64)> {
        Some((self.u16()?.into(), self.u32()?.into(), self.u32()?.into()))
    }

    /// An entry of the directory; none for a folder.
    fn member(&mut self) -> Option<Result<Option<Member>, ArchiveError>> {
        if self.take(4)? != b"PK\x01\x02" {
            return Some(Err(ArchiveError::Wrong("its directory is damaged")));
        }
        self.take(4)?;
        let (flags, method) = (self.u16()?, self.u16()?);
        self.take(4)?;
        let (crc32, packed, bytes) = (self.u32()?, u64::from(self.u32()?), u64::from(self.u32()?));
        let (name, extra, comment) = (self.u16()?, self.u16()?, self.u16()?);
        self.take(8)?;
        let header = u64::from(self.u32()?);
        let name = String::from_utf8_lossy(self.take(name.into())?).into_owned();
        let extra = self.take(extra.into())?;
        self.take(comment.into())?;
        if name.ends_with('/') {
            return Some(Ok(None));
        }
        if flags & 1 == 1 {
            return Some(Err(ArchiveError::Wrong("a member is encrypted")));
        }
        let member = Member { name, bytes, crc32, method, packed, header };
        Some(Ok(Some(member.with_large_values(extra))))
    }
}

impl Member {
    /// The member with its sizes and place from the ZIP64 field.
    fn with_large_values(mut self, extra: &[u8]) -> Self {
        let mut extra = Bytes(extra);
        while let (Some(id), Some(length)) = (extra.u16(), extra.u16()) {
            let Some(field) = extra.take(length.into()) else { break };
            if id == 1 {
                let mut field = Bytes(field);
                for value in [&mut self.bytes, &mut self.packed, &mut self.header] {
                    if *value == ELSEWHERE {
                        *value = field.u64().unwrap_or(*value);
                    }
                }
            }
        }
        self
    }

    /// Its text, from the start. The end of a text that is not as the directory says is an error.
    pub(super) fn open(&self, archive: &Origin) -> Result<Box<dyn Read + Send>, ArchiveError> {
        let header = part(archive, self.header, HEADER_BYTES)?;
        let misplaced = || ArchiveError::Wrong("a member does not begin where the directory says");
        let mut lengths =
            Bytes(header.strip_prefix(b"PK\x03\x04").and_then(|rest| rest.get(22..)).ok_or_else(misplaced)?);
        let (name, extra) = lengths.u16().zip(lengths.u16()).ok_or_else(misplaced)?;
        let text = self.header.saturating_add(HEADER_BYTES + u64::from(name) + u64::from(extra));
        let packed = BufReader::with_capacity(1 << 18, archive.part(text, self.packed)?);
        Ok(match self.method {
            0 => Box::new(Checked::new(packed, self)),
            8 => Box::new(Checked::new(DeflateDecoder::new(packed), self)),
            9 => Box::new(Checked::new(Deflate64Decoder::with_buffer(packed), self)),
            method => return Err(ArchiveError::Method { member: self.name.clone(), method }),
        })
    }
}

/// A text whose size and checksum are compared at its end.
struct Checked<R> {
    text: Take<R>,
    crc: Crc,
    bytes: u64,
    crc32: u32,
}

impl<R: Read> Checked<R> {
    fn new(text: R, member: &Member) -> Self {
        // One byte more than there may be.
        Self { text: text.take(member.bytes + 1), crc: Crc::new(), bytes: member.bytes, crc32: member.crc32 }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(out)?;
        self.crc.update(&out[..read]);
        let is_end = read == 0 && !out.is_empty();
        if is_end
            && (u64::from(self.crc.amount()) != self.bytes & 0xFFFF_FFFF || self.crc.sum() != self.crc32)
        {
            let what = "size or checksum of a member is not what the directory says";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::try_changed;
    use crate::import::files::origin::files_of_folder;
    use std::path::Path;

    #[test]
    fn members_that_share_bytes_or_a_name_are_refused() {
        let member = |name: &str, header, packed| Member {
            name: name.to_owned(),
            bytes: 1 << 40,
            crc32: 0,
            method: 8,
            packed,
            header,
        };
        let check = |members: &[Member]| check_places(members, 200).map_err(|error| error.to_string());
        assert_eq!(check(&[member("b", 70, 100), member("a", 0, 40)]), Ok(()));
        for (members, why) in [
            ([member("a", 0, 40), member("b", 0, 40)], "overlap"),
            ([member("a", 0, 41), member("b", 70, 40)], "overlap"),
            ([member("a", 0, 40), member("b", 70, 101)], "overlap"),
            ([member("a", 0, u64::MAX), member("b", 70, 40)], "overlap"),
            ([member("a", 0, 40), member("a", 70, 40)], "one name"),
        ] {
            assert!(check(&members).is_err_and(|error| error.contains(why)), "{members:?}");
        }
    }

    #[test]
    fn members_of_deflate64_are_read_to_their_checksum() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/state_files");
        let files = files_of_folder(&folder).expect("files");
        let (_, archive) = files.into_iter().find(|(name, _)| name == "deflate64.zip").expect("an archive");
        let members = members(&archive).expect("members");
        assert_eq!(members.len(), 10);
        for member in members {
            assert_eq!(member.method, 9);
            let mut text = Vec::new();
            member.open(&archive).expect("opened").read_to_end(&mut text).expect("read");
            assert_eq!(text.len() as u64, member.bytes);
            let wrong = Member { crc32: member.crc32 ^ 1, ..member };
            let error = wrong.open(&archive).expect("opened").read_to_end(&mut text).expect_err("wrong");
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
    }

    #[test]
    fn fuzz_of_archives() {
        let whole =
            std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/state_files/deflate64.zip"));
        let whole = whole.expect("an archive");
        let directory = whole.windows(4).position(|bytes| bytes == b"PK\x01\x02").expect("a directory");
        let (texts, directory) = whole.split_at(directory);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("changed.zip");
        try_changed(&[directory], |input| {
            std::fs::write(&path, [texts, input].concat()).expect("written");
            let archive = Origin::at(path.clone());
            for member in members(&archive).unwrap_or_default() {
                if let Ok(text) = member.open(&archive) {
                    let _ = io::copy(&mut text.take(1 << 20), &mut io::sink());
                }
            }
        });
    }
}
