//! Reads files by several threads: each takes one file after another, largest first, and spools its records by filing month and its
//! events by business.

use super::business::event::parse_event;
use super::business::packed::{pack_event, pack_line};
use super::business::record::{check_record, newest_day};
use super::files::layout::Kind;
use super::files::lines::{Line, read_lines};
use super::files::source::{SourceError, SourceFile};
use super::rules::text::{business_id, decoded};
use super::sound::{Expected, Fault, Sound};
use super::spool::{Entry, Spool, Spooled};
use jiff::civil::Date;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Partitions of events and of the places of businesses.
pub const BUCKETS: i32 = 64;
/// Memory of the entries of all threads, in each spool.
const SPOOL_BYTES: usize = 96 << 20;
/// Businesses whose numbers one thread remembers.
const MOST_IDS: usize = 400_000;
/// zstd level of copies.
const COPY_LEVEL: i32 = 3;
/// Lines after which a file without a record has none.
const FIRST_LINES: u64 = 1_000;

/// The partition of a business.
pub fn bucket(id: i64) -> i32 {
    let mixed = (id as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    (mixed % BUCKETS as u64) as i32
}

/// The number of the month of a day: year * 12 + month - 1.
pub fn month_number(day: Date) -> i32 {
    i32::from(day.year()) * 12 + i32::from(day.month()) - 1
}

/// A line in quarantine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// The file.
    pub file: String,
    /// Its line.
    pub line: u64,
    /// What is wrong.
    pub reason: String,
    /// All of the line.
    pub record: String,
}

/// What was read of a file.
#[derive(Debug, Clone, Default)]
pub struct FileRead {
    /// blake3 digest of its text, hex.
    pub digest: String,
    /// Size of its text.
    pub bytes: u64,
    /// Lines in quarantine.
    pub rejected: Vec<Rejected>,
    /// What was counted of its lines; its days are those up to today.
    pub sound: Sound,
    /// What is wrong with a daily file that does not count.
    pub fault: Option<Fault>,
}

/// Everything that was read.
pub struct Reading {
    /// Of each file, by its number.
    pub files: BTreeMap<usize, FileRead>,
    /// Records by filing month.
    pub records: Vec<Spooled>,
    /// The filing month of each record, by bucket.
    pub places: Vec<Spooled>,
    /// Events by bucket.
    pub events: Vec<Spooled>,
    /// The businesses; none where they are too many to remember.
    pub ids: Option<HashSet<i64>>,
}

/// How files are read.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions<'a> {
    /// Days after it do not date a quarterly set.
    pub today: Date,
    /// Folder of the spools.
    pub scratch: &'a Path,
    /// Folder of copies of the texts, named by their digest; none to keep no copies.
    pub copies: Option<&'a Path>,
}

/// Reads files.
pub fn read_files(files: &[SourceFile], options: ReadOptions<'_>) -> Result<Reading, SourceError> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(files[*at].bytes));
    let next = AtomicUsize::new(0);
    let workers = rayon::broadcast(|thread| -> Result<Option<Reading>, SourceError> {
        // A worker holds three files open, so there are no more than files to read.
        let threads = thread.num_threads().min(files.len().max(1));
        if thread.index() >= threads {
            return Ok(None);
        }
        let mut worker = Worker::new(options.scratch, thread.index(), SPOOL_BYTES / threads)?;
        while let Some(at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            // After an error, no thread begins another file.
            worker
                .read(*at, &files[*at], options)
                .inspect_err(|_| next.store(order.len(), Ordering::Relaxed))?;
        }
        Ok(Some(worker.finish()?))
    });
    let mut reading = Reading {
        files: BTreeMap::new(),
        records: Vec::new(),
        places: Vec::new(),
        events: Vec::new(),
        ids: Some(HashSet::new()),
    };
    for worker in workers {
        worker?.into_iter().for_each(|read| reading.add(read));
    }
    Ok(reading)
}

impl Reading {
    fn add(&mut self, other: Self) {
        self.files.extend(other.files);
        self.records.extend(other.records);
        self.places.extend(other.places);
        self.events.extend(other.events);
        self.ids = self.ids.take().zip(other.ids).map(|(mut all, more)| {
            all.extend(more);
            all
        });
    }
}

/// One thread, with its own spools.
struct Worker {
    records: Spool,
    places: Spool,
    events: Spool,
    packed: Vec<u8>,
    ids: Option<HashSet<i64>>,
    files: BTreeMap<usize, FileRead>,
}

impl Worker {
    fn new(folder: &Path, number: usize, bytes: usize) -> io::Result<Self> {
        let spool = |name: &str| Spool::create(&folder.join(format!("{name}-{number}")), bytes);
        Ok(Self {
            records: spool("records")?,
            places: spool("places")?,
            events: spool("events")?,
            packed: Vec::new(),
            ids: Some(HashSet::new()),
            files: BTreeMap::new(),
        })
    }

