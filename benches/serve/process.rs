//! The built binary as a server of a lake.

use crate::florida::{Florida, TODAY};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_sunlake");

/// Where lakes and ROAPI are kept between runs.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// What a server says of itself.
pub(crate) struct Facts {
    /// Seconds it took to load.
    pub(crate) load_seconds: f64,
    /// Bytes of the index.
    pub(crate) index_bytes: f64,
    /// Memory of the process, in bytes.
    pub(crate) rss: u64,
}

/// `sunlake serve` under way; killed when dropped.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: SocketAddr,
    metrics: SocketAddr,
    key: String,
    _files: tempfile::TempDir,
}

impl Server {
    /// Serves a lake to an account without limits worth the name, and waits until it answers.
    pub(crate) fn start(florida: &Florida) -> Self {
        let files = tempfile::tempdir_in(folder()).expect("a folder");
        let keys = files.path().join("keys.toml");
        let made = Command::new(BINARY)
            .args(["keys", "create", "--account", "bench", "--plan", "enterprise", "--keys"])
            .arg(&keys)
            .output()
            .expect("a key");
        let key = String::from_utf8(made.stdout).expect("text").trim().to_owned();
        let metrics = free_address();
        let mut process = Command::new(BINARY)
            .args(["serve", "--listen", "127.0.0.1:0", "--today", &TODAY.to_string()])
            .args(["--metrics", &metrics.to_string(), "-q"])
            .args(["--plan-override", "per_minute=4000000000,per_day=4000000000,per_month=4000000000"])
            .arg("--keys")
            .arg(&keys)
            .arg("--lake")
            .arg(&florida.lake)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("stdout");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening http://").and_then(|text| text.parse().ok());
        let server = Self { process, address: address.expect("an address"), metrics, key, _files: files };
        assert!(get(server.address, "/readyz").starts_with("HTTP/1.1 200"), "the server is ready");
        server
    }

    /// A request of the account.
    pub(crate) fn request(&self, target: &str) -> Vec<u8> {
        format!("GET {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n", self.key).into_bytes()
    }

    /// A search by the account over MCP.
    pub(crate) fn mcp_search(&self, prefix: &str, filed_to: &str) -> Vec<u8> {
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"search_businesses\",\
             \"arguments\":{{\"q\":\"{prefix}\",\"limit\":25,\"filed_to\":\"{filed_to}\"}}}}}}"
        );
        let (address, key, length) = (self.address, &self.key, body.len());
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
             MCP-Protocol-Version: 2025-11-25\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }

    /// Time that processors have spent on it so far.
    pub(crate) fn processor_time(&self) -> Duration {
        /// Ticks of the kernel's count in a second, on every Linux of today.
        const TICKS: u64 = 100;
        let stat =
            std::fs::read_to_string(Path::new("/proc").join(self.process.id().to_string()).join("stat"));
        let stat = stat.expect("a process");
        // The name is in brackets and may hold anything.
        let (_, fields) = stat.rsplit_once(')').expect("a name");
        let ticks: u64 =
            fields.split_whitespace().skip(11).take(2).map(|text| text.parse::<u64>().expect("ticks")).sum();
        Duration::from_millis(ticks * 1_000 / TICKS)
    }

    /// What it says of itself now.
    pub(crate) fn facts(&self) -> Facts {
        let page = get(self.metrics, "/metrics");
        let value = |name: &str| -> f64 {
            let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|text| text.trim().parse().ok()).expect(name)
        };
        Facts {
            load_seconds: value("sunlake_index_load_seconds"),
            index_bytes: value("sunlake_index_bytes"),
            rss: rss(self.process.id()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Memory of a process, in bytes.
pub(crate) fn rss(process: u32) -> u64 {
    let status = std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("status"));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap_or(0) * 1_024
}

/// An address on loopback that nobody listens on.
pub(crate) fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port")
}

/// One request, the complete answer; waits for a server that is starting.
pub(crate) fn get(from: SocketAddr, path: &str) -> String {
    let begun = Instant::now();
    loop {
        let answer = TcpStream::connect(from).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(300)))?;
            stream.write_all(
                format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes(),
            )?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).map(|_| answer)
        });
        match answer {
            Ok(answer) if !answer.is_empty() => return answer,
            _ => assert!(begun.elapsed() < Duration::from_secs(300), "{from} does not answer"),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
