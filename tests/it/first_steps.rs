//! What a new user types first: names of built-in pipelines, `init`, `demo`, `query` and `changes`, in an empty folder.

use crate::support::command::{Sunlake, project};
use crate::support::http::{Connection, exchange};
use crate::support::lake::names;
use crate::support::scratch::Scratch;
use crate::support::source;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

fn ask(lake: &Path, sql: &str, format: &str) -> String {
    Sunlake::on(lake, ["query", sql, "--format", format]).finish().exits(0).stdout
}

#[test]
fn a_built_in_pipeline_runs_by_its_name_in_an_empty_folder() {
    let scratch = Scratch::new();
    let run = Sunlake::on(&scratch.lake(), ["plan", "sample", "--json"]).within(&scratch.path("."));
    assert_eq!(run.finish().exits(0).json()["pipeline"], "sample");
    let typo = Sunlake::on(&scratch.lake(), ["run", "smaple"]).within(&scratch.path(".")).finish();
    typo.exits(3).says("there is no pipeline smaple").says("did you mean `sample`?");
    let folder = Sunlake::on(&scratch.lake(), ["run", "."]).within(&scratch.path(".")).finish();
    folder.exits(3).says("is a folder").says("daily");
    let sql = project().join("pipelines/aggregates/month.sql");
    Sunlake::on(&scratch.lake(), ["run"]).args([&sql]).finish().exits(3).says("sunlake query -f");
}

#[test]
fn a_file_of_the_name_comes_before_the_built_in_pipeline() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("pipelines")).expect("a folder");
    scratch.file(
        "pipelines/sample.toml",
        "name = \"mine\"\n[source]\nembedded = true\n[source.sample]\nscale = 0.01\n",
    );
    let plan = || Sunlake::on(&scratch.lake(), ["plan", "sample", "--json"]).within(&scratch.path("."));
    assert_eq!(plan().finish().exits(0).json()["pipeline"], "mine");
    scratch
        .file("sample.toml", "name = \"nearer\"\n[source]\nembedded = true\n[source.sample]\nscale = 0.01\n");
    assert_eq!(plan().finish().exits(0).json()["pipeline"], "nearer");
}

#[test]
fn init_writes_what_is_built_in_and_overwrites_nothing() {
    let scratch = Scratch::new();
    let init = |schedule: &str| {
        let init = Sunlake::new(["init", "lake", "--json", "--schedule", schedule]);
        init.within(&scratch.path(".")).finish().exits(0).json()
    };
    let first = init("cron");
    let pipelines = scratch.path("lake/pipelines");
    assert_eq!(names(&pipelines.join("aggregates")), names(&project().join("pipelines/aggregates")));
    let mode = std::fs::metadata(pipelines.join("deploy/until-done")).expect("a script").permissions().mode();
    assert_eq!((first["kept"].as_array().map(Vec::len), mode & 0o111), (Some(0), 0o111));
    std::fs::write(pipelines.join("daily.toml"), "name = \"mine\"\n").expect("a file");
    let second = init("systemd");
    assert_eq!(second["written"].as_array().map(Vec::len), Some(2), "{second}");
    let mine = std::fs::read_to_string(pipelines.join("daily.toml")).expect("a file");
    assert_eq!(mine, "name = \"mine\"\n");
    let here = Sunlake::new(["init"]).within(&scratch.path("lake")).finish().exits(0);
    assert!(here.stdout.starts_with("pipelines: "), "{}", here.shown());
    assert!(here.stdout.ends_with(" the recipe is in pipelines/deploy/crontab\n"), "{}", here.shown());
    let named = Sunlake::new(["init", "other/pipelines"]).within(&scratch.path(".")).finish().exits(0);
    assert!(
        named.stdout.starts_with("other/pipelines: ") && named.stdout.contains("\n  cd other\n"),
        "{}",
        named.shown()
    );
    assert!(named.stdout.ends_with(" the recipe is in pipelines/deploy/crontab\n"), "{}", named.shown());
    assert!(scratch.path("other/pipelines/daily.toml").is_file(), "the folder is not nested");
}

