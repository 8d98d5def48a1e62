//! A slow disk: a library between the program and the C library that delays each write of request counts.

use super::command::succeed;
use super::scratch::root;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// How long each write takes.
pub(crate) const WRITE: Duration = Duration::from_millis(500);

const SOURCE: &str = r#"
use std::ffi::{c_char, c_int, c_void};
use std::time::Duration;

type Write = unsafe extern "C" fn(c_int, *const c_void, usize, i64) -> isize;
const NEXT: *mut c_void = -1_isize as *mut c_void;

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
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
        let (source, library) = (root().join("slow_disk.rs"), root().join("libslow_disk.so"));
        std::fs::write(&source, SOURCE.replace("MILLIS", &WRITE.as_millis().to_string())).expect("a file");
        let mut compiler = Command::new("rustc");
        compiler.args(["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort", "-o"]);
        succeed(compiler.args([&library, &source]).stdin(Stdio::null()));
        library
    })
}
