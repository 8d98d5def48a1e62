//! The pipeline file of a command, and whether it reads the embedded sample. No command spends an account that it does not name.

use crate::cli::exit::CommandError;
use crate::cli::session::Session;
use crate::pipeline::config::file::Pipeline;
use std::path::{Path, PathBuf};

/// The pipeline that runs where neither a pipeline nor an account is named.
const SAMPLE: &str = "pipelines/sample.toml";

/// Where the names to choose from are.
const FOLDER: &str = "pipelines";

/// The pipeline file of a command line. The sample where none is named, unless an address or a key is set.
pub(crate) fn pipeline_file(session: &Session<'_>, named: Option<&Path>) -> Result<PathBuf, CommandError> {
    match (named, account_variable(session)) {
        (Some(file), _) => Ok(file.to_owned()),
        (None, None) => Ok(PathBuf::from(SAMPLE)),
        (None, Some(set)) => {
            let error = CommandError::Usage(format!("no pipeline is named, and {set} is set"));
            let names = pipeline_names();
            Err(error.hint(match names.is_empty() {
                true => "name a pipeline file".to_owned(),
                false => format!("name one: {}", names.join(", ")),
            }))
        }
    }
}

/// What names an account: an address or a key.
fn account_variable(session: &Session<'_>) -> Option<&'static str> {
    let is_set = |name: &&str| (session.world.variable)(name).is_some();
    match &session.common.base_url {
        Some(given) if given.is_typed => Some("--base-url"),
        Some(_) => Some("SUNLAKE_BASE_URL"),
        None => ["SUNLAKE_API_KEY", "SUNLAKE_API_KEY_FILE"].into_iter().find(is_set),
    }
}

/// The pipelines to choose from, in order.
pub(crate) fn pipeline_names() -> Vec<String> {
    let entries = std::fs::read_dir(FOLDER).into_iter().flatten();
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|found| found == "toml"))
        .map(|path| path.display().to_string())
        .collect();
    names.sort();
    names
}

/// Whether a pipeline reads the embedded sample. An address on the command line replaces the sample; one in a variable may be meant
/// for another pipeline, so it is an error.
pub(crate) fn reads_sample(session: &Session<'_>, pipeline: &Pipeline) -> Result<bool, CommandError> {
    match &session.common.base_url {
        _ if !pipeline.spec.source.embedded => Ok(false),
        None => Ok(true),
        Some(given) if given.is_typed => Ok(false),
        Some(_) => {
            let file = pipeline.path.display();
            let error =
                format!("{file} reads the embedded sample, but SUNLAKE_BASE_URL has the address of an API");
            Err(CommandError::Settings(error).hint(
                "name another pipeline; for the sample, unset SUNLAKE_BASE_URL; for the API, give --base-url",
            ))
        }
    }
}
