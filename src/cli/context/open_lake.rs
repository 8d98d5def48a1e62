//! The lake of `--lake`: a folder, or an address in an object store with a working copy on this machine. And the folder of
//! state that all lakes of this host share: the request counts of each account.

use super::lake_path::{check_lake_path, nearest_lake};
use crate::cli::args::{Common, SnapshotName};
use crate::cli::exit::CommandError;
use crate::cli::output::error_text::with_causes;
use crate::cli::session::{Session, World, shell_word};
use crate::contract::hint::MAKE_SNAPSHOT;
use crate::lake::{CLOUD_VARIABLES, Lake, LakeOptions, is_address};
use std::path::{Path, PathBuf};

/// Whether the lake is in an object store.
pub(crate) fn is_in_store(common: &Common) -> bool {
    address(common).is_some()
}

fn address(common: &Common) -> Option<&str> {
    common.lake.to_str().filter(|lake| is_address(lake))
}

/// Opens the lake.
pub(crate) fn open_lake(session: &Session<'_>) -> Result<Lake, CommandError> {
    open_with(session, false)
}

/// The file in which a server of the lake counts requests, unless it has another one; it may be missing.
pub(crate) fn usage_file(session: &Session<'_>) -> Result<PathBuf, CommandError> {
    let folder = match address(session.common) {
        Some(address) => working_copy(session.common, session.world, address)?,
        None => session.common.lake.clone(),
    };
    Ok(folder.join("state/usage.jsonl"))
}

/// Opens a lake with a snapshot, even if its newest commit is damaged: for a verification and a repair.
pub(crate) fn open_lake_as_it_is(session: &Session<'_>) -> Result<Lake, CommandError> {
    let lake = open_with(session, true)?;
    // The only commit may be what is lost.
    if !lake.leads_to_a_snapshot()? {
        require_snapshot(&lake)?;
    }
    Ok(lake)
}

fn open_with(session: &Session<'_>, allow_damaged: bool) -> Result<Lake, CommandError> {
    let Some(address) = address(session.common) else {
        check_folder(session)?;
        return Ok(LakeOptions { allow_damaged, ..LakeOptions::default() }.open(&session.common.lake)?);
    };
    let variables = (session.world.variables)(&CLOUD_VARIABLES);
    let options = LakeOptions { address: Some(address), variables: &variables, allow_damaged };
    Ok(options.open(&working_copy(session.common, session.world, address)?)?)
}

/// Fails if the path of a lake on this machine is a mistake.
pub(crate) fn check_folder(session: &Session<'_>) -> Result<(), CommandError> {
    check_lake_path(&session.common.lake, (session.world.variable)("HOME").as_deref())
}

/// Fails if there is no lake: no snapshot, and no run that could make one.
pub(crate) fn require_lake(lake: &Lake) -> Result<(), CommandError> {
    if lake.runs()?.is_empty() { require_snapshot(lake) } else { Ok(()) }
}

/// Fails for a lake without a snapshot, before anything is made in its folder.
pub(crate) fn require_snapshot(lake: &Lake) -> Result<(), CommandError> {
    if lake.is_empty()? { Err(without_snapshot(lake)) } else { Ok(()) }
}

/// The error of a lake without a snapshot.
pub(crate) fn without_snapshot(lake: &Lake) -> CommandError {
    let hint = if lake.is_remote() { MAKE_SNAPSHOT.to_owned() } else { way_to_snapshot(lake.root()) };
    CommandError::Settings(no_snapshot(lake)).with_hint(hint)
}

/// The way to a snapshot where the lake `root` has none: the lake next to it that was meant, if the folder is not there, or a run.
pub(crate) fn way_to_snapshot(root: &Path) -> String {
    match nearest_lake(root).filter(|_| matches!(root.try_exists(), Ok(false))) {
        Some(meant) => format!("did you mean `--lake {}`?", shell_word(&meant.to_string_lossy())),
        None => MAKE_SNAPSHOT.to_owned(),
    }
}

