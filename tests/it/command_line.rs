//! Command lines that cannot be: each with its exit code and all that the program says. What help shows.

use crate::mistakes::says;
use crate::support::command::Sunlake;
use crate::support::scratch::Scratch;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

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
        ("export -- csv out", "error: unexpected argument 'csv' found\nhint: see `sunlake export --help`\n"),
        (
            "snapshot show newest",
            "error: invalid value 'newest' for '<SNAPSHOT>'\n\
             hint: a snapshot is a number or `latest`: `sunlake snapshot list`\n",
        ),
        (
            "serve --keys keys.toml --listen nine",
            "error: invalid value 'nine' for '--listen <ADDR>'\n\
             hint: give a host and a port, such as 127.0.0.1:8080, or a port\n",
        ),
        (
            "serve --keys keys.toml --listen 80800",
            "error: invalid value '80800' for '--listen <ADDR>'\n\
             hint: give a host and a port, such as 127.0.0.1:8080, or a port\n",
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
    for (line, value, hint) in [
        (
            "status --today 2026-13-01",
            "'2026-13-01' for '--today <YYYY-MM-DD>'",
            "a day is YYYY-MM-DD, such as 2026-11-20",
        ),
        (
            "changes --since 2026-13-01",
            "'2026-13-01' for '--since <DATE|N>'",
            "give a day, YYYY-MM-DD, or the number of a snapshot",
        ),
        (
            "changes --county Miami",
            "'Miami' for '--county <NAME>'",
            "Florida has no such county; did you mean \"Miami-Dade\"?",
        ),
        ("changes --type lcc", "'lcc' for '--type <TYPE>'", "there is no such type; did you mean llc?"),
        ("snapshot prune --keep-last many", "'many' for '--keep-last <N>'", "give a whole number, such as 7"),
        (
            "keys create --account a --plan gold",
            "'gold' for '--plan <starter|agency|enterprise>'",
            "give one of starter, agency, enterprise",
        ),
        (
            "query --format xls",
            "'xls' for '--format <FORMAT>'",
            "give one of table, csv, json, ndjson, markdown, parquet, atom",
        ),
        (
            "init --schedule jenkins",
            "'jenkins' for '--schedule <SCHEDULE>'",
            "give one of cron, systemd, airflow, dagster, kubernetes, github",
        ),
        ("completions fishy", "'fishy' for '<SHELL>'", "did you mean 'fish'?"),
    ] {
        says(&scratch, line, 2, &format!("error: invalid value {value}\nhint: {hint}\n"));
    }
}

#[test]
fn a_command_line_with_a_word_wrong_missing_or_too_much_says_which() {
    let scratch = Scratch::new();
    for (line, text) in [
        ("rum", "unrecognized subcommand 'rum'\nhint: did you mean 'run'?"),
        ("Run sample", "unrecognized subcommand 'Run'\nhint: did you mean 'run'?"),
        ("fetch", "unrecognized subcommand 'fetch'\nhint: see `sunlake --help`"),
        ("version", "version is a flag\nhint: sunlake --version"),
        ("rollback 3", "rollback is a part of another command\nhint: `sunlake snapshot rollback`"),
        ("list", "list is a part of another command\nhint: `sunlake snapshot list` or `sunlake keys list`"),
        ("status --tabels", "unexpected argument '--tabels' found\nhint: did you mean '--tables'?"),
        ("status now", "unexpected argument 'now' found\nhint: see `sunlake status --help`"),
        (
            "status --json=yes",
            "unexpected value 'yes' for '--json' found; no more were expected\nhint: see `sunlake status --help`",
        ),
        (
            "status --lake",
            "a value is required for '--lake <PATH>' but none was supplied\nhint: see `sunlake --help`",
        ),
        (
            "status --lake a --lake b",
            "the argument '--lake <PATH>' cannot be used multiple times\nhint: see `sunlake status --help`",
        ),
        (
            "verify 1 --repair",
            "the argument '[SNAPSHOT]' cannot be used with '--repair'\nhint: see `sunlake verify --help`",
        ),
        (
            "query A -f q.sql",
            "the argument '[SQL]' cannot be used with '--file <FILE>'\nhint: see `sunlake query --help`",
        ),
        (
            "keys create",
            "the following required arguments were not provided: --account <NAME> --plan <starter|agency|enterprise>\n\
             hint: type: sunlake keys create --account <NAME> --plan <starter|agency|enterprise>",
        ),
        (
            "snapshot diff 1",
            "the following required arguments were not provided: <AFTER>\n\
             hint: type: sunlake snapshot diff <BEFORE> <AFTER>",
        ),
        (
            "query",
            "no query is given\n\
             hint: sunlake query \"SELECT county, COUNT(*) FROM filings GROUP BY county\", or -f FILE",
        ),
    ] {
        says(&scratch, line, 2, &format!("error: {text}\n"));
    }
}

