//! Where files are: in a folder of this machine, or in another place that gives their bytes in pieces.

use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// Bytes of one request to a store.
const PIECE: u64 = 8 << 20;

/// A file in another place than this machine, which is only read.
pub trait Remote: Debug + Send + Sync {
    /// Some of its bytes, as it was listed.
    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>>;
}

/// A file, wherever it is.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Where a user finds it.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Equal stamps of one path mean an unchanged file.
    pub stamp: String,
    remote: Option<Arc<dyn Remote>>,
}

/// What cannot be read, and why.
pub type Unreadable = (PathBuf, io::Error);

/// The files of a folder, with their paths in it. A link back to a folder that it is in, and what is no file, such as a pipe, are left out
/// with a warning.
pub fn files_of_folder(folder: &Path) -> Result<Vec<(String, Origin)>, Unreadable> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| (path, source)
    };
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(inside) = folders.pop() {
        for entry in fs::read_dir(&inside).map_err(unreadable(&inside))? {
            let path = entry.map_err(unreadable(&inside))?.path();
            let about = match fs::metadata(&path) {
                Err(error) if is_endless_link(&path, &error) => None,
                about => Some(about.map_err(unreadable(&path))?),
            };
            let Some(about) = about.filter(|about| !(about.is_dir() && is_loop(&path))) else {
                tracing::warn!("{} is a link that leads back to itself: it is left out", path.display());
                continue;
            };
            if about.is_dir() {
                folders.push(path);
                continue;
            }
            if !about.is_file() {
                tracing::warn!("{} is no file: it is left out", path.display());
                continue;
            }
            let name = path.strip_prefix(folder).unwrap_or(&path).components();
            let name = name.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
            let changed = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            let changed = changed.map_or(0, |since| since.as_nanos());
            let stamp = format!("{} bytes changed at {changed}", about.len());
            files.push((name, Origin { path, bytes: about.len(), stamp, remote: None }));
        }
    }
    Ok(files)
}

/// Whether a folder is one of those that it is in, by a link.
fn is_loop(folder: &Path) -> bool {
    let is_link = fs::symlink_metadata(folder).is_ok_and(|about| about.is_symlink());
    let mut above = folder.ancestors().skip(1).filter_map(|above| fs::canonicalize(above).ok());
    is_link && fs::canonicalize(folder).is_ok_and(|real| above.any(|above| above.starts_with(&real)))
}

/// Whether a link could not be followed to any place.
fn is_endless_link(path: &Path, error: &io::Error) -> bool {
    let has_place = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied);
    !has_place && fs::symlink_metadata(path).is_ok_and(|about| about.is_symlink())
}

impl Origin {
    /// A file of this machine, there or not.
    pub fn at(path: PathBuf) -> Self {
        Self { path, bytes: 0, stamp: String::new(), remote: None }
    }

    /// A file in another place.
    pub fn remote(path: PathBuf, bytes: u64, stamp: String, file: Arc<dyn Remote>) -> Self {
        Self { path, bytes, stamp, remote: Some(file) }
    }

    /// Whether there is such a file.
    pub fn is_there(&self) -> bool {
        self.remote.is_some() || self.path.is_file()
    }

    /// All of it.
    pub(super) fn text(&self) -> io::Result<Box<dyn Read + Send>> {
        self.part(0, u64::MAX)
    }

    /// Its bytes from a place on, at most this many.
    pub(super) fn part(&self, from: u64, most: u64) -> io::Result<Box<dyn Read + Send>> {
        let Some(remote) = &self.remote else {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(from))?;
            return Ok(Box::new(file.take(most)));
        };
        let end = from.saturating_add(most).min(self.bytes);
        Ok(Box::new(Pieces { file: Arc::clone(remote), rest: from..end, piece: io::Cursor::default() }))
    }
}

/// Bytes of a file of a store, requested piece by piece: memory is that of one, and no request takes long.
struct Pieces {
    file: Arc<dyn Remote>,
    rest: Range<u64>,
    piece: io::Cursor<Vec<u8>>,
}

impl Read for Pieces {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.piece.read(out)?;
        if read > 0 || out.is_empty() || self.rest.is_empty() {
            return Ok(read);
        }
        let end = (self.rest.start + PIECE).min(self.rest.end);
        let bytes = self.file.read(self.rest.start..end)?;
        if bytes.len() as u64 != end - self.rest.start {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.rest.start = end;
        self.piece = io::Cursor::new(bytes);
        self.piece.read(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[derive(Debug)]
    struct Memory(Vec<u8>);

    impl Remote for Memory {
        fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
            assert!(range.end - range.start <= PIECE);
            Ok(self.0[range.start as usize..range.end as usize].to_vec())
        }
    }

    #[test]
    fn pipes_and_links_that_lead_back_are_left_out_and_other_links_are_followed() {
        let (scratch, other) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let folder = scratch.path().join("files");
        fs::create_dir_all(folder.join("cor")).expect("a folder");
        fs::write(folder.join("cor/a"), "x").expect("a file");
        fs::write(other.path().join("b"), "x").expect("a file");
        let link = |to: &Path, name: &str| symlink(to, folder.join(name)).expect("a link");
        link(&folder, "cor/up");
        link(scratch.path(), "further");
        link(Path::new("self"), "self");
        link(other.path(), "other");
        symlink(&folder, other.path().join("back")).expect("a link");
        link(&folder.join("cor/a"), "c");
        let _socket = UnixListener::bind(folder.join("socket")).expect("a socket");
        let mut names: Vec<String> =
            files_of_folder(&folder).expect("files").into_iter().map(|(name, _)| name).collect();
        names.sort();
        assert_eq!(names, ["c", "cor/a", "other/b"]);
    }

    #[test]
    fn a_file_of_a_store_is_read_piece_by_piece() {
        for size in [0, 1, PIECE, 2 * PIECE + 17] {
            let text: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            let file = Arc::new(Memory(text.clone()));
            let origin = Origin::remote(PathBuf::from("memory/a/b"), size, String::new(), file);
            for (from, most) in [(0, u64::MAX), (size, 9), (size / 2, size / 3)] {
                let mut read = Vec::new();
                origin.part(from, most).expect("opened").read_to_end(&mut read).expect("read");
                let end = from.saturating_add(most).min(size);
                assert!(read == text[from as usize..end as usize], "{size}: {from} to {end}");
            }
        }
    }
}
