//! Every example of the README and of `docs/` is run against the sample, and its output compared with the page.
//!
//! `SUNLAKE_BLESS=1` writes the outputs that differ into the pages, where they have no `…`.

use crate::support::command::{Sunlake, project, sunlake};
use crate::support::free_port::free_port;
use crate::support::markdown::{Block, Page, pages};
use crate::support::python;
use crate::support::scratch::Scratch;
use crate::support::{PATIENCE, wait_for};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The page whose commands make the lake that all other examples read.
const TUTORIAL: &str = "docs/tutorial.md";

/// The page whose queries read a lake of the state's files.
const REGISTER: &str = "docs/analysts/register.md";

/// Pages whose queries run in the program as they do in DuckDB.
const OF_PROGRAM: [&str; 6] = [
    "README.md",
    "docs/analysts/comparing.md",
    "docs/analysts/cookbook.md",
    "docs/analysts/pitfalls.md",
    TUTORIAL,
    REGISTER,
];

/// The page that names the tests of each promise.
const SECURITY: &str = "docs/security.md";

/// The day on which commands run that name none: that of the tutorial's last run.
const TODAY: &str = "2026-11-21";

/// Blocks marked `console`: page, words of the block, why it is not run.
const NOT_RUN: [(&str, &str, &str); 14] = [
    ("README.md", "sunlake run backfill", "uses an account's requests"),
    ("README.md", "sunlake run daily", "uses an account's requests"),
    ("docs/guides/install.md", "pip install .", "compiles the program"),
    ("docs/guides/install.md", "docker build", "needs docker, and compiles the program"),
    ("docs/guides/install.md", "SUNLAKE_API_KEY_FILE", "uses an account's requests"),
    ("docs/guides/install.md", "-p 127.0.0.1:8080", "needs docker"),
    ("docs/guides/backfill.md", "sunlake run pipelines/backfill.toml", "uses an account's requests"),
    ("docs/guides/schedule.md", "sunlake run pipelines/daily.toml", "uses an account's requests"),
    ("docs/guides/schedule.md", "/etc/cron.d/sunlake", "changes the machine"),
    ("docs/guides/object-store.md", "s3://bucket/florida", "needs a bucket"),
    ("docs/guides/python.md", "pip install \".[duckdb,polars]\"", "compiles the program"),
    ("docs/guides/python.md", "jupyter lab", "compiles the program, opens a browser"),
    ("docs/guides/serve.md", "--usage redis://", "needs a Redis"),
    ("docs/guides/serve.md", "--tls-cert", "needs a certificate of a name"),
];

/// Words of fences that are neither run nor the output of an example.
const OTHER_LANGUAGES: [&str; 6] = ["text", "csv", "json", "toml", "ini", "console"];

/// An example and what the page says it prints.
struct Example<'a> {
    page: &'a Page,
    block: Block,
    output: Option<Block>,
}

impl Example<'_> {
    fn place(&self) -> String {
        format!("{}:{}", self.page.path, self.block.lines.start)
    }
}

/// The examples of a page in these languages; the block after one, if it is text or CSV, is its output.
fn examples<'a>(page: &'a Page, languages: &[&str]) -> Vec<Example<'a>> {
    let blocks = page.blocks();
    let lines: Vec<&str> = page.text.lines().collect();
    let mut found = Vec::new();
    for (index, block) in blocks.iter().enumerate().filter(|(_, block)| languages.contains(&&*block.language))
    {
        let output = blocks.get(index + 1).filter(|next| {
            let between = &lines[block.lines.end + 1..next.lines.start - 1];
            ["text", "csv"].contains(&&*next.language) && between.iter().all(|line| line.is_empty())
        });
        found.push(Example { page, block: block.clone(), output: output.cloned() });
    }
    found
}

