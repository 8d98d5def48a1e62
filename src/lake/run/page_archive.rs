//! Pages as received: archived before they are used, so that a bug in later code never costs a second request.
//!
//! Segments `000001.zst`, … are append-only. A page is one record of [`page_frame`](super::page_frame), written by one
//! call.
//!
//! In an object store, a segment is a chunk: at 25 pages or 1 MiB it is closed and uploaded, so that another machine can
//! resume the run. The open segment is only on this machine.
//!
//! Opening the archive checks every page. A torn or damaged page does not count; the run requests it again.

use super::page_frame::{Header, next_magic, record, record_at};
use crate::lake::backend::disk::{self, Storage, StoredFile};
use crate::lake::backend::remote_cache::ChunkUpload;
use crate::lake::error::LakeError;
use jiff::Timestamp;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use zstd::bulk::Compressor;

/// A segment of this length takes no more records.
const SEGMENT_BYTES: u64 = 64 << 20;
/// A chunk of this length takes no more records.
const CHUNK_BYTES: u64 = 1 << 20;
/// A chunk with this number of pages takes no more. A machine that dies loses at most these requests: one minute of the smallest
/// plan, and 2.5% of its day. The largest plan fills a chunk in 12 seconds, so an upload of 0.1 seconds takes less than 1% of its
/// time, and a month of 200,000 requests makes 8,000 uploads.
const CHUNK_PAGES: u32 = 25;

/// Level of zstd for pages.
const PAGE_LEVEL: i32 = 1;

/// An answer of the API, as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawPage {
    /// HTTP status.
    pub status: u16,
    /// When it was received.
    pub received_at: Timestamp,
    /// The body, decompressed.
    pub body: Vec<u8>,
}

#[derive(Debug)]
struct PageLocation {
    segment: usize,
    offset: u64,
    header: Header,
}

/// The pages of one run, by request and occurrence.
pub struct RawArchive {
    dir: PathBuf,
    storage: Storage,
    segments: Vec<PathBuf>,
    /// key → occurrence → page.
    pages: HashMap<String, HashMap<u32, PageLocation>>,
    /// The last segment, while records are appended to it.
    tail: Option<StoredFile>,
    /// Bytes of the last segment up to the end of its last intact record.
    intact: u64,
    /// Kept for its memory, which is larger than a page.
    compressor: Option<Compressor<'static>>,
    chunks: Option<ChunkUpload>,
    /// Pages since the last upload.
    not_uploaded: u32,
    /// Segments with a torn tail or without a byte, and the bytes before it.
    torn: Vec<(PathBuf, u64)>,
    /// Segments with damage before their last intact page, and the damaged bytes.
    damaged: Vec<(PathBuf, u64)>,
}

impl RawArchive {
    /// Opens the archive in `dir`; creates a missing folder. Checks every page and truncates torn tails.
    pub(super) fn open_on(
        dir: &Path,
        storage: Storage,
        chunks: Option<ChunkUpload>,
    ) -> Result<Self, LakeError> {
        storage.create_durable_dir_all(dir)?;
        let mut archive = Self::open_read_only(dir, storage)?;
        for (segment, intact) in std::mem::take(&mut archive.torn) {
            archive.storage.truncate(&segment, intact)?;
        }
        if let Some(mut chunks) = chunks {
            // An earlier process of this machine may have been killed before an upload.
            chunks.upload(&archive.segments)?;
            archive.chunks = Some(chunks);
        }
        Ok(archive)
    }

    /// The archive as it is stored; nothing is created or truncated.
    pub(super) fn open_read_only(dir: &Path, storage: Storage) -> Result<Self, LakeError> {
        let names = disk::names(dir)?;
        let segments =
            names.iter().filter(|name| name.ends_with(".zst")).map(|name| dir.join(name)).collect();
        let mut archive = Self {
            dir: dir.to_path_buf(),
            storage,
            segments,
            pages: HashMap::new(),
            tail: None,
            intact: 0,
            compressor: None,
            chunks: None,
            not_uploaded: 0,
            torn: Vec::new(),
            damaged: Vec::new(),
        };
        for segment in 0..archive.segments.len() {
            archive.read_segment(segment)?;
        }
        Ok(archive)
    }

