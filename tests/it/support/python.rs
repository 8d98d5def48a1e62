//! Python with the readers of `requirements.txt`, installed once in the build folder and used again.

use super::command::{project, succeed};
use serde_json::Value;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// It takes 8 s of processor time for the packages of `requirements.txt`; pip takes 63, while all tests of Python wait.
const INSTALLER: &str = "uv==0.13.9";

/// A script of this folder, about to be run.
pub(crate) fn command(script: &str) -> Command {
    command_with("requirements.txt", script)
}

/// As [`command`], with the packages of another file of requirements.
pub(crate) fn command_with(requirements: &str, script: &str) -> Command {
    let mut command = run_in(&programs(requirements), "python");
    command.arg(project().join("tests/it").join(script));
    command
}

/// A program in Python that a package of the environment brings, about to be run.
pub(crate) fn tool(name: &str) -> Command {
    run_in(&programs("requirements.txt"), name)
}

/// A program of an environment. What Python compiles of the packages is kept there: where a variable forbids that, as in many images, each
/// start of a script would compile them anew.
fn run_in(programs: &Path, name: &str) -> Command {
    let mut command = Command::new(programs.join(name));
    command
        .env_remove("PYTHONDONTWRITEBYTECODE")
        .env("PYTHONPYCACHEPREFIX", programs.with_file_name("bytecode"));
    command
}

/// Runs a script of this folder; gives the JSON it printed.
pub(crate) fn json(script: &str, arguments: &[&Path]) -> Value {
    json_with("requirements.txt", script, arguments)
}

/// As [`json`], with the packages of another file of requirements.
pub(crate) fn json_with(requirements: &str, script: &str, arguments: &[&Path]) -> Value {
    let output = command_with(requirements, script).args(arguments).output().expect("python");
    reported(script, &output)
}

/// The JSON that a script printed, which ended well.
pub(crate) fn reported(script: &str, output: &Output) -> Value {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success(),
        "\n$ {script}\n{}\n--- stdout\n{stdout}--- stderr\n{stderr}---",
        output.status
    );
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}\n{stdout}"))
}

/// A program that a package of the environment brings.
pub(crate) fn program(name: &str) -> PathBuf {
    programs("requirements.txt").join(name)
}

/// The programs of the environment of a file of requirements, which is made where it is missing. One process makes it,
/// others wait.
fn programs(requirements: &str) -> PathBuf {
    let requirements = project().join("tests/it").join(requirements);
    let mut hasher = DefaultHasher::new();
    std::fs::read(&requirements).expect("a file of requirements").hash(&mut hasher);
    let all = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(all).expect("the folder for temporary files");
    let home = all.join(format!("pyenv-{:016x}", hasher.finish()));
    let lock = File::create(home.with_extension("lock")).expect("a lock file");
    lock.lock().expect("the lock of the Python environment");
    let (python, ready) = (home.join("bin/python"), home.join("ready"));
    if !ready.exists() {
        // What a broken installation left.
        let _ = std::fs::remove_dir_all(&home);
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&home));
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"];
        succeed(Command::new(&python).args(pip).arg(INSTALLER));
        // pyspark is published as sources alone, and needs no compiler.
        let install =
            ["pip", "install", "--quiet", "--only-binary", ":all:", "--no-binary", "pyspark", "--python"];
        succeed(Command::new(home.join("bin/uv")).args(install).arg(&python).arg("-r").arg(&requirements));
        std::fs::write(&ready, "").expect("a mark");
    }
    home.join("bin")
}
