//! A bad disk: a library between the program and the C library that delays each write of request counts, and fails once to create a file
//! whose path has the text of [`FAILS_IN`].

use super::command::succeed;
use super::scratch::root;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// The variable with a part of the path of the file that is not created.
pub(crate) const FAILS_IN: &str = "BAD_DISK_FAILS_IN";

/// How long each write takes.
pub(crate) const WRITE: Duration = Duration::from_millis(500);

const SOURCE: &str = r#"
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

type Open = unsafe extern "C" fn(*const c_char, c_int, c_int) -> c_int;
type Write = unsafe extern "C" fn(c_int, *const c_void, usize, i64) -> isize;
const NEXT: *mut c_void = -1_isize as *mut c_void;

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn __errno_location() -> *mut c_int;
}

const O_CREAT: c_int = 0o100;
const EIO: c_int = 5;
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    if flags & O_CREAT != 0
        && let Ok(part) = std::env::var("FAILS_IN")
        && unsafe { CStr::from_ptr(path) }.to_string_lossy().contains(&part)
        && !HAS_FAILED.swap(true, Ordering::SeqCst)
    {
        unsafe { *__errno_location() = EIO };
        return -1;
    }
    unsafe { std::mem::transmute::<_, Open>(dlsym(NEXT, c"open64".as_ptr()))(path, flags, mode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite64(file: c_int, bytes: *const c_void, count: usize, offset: i64) -> isize {
    let path = std::fs::read_link(format!("/proc/self/fd/{file}")).unwrap_or_default();
    if path.ends_with("usage.jsonl") {
        std::thread::sleep(Duration::from_millis(MILLIS));
    }
    unsafe { std::mem::transmute::<_, Write>(dlsym(NEXT, c"pwrite64".as_ptr()))(file, bytes, count, offset) }
}
"#;

/// The library, for `LD_PRELOAD`; made once.
pub(crate) fn library() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let (source, library) = (root().join("bad_disk.rs"), root().join("libbad_disk.so"));
        let text = SOURCE.replace("MILLIS", &WRITE.as_millis().to_string()).replace("FAILS_IN", FAILS_IN);
        std::fs::write(&source, text).expect("a file");
        let mut compiler = Command::new("rustc");
        compiler.args(["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort", "-o"]);
        succeed(compiler.args([&library, &source]).stdin(Stdio::null()));
        library
    })
}
