//! `sunlake serve` under way, on a lake made for the tests.

use super::command::{Running, Sunlake};
use super::details;
use super::http::{self, Answer};
use super::scratch::Scratch;
use super::source::{self, Source};
use std::net::SocketAddr;
use std::path::Path;

/// Numbers of an account: those of the plan's row, or its rows per call, max offset and window with room for any number
/// of requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) name: &'static str,
    pub(crate) rows_per_call: i64,
    pub(crate) max_offset: i64,
    pub(crate) window_days: i64,
}

pub(crate) const STARTER: Plan =
    Plan { name: "starter", rows_per_call: 50, max_offset: 1_000, window_days: 30 };
pub(crate) const AGENCY: Plan =
    Plan { name: "agency", rows_per_call: 100, max_offset: 2_000, window_days: 90 };
pub(crate) const ENTERPRISE: Plan =
    Plan { name: "enterprise", rows_per_call: 100, max_offset: 5_000, window_days: 365 };

/// The server, its key, and its files.
pub(crate) struct ApiServer {
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
    pub(crate) scratch: Scratch,
    pub(crate) process: Running,
}

impl ApiServer {
    /// Serves a source with the plan's rows per call, max offset and window, and room for any number of requests.
    pub(crate) fn generous(source: &Source, plan: Plan) -> Self {
        Self::start(source, plan, Some(1_000_000), &[])
    }

    /// As [`Self::generous`], with so few requests a minute that a run has one under way at a time.
    pub(crate) fn unhurried(source: &Source, plan: Plan) -> Self {
        Self::start(source, plan, Some(1_100), &[])
    }

    /// Serves a source under the plan's own row of the limits table.
    pub(crate) fn strict(source: &Source, plan: Plan) -> Self {
        Self::start(source, plan, None, &[])
    }

    /// As [`Self::generous`] on [`source::small`], with the details and officers that a run leaves out.
    pub(crate) fn detailed(plan: Plan) -> Self {
        let scratch = Scratch::new();
        let snapshot = scratch.path("detailed");
        details::snapshot_with_details(source::small(), &snapshot);
        Self::serve(scratch, &snapshot, source::small().today, plan, Some(1_000_000), &[])
    }

    /// As [`Self::generous`], with more on its command line.
    pub(crate) fn reported(source: &Source, plan: Plan, more: &[&str]) -> Self {
        Self::start(source, plan, Some(1_000_000), more)
    }

    /// Serves a source under the plan's own row, with further flags.
    pub(crate) fn with_flags(source: &Source, plan: Plan, flags: &[&str]) -> Self {
        Self::start(source, plan, None, flags)
    }

    /// As [`Self::generous`], of the newest snapshot of a lake.
    pub(crate) fn of_lake(lake: &Path, today: &str, plan: Plan) -> Self {
        let snapshot = lake.join("current").canonicalize().expect("a snapshot");
        Self::serve(Scratch::new(), &snapshot, today, plan, Some(1_000_000), &[])
    }

    fn start(source: &Source, plan: Plan, per_minute: Option<i64>, flags: &[&str]) -> Self {
        let snapshot = source.lake.join("current").canonicalize().expect("a snapshot");
        Self::serve(Scratch::new(), &snapshot, source.today, plan, per_minute, flags)
    }

    fn serve(
        scratch: Scratch,
        snapshot: &Path,
        today: &str,
        plan: Plan,
        per_minute: Option<i64>,
        flags: &[&str],
    ) -> Self {
        let key = create_key(&scratch, "acme", plan.name, &["data"]);
        if let Some(per_minute) = per_minute {
            widen(&scratch.path("keys.toml"), plan, per_minute);
        }
        let lake = scratch.path("served");
        std::fs::create_dir_all(lake.join("state")).expect("a folder for the server's counts");
        std::os::unix::fs::symlink(snapshot, lake.join("current")).expect("a link");
        let (address, process) = listening(&scratch, today, flags);
        Self { address, key, scratch, process }
    }

    /// The same lake, keys and counts in a new process, after the end of the old one.
    pub(crate) fn again(self, today: &str, end: impl FnOnce(Running)) -> Self {
        let Self { key, scratch, process, .. } = self;
        end(process);
        let (address, process) = listening(&scratch, today, &[]);
        Self { address, key, scratch, process }
    }

    /// Memory of the process, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(path).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
        line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number") * 1024
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// GET with the account's key.
    pub(crate) fn get(&self, target: &str) -> Answer {
        self.get_with(target, &self.key)
    }

    pub(crate) fn get_with(&self, target: &str, key: &str) -> Answer {
        let authorization = format!("Bearer {key}");
        self.send("GET", target, &[("Authorization", &authorization)])
    }

    pub(crate) fn send(&self, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
        http::send(self.address, method, target, headers)
            .unwrap_or_else(|error| panic!("{method} {target}: {error}"))
    }
}

fn listening(scratch: &Scratch, today: &str, flags: &[&str]) -> (SocketAddr, Running) {
    let (lake, keys) = (scratch.path("served"), scratch.path("keys.toml"));
    let mut process = Sunlake::serve(&lake, &keys).args(["--today", today]).args(flags).start();
    match process.address() {
        Ok(address) => (address, process),
        Err(line) => panic!("the server said {line:?}{}", process.finish().shown()),
    }
}

/// Makes a key in the folder's `keys.toml`. Scopes of other services are written into the file, as a person does.
pub(crate) fn create_key(scratch: &Scratch, account: &str, plan: &str, scopes: &[&str]) -> String {
    let keys = scratch.path("keys.toml");
    let done = Sunlake::new(["keys", "create", "--account", account, "--plan", plan, "--scopes", "data"])
        .args(["--keys".as_ref(), keys.as_os_str()])
        .finish()
        .exits(0);
    if scopes != ["data"] {
        let text = std::fs::read_to_string(&keys).expect("the key file");
        let (before, after) = text.rsplit_once("scopes = [\"data\"]").expect("the scopes of the newest key");
        std::fs::write(&keys, format!("{before}scopes = {scopes:?}{after}")).expect("the key file");
    }
    let key = done.stdout.strip_suffix('\n').unwrap_or_default();
    let is_key = key.len() > 20 && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    assert!(is_key, "only the key is on stdout{}", done.shown());
    key.to_owned()
}

fn widen(keys: &Path, plan: Plan, per_minute: i64) {
    let text = std::fs::read_to_string(keys).expect("the key file");
    let mut file: toml::Table = text.parse().expect("a key file");
    let mut limits = toml::Table::new();
    for (name, value) in [
        ("rows_per_call", plan.rows_per_call),
        ("max_offset", plan.max_offset),
        ("window_days", plan.window_days),
        ("per_minute", per_minute),
        ("per_day", 1_000_000),
        ("per_month", 1_000_000),
    ] {
        limits.insert(name.to_owned(), toml::Value::Integer(value));
    }
    let account = file.get_mut("account").and_then(|accounts| accounts.get_mut(0)).expect("an account");
    account.as_table_mut().expect("a table").insert("limits".to_owned(), toml::Value::Table(limits));
    std::fs::write(keys, toml::to_string(&file).expect("TOML")).expect("the key file");
}
