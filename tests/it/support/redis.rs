//! A Redis of a test, on a free port with its own folder. The library's tests have this file and `free_port` too.

use super::free_port::free_port;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A Redis under way, or stopped; killed when dropped.
pub(crate) struct Redis {
    pub(crate) port: u16,
    folder: TempDir,
    flags: Vec<String>,
    process: Option<Child>,
}

impl Redis {
    /// Keeps every command in its append-only file.
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// As [`Self::start`], with further flags.
    pub(crate) fn with(flags: &[&str]) -> Self {
        let port = free_port();
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let mut redis = Self { port, folder: tempfile::tempdir().expect("a folder"), flags, process: None };
        redis.run();
        assert!(redis.is_up(), "redis-server ends at once");
        redis
    }

    /// Starts the process; after [`Self::stop`] with the same data.
    pub(crate) fn run(&mut self) {
        let mut command = server();
        let log = File::create(self.folder.path().join("log")).expect("a log file");
        command.args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
        command.args(["--appendonly", "yes", "--appendfsync", "everysec", "--dir"]).arg(self.folder.path());
        command.args(&self.flags).stdin(Stdio::null()).stdout(log).stderr(Stdio::null());
        self.process = Some(command.spawn().unwrap_or_else(|error| panic!("redis-server: {error}")));
    }

    /// Waits until it answers; false when the process has ended.
    pub(crate) fn is_up(&mut self) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) {
            if self.process.as_mut().is_none_or(|process| process.try_wait().expect("a process").is_some()) {
                return false;
            }
            if self
                .try_ask("PING")
                .is_ok_and(|answer| answer.starts_with("+PONG") || answer.contains("NOAUTH"))
            {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("redis-server does not answer")
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    /// The answer to a command without blanks in its words.
    pub(crate) fn ask(&self, command: &str) -> String {
        self.try_ask(command).unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    fn try_ask(&self, command: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.write_all(format!("{command}\r\n").as_bytes())?;
        stream.shutdown(Shutdown::Write)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// A field of an account's hash; 0 where there is none.
    pub(crate) fn count(&self, account: &str, field: &str) -> u64 {
        let answer = self.ask(&format!("HGET sunlake:usage:{{{account}}} {field}"));
        answer.lines().nth(1).and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    }

    /// Ends the process.
    pub(crate) fn stop(&mut self) {
        self.signal("TERM");
        if let Some(mut process) = self.process.take() {
            process.wait().expect("a process");
        }
    }

    /// Lets it hang: its port is open, and nothing answers.
    pub(crate) fn pause(&self) {
        self.signal("STOP");
    }

    pub(crate) fn resume(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        let Some(process) = &self.process else { return };
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", process.id())]).status();
        assert!(sent.expect("sh").success(), "kill -{name}");
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // Already ended, perhaps.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// `redis-server` from the path, or from Debian's packages, which are unpacked once in the build folder. One process does that, others wait.
fn server() -> Command {
    if Command::new("redis-server").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Command::new("redis-server");
    }
    let tests = std::env::current_exe().expect("the path of the tests");
    let all = tests.ancestors().nth(3).expect("the build folder").join("tmp");
    std::fs::create_dir_all(&all).expect("the folder for temporary files");
    let home = all.join("redis-server");
    let lock = File::create(all.join("redis-server.lock")).expect("a lock file");
    lock.lock().expect("the lock of the unpacked Redis");
    let ready = home.join("ready");
    if !ready.try_exists().is_ok_and(|is_there| is_there) {
        // What a broken attempt left.
        let _ = std::fs::remove_dir_all(&home);
        std::fs::create_dir_all(&home).expect("a folder");
        unpack(&home).unwrap_or_else(|what| {
            panic!("these tests need redis-server: install it (apt-get install redis-server); {what}")
        });
        std::fs::write(&ready, "").expect("a mark");
    }
    let mut command = Command::new(home.join("usr/bin/redis-server"));
    command.env("LD_LIBRARY_PATH", libraries(&home));
    command
}

/// Downloads the packages that are missing on this machine, and unpacks them.
fn unpack(home: &Path) -> Result<(), String> {
    let run = |command: &mut Command| {
        let output = command.current_dir(home).output().map_err(|error| format!("{command:?}: {error}"))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success().then_some(said).ok_or_else(|| format!("{command:?}: {error}"))
    };
    let wanted = ["--print-uris", "--yes", "--no-install-recommends", "install", "redis-server"];
    let listed = run(Command::new("apt-get").args(wanted))?;
    // 'address' name_version_architecture.deb size digest
    let files =
        listed.lines().filter(|line| line.starts_with('\'')).filter_map(|line| line.split(' ').nth(1));
    let names: Vec<&str> = files.filter_map(|file| file.split('_').next()).collect();
    run(Command::new("apt-get").arg("download").args(&names))?;
    let entries = std::fs::read_dir(home).map_err(|error| error.to_string())?;
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.extension().is_some_and(|extension| extension == "deb") {
            run(Command::new("dpkg-deb").arg("-x").arg(&path).arg(home))?;
        }
    }
    Ok(())
}

/// The folder of the unpacked libraries: that of the architecture.
fn libraries(home: &Path) -> PathBuf {
    let all = home.join("usr/lib");
    let folders = std::fs::read_dir(&all).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    folders.into_iter().find(|folder| folder.to_string_lossy().ends_with("linux-gnu")).unwrap_or(all)
}
