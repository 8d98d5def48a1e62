//! The place of a server's request counts: a file, or a store that several servers share.

use super::open_lake::usage_file;
use super::secret::secret;
use crate::cli::exit::CommandError;
use crate::cli::session::{Session, World};
use crate::serve::{AddressError, StoreAddress, UsagePlace};
use std::path::Path;

/// The variables that open a store.
const USER: &str = "SUNLAKE_USAGE_USER";
const PASSWORD: &str = "SUNLAKE_USAGE_PASSWORD";

/// The place that `--usage` names, or the file of the lake.
pub(crate) fn usage_place(session: &Session<'_>, given: Option<&Path>) -> Result<UsagePlace, CommandError> {
    let Some(given) = given else { return Ok(UsagePlace::Lake(usage_file(session)?)) };
    match given.to_str().map_or(Ok(None), StoreAddress::parse).map_err(refused)? {
        Some(address) => Ok(UsagePlace::Store(opened(address, session.world)?)),
        None => Ok(UsagePlace::File(given.to_owned())),
    }
}

/// The address with the user and the password of the environment.
fn opened(address: StoreAddress, world: &World) -> Result<StoreAddress, CommandError> {
    let user = (world.variable)(USER);
    // A file ends with a line break.
    let password =
        secret(world, PASSWORD, "password")?.map(|(text, _)| text.trim_end_matches(['\r', '\n']).to_owned());
    if user.is_some() && password.is_none() {
        return Err(CommandError::Settings(format!("{USER} is set, and there is no password"))
            .with_hint(format!("set {PASSWORD}, or set {PASSWORD}_FILE to a file with the password")));
    }
    Ok(address.opened_by(user, password.map(Into::into)))
}

/// The error of an address, which it does not repeat.
fn refused(error: AddressError) -> CommandError {
    let hint = match error {
        AddressError::Secret => format!(
            "give redis://HOST:PORT/DB alone: the user in {USER}, the password in {PASSWORD}, or in a file that {PASSWORD}_FILE names"
        ),
        AddressError::Scheme => {
            "give redis://HOST:PORT/DB or rediss://HOST:PORT/DB; a file whose name has a colon begins with ./"
                .to_owned()
        }
        AddressError::Malformed => "give an address such as redis://127.0.0.1:6379/0".to_owned(),
    };
    CommandError::Settings(format!("--usage or SUNLAKE_USAGE: {error}")).with_hint(hint)
}