    fn read_segment(&mut self, segment: usize) -> Result<(), LakeError> {
        let path = self.segments[segment].clone();
        let bytes = fs::read(&path).map_err(LakeError::storage("read", &path))?;
        let (mut at, mut intact, mut dropped) = (0, 0, 0_usize);
        while at < bytes.len() {
            match record_at(&bytes[at..]) {
                Some((header, frame, length)) => {
                    self.note(PageLocation { segment, offset: (at + frame) as u64, header });
                    at += length;
                    intact = at;
                }
                None => {
                    let next = next_magic(&bytes[at + 1..]).map_or(bytes.len(), |skip| at + 1 + skip);
                    dropped += next - at;
                    at = next;
                }
            }
        }
        self.intact = intact as u64;
        if intact < bytes.len() || bytes.is_empty() {
            self.torn.push((path.clone(), intact as u64));
        }
        let damaged = dropped.saturating_sub(bytes.len() - intact);
        if damaged > 0 {
            self.damaged.push((path, damaged as u64));
        }
        Ok(())
    }

    fn note(&mut self, page: PageLocation) {
        let occurrences = self.pages.entry(page.header.key.clone()).or_default();
        occurrences.insert(page.header.occurrence, page);
    }

    /// Segments with damage before their last intact page, and the damaged bytes of each.
    pub(crate) fn damaged(&self) -> &[(PathBuf, u64)] {
        &self.damaged
    }

    /// Segments with a torn tail or without a byte.
    pub(crate) fn torn(&self) -> impl Iterator<Item = &PathBuf> {
        self.torn.iter().map(|(path, _)| path)
    }

    /// The files of the archive, oldest first.
    pub(crate) fn segments(&self) -> &[PathBuf] {
        &self.segments
    }

    /// Archives a page. `key` is the request (`GET /v1/…?…`), `occurrence` its count in this run; the same pair again
    /// replaces the page. After this call the page outlives the process, after [`RawArchive::sync`] also the machine.
    pub fn append(
        &mut self,
        key: &str,
        occurrence: u32,
        status: u16,
        received_at: Timestamp,
        body: &[u8],
    ) -> Result<(), LakeError> {
        let path = self.tail_path();
        let packed = self.compress(body).map_err(LakeError::storage("write", &path))?;
        let header = Header {
            key: key.to_owned(),
            occurrence,
            status,
            received_at,
            packed_bytes: packed.len() as u64,
            bytes: body.len() as u64,
            blake3: blake3::hash(&packed).to_hex().to_string(),
        };
        let record = record(&header, &packed).map_err(LakeError::storage("write", &path))?;
        let offset = self.write(&record)?;
        let offset = offset + (record.len() - packed.len()) as u64;
        self.note(PageLocation { segment: self.segments.len() - 1, offset, header });
        self.not_uploaded += 1;
        let is_full = self.not_uploaded >= CHUNK_PAGES || self.intact >= CHUNK_BYTES;
        if is_full && self.chunks.is_some() { self.sync() } else { Ok(()) }
    }

    fn compress(&mut self, body: &[u8]) -> io::Result<Vec<u8>> {
        let compressor = match self.compressor.take() {
            Some(compressor) => compressor,
            None => Compressor::new(PAGE_LEVEL)?,
        };
        self.compressor.insert(compressor).compress(body)
    }

    fn tail_path(&self) -> PathBuf {
        self.segments.last().cloned().unwrap_or_else(|| self.dir.clone())
    }

