//! Mistakes about a lake, its files and its tables: each command, its exit code, and all that the program says about it.

use crate::mistakes::says;
use crate::support::command::{Finished, Sunlake, succeed, sunlake};
use crate::support::lake::{files_below, names};
use crate::support::scratch::Scratch;
use crate::support::source;
use std::net::TcpListener;
use std::process::Command;

/// Asks the small lake; `said` is everything on stderr, with LAKE for the lake's folder.
fn asked(arguments: &[&str], code: i32, said: &str) -> Finished {
    let lake = &source::small().lake;
    let done = Sunlake::on(lake, ["query"]).args(arguments).finish().exits(code);
    assert_eq!(done.stderr, said.replace("LAKE", &lake.to_string_lossy()), "{}", done.shown());
    done
}

#[test]
fn sql_that_cannot_run_says_what_to_write() {
    let no_day = "a text is used as a day and is none\nhint: a day is YYYY-MM-DD: '2026-11-20'";
    for (sql, text) in [
        ("SELECT f.kounty FROM filings f", "there is no column kounty\nhint: did you mean county?"),
        ("SELECT filings.kounty FROM filings", "there is no column kounty\nhint: did you mean county?"),
        ("SELECT b.kounty FROM businesses AS b", "there is no column kounty\nhint: did you mean county?"),
        ("SELECT g.county FROM filings f", "there is no table g\nhint: there are f"),
        (
            "SELECT name FROM filings WHERE county = 'Duval",
            "Unterminated string literal at Line: 1, Column: 41\n\
             hint: a text ends with a single quote, and a quote in it is written twice: 'O''NEIL'",
        ),
        (
            "SELECT name FROM filings WHERE name LIKE %SUN%",
            "Expected: an expression, found: % at Line: 1, Column: 42\n\
             hint: a text is in single quotes: LIKE '%SUN%'",
        ),
        (
            "SELECT name FROM filings WHERE name LIKE \"%SUN%\"",
            "there is no column %SUN%\nhint: a text is in single quotes: '%SUN%'",
        ),
        ("SELECT name FROM filings WHERE filed_date > '2026-13-01'", no_day),
        ("SELECT name FROM filings WHERE filed_date = '20260301'", no_day),
        ("SELECT name FROM filings WHERE filed_date = '03/01/2026'", no_day),
        ("SELECT name FROM filings WHERE filed_date IN ('20260301')", no_day),
        ("SELECT name FROM filings WHERE filed_date = DATE '20260301'", no_day),
        ("SELECT name FROM filings WHERE changed_at >= '20260301'", no_day),
        (
            "SELECT name FROM filings WHERE filed_date = 20260301",
            "a day is compared with the number 20260301\n\
             hint: write a day as DATE '2026-03-01'; without quotes, 2026-03-01 is the number 2022",
        ),
        (
            "WITH f AS (SELECT name, filed_date AS day FROM filings) SELECT name FROM f WHERE day >= 2026-03-01",
            "a day is compared with the number 2022\n\
             hint: write a day as DATE '2026-03-01'; without quotes, 2026-03-01 is the number 2022",
        ),
        (
            "SELECT name FROM filings WHERE filed_date IN (20260301)",
            "a day is compared with the number 20260301\n\
             hint: write a day as DATE '2026-03-01'; without quotes, 2026-03-01 is the number 2022",
        ),
        (
            "SELECT name FROM filings WHERE 20260301 < filed_date",
            "a day is compared with the number 20260301\n\
             hint: write a day as DATE '2026-03-01'; without quotes, 2026-03-01 is the number 2022",
        ),
        (
            "SELECT name FROM filings WHERE zip = 33101",
            "a text is compared with a number\n\
             hint: a text is in single quotes, a number in none: zip = '33101', business_id = 42",
        ),
        (
            "SELECT name FROM filings WHERE zip IN (33101)",
            "a text is compared with a number\n\
             hint: a text is in single quotes, a number in none: zip = '33101', business_id = 42",
        ),
        (
            "SELECT name FORM filings",
            "Expected: end of statement, found: filings at Line: 1, Column: 18\n\
             hint: such as: SELECT name FROM filings WHERE county = 'Duval' LIMIT 10",
        ),
        (
            "SELECT name FROM main.filings",
            "main.filings has more than one name\nhint: a table has no name before its own: FROM filings",
        ),
        (
            "SELECT name FROM filings WHERE filed_date > NOW()",
            "there is no function now\n\
             hint: name the day: filed_date >= DATE '2026-03-01', or count from the lake's: \
             JOIN days USING (filed_date) WHERE days_ago < 30",
        ),
        (
            "SELECT dateadd(day, 7, filed_date) FROM filings",
            "there is no function dateadd\nhint: add days: filed_date + 7",
        ),
        (
            "SELECT strptime('2026-03-01', '%Y-%m-%d') FROM filings",
            "there is no function strptime\nhint: a text YYYY-MM-DD as a day: CAST(x AS DATE)",
        ),
        (
            "SELECT TOP 5 name FROM filings",
            "TOP is no part of a query here\nhint: write LIMIT at its end: LIMIT 10",
        ),
        (
            "SELECT days_ago FROM filings",
            "there is no column days_ago\nhint: it is a column of days: JOIN days USING (filed_date)",
        ),
        (
            "SELECT * FROM 'output/current/changes/*.parquet'",
            "there is no table output/current/changes/*.parquet\n\
             hint: a query names the tables of the lake, not files: FROM changes",
        ),
        (
            "SELECT name FROM filings WHERE filed_date LIKE '2026-03%'",
            "LIKE takes a text, not a day\n\
             hint: for a month: filed_date BETWEEN DATE '2026-03-01' AND DATE '2026-03-31'",
        ),
        ("SELECT cuont(*) FROM filings", "there is no function cuont\nhint: did you mean count?"),
        (
            "SELECT name FROM filings GROUP BY county",
            "name is selected from groups, and they are not grouped by it\n\
             hint: name the column after GROUP BY too, or take MIN or MAX of it",
        ),
        ("SELECT 1; SELECT 2", "it has more than one statement\nhint: ask one query at a time"),
        ("", "it is empty\nhint: such as: SELECT county, filings FROM agg_county_window"),
        (
            "DELETE FROM filings",
            "a query begins with SELECT or WITH, not with DELETE\n\
             hint: a query changes nothing; for tables of your own: `sunlake export duckdb FILE --lake LAKE`",
        ),
        (
            "SHOW TABLES",
            "a query begins with SELECT or WITH, not with SHOW\n\
             hint: for the tables: `sunlake status --tables --lake LAKE`; for their columns: catalog/TABLES.md of the lake",
        ),
        ("SELEC 1", "a query begins with SELECT or WITH, not with SELEC\nhint: did you mean SELECT?"),
        ("sql/growth.sql", "sql/growth.sql is a file\nhint: sunlake query -f sql/growth.sql"),
        (
            "SELECT county, COUNT(*) FROM filings",
            "county is selected from groups, and they are not grouped by it\n\
             hint: name the column after GROUP BY too, or take MIN or MAX of it",
        ),
        ("SELECT name FROM filings WHERE filed_date > DATE '2026-02-30'", no_day),
        (
            "SELECT * FROM 'output/current/filings/**/*.parquet'",
            "there is no table output/current/filings/**/*.parquet\n\
             hint: a query names the tables of the lake, not files: FROM filings",
        ),
    ] {
        let done = asked(&[sql], 3, &format!("error: the query cannot run: {text}\n"));
        assert_eq!(done.stdout, "", "{}", done.shown());
    }
}

