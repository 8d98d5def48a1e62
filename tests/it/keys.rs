//! Keys over their time: when they end, when they were used last, and a key file with a mistake in it.

use crate::operation::{AS_NOBODY, becomes, logged_address, metric, prepared, serve, set_mode, status};
use crate::service::{TOLD_METRICS, metrics_address};
use crate::support::command::{Finished, Sunlake};
use crate::support::lake::names;
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer, create_key};
use crate::support::{PATIENCE, source, wait_for};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::Value;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::Path;

/// `sunlake keys` with a folder's key file.
fn keys(scratch: &Scratch, arguments: &[&str]) -> Sunlake {
    Sunlake::on(&scratch.path("served"), ["keys"])
        .args(arguments)
        .args(["--keys".as_ref(), scratch.path("keys.toml").as_os_str()])
}

/// What a list of keys says of each, after its scopes.
fn listed(scratch: &Scratch, more: &[&str]) -> Vec<String> {
    let text = keys(scratch, &[&["list"], more].concat()).finish().exits(0).stdout;
    text.lines().map(|line| line.split_once("  data  ").expect("scopes").1.to_owned()).collect()
}

/// The Eastern day, this number of days from now.
fn eastern_day(days: i64) -> String {
    let eastern = TimeZone::get("America/New_York").expect("the zone");
    (Timestamp::now().to_zoned(eastern).date() + days.days()).to_string()
}

#[test]
fn a_list_of_keys_says_when_a_running_server_saw_each_last() {
    let server = ApiServer::with_flags(source::small(), AGENCY, &[]);
    create_key(&server.scratch, "acme", "agency", &["data"]);
    let day = eastern_day(0);
    assert_eq!(server.get("/v1/me").status, 200);
    let expected = [format!("active  last used {day}"), "active  never used".to_owned()];
    assert!(listed(&server.scratch, &[]) == expected || eastern_day(0) != day);
    let json = keys(&server.scratch, &["list", "--json"]).finish().exits(0).json();
    let used: Timestamp =
        json["key"][0]["last_used_at"].as_str().and_then(|at| at.parse().ok()).expect("an instant");
    assert!((Timestamp::now().as_second() - used.as_second()).abs() < 600, "{json}");
    assert_eq!((&json["key"][1]["last_used_at"], &json["key"][1]["state"]), (&Value::Null, &"active".into()));
    let nowhere = server.scratch.path("nowhere.jsonl").to_string_lossy().into_owned();
    assert_eq!(listed(&server.scratch, &["--usage", &nowhere]), ["active  last use unknown"; 2]);
    keys(&server.scratch, &["list", "--usage", &nowhere])
        .finish()
        .exits(0)
        .says("nowhere.jsonl")
        .says("--usage");
}

#[test]
fn a_key_ends_on_its_day_and_the_log_names_those_that_have() {
    let server = ApiServer::with_flags(source::small(), AGENCY, &[]);
    let create = |expires: &str| {
        keys(&server.scratch, &["create", "--account", "other", "--plan", "agency", "--expires", expires])
    };
    let (today, soon, later) = (eastern_day(0), eastern_day(1), eastern_day(90));
    for (past, code, says) in
        [(today.as_str(), 3, "--expires 90d"), ("2020-01-01", 3, "2020-01-01"), ("0d", 2, "90d")]
    {
        create(past).finish().exits(code).says(says);
    }
    let key = create(&soon).finish().exits(0).stdout;
    create("90d").finish().exits(0);
    if eastern_day(0) != today {
        return;
    }
    let ends =
        [format!("active, expires {soon}  never used"), format!("active, expires {later}  never used")];
    assert_eq!(listed(&server.scratch, &[])[1..], ends);
    let status = || server.get_with("/v1/me", key.trim()).status;
    wait_for("the new key", PATIENCE, || (status() == 200).then_some(()));
    let file = server.scratch.path("keys.toml");
    let text = std::fs::read_to_string(&file).expect("a key file");
    std::fs::write(&file, text.replace(&soon, "2020-01-01")).expect("a key file");
    wait_for("the end of the key", PATIENCE, || (status() == 401).then_some(()));
    assert_eq!(listed(&server.scratch, &[])[1], format!("expired 2020-01-01  last used {today}"));
    let json = keys(&server.scratch, &["list", "--json"]).finish().exits(0).json();
    assert_eq!((&json["key"][1]["state"], &json["key"][2]["state"]), (&"expired".into(), &"active".into()));
    let id = json["key"][1]["id"].as_str().expect("an id").to_owned();
    let named =
        |stderr: &str| stderr.lines().any(|line| line.contains("keys have expired") && line.contains(&id));
    wait_for("a line in the log", PATIENCE, || named(&server.process.said()).then_some(()));
    let server = server.again(source::small().today, |process| {
        process.terminate();
        process.finish().exits(0);
    });
    assert_eq!(server.get_with("/v1/me", key.trim()).status, 401);
    server.process.terminate();
    let done = server.process.finish().exits(0);
    assert!(named(&done.stderr), "at the start too{}", done.shown());
}

