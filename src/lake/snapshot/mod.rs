//! TODO page.

pub(super) mod changed_months;
pub(super) mod commit;
pub(super) mod diff;
pub(super) mod history;
pub(super) mod pending;
pub(super) mod pins;
pub(super) mod prune;
pub(super) mod retention;
pub(super) mod rollback;
pub(super) mod staging;
pub(super) mod verified_read;
pub(super) mod write_lock;