/// Whether a text is what the page says; `…` matches anything.
fn is_as_said(said: &str, printed: &str) -> bool {
    let tidy = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned();
    let (said, printed) = (tidy(said), tidy(printed));
    let pieces: Vec<&str> = said.split('…').collect();
    let [first, middle @ .., last] = &*pieces else { return said == printed };
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    for piece in middle {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// Outputs that are not what the pages say.
#[derive(Default)]
struct Findings {
    wrong: Vec<String>,
    /// By page, the lines to replace.
    bless: BTreeMap<String, Vec<(Block, String)>>,
}

impl Findings {
    fn compare(&mut self, example: &Example<'_>, printed: &str) {
        let Some(output) = &example.output else { return };
        if is_as_said(&output.text, printed) {
            return;
        }
        if std::env::var_os("SUNLAKE_BLESS").is_some() && !output.text.contains('…') {
            let change = (output.clone(), printed.trim_end().to_owned());
            self.bless.entry(example.page.path.clone()).or_default().push(change);
        } else {
            self.wrong.push(format!("{}\n--- said\n{}--- printed\n{printed}", example.place(), output.text));
        }
    }

    fn finish(self) {
        for (path, mut changes) in self.bless {
            let path = project().join(path);
            let text = std::fs::read_to_string(&path).expect("a page");
            let mut lines: Vec<&str> = text.lines().collect();
            changes.sort_by_key(|(output, _)| std::cmp::Reverse(output.lines.start));
            for (output, printed) in &changes {
                lines.splice(output.lines.clone(), printed.lines());
            }
            std::fs::write(&path, format!("{}\n", lines.join("\n"))).expect("a page that can be written");
        }
        assert!(self.wrong.is_empty(), "{} examples:\n{}", self.wrong.len(), self.wrong.join("\n"));
    }
}

/// What the shell runs before a page's examples: the server ends with them, and cargo's commands are sunlake's.
const PRELUDE: &str = r#"
set -eu
trap 'set +u; [ -z "$!" ] || kill $! 2>/dev/null || true' EXIT
cargo() { case $1 in run) shift 2; sunlake "$@" ;; esac; }
"#;

/// Runs the shell examples of a page in one shell, as a reader would in one terminal.
fn run_shell(page: &Page, folder: &Path, findings: &mut Findings) {
    let examples = examples(page, &["sh"]);
    if examples.is_empty() {
        return;
    }
    let mark = |number: usize| format!("@@ example {number}");
    let blocks = examples.iter().enumerate();
    let blocks =
        blocks.map(|(number, example)| format!("echo; echo '{}'\n{}", mark(number), example.block.text));
    let script = format!("{PRELUDE}{}", blocks.collect::<String>());
    let address = format!("127.0.0.1:{}", free_port());
    let output = folder.join("terminal.txt");
    let terminal = File::create(&output).expect("a file");
    let mut shell = Command::new("sh");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SUNLAKE_")) {
        shell.env_remove(name);
    }
    let programs = [Path::new(env!("CARGO_BIN_EXE_sunlake")), &python::program("duckdb")];
    let mut path: Vec<_> =
        programs.iter().filter_map(|program| program.parent().map(Path::to_owned)).collect();
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    shell.env("PATH", std::env::join_paths(path).expect("a search path"));
    shell.env("HOME", folder).env("SUNLAKE_TODAY", TODAY).env("SUNLAKE_LISTEN", &address);
    shell.env_remove("XDG_STATE_HOME").env_remove("XDG_CACHE_HOME").current_dir(folder);
    shell.args(["-c", &script.replace("127.0.0.1:8080", &address)]).stdin(Stdio::null());
    shell.stdout(terminal.try_clone().expect("a file")).stderr(terminal);
    let mut child = shell.spawn().expect("sh");
    let status =
        wait_for(&format!("the examples of {}", page.path), PATIENCE * 3, || child.try_wait().expect("sh"));
    let printed =
        std::fs::read_to_string(&output).expect("what was printed").replace(&address, "127.0.0.1:8080");
    assert!(status.success(), "{}: {status}\n{printed}", page.path);
    for (number, example) in examples.iter().enumerate() {
        let (_, rest) = printed.split_once(&format!("{}\n", mark(number))).expect("the example was run");
        let of_example = rest.split(&mark(number + 1)).next().unwrap_or_default();
        findings.compare(example, &without_log(of_example));
    }
}

/// What a command printed, without the lines of its log: how long it took and what it waited for differ from machine to machine.
fn without_log(printed: &str) -> String {
    let is_of_log = |line: &&str| {
        line.split_once("Z ").is_some_and(|(time, rest)| {
            time.parse::<jiff::civil::DateTime>().is_ok()
                && [" INFO ", " WARN "].iter().any(|level| rest.starts_with(level))
        })
    };
    printed.lines().filter(|line| !is_of_log(line)).map(|line| format!("{line}\n")).collect()
}

/// Runs a program of the Python environment in a folder, with a text on stdin.
fn pipe(mut command: Command, folder: &Path, input: &str) -> std::process::Output {
    command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("python");
    child.stdin.take().expect("stdin").write_all(input.as_bytes()).expect("a reader");
    child.wait_with_output().expect("python")
}

