//! `keys`: accounts and keys of `serve`.

use crate::cli::args::{Common, KeysCommand};
use crate::cli::exit;
use crate::cli::exit::CommandError;
use crate::cli::output::text;
use crate::cli::{World, print, print_line};
use crate::serve::{KeyFile, KeyRequest, KeysError};
use secrecy::ExposeSecret;
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

pub(crate) fn keys(
    common: &Common,
    world: &World,
    file: &Path,
    command: &KeysCommand,
) -> Result<u8, CommandError> {
    require_folder(file)?;
    let refused = |error: KeysError| CommandError::Serve(error.into());
    match command {
        KeysCommand::Create { account, plan, scopes } => {
            let random = (world.random)()
                .map_err(|source| CommandError::Io { what: "no random bits for a key".to_owned(), source })?;
            let request = KeyRequest { account, plan: *plan, scopes };
            let now = (world.now)();
            let made = KeyFile::change(file, |keys| keys.create(request, random, now)).map_err(refused)?;
            tracing::info!(id = made.id, "a key was made; it is shown this once");
            let key = made.key.expose_secret();
            match common.json {
                true => print_line(&json!({ "id": made.id, "account": account, "key": key }).to_string())?,
                false => print_line(key)?,
            }
        }
        KeysCommand::List => {
            let keys = KeyFile::read(file).map_err(refused)?;
            match common.json {
                true => print_line(&text::json(&keys)?)?,
                false => print(&list(&keys))?,
            }
        }
        KeysCommand::Revoke { id } => {
            // A file that is not there has no key to end, and is not made by this.
            KeyFile::read(file).map_err(refused)?;
            KeyFile::change(file, |keys| keys.revoke(id, (world.now)())).map_err(refused)?;
            if common.json {
                print_line(&json!({ "id": id, "revoked": true }).to_string())?;
            }
        }
    }
    Ok(exit::DONE)
}

/// Refuses a folder that is not there, in which no key file and no lock beside it can be.
fn require_folder(file: &Path) -> Result<(), CommandError> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    folder.map_or(Ok(()), |folder| {
        let (folder, file) = (folder.display(), file.display());
        let words = format!(
            "the key file {file} cannot be used: there is no folder {folder}; make it, or give another --keys"
        );
        Err(CommandError::Settings(words))
    })
}

fn list(keys: &KeyFile) -> String {
    let mut text = String::new();
    for key in &keys.keys {
        let state = key.revoked_at.map_or("active".to_owned(), |at| format!("revoked {at}"));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}  {}  {}  {state}", key.id, key.account, key.scopes.join(","));
    }
    text
}
