//! Texts that did not come from the program, in each form that it prints and writes: none steers a terminal, begins a line, ends a cell
//! or becomes part of a page.

use crate::support::command::{Finished, Sunlake, sunlake};
use crate::support::proxy::Reply;
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer, create_key};
use crate::support::source::{self, Source, shipped_aggregates};
use crate::support::weather::Weather;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Clears the screen, sets the title, returns to the line's begin, begins a line, turns the direction, and is HTML and a cell of Markdown.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\rerror: none\nfake: line\u{202e}<img src=x>|x";

/// The same as a JSON string holds it.
fn in_json() -> String {
    let quoted = serde_json::to_string(HOSTILE).expect("JSON");
    quoted.trim_matches('"').to_owned()
}

/// An answer whose rows have the text in their names and cities, and in a field that the API's document does not have.
fn spoiled(body: String) -> String {
    let mark = in_json();
    let body = body.replace("\"name\":\"", &format!("\"name\":\"{mark}"));
    let body = body.replace("\"city\":\"", &format!("\"city\":\"{mark}"));
    body.replace("{\"id\":", &format!("{{\"odd{mark}\":\"{mark}\",\"id\":"))
}

/// The listings alone are spoiled: a county that is none is another fault.
fn of_listings(target: &str) -> Reply {
    let has_rows = target.starts_with("/v1/fl/businesses") || target.contains("/filings/daily/");
    if has_rows { Reply::Change(spoiled) } else { Reply::Forward }
}

/// The folder of a lake of two mornings of such answers; what the runs print is looked at.
fn lake() -> &'static Scratch {
    static FOLDER: OnceLock<Scratch> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let scratch = Scratch::new();
        let text = format!("name = \"daily\"\n[aggregates]\nfolder = {:?}\n", shipped_aggregates());
        let pipeline = scratch.file("daily.toml", &text);
        for today in ["2026-03-18", "2026-03-20"] {
            let source: &'static Source =
                Box::leak(Box::new(Source { lake: source::small().lake.clone(), today }));
            let weather = Weather::over(source, |request| of_listings(&request.target));
            let run = weather.asking(Sunlake::run(&pipeline, &scratch.lake()), today);
            let run = run
                .args(["-v", "--log-format", "json", "--metrics-file"])
                .args([scratch.path("sunlake.prom")]);
            is_safe(&run.finish().exits(0));
        }
        scratch
    })
}

/// Characters that a terminal obeys.
fn steers(c: char) -> bool {
    (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c)
}

/// Fails if a text steers a terminal.
fn is_calm(what: &str, text: &str) {
    let found: Vec<char> = text.chars().filter(|c| steers(*c)).collect();
    assert!(found.is_empty(), "{what}: {found:?} in {text:?}");
}

/// Fails if one of the lines is the text's.
fn has_own_lines(what: &str, text: &str) {
    let is_fake = |line: &&str| line.starts_with("fake: line") || line.starts_with("error: none");
    assert_eq!(text.lines().find(is_fake), None, "{what}: {text:?}");
}

/// CSV without the line ends that a cell in quotes may have.
fn in_cells(csv: &str) -> String {
    csv.replace('\r', "")
}

/// Both, of what a command printed.
fn is_safe(done: &Finished) {
    is_calm(done.command(), &done.stdout);
    is_calm(done.command(), &done.stderr);
    has_own_lines(done.command(), &done.stdout);
    has_own_lines(done.command(), &done.stderr);
}

#[test]
fn rows_of_an_api_are_texts_in_every_form() {
    let scratch = lake();
    let lake = scratch.lake();
    let rows = "SELECT name, city, county FROM filings ORDER BY name LIMIT 3";
    for format in ["table", "json", "ndjson", "markdown"] {
        for command in [&["query", rows][..], &["changes"]] {
            let done = sunlake(&lake, &[command, &["--format", format]].concat()).exits(0);
            is_safe(&done);
            assert!(done.stdout.contains("fake: line"), "the text is shown{}", done.shown());
        }
    }
    for command in [&["query", rows][..], &["changes"]] {
        let done = sunlake(&lake, &[command, &["--format", "csv"]].concat()).exits(0);
        is_calm("CSV", &in_cells(&done.stdout));
    }
    for command in [
        &["status"][..],
        &["plan"],
        &["verify"],
        &["snapshot", "list"],
        &["snapshot", "diff", "1", "2"],
        &["query", &format!("SELECT 1 AS \"{HOSTILE}\"")],
        &["query", &format!("SELECT 1 AS \"{HOSTILE}\""), "--format", "json"],
        &["query", &format!("SELECT 1 AS \"{HOSTILE}\""), "--format", "markdown"],
        &["query", &format!("SELECT \"{HOSTILE}\" FROM filings")],
        &["query", &format!("SELECT count(*) FROM \"{HOSTILE}\"")],
        &["query", &format!("SELECT name FROM filings WHERE county = '{HOSTILE}'")],
        &["query", &format!("SELECT name FROM filings WHERE status = '{HOSTILE}'")],
        &["query", &format!("SELECT name FROM filings WHERE name LIKE '{HOSTILE}'")],
        &["query", "SELECT name FROM filings WHERE city_clean = 'ZZ'"],
        &["query", HOSTILE],
        &["snapshot", "diff", HOSTILE, "2"],
        &["changes", "--since", HOSTILE],
        &["export", HOSTILE],
    ] {
        is_safe(&sunlake(&lake, command));
    }
}