    /// Appends a record to the last segment, or to a new one, and returns its offset. After a failure the segment stays as
    /// it is: its torn record does not count, and the next record goes to a new segment.
    fn write(&mut self, record: &[u8]) -> Result<u64, LakeError> {
        let mut file = match self.tail.take() {
            Some(file) if self.intact < SEGMENT_BYTES => file,
            _ => self.next_segment()?,
        };
        file.write_all(record).map_err(LakeError::storage("write", &self.tail_path()))?;
        self.tail = Some(file);
        let offset = self.intact;
        self.intact += record.len() as u64;
        Ok(offset)
    }

    fn next_segment(&mut self) -> Result<StoredFile, LakeError> {
        // An uploaded chunk never changes.
        if let (Some(last), None) = (self.segments.last(), &self.chunks) {
            let length = fs::metadata(last).map_err(LakeError::storage("read", last))?.len();
            if length < SEGMENT_BYTES && length == self.intact {
                return self.storage.append(last);
            }
        }
        let path = self.dir.join(format!("{:06}.zst", self.last_number() + 1));
        let file = self.storage.append(&path)?;
        self.segments.push(path);
        self.intact = 0;
        Ok(file)
    }

    fn last_number(&self) -> u64 {
        let stem = self.segments.last().and_then(|path| path.file_stem());
        stem.and_then(|stem| stem.to_str()?.split('-').next()?.parse().ok()).unwrap_or(0)
    }

    /// Makes appended pages outlive the machine: syncs them, and uploads them to an object store.
    pub fn sync(&mut self) -> Result<(), LakeError> {
        self.tail.as_ref().map_or(Ok(()), StoredFile::sync)?;
        self.storage.sync_dir(&self.dir)?;
        if let Some(chunks) = &mut self.chunks {
            (self.tail, self.not_uploaded) = (None, 0);
            chunks.upload(&self.segments)?;
        }
        Ok(())
    }

    /// The page of a request, if it is archived.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`]; [`LakeError::Damaged`] when the page was damaged after the archive was opened.
    pub fn get(&self, key: &str, occurrence: u32) -> Result<Option<RawPage>, LakeError> {
        let page = self.pages.get(key).and_then(|occurrences| occurrences.get(&occurrence));
        page.map(|page| self.read(page)).transpose()
    }