#[test]
fn files_of_a_query_that_cannot_be_are_named() {
    let scratch = Scratch::new();
    let (out, sql) = (scratch.path("no/rows.csv"), scratch.path("no.sql"));
    let (out, sql) = (out.to_string_lossy(), sql.to_string_lossy());
    let folder = scratch.path("no");
    let text = format!(
        "error: cannot use {out}: there is no folder {}\nhint: make the folder, or name another file\n",
        folder.display()
    );
    asked(&["SELECT 1", "-o", &out], 3, &text);
    let text = format!(
        "error: cannot read {sql}: No such file or directory\nhint: give the path of a file with one query\n"
    );
    asked(&["-f", &sql], 3, &text);
    asked(
        &["SELECT 1", "--snapshot", "9"],
        3,
        "error: the lake has no snapshot 9\nhint: list the snapshots: `sunlake snapshot list --lake LAKE`\n",
    );
    asked(&["SELECT 1", "--format", "atom"], 2, "error: atom is a form of `sunlake changes` alone\n");
}

#[test]
fn nothing_is_left_of_a_file_of_rows_that_cannot_be_written() {
    let scratch = Scratch::new();
    let file = scratch.path("rows.csv");
    let sql = format!("SELECT business_id, '{}' AS long FROM filings LIMIT 100", "x".repeat(5_000));
    let save = || Sunlake::on(&source::small().lake, ["query", &sql]).args(["-o".as_ref(), file.as_os_str()]);
    let limit = "trap '' XFSZ; ulimit -f 256; exec \"$@\"";
    save().through(&["sh", "-c", limit, "sh"]).finish().exits(9).says("cannot write").says("rows.csv");
    assert!(names(&scratch.path("")).is_empty());
    save().finish().exits(0);
}

