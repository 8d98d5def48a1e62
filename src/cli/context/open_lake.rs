//! The lake that the flags name: a folder, or an address in an object store with a folder of this machine beside it.

use crate::cli::World;
use crate::cli::args::Common;
use crate::cli::exit::CommandError;
use crate::lake::{CLOUD_VARIABLES, Lake, LakeOptions, is_address};
use std::path::PathBuf;

/// Whether the lake lies in an object store.
pub(crate) fn is_in_store(common: &Common) -> bool {
    address(common).is_some()
}

fn address(common: &Common) -> Option<&str> {
    common.lake.to_str().filter(|lake| is_address(lake))
}

/// Opens the lake.
pub(crate) fn open_lake(common: &Common, world: &World) -> Result<Lake, CommandError> {
    open_with(common, world, false)
}

/// Opens the lake whatever its newest commit looks like: for a verification and a repair.
pub(crate) fn open_lake_as_it_is(common: &Common, world: &World) -> Result<Lake, CommandError> {
    open_with(common, world, true)
}

fn open_with(common: &Common, world: &World, allow_damaged: bool) -> Result<Lake, CommandError> {
    let Some(address) = address(common) else {
        return Ok(LakeOptions { allow_damaged, ..LakeOptions::default() }.open(&common.lake)?);
    };
    let variables = (world.variables)(&CLOUD_VARIABLES);
    let options = LakeOptions { address: Some(address), variables: &variables, allow_damaged };
    Ok(options.open(&working_copy(common, world, address)?)?)
}

/// Refuses a lake without a snapshot, before anything is made in its folder.
pub(crate) fn require_snapshot(lake: &Lake) -> Result<(), CommandError> {
    match lake.is_empty()? {
        true => Err(CommandError::Settings(no_snapshot(lake))),
        false => Ok(()),
    }
}

/// What is said of a lake without a snapshot, a mistyped one among them.
pub(crate) fn no_snapshot(lake: &Lake) -> String {
    format!("the lake {lake} has no snapshot yet; `sunlake run` makes one")
}

/// The folder of a lake's working copy: the one that is named, or one of its own below the user's cache.
fn working_copy(common: &Common, world: &World, address: &str) -> Result<PathBuf, CommandError> {
    if let Some(work) = &common.work {
        return Ok(work.clone());
    }
    let named = |name: &str| (world.variable)(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    let digest = blake3::hash(address.trim_end_matches('/').as_bytes()).to_hex();
    let cache = cache.ok_or_else(|| {
        CommandError::Settings(
            "no folder for the lake's working copy: give --work or SUNLAKE_WORK".to_owned(),
        )
    })?;
    Ok(cache.join("sunlake").join(&digest[..16]))
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let cli = crate::cli::Cli::try_parse_from(typed).expect("a command line");
        working_copy(&cli.common, &world(variable), address).ok()
    }

    #[test]
    fn each_address_has_a_working_copy_of_its_own_unless_one_is_named() {
        let home = |name: &str| (name == "HOME").then(|| "/home/ann".to_owned());
        let one = copy_of("s3://bucket/one", &[], home).expect("a folder");
        assert!(one.starts_with("/home/ann/.cache/sunlake"), "{}", one.display());
        assert_eq!(copy_of("s3://bucket/one/", &[], home), Some(one.clone()));
        assert_ne!(copy_of("s3://bucket/two", &[], home), Some(one));
        assert_eq!(copy_of("s3://bucket/one", &["--work", "/w"], home), Some(PathBuf::from("/w")));
        assert_eq!(copy_of("s3://bucket/one", &[], |_| None), None);
    }
}
