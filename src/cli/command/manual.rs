//! `completions`, `man` and `schema`: the program's help in other forms.

use crate::cli::args::{SchemaOf, command_line};
use crate::cli::context::folder::require_folder_or_nothing;
use crate::cli::exit::{self, CommandError};
use crate::cli::output::words::{count, print};
use crate::cli::session::Session;
use crate::pipeline::config::spec::PipelineSpec;
use crate::pipeline::publish::summary::RunSummary;
use clap::Command;
use clap_complete::Shell;
use schemars::generate::SchemaSettings;
use serde_json::json;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

const PROGRAM: &str = "sunlake";

/// First line of a page that this program wrote: a comment to `man`.
const MARK: &str = ".\\\" Written by sunlake man; it may be replaced.\n";

/// Prints the script by which a shell completes commands and flags.
pub(crate) fn completions(shell: Shell) -> Result<u8, CommandError> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command_line(), PROGRAM, &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(exit::DONE)
}

/// Prints a JSON Schema, made from the types. Draft 7 is what editors of TOML know.
pub(crate) fn schema(of: SchemaOf) -> Result<u8, CommandError> {
    let draft = SchemaSettings::draft07();
    let schema = match of {
        SchemaOf::Pipeline => draft.for_deserialize().into_generator().into_root_schema_for::<PipelineSpec>(),
        SchemaOf::Summary => draft.for_serialize().into_generator().into_root_schema_for::<RunSummary>(),
    };
    let text = serde_json::to_string_pretty(&schema).map_err(|error| CommandError::Bug(error.to_string()))?;
    print(&format!("{text}\n"))?;
    Ok(exit::DONE)
}

/// Writes a manual page for each command.
pub(crate) fn man(session: &Session<'_>, folder: &Path) -> Result<u8, CommandError> {
    require_folder_or_nothing(folder)?;
    let mut root = command_line().disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    add_pages(root, folder, &mut pages).map_err(|error| CommandError::Bug(error.to_string()))?;
    for (path, _) in &pages {
        check_replaceable(path)?;
    }
    let failed = |path: &Path, source| CommandError::Io(format!("cannot write {}", path.display()), source);
    std::fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
    for (path, text) in &pages {
        std::fs::write(path, text).map_err(|source| failed(path, source))?;
    }
    let files: Vec<&PathBuf> = pages.iter().map(|(path, _)| path).collect();
    let result = json!({ "path": folder, "files": files });
    let pages = count(pages.len() as u64, "manual page");
    session.report(&result, |text| writeln!(text, "{}: {pages}", folder.display()))
}

/// The pages of a command and of those below it, with their paths.
fn add_pages(command: Command, folder: &Path, pages: &mut Vec<(PathBuf, Vec<u8>)>) -> io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        add_pages(below.clone(), folder, pages)?;
    }
    let page = clap_mangen::Man::new(command);
    let mut text = MARK.as_bytes().to_vec();
    page.render(&mut text)?;
    pages.push((folder.join(page.get_filename()), text));
    Ok(())
}

/// Fails if there is a file that this command did not write.
fn check_replaceable(path: &Path) -> Result<(), CommandError> {
    match std::fs::read(path) {
        Ok(text) if text.starts_with(MARK.as_bytes()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(_) => {
            let refused = format!("{} is there, and `sunlake man` did not write it", path.display());
            Err(CommandError::Settings(refused).with_hint("give another folder, or move that file"))
        }
        Err(source) => Err(CommandError::Io(format!("cannot read {}", path.display()), source)),
    }
}
