//! The pipeline of a command line, and whether it reads the embedded sample. No command spends an account that it does not name.

use crate::cli::exit::CommandError;
use crate::cli::session::Session;
use crate::contract::hint::{NEAR, nearest};
use crate::pipeline::PipelineError;
use crate::pipeline::config::built_in;
use crate::pipeline::config::file::{Pipeline, read_regular};
use std::path::{Path, PathBuf};

/// The pipeline that runs where neither a pipeline nor an account is named.
pub(crate) const SAMPLE: &str = "sample";

/// Where names are looked up before the built-in pipelines.
const FOLDER: &str = "pipelines";

/// The pipeline of a command line: a path or a name. The sample where none is given, unless an address or a key is set.
pub(crate) fn read_pipeline(session: &Session<'_>, given: Option<&Path>) -> Result<Pipeline, CommandError> {
    match (given, account_variable(session)) {
        (Some(given), _) => named(given),
        (None, None) => named(Path::new(SAMPLE)),
        (None, Some(set)) => {
            let error = CommandError::Usage(format!("no pipeline is named, and {set} is set"));
            Err(error.with_hint(format!("name one: {}", pipeline_names().join(", "))))
        }
    }
}

/// Looks a pipeline up: the path as given, then `NAME.toml`, `pipelines/NAME.toml`, and the built-in pipelines.
fn named(given: &Path) -> Result<Pipeline, CommandError> {
    check_kind(given)?;
    let name = given.to_str().filter(|text| is_name(text));
    let Some(name) = name.filter(|_| !given.is_file()) else {
        return Ok(Pipeline::read(given).map_err(PipelineError::from)?);
    };
    let file = format!("{name}.toml");
    let files = [PathBuf::from(&file), Path::new(FOLDER).join(&file)];
    if let Some(file) = files.iter().find(|file| file.is_file()) {
        return Ok(Pipeline::read(file).map_err(PipelineError::from)?);
    }
    match Pipeline::built_in(name) {
        Some(pipeline) => Ok(pipeline.map_err(PipelineError::from)?),
        None => {
            let error = format!(
                "there is no pipeline {name}: neither {file}, nor {FOLDER}/{file}, nor a built-in one"
            );
            let names = pipeline_names();
            Err(CommandError::Settings(error).with_hint(
                match nearest(name, names.iter().map(String::as_str), NEAR) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("name one of {}, or give the path of a file", names.join(", ")),
                },
            ))
        }
    }
}

/// Whether a word is a name and not a path.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Refuses what cannot be a pipeline file.
fn check_kind(given: &Path) -> Result<(), CommandError> {
    let (shown, ending) = (given.display(), given.extension());
    let names = || pipeline_names().join(", ");
    let (what, hint) = if given.is_dir() {
        ("is a folder, not a pipeline file", format!("name a file in it, or one of {}", names()))
    } else if ending.is_some_and(|ending| ending == "sql") {
        let hint = "a run computes every aggregate of its folder; for one answer: `sunlake query -f FILE`";
        ("is an aggregate, not a pipeline file", hint.to_owned())
    } else if shown.to_string().contains("://") {
        let hint = format!("give it with --base-url: `sunlake plan daily --base-url {shown}`");
        ("is the address of an API, not a pipeline", hint)
    } else if given.is_file() && ending.is_none_or(|ending| ending != "toml") {
        // The text of another file may be a key, which no error may show.
        let hint = format!("name a file, or one of {}", names());
        ("is not a pipeline file: its name does not end in .toml", hint)
    } else {
        return Ok(());
    };
    Err(CommandError::Settings(format!("{shown} {what}")).with_hint(hint))
}

/// The names to choose from: of the files here, and of the built-in pipelines. Rules of industries are also TOML files, and no
/// pipelines.
fn pipeline_names() -> Vec<String> {
    let has_rules =
        |path: &Path| read_regular(path).is_ok_and(|text| text.lines().any(|line| line.trim() == "[[rule]]"));
    let files = std::fs::read_dir(FOLDER).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let pipelines = files
        .filter(|path| path.extension().is_some_and(|found| found == "toml") && !has_rules(path))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let mut names: Vec<String> = pipelines.chain(built_in::pipeline_names().map(str::to_owned)).collect();
    names.sort();
    names.dedup();
    names
}

/// What names an account: an address or a key.
fn account_variable(session: &Session<'_>) -> Option<&'static str> {
    let is_set = |name: &&str| (session.world.variable)(name).is_some();
    match &session.common.base_url {
        Some(_) if session.common.is_url_typed => Some("--base-url"),
        Some(_) => Some("SUNLAKE_BASE_URL"),
        None => ["SUNLAKE_API_KEY", "SUNLAKE_API_KEY_FILE"].into_iter().find(is_set),
    }
}

/// Whether a pipeline reads the embedded sample. An address on the command line replaces the sample; one in a variable may be meant
/// for another pipeline, so it is an error.
pub(crate) fn reads_sample(session: &Session<'_>, pipeline: &Pipeline) -> Result<bool, CommandError> {
    match &session.common.base_url {
        _ if !pipeline.spec.source.embedded => Ok(false),
        None => Ok(true),
        Some(_) if session.common.is_url_typed => Ok(false),
        Some(_) => {
            let file = pipeline.path.display();
            let error =
                format!("{file} reads the embedded sample, but SUNLAKE_BASE_URL has the address of an API");
            Err(CommandError::Settings(error).with_hint(
                "name another pipeline; for the sample, unset SUNLAKE_BASE_URL; for the API, give --base-url",
            ))
        }
    }
}