/// Runs all SQL examples of pages in one DuckDB process.
fn run_sql<'p>(pages: impl Iterator<Item = &'p Page>, folder: &Path, findings: &mut Findings) {
    let examples: Vec<Example<'_>> = pages.flat_map(|page| examples(page, &["sql"])).collect();
    assert!(examples.len() >= 5, "only {} SQL examples were found", examples.len());
    let texts: Vec<&str> = examples.iter().map(|example| &*example.block.text).collect();
    let script = "documentation.py";
    let answers = pipe(python::command(script), folder, &serde_json::to_string(&texts).expect("JSON"));
    let answers = python::reported(script, &answers);
    let answers = answers.as_array().expect("answers");
    assert_eq!(answers.len(), examples.len());
    for (example, answer) in examples.iter().zip(answers) {
        match answer["csv"].as_str() {
            Some(csv) => findings.compare(example, csv),
            None => findings.wrong.push(format!("{}: {}", example.place(), answer["error"])),
        }
    }
}

/// Runs the SQL examples of pages by the program. `is_of` says which pages have their lake in this folder.
fn run_queries(pages: &[Page], is_of: impl Fn(&Page) -> bool, folder: &Path, findings: &mut Findings) {
    let of_program = pages.iter().filter(|page| OF_PROGRAM.contains(&&*page.path) && is_of(page));
    for example in of_program.flat_map(|page| examples(page, &["sql"])) {
        let done = sunlake(&folder.join("output"), &["query", "--format", "csv", &example.block.text]);
        let said = example.output.as_ref().map_or("", |output| &output.text);
        if done.code() != Some(0) || in_numbers(said) != in_numbers(&done.stdout) {
            findings.wrong.push(format!("{} by the program{}", example.place(), done.shown()));
        }
    }
}

/// CSV with its numbers in one form: `381.0` is 381.
fn in_numbers(csv: &str) -> Vec<Vec<String>> {
    // The program writes an empty text in quotes, and NULL without.
    let plain = |cell: &str| if cell == "\"\"" { String::new() } else { cell.to_owned() };
    let cell = |cell: &str| cell.parse::<f64>().map_or_else(|_| plain(cell), |number| number.to_string());
    csv.trim().lines().map(|line| line.split(',').map(cell).collect()).collect()
}

/// Runs the Python examples of a page in one interpreter.
fn run_python(page: &Page, folder: &Path, findings: &mut Findings) {
    let examples = examples(page, &["python"]);
    let script: String = examples.iter().map(|example| &*example.block.text).collect();
    if !script.is_empty() {
        let mut python = python::tool("python");
        python.env("PYTHONPATH", project().join("python"));
        let done = pipe(python, folder, &script);
        if !done.status.success() {
            findings.wrong.push(format!("{}: {}", page.path, String::from_utf8_lossy(&done.stderr)));
        }
    }
}

/// Makes the lake of the examples that need the entire register.
fn import_state_files(scratch: &Scratch, folder: &Path) {
    let files = project().join("tests/state_files/files");
    let checks = "[checks]\nquarantine = \"tell\"\ndrop = \"tell\"\n";
    let text = format!("name = \"state\"\n[import]\nfolder = {files:?}\n{checks}");
    let pipeline = scratch.file("state.toml", &text);
    Sunlake::run(&pipeline, &folder.join("output")).args(["--today", "2026-11-22"]).finish().complete();
}

