//! Temporary folders, in memory where there is room, else in the build's own folder.

use rustix::fs::StatVfsMountFlags;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// A folder of one test, gone with it.
pub(crate) struct Scratch(TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir_in(root()).expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Root of the lake that the test's runs write.
    pub(crate) fn lake(&self) -> PathBuf {
        self.path("lake")
    }

    /// Writes a file and says where.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a file in the temporary folder");
        path
    }
}

/// Room that the lakes of all tests need at a time, with much to spare.
const ROOM: u64 = 8 << 30;

/// Folder of this test process. Those of processes that are gone are removed.
pub(crate) fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let all = if is_roomy(memory) { memory } else { Path::new(env!("CARGO_TARGET_TMPDIR")) };
        std::fs::create_dir_all(all).expect("the folder for temporary files");
        remove_left_behind(all);
        let own = all.join(format!("{PREFIX}{}", std::process::id()));
        std::fs::create_dir_all(&own).expect("a folder for this process");
        remove_at_the_end(&own);
        own
    })
}

/// Has the folder removed when this process has ended, however it ends: what tests share is never dropped. A shell waits for the end of
/// its input, whose other end only this process has.
fn remove_at_the_end(folder: &Path) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' INT TERM; cat >/dev/null; rm -rf \"$1\"", "sh"]).arg(folder);
    let shell = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    std::mem::forget(shell.expect("a shell"));
}

const PREFIX: &str = "sunlake-it-";

/// Whether programs can be run in a folder that has room for all lakes. In memory nothing waits for the disk, and the kernel does not look
/// for free inodes among those just deleted.
fn is_roomy(folder: &Path) -> bool {
    rustix::fs::statvfs(folder).is_ok_and(|disk| {
        disk.f_bavail * disk.f_frsize >= ROOM && !disk.f_flag.contains(StatVfsMountFlags::NOEXEC)
    })
}

fn remove_left_behind(all: &Path) {
    for entry in std::fs::read_dir(all).expect("the folder for temporary files").flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Another test process may be doing the same.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
