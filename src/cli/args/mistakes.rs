//! What is said about a command line with a word from another place. The value of a wrong flag is never repeated.

use super::help::{START, command_line};
use crate::contract::escape::{escaped, on_one_line};
use crate::pipeline::config::built_in;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use std::error::Error as _;
use std::ffi::{OsStr, OsString};

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
    // Such as `Usage: sunlake export csv [OPTIONS] <PATH>`; clap names none with a wrong value.
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let usage = usage.trim_start_matches("Usage: ");
    let words = usage.split_whitespace().skip(1).take_while(|word| !word.starts_with(['[', '<', '-']));
    let command = words.collect::<Vec<_>>().join(" ");
    if error.kind() == ErrorKind::MissingSubcommand && command.is_empty() {
        return Some(START.to_owned());
    }
    let (wrong, hint) = of_a_word(error, &command).or_else(|| of_kind(error, usage, &command))?;
    let text = format!("error: {}\nhint: {}\n", on_one_line(&wrong), on_one_line(&hint));
    Some(escaped(&text, &['\n', '\t']).into_owned())
}

/// An argument, or the name of a variable of this program, that is no text. The value of a variable may be a key, so it is not shown.
pub fn not_text(
    mut arguments: impl Iterator<Item = OsString>,
    mut variables: impl Iterator<Item = (OsString, OsString)>,
) -> Option<String> {
    let is_text = |given: &OsStr| given.to_str().is_some();
    let is_ours = |name: &OsStr| name.to_string_lossy().starts_with("SUNLAKE_");
    let argument = arguments.find(|argument| !is_text(argument)).map(|argument| format!("{argument:?}"));
    argument.or_else(|| {
        let (name, _) = variables.find(|(name, value)| is_ours(name) && !is_text(value))?;
        Some(name.to_string_lossy().into_owned())
    })
}

/// What clap knows about an error under one name; empty where it knows nothing.
fn context(error: &Error, kind: ContextKind) -> &[String] {
    match error.get(kind) {
        Some(ContextValue::String(text)) => std::slice::from_ref(text),
        Some(ContextValue::Strings(texts)) => texts,
        _ => &[],
    }
}

/// What is wrong, and the way out.
type Explained = (String, String);

/// Of a flag or a word from another place.
fn of_a_word(error: &Error, command: &str) -> Option<Explained> {
    let word = |kind| context(error, kind).first().and_then(|word| word.split('=').next());
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let word = word(ContextKind::InvalidArg)?;
            let is_flag = word.starts_with('-');
            let is_near = error.get(ContextKind::SuggestedArg).is_some();
            match command {
                _ if is_flag => of_flag(word, command, is_near),
                "run" | "plan" | "query" => of_word(word, command),
                // After `--`, a command's own name is one, too.
                _ => None,
            }
        }
        ErrorKind::InvalidSubcommand => of_word(word(ContextKind::InvalidSubcommand)?, command),
        _ => None,
    }
}

fn of_flag(flag: &str, command: &str, is_near: bool) -> Option<Explained> {
    let tried = TRIED.iter().find(|(flags, commands, ..)| {
        flags.contains(&flag) && (commands.is_empty() || commands.contains(&command))
    });
    match tried {
        Some((.., wrong, hint)) => Some((format!("{flag}: {wrong}"), (*hint).to_owned())),
        // clap names the near one.
        None if is_near => None,
        None => {
            let program = format!("sunlake {command}");
            let program = program.trim_end();
            Some((format!("{flag}: {program} has no such flag"), format!("its flags: `{program} --help`")))
        }
    }
}