#[test]
fn changes_of_a_lake_with_one_snapshot_say_that_there_is_nothing_earlier() {
    let changes = |arguments: &[&str]| {
        Sunlake::on(&source::small().lake, ["changes"]).args(arguments).finish().exits(0)
    };
    let first = changes(&[]);
    assert!(first.stdout.ends_with("\n0 rows\n"), "{}", first.shown());
    assert_eq!(first.stderr, "note: the lake has one snapshot: there is nothing earlier to compare with\n");
    assert_eq!(changes(&["--quiet"]).stderr, "");
}

#[test]
fn a_path_that_is_no_lake_and_no_folder_is_refused() {
    let scratch = Scratch::new();
    scratch.file("afile", "x");
    std::fs::create_dir(scratch.path("mine")).expect("a folder");
    scratch.file("mine/thesis.txt", "x");
    for made in ["florida/commits", "florida/snapshots"] {
        std::fs::create_dir_all(scratch.path(made)).expect("a folder");
    }
    let a_file = "error: the lake afile is a file\nhint: give a folder with --lake\n";
    for (line, text) in [
        ("status --lake afile", a_file),
        ("demo --lake afile", a_file),
        ("query --lake afile SELECT", a_file),
        (
            "run sample --lake mine",
            "error: the lake mine is a folder of other files\n\
             hint: give a lake, or a new or empty folder, with --lake\n",
        ),
        (
            "changes --lake nowhere",
            "error: the lake nowhere has no snapshot yet\nhint: make a snapshot: `sunlake run --lake nowhere`\n",
        ),
        (
            "query --lake flrida SELECT",
            "error: the lake flrida has no snapshot yet\nhint: did you mean `--lake florida`?\n",
        ),
        (
            "serve --lake Florida",
            "error: the lake Florida has no current snapshot\nhint: did you mean `--lake florida`?\n",
        ),
        ("init afile", "error: afile is a file; a folder is wanted\n"),
        ("man afile", "error: afile is a file; a folder is wanted\n"),
        (
            "run pipelines/daily.toml",
            "error: cannot read the pipeline file pipelines/daily.toml: No such file or directory\n\
             hint: did you mean the built-in pipeline `daily`?\n",
        ),
        (
            "run dialy",
            "error: there is no pipeline dialy: neither dialy.toml, nor pipelines/dialy.toml, nor a built-in one\n\
             hint: did you mean `daily`?\n",
        ),
        (
            "keys list",
            "error: cannot use the key file keys.toml: No such file or directory\n\
             hint: create a key: `sunlake keys create --account NAME --plan PLAN`\n",
        ),
        (
            "keys revoke flb_0123",
            "error: the id of a key is wanted, not the key\nhint: list the keys: `sunlake keys list`\n",
        ),
        (
            "keys create --account a --plan agency --keys no/keys.toml",
            "error: cannot use no/keys.toml: there is no folder no\nhint: make the folder, or name another file\n",
        ),
    ] {
        says(&scratch, line, 3, text);
    }
    assert_eq!(names(&scratch.path("")).len(), 3, "nothing was made");
}

