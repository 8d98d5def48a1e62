//! The lake that the flags name.

use super::World;
use super::args::Common;
use super::exit::CommandError;
use crate::lake::Lake;

/// Opens the lake.
pub(super) fn open_lake(common: &Common, _world: &World) -> Result<Lake, CommandError> {
    Ok(Lake::open(&common.lake)?)
}
