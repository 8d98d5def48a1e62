//! Mistakes that people make: each command, its exit code, and all that the program says about it.

use crate::support::command::Sunlake;
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::source;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

const KEY: &str = "flb_0000000000000000000000000000000000000000000000000000000000000000";
/// Port 9 of this machine is the discard service, which nobody runs.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Runs a command line in a folder, and claims its exit code and everything on stderr.
pub(crate) fn says(scratch: &Scratch, line: &str, code: i32, text: &str) {
    let command = Sunlake::new(line.split_whitespace()).within(&scratch.path(""));
    let done = command.env("SUNLAKE_API_KEY", KEY).env("NO_COLOR", "1").finish().exits(code);
    assert_eq!(done.stderr, text, "{}", done.shown());
}

#[test]
fn all_mistakes_of_a_pipeline_file_are_shown_at_once_with_their_places() {
    let scratch = Scratch::new();
    let line = format!("run p.toml --base-url {NOWHERE}");
    for (file, text) in [
        (
            "name = \"p\"\n\n[budget]\nkeep_per_dya = 3\nmax_minutes = 3\n[checks]\nquarantine = \"warn\"\n\
             [extract]\ntypes = [\"llc\", \"lcc\"]\n[source.sample]\ndays = 0\n",
            "error: p.toml, line 4: unknown field `keep_per_dya`, expected one of `keep_per_day`, `keep_per_month`, \
             `max_requests`, `max_minutes`, `attempts`\n\
             \x20 4 | keep_per_dya = 3\n\
             \x20   | ^^^^^^^^^^^^\n\
             hint: did you mean `keep_per_day`?\n\
             error: p.toml, line 7: unknown variant `warn`, expected one of `tell`, `hold`, `fail`\n\
             \x20 7 | quarantine = \"warn\"\n\
             \x20   |              ^^^^^^\n\
             hint: did you mean `tell`?\n\
             error: p.toml, line 9: unknown variant `lcc`, expected one of `llc`, `corporation`, `partnership`, \
             `nonprofit`, `fictitious`, `trust`\n\
             \x20 9 | types = [\"llc\", \"lcc\"]\n\
             \x20   |                 ^^^^^\n\
             hint: did you mean `llc`?\n\
             error: p.toml, line 11: a sample has 1 day at least\n\
             \x20 11 | days = 0\n\
             \x20    | ^^^^^^^^\n",
        ),
        (
            "name = \"p\"\n[extrct]\ndays = 3\n[budget]\nmax_minutes = 600_000\n[checks]\nmax_drop_percent = 101\n",
            "error: p.toml, line 2: unknown field `extrct`, expected one of `name`, `source`, `extract`, `registry`, \
             `enrich`, `import`, `budget`, `plan`, `aggregates`, `checks`, `retention`, `report`\n\
             \x20 2 | [extrct]\n\
             \x20   |  ^^^^^^\n\
             hint: did you mean `extract`?\n\
             error: p.toml, line 5: max_minutes must be a whole number from 1 to 525600\n\
             \x20 5 | max_minutes = 600_000\n\
             \x20   | ^^^^^^^^^^^^^^^^^^^^^\n\
             error: p.toml, line 7: max_drop_percent must be a number from 0 to 100, and is 101\n\
             \x20 7 | max_drop_percent = 101\n\
             \x20   | ^^^^^^^^^^^^^^^^^^^^^^\n",
        ),
        (
            "name = \"p\n[extract\ndays = 1\n",
            "error: p.toml, line 1: invalid basic string, expected `\"`\n\
             \x20 1 | name = \"p\n\
             \x20   |          ^\n\
             error: p.toml, line 2: unclosed table, expected `]`\n\
             \x20 2 | [extract\n\
             \x20   |         ^\n",
        ),
        (
            "name = \"p\"\n[extract]\ncounties = [\"Duval\"]\n",
            "error: p.toml, line 3: unknown field `counties`, expected one of `days`, `types`, `filings`\n\
             \x20 3 | counties = [\"Duval\"]\n\
             \x20   | ^^^^^^^^\n",
        ),
        (
            "name = \"p\"\n[source]\nurl = \"https://x\"\nkey_file = \"k\"\n",
            "error: p.toml, line 3: unknown field `url`, expected one of `base_url`, `embedded`, `sample`, `allow_plain_http`\n\
             \x20 3 | url = \"https://x\"\n\
             \x20   | ^^^\n\
             hint: did you mean `base_url`?\n\
             error: p.toml, line 4: unknown field `key_file`, expected one of `base_url`, `embedded`, `sample`, \
             `allow_plain_http`\n\
             \x20 4 | key_file = \"k\"\n\
             \x20   | ^^^^^^^^\n\
             hint: the key is in no pipeline file: set SUNLAKE_API_KEY, or set SUNLAKE_API_KEY_FILE to a file with the key\n",
        ),
        (
            "name = \"p\"\ndays = 3\nwhere = \"TRUE\"\n[extract]\nfrom = \"2026-03-01\"\n[budget]\nmax_requests = \"all\"\n",
            "error: p.toml, line 2: unknown field `days`, expected one of `name`, `source`, `extract`, `registry`, \
             `enrich`, `import`, `budget`, `plan`, `aggregates`, `checks`, `retention`, `report`\n\
             \x20 2 | days = 3\n\
             \x20   | ^^^^\n\
             hint: `days` belongs to the section `[extract]`\n\
             error: p.toml, line 3: unknown field `where`, expected one of `name`, `source`, `extract`, `registry`, \
             `enrich`, `import`, `budget`, `plan`, `aggregates`, `checks`, `retention`, `report`\n\
             \x20 3 | where = \"TRUE\"\n\
             \x20   | ^^^^^\n\
             hint: `where` belongs to the section `[enrich]`\n\
             error: p.toml, line 5: unknown field `from`, expected one of `days`, `types`, `filings`\n\
             \x20 5 | from = \"2026-03-01\"\n\
             \x20   | ^^^^\n\
             hint: did you mean `days`?\n\
             error: p.toml, line 7: invalid type: string \"all\", expected a whole number\n\
             \x20 7 | max_requests = \"all\"\n\
             \x20   |                ^^^^^\n",
        ),
        (
            "name = \"Bad Name\"\n",
            "error: p.toml, line 1: name must be lower-case letters, digits, - and _\n\
             \x20 1 | name = \"Bad Name\"\n\
             \x20   | ^^^^^^^^^^^^^^^^^\n",
        ),
    ] {
        scratch.file("p.toml", file);
        says(&scratch, &line, 3, text);
    }
}