#[test]
fn demo_shows_a_first_result_and_says_that_it_is_invented() {
    let scratch = Scratch::new();
    let demo = Sunlake::new(["demo"]).within(&scratch.path(".")).finish().exits(0);
    let demo = demo.says("invented");
    for text in ["Miami-Dade", "sunlake query --lake sunlake-demo", "sunlake changes --lake sunlake-demo"] {
        assert!(demo.stdout.contains(text), "{}", demo.stdout);
    }
    let lake = scratch.path("sunlake-demo");
    assert_eq!(ask(&lake, "SELECT COUNT(*) AS n FROM details", "csv"), "n\n500\n");
    for file in ["catalog/report.html", "catalog/TABLES.md", "catalog/views.sql"] {
        let text = std::fs::read_to_string(lake.join(file)).expect(file);
        assert!(text.contains("invented by sunlake"), "{file}");
    }
}

#[test]
fn a_query_answers_in_every_form_and_replaces_no_file() {
    let lake = &source::small().lake;
    let sql = "SELECT entity_type, COUNT(*) AS n, MIN(filed_date) AS first FROM businesses GROUP BY entity_type ORDER BY n DESC LIMIT 1";
    let rows: Vec<Value> = serde_json::from_str(&ask(lake, sql, "json")).expect("JSON");
    let row = &rows[0];
    let (kind, n, first) =
        (row["entity_type"].as_str().expect("a text"), &row["n"], row["first"].as_str().expect("a day"));
    assert_eq!(ask(lake, sql, "csv"), format!("entity_type,n,first\n{kind},{n},{first}\n"));
    assert_eq!(serde_json::from_str::<Value>(&ask(lake, sql, "ndjson")).expect("a line"), *row);
    assert!(ask(lake, sql, "markdown").ends_with(&format!("| {kind} | {n} | {first} |\n")));
    assert!(ask(lake, sql, "table").ends_with("\n1 row\n"));
    let scratch = Scratch::new();
    let file = scratch.path("rows.parquet");
    let save = || {
        Sunlake::on(lake, ["query", sql, "--format", "parquet"])
            .args(["-o".as_ref(), file.as_os_str()])
            .finish()
    };
    save().exits(0);
    assert!(std::fs::read(&file).expect("a file").starts_with(b"PAR1"));
    save().exits(3).says("is there already");
    for ending in ["csv", "json", "ndjson", "md"] {
        let file = scratch.path(&format!("rows.{ending}"));
        Sunlake::on(lake, ["query", sql]).args(["-o".as_ref(), file.as_os_str()]).finish().exits(0);
        let format = if ending == "md" { "markdown" } else { ending };
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), ask(lake, sql, format));
    }
    // Some editors write a byte order mark.
    let of_file = scratch.file("q.sql", &format!("\u{feff}{sql}"));
    let asked = Sunlake::on(lake, ["query", "--format", "csv"])
        .args(["-f".as_ref(), of_file.as_os_str()])
        .finish()
        .exits(0);
    assert_eq!(asked.stdout, ask(lake, sql, "csv"));
}

#[test]
fn a_wrong_query_gets_the_nearest_right_name() {
    let lake = &source::small().lake;
    for (sql, problem, hint) in [
        ("SELECT * FROM filing", "there is no table filing", "did you mean filings?"),
        ("SELECT countie FROM filings", "countie", "did you mean county?"),
        (
            "SELECT name FROM filings WHERE county = \"Orange Grove\"",
            "Orange Grove",
            "single quotes: 'Orange Grove'",
        ),
        ("SELEC 1", "SELEC", "error"),
    ] {
        let asked = Sunlake::on(lake, ["query", sql]).finish().exits(3);
        let asked = asked.says(problem).says(hint);
        assert!(asked.stderr.lines().count() <= 2, "{}", asked.shown());
    }
    let scratch = Scratch::new();
    Sunlake::on(&scratch.lake(), ["query", "SELECT 1"]).finish().exits(3).says("no snapshot");
    assert!(!scratch.lake().exists());
}

