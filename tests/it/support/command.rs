//! Starts the binary with a clean environment and shows everything it said when a claim fails.

use super::PATIENCE;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wait_timeout::ChildExt as _;

/// The project's folder.
pub(crate) fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A pipeline file as shipped.
pub(crate) fn shipped(name: &str) -> PathBuf {
    project().join("pipelines").join(name)
}

/// The binary as it was when the tests began, through an open file: a build during the tests does not replace it.
fn binary() -> PathBuf {
    static OPENED: OnceLock<File> = OnceLock::new();
    let file = OPENED.get_or_init(|| File::open(env!("CARGO_BIN_EXE_sunlake")).expect("the built binary"));
    let through = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
    if through.exists() { through } else { PathBuf::from(env!("CARGO_BIN_EXE_sunlake")) }
}

/// Where runs into a lake keep the ledgers of requests.
pub(crate) fn state_next_to(lake: &Path) -> PathBuf {
    lake.with_file_name("state")
}

/// A command line in the making.
pub(crate) struct Sunlake {
    command: Command,
    reported: String,
}

impl Sunlake {
    /// `sunlake` with arguments; no `SUNLAKE_` variable comes in from outside.
    pub(crate) fn new<I: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = I>) -> Self {
        let mut command = Command::new(binary());
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SUNLAKE_"))
        {
            command.env_remove(name);
        }
        command.current_dir(super::scratch::root());
        // The tests must not use the ledgers of the person who runs them.
        command.env("SUNLAKE_STATE", super::scratch::root().join("state"));
        // The embedded API has its lake among temporary files.
        command.env("TMPDIR", super::scratch::root());
        Self { command, reported: "sunlake".to_owned() }.args(arguments)
    }

    /// `sunlake run FILE --lake LAKE --json`, with the ledgers of requests next to the lake.
    pub(crate) fn run(pipeline: &Path, lake: &Path) -> Self {
        let mut run = Self::on(lake, ["run", "--json"]).args([pipeline]);
        run.command.env("SUNLAKE_STATE", state_next_to(lake));
        run
    }

    /// `sunlake ARGUMENTS --lake LAKE`.
    pub(crate) fn on<I: AsRef<std::ffi::OsStr>>(lake: &Path, arguments: impl IntoIterator<Item = I>) -> Self {
        Self::new(arguments).args(["--lake".as_ref(), lake.as_os_str()])
    }

    /// `sunlake serve` of a lake on a free port.
    pub(crate) fn serve(lake: &Path, keys: &Path) -> Self {
        Self::on(lake, ["serve", "--listen", "127.0.0.1:0"]).args(["--keys".as_ref(), keys.as_os_str()])
    }

    pub(crate) fn args<I: AsRef<std::ffi::OsStr>>(mut self, arguments: impl IntoIterator<Item = I>) -> Self {
        for argument in arguments {
            self.reported.push_str(&format!(" {}", argument.as_ref().to_string_lossy()));
            self.command.arg(argument);
        }
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.reported = format!("{name}={value} {}", self.reported);
        self.command.env(name, value);
        self
    }

    /// With a variable whose value may be no text.
    pub(crate) fn env_os(mut self, name: &str, value: &std::ffi::OsStr) -> Self {
        self.command.env(name, value);
        self
    }

    /// Without a variable that this process has.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// With an address of the API, an Eastern day and a key.
    pub(crate) fn asking(self, base_url: &str, today: &str, key: &str) -> Self {
        self.args(["--base-url", base_url, "--today", today]).env("SUNLAKE_API_KEY", key)
    }

    pub(crate) fn within(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// The same, run by another program that gets it as its last arguments.
    pub(crate) fn through(mut self, program: &[&str]) -> Self {
        let mut wrapped = Command::new(program[0]);
        // Another user's open files are not for everyone, so the binary goes by its name.
        wrapped.args(&program[1..]).arg(env!("CARGO_BIN_EXE_sunlake")).args(self.command.get_args());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => wrapped.env(name, value),
                None => wrapped.env_remove(name),
            };
        }
        wrapped.current_dir(self.command.get_current_dir().expect("a folder"));
        self.reported = format!("{} {}", program.join(" "), self.reported);
        self.command = wrapped;
        self
    }

    /// Sets a variable with the program's path for a wrapping script.
    pub(crate) fn names_itself(self, variable: &str) -> Self {
        self.env(variable, env!("CARGO_BIN_EXE_sunlake"))
    }

    /// Runs it to its end.
    pub(crate) fn finish(self) -> Finished {
        self.start().finish()
    }

    /// Starts it.
    pub(crate) fn start(mut self) -> Running {
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("{}: {error}", self.reported));
        let stderr = child.stderr.take().expect("stderr is piped");
        let said: Arc<Mutex<String>> = Arc::default();
        let heard = Arc::clone(&said);
        Running {
            stdout: child.stdout.take().map(BufReader::new),
            listener: Some(std::thread::spawn(move || listen(stderr, &heard))),
            said,
            child,
            reported: self.reported,
            begun: Instant::now(),
        }
    }
}