#[test]
fn what_is_no_pipeline_says_so_and_shows_nothing_of_the_file() {
    let scratch = Scratch::new();
    let names = "backfill, daily, enrich, registry, sample, sample-details, state";
    std::fs::create_dir(scratch.path("adir")).expect("a folder");
    scratch.file("key", KEY);
    scratch.file("daily.yaml", "name: daily\n");
    scratch.file("q.sql", "SELECT 1");
    scratch.file("empty.toml", "");
    std::fs::write(scratch.path("binary.toml"), [0xff, 0xfe]).expect("a file");
    for (line, code, text) in [
        ("run", 2, format!("no pipeline is named, and SUNLAKE_API_KEY is set\nhint: name one: {names}\n")),
        (
            "run adir",
            3,
            format!("adir is a folder, not a pipeline file\nhint: name a file in it, or one of {names}\n"),
        ),
        (
            "run key",
            3,
            format!(
                "key is not a pipeline file: its name does not end in .toml\nhint: name a file, or one of {names}\n"
            ),
        ),
        (
            "plan daily.yaml",
            3,
            format!(
                "daily.yaml is not a pipeline file: its name does not end in .toml\nhint: name a file, or one of {names}\n"
            ),
        ),
        (
            "run q.sql",
            3,
            "q.sql is an aggregate, not a pipeline file\n\
             hint: a run computes every aggregate of its folder; for one answer: `sunlake query -f FILE`\n"
                .to_owned(),
        ),
        (
            "plan https://api.example.com",
            3,
            "https://api.example.com is the address of an API, not a pipeline\n\
             hint: give it with --base-url: `sunlake plan daily --base-url https://api.example.com`\n"
                .to_owned(),
        ),
        (
            "run binary.toml",
            3,
            "cannot read the pipeline file binary.toml: it is not a text file\n".to_owned(),
        ),
        (
            "run empty.toml",
            3,
            "empty.toml, line 1: missing field `name`\n\
             \x20 1 | \n\
             \x20   | ^\n\
             hint: a file begins with a name of your choice: `name = \"mine\"`\n"
                .to_owned(),
        ),
        (
            "run xyz",
            3,
            format!(
                "there is no pipeline xyz: neither xyz.toml, nor pipelines/xyz.toml, nor a built-in one\n\
                 hint: name one of {names}, or give the path of a file\n"
            ),
        ),
    ] {
        says(&scratch, line, code, &format!("error: {text}"));
    }
}

