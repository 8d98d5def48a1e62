//! The folder of state that all lakes of this host share: the request counts of each account.

use crate::cli::session::Session;
use crate::lake::Lake;
use std::path::{Path, PathBuf};

/// The state folder, which is made if it is missing: the one of `--state`, the user's own, or the lake's.
///
/// The lake's folder is for hosts without a user's own, such as a container or a service without a home.
pub(crate) fn state_dir(session: &Session<'_>, lake: &Lake) -> PathBuf {
    find(session, lake, |folder| std::fs::create_dir_all(folder).is_ok())
}

/// The state folder for a command that only reads: nothing is made.
pub(crate) fn existing_state_dir(session: &Session<'_>, lake: &Lake) -> PathBuf {
    find(session, lake, Path::is_dir)
}

fn find(session: &Session<'_>, lake: &Lake, is_usable: impl Fn(&Path) -> bool) -> PathBuf {
    if let Some(named) = &session.common.state {
        return named.clone();
    }
    let variable = |name: &str| (session.world.variable)(name).filter(|value| value.starts_with('/'));
    let of_user = variable("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".local/state")));
    let of_user = of_user.map(|folder| folder.join("sunlake"));
    of_user.filter(|folder| is_usable(folder)).unwrap_or_else(|| lake.state_dir())
}
