//! An S3 server in Python, one for the test process, and buckets of it.

use super::command::Sunlake;
use super::{http, python};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;

/// The secret that must stand in no message.
pub(crate) const SECRET: &str = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY";

/// The place of a lake in a bucket.
const ROOT: &str = "lakes/florida";

struct Server {
    address: SocketAddr,
    // It ends when this does: with the test process, however that ends.
    _stdin: Option<ChildStdin>,
    _process: Child,
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let mut process = python::command("s3.py")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("stdout is piped");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let address =
            line.trim().parse().unwrap_or_else(|error| panic!("{error}: the S3 server said {line:?}"));
        Server { address, _stdin: process.stdin.take(), _process: process }
    })
}

/// A bucket, empty at first.
pub(crate) struct Bucket {
    name: &'static str,
}

impl Bucket {
    pub(crate) fn new(name: &'static str) -> Self {
        let answer = http::send(server().address, "PUT", &format!("/{name}"), &[]).expect("an answer");
        assert_eq!(answer.status, 200, "{name}");
        Self { name }
    }

    /// The address of a lake in it.
    pub(crate) fn lake(&self) -> String {
        format!("s3://{}/{ROOT}", self.name)
    }

    /// Names of the lake's objects, within the lake.
    pub(crate) fn names(&self) -> Vec<String> {
        self.objects("list", &[])
    }

    /// Flips a bit in the middle of objects of the lake.
    pub(crate) fn flip(&self, names: &[&str]) {
        self.objects("flip", names);
    }

    /// Deletes objects of the lake.
    pub(crate) fn delete(&self, names: &[&str]) {
        self.objects("delete", names);
    }

    /// Uploads files under these names within the lake's place.
    pub(crate) fn put(&self, files: &[(String, PathBuf)]) {
        let files: Vec<String> =
            files.iter().map(|(name, file)| format!("{name}={}", file.display())).collect();
        self.objects("put", &files.iter().map(String::as_str).collect::<Vec<_>>());
    }

    fn objects(&self, what: &str, names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| format!("{ROOT}/{name}")).collect();
        let done = python::command("s3_objects.py")
            .args([&server().address.to_string(), self.name, what])
            .args(names)
            .output()
            .expect("python");
        let reported = python::reported("s3_objects.py", &done);
        let found = reported.as_array().expect("names").iter().filter_map(|name| name.as_str());
        found.filter_map(|name| Some(name.strip_prefix(ROOT)?.strip_prefix('/')?.to_owned())).collect()
    }

    /// Where it is.
    pub(crate) fn store(&self) -> SocketAddr {
        server().address
    }

    /// A program of another kind that may use it.
    pub(crate) fn read_by(&self, mut command: Command) -> Command {
        command.env("AWS_ENDPOINT", format!("http://{}", server().address));
        command.env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE").env("AWS_SECRET_ACCESS_KEY", SECRET);
        command
    }

    /// A command that may use it, with its working copy.
    pub(crate) fn opened_by(&self, command: Sunlake, work: &Path) -> Sunlake {
        let endpoint = format!("http://{}", server().address);
        let command = command.env("SUNLAKE_WORK", &work.to_string_lossy());
        with_credentials(command).env("AWS_ENDPOINT", &endpoint)
    }
}

/// A command with credentials, and no store yet.
pub(crate) fn with_credentials(command: Sunlake) -> Sunlake {
    command
        .env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ALLOW_HTTP", "true")
}
