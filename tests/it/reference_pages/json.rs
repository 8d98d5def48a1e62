//! The objects of `--json`: keys and meanings from the sources, an example from the program.

use super::page::{check, code, head, prose, table};
use super::source::{Field, fields_of};
use jiff::civil::date;
use serde_json::Value;
use sunlake::pipeline::Price;
use sunlake::pipeline::publish::summary::{Outcome, Requests, RunSummary, TableRows};

/// Commands besides `run` and `plan`, and the keys of their objects.
const OTHER: [(&str, &str); 22] = [
    (
        "status",
        "`snapshot`, `snapshots` (those kept), `rows`, `register`, `days_wanted`, `days_complete`, `newest_unread`, `coverage`, `budgets` (every account of this host), `runs`",
    ),
    (
        "verify",
        "`snapshot`, `files`, `rows`, `sound`, `problems`: items with `path`, `what` (is wrong), `means` (for readers, and the way out); `notes`: the same of files of runs that are lost for good or that nothing proves",
    ),
    (
        "verify --repair",
        "`actions`: items with `path`, `what` (was wrong), `done`; `snapshot` (the new one, if rows were lost), `left` (problems that remain, as of `verify`), `notes` (as of `verify`)",
    ),
    (
        "snapshot list",
        "`snapshots`: items with `snapshot`, `standing`, `pinned`, `current`, `parent`, `restores`, `committed_at`, `today`, `run_id`, `pipeline`, `filings`, `rows`, `bytes`",
    ),
    (
        "snapshot show",
        "the keys of one item of `snapshot list`, and `path`, `requests_sent`, `tables`, `checks`, `state`",
    ),
    (
        "snapshot diff",
        "`before`, `after`, `left_out` (columns that are not compared), `tables`: by name `rows_before`, `rows_after`, `added`, `changed`, `vanished`, `examples`",
    ),
    ("snapshot pin", "`snapshot`, `pinned`, `changed` (false when it was pinned already)"),
    ("snapshot unpin", "the same"),
    ("snapshot rollback", "`restored`, `snapshot` (the new number)"),
    ("snapshot accept", "`snapshot`, `accepted`"),
    ("snapshot prune", "`dry_run`, `snapshots`, `held`, `runs`"),
    ("replay", "`run_id`, `snapshots` (items with `pages`, `equal`, `different`), `published`"),
    ("report", "`snapshot`, `report`, `catalog`"),
    ("doctor", "`findings` (items with `subject`, `verdict`, `what`, `exit_code`), `requests`, `exit_code`"),
    ("export csv", "`snapshot`, `path`, `files`"),
    ("export duckdb", "`snapshot`, `path`, `rows`"),
    ("export delta", "`versions`, `pruned`, `newest`, `path`"),
    ("keys create", "`id`, `account`, `key`"),
    (
        "keys list",
        "`account`, `key`; of each key also its `state`, and `last_used_at`, null if it was never used or that is unknown",
    ),
    ("keys revoke", "`id`, `revoked`"),
    ("man", "`path`, `files`"),
    ("a command other than `run` that fails", "`error`, `exit_code`, and `hint` where there is one"),
];

/// The JSON type of a Rust type.
fn json_type(kind: &str) -> String {
    let inside = |outer: &str| kind.strip_prefix(outer).and_then(|rest| rest.strip_suffix('>'));
    if let Some(inner) = inside("Option<") {
        return format!("{} or null", json_type(inner));
    }
    if let Some(inner) = inside("Box<") {
        return json_type(inner);
    }
    if let Some(inner) = inside("Vec<") {
        return format!("array of {}", json_type(inner));
    }
    let simple = match kind {
        "f64" => "number",
        "bool" => "boolean",
        "String" | "Outcome" | "RegisterStatus" | "RegistryStatus" => "text",
        "Date" => "day",
        "Timestamp" => "timestamp",
        _ if kind.starts_with(['u', 'i']) => "integer",
        _ => "object",
    };
    simple.to_owned()
}

