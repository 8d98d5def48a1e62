//! Mistakes that people make: each command, its exit code, and all that the program says about it.

use crate::support::command::Sunlake;
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::source;

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
fn flags_from_another_place_say_which() {
    let scratch = Scratch::new();
    let key = "error: --api-key: the key of the API is never on the command line, where other users and logs see it\n\
               hint: set SUNLAKE_API_KEY, or set SUNLAKE_API_KEY_FILE to a file with the key\n";
    for (line, text) in [
        ("run --api-key SECRET", key),
        ("run p.toml --api-key=SECRET", key),
        ("doctor --api-key SECRET", key),
        (
            "run --days 30",
            "error: --days: the days to read are no flag; they belong to the pipeline file\n\
             hint: set them there: `[extract]` with `days = 30`\n",
        ),
        (
            "run --dry-run",
            "error: --dry-run: there is no such flag here\n\
             hint: see what a run would request and cost: `sunlake plan PIPELINE`\n",
        ),
        (
            "snapshot show newest",
            "error: invalid value 'newest' for '<SNAPSHOT>': a snapshot is a number or `latest`; \
             list the snapshots: `sunlake snapshot list`\n\nFor more information, try '--help'.\n",
        ),
        (
            "serve --keys keys.toml --listen nine",
            "error: invalid value 'nine' for '--listen <ADDR>': give a host and a port, such as 127.0.0.1:8080, \
             or a port\n\nFor more information, try '--help'.\n",
        ),
        (
            "serve --keys keys.toml --listen 80800",
            "error: invalid value '80800' for '--listen <ADDR>': give a host and a port, such as 127.0.0.1:8080, \
             or a port\n\nFor more information, try '--help'.\n",
        ),
        ("serve", "error: the lake output has no current snapshot\nhint: make a snapshot: `sunlake run`\n"),
    ] {
        let code = if text.contains("current snapshot") { 3 } else { 2 };
        says(&scratch, line, code, text);
    }
}

#[test]
fn words_from_another_place_say_what_to_type() {
    let scratch = Scratch::new();
    let days = "the days to read are no flag; they belong to the pipeline file\n\
                hint: set them there: `[extract]` with `days = 30`\n";
    let since = "changes are those since a day or a snapshot\nhint: sunlake changes --since 2026-11-01\n";
    for (line, text) in [
        ("run --from 2026-03-20 --to 2026-03-01", &*format!("--from: {days}")),
        ("run sample --since 2026-03-01", &*format!("--since: {days}")),
        ("changes --from 2026-03-20", &*format!("--from: {since}")),
        ("changes --days 7", &*format!("--days: {since}")),
        (
            "run sample --county Duval",
            "--county: a run reads all of Florida\n\
             hint: ask the lake for a part of it: `sunlake query \"SELECT … WHERE county = 'Duval'\"`\n",
        ),
        (
            "run --types llc",
            "--types: the types to read are no flag; they belong to the pipeline file\n\
             hint: set them there: `[extract]` with `types = [\"llc\"]`\n",
        ),
        (
            "run sample --seed 4",
            "--seed: the sample's seed and size are no flags; they belong to the pipeline file\n\
             hint: set them there: `[source.sample]` with `seed = 7`\n",
        ),
        (
            "run --config daily.toml",
            "--config: a pipeline is named without a flag\nhint: sunlake run daily, or the path of a file\n",
        ),
        ("run sample --output x", "--output: the lake is named with --lake\nhint: give --lake PATH\n"),
        (
            "serve --port 8080",
            "--port: host and port are one flag\n\
             hint: give --listen 127.0.0.1:8080, or a port alone: --listen 8080\n",
        ),
        (
            "query --limit 5",
            "--limit: a query says this in SQL\n\
             hint: sunlake query \"SELECT name FROM filings WHERE county = 'Duval' LIMIT 10\"\n",
        ),
        (
            "run sample --threads 4",
            "--threads: sunlake run has no such flag\nhint: its flags: `sunlake run --help`\n",
        ),
        ("sample run", "sample is a pipeline, not a command\nhint: run it: `sunlake run sample`\n"),
        (
            "run sample daily",
            "daily: a run is of one pipeline\nhint: name one; for more, start the program again\n",
        ),
        (
            "query SELECT name FROM filings",
            "name: a query is one word for the shell\n\
             hint: put it in double quotes: sunlake query \"SELECT county FROM filings\"\n",
        ),
        (
            "export parquet x",
            "the files of a lake are Parquet already\n\
             hint: read them where they are, such as output/current/filings/**/*.parquet\n",
        ),
        (
            "export out",
            "out: there is no such export\n\
             hint: name one first, then its path: `sunlake export csv|duckdb|delta|ducklake PATH`\n",
        ),
    ] {
        says(&scratch, line, 2, &format!("error: {text}"));
    }
}