#[test]
fn a_lake_next_to_the_one_of_the_current_folder_is_not_inside_of_it() {
    let scratch = Scratch::new();
    let root = std::fs::canonicalize(scratch.path("")).expect("a place");
    succeed(Command::new("cp").arg("-a").args([&source::small().lake, &root.join("a")]));
    succeed(Command::new("cp").arg("-a").args([&source::small().lake, &root.join("b")]));
    std::fs::create_dir(root.join("links")).expect("a folder");
    std::os::unix::fs::symlink(root.join("a"), root.join("links/sl")).expect("a link");
    let list = |folder: &str, lake: &str| {
        Sunlake::new(["snapshot", "list", "--lake", lake]).within(&root.join(folder)).finish()
    };
    for (folder, lake) in [("a", "../b"), ("", "a/../b"), ("links", "./sl/../b"), ("links", "sl"), ("a", ".")]
    {
        list(folder, lake).exits(0);
    }
    list("a/snapshots", "..").exits(0);
    for (folder, lake) in [("a", "new"), ("b", "../a/new"), ("links", "sl/new")] {
        list(folder, lake).exits(3).says(&format!("is inside the lake {}\n", root.join("a").display()));
    }
    list("a", "../new").exits(3).says("the lake ../new has no snapshot yet");
    assert_eq!(names(&root).len(), 3, "nothing was made");
}

#[test]
fn a_text_that_no_row_has_is_named_with_what_may_be_meant() {
    let lake = &source::small().lake;
    for (condition, hint) in [
        ("county = 'MIAMI-DADE'", "hint: no row has county = 'MIAMI-DADE'; did you mean 'Miami-Dade'?\n"),
        ("city_clean = 'Orlando'", "hint: no row has city_clean = 'Orlando'; did you mean 'ORLANDO'?\n"),
        // These find rows, and not those that are meant.
        ("county IN ('orange', 'Lee')", "hint: no row has county = 'orange'; did you mean 'Orange'?\n"),
        ("county <> 'orange'", "hint: no row has county = 'orange'; did you mean 'Orange'?\n"),
        ("county = 'Dade'", "hint: no row has county = 'Dade'; did you mean 'Miami-Dade'?\n"),
        (
            "county LIKE 'DUVAL%'",
            "hint: LIKE takes capitals and small letters as they are: county ILIKE 'DUVAL%' does not\n",
        ),
        ("dissolved_date = NULL", "hint: nothing is equal to NULL: dissolved_date IS NULL, or IS NOT NULL\n"),
        ("status = 'gone'", "hint: no row has status = 'gone'; there are active\n"),
        ("county = 'Duval'", ""),
    ] {
        let sql = format!("SELECT count(*) AS n FROM filings WHERE {condition}");
        assert_eq!(sunlake(lake, &["query", &sql]).exits(0).stderr, hint, "{condition}");
    }
}

#[test]
fn rows_that_were_found_stand_without_a_hint_that_cannot_be_computed() {
    let scratch = Scratch::new();
    succeed(Command::new("cp").arg("-a").args([&source::small().lake, &scratch.lake()]));
    let filings = std::fs::canonicalize(scratch.lake().join("current/filings")).expect("the table");
    for path in files_below(&filings) {
        std::fs::remove_file(path).expect("a file to remove");
    }
    let sql = "SELECT count(*) AS n FROM agg_county_type_day WHERE county = 'orange'";
    let done = sunlake(&scratch.lake(), &["query", "--format", "csv", sql]).exits(0);
    assert_eq!((&*done.stdout, &*done.stderr), ("n\n0\n", ""));
    sunlake(&scratch.lake(), &["query", "SELECT count(*) FROM filings WHERE county = 'orange'"]).exits(9);
}