#[test]
fn the_rules_for_analysts_are_the_same_on_every_page() {
    let rules = |path: &str| -> Vec<String> {
        let text = std::fs::read_to_string(project().join(path)).expect("a page");
        let (_, rules) = text.split_once("Six rules:\n\n").expect("the rules");
        rules.lines().take_while(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    assert_eq!(rules("README.md"), rules("docs/analysts/pitfalls.md"));
    assert_eq!(rules("README.md").len(), 6);
}

#[test]
fn every_example_runs_and_prints_what_the_page_says() {
    let scratch = Scratch::new();
    let base = scratch.path("tutorial");
    let copy = |from: &Path, to: &Path| {
        let done = Command::new("cp").arg("-a").args([from, to]).status().expect("cp");
        assert!(done.success(), "cp -a {} {}", from.display(), to.display());
    };
    std::fs::create_dir_all(&base).expect("a folder");
    copy(&project().join("pipelines"), &base.join("pipelines"));
    let pages = pages();
    let mut findings = Findings::default();
    let tutorial = pages.iter().find(|page| page.path == TUTORIAL).expect("the tutorial");
    run_shell(tutorial, &base, &mut findings);
    let (of_register, others): (Vec<&Page>, Vec<&Page>) =
        pages.iter().partition(|page| page.path == REGISTER);
    run_sql(others.into_iter(), &base, &mut findings);
    let register = scratch.path("register");
    std::fs::create_dir_all(&register).expect("a folder");
    import_state_files(&scratch, &register);
    run_sql(of_register.into_iter(), &register, &mut findings);
    let is_of_register = |page: &Page| page.path == REGISTER;
    run_queries(&pages, |page| !is_of_register(page), &base, &mut findings);
    run_queries(&pages, is_of_register, &register, &mut findings);
    for (number, page) in pages.iter().enumerate() {
        run_python(page, &base, &mut findings);
        if page.path != TUTORIAL && page.blocks().iter().any(|block| block.language == "sh") {
            let folder = scratch.path(&format!("page-{number}"));
            copy(&base, &folder);
            run_shell(page, &folder, &mut findings);
            std::fs::remove_dir_all(&folder).expect("a folder to remove");
        }
    }
    findings.finish();
}

#[test]
fn blocks_that_are_not_run_are_few_and_have_a_reason() {
    let mut used = BTreeSet::new();
    for page in pages() {
        for block in page.blocks() {
            let language = &*block.language;
            let is_known = ["sh", "sql", "python"].contains(&language) || OTHER_LANGUAGES.contains(&language);
            assert!(is_known, "{}:{}: a block of {language:?}", page.path, block.lines.start);
            if language == "console" {
                let entry = NOT_RUN
                    .iter()
                    .position(|(path, words, _)| *path == page.path && block.text.contains(words));
                let entry = entry.unwrap_or_else(|| panic!("{}:{} is not run", page.path, block.lines.start));
                used.insert(entry);
            }
        }
    }
    assert_eq!(used.len(), NOT_RUN.len(), "an entry of NOT_RUN has no block");
}

#[test]
fn every_page_is_in_the_summary_and_every_link_leads_somewhere() {
    let pages = pages();
    let summary = pages.iter().find(|page| page.path == "docs/SUMMARY.md").expect("the summary");
    let listed: Vec<String> = summary.links();
    let mut expected: Vec<&str> = pages.iter().filter_map(|page| page.path.strip_prefix("docs/")).collect();
    expected.retain(|path| *path != "SUMMARY.md");
    let mut sorted: Vec<&str> = listed.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    expected.sort_unstable();
    assert_eq!(sorted, expected, "the pages of docs/SUMMARY.md and of the folder");
    let anchors: BTreeMap<&str, Vec<String>> =
        pages.iter().map(|page| (&*page.path, page.anchors())).collect();
    let mut broken = Vec::new();
    for page in &pages {
        for link in page.links() {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { Path::new(&page.path).to_owned() } else { page.resolve(path) };
            let target_name = target.to_string_lossy().into_owned();
            let has_anchor = anchor.is_empty()
                || anchors.get(&*target_name).is_some_and(|known| known.iter().any(|known| known == anchor));
            if !project().join(&target).exists() || !has_anchor {
                broken.push(format!("{}: {link}", page.path));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

/// The file of a module of tests: of `tests/it` if it has a short name, else of `src`.
fn file_of_tests(module: &str) -> PathBuf {
    let folder = if module.contains("::") { "src" } else { "tests/it" };
    project().join(folder).join(format!("{}.rs", module.replace("::", "/")))
}

#[test]
fn each_promise_of_the_security_page_names_tests_that_exist() {
    let text = std::fs::read_to_string(project().join(SECURITY)).expect("the page");
    let (_, promises) = text.split_once("\n## Promises\n").expect("the promises");
    let is_promise = |line: &&str| {
        line.starts_with("| ") && !line.starts_with("| promise |") && !line.starts_with("| --- ")
    };
    let rows: Vec<&str> = promises.lines().filter(is_promise).collect();
    assert!(rows.len() > 30, "only {} promises were found", rows.len());
    for row in rows {
        let tests: Vec<(&str, &str)> =
            row.split('`').skip(1).step_by(2).filter_map(|code| code.rsplit_once("::")).collect();
        assert!(!tests.is_empty(), "a promise without a test: {row}");
        for (module, name) in tests {
            let file = file_of_tests(module);
            let source =
                std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            // Between the end of `#[test]` and the body of the function.
            let mut heads = source.split("test]").skip(1).filter_map(|rest| rest.split('{').next());
            assert!(heads.any(|head| head.contains(&format!("fn {name}("))), "{module} has no test {name}");
        }
    }
}

#[test]
fn an_output_is_compared_with_its_gaps_left_open() {
    for (said, printed, is_equal) in [
        ("a\nb\n", "a  \nb", true),
        ("a\nb\n", "a\nc", false),
        ("a … c\n", "a b\nb c", true),
        ("…\nc\n", "a\nb\nc", true),
        ("a …\n", "b", false),
    ] {
        assert_eq!(is_as_said(said, printed), is_equal, "{said:?} {printed:?}");
    }
}