/// The rows of an object, then its inner objects.
fn write_object(path: &str, members: &[Field], seen: &mut Vec<String>, text: &mut String) {
    let row = |field: &Field| vec![code(&field.shown), json_type(&field.kind), prose(&field.meaning)];
    text.push_str(&table(&["key", "type", "meaning"], &members.iter().map(row).collect::<Vec<_>>()));
    for field in members {
        let name = field.innermost();
        if seen.iter().any(|known| known == name) {
            continue;
        }
        if let Some(inner) = field.members() {
            seen.push(name.to_owned());
            let path = format!("{path}.{}", field.shown);
            text.push_str(&format!("### `{path}`\n\n"));
            write_object(&path, &inner, seen, text);
        }
    }
}

fn summary() -> RunSummary {
    let requests = Requests {
        sent: 93,
        by_stage: [("counts", 1), ("fictitious", 28), ("filings", 59), ("reference", 5)]
            .map(|(stage, sent)| (stage.to_owned(), sent))
            .into(),
        ..Requests::default()
    };
    let filings = TableRows { read: 6_788, added: 1_128, changed: 0, vanished: 12, total: 133_540 };
    let (pipeline, today) = ("sample".to_owned(), date(2026, 11, 22));
    let mut summary = RunSummary { pipeline, today, ..RunSummary::default() };
    summary.run_id = "20261122T061404128Z-sample-k3f9q2".to_owned();
    summary.outcome = Outcome::Complete;
    summary.snapshot = Some(3);
    summary.requests = requests;
    summary.rows = [("filings".to_owned(), filings)].into();
    (summary.coverage.days, summary.coverage.complete) = (120, 120);
    (summary.elapsed_secs, summary.peak_rss_bytes) = (1.7, 236_978_176);
    summary
}

#[test]
fn json_page_has_every_key_of_run_and_plan() {
    let mut text = head(
        "JSON",
        "With `--json` a command prints one JSON object as the last line of stdout; `query` and `changes` print an array of their rows, \
         or nothing with `-o FILE`. Everything else goes to stderr. \
         A *day* is text, `YYYY-MM-DD`, in Eastern time. A *timestamp* is text in RFC 3339, UTC. Keys may be added; names stay.",
    );
    text.push_str(
        "## run\n\n`run` prints this object after a failure too: then `outcome` is `failed` and `stopped` says why. \
         `run_id` is empty when the run never started. There is no object after exit code 2, \
         after a signal that ends an import, and after a second signal that ends another run at once.\n\n",
    );
    let example = serde_json::to_string_pretty(&summary()).expect("JSON");
    text.push_str(&format!("```json\n{example}\n```\n\n"));
    write_object("run", &fields_of::<RunSummary>(), &mut vec!["RunSummary".to_owned()], &mut text);
    text.push_str("## plan\n\n");
    write_object("plan", &fields_of::<Price>(), &mut Vec::new(), &mut text);
    text.push_str("## Other commands\n\n");
    let row = |(command, keys): (&str, &str)| vec![command.to_owned(), keys.to_owned()];
    text.push_str(&table(&["command", "keys"], &OTHER.map(row)));
    check("json.md", &format!("{}\n", text.trim_end()));
}

#[test]
fn the_sources_have_the_keys_that_are_printed() {
    let printed = serde_json::to_value(summary()).expect("JSON");
    let printed: Vec<&String> = printed.as_object().map(|object| object.keys().collect()).unwrap_or_default();
    let members = fields_of::<RunSummary>();
    let written: Vec<&String> = members.iter().map(|field| &field.shown).collect();
    assert_eq!(printed, written);
    let Value::Object(requests) = serde_json::to_value(Requests::default()).expect("JSON") else {
        panic!("an object");
    };
    assert!(requests.keys().eq(fields_of::<Requests>().iter().map(|field| &field.shown)));
}
