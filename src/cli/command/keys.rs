//! `keys`: accounts and keys of `serve`.

use crate::cli::args::KeysCommand;
use crate::cli::context::folder::require_folder_of;
use crate::cli::context::key_permissions::warn_if_readable;
use crate::cli::exit::CommandError;
use crate::cli::output::words::lines;
use crate::cli::session::Session;
use crate::serve::{KeyFile, KeyRequest, KeysError};
use secrecy::ExposeSecret;
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

pub(crate) fn keys(session: &Session<'_>, file: &Path, command: &KeysCommand) -> Result<u8, CommandError> {
    require_folder_of(file)?;
    warn_if_readable(file);
    let refused = |error: KeysError| CommandError::Serve(error.into());
    match command {
        KeysCommand::Create { account, plan, scopes } => {
            let random = session.random("a key")?;
            let request = KeyRequest { account, plan: *plan, scopes };
            let now = session.now();
            let made = KeyFile::change(file, |keys| keys.create(request, random, now)).map_err(refused)?;
            tracing::info!(id = made.id, "a key was created; it is shown only this once");
            let key = made.key.expose_secret();
            session.report(&json!({ "id": made.id, "account": account, "key": key }), || format!("{key}\n"))
        }
        KeysCommand::List => {
            let keys = KeyFile::read(file).map_err(refused)?;
            session.report(&keys, || list(&keys))
        }
        KeysCommand::Revoke { id } => {
            // Without this, a missing file would be created.
            KeyFile::read(file).map_err(refused)?;
            KeyFile::change(file, |keys| keys.revoke(id, session.now())).map_err(refused)?;
            session.report(&json!({ "id": id, "revoked": true }), || {
                let file = file.display();
                format!(
                    "{id} is revoked in {file}; a server refuses it when it has read the file, within a second\n"
                )
            })
        }
    }
}

fn list(keys: &KeyFile) -> String {
    lines(|text| {
        for key in &keys.keys {
            let state = key.revoked_at.map_or("active".to_owned(), |at| format!("revoked {at}"));
            writeln!(text, "{}  {}  {}  {state}", key.id, key.account, key.scopes.join(","))?;
        }
        Ok(())
    })
}
