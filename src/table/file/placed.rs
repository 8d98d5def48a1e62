//! A file that is read by position: a page costs one system call, and readers share no place in it.

use crate::table::error::TableError;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::{File, Metadata};
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// Bytes that are read ahead where the length of what is read is not known, as of the header of a page.
const AHEAD_BYTES: usize = 1024;

/// An open file of known length.
#[derive(Debug, Clone)]
pub(super) struct PlacedFile {
    file: Arc<File>,
    length: u64,
    #[cfg(test)]
    read: Arc<std::sync::atomic::AtomicUsize>,
}

impl PlacedFile {
    /// Opens a file. Also returns what the disk says of it.
    pub(super) fn open(path: &Path) -> std::result::Result<(Self, Metadata), TableError> {
        let failed = |source| TableError::io("open", path, source);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let placed = Self {
            file: Arc::new(file),
            length: metadata.len(),
            #[cfg(test)]
            read: Arc::default(),
        };
        Ok((placed, metadata))
    }

    /// Bytes that were read from it.
    #[cfg(test)]
    pub(super) fn bytes_read(&self) -> usize {
        self.read.load(std::sync::atomic::Ordering::Relaxed)
    }

    fn count(&self, _bytes: usize) {
        #[cfg(test)]
        self.read.fetch_add(_bytes, std::sync::atomic::Ordering::Relaxed);
    }
}

impl Length for PlacedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for PlacedFile {
    type T = BufReader<ReadFrom>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(AHEAD_BYTES, ReadFrom { file: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            let message = format!("{length} bytes at {start} of a file that has {}", self.length);
            return Err(ParquetError::EOF(message));
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        self.count(length);
        Ok(bytes.into())
    }
}

/// The bytes of a file from a place on.
#[derive(Debug)]
pub(super) struct ReadFrom {
    file: PlacedFile,
    at: u64,
}

impl Read for ReadFrom {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.file.read_at(buffer, self.at)?;
        self.file.count(read);
        self.at += read as u64;
        Ok(read)
    }
}