#[test]
fn changes_are_those_of_the_table_and_filters_apply() {
    let lake = &source::moving().lake;
    let changes = |arguments: &[&str]| -> Vec<Value> {
        let asked = Sunlake::on(lake, ["changes", "--format", "json"]).args(arguments).finish().exits(0);
        serde_json::from_str(&asked.stdout).expect("JSON")
    };
    let number = |sql: &str| -> usize {
        let rows: Vec<Value> = serde_json::from_str(&ask(lake, sql, "json")).expect("JSON");
        rows[0]["n"].as_u64().expect("a number") as usize
    };
    let all = number("SELECT COUNT(*) AS n FROM changes");
    assert!(all > 0);
    assert_eq!(changes(&["--since", "2000-01-01"]).len(), all);
    let newest =
        "SELECT COUNT(*) AS n FROM changes WHERE observed_on IN (SELECT MAX(observed_on) FROM changes)";
    assert_eq!(changes(&[]).len(), number(newest));
    let of_type = "SELECT COUNT(*) AS n FROM changes_detail WHERE entity_type = 'llc'";
    assert_eq!(changes(&["--since", "2000-01-01", "--type", "llc"]).len(), number(of_type));
    let newest_snapshot = names(&lake.join("commits")).len().to_string();
    assert_eq!(changes(&["--since", &newest_snapshot]).len(), 0);
    let feed =
        Sunlake::on(lake, ["changes", "--since", "2000-01-01", "--format", "atom"]).finish().exits(0).stdout;
    assert_eq!(feed.matches("<entry>").count(), all.min(1000));
    let none =
        ["changes", "--format", "json", "--since", "2000-01-01", "--name", "no business has this ' name"];
    let none = Sunlake::on(lake, none).finish().exits(0);
    assert_eq!(none.stdout, "[]\n");
    let newest = source::moving().today;
    assert_eq!(none.stderr, format!("note: no change is like that; the newest changes are of {newest}\n"));
}

#[test]
fn a_served_demo_answers_the_request_that_it_prints() {
    let mut server = Sunlake::new(["serve", "--demo", "--listen", "127.0.0.1:0"]).start();
    let address = server.address().expect("an address");
    let mut greeting = String::new();
    while !greeting.contains("docs  ") {
        greeting.push_str(&server.line());
        greeting.push('\n');
    }
    assert!(greeting.contains("invented by sunlake"), "{greeting}");
    assert!(greeting.contains(&format!("page      http://{address}/\n")), "{greeting}");
    let key = greeting.lines().find_map(|line| line.strip_prefix("key       ")).expect("a key");
    let request = format!("'http://{address}/v1/fl/businesses?q=SUNSHINE&limit=2'");
    assert!(greeting.contains(&format!("curl -H 'Authorization: Bearer {key}' {request}")), "{greeting}");
    let mut client = Connection::open(address).expect("a connection");
    let answer = client.get("/v1/fl/businesses?q=SUNSHINE&limit=2", key).expect("an answer");
    assert_eq!((answer.status, answer.json()["data"].as_array().map(Vec::len)), (200, Some(2)));
    assert_eq!(client.get("/v1/me", "flb_other").expect("an answer").status, 401);
    let title =
        "# Florida business filings API\n\n**A sample, invented by sunlake: no business in it exists.**\n";
    assert!(client.get("/docs.md", key).expect("a page").text().starts_with(title));
    let document = client.get("/openapi.json", key).expect("a document").json();
    let about = document["info"]["description"].as_str().expect("a description");
    assert!(about.starts_with("A sample, invented by sunlake: no business in it exists.\n"), "{about}");
    let agent = handshake(address, key);
    let said = agent["result"]["instructions"].as_str().expect("instructions");
    assert!(said.starts_with("A sample, invented by sunlake: no business in it exists. "), "{said}");
    assert!(!server.said().contains(key), "the log has no key");
    server.terminate();
    server.finish().exits(0);
}

/// The answer to the first message of an agent.
fn handshake(address: SocketAddr, key: &str) -> Value {
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
    let key = format!("Bearer {key}");
    let headers = [("Authorization", key.as_str()), ("Content-Type", "application/json")];
    exchange(address, "POST", "/mcp", &headers, Some(message.as_bytes())).expect("an answer").json()
}