#[test]
fn values_that_cannot_be_say_what_can() {
    let scratch = Scratch::new();
    for (line, text) in [
        (
            "status --today 2026-13-01",
            "'2026-13-01' for '--today <YYYY-MM-DD>': a day is YYYY-MM-DD, such as 2026-11-20",
        ),
        (
            "changes --since 2026-13-01",
            "'2026-13-01' for '--since <DATE|N>': give a day, YYYY-MM-DD, or the number of a snapshot",
        ),
        (
            "changes --county Miami",
            "'Miami' for '--county <NAME>': Florida has no such county; did you mean \"Miami-Dade\"?",
        ),
        ("changes --type lcc", "'lcc' for '--type <TYPE>': there is no such type; did you mean llc?"),
        ("snapshot prune --keep-last many", "'many' for '--keep-last <N>': give a whole number, such as 7"),
        (
            "keys create --account a --plan gold",
            "'gold' for '--plan <starter|agency|enterprise>': gold is none of starter, agency, enterprise",
        ),
    ] {
        says(
            &scratch,
            line,
            2,
            &format!("error: invalid value {text}\n\nFor more information, try '--help'.\n"),
        );
    }
}

#[test]
fn without_a_command_the_program_says_what_to_start_with() {
    let done = Sunlake::new::<&str>([]).finish().exits(2);
    let commands: Vec<&str> = done.stderr.lines().filter(|line| line.starts_with("  sunlake ")).collect();
    assert_eq!(commands.len(), 5, "{}", done.shown());
    assert!(done.stderr.ends_with("All commands: sunlake --help\n"), "{}", done.shown());
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
             error: p.toml, line 5: max_minutes must be a whole number from 0 to 525600\n\
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
             industry_sector, industry_type, url, source, listed, first_seen_at, changed_at, extra\n",
        ),
        (
            "SELECT f.kounty FROM counties c JOIN filings AS f ON c.county = f.county",
            "error: aggregate aggregates/mine.sql cannot run: there is no column kounty\nhint: did you mean county?\n",
        ),
        (
            "SELEKT 1",
            "error: aggregate aggregates/mine.sql cannot run: Expected: an SQL statement, found: SELEKT at Line: 1, \
             Column: 1\nhint: such as: SELECT name FROM filings WHERE county = 'Duval' LIMIT 10\n",
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
        "error: p.toml, line 5: `[enrich] where` cannot run: there is no column conty\n\
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
    let text = "error: gave up after 3 attempts: GET /v1/me failed: client error (Connect): tcp connect error: \
                Connection refused\n\
                hint: check the address http://127.0.0.1:9 of --base-url or SUNLAKE_BASE_URL, and the network\n";
    assert_eq!(done.stderr, text);
    let requests = &done.json()["requests"];
    assert_eq!((&requests["sent"], &requests["retried"]), (&3.into(), &2.into()), "{requests}");
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

#[test]
fn help_shows_the_flags_of_its_command_and_an_example() {
    for command in ["run", "plan", "status", "verify", "serve", "keys", "export", "doctor", "completions"] {
        let help = Sunlake::new([command, "--help"]).finish().exits(0).stdout;
        let (own, global) = help.split_once("\nGlobal options:\n").expect("global flags have a heading");
        assert!(!own.contains("--log-format") && global.contains("--log-format"), "{help}");
        assert!(help.contains(&format!("\nExamples:\n  sunlake {command}")), "{help}");
        let is_run = ["run", "plan", "doctor"].contains(&command);
        assert_eq!(global.contains("--base-url"), is_run, "{help}");
        assert_eq!(global.contains("--lake"), command != "completions", "{help}");
    }
}