#[test]
fn an_export_over_files_of_others_and_a_snapshot_that_is_not_there_are_refused() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("mine")).expect("a folder");
    scratch.file("mine/thesis.csv", "x");
    let lake = source::small().lake.display().to_string();
    for (line, text) in [
        (
            "export csv mine",
            "error: mine was not made by this command: it holds other files\n\
             hint: export to another path, or replace it with --force\n",
        ),
        (
            "run sample --metrics-file mine/thesis.csv",
            "error: mine/thesis.csv is there, and no run wrote it\nhint: name another file with --metrics-file\n",
        ),
        (
            "export csv out --snapshot 7",
            "error: the lake has no snapshot 7\nhint: list the snapshots: `sunlake snapshot list --lake LAKE`\n",
        ),
        (
            "export duckdb out.duckdb --duckdb /nonexistent",
            "error: cannot start /nonexistent: No such file or directory\n\
             hint: install DuckDB's command line program (https://duckdb.org, or `pip install duckdb-cli`), \
             or give its path with --duckdb\n",
        ),
        (
            "snapshot prune",
            "error: no rule says what to keep\n\
             hint: give --keep-last, --keep-daily, --keep-weekly, --keep-monthly or --raw-days\n",
        ),
        (
            "snapshot accept 1",
            "error: snapshot 1 is not pending review\nhint: list the snapshots: `sunlake snapshot list --lake LAKE`\n",
        ),
        (
            "replay nothing",
            "error: run nothing cannot be replayed: the lake has no snapshot of it; `sunlake status` lists runs\n",
        ),
    ] {
        says(&scratch, &format!("{line} --lake {lake}"), 3, &text.replace("LAKE", &lake));
    }
    assert_eq!(names(&scratch.path("mine")).len(), 1, "nothing was made");
}

#[test]
fn a_lake_that_cannot_be_written_names_the_folder() {
    // Nobody makes a folder in /sys, whatever user the tests run as.
    let done = Sunlake::new(["run", "sample", "--lake", "/sys/sunlake"]).finish().exits(9);
    done.says("error: cannot create /sys/sunlake: ")
        .says("\nhint: make the file and its folder writable for this user\n");
}

#[test]
fn a_key_that_cannot_be_names_its_variable() {
    let scratch = Scratch::new();
    scratch.file("p.toml", "name = \"p\"\n[aggregates]\nenabled = false\n");
    let run = |variable: &str, value: &str, text: &str| {
        let run = Sunlake::new(["run", "p.toml", "--base-url", "http://127.0.0.1:9"]);
        let done = run.within(&scratch.path("")).env(variable, value).finish().exits(3);
        assert_eq!(done.stderr, text, "{}", done.shown());
    };
    let none =
        "error: no API key\nhint: set SUNLAKE_API_KEY, or set SUNLAKE_API_KEY_FILE to a file with the key\n";
    run("SUNLAKE_API_KEY", "", none);
    run(
        "SUNLAKE_API_KEY",
        " ",
        "error: SUNLAKE_API_KEY: the API key is empty\n\
         hint: put the key of your account, one word, into SUNLAKE_API_KEY\n",
    );
    run(
        "SUNLAKE_API_KEY_FILE",
        "nokey",
        "error: cannot read SUNLAKE_API_KEY_FILE nokey: No such file or directory\n\
         hint: give the path of a file with the key and nothing else\n",
    );
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let done = Sunlake::on(&source::small().lake, ["serve", "--listen", &address]).finish().exits(3);
    let text = format!(
        "error: cannot listen on {address}: Address already in use\n\
         hint: give another address with --listen or --metrics\n"
    );
    assert_eq!(done.stderr, text, "{}", done.shown());
}

#[test]
fn look_ups_of_a_misspelt_county_say_that_they_choose_nothing() {
    let scratch = Scratch::new();
    let sample = source::sample_pipeline(3, 0.05);
    let run = |text: &str| {
        let file = scratch.file("p.toml", text);
        let run = Sunlake::on(&scratch.lake(), ["run", "--today", "2026-03-20"]).args([file]);
        run.finish().exits(0)
    };
    run(&sample);
    let done = run(&format!("{sample}[enrich]\nwhere = \"county = 'Miami Dade'\"\n"));
    let says = "looked up  none: `[enrich] where` chooses no business that is due\n";
    assert!(done.stdout.contains(says), "{}", done.shown());
    assert!(done.stderr.contains(MISSPELT), "{}", done.shown());
}

const MISSPELT: &str = "hint: no row has county = 'Miami Dade'; did you mean 'Miami-Dade'?\n";

#[test]
fn an_export_of_a_misspelt_county_says_what_may_be_meant() {
    let scratch = Scratch::new();
    let folder = scratch.path("csv");
    let export = Sunlake::on(&source::small().lake, ["export", "csv", "--where", "county = 'Miami Dade'"]);
    let done = export.args([&folder]).finish().exits(0);
    assert_eq!(done.stderr, MISSPELT, "{}", done.shown());
}