/// The number of a snapshot of the lake.
pub(crate) fn snapshot_number(lake: &Lake, name: SnapshotName) -> Result<u64, CommandError> {
    match name {
        SnapshotName::Number(number) => Ok(number),
        SnapshotName::Latest => match lake.current()? {
            Some(commit) => Ok(commit.snapshot),
            None => Err(without_snapshot(lake)),
        },
    }
}

/// The text about a lake without a snapshot, which may be a misspelt one.
pub(crate) fn no_snapshot(lake: &Lake) -> String {
    format!("the lake {lake} has no snapshot yet")
}

/// The folder of a lake's working copy: the one of `--work`, or one in the user's cache.
fn working_copy(common: &Common, world: &World, address: &str) -> Result<PathBuf, CommandError> {
    if let Some(work) = &common.work {
        return Ok(work.clone());
    }
    let named = |name: &str| (world.variable)(name).map(PathBuf::from);
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    let digest = blake3::hash(address.trim_end_matches('/').as_bytes()).to_hex();
    let cache = cache.ok_or_else(|| {
        CommandError::Settings("no folder for the lake's working copy".to_owned())
            .with_hint("give one with --work or SUNLAKE_WORK")
    })?;
    Ok(cache.join("sunlake").join(&digest[..16]))
}

/// The state folder, which is made if it is missing: the one of `--state`, the user's own, or the lake's.
///
/// The lake's folder is for hosts without a user's own, such as a container or a service without a home.
pub(crate) fn state_dir(session: &Session<'_>, lake: &Lake) -> PathBuf {
    if let Some(named) = &session.common.state {
        return named.clone();
    }
    let own = of_user(session).ok_or_else(|| "this user has no home folder".to_owned());
    let made = own.and_then(|own| match std::fs::create_dir_all(&own) {
        Ok(()) => Ok(own),
        Err(error) => Err(format!("cannot make {}: {}", own.display(), with_causes(&error))),
    });
    made.unwrap_or_else(|why| {
        tracing::warn!(
            "{why}; requests are counted in this lake alone, so other lakes of the account can use up the same quota unseen: \
             set SUNLAKE_STATE to a folder that all of them share"
        );
        lake.state_dir()
    })
}

/// The state folder for a command that only reads: nothing is made.
pub(crate) fn existing_state_dir(session: &Session<'_>, lake: &Lake) -> PathBuf {
    let of_user = || of_user(session).filter(|own| own.is_dir());
    session.common.state.clone().or_else(of_user).unwrap_or_else(|| lake.state_dir())
}

/// The user's own state folder.
fn of_user(session: &Session<'_>) -> Option<PathBuf> {
    let variable = |name: &str| (session.world.variable)(name).filter(|value| value.starts_with('/'));
    let state = variable("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".local/state")));
    state.map(|folder| folder.join("sunlake"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Cli;
    use clap::Parser;

    fn world(variable: fn(&str) -> Option<String>) -> World {
        World {
            now: || jiff::Timestamp::UNIX_EPOCH,
            variable,
            variables: |_| Vec::new(),
            holder: String::new,
            peak_rss_bytes: || 0,
            max_open_files: || None,
            random: || Ok([0; 32]),
        }
    }

    fn copy_of(address: &str, work: &[&str], variable: fn(&str) -> Option<String>) -> Option<PathBuf> {
        let typed = ["sunlake", "status", "--lake", address].into_iter().chain(work.iter().copied());
        let cli = Cli::try_parse_from(typed).expect("a command line");
        working_copy(&cli.common, &world(variable), address).ok()
    }

    #[test]
    fn each_address_has_its_own_working_copy_unless_one_is_given() {
        let home = |name: &str| (name == "HOME").then(|| "/home/ann".to_owned());
        let one = copy_of("s3://bucket/one", &[], home).expect("a folder");
        assert!(one.starts_with("/home/ann/.cache/sunlake"), "{}", one.display());
        assert_eq!(copy_of("s3://bucket/one/", &[], home), Some(one.clone()));
        assert_ne!(copy_of("s3://bucket/two", &[], home), Some(one));
        assert_eq!(copy_of("s3://bucket/one", &["--work", "/w"], home), Some(PathBuf::from("/w")));
        assert_eq!(copy_of("s3://bucket/one", &[], |_| None), None);
    }
}
