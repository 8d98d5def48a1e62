//! An error as a person reads it: what failed and why on one line, and a hint with the way out on the next.

use crate::aggregate::AggregateError;
use crate::cli::exit::CommandError;
use crate::cli::output::client_hint::{TRUST, of_client};
use crate::client::ClientError;
use crate::contract::escape::on_one_line;
use crate::export::ExportError;
use crate::import::files::source::SourceError;
use crate::lake::LakeError;
use crate::pipeline::config::mistakes::Mistake;
use crate::pipeline::{PipelineError, SpecError};
use crate::serve::{KeysError, LoadError, MeterError, ServeError};
use crate::table::TableError;
use std::error::Error;
use std::path::Path;
use std::{fmt, io};

/// Hint of an error about a damaged or missing file.
pub(crate) const REPAIR: &str = "repair the lake: `sunlake verify --repair`";
/// Hint of an error about a lake without a snapshot.
pub(crate) const MAKE_SNAPSHOT: &str = "make a snapshot: `sunlake run`";
const LIST_SNAPSHOTS: &str = "list the snapshots: `sunlake snapshot list`";
const STORE: &str =
    "check --usage, SUNLAKE_USAGE_USER, and SUNLAKE_USAGE_PASSWORD or SUNLAKE_USAGE_PASSWORD_FILE";
const NEWER_SUNLAKE: &str = "use the newer sunlake";

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
        Self { error: with_causes(error), hint: of_command(error), shown: mistakes_of(error) }
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

fn of_command(error: &CommandError) -> Option<String> {
    match error {
        CommandError::Hinted(_, hint) => Some(hint.clone()),
        CommandError::Run(source, _) => of_command(source),
        CommandError::Pipeline(error) => of_pipeline(error),
        CommandError::Lake(error) => of_lake(error),
        CommandError::Export(error) => of_export(error),
        CommandError::Io(_, source) => of_io(source),
        CommandError::Bug(_) => {
            Some("this is a bug in sunlake: report it with the command and its log".to_owned())
        }
        CommandError::Serve(error) => of_serve(error),
        CommandError::Declined => some("answer y, or skip the question with --yes"),
        CommandError::Usage(_) | CommandError::Settings(_) | CommandError::Damaged(_) => None,
    }
}

fn of_pipeline(error: &PipelineError) -> Option<String> {
    match error {
        PipelineError::Spec(SpecError::Unreadable { hint, .. }) => {
            Some(hint.trim_start_matches("; ").to_owned()).filter(|hint| !hint.is_empty())
        }
        PipelineError::Spec(SpecError::Wrong { mistakes, .. }) => {
            mistakes.first().and_then(|mistake| mistake.hint.clone())
        }
        PipelineError::Spec(SpecError::NoAggregates { .. }) => {
            some("make the folder, or set `[aggregates] enabled = false`")
        }
        PipelineError::Client(ClientError::Ledger { source, .. }) => of_io(source),
        PipelineError::Client(error) => of_client(error),
        PipelineError::Lake(error) => of_lake(error),
        PipelineError::Table(error) => of_table(error),
        PipelineError::Aggregate(AggregateError::Unreadable { source, .. }) => of_io(source),
        PipelineError::Aggregate(error) => error.way_out(),
        PipelineError::Export(error) => of_export(error),
        PipelineError::OtherSource { .. } => some("give another lake with --lake"),
        PipelineError::Import(error) => of_import(error),
        PipelineError::UnreadableRules { source, .. } | PipelineError::Spool(source) => of_io(source),
        PipelineError::EarlierDay { undo: Some(undo), .. } => Some(format!(
            "check the clock, or the day of --today; if the run of the later day was a mistake, undo it: \
             `sunlake snapshot rollback {undo}`"
        )),
        PipelineError::EarlierDay { undo: None, .. } => some(
            "check the clock, or the day of --today; no snapshot is as of an earlier day: give another lake with --lake",
        ),
        PipelineError::NoFilings { first, .. } => {
            Some(format!("read filings into this lake first: `sunlake run {first}`"))
        }
        PipelineError::LaterDay { .. } => some("check the clock, or the day of --today"),
        PipelineError::Write { source, .. } => of_io(source),
        _ => None,
    }
}