/// Runs `sunlake ARGUMENTS --lake LAKE` to its end.
pub(crate) fn sunlake(lake: &Path, arguments: &[&str]) -> Finished {
    Sunlake::on(lake, arguments).finish()
}

/// Runs another program, which must succeed.
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "\n$ {command:?}\n{}\n{stdout}{stderr}", output.status);
    output
}

fn collect(mut stream: impl Read) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("what the program says");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Keeps what comes, line by line.
fn listen(stream: impl Read, said: &Mutex<String>) {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    while stream.read_until(b'\n', &mut line).expect("what the program says") > 0 {
        said.lock().expect("what was said").push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
}

/// A process under way; killed when dropped.
pub(crate) struct Running {
    child: Child,
    stdout: Option<BufReader<ChildStdout>>,
    /// What came on stderr so far, and who takes it down.
    said: Arc<Mutex<String>>,
    listener: Option<JoinHandle<()>>,
    reported: String,
    begun: Instant,
}

impl Running {
    /// The next line on stdout.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().expect("stdout").read_line(&mut line).expect("a line on stdout");
        line.trim_end().to_owned()
    }

    /// The address that a server says it listens on, or what it said in its place.
    pub(crate) fn address(&mut self) -> Result<SocketAddr, String> {
        let line = self.line();
        let url = line.strip_prefix("listening ").unwrap_or_default();
        let address = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
        address.and_then(|text| text.parse().ok()).ok_or(line)
    }

    /// The complete lines on stderr so far.
    pub(crate) fn said(&self) -> String {
        self.said.lock().expect("what was said").clone()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a process").is_none()
    }

    /// SIGKILL: the process gets no chance to do anything.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("a process to kill");
        self.child.wait().expect("a killed process");
    }

    /// SIGTERM.
    pub(crate) fn terminate(&self) {
        let command = format!("kill -TERM {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &command]).status().expect("sh");
        assert!(sent.success(), "{command}");
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self) -> Finished {
        let stdout = self.stdout.take().map(|stdout| std::thread::spawn(move || collect(stdout)));
        let ended = self.child.wait_timeout(PATIENCE).expect("a process");
        let status: ExitStatus =
            ended.unwrap_or_else(|| panic!("waited {PATIENCE:?} for the end of {}", self.reported));
        let took = self.begun.elapsed();
        let stdout = stdout.map(|reader| reader.join().expect("a reader")).unwrap_or_default();
        if let Some(listener) = self.listener.take() {
            listener.join().expect("a reader");
        }
        Finished { reported: self.reported.clone(), status, stdout, stderr: self.said(), took }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Already ended, mostly.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a process did.
#[derive(Debug)]
pub(crate) struct Finished {
    reported: String,
    status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl Finished {
    /// Everything, for a failed claim.
    pub(crate) fn shown(&self) -> String {
        let Self { reported, status, stdout, stderr, took } = self;
        format!("\n$ {reported}\n{status}, {took:.1?}\n--- stdout\n{stdout}--- stderr\n{stderr}---")
    }

    /// The command line.
    pub(crate) fn command(&self) -> &str {
        &self.reported
    }

    /// Claims an exit code.
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "the exit code should be {code}{}", self.shown());
        self
    }

    /// The exit code; none of a process that a signal ended.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Claims words on stderr.
    pub(crate) fn says(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "stderr should say {words:?}{}", self.shown());
        self
    }

    /// Claims words on stdout.
    pub(crate) fn says_on_stdout(self, words: &str) -> Self {
        assert!(self.stdout.contains(words), "stdout should have {words:?}{}", self.shown());
        self
    }

    /// The one JSON object on stdout.
    pub(crate) fn json(&self) -> Value {
        let lines: Vec<&str> = self.stdout.lines().collect();
        assert_eq!(lines.len(), 1, "stdout should be one line{}", self.shown());
        let value: Value =
            serde_json::from_str(lines[0]).unwrap_or_else(|error| panic!("{error}{}", self.shown()));
        assert!(value.is_object(), "stdout should be an object{}", self.shown());
        value
    }

    /// The summary of a run that ended `complete`, with exit code 0.
    pub(crate) fn complete(self) -> Value {
        let done = self.exits(0);
        let summary = done.json();
        assert_eq!(summary["outcome"], "complete", "{}", done.shown());
        assert_eq!(summary["coverage"]["days"], summary["coverage"]["complete"], "{}", done.shown());
        summary
    }
}
