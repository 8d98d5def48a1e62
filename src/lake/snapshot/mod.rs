//! Snapshots: made, committed, read, compared, pruned.
//!
//! A snapshot is made by write-audit-publish. A run writes all files to a staging folder. Checks look at what changed.
//! Then the snapshot is published, or it stays pending review (state `held`) until a person publishes it.
//!
//! The commit is optimistic: nobody locks readers or other machines out. A writer creates the commit file of the next
//! number only if it is absent (put-if-absent, as Delta Lake and `object_store` do it). The loser of two writers gets an
//! error, and nothing of the winner changes. Snapshots share unchanged files: by hard links in a folder, by the name of
//! the older snapshot in an object store. So a rollback or a pruning copies no data.
//!
//! # Files, in reading order
//!
//! - `verified_read`: the files of one snapshot, each compared with its commit
//! - `write_lock`: one writer at a time
//! - `staging`: a snapshot being made, its aggregates too
//! - `changed_months`: what differs from the parent, for the checks
//! - `commit`: staged files become the newest snapshot
//! - `history`: all snapshots and their states
//! - `publish`: a pending snapshot published, and an old one again
//! - `diff`: rows that differ between two snapshots
//! - `pins`: marks on snapshots: pinned, pruned
//! - `retention`: which snapshots the rules keep
//! - `prune`: deletion of what the rules do not keep

pub(super) mod changed_months;
pub(super) mod commit;
pub(super) mod diff;
pub(super) mod history;
pub(super) mod pins;
pub(super) mod prune;
pub(super) mod publish;
pub(super) mod retention;
pub(super) mod staging;
pub(super) mod verified_read;
pub(super) mod write_lock;
