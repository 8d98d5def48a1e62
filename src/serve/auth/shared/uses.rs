//! When each key was used last, as the store of several servers has it.

use super::address::StoreAddress;
use super::fault::Fault;
use super::script::{KEY_FIELD, hash_of};
use crate::serve::auth::counted::MeterError;
use crate::serve::auth::last_use::LastUses;
use jiff::Timestamp;
use redis::{AsyncCommands, Client};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// How long a person waits for all accounts.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads the last uses of accounts.
pub(crate) async fn last_uses(address: &StoreAddress, accounts: &[&str]) -> Result<LastUses, MeterError> {
    let read = tokio::time::timeout(PATIENCE, read(address, accounts)).await;
    let read = read.unwrap_or_else(|_| Err(Fault::Late));
    let failed = |fault: Fault| MeterError::Store(address.to_string(), fault.to_string());
    read.map(LastUses::of_store).map_err(failed)
}

async fn read(
    address: &StoreAddress,
    accounts: &[&str],
) -> Result<HashMap<String, BTreeMap<String, Timestamp>>, Fault> {
    let client = Client::open(address.connection_info()?)?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    let mut found = HashMap::new();
    for account in accounts {
        let fields: HashMap<String, String> = connection.hgetall(hash_of(account)).await?;
        let uses = fields.iter().filter_map(|(field, at)| {
            let key = field.strip_prefix(KEY_FIELD)?;
            Some((key.to_owned(), Timestamp::from_second(at.parse().ok()?).ok()?))
        });
        found.insert((*account).to_owned(), uses.collect());
    }
    Ok(found)
}