fn of_import(error: &SourceError) -> Option<String> {
    match error {
        SourceError::Unreadable { source, .. } if source.kind() == io::ErrorKind::NotFound => some(
            "put the state's files there, or name their folder in `[import] folder` of the pipeline file",
        ),
        SourceError::Unreadable { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
            some("make the files and their folder readable for this user")
        }
        SourceError::Unreadable { source, .. } => of_io(source),
        SourceError::Archive { .. } => some("copy the archive again from the state's server"),
        SourceError::Incomplete { .. } => {
            some("copy all of the set from the state's server, or move its files out of the folder")
        }
        SourceError::Unusable { .. } => some("copy the file again, or move it out of the folder"),
        SourceError::TwoClaims { .. } => {
            some("remove the wrong file, and keep each set in a folder of its own")
        }
        SourceError::Implausible { .. } => some(
            "copy the file again from the state's server; if it is right, set `max_short_percent = 100` in `[import]` of the pipeline file",
        ),
    }
}

fn of_lake(error: &LakeError) -> Option<String> {
    match error {
        LakeError::Storage { path, source, .. } => of_lake_file(path, source),
        LakeError::Unreliable { .. } => some(
            "use a store that creates an object only if it is absent (Amazon S3, Google Cloud Storage, Azure, Cloudflare R2, MinIO), \
             or a lake in a folder of this machine",
        ),
        error if error.is_untrusted() => some(TRUST),
        LakeError::Setting { .. } => some("correct the variable, or unset it"),
        LakeError::Address { .. } => some("give a path, or s3://, gs:// or az:// with bucket and name"),
        LakeError::Held { .. } => some("wait until the other run ends, or stop it"),
        LakeError::Conflict { .. } => some("run again: the next run continues from the newer snapshot"),
        LakeError::NotShown { .. } => some("run the pipeline again: the next run repairs this"),
        LakeError::InTheWay { path } => Some(format!(
            "move the folder out of the lake: mv {} {}-copy; then repair the lake: `sunlake verify --repair`",
            path.display(),
            path.parent().unwrap_or(path).display()
        )),
        LakeError::Newer { .. } => some(NEWER_SUNLAKE),
        LakeError::NoSnapshot { .. } | LakeError::Pruned { .. } | LakeError::NotHeld { .. } => {
            some(LIST_SNAPSHOTS)
        }
        LakeError::Overtaken { .. } => some("run the pipeline again: the next run reads the same changes"),
        LakeError::Damaged { .. } => some(REPAIR),
        _ => None,
    }
}

fn of_export(error: &ExportError) -> Option<String> {
    match error {
        ExportError::Lake(error) => of_lake(error),
        ExportError::Table(error) => of_table(error),
        ExportError::Write(_, source) => of_io(source),
        ExportError::NoSnapshot(_) => some(MAKE_SNAPSHOT),
        ExportError::NoTable { near: Some(near), .. } => Some(format!("did you mean {near}?")),
        ExportError::NoTable { known, .. } => Some(format!("it has {}", known.join(", "))),
        ExportError::Overtaken(..) => some("run the same command again"),
        ExportError::NoDuckdb(..) => some(
            "install DuckDB's command line program (https://duckdb.org, or `pip install duckdb-cli`), \
             or give its path with --duckdb",
        ),
        ExportError::Foreign(..) => some("export to another folder"),
        ExportError::NotMade { .. } => some("export to another path, or replace it with --force"),
        ExportError::NoBusinesses(table) => Some(format!(
            "for a part of it: sunlake query \"SELECT * FROM {table} WHERE ...\" -o {table}.csv"
        )),
        ExportError::WrongTarget { .. } | ExportError::Duckdb(..) => None,
    }
}

fn of_serve(error: &ServeError) -> Option<String> {
    match error {
        ServeError::NoSnapshot(_) | ServeError::Load(LoadError::NoFilings(_)) => some(MAKE_SNAPSHOT),
        ServeError::Unreadable(_, source) => of_io(source),
        ServeError::Lake(error) | ServeError::Load(LoadError::Unsound(error)) => of_lake(error),
        ServeError::Load(LoadError::Damaged { .. } | LoadError::Table { .. }) => some(REPAIR),
        ServeError::Load(LoadError::Unreadable(path, source)) => of_lake_file(path, source),
        ServeError::Tls(_) => some(
            "give files that this user can read: the certificate chain as --tls-cert, its private key as --tls-key, both in PEM",
        ),
        ServeError::Keys(error) => of_keys(error),
        ServeError::Meter(MeterError::Storage(..)) => {
            some("make room, or keep the counts in another file: --usage FILE")
        }
        ServeError::Meter(MeterError::Locked(_)) => {
            some("stop the other server, or give this one a file of its own with --usage FILE")
        }
        ServeError::Meter(MeterError::Store(..)) => some(STORE),
        ServeError::Meter(MeterError::Foreign(_)) => some("give the file of an earlier server, or a new one"),
        ServeError::Load(LoadError::Column(..) | LoadError::Rows(..)) => None,
        ServeError::Listener(_) | ServeError::Panicked => None,
    }
}