/// The text is in a file as text: escaped, or not there.
fn page(path: &Path) -> String {
    let page = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    is_calm(&path.display().to_string(), &page);
    assert!(!page.contains("<img"), "{}", path.display());
    page
}

#[test]
fn rows_of_an_api_are_texts_in_every_file_for_people() {
    let scratch = lake();
    let lake = scratch.lake();
    sunlake(&lake, &["report"]).exits(0);
    let atom = scratch.path("changes.atom");
    let shown = atom.display().to_string();
    sunlake(&lake, &["changes", "--format", "atom", "-o", &shown]).exits(0);
    assert!(page(&atom).contains("fake: line"));
    page(&lake.join("catalog/report.html"));
    let metrics = page(&scratch.path("sunlake.prom"));
    assert!(metrics.lines().all(|line| line.starts_with('#') || line.starts_with("sunlake_")), "{metrics}");
    let out = scratch.path("csv");
    let shown = out.display().to_string();
    is_safe(&sunlake(&lake, &["export", "csv", &shown, "--table", "filings"]).exits(0));
    let csv = std::fs::read_to_string(out.join("filings.csv")).expect("the table");
    is_calm("CSV", &in_cells(&csv));
    assert!(csv.contains("fake: line"));
    let server = ApiServer::of_lake(&lake, "2026-03-20", AGENCY);
    let answer = server.get("/v1/fl/businesses?filed_from=2026-03-19&limit=2");
    // A program reads this: it gets the name as the API has it.
    let name = answer.json()["data"][0]["name"].as_str().map(str::to_owned);
    assert!(name.is_some_and(|name| name.starts_with(HOSTILE)));
    is_calm("the report of the server", &server.get("/report").text());
}

/// A path with the text in a name of a file.
fn odd(folder: &Scratch, ending: &str) -> PathBuf {
    folder.path(&format!("{}{ending}", HOSTILE.replace('/', "-")))
}

#[test]
fn names_of_files_and_accounts_are_texts() {
    let scratch = Scratch::new();
    let pipeline = odd(&scratch, ".toml");
    std::fs::write(&pipeline, format!("name = \"p\"\n\"{}\" = 1\n", in_json())).expect("a file");
    is_safe(&Sunlake::run(&pipeline, &scratch.lake()).finish().exits(3));
    std::fs::write(&pipeline, "name = \"p\"\n[source]\nembedded = true\n").expect("a file");
    is_safe(&Sunlake::run(&pipeline, &odd(&scratch, "")).args(["--today", HOSTILE]).finish());
    is_safe(&sunlake(&odd(&scratch, "-lake"), &["status"]));
    is_safe(&sunlake(&odd(&scratch, "-lake"), &["query", "SELECT 1"]));
    let files = scratch.path("files");
    std::fs::create_dir(&files).expect("a folder");
    std::fs::write(files.join(HOSTILE.replace('/', "-")), "x").expect("a file");
    std::fs::write(files.join("20261012c.txt"), HOSTILE).expect("a file");
    let text = "name = \"state\"\n[import]\nfolder = \"files\"\n[aggregates]\nenabled = false\n";
    let state = scratch.file("state.toml", text);
    is_safe(&Sunlake::run(&state, &scratch.lake()).args(["--today", "2026-11-20"]).finish());
    create_key(&scratch, "acme", "starter", &["data"]);
    let keys = scratch.path("keys.toml");
    let of_keys = |arguments: &[&str]| {
        let keys = ["--keys".as_ref(), keys.as_os_str()];
        Sunlake::new(arguments).args(keys).finish()
    };
    is_safe(&of_keys(&["keys", "create", "--account", HOSTILE, "--plan", "starter"]).exits(3));
    is_safe(&of_keys(&["keys", "revoke", HOSTILE]));
    let text = std::fs::read_to_string(&keys).expect("the key file");
    std::fs::write(&keys, text.replace("\"acme\"", &format!("\"{}\"", in_json()))).expect("the key file");
    is_safe(&of_keys(&["keys", "list"]));
    is_safe(&of_keys(&["keys", "list", "--json"]));
}
