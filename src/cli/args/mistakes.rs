//! What is said about a command line with a word from another place. The value of a wrong flag is never repeated.

use super::help::{START, command_line};
use crate::contract::escape::{escaped, on_one_line};
use crate::pipeline::config::built_in;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// A flag that people try: its names, the commands it is tried with (all, if none), what is wrong with it, and the way out.
type Tried = (&'static [&'static str], &'static [&'static str], &'static str, &'static str);

const TRIED: [Tried; 11] = [
    (
        &["--api-key", "--apikey", "--key", "--token"],
        &[],
        "the key of the API is never on the command line, where other users and logs see it",
        "set SUNLAKE_API_KEY, or set SUNLAKE_API_KEY_FILE to a file with the key",
    ),
    (
        &["--days", "--from", "--to", "--after", "--until", "--start", "--end", "--date"],
        &["changes"],
        "changes are those since a day or a snapshot",
        "sunlake changes --since 2026-11-01",
    ),
    (
        &["--days", "--window", "--from", "--to", "--since", "--until", "--start", "--end", "--date"],
        &["run", "plan", "demo"],
        "the days to read are no flag; they belong to the pipeline file",
        "set them there: `[extract]` with `days = 30`",
    ),
    (
        &["--dry-run", "--dryrun"],
        &[],
        "there is no such flag here",
        "see what a run would request and cost: `sunlake plan PIPELINE`",
    ),
    (
        &["--type", "--types"],
        &["run", "plan"],
        "the types to read are no flag; they belong to the pipeline file",
        "set them there: `[extract]` with `types = [\"llc\"]`",
    ),
    (
        &["--county", "--city", "--zip", "--counties"],
        &["run", "plan"],
        "a run reads all of Florida",
        "ask the lake for a part of it: `sunlake query \"SELECT … WHERE county = 'Duval'\"`",
    ),
    (
        &["--seed", "--scale"],
        &["run", "plan", "demo"],
        "the sample's seed and size are no flags; they belong to the pipeline file",
        "set them there: `[source.sample]` with `seed = 7`",
    ),
    (
        &["--config", "--pipeline", "--file"],
        &["run", "plan"],
        "a pipeline is named without a flag",
        "sunlake run daily, or the path of a file",
    ),
    (
        &["--output", "--out", "--output-dir", "--db", "--database", "--path"],
        &["run", "plan", "demo", "status", "verify", "serve"],
        "the lake is named with --lake",
        "give --lake PATH",
    ),
    (
        &["--port", "--host", "--bind", "--address"],
        &["serve"],
        "host and port are one flag",
        "give --listen 127.0.0.1:8080, or a port alone: --listen 8080",
    ),
    (
        &["--limit", "--where", "--county", "--type", "--table", "--order-by"],
        &["query"],
        "a query says this in SQL",
        "sunlake query \"SELECT name FROM filings WHERE county = 'Duval' LIMIT 10\"",
    ),
];

/// The text about a wrong command line; none where clap shows a page of help.
pub fn explain(error: &Error) -> Option<String> {
    let command = command_of(error);
    let text = of_a_word(error, &command).or_else(|| in_two_lines(error, &command))?;
    Some(escaped(&text, &['\n', '\t']).into_owned())
}

/// The text about a flag or a word from another place.
fn of_a_word(error: &Error, command: &str) -> Option<String> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.split('=').next().unwrap_or_default()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand
            if command.is_empty() =>
        {
            Some(START.to_owned())
        }
        ErrorKind::UnknownArgument => {
            let word = word(ContextKind::InvalidArg)?;
            let is_flag = word.starts_with('-');
            let is_near = error.get(ContextKind::SuggestedArg).is_some();
            if is_flag { of_flag(word, command, is_near) } else { of_word(word, command) }
        }
        ErrorKind::InvalidSubcommand => of_command(word(ContextKind::InvalidSubcommand)?, command),
        _ => None,
    }
}

/// The command that the error is about, such as `export csv`; empty for the program.
fn command_of(error: &Error) -> String {
    let text = error.to_string();
    let usage = text.split_once("Usage: sunlake ").map_or("", |(_, usage)| usage);
    let words = usage.split_whitespace().take_while(|word| !word.starts_with(['[', '<', '-']));
    words.collect::<Vec<_>>().join(" ")
}

