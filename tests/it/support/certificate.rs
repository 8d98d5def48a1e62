//! Certificates for 127.0.0.1, made by openssl, and HTTPS requests by curl, which believes in nothing else.

use super::command::succeed;
use super::http::Answer;
use super::scratch::Scratch;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of a certificate.
#[derive(Debug, Clone)]
pub(crate) struct Certificate {
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
}

impl Certificate {
    /// A new key, and a certificate that it has signed itself, for 127.0.0.1 and another name.
    pub(crate) fn make(scratch: &Scratch, name: &str) -> Self {
        let made =
            Self { cert: scratch.path(&format!("{name}.crt")), key: scratch.path(&format!("{name}.key")) };
        let mut command = Command::new("openssl");
        command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
        command.args(["-days", "2", "-subj", &format!("/CN={name}"), "-addext"]);
        command.arg(format!("subjectAltName=IP:127.0.0.1,DNS:{name},DNS:localhost"));
        succeed(command.arg("-keyout").arg(&made.key).arg("-out").arg(&made.cert));
        made
    }

    /// The flags of a server with this certificate.
    pub(crate) fn flags(&self) -> [String; 4] {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        ["--tls-cert".to_owned(), shown(&self.cert), "--tls-key".to_owned(), shown(&self.key)]
    }
}

/// An authority that signs certificates.
pub(crate) struct Authority {
    /// Its own certificate.
    pub(crate) file: PathBuf,
    key: PathBuf,
}

impl Authority {
    pub(crate) fn make(scratch: &Scratch, name: &str) -> Self {
        let made = Certificate::make(scratch, name);
        Self { file: made.cert, key: made.key }
    }

    /// A certificate for these names, which ends after some days; before now for a negative number.
    pub(crate) fn sign(&self, scratch: &Scratch, name: &str, names: &str, days: i32) -> Certificate {
        let (cert, key) = (scratch.path(&format!("{name}.crt")), scratch.path(&format!("{name}.key")));
        let asked = scratch.path(&format!("{name}.csr"));
        let more = format!("subjectAltName={names}\nbasicConstraints=critical,CA:FALSE\n");
        let more = scratch.file(&format!("{name}.ext"), &more);
        let mut command = Command::new("openssl");
        command.args(["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
        succeed(command.args(["-subj", "/CN=signed", "-keyout"]).arg(&key).arg("-out").arg(&asked));
        let mut command = Command::new("openssl");
        command.args(["x509", "-req", "-days", &days.to_string(), "-in"]).arg(&asked);
        command.arg("-CA").arg(&self.file).arg("-CAkey").arg(&self.key);
        succeed(command.arg("-extfile").arg(&more).arg("-out").arg(&cert));
        Certificate { cert, key }
    }
}

/// Sends a request by curl, which trusts `trusted` alone; the error is what curl says.
pub(crate) fn curl(trusted: &Path, url: &str, arguments: &[&str]) -> Result<Answer, String> {
    let mut command = Command::new("curl");
    command.args(["-sS", "-i", "--http1.1", "--max-time", "30", "--noproxy", "*", "--cacert"]).arg(trusted);
    let output = command.args(arguments).arg(url).output().expect("curl");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let end = output.stdout.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&output.stdout[..end]);
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
    let header =
        |line: &str| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
    Ok(Answer {
        status,
        headers: lines.filter_map(header).collect(),
        body: output.stdout[end + 4..].to_vec(),
    })
}