fn of_keys(error: &KeysError) -> Option<String> {
    match error {
        KeysError::NoFile(..) => some("create a key: `sunlake keys create --account NAME --plan PLAN`"),
        KeysError::Storage(_, source) if source.kind() == io::ErrorKind::PermissionDenied => {
            some("let this user read the file; only its owner and root can create and revoke keys")
        }
        KeysError::Storage(_, source) => of_io(source),
        KeysError::Malformed(..) => some("correct that line of the key file"),
        KeysError::UnknownAccount(..) => {
            some("give the key file an [[account]] of that name, or remove the key")
        }
        KeysError::Twice(..) => some("keep one of the two in the key file"),
        KeysError::NoLimit(..) => {
            some("give another limit in the key file, or `api_access = false` to refuse the account")
        }
        KeysError::Digest(_) => some("revoke the key, and create another: `sunlake keys revoke ID`"),
        KeysError::TooMany(..) => some(
            "revoke keys that nobody uses (`sunlake keys list`, `sunlake keys revoke ID`), \
             or give the account a larger plan in the key file",
        ),
        KeysError::Expired(..) => some("give a later day, or days from today: --expires 90d"),
        KeysError::OtherPlan(..) => some("give the plan of the key file, or change the key file"),
        KeysError::Scope(_) => some("leave --scopes out, or give `--scopes data`"),
        KeysError::NoName => some("give the account a name: `--account NAME`"),
        KeysError::NoKey(_) => some("list the keys: `sunlake keys list`"),
        KeysError::Unwritable(_) => None,
    }
}

fn of_table(error: &TableError) -> Option<String> {
    match error {
        TableError::Io { path, source, .. } => of_lake_file(path, source),
        TableError::NewerSchema { .. } => some(NEWER_SUNLAKE),
        TableError::UnsupportedType { .. } => {
            some("cast the column to an integer, text, date or UTC timestamp")
        }
        _ => None,
    }
}

/// The hint of a file of the lake: a file of a table that is missing can be repaired.
fn of_lake_file(path: &Path, source: &io::Error) -> Option<String> {
    let is_table = path.extension().is_some_and(|found| found == "parquet");
    if is_table && source.kind() == io::ErrorKind::NotFound { some(REPAIR) } else { of_io(source) }
}

fn of_io(source: &io::Error) -> Option<String> {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            some("free disk space, then run the same command again")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            some("make the file and its folder writable for this user")
        }
        _ => None,
    }
}

fn some(hint: &str) -> Option<String> {
    Some(hint.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn lost(name: &str) -> LakeError {
        let source = io::Error::from(io::ErrorKind::NotFound);
        LakeError::Storage { op: "open", path: PathBuf::from(name), source }
    }

    #[test]
    fn damage_and_a_missing_table_file_have_the_repair_as_hint() {
        let damaged = LakeError::Damaged { path: PathBuf::from("x"), what: "no".to_owned() };
        for error in [
            CommandError::from(PipelineError::from(damaged)),
            CommandError::from(lost("part-1.parquet")),
            CommandError::from(ExportError::from(lost("part-2.parquet"))),
        ] {
            let text = ErrorText::of(&error);
            assert_eq!(text.hint.as_deref(), Some(REPAIR), "{text}");
            assert_eq!(error.code(), crate::cli::exit::STORAGE, "{text}");
        }
        assert_eq!(ErrorText::of(&lost("record.json").into()).hint, None);
    }

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
    fn a_wrong_aggregate_has_the_key_or_the_cast_that_rights_it_as_hint() {
        let (path, folder) = (PathBuf::from("p.toml"), PathBuf::from("aggregates"));
        let (aggregate, column, dtype) = ("mine".to_owned(), "gap".to_owned(), "duration".to_owned());
        for (error, says) in [
            (SpecError::NoAggregates { path, folder }.into(), "[aggregates] enabled = false"),
            (AggregateError::ColumnType { aggregate, column, dtype }.into(), "cast the column to BIGINT"),
        ] {
            let hint = ErrorText::of(&CommandError::Pipeline(error)).hint.expect("a hint");
            assert!(hint.contains(says), "{hint}");
        }
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