    fn read(&self, location: &PageLocation) -> Result<RawPage, LakeError> {
        let path = &self.segments[location.segment];
        let (header, failed) = (&location.header, || LakeError::storage("read", path));
        let mut packed = vec![0; usize::try_from(header.packed_bytes).unwrap_or(0)];
        let file = File::open(path).map_err(failed())?;
        file.read_exact_at(&mut packed, location.offset).map_err(failed())?;
        if blake3::hash(&packed).to_hex().as_str() != header.blake3 {
            return Err(LakeError::damaged(path, format!("the page of {} changed on disk", header.key)));
        }
        let body = zstd::bulk::decompress(&packed, usize::try_from(header.bytes).unwrap_or(0));
        Ok(RawPage { status: header.status, received_at: header.received_at, body: body.map_err(failed())? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl RawArchive {
        pub(crate) fn open(dir: &Path) -> Result<Self, LakeError> {
            Self::open_on(dir, Storage::default(), None)
        }

        /// Number of pages that count.
        pub(crate) fn len(&self) -> usize {
            self.pages.values().map(HashMap::len).sum()
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("an instant")
    }

    fn filled(dir: &Path, pages: u32) -> RawArchive {
        let mut archive = RawArchive::open(dir).expect("an archive");
        for page in 0..pages {
            let body = format!("{{\"page\":{page}}}").repeat(20);
            archive.append("GET /v1/x?a=1", page, 200, at(i64::from(page)), body.as_bytes()).expect("kept");
        }
        archive
    }

    #[test]
    fn pages_are_read_as_they_were_written_also_after_reopening() {
        let dir = tempfile::tempdir().expect("a folder");
        let archive = filled(dir.path(), 3);
        let page = archive.get("GET /v1/x?a=1", 1).expect("read").expect("kept");
        assert_eq!((page.status, page.received_at), (200, at(1)));
        drop(archive);
        let mut archive = RawArchive::open(dir.path()).expect("an archive");
        assert_eq!(archive.get("GET /v1/x?a=1", 1).expect("read"), Some(page));
        assert_eq!(archive.get("GET /v1/x?a=1", 9).expect("read"), None);
        archive.append("GET /v1/x?a=1", 1, 503, at(9), b"").expect("kept");
        let status = |at| archive.get("GET /v1/x?a=1", at).expect("read").expect("kept").status;
        assert_eq!(([0, 1, 2].map(status), archive.len()), ([200, 503, 200], 3));
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 1, "few big files");
    }

    #[test]
    fn torn_tail_is_dropped_at_every_length() {
        let dir = tempfile::tempdir().expect("a folder");
        drop(filled(dir.path(), 3));
        let path = dir.path().join("000001.zst");
        let whole = fs::read(&path).expect("a segment");
        let mut ends = Vec::new();
        let mut end = 0;
        while let Some((_, _, length)) = record_at(&whole[end..]) {
            end += length;
            ends.push(end);
        }
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).expect("cut");
            let mut archive = RawArchive::open(dir.path()).expect("an archive");
            let sound = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!(archive.len(), sound, "cut at {cut}");
            archive.append("GET /y", 0, 200, at(7), b"after").expect("kept");
            drop(archive);
            let archive = RawArchive::open(dir.path()).expect("an archive");
            assert_eq!(archive.len(), sound + 1, "cut at {cut}");
            // The torn record is gone: the new page follows the last intact one.
            let bytes = fs::read(&path).expect("a segment");
            let kept = ends[..sound].last().copied().unwrap_or(0);
            assert_eq!(bytes[..kept], whole[..kept], "cut at {cut}");
            let last = record_at(&bytes[kept..]).map(|(_, _, length)| length);
            assert_eq!(last, Some(bytes.len() - kept), "cut at {cut}");
        }
    }

    #[test]
    fn damage_affects_only_its_own_page() {
        let dir = tempfile::tempdir().expect("a folder");
        drop(filled(dir.path(), 3));
        let path = dir.path().join("000001.zst");
        let whole = fs::read(&path).expect("a segment");
        let first = record_at(&whole).map(|(_, _, length)| length).expect("a record");
        for at in [0, 5, 9, 20, first - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x40;
            fs::write(&path, &bytes).expect("damaged");
            let archive = RawArchive::open(dir.path()).expect("an archive");
            assert_eq!(archive.get("GET /v1/x?a=1", 0).expect("read"), None, "byte {at}");
            assert_eq!(archive.len(), 2, "byte {at}");
        }
    }

    #[test]
    fn page_that_failed_to_be_written_does_not_count_and_damages_no_other() {
        let dir = tempfile::tempdir().expect("a folder");
        let faults = crate::lake::backend::fault_injection::Faults::full_once_at(4);
        let mut archive =
            RawArchive::open_on(dir.path(), Storage::with_faults(faults), None).expect("an archive");
        let kept: Vec<bool> =
            (0..4).map(|page| archive.append("GET /x", page, 200, at(0), b"body").is_ok()).collect();
        assert_eq!(kept.iter().filter(|kept| !**kept).count(), 1);
        let archive = RawArchive::open(dir.path()).expect("an archive");
        for (page, kept) in (0..).zip(kept) {
            assert_eq!(archive.get("GET /x", page).expect("read").is_some(), kept);
        }
    }

    #[test]
    fn zstd_tools_read_a_segment() {
        let dir = tempfile::tempdir().expect("a folder");
        drop(filled(dir.path(), 2));
        let bytes = fs::read(dir.path().join("000001.zst")).expect("a segment");
        let text = zstd::decode_all(&bytes[..]).expect("plain zstd");
        assert!(text.starts_with(b"{\"page\":0}") && text.ends_with(b"{\"page\":1}"));
    }
}
