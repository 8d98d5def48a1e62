//! The files of `catalog/`, which describe the newest snapshot, and the list of their digests.

use super::backend::disk::TEMPORARY;
use super::error::LakeError;
use super::format::layout::{CATALOG, CATALOG_LIST, DUCKLAKE, Mark, check_file_name};
use super::format::sealed_json::{sealed, unseal};
use super::handle::Lake;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The content of `catalog/files.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
struct CatalogList {
    /// The blake3 digest of each file by its name. While a file is replaced: its digests before and after, since a kill
    /// leaves either.
    files: BTreeMap<String, Vec<String>>,
    /// The snapshots that [`DUCKLAKE`] names.
    #[serde(default)]
    snapshots: BTreeSet<u64>,
}

/// The log of the Delta table whose files are those of the snapshots. It is next to them, because its paths are relative.
const DELTA_LOG: &str = "snapshots/_delta_log";

/// The field of a version of this log, in its first line, with the digest of its text without these digits.
const DELTA_DIGEST: &str = "sunlakeDigest";

/// Stored where a file that does not exist yet would have its digest.
const ABSENT: &str = "absent";

fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

impl Lake {
    /// Replaces files of `catalog/` by their names: a reader sees the old file or the new one. Returns their local paths. `snapshots`:
    /// those whose files they name; none of files that name none.
    ///
    /// # Errors
    ///
    /// [`LakeError::Name`] for a name that leads out of the folder; [`LakeError::Storage`], [`LakeError::Remote`].
    pub fn write_catalog_files(
        &self,
        files: &[(&str, &[u8])],
        snapshots: Option<&[u64]>,
    ) -> Result<Vec<PathBuf>, LakeError> {
        files.iter().try_for_each(|(name, _)| check_file_name(name))?;
        let mut list = self.catalog_list().unwrap_or_default().unwrap_or_default();
        for (name, bytes) in files {
            let digests = list.files.entry((*name).to_owned()).or_insert_with(|| vec![ABSENT.to_owned()]);
            digests.push(digest(bytes));
        }
        self.write_catalog_list(&list)?;
        let mut paths = Vec::new();
        for (name, bytes) in files {
            let name = format!("{CATALOG}/{name}");
            self.backend.write(&name, bytes)?;
            paths.push(self.layout.root.join(name));
        }
        list.files.extend(files.iter().map(|(name, bytes)| ((*name).to_owned(), vec![digest(bytes)])));
        if let Some(snapshots) = snapshots {
            list.snapshots = snapshots.iter().copied().collect();
        }
        self.write_catalog_list(&list)?;
        Ok(paths)
    }

    /// Deletes a file of the catalogue until it is written again.
    pub(crate) fn drop_catalog_file(&self, name: &str) -> Result<(), LakeError> {
        self.backend.remove(&format!("catalog/{name}"))
    }

    /// A file of the catalogue as it was written; none if it is missing or something else is in its place.
    ///
    /// # Errors
    ///
    /// [`LakeError::Damaged`] for the list of digests; [`LakeError::Storage`], [`LakeError::Remote`].
    pub(crate) fn catalog_file(&self, name: &str) -> Result<Option<Vec<u8>>, LakeError> {
        let list = self.catalog_list()?.unwrap_or_default();
        let Some(digests) = list.files.get(name) else { return Ok(None) };
        let bytes = self.backend.read(&format!("{CATALOG}/{name}"))?;
        Ok(bytes.filter(|bytes| digests.contains(&digest(bytes))))
    }

    /// Whether the catalogue is that of this snapshot, which is still the newest, and each file but the `others` is as it was written;
    /// always in a folder, where one process writes.
    pub(crate) fn has_catalog_of(&self, snapshot: u64, others: &[&str]) -> Result<bool, LakeError> {
        if !self.is_remote() {
            return Ok(true);
        }
        self.refresh()?;
        let Some(mut list) = self.catalog_list()? else { return Ok(false) };
        list.files.retain(|name, _| !others.contains(&&**name));
        Ok(self.backend.newest()? == Some(snapshot) && self.changed_files(&list)?.is_empty())
    }

    /// The files of the list that are not as they were written, with what is wrong.
    fn changed_files(&self, list: &CatalogList) -> Result<Vec<(String, String)>, LakeError> {
        let mut changed = Vec::new();
        for (name, digests) in &list.files {
            let name = format!("{CATALOG}/{name}");
            let found = self.backend.read(&name)?.map_or(ABSENT.to_owned(), |bytes| digest(&bytes));
            if !digests.contains(&found) {
                let what = if found == ABSENT { "the file is missing" } else { "it is not what was written" };
                changed.push((name, what.to_owned()));
            }
        }
        Ok(changed)
    }

    /// Versions that the Delta log of an object store has; none for a lake in a folder, which has no such log.
    pub(crate) fn delta_versions(&self) -> Result<Option<BTreeSet<u64>>, LakeError> {
        if !self.is_remote() {
            return Ok(None);
        }
        let names = self.backend.names(DELTA_LOG)?;
        Ok(Some(names.iter().filter_map(|name| name.strip_suffix(".json")?.parse().ok()).collect()))
    }

    /// Creates a version of the Delta log with its digest, unless there is one. The first action is the provenance.
    pub(crate) fn create_delta_version(
        &self,
        version: u64,
        mut actions: Vec<Value>,
    ) -> Result<(), LakeError> {
        let text = |actions: &[Value]| actions.iter().map(|action| format!("{action}\n")).collect::<String>();
        actions[0]["commitInfo"][DELTA_DIGEST] = json!("");
        actions[0]["commitInfo"][DELTA_DIGEST] = json!(digest(text(&actions).as_bytes()));
        self.backend.create(&delta_version(version), text(&actions).as_bytes()).map(drop)
    }

    /// Versions of the Delta log of an object store that are missing before a newer one, or damaged, with what is wrong. The newest
    /// come with the next catalogue.
    fn delta_problems(&self) -> Result<Vec<(u64, &'static str)>, LakeError> {
        let there = self.delta_versions()?.unwrap_or_default();
        let (mut problems, mut before) = (Vec::new(), 0);
        let mut commits = self.backend.commits()?.into_iter().peekable();
        for version in 0.. {
            let Some(snapshot) = commits.peek().copied() else { break };
            if there.contains(&version) {
                let found = self.backend.read(&delta_version(version))?.and_then(|text| snapshot_of(&text));
                if let Some(lost) = found.filter(|found| (before + 1..snapshot).contains(found)) {
                    // Its commit is lost, which is no damage of the version.
                    before = lost;
                    continue;
                }
                if found != Some(snapshot) {
                    problems.push((version, "it is not what was written"));
                }
            } else if there.last() > Some(&version) {
                problems.push((version, "the file is missing"));
            }
            before = snapshot;
            commits.next();
        }
        Ok(problems)
    }

    /// Deletes damaged versions of the Delta log, so that the next catalogue makes them again.
    pub(crate) fn remove_damaged_delta_versions(&self) -> Result<(), LakeError> {
        self.delta_problems()?
            .iter()
            .try_for_each(|(version, _)| self.backend.remove(&delta_version(*version)))
    }

    fn write_catalog_list(&self, list: &CatalogList) -> Result<(), LakeError> {
        let bytes = sealed(list).map_err(LakeError::storage("write", Path::new(CATALOG_LIST)))?;
        self.backend.write(CATALOG_LIST, &bytes)
    }

    /// The list; none where there is none.
    fn catalog_list(&self) -> Result<Option<CatalogList>, LakeError> {
        let bytes = self.backend.read(CATALOG_LIST)?;
        bytes.map(|bytes| unseal(&bytes, Path::new(CATALOG_LIST))).transpose()
    }

    /// The number of files of the catalogue, and the names of the damaged ones with what is wrong.
    pub(super) fn catalog_problems(&self) -> Result<(u64, Vec<(String, String)>), LakeError> {
        let list = match self.catalog_list() {
            Ok(Some(list)) => list,
            Ok(None) => {
                let mut names = self.backend.names(CATALOG)?;
                names.retain(|name| !name.starts_with(TEMPORARY));
                let problem = (CATALOG_LIST.to_owned(), "the file is missing".to_owned());
                return Ok((0, if names.is_empty() { Vec::new() } else { vec![problem] }));
            }
            Err(LakeError::Damaged { what, .. }) => return Ok((1, vec![(CATALOG_LIST.to_owned(), what)])),
            Err(other) => return Err(other),
        };
        let mut problems = self.changed_files(&list)?;
        let gone: Vec<_> =
            (&list.snapshots & &self.marked(Mark::Pruned)?).iter().map(u64::to_string).collect();
        if !gone.is_empty() {
            let what = format!("it names files of pruned snapshots: {}", gone.join(", "));
            problems.push((format!("{CATALOG}/{DUCKLAKE}"), what));
        }
        let of_delta = self.delta_problems()?;
        problems
            .extend(of_delta.into_iter().map(|(version, what)| (delta_version(version), what.to_owned())));
        Ok((list.files.len() as u64 + 1, problems))
    }
}

fn delta_version(version: u64) -> String {
    format!("{DELTA_LOG}/{version:020}.json")
}

/// The snapshot of a version of the Delta log that is as it was written; also without a digest, as earlier programs wrote it.
fn snapshot_of(text: &[u8]) -> Option<u64> {
    let text = str::from_utf8(text).ok()?;
    let actions: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    let Ok([first, others @ ..]) = actions.as_deref() else { return None };
    let is_sound = first["commitInfo"][DELTA_DIGEST]
        .as_str()
        .is_none_or(|found| found == digest(text.replacen(found, "", 1).as_bytes()));
    let snapshot = others.iter().find_map(|action| action["txn"]["version"].as_u64());
    snapshot.filter(|_| is_sound)
}
