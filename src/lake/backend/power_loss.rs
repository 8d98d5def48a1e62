//! The content of a disk after a power loss, for tests. Synced names and bytes survive; any others may be lost.

use super::fault_injection::Watcher;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What happens to names and bytes that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Names are lost, renames and deletions undone; files that were not synced are empty.
    Everything,
    /// Names are the last ones; files that were not synced are empty.
    Contents,
    /// Each folder and each file has its last or its synced content, at random with this seed.
    Some(u64),
}

/// A disk that is watched from the beginning.
#[derive(Debug)]
pub(crate) struct Power {
    root: PathBuf,
    durable: Mutex<Durable>,
}

/// By inode, which is the same under every name. Open files keep the system from using an inode again.
#[derive(Debug, Default)]
struct Durable {
    files: HashMap<u64, Vec<u8>>,
    folders: HashMap<u64, BTreeMap<OsString, Entry>>,
    pins: Vec<File>,
}

#[derive(Debug, Clone)]
enum Entry {
    File(u64),
    Folder(u64),
    Link(PathBuf),
}

impl Power {
    /// Begins to watch a folder. Its content counts as synced.
    pub(crate) fn watch(root: &Path) -> Arc<Self> {
        let power = Self { root: root.to_path_buf(), durable: Mutex::default() };
        power.sync_all_below(root);
        Arc::new(power)
    }

    fn sync_all_below(&self, folder: &Path) {
        self.folder_synced(folder);
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() {
                self.sync_all_below(&entry.path());
            } else if kind.is_file() {
                self.file_synced(&entry.path());
            }
        }
    }

    /// Writes the content of the disk after the power loss to `to`.
    pub(crate) fn lose(&self, loss: Loss, to: &Path) {
        let mut now = Durable::default();
        note_all(&self.root, &mut now);
        let mut wreck = Wreck { durable: &self.durable.lock().expect("a lock"), now: &now, loss, die: 1 };
        if let Loss::Some(seed) = loss {
            wreck.die = seed.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        }
        wreck.write_folder(fs::metadata(&self.root).expect("a folder").ino(), to);
    }
}

impl Watcher for Power {
    fn file_synced(&self, path: &Path) {
        let inode = fs::metadata(path).expect("a file").ino();
        let bytes = fs::read(path).expect("a file");
        let mut durable = self.durable.lock().expect("a lock");
        durable.pins.push(File::open(path).expect("a file"));
        durable.files.insert(inode, bytes);
    }

    fn folder_synced(&self, path: &Path) {
        let inode = fs::metadata(path).expect("a folder").ino();
        let entries = entries(path);
        let mut durable = self.durable.lock().expect("a lock");
        let plain = entries.iter().filter(|(_, entry)| !matches!(entry, Entry::Link(_)));
        let pins: Vec<File> = plain.map(|(name, _)| File::open(path.join(name)).expect("a pin")).collect();
        durable.pins.extend(pins);
        durable.pins.push(File::open(path).expect("a pin"));
        durable.folders.insert(inode, entries);
    }
}

fn entries(folder: &Path) -> BTreeMap<OsString, Entry> {
    let read = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    read.map(|entry| {
        let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
        let inode = || fs::symlink_metadata(&path).expect("an inode").ino();
        let found = match kind {
            _ if kind.is_symlink() => Entry::Link(fs::read_link(&path).expect("a link")),
            _ if kind.is_dir() => Entry::Folder(inode()),
            _ => Entry::File(inode()),
        };
        (entry.file_name(), found)
    })
    .collect()
}

/// Adds the current content of the disk to `now`.
fn note_all(folder: &Path, now: &mut Durable) {
    let found = entries(folder);
    for (name, entry) in &found {
        let path = folder.join(name);
        match entry {
            Entry::Folder(_) => note_all(&path, now),
            Entry::File(inode) => {
                now.files.insert(*inode, fs::read(&path).expect("a file"));
            }
            Entry::Link(_) => {}
        }
    }
    now.folders.insert(fs::metadata(folder).expect("a folder").ino(), found);
}

struct Wreck<'a> {
    durable: &'a Durable,
    now: &'a Durable,
    loss: Loss,
    die: u64,
}

impl Wreck<'_> {
    fn keeps_names(&mut self) -> bool {
        match self.loss {
            Loss::Everything => false,
            Loss::Contents => true,
            Loss::Some(_) => self.roll(2) == 0,
        }
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.die = self.die.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.die >> 33) % sides
    }

    fn write_folder(&mut self, inode: u64, to: &Path) {
        fs::create_dir_all(to).expect("a folder");
        let (synced, last) = (self.durable.folders.get(&inode), self.now.folders.get(&inode));
        let found = if self.keeps_names() { last.or(synced) } else { synced };
        for (name, entry) in found.cloned().unwrap_or_default() {
            let to = to.join(name);
            match entry {
                Entry::Link(target) => std::os::unix::fs::symlink(target, to).expect("a link"),
                Entry::Folder(inode) => self.write_folder(inode, &to),
                Entry::File(inode) => fs::write(to, self.content(inode)).expect("a file"),
            }
        }
    }

    fn content(&mut self, inode: u64) -> Vec<u8> {
        let synced = self.durable.files.get(&inode).cloned().unwrap_or_default();
        let last = self.now.files.get(&inode).cloned().unwrap_or_default();
        match self.loss {
            Loss::Some(_) if last.starts_with(&synced) => {
                let more = last.len() - synced.len();
                let kept = if more == 0 { 0 } else { self.roll(more as u64 + 1) as usize };
                last[..synced.len() + kept].to_vec()
            }
            _ => synced,
        }
    }
}