/// A word too many, or a command that there is not.
fn of_word(word: &str, command: &str) -> Option<Explained> {
    let (wrong, hint) = match command {
        "run" | "plan" => {
            (format!("{word}: a {command} is of one pipeline"), "name one; for more, start the program again")
        }
        "query" => (
            format!("{word}: a query is one word for the shell"),
            "put it in double quotes: sunlake query \"SELECT county FROM filings\"",
        ),
        "" if built_in::pipeline(word).is_some() => {
            let hint = format!("run it: `sunlake run {word}`");
            return Some((format!("{word} is a pipeline, not a command"), hint));
        }
        "" if word == "version" => ("version is a flag".to_owned(), "sunlake --version"),
        "" => return of_subcommand(word),
        "export" if word == "parquet" => (
            "the files of a lake are Parquet already".to_owned(),
            "read them where they are, such as output/current/filings/**/*.parquet",
        ),
        "export" => (
            format!("{word}: there is no such export"),
            "name one first, then its path: `sunlake export csv|duckdb|delta|ducklake PATH`",
        ),
        _ => return None,
    };
    Some((wrong, hint.to_owned()))
}

/// A command of a command, typed alone, such as `rollback`.
fn of_subcommand(word: &str) -> Option<Explained> {
    let line = command_line();
    let above = line.get_subcommands().filter(|command| command.find_subcommand(word).is_some());
    let full: Vec<String> = above.map(|command| format!("`sunlake {} {word}`", command.get_name())).collect();
    (!full.is_empty()).then(|| (format!("{word} is a part of another command"), full.join(" or ")))
}

/// clap's error in the form of other errors: what is wrong on one line, and the way out on the next.
fn of_kind(error: &Error, usage: &str, command: &str) -> Option<Explained> {
    let all = |kind, between| context(error, kind).join(between);
    let (arg, value) = (all(ContextKind::InvalidArg, " "), all(ContextKind::InvalidValue, " "));
    let near = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue]
        .map(|kind| all(kind, "', '"));
    let mut hint = format!("see `{} --help`", format!("sunlake {command}").trim_end());
    let wrong = match error.kind() {
        ErrorKind::InvalidValue => {
            let values = all(ContextKind::ValidValue, ", ");
            if !values.is_empty() {
                hint = format!("give one of {values}");
            }
            match value.as_str() {
                "" => format!("a value is required for '{arg}' but none was supplied"),
                value => format!("invalid value '{value}' for '{arg}'"),
            }
        }
        ErrorKind::ValueValidation => {
            hint = error.source().map_or(hint, ToString::to_string);
            format!("invalid value '{value}' for '{arg}'")
        }
        ErrorKind::TooManyValues => {
            format!("unexpected value '{value}' for '{arg}' found; no more were expected")
        }
        ErrorKind::UnknownArgument => format!("unexpected argument '{arg}' found"),
        ErrorKind::InvalidSubcommand => {
            format!("unrecognized subcommand '{}'", all(ContextKind::InvalidSubcommand, " "))
        }
        ErrorKind::ArgumentConflict => match all(ContextKind::PriorArg, "', '") {
            prior if prior == arg => format!("the argument '{arg}' cannot be used multiple times"),
            prior => format!("the argument '{arg}' cannot be used with '{prior}'"),
        },
        ErrorKind::MissingRequiredArgument => {
            hint = format!("type: {usage}");
            format!("the following required arguments were not provided: {arg}")
        }
        ErrorKind::MissingSubcommand => {
            hint = format!("type: {usage}");
            let commands = all(ContextKind::ValidSubcommand, ", ");
            format!(
                "'sunlake {command}' requires a subcommand but one was not provided [subcommands: {commands}]"
            )
        }
        kind => kind.as_str()?.to_owned(),
    };
    if let Some(near) = near.iter().find(|near| !near.is_empty()) {
        hint = format!("did you mean '{near}'?");
    }
    Some((wrong, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_with_line_ends_and_colons_is_on_one_line() {
        let line = ["sunlake", "status", "--today", "a': b\n\nc"];
        let error = command_line().try_get_matches_from(line).expect_err("no day");
        let text = "error: invalid value 'a': b c' for '--today <YYYY-MM-DD>'\n\
                    hint: a day is YYYY-MM-DD, such as 2026-11-20\n";
        assert_eq!(explain(&error).as_deref(), Some(text));
    }
}
