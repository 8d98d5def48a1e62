//! TODO page.

pub(super) mod doctor;
pub(super) mod export;
pub(super) mod keys;
pub(super) mod replay;
pub(super) mod run;
pub(super) mod serve;
pub(super) mod snapshot;
pub(super) mod status;
pub(super) mod verify;
