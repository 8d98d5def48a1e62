//! The script that mirrors the state's files, against an OpenSSH server of this machine.

use crate::support::command::{project, succeed};
use crate::support::free_port::free_port;
use crate::support::lake::files_below;
use crate::support::scratch::Scratch;
use crate::support::wait_for;
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

/// A server of files under way; killed when dropped.
struct Sshd {
    process: Child,
    port: u16,
    key: PathBuf,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Sshd {
    /// Serves a folder over SFTP to those who have a key that is made here.
    fn start(folder: &Path, scratch: &Scratch) -> Self {
        let key = |name: &str| {
            let path = scratch.path(name);
            succeed(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&path));
            path
        };
        let (host_key, key) = (key("host"), key("user"));
        let port = free_port();
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}.pub\nStrictModes no\n\
             PidFile none\nSubsystem sftp internal-sftp -d {}\n",
            host_key.display(),
            key.display(),
            folder.display()
        );
        let config = scratch.file("sshd_config", &config);
        std::fs::create_dir_all("/run/sshd").expect("the folder that sshd wants");
        let mut server = Command::new("/usr/sbin/sshd");
        let server = server.args(["-D", "-e", "-f"]).arg(config).stderr(Stdio::null());
        let process = server.spawn().expect("sshd");
        wait_for("sshd", PATIENCE, || TcpStream::connect(("127.0.0.1", port)).ok());
        Self { process, port, key }
    }

    /// Runs the script into a folder.
    fn fetch(&self, folder: &Path) -> Output {
        let user =
            String::from_utf8(Command::new("id").arg("-un").output().expect("id").stdout).expect("a name");
        let options = format!(
            "-P {} -i {} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR",
            self.port,
            self.key.display()
        );
        let mut script = Command::new(project().join("pipelines/deploy/fetch-state-files"));
        script.arg(folder).env("STATE_SFTP", format!("{}@127.0.0.1", user.trim()));
        script.current_dir(self.key.parent().expect("a folder"));
        script.env("STATE_SFTP_OPTIONS", options).output().expect("the script")
    }
}

/// The texts of the files of a folder by their paths, and when each was written there.
fn files(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, (u64, i64))> {
    let text = |path: PathBuf| {
        let found = std::fs::metadata(&path).expect("a file");
        let inside = path.strip_prefix(folder).expect("a path").to_owned();
        (inside, (std::fs::read(&path).expect("a file"), (found.ino(), found.ctime())))
    };
    files_below(folder).into_iter().map(text).collect()
}

fn texts(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    files(folder).into_iter().map(|(path, (text, _))| (path, text)).collect()
}

#[test]
#[ignore = "needs Debian's package openssh-server"]
fn the_script_mirrors_what_is_new_and_nothing_twice() {
    let scratch = Scratch::new();
    let (theirs, ours) = (scratch.path("theirs"), scratch.path("ours"));
    let shipped = project().join("tests/state_files/files");
    for (path, text) in texts(&shipped) {
        let to = theirs.join(path);
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        std::fs::write(to, text).expect("a file");
    }
    // The other spelling of a folder, and what is no file of the register.
    std::fs::rename(theirs.join("doc/quarterly"), theirs.join("doc/Quarterly")).expect("renamed");
    for part in ["cor", "fic", "gen"] {
        let (mut first, rest) = (part[..1].to_uppercase(), &part[1..]);
        first.push_str(rest);
        let folder = theirs.join("doc/Quarterly");
        std::fs::rename(folder.join(part), folder.join(first)).expect("renamed");
    }
    std::fs::write(theirs.join("doc/cor/index.html"), "no file of the register").expect("a file");
    let server = Sshd::start(&theirs, &scratch);

    let fetched = server.fetch(&ours);
    assert!(fetched.status.success(), "{fetched:?}");
    let mut expected = texts(&theirs);
    expected.retain(|path, _| !path.ends_with("index.html") && !path.starts_with("doc/cor/2026"));
    assert_eq!(texts(&ours), expected);

    let before = files(&ours);
    let grown = "doc/cor/20261015c.txt";
    std::fs::write(theirs.join(grown), "grown").expect("a file");
    std::fs::write(theirs.join("doc/cor/20261016c.txt"), "new").expect("a file");
    // A fetch that was cut off leaves a part of a file.
    std::fs::write(ours.join("doc/cor/20261016c.txt.part"), "n").expect("a file");
    assert!(server.fetch(&ours).status.success());
    let after = files(&ours);
    assert_eq!(after[Path::new(grown)].0, b"grown");
    assert_eq!(after[Path::new("doc/cor/20261016c.txt")].0, b"new");
    assert_eq!(after.len(), before.len() + 1);
    let others = |path: &&PathBuf| !path.ends_with("20261015c.txt");
    assert!(
        before.keys().filter(others).all(|path| before[path] == after[path]),
        "only what is new was fetched"
    );

    std::fs::remove_dir_all(theirs.join("doc")).expect("removed");
    let fetched = server.fetch(&ours);
    assert_eq!(fetched.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&fetched.stderr).contains("has no state files below doc"), "{fetched:?}");
    assert_eq!(files(&ours), after);
}

