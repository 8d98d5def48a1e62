//! An error as a person reads it: what failed and why on one line, and a hint with the way out on the next.

use crate::cli::exit::CommandError;
use crate::contract::escape::on_one_line;
use crate::pipeline::config::mistakes::Mistake;
use crate::pipeline::{PipelineError, SpecError};
use std::error::Error;
use std::fmt;

/// An error and its hint.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ErrorText {
    /// What failed, and every cause, joined by `: `.
    pub(crate) error: String,
    /// The way out, where there is one.
    pub(crate) hint: Option<String>,
    /// All of it for people, where that is more than the two lines: every mistake of a file with its place.
    shown: Option<String>,
}

impl ErrorText {
    pub(crate) fn of(error: &CommandError) -> Self {
        Self { error: with_causes(error), hint: error.hint(), shown: mistakes_of(error) }
    }

    /// With the flag of the lake in use in each command of the hint, so that none acts on another lake.
    pub(crate) fn in_lake(mut self, flag: &str) -> Self {
        self.hint = self.hint.map(|hint| {
            let in_lake = |(at, part): (usize, &str)| {
                let is_command = at % 2 == 1 && part.starts_with("sunlake ");
                let is_of_lake = !part.starts_with("sunlake keys") && !part.contains(" --lake");
                format!("{part}{}", if is_command && is_of_lake { flag } else { "" })
            };
            hint.split('`').enumerate().map(in_lake).collect::<Vec<_>>().join("`")
        });
        self
    }

    /// The object that a failed command prints with `--json`.
    pub(crate) fn json(&self, exit_code: u8) -> serde_json::Value {
        let mut value = serde_json::json!({ "error": self.error, "exit_code": exit_code });
        if let Some(hint) = &self.hint {
            value["hint"] = hint.as_str().into();
        }
        value
    }
}

impl fmt::Display for ErrorText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(shown) = &self.shown {
            return out.write_str(shown);
        }
        writeln!(out, "error: {}", self.error)?;
        self.hint.iter().try_for_each(|hint| writeln!(out, "hint: {}", on_one_line(hint)))
    }
}

/// Every mistake of a pipeline file: what is wrong, the line with the place, and the way out.
fn mistakes_of(error: &CommandError) -> Option<String> {
    let (path, mistakes) = match error {
        CommandError::Hinted(source, _) | CommandError::Run(source, _) => return mistakes_of(source),
        CommandError::Pipeline(PipelineError::Spec(SpecError::Wrong { path, mistakes })) => (path, mistakes),
        _ => return None,
    };
    let shown = mistakes.iter().map(|Mistake { line, problem, excerpt, hint }| {
        let hint = hint.iter().map(|hint| format!("hint: {}\n", on_one_line(hint))).collect::<String>();
        let path = on_one_line(&path.display().to_string());
        format!("error: {path}, line {line}: {}\n{excerpt}{hint}", on_one_line(problem))
    });
    Some(shown.collect())
}

/// An error and its causes on one line. Many errors name their cause themselves; it is not repeated.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = on_one_line(&error.to_string());
    let mut cause = error.source();
    while let Some(found) = cause {
        // Only the first line: polars and Arrow add lines about their inner state.
        let words = found.to_string();
        let words = words.lines().next().unwrap_or_default().trim();
        if !text.contains(words) {
            text = format!("{text}: {words}");
        }
        cause = found.source();
    }
    without_number(&text)
}

/// The text without the number of the system's error, such as ` (os error 2)`: its words are there.
fn without_number(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::TableError;
    use std::io;
    use std::path::PathBuf;

    #[test]
    fn an_error_has_two_lines_and_each_cause_once() {
        let source = io::Error::from_raw_os_error(13);
        let error = TableError::Io { action: "open", path: PathBuf::from("part-1.parquet"), source };
        let text = ErrorText::of(&PipelineError::from(error).into()).to_string();
        assert_eq!(
            text,
            "error: cannot open part-1.parquet: Permission denied\n\
             hint: make the file and its folder writable for this user\n"
        );
    }

    #[test]
    fn commands_of_a_hint_name_the_lake_in_use() {
        let hint = |flag: &str| {
            let error = CommandError::Usage(String::new())
                .with_hint("undo it: `sunlake snapshot rollback 1`, or use `x`");
            ErrorText::of(&error).in_lake(flag).hint.expect("a hint")
        };
        assert_eq!(hint(""), "undo it: `sunlake snapshot rollback 1`, or use `x`");
        assert_eq!(hint(" --lake other"), "undo it: `sunlake snapshot rollback 1 --lake other`, or use `x`");
    }

    #[test]
    fn the_words_of_a_library_are_cut_to_their_first_line() {
        let source = io::Error::other("wrong header\n  at byte 3\n");
        let error = CommandError::Io("cannot read x".to_owned(), source);
        let text = ErrorText::of(&error).to_string();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.starts_with("error: cannot read x: wrong header"), "{text}");
    }
}
