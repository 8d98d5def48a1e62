//! The log of a run in its own folder: JSON lines, bounded, whatever stderr shows.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tracing_subscriber::fmt::MakeWriter;

/// Most that one process writes into a run's log.
const MOST_BYTES: usize = 4 << 20;
/// Most that is kept until the run has a folder.
const MOST_WAITING: usize = 64 << 10;
/// The last line of a log that would have grown too long.
const FULL: &[u8] =
    b"{\"level\":\"WARN\",\"fields\":{\"message\":\"the log of this run ends here: it is full\"}}\n";

/// Where lines go: kept until a run begins, then into its folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunLog(Arc<Mutex<Place>>);

#[derive(Debug)]
enum Place {
    Waiting(Vec<u8>),
    Open { file: File, left: usize },
    Full,
}

impl Default for Place {
    fn default() -> Self {
        Self::Waiting(Vec::new())
    }
}

impl RunLog {
    /// Goes on in the folder of a run, after what an earlier process wrote there. A log that cannot be written is told
    /// and does not stop the run.
    pub(crate) fn begin(&self, folder: &Path) {
        let path = folder.join("log");
        let opened = OpenOptions::new().create(true).append(true).open(&path);
        let begun = opened.and_then(|file| self.place(|place| place.begin(file)));
        if let Err(error) = begun {
            tracing::warn!(path = %path.display(), %error, "the run has no log");
        }
    }

    fn place<T>(&self, act: impl FnOnce(&mut Place) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Place {
    fn begin(&mut self, mut file: File) -> io::Result<()> {
        let left = match self {
            Self::Waiting(lines) => {
                file.write_all(lines)?;
                MOST_BYTES - lines.len()
            }
            Self::Open { left, .. } => *left,
            Self::Full => return Ok(()),
        };
        *self = Self::Open { file, left };
        Ok(())
    }

    /// One line, whole or not at all.
    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        match self {
            Self::Waiting(lines) => {
                if lines.len() + line.len() <= MOST_WAITING {
                    lines.extend_from_slice(line);
                }
                Ok(())
            }
            Self::Open { file, left } if line.len() <= *left => {
                *left -= line.len();
                file.write_all(line)
            }
            Self::Open { file, .. } => {
                let told = file.write_all(FULL);
                *self = Self::Full;
                told
            }
            Self::Full => Ok(()),
        }
    }
}

impl Write for RunLog {
    /// The subscriber gives a line at a time.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.place(|place| place.line(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for RunLog {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_wait_for_the_run_and_end_when_there_are_too_many() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut log = RunLog::default();
        log.write_all(b"before\n").expect("kept");
        log.begin(folder.path());
        let line = [b"x".repeat(1023), b"\n".to_vec()].concat();
        for _ in 0..2 * MOST_BYTES / line.len() {
            log.write_all(&line).expect("written");
        }
        let text = std::fs::read(folder.path().join("log")).expect("a log");
        assert!(text.starts_with(b"before\nxxx") && text.ends_with(FULL));
        assert!(text.len() <= MOST_BYTES + FULL.len());
        let other = folder.path().join("other");
        std::fs::create_dir(&other).expect("a folder");
        log.begin(&other);
        log.write_all(&line).expect("left out");
        assert_eq!(std::fs::read(folder.path().join("log")).expect("a log"), text);
    }
}
