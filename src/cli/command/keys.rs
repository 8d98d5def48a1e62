//! `keys`: accounts and keys of `serve`.

use crate::cli::args::{Expiry, KeysCommand};
use crate::cli::context::folder::require_folder_of;
use crate::cli::context::secret::warn_if_readable;
use crate::cli::context::usage_place::usage_place;
use crate::cli::exit::{self, CommandError};
use crate::cli::output::words::{check_stdout, print_secret};
use crate::cli::session::{Session, shell_word};
use crate::contract::eastern::{eastern_day, plus_days};
use crate::contract::escape::{escaped, escaped_json};
use crate::serve::{
    KEY_PREFIX, KeyFile, KeyRecord, KeyRequest, KeyState, KeysError, LastUse, LastUses, UsagePlace, last_uses,
};
use jiff::Timestamp;
use secrecy::ExposeSecret;
use serde::Serialize;
use serde_json::json;
use std::borrow::Cow;
use std::fmt::{self, Write};
use std::io::ErrorKind;
use std::path::Path;

pub(crate) async fn keys(
    session: &Session<'_>,
    file: &Path,
    command: &KeysCommand,
) -> Result<u8, CommandError> {
    require_folder_of(file)?;
    let known = KeyFile::read(file);
    if known.is_ok() {
        warn_if_readable(file);
    }
    match command {
        KeysCommand::Create { account, plan, scopes, expires } => {
            // A file that is missing is made.
            if let Err(error) = known
                && !matches!(error, KeysError::NoFile(..))
            {
                return Err(refused(error));
            }
            let now = session.now();
            let expires_on = expires.map(|expires| match expires {
                Expiry::On(day) => day,
                Expiry::InDays(days) => plus_days(eastern_day(now), days),
            });
            create(session, file, KeyRequest { account, plan: *plan, scopes, expires_on }, now)
        }
        KeysCommand::List { usage } => {
            let keys = known.map_err(refused)?;
            let uses = uses(&usage_place(session, usage.as_deref())?, &keys).await;
            let listed = listed(&keys, uses.as_ref(), session.now());
            session.report(&json!({ "account": keys.accounts, "key": listed }), |text| list(text, &listed))
        }
        KeysCommand::Revoke { id } if id.starts_with(KEY_PREFIX) => {
            let error = CommandError::Settings("the id of a key is wanted, not the key".to_owned());
            Err(error.with_hint("list the keys: `sunlake keys list`"))
        }
        KeysCommand::Revoke { id } => {
            // Without this, a missing file would be created.
            known.map_err(refused)?;
            match KeyFile::change(file, |keys| keys.revoke(id, session.now())) {
                Err(KeysError::Storage(_, source))
                    if matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) =>
                {
                    KeyFile::erase(file, id).map_err(refused)?;
                    tracing::warn!(
                        "the disk is full: the key's digest is erased instead; revoke it again when there is room, to note the time"
                    );
                }
                revoked => revoked.map_err(refused)?,
            }
            session.report(&json!({ "id": id, "revoked": true }), |text| {
                let file = file.display();
                writeln!(text, "{id} is revoked in {file}; a server refuses it when it has read the file, within a second")
            })
        }
    }
}

fn refused(error: KeysError) -> CommandError {
    CommandError::Serve(error.into())
}

/// Creates a key and prints it. One that nobody can read is not created; if it cannot be printed after all, the error has its id.
fn create(
    session: &Session<'_>,
    file: &Path,
    request: KeyRequest<'_>,
    now: Timestamp,
) -> Result<u8, CommandError> {
    check_stdout()?;
    let (random, account) = (session.random("a key")?, request.account);
    let made = KeyFile::change(file, |keys| keys.create(request, random, now)).map_err(refused)?;
    let (id, key) = (&made.id, made.key.expose_secret());
    let json = json!({ "id": id, "account": account, "key": key }).to_string();
    let shown = if session.common.json { escaped_json(&json) } else { Cow::Borrowed(key) };
    print_secret(&format!("{shown}\n")).map_err(|error| {
        let file = shell_word(&file.to_string_lossy());
        let revoke = format!("sunlake keys revoke {id} --keys {file}");
        error.with_hint(format!("the key {id} was created, and nobody has it; revoke it: `{revoke}`"))
    })?;
    tracing::info!(id, "a key was created; it is shown only this once");
    Ok(exit::DONE)
}

/// A key, as it is on a day.
#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    key: &'a KeyRecord,
    state: KeyState,
    /// `None` for a key that was never used, or whose last use is unknown.
    last_used_at: Option<Timestamp>,
    #[serde(skip)]
    last_use: LastUse,
}

/// The last uses that the place of a server's counts has; `None` with a warning where they cannot be read.
async fn uses(place: &UsagePlace, keys: &KeyFile) -> Option<LastUses> {
    let read = match place {
        UsagePlace::Memory => return None,
        UsagePlace::File(path) | UsagePlace::Lake(path) => LastUses::read(path),
        UsagePlace::Store(address) => {
            let accounts: Vec<&str> = keys.accounts.iter().map(|account| account.name.as_str()).collect();
            last_uses(address, &accounts).await
        }
    };
    let warn = |error| {
        tracing::warn!(%error, "the last use of the keys is unknown; name the lake of the server with --lake, or its file or store with --usage");
    };
    read.map_err(warn).ok()
}

fn listed<'a>(keys: &'a KeyFile, uses: Option<&LastUses>, now: Timestamp) -> Vec<Listed<'a>> {
    let today = eastern_day(now);
    let listed = |key: &'a KeyRecord| {
        let last_use = uses.map_or(LastUse::Unknown, |uses| uses.of_key(&key.account, &key.id));
        let last_used_at = if let LastUse::At(at) = last_use { Some(at) } else { None };
        Listed { key, state: key.state(today), last_used_at, last_use }
    };
    keys.keys.iter().map(listed).collect()
}

fn list(text: &mut String, keys: &[Listed<'_>]) -> fmt::Result {
    for Listed { key, state, last_use, .. } in keys {
        let state = match (state, key.revoked_at, key.expires_on) {
            (KeyState::Revoked, Some(at), _) => format!("revoked {at}"),
            (KeyState::Expired, _, Some(day)) => format!("expired {day}"),
            (_, _, Some(day)) => format!("active, expires {day}"),
            _ => "active".to_owned(),
        };
        let last_use = match last_use {
            LastUse::At(at) => format!("last used {}", eastern_day(*at)),
            LastUse::Never => "never used".to_owned(),
            LastUse::NotThisMonth => "not used this month".to_owned(),
            LastUse::Unknown => "last use unknown".to_owned(),
        };
        let scopes = key.scopes.join(",");
        // A person may have written these into the file.
        let [id, account, scopes] = [&key.id, &key.account, &scopes].map(|text| escaped(text, &[]));
        writeln!(text, "{id}  {account}  {scopes}  {state}  {last_use}")?;
    }
    Ok(())
}
