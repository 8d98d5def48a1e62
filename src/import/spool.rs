//! Entries on disk by partition, between reading and merging: memory stays the same whatever the number of entries.
//!
//! Entries collect in memory, by partition. When they fill the memory they may have, they are written to one file, with one zstd
//! frame a partition.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::compress_bound;

/// Where the entries of one partition are in the file.
struct Frame {
    offset: u64,
    length: usize,
    unpacked: usize,
}

/// Entries by partition, being written.
pub struct Spool {
    file: File,
    packer: Compressor<'static>,
    packed: Vec<u8>,
    offset: u64,
    buffers: BTreeMap<i32, Vec<u8>>,
    held: usize,
    limit: usize,
    frames: BTreeMap<i32, Vec<Frame>>,
}

/// One entry: the business, the file it is from, its line, and its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// Number of the business.
    pub id: i64,
    /// Number of the file in the import.
    pub file: u32,
    /// Line of the file.
    pub line: u64,
    /// The packed record or event.
    pub bytes: &'a [u8],
}

const HEAD: usize = 8 + 4 + 8 + 4;
/// zstd level: the file is read once, and removed. Level 1 takes twice the time, and a quarter less room.
const LEVEL: i32 = -1;

impl Spool {
    /// A new spool in this file, which keeps at most `limit` bytes in memory.
    pub fn create(path: &Path, limit: usize) -> io::Result<Self> {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
        Ok(Self {
            file,
            packer: Compressor::new(LEVEL)?,
            packed: Vec::new(),
            offset: 0,
            buffers: BTreeMap::new(),
            held: 0,
            limit,
            frames: BTreeMap::new(),
        })
    }

    /// Adds an entry to a partition.
    pub fn push(&mut self, partition: i32, entry: Entry<'_>) -> io::Result<()> {
        push_entry(self.buffers.entry(partition).or_default(), entry);
        self.held += HEAD + entry.bytes.len();
        if self.held >= self.limit { self.flush() } else { Ok(()) }
    }

    /// Writes what is in memory. Buffers of about the room that they took are kept, because the system clears the pages of new ones.
    fn flush(&mut self) -> io::Result<()> {
        for (partition, bytes) in self.buffers.iter().filter(|(_, bytes)| !bytes.is_empty()) {
            self.packed.clear();
            self.packed.reserve(compress_bound(bytes.len()));
            self.packer.compress_to_buffer(bytes, &mut self.packed)?;
            self.file.write_all(&self.packed)?;
            let frame = Frame { offset: self.offset, length: self.packed.len(), unpacked: bytes.len() };
            self.offset += self.packed.len() as u64;
            self.frames.entry(*partition).or_default().push(frame);
        }
        self.buffers.retain(|_, bytes| {
            let is_filled = bytes.capacity() <= 2 * bytes.len();
            bytes.clear();
            is_filled
        });
        self.held = 0;
        Ok(())
    }

    /// Writes what is still in memory.
    pub fn finish(mut self) -> io::Result<Spooled> {
        self.flush()?;
        Ok(Spooled { file: self.file, frames: self.frames })
    }
}

/// Entries by partition, to be read.
pub struct Spooled {
    file: File,
    frames: BTreeMap<i32, Vec<Frame>>,
}

impl Spooled {
    /// The partitions with entries.
    pub fn partitions(&self) -> impl Iterator<Item = i32> + '_ {
        self.frames.keys().copied()
    }

    /// Adds the bytes of a partition's entries.
    pub fn read(&self, partition: i32, out: &mut Vec<u8>) -> io::Result<()> {
        let frames = self.frames.get(&partition).map_or(&[][..], Vec::as_slice);
        out.reserve(frames.iter().map(|frame| frame.unpacked).sum());
        let (mut unpacker, mut packed) = (Decompressor::new()?, Vec::new());
        for frame in frames {
            packed.resize(frame.length, 0);
            self.file.read_exact_at(&mut packed, frame.offset)?;
            let mut end = Cursor::new(&mut *out);
            end.set_position(end.get_ref().len() as u64);
            unpacker.decompress_to_buffer(&packed, &mut end)?;
        }
        Ok(())
    }
}

/// Adds an entry to bytes that [`entries`] reads.
pub fn push_entry(bytes: &mut Vec<u8>, entry: Entry<'_>) {
    bytes.extend_from_slice(&entry.id.to_le_bytes());
    bytes.extend_from_slice(&entry.file.to_le_bytes());
    bytes.extend_from_slice(&entry.line.to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(entry.bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(entry.bytes);
}

/// The entries in bytes that [`Spooled::read`] gave.
pub fn entries(mut bytes: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    std::iter::from_fn(move || {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let number = |from: usize, to: usize| {
            head[from..to].iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte))
        };
        let length = usize::try_from(number(20, 24)).ok()?;
        let (text, rest) = rest.split_at_checked(length)?;
        bytes = rest;
        let (id, file) = (number(0, 8) as i64, number(8, 12) as u32);
        Some(Entry { id, file, line: number(12, 20), bytes: text })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spools 60 entries of three partitions, flushed many times, and reads them back.
    fn come_back(partition_of: fn(u64) -> i32) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spool = Spool::create(&folder.path().join("spool"), 200).expect("a spool");
        for at in 0..60_u64 {
            let bytes = vec![b'x'; at as usize % 7];
            let entry = Entry { id: -(at as i64), file: 3, line: at, bytes: &bytes };
            spool.push(partition_of(at), entry).expect("kept");
        }
        let spooled = spool.finish().expect("written");
        assert_eq!(spooled.partitions().collect::<Vec<_>>(), [0, 1, 2]);
        for partition in 0..3 {
            let mut bytes = Vec::new();
            spooled.read(partition, &mut bytes).expect("read");
            let lines: Vec<u64> = entries(&bytes).map(|entry| entry.line).collect();
            assert_eq!(lines, (0..60).filter(|at| partition_of(*at) == partition).collect::<Vec<_>>());
            for entry in entries(&bytes) {
                assert_eq!(entry.id, -(entry.line as i64));
                assert_eq!(entry.bytes.len() as u64, entry.line % 7);
            }
        }
    }

    #[test]
    fn entries_come_back_by_partition_in_their_order_whether_they_alternate_or_follow_each_other() {
        come_back(|at| at as i32 % 3);
        // A partition that is over leaves no room behind.
        come_back(|at| at as i32 / 20);
    }
}