#[test]
fn mistakes_in_sql_name_the_nearest_table_or_column_or_the_right_quotes() {
    let scratch = Scratch::new();
    let line = format!("run p.toml --base-url {NOWHERE}");
    std::fs::create_dir(scratch.path("aggregates")).expect("a folder");
    scratch.file("p.toml", "name = \"p\"\n");
    for (sql, text) in [
        (
            "SELECT kounty FROM filings",
            "error: aggregate aggregates/mine.sql cannot run: there is no column kounty\nhint: did you mean county?\n",
        ),
        (
            "SELECT county FROM filngs",
            "error: aggregate aggregates/mine.sql reads table filngs, which the snapshot does not have\n\
             hint: did you mean filings?\n",
        ),
        (
            "SELECT county FROM filings WHERE entity_type = \"llc\"",
            "error: aggregate aggregates/mine.sql cannot run: there is no column llc\n\
             hint: a text is in single quotes: 'llc'; for a column, there are business_id, document_number, name, \
             entity_type, company_type, status, filed_date, dissolved_date, city, city_clean, zip, county, county_key, \
             industry_sector, industry_type, url, source, listed, first_seen_at, changed_at, extra, filed_month\n",
        ),
        (
            "SELECT f.kounty FROM counties c JOIN filings AS f ON c.county = f.county",
            "error: aggregate aggregates/mine.sql cannot run: there is no column kounty\nhint: did you mean county?\n",
        ),
        (
            "SELEKT 1",
            "error: aggregate aggregates/mine.sql cannot run: a query begins with SELECT or WITH, not with SELEKT\n\
             hint: did you mean SELECT?\n",
        ),
    ] {
        scratch.file("aggregates/mine.sql", sql);
        says(&scratch, &line, 3, text);
    }
    scratch
        .file("p.toml", "name = \"p\"\n[aggregates]\nenabled = false\n[enrich]\nwhere = \"conty = 'X'\"\n");
    says(
        &scratch,
        &line,
        3,
        "error: p.toml, line 5: `where` cannot run: there is no column conty\n\
         \x20 5 | where = \"conty = 'X'\"\n\
         \x20   | ^^^^^^^^^^^^^^^^^^^^^\n\
         hint: did you mean county?\n",
    );
}

#[test]
fn an_address_that_cannot_work_is_reported_in_seconds() {
    let scratch = Scratch::new();
    let server = ApiServer::generous(source::small(), AGENCY);
    scratch.file("p.toml", "name = \"p\"\n[aggregates]\nenabled = false\n");
    let (plain, https) = (server.url(), server.url().replacen("http://", "https://", 1));
    let text = format!(
        "error: GET /v1/me failed: the address begins with https://, but plain http answers there\n\
         hint: give {plain} in --base-url or SUNLAKE_BASE_URL, or the port that answers https\n"
    );
    says(&scratch, &format!("run p.toml --base-url {https}"), 3, &text);
    let run = Sunlake::new(["run", "p.toml", "--json", "--quiet", "--base-url", NOWHERE]);
    let done = run.within(&scratch.path("")).env("SUNLAKE_API_KEY", KEY).finish().exits(6);
    let text = "error: gave up after 3 attempts: GET /v1/me failed: no connection: Connection refused\n\
                hint: check the address http://127.0.0.1:9 of --base-url or SUNLAKE_BASE_URL, and the network\n";
    assert_eq!(done.stderr, text);
    let requests = &done.json()["requests"];
    assert_eq!((&requests["sent"], &requests["retried"]), (&3.into(), &2.into()), "{requests}");
}

#[test]
fn a_server_without_tls_that_stays_silent_is_reported_in_seconds() {
    let scratch = Scratch::new();
    scratch.file("p.toml", "name = \"p\"\n[aggregates]\nenabled = false\n");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    // It reads a request to its end before it answers; a TLS handshake never ends for it.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || {
                let mut stream = stream.expect("a caller");
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") {
                    if stream.read(&mut byte).unwrap_or(0) == 0 {
                        return;
                    }
                    head.push(byte[0]);
                }
                let answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
                stream.write_all(answer.as_bytes()).expect("a reader");
            });
        }
    });
    let run = Sunlake::new(["run", "p.toml", "--base-url", &format!("https://{address}")]);
    let done = run.within(&scratch.path("")).env("SUNLAKE_API_KEY", KEY).finish().exits(3);
    let text = format!(
        "error: GET /v1/me failed: the address begins with https://, but plain http answers there\n\
         hint: give http://{address} in --base-url or SUNLAKE_BASE_URL, or the port that answers https\n"
    );
    assert_eq!(done.stderr, text);
    assert!(done.took < Duration::from_secs(8), "{}", done.shown());
}

#[test]
fn a_snapshot_may_be_the_latest_and_an_unknown_table_has_a_nearest_name() {
    let source = source::small();
    let lake = source.lake.to_string_lossy();
    let run = |line: &str| Sunlake::new(line.split_whitespace()).args(["--lake", &*lake]).finish();
    let latest = run("snapshot show latest --json").exits(0).json();
    assert_eq!(latest["snapshot"], run("status --json").exits(0).json()["snapshot"]);
    run("snapshot diff 1 latest").exits(0);
    run("verify latest").exits(0);
    let folder = Scratch::new();
    let out = folder.path("out").to_string_lossy().into_owned();
    run(&format!("export csv {out} --snapshot latest --table months")).exits(0);
    let unknown = run(&format!("export csv {out} --table filngs")).exits(3);
    assert!(unknown.stderr.ends_with("\nhint: did you mean filings?\n"), "{}", unknown.shown());
}