#[test]
fn what_is_no_key_file_is_not_to_be_made_private() {
    let scratch = Scratch::new();
    let other = scratch.file("hosts", "127.0.0.1 localhost\n");
    let on = |file: &Path, arguments: &[&str]| {
        let done =
            Sunlake::new(["keys"]).args(arguments).args(["--keys".as_ref(), file.as_os_str()]).finish();
        assert!(!done.stderr.contains("chmod"), "{}", done.shown());
        done
    };
    for arguments in [&["list"][..], &["revoke", "key_0"], &["create", "--account", "a", "--plan", "agency"]]
    {
        on(&scratch.path(""), arguments).exits(9).says("Is a directory").says("--keys FILE");
        on(&other, arguments).exits(3).says("is not a key file: line 1");
    }
    assert_eq!(names(&scratch.path("")).len(), 1, "nothing was made");
}

#[test]
fn a_key_that_nobody_can_read_is_not_made_or_named() {
    let scratch = Scratch::new();
    let file = scratch.path("keys.toml");
    let create = |to: &str| {
        let create = keys(&scratch, &["create", "--account", "acme", "--plan", "agency"]);
        create.through(&["sh", "-c", &format!("exec \"$@\" >{to}"), "sh"]).finish().exits(9)
    };
    for to in ["&-", "/dev/null"] {
        create(to).says("cannot write to stdout: it is closed");
        assert!(!file.exists(), "{to}");
    }
    let lost = create("/dev/full");
    let listed = keys(&scratch, &["list"]).finish().exits(0).stdout;
    let id = listed.split(' ').next().expect("an id");
    let revoke = format!("`sunlake keys revoke {id} --keys {}`", file.display());
    lost.says(&format!("the key {id} was created, and nobody has it; revoke it: {revoke}"));
    keys(&scratch, &["revoke", id]).finish().exits(0);
}

/// An access list as Linux keeps it: the owner reads and writes, one more user reads.
fn access_list(reader: u32) -> Vec<u8> {
    const NOBODY_ELSE: u32 = u32::MAX;
    let entries: [(u16, u16, u32); 5] = [
        (0x01, 6, NOBODY_ELSE),
        (0x02, 4, reader),
        (0x04, 0, NOBODY_ELSE),
        (0x10, 4, NOBODY_ELSE),
        (0x20, 0, NOBODY_ELSE),
    ];
    let entries = entries.iter().flat_map(|(kind, rights, user)| {
        [&kind.to_le_bytes()[..], &rights.to_le_bytes(), &user.to_le_bytes()].concat()
    });
    2_u32.to_le_bytes().into_iter().chain(entries).collect()
}

fn list_of(path: &Path) -> Option<Vec<u8>> {
    let mut list = vec![0; 1_000];
    let length = rustix::fs::getxattr(path, "system.posix_acl_access", &mut list[..]).ok()?;
    list.truncate(length);
    Some(list)
}

#[test]
fn a_key_that_root_revokes_is_refused_by_a_server_of_another_user() {
    const NOBODY: u32 = 65_534;
    let is_root = std::fs::metadata("/proc/self").expect("a process").uid() == 0;
    for has_list in [false, true] {
        let (scratch, key) = prepared(AGENCY);
        let (link, own) = (scratch.path("keys.toml"), scratch.path("own"));
        let file = own.join("keys.toml");
        std::fs::create_dir(&own).expect("a folder");
        std::fs::rename(&link, &file).and_then(|()| symlink(&file, &link)).expect("a link");
        set_mode(&scratch.path(""), 0o755);
        if has_list {
            let (list, flags) = (access_list(NOBODY), rustix::fs::XattrFlags::empty());
            rustix::fs::setxattr(&file, "system.posix_acl_access", &list, flags).expect("an access list");
        } else if is_root {
            for path in [&own, &file] {
                chown(path, Some(NOBODY), Some(NOBODY)).expect("given away");
            }
        }
        let access = || {
            let found = file.metadata().expect("a key file");
            (found.uid(), found.gid(), found.mode(), list_of(&file))
        };
        let before = access();
        let counts = scratch.path("counts");
        std::fs::create_dir(&counts).expect("a folder");
        set_mode(&counts, 0o777);
        let usage = counts.join("usage.jsonl").to_string_lossy().into_owned();
        let flags = [&["--usage", &usage][..], &TOLD_METRICS].concat();
        let mut process = serve(&scratch).args(flags).through(&AS_NOBODY).start();
        let server = process.address().expect("an address");
        let metrics = logged_address(&process, "metrics are served");
        assert_eq!(status(server, &key), 200);
        let listed = keys(&scratch, &["list"]).finish().exits(0).stdout;
        let id = listed.split_whitespace().next().expect("an id");
        keys(&scratch, &["revoke", id]).finish().exits(0);
        wait_for("the key to be refused", PATIENCE, || (status(server, &key) == 401).then_some(()));
        assert_eq!(metric(metrics, "sunlake_key_file_unread"), 0.0);
        assert!(link.is_symlink());
        assert_eq!(access(), before);
        if !has_list {
            // The lock file that root made is in nobody's way.
            let create = keys(&scratch, &["create", "--account", "acme", "--plan", "agency"]);
            create.through(&AS_NOBODY).finish().exits(0);
        }
        process.terminate();
        process.finish().exits(0);
    }
}