/// A path is shown, and is in JSON, SQL and links.
#[test]
fn what_is_no_text_is_refused_and_the_value_of_a_variable_is_not_shown() {
    let odd = OsStr::from_bytes(b"l\xffke");
    for command in [&["status", "--lake"][..], &["export", "csv"], &["report", "--json", "--lake"], &["init"]]
    {
        let arguments: Vec<&OsStr> = command.iter().map(OsStr::new).chain([odd]).collect();
        let done = Sunlake::new(arguments).finish().exits(2);
        assert_eq!(
            done.stderr,
            "error: \"l\\xFFke\" is not text in UTF-8\nhint: give the file or folder another name\n"
        );
    }
    let done = Sunlake::new(["status"]).env_os("SUNLAKE_API_KEY", odd).finish().exits(2);
    assert!(done.stderr.starts_with("error: SUNLAKE_API_KEY is not text in UTF-8\n"), "{}", done.shown());
}

#[test]
fn without_a_command_the_program_says_what_to_start_with() {
    let done = Sunlake::new::<&str>([]).finish().exits(2);
    let commands: Vec<&str> = done.stderr.lines().filter(|line| line.starts_with("  sunlake ")).collect();
    assert_eq!(commands.len(), 5, "{}", done.shown());
    assert!(done.stderr.ends_with("All commands: sunlake --help\n"), "{}", done.shown());
}

#[test]
fn help_shows_the_flags_of_its_command_and_an_example() {
    for command in [
        "run",
        "plan",
        "demo",
        "init",
        "query",
        "changes",
        "status",
        "verify",
        "snapshot",
        "snapshot list",
        "snapshot show",
        "snapshot diff",
        "snapshot pin",
        "snapshot unpin",
        "snapshot rollback",
        "snapshot accept",
        "snapshot prune",
        "replay",
        "serve",
        "keys",
        "keys create",
        "keys list",
        "keys revoke",
        "report",
        "doctor",
        "export",
        "export csv",
        "export duckdb",
        "export delta",
        "export ducklake",
        "completions",
        "schema",
        "man",
    ] {
        let help = Sunlake::new(command.split(' ').chain(["--help"])).finish().exits(0).stdout;
        let (own, global) = help.split_once("\nGlobal options:\n").expect("global flags have a heading");
        assert!(!own.contains("--log-format") && global.contains("--log-format"), "{help}");
        assert!(help.contains(&format!("\nExamples:\n  sunlake {command}")), "{help}");
        let has = |flag: &str| global.contains(&format!("      {flag}"));
        let is_one_of = |commands: &[&str]| commands.contains(&command);
        assert_eq!(has("--base-url"), is_one_of(&["run", "plan", "doctor"]), "{help}");
        let without_lake = ["completions", "schema", "man", "init", "keys create", "keys revoke"];
        assert_eq!(has("--lake"), !is_one_of(&without_lake), "{help}");
        assert_eq!(has("--json"), !is_one_of(&["completions", "schema"]), "{help}");
        if command.contains(' ') {
            assert_eq!(has("--today"), is_one_of(&["snapshot rollback", "snapshot prune"]), "{help}");
        }
    }
}
