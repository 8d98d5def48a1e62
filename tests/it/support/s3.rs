//! An S3 server in Python, one for the test process, and buckets of it.

use super::command::Sunlake;
use super::http::{self, Answer};
use super::python;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;

/// The secret that must stand in no message.
pub(crate) const SECRET: &str = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY";

/// What a signed request says; the server looks for it, and not at it.
const SIGNED: &str = "AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20260320/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";

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
        let bucket = Self { name };
        bucket.ask("PUT", "", None);
        bucket
    }

    /// The address of a lake in it.
    pub(crate) fn lake(&self) -> String {
        format!("s3://{}/{ROOT}", self.name)
    }

    /// Names of the lake's objects, within the lake.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        loop {
            let after = names.last().map(|name| format!("&start-after={ROOT}/{name}")).unwrap_or_default();
            let list = self.ask("GET", &format!("?list-type=2&prefix={ROOT}/{after}"), None).text();
            let keys = list.split("<Key>").skip(1).filter_map(|part| part.split("</Key>").next());
            names.extend(keys.filter_map(|key| Some(key.strip_prefix(ROOT)?.strip_prefix('/')?.to_owned())));
            if !list.contains("<IsTruncated>true</IsTruncated>") {
                return names;
            }
        }
    }

    /// Flips a bit in the middle of objects of the lake.
    pub(crate) fn flip(&self, names: &[&str]) {
        for name in names {
            let mut content = self.ask("GET", &object(name), None).body;
            let middle = content.len() / 2;
            content[middle] ^= 4;
            self.ask("PUT", &object(name), Some(&content));
        }
    }

    /// Deletes objects of the lake.
    pub(crate) fn delete(&self, names: &[&str]) {
        for name in names {
            self.ask("DELETE", &object(name), None);
        }
    }

    /// Uploads files under these names within the lake's place.
    pub(crate) fn put(&self, files: &[(String, PathBuf)]) {
        for (name, file) in files {
            self.ask("PUT", &object(name), Some(&std::fs::read(file).expect("a file")));
        }
    }

    /// An answer about the bucket or an object of it.
    fn ask(&self, method: &str, of: &str, body: Option<&[u8]>) -> Answer {
        let target = format!("/{}{of}", self.name);
        let answer = http::exchange(server().address, method, &target, &[("Authorization", SIGNED)], body);
        let answer = answer.expect("an answer");
        assert!([200, 204].contains(&answer.status), "{method} {target}: {}", answer.text());
        answer
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

/// The end of the address of an object of the lake.
fn object(name: &str) -> String {
    format!("/{ROOT}/{name}")
}

/// A command with credentials, and no store yet.
pub(crate) fn with_credentials(command: Sunlake) -> Sunlake {
    command
        .env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ALLOW_HTTP", "true")
}