#[test]
#[ignore = "needs Debian's package openssh-server"]
fn a_name_of_the_server_is_never_a_command_and_stops_no_other_file() {
    let scratch = Scratch::new();
    // The folder of the mirror has an odd name too, which is the user's own.
    let (theirs, ours) = (scratch.path("theirs"), scratch.path("a \"mirror\" of \\ours"));
    let folder = theirs.join("doc/cor");
    std::fs::create_dir_all(&folder).expect("a folder");
    let odd = [
        "$(touch${IFS}ran).txt",
        "`touch ran`.txt",
        "a\"b.txt",
        "two words.txt",
        "x;touch ran;.txt",
        "-rw-r--r-- 1 0 0 9 Nov 26 10:00 other.txt",
        "esc\u{1b}[31m.zip",
        "na\u{ef}ve.txt",
    ];
    for name in odd.iter().copied().chain(["20261015c.txt", "zz-last_1.ZIP"]) {
        std::fs::write(folder.join(name), name).expect("a file");
    }
    let server = Sshd::start(&theirs, &scratch);
    let fetched = server.fetch(&ours);
    assert!(fetched.status.success(), "{fetched:?}");
    let expected = ["doc/cor/20261015c.txt", "doc/cor/zz-last_1.ZIP"];
    assert_eq!(texts(&ours).into_keys().collect::<Vec<_>>(), expected.map(PathBuf::from));
    let said = String::from_utf8_lossy(&fetched.stderr);
    assert_eq!(said.matches("skipped, because of its name: doc/cor/").count(), odd.len(), "{said}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
    assert!(files_below(&scratch.path("")).iter().all(|file| !file.ends_with("ran")), "no name was run");

    // A file that cannot be written is an error, as is one that a name made up, and the others come.
    let lines = "line\nsftp> -ls -ln ..\n-rw-r--r-- 1 0 0 9 Nov 26 10:00 other.txt";
    std::fs::write(folder.join(lines), "text").expect("a file");
    std::fs::write(folder.join("20261017c.txt"), "new").expect("a file");
    std::fs::create_dir_all(ours.join("doc/cor/20261017c.txt.part")).expect("a folder");
    std::fs::write(folder.join("20261018c.txt"), "newer").expect("a file");
    let fetched = server.fetch(&ours);
    assert_ne!(fetched.status.code(), Some(0), "{fetched:?}");
    assert_eq!(texts(&ours)[Path::new("doc/cor/20261018c.txt")], b"newer", "{fetched:?}");
    let said = String::from_utf8_lossy(&fetched.stderr);
    assert!(said.contains("error: doc/cor/20261017c.txt was not fetched"), "{said}");
    assert!(
        said.contains("error: doc/cor/other.txt was not fetched"),
        "no name leads to another folder: {said}"
    );
}