    fn read(
        &mut self,
        number: usize,
        file: &SourceFile,
        options: ReadOptions<'_>,
    ) -> Result<(), SourceError> {
        let copy = options.copies.map(|folder| NewCopy::create(folder, number)).transpose()?;
        let mut text = Hashed { text: file.open()?, hasher: blake3::Hasher::new(), copy };
        let mut found = FileRead::default();
        let (at, expected) = (u32::try_from(number).unwrap_or(u32::MAX), file.expected());
        let (mut spooled, mut is_over) = (Ok(()), false);
        let read = read_lines(&mut text, file.kind.length(), |line| {
            spooled = self.take(file, expected, at, options.today, line, &mut found);
            is_over = spooled.is_err() || found.sound.lines() == FIRST_LINES && found.sound.records() == 0;
            if is_over { Err(io::Error::other("see above")) } else { Ok(()) }
        });
        spooled?;
        found.fault = found.sound.fault(expected);
        read.or_else(|error| if is_over { Ok(()) } else { Err(file.failed(error)) })?;
        if let Some(fault) = found.fault.filter(|_| !expected.is_daily) {
            return Err(file.unusable(fault));
        }
        // The digest and the copy are of all of it.
        io::copy(&mut text, &mut io::sink()).map_err(|error| file.failed(error))?;
        found.bytes = text.hasher.count();
        found.digest = text.hasher.finalize().to_hex().to_string();
        if let Some(copy) = text.copy {
            copy.keep(&found.digest)?;
        }
        self.files.insert(number, found);
        Ok(())
    }

    fn take(
        &mut self,
        file: &SourceFile,
        expected: Expected,
        number: u32,
        today: Date,
        line: Line<'_>,
        found: &mut FileRead,
    ) -> io::Result<()> {
        let reason = match line.error {
            Some(error) => Err(error.reason()),
            None if file.kind.is_event() => self.spool_event(file.kind, number, line)?,
            None => self.spool_record(file.kind, number, line)?,
        };
        let newest = match reason {
            Ok(()) if file.day.is_none() => newest_day(file.kind, line.bytes, today),
            _ => None,
        };
        found.sound.note(expected, line, reason.is_ok(), newest);
        if let Err(reason) = reason {
            let (name, record) = (file.name.clone(), decoded(line.bytes));
            found.rejected.push(Rejected {
                file: name,
                line: line.number,
                reason: reason.to_owned(),
                record,
            });
        }
        Ok(())
    }

    fn spool_record(
        &mut self,
        kind: Kind,
        file: u32,
        line: Line<'_>,
    ) -> io::Result<Result<(), &'static str>> {
        let (number, filed) = match check_record(kind, line.bytes) {
            Ok(found) => found,
            Err(reason) => return Ok(Err(reason)),
        };
        let (id, month) = (business_id(&number), month_number(filed));
        self.packed.clear();
        pack_line(line.bytes, &mut self.packed);
        self.records.push(month, Entry { id, file, line: line.number, bytes: &self.packed })?;
        self.places.push(bucket(id), Entry { id, file, line: line.number, bytes: &month.to_le_bytes() })?;
        self.note(id);
        Ok(Ok(()))
    }

    fn spool_event(&mut self, kind: Kind, file: u32, line: Line<'_>) -> io::Result<Result<(), &'static str>> {
        let Some((number, event)) = parse_event(kind, line.bytes) else { return Ok(Err("no number")) };
        let id = business_id(&number);
        self.packed.clear();
        pack_event(&event, &mut self.packed);
        self.events.push(bucket(id), Entry { id, file, line: line.number, bytes: &self.packed })?;
        self.note(id);
        Ok(Ok(()))
    }

    fn note(&mut self, id: i64) {
        if let Some(ids) = &mut self.ids {
            ids.insert(id);
            if ids.len() > MOST_IDS {
                self.ids = None;
            }
        }
    }

    /// Writes what is still in memory.
    fn finish(self) -> io::Result<Reading> {
        Ok(Reading {
            files: self.files,
            records: vec![self.records.finish()?],
            places: vec![self.places.finish()?],
            events: vec![self.events.finish()?],
            ids: self.ids,
        })
    }
}

/// The name of the copy of a text.
pub fn copy_name(digest: &str) -> String {
    format!("{digest}.txt.zst")
}

/// A copy being written.
struct NewCopy {
    path: PathBuf,
    out: zstd::Encoder<'static, File>,
}

impl NewCopy {
    fn create(folder: &Path, number: usize) -> io::Result<Self> {
        let path = folder.join(format!(".tmp-{number}"));
        let out = zstd::Encoder::new(File::create(&path)?, COPY_LEVEL)?;
        Ok(Self { path, out })
    }

    fn keep(self, digest: &str) -> io::Result<()> {
        self.out.finish()?.sync_all()?;
        fs::rename(&self.path, self.path.with_file_name(copy_name(digest)))
    }
}

/// A text whose digest is found, and whose copy is written, while it is read.
struct Hashed<R> {
    text: R,
    hasher: blake3::Hasher,
    copy: Option<NewCopy>,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(out)?;
        self.hasher.update(&out[..read]);
        if let Some(copy) = &mut self.copy {
            copy.out.write_all(&out[..read])?;
        }
        Ok(read)
    }
}