#[test]
fn a_key_file_that_no_server_can_use_is_an_error_with_the_way_out() {
    let (scratch, _) = prepared(AGENCY);
    let file = scratch.path("keys.toml");
    let text = std::fs::read_to_string(&file).expect("a key file");
    let shown = file.display();
    let lines = text.lines().count();
    for (text, error, hint) in [
        (
            format!("{text}[[key"),
            format!("{shown} is not a key file: line {}: unclosed array table, expected `]]`", lines + 1),
            "correct that line of the key file",
        ),
        (
            text.replacen("name = ", "nmae = ", 1),
            format!("{shown} is not a key file: line 2: unknown field `nmae`"),
            "correct that line of the key file",
        ),
        (
            text.replacen("name = \"acme\"", "name = \"other\"", 1),
            "belongs to account \"acme\", which the key file does not have".to_owned(),
            "give the key file an [[account]] of that name, or remove the key",
        ),
    ] {
        std::fs::write(&file, text).expect("a key file");
        let done = serve(&scratch).finish().exits(3).says(&error);
        assert!(done.stderr.ends_with(&format!("\nhint: {hint}\n")), "{}", done.shown());
        assert_eq!(done.stderr.lines().count(), 2, "{}", done.shown());
    }
    std::fs::write(&file, text).expect("a key file");
    set_mode(&file, 0);
    set_mode(&scratch.path(""), 0o755);
    let done = serve(&scratch).through(&AS_NOBODY).finish().exits(9);
    done.says("keys.toml: Permission denied\nhint: let this user read the file; ");
}

#[test]
fn a_key_file_with_a_mistake_in_it_is_reported_at_once_and_so_is_its_repair() {
    let server = ApiServer::with_flags(source::small(), AGENCY, &TOLD_METRICS);
    let metrics = metrics_address(&server);
    let file = server.scratch.path("keys.toml");
    let text = std::fs::read_to_string(&file).expect("a key file");
    std::fs::write(&file, format!("{text}[[key")).expect("a key file");
    becomes(metrics, "sunlake_key_file_unread", 1.0);
    assert_eq!(metric(metrics, "sunlake_failed_reloads_total"), 1.0);
    assert_eq!(server.get("/v1/me").status, 200, "for a minute the keys stay valid");
    std::fs::write(&file, text).expect("a key file");
    becomes(metrics, "sunlake_key_file_unread", 0.0);
    assert_eq!(server.get("/v1/me").status, 200);
    server.process.terminate();
    server.process.finish().exits(0).says("is not a key file").says("the key file can be used again");
}

#[test]
fn an_account_with_more_active_keys_than_its_plan_allows_is_refused() {
    let scratch = Scratch::new();
    for _ in 0..5 {
        create_key(&scratch, "acme", "agency", &["data"]);
    }
    let refused = |done: Finished, plan: &str, active: &str, allowed: u8| {
        let text = format!(
            "error: account \"acme\" has {active} active keys, and its plan, {plan}, allows {allowed}\n\
             hint: revoke keys that nobody uses (`sunlake keys list`, `sunlake keys revoke ID`), \
             or give the account a larger plan in the key file\n"
        );
        assert_eq!(done.stderr, text, "{}", done.shown());
    };
    let sixth = || keys(&scratch, &["create", "--account", "acme", "--plan", "agency"]).finish().exits(3);
    refused(sixth(), "agency", "5", 5);
    let file = scratch.path("keys.toml");
    let text = std::fs::read_to_string(&file).expect("a key file");
    std::fs::write(&file, text.replace("\"agency\"", "\"starter\"")).expect("a key file");
    let usage = scratch.path("usage.jsonl");
    let serve = || {
        let flag = [std::ffi::OsStr::new("--usage"), usage.as_os_str()];
        Sunlake::serve(&source::small().lake, &file).args(flag)
    };
    refused(serve().finish().exits(3), "starter", "5", 2);
    let listed = keys(&scratch, &["list", "--json"]).finish().exits(0).json();
    for place in 0..3 {
        let id = listed["key"][place]["id"].as_str().expect("an id");
        keys(&scratch, &["revoke", id]).finish().exits(0);
    }
    let mut server = serve().start();
    server.address().expect("two keys are within the plan");
}
