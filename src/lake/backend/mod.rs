//! Where a lake is at home: what the commit protocol asks of the place that holds its snapshots.
//!
//! Two places are known: a folder ([`Folder`](local::Folder)), and an object store with a folder as its
//! working copy ([`Bucket`](remote::Bucket)). The order of a commit is the same in both: files placed, commit
//! created if it is absent, snapshot shown. Before the second step nothing has happened; from then on it has.

pub(super) mod disk;
#[cfg(test)]
pub(super) mod fault_injection;
mod latest;
pub(super) mod local;
pub(super) mod object_client;
#[cfg(test)]
pub(super) mod power_loss;
pub(super) mod remote;
mod remote_cache;
pub(super) mod url;

use super::error::LakeError;
use super::format::manifest::{Commit, FileEntry};
use super::snapshot::staging::StagedFile;
use super::snapshot::verified_read::Found;
use super::snapshot::write_lock::Repair;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// The place of a lake. Everything that changes it goes through here or through
/// [`Storage`](disk::Storage), which writes the local disk.
pub(crate) trait Home: fmt::Debug + Send + Sync {
    /// Looks for what others committed. A folder is always as new as it can be.
    fn refresh(&self) -> Result<(), LakeError>;

    /// Number of the newest commit; none in an empty lake.
    fn newest(&self) -> Result<Option<u64>, LakeError>;

    /// Numbers of all commits, oldest first.
    fn commits(&self) -> Result<Vec<u64>, LakeError>;

    /// The commit file of a snapshot; none where there is no such commit.
    fn read_commit(&self, snapshot: u64) -> Result<Option<Vec<u8>>, LakeError>;

    /// The commit file of a snapshot as it lies at home now, whatever the working copy has: for a verification.
    fn read_commit_anew(&self, snapshot: u64) -> Result<Option<Vec<u8>>, LakeError>;

    /// Snapshots whose files someone may count on, oldest first.
    fn kept(&self) -> Result<BTreeSet<u64>, LakeError>;

    /// Where a file lies that a coming snapshot takes over unchanged: the snapshot that names it in its place, or
    /// none where it gets a link in the folder of each.
    fn lies_in(&self, snapshot: u64, entry: &FileEntry) -> Option<u64>;

    /// Sees to it that files of a snapshot, of all tables or of one, lie in its local folder as the commit says.
    fn bring(&self, commit: &Commit, table: Option<&str>) -> Result<(), LakeError>;

    /// How a file lies at home now, whatever the working copy has: for a verification. A sound one lies in its local
    /// folder afterwards; otherwise the local folder stays as it is.
    fn found_at_home(&self, commit: &Commit, entry: &FileEntry) -> Result<Found, LakeError>;

    /// Puts the files of a coming snapshot where its commit will name them. Nobody reads them before the commit.
    fn place(&self, snapshot: u64, run_id: &str, files: &[&StagedFile]) -> Result<(), LakeError>;

    /// Creates a commit; `false` when another writer created this one before.
    fn create_commit(&self, snapshot: u64, bytes: &[u8]) -> Result<bool, LakeError>;

    /// Takes back what was placed for a commit that did not come about. What stays is cleared later.
    fn withdraw(&self, snapshot: u64, files: &[&StagedFile]);

    /// Lets readers who ask first of all for the newest snapshot find this one.
    fn show(&self, commit: &Commit) -> Result<(), LakeError>;

    /// The file that readers ask first, by its path on this machine, where it is there and does not lead them to the newest commit.
    fn misleads(&self, newest: u64) -> Result<Option<PathBuf>, LakeError>;

    /// Deletes the files of snapshots that no kept snapshot names; their commits stay. The snapshots are marked as pruned, or were
    /// never published: nobody counts on their files.
    fn drop_snapshots(&self, snapshots: &BTreeSet<u64>) -> Result<(), LakeError>;

    /// Puts right what a killed writer left. Only the holder of the lock calls this.
    fn put_right(&self) -> Result<Repair, LakeError>;

    /// Reads a small file of the lake by its name, say `catalog/TABLES.md`; none where there is none.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, LakeError>;

    /// Replaces a small file of the lake, whole.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), LakeError>;

    /// Creates a small file, whole; `false` when there is one.
    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, LakeError>;

    /// Deletes a small file; a missing one is fine.
    fn remove(&self, name: &str) -> Result<(), LakeError>;

    /// Deletes a folder and all in it; a missing one is fine.
    fn remove_folder(&self, name: &str) -> Result<(), LakeError>;

    /// Names of the small files in a folder, sorted; none where it is missing.
    fn names(&self, folder: &str) -> Result<Vec<String>, LakeError>;

    /// Keeps a finished file of this machine at home, under a name of the lake's.
    fn keep(&self, file: &Path, name: &str) -> Result<(), LakeError>;

    /// Brings the records of so many runs that others made, the newest.
    fn bring_runs(&self, most: usize) -> Result<(), LakeError>;

    /// Brings the raw pages that others archived of a run into its folder. Names the chunks that are at home; none
    /// where the working folder is home, and pages need no other place.
    fn bring_pages(&self, run_id: &str) -> Result<Option<BTreeSet<String>>, LakeError>;

    /// Tries what a commit needs: write, read back, be refused a second creation, delete. `name` must be unused.
    fn probe(&self, name: &str) -> Result<(), LakeError>;

    /// The place as a person names it, without credentials.
    fn shown(&self) -> String;
}
