//! Node with the clients of `node/package.json`, installed once in the build folder and used again.

use super::command::{project, succeed};
use serde_json::Value;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs a script of `node/` on a task; gives the JSON it printed.
pub(crate) fn json(script: &str, task: &Path) -> Value {
    let output = run(&[script.as_ref(), task]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}\n{stdout}"))
}

/// Runs node in the folder of the clients; it must succeed.
pub(crate) fn run(arguments: &[&Path]) -> Output {
    let home = installed();
    succeed(Command::new(home.join("node_modules/.bin/node")).args(arguments).current_dir(&home))
}

/// The folder of the clients, which is made where it is missing. The scripts are copied anew each time.
fn installed() -> PathBuf {
    let own = project().join("tests/it/node");
    let mut hasher = DefaultHasher::new();
    std::fs::read(own.join("package.json")).expect("package.json").hash(&mut hasher);
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("node-{:016x}", hasher.finish()));
    std::fs::create_dir_all(&home).expect("a folder");
    let lock = File::create(home.join("lock")).expect("a lock file");
    lock.lock().expect("the lock of the clients");
    for file in std::fs::read_dir(&own).expect("scripts").flatten() {
        std::fs::copy(file.path(), home.join(file.file_name())).expect("a copy");
    }
    if !home.join("ready").exists() {
        succeed(Command::new("npm").args(["install", "--no-audit", "--no-fund"]).current_dir(&home));
        std::fs::write(home.join("ready"), "").expect("a mark");
    }
    home
}