fn of_flag(flag: &str, command: &str, is_near: bool) -> Option<String> {
    let tried = TRIED.iter().find(|(flags, commands, ..)| {
        flags.contains(&flag) && (commands.is_empty() || commands.contains(&command))
    });
    match tried {
        Some((.., wrong, way_out)) => Some(said(&format!("{flag}: {wrong}"), way_out)),
        // clap names the near one.
        None if is_near => None,
        None => {
            let program = format!("sunlake {command}");
            let program = program.trim_end();
            Some(said(
                &format!("{flag}: {program} has no such flag"),
                &format!("its flags: `{program} --help`"),
            ))
        }
    }
}

/// A word too many.
fn of_word(word: &str, command: &str) -> Option<String> {
    match command {
        "run" | "plan" => Some(said(
            &format!("{word}: a {command} is of one pipeline"),
            "name one; for more, start the program again",
        )),
        "query" => Some(said(
            &format!("{word}: a query is one word for the shell"),
            "put it in double quotes: sunlake query \"SELECT county FROM filings\"",
        )),
        _ => None,
    }
}

/// A command that there is not.
fn of_command(word: &str, command: &str) -> Option<String> {
    match command {
        "" if built_in::pipeline(word).is_some() => Some(said(
            &format!("{word} is a pipeline, not a command"),
            &format!("run it: `sunlake run {word}`"),
        )),
        "" if word == "version" => Some(said("version is a flag", "sunlake --version")),
        "" => of_subcommand(word),
        "export" if word == "parquet" => Some(said(
            "the files of a lake are Parquet already",
            "read them where they are, such as output/current/filings/**/*.parquet",
        )),
        "export" => Some(said(
            &format!("{word}: there is no such export"),
            "name one first, then its path: `sunlake export csv|duckdb|delta|ducklake PATH`",
        )),
        _ => None,
    }
}

/// A command of a command, typed alone, such as `rollback`.
fn of_subcommand(word: &str) -> Option<String> {
    let line = command_line();
    let above = line.get_subcommands().filter(|command| command.find_subcommand(word).is_some());
    let full: Vec<String> = above.map(|command| format!("`sunlake {} {word}`", command.get_name())).collect();
    (!full.is_empty()).then(|| said(&format!("{word} is a part of another command"), &full.join(" or ")))
}

/// clap's text in the form of other errors: what is wrong on one line, and the way out on the next.
fn in_two_lines(error: &Error, command: &str) -> Option<String> {
    let text = error.to_string();
    let mut parts = text.strip_prefix("error: ")?.split("\n\n").map(str::trim);
    let what = parts.next()?;
    let rest: Vec<&str> = parts.collect();
    let begins = |begin: &str| rest.iter().find_map(|part| part.strip_prefix(begin));
    let near = begins("tip: ").and_then(|tip| tip.split_once(" exist")?.1.split_once(": "));
    let (wrong, way_out) = match what.split_once('\n') {
        // The values to choose from.
        Some((wrong, values)) if values.contains("[possible values: ") => {
            let values = values.trim().trim_start_matches("[possible values: ").trim_end_matches(']');
            (wrong.to_owned(), Some(format!("give one of {values}")))
        }
        // The arguments that are missing.
        Some((wrong, missing)) => {
            let missing: Vec<&str> = missing.lines().map(str::trim).collect();
            let usage = begins("Usage: ").map(|usage| format!("type: {usage}"));
            (format!("{wrong} {}", missing.join(" ")), usage)
        }
        None => match what.split_once("': ") {
            Some((wrong, right)) => (format!("{wrong}'"), Some(right.to_owned())),
            None => (what.to_owned(), None),
        },
    };
    let way_out = near.map(|(_, near)| format!("did you mean {near}?")).or(way_out);
    let program = format!("sunlake {command}");
    Some(said(&wrong, &way_out.unwrap_or_else(|| format!("see `{} --help`", program.trim_end()))))
}

fn said(error: &str, way_out: &str) -> String {
    format!("error: {}\nhint: {}\n", on_one_line(error), on_one_line(way_out))
}
