//! `init`: the built-in pipelines, aggregates and a recipe for a scheduler as files, to be changed.

use crate::cli::args::Schedule;
use crate::cli::context::folder::require_folder_or_nothing;
use crate::cli::exit::CommandError;
use crate::cli::output::words::count;
use crate::cli::session::Session;
use crate::export::write_new;
use crate::pipeline::config::built_in::{AGGREGATES, BuiltIn, PIPELINES, RECIPES, SCHEMAS};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const PIPELINES_FOLDER: &str = "pipelines";

pub(crate) fn init(session: &Session<'_>, folder: &Path, schedule: Schedule) -> Result<u8, CommandError> {
    require_folder_or_nothing(folder)?;
    // Without a `./` in what is printed.
    let folder = folder.strip_prefix(".").unwrap_or(folder);
    // `init pipelines` means the folder of the pipelines, not one in it.
    let is_root = folder.file_name().is_some_and(|name| name == PIPELINES_FOLDER);
    let folder = folder.parent().filter(|_| is_root).unwrap_or(folder);
    let recipe = recipe(schedule);
    let wanted = PIPELINES
        .iter()
        .chain(&AGGREGATES)
        .chain(&SCHEMAS)
        .chain(RECIPES.iter().filter(|(path, _)| recipe.contains(path)));
    let (mut written, mut kept) = (Vec::new(), Vec::new());
    for file in wanted {
        let path = folder.join(PIPELINES_FOLDER).join(file.0);
        if write(&path, file)? { written.push(path) } else { kept.push(path) }
    }
    let recipe: Vec<PathBuf> = recipe.iter().map(|path| Path::new(PIPELINES_FOLDER).join(path)).collect();
    let in_folder: Vec<PathBuf> = recipe.iter().map(|path| folder.join(path)).collect();
    session.report(&json!({ "written": written, "kept": kept, "recipe": in_folder }), |text| {
        let root = folder.join(PIPELINES_FOLDER);
        writeln!(text, "{}: {} written", root.display(), count(written.len() as u64, "file"))?;
        if !kept.is_empty() {
            writeln!(text, "left as they are: {}", count(kept.len() as u64, "file"))?;
        }
        next_steps(text, folder, &recipe)
    })
}

/// The files of a scheduler's recipe.
fn recipe(schedule: Schedule) -> &'static [&'static str] {
    match schedule {
        Schedule::Cron => &["deploy/crontab", "deploy/until-done", "deploy/logrotate"],
        Schedule::Systemd => &["deploy/sunlake.service", "deploy/sunlake.timer"],
        Schedule::Airflow => &["deploy/airflow_dag.py"],
        Schedule::Dagster => &["deploy/dagster_asset.py"],
        Schedule::Kubernetes => &["deploy/kubernetes.yaml"],
        Schedule::Github => &["deploy/github-actions.yml"],
    }
}

/// Writes a file, and returns false if there is one, which stays as it is. A script stays executable.
fn write(path: &Path, (_, text): &BuiltIn) -> Result<bool, CommandError> {
    let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
    Ok(write_new(path, text.as_bytes(), mode)?)
}

/// The commands to type. The recipe is named as seen from the folder, which they enter first.
fn next_steps(text: &mut String, folder: &Path, recipe: &[PathBuf]) -> std::fmt::Result {
    let is_here = folder.as_os_str().is_empty();
    writeln!(text, "\nnext")?;
    if !is_here {
        writeln!(text, "  cd {}", folder.display())?;
    }
    writeln!(text, "  export SUNLAKE_BASE_URL=https://…  SUNLAKE_API_KEY_FILE=/path/of/your/key")?;
    writeln!(text, "  sunlake plan backfill    what the first run costs")?;
    writeln!(text, "  sunlake run backfill     all days that the plan can see")?;
    writeln!(
        text,
        "  sunlake run daily        every morning; the recipe is in {}",
        recipe.first().map_or(String::new(), |path| path.display().to_string())
    )
}
