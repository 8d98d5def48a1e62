//! The files of a run whose record is lost, by what they and the commits say of them.

use super::chain::Readable;
use super::problem::{ProblemKind, VerifyReport};
use crate::lake::backend::disk::TEMPORARY;
use crate::lake::error::LakeError;
use crate::lake::format::layout::{COPIES, DAMAGED, JOURNAL, RAW, SUMMARY, snapshot_name};
use crate::lake::format::manifest::Commit;
use crate::lake::format::sealed_json::is_sealed;
use crate::lake::handle::Lake;
use crate::lake::run::page_archive::RawArchive;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// Damaged and missing files by their paths in the run's folder, and what is wrong with each.
type Lost = BTreeMap<String, &'static str>;

const MISSING: &str = "the file is missing";

impl Lake {
    /// Reports what is damaged or missing of a run without a record: bytes that are no page, journals that are not what was written,
    /// copies with another text than their name says. Notes the files that nothing proves. A snapshot that is kept keeps pages and
    /// journal of its run, so both are missed there.
    pub(super) fn audit_without_record(
        &self,
        run_id: &str,
        readable: &Readable,
        report: &mut VerifyReport,
    ) -> Result<(), LakeError> {
        let run = self.existing_run(run_id)?;
        let commits: Vec<&Commit> = readable.all().filter(|commit| commit.run_id == run_id).collect();
        let mut lost = self.lost_summary(run_id)?;
        self.note_copies(run_id, &mut lost)?;
        let (journals, mut pages) = (self.wanted_journals(run_id, &commits)?, Vec::new());
        self.note_journals(run_id, &journals, &mut lost, &mut pages)?;
        let has_asked = commits.iter().any(|commit| commit.requests_sent > 0);
        let least = u64::from(!pages.is_empty() || (has_asked && !journals.is_empty()));
        note_pages(&run.raw_read_only()?, !commits.is_empty(), least, &pages, &mut lost)?;
        for (file, what) in lost {
            report.files += 1;
            if self.is_known_loss(&format!("runs/{run_id}/{file}"))? {
                continue;
            }
            let path = self.path_for_user(&run.path().join(&file));
            report.note(&path, what, ProblemKind::Unrecorded(run_id.to_owned(), file));
        }
        self.note_known(run_id, true, report)
    }

    /// Whether a repair noted the loss, and nothing happened to what it left since. A chunk in an object store has a digest in its name.
    fn is_known_loss(&self, name: &str) -> Result<bool, LakeError> {
        let Some((folder, file)) = name.rsplit_once('/') else { return Ok(false) };
        let begin = |name: &str| name.split(['-', '.']).next().map(str::to_owned);
        let mut notes = self.backend.names(folder)?;
        notes.retain(|note| note.ends_with(DAMAGED) && begin(note) == begin(file));
        let Some(note) = notes.first() else { return Ok(false) };
        let note = self.backend.read(&format!("{folder}/{note}"))?.unwrap_or_default();
        Ok(self.backend.digest(name)?.is_none_or(|found| found.blake3.as_bytes() == note))
    }

    /// The summary, if it is none.
    fn lost_summary(&self, run_id: &str) -> Result<Lost, LakeError> {
        let summary = self.backend.read(&format!("runs/{run_id}/{SUMMARY}"))?;
        let is_lost = summary.is_some_and(|bytes| serde_json::from_slice::<Value>(&bytes).is_err());
        Ok(is_lost.then(|| (SUMMARY.to_owned(), "it is no summary")).into_iter().collect())
    }

    /// Notes copies of imported files that do not have the text whose digest is their name.
    fn note_copies(&self, run_id: &str, lost: &mut Lost) -> Result<(), LakeError> {
        let folder = format!("runs/{run_id}/{COPIES}");
        let mut names = self.backend.names(&folder)?;
        names.retain(|name| !name.starts_with(TEMPORARY) && !name.ends_with(DAMAGED));
        for name in names {
            let copy = self.backend.read(&format!("{folder}/{name}"))?.unwrap_or_default();
            if !has_text_of(&copy, &name) {
                lost.insert(format!("{COPIES}/{name}"), "it has another text than its name says");
            }
        }
        Ok(())
    }

    /// Names of the journals that a run must have: of its kept snapshots, if it made them from pages or files. A rollback and a repair do
    /// not, and have no summary. A replay publishes a second snapshot of the run, without a journal.
    fn wanted_journals(&self, run_id: &str, commits: &[&Commit]) -> Result<BTreeSet<String>, LakeError> {
        let kept = &self.kept_snapshots()? | &self.pending_snapshots()?;
        let has_summary = self.backend.read(&format!("runs/{run_id}/{SUMMARY}"))?.is_some();
        let made = commits.iter().enumerate();
        let made = made.filter(|(at, commit)| commit.requests_sent > 0 || (*at == 0 && has_summary));
        let of_kept = made.map(|(_, commit)| commit.snapshot).filter(|snapshot| kept.contains(snapshot));
        Ok(of_kept.map(|snapshot| format!("{}.json", snapshot_name(snapshot))).collect())
    }

    /// Notes journals that are missing or damaged, and the pages that the others name.
    fn note_journals(
        &self,
        run_id: &str,
        wanted: &BTreeSet<String>,
        lost: &mut Lost,
        pages: &mut Vec<(u32, String)>,
    ) -> Result<(), LakeError> {
        let folder = format!("runs/{run_id}/{JOURNAL}");
        let mut names: BTreeSet<String> = self.backend.names(&folder)?.into_iter().collect();
        names.retain(|name| !name.starts_with(TEMPORARY) && !name.ends_with(DAMAGED));
        names.extend(wanted.iter().cloned());
        for name in names {
            let what = match self.backend.read(&format!("{folder}/{name}"))? {
                None => MISSING,
                Some(bytes) if !is_sealed(&bytes) => "it is not what was written",
                Some(bytes) => {
                    note_named(&serde_json::from_slice(&bytes).unwrap_or_default(), pages);
                    continue;
                }
            };
            lost.insert(format!("{JOURNAL}/{name}"), what);
        }
        Ok(())
    }
}

/// Whether a compressed copy has the text whose digest its name begins with.
fn has_text_of(copy: &[u8], name: &str) -> bool {
    let mut text = blake3::Hasher::new();
    let read = zstd::Decoder::new(copy).and_then(|mut copy| io::copy(&mut copy, &mut text));
    read.is_ok() && name.split('.').next() == Some(text.finalize().to_hex().as_str())
}

/// The pages that a journal names, in lists `pages`: the occurrence and the text of each request.
fn note_named(journal: &Value, pages: &mut Vec<(u32, String)>) {
    match journal {
        Value::Object(fields) => {
            let named = fields.get("pages").map(Vec::<(u32, String)>::deserialize);
            pages.extend(named.and_then(Result::ok).into_iter().flatten());
            fields.values().for_each(|value| note_named(value, pages));
        }
        Value::Array(values) => values.iter().for_each(|value| note_named(value, pages)),
        _ => {}
    }
}

/// Notes archived pages that are missing or damaged, of at least `least` segments. A run without a snapshot may have been killed while it
/// wrote one.
fn note_pages(
    archive: &RawArchive,
    has_snapshot: bool,
    least: u64,
    named: &[(u32, String)],
    lost: &mut Lost,
) -> Result<(), LakeError> {
    let torn = archive.torn().filter(|_| has_snapshot);
    let damaged = archive.damaged().iter().map(|(path, _)| path).chain(torn);
    let mut bad: Lost = damaged.map(|path| (file_in_raw(path), "not all of it are pages")).collect();
    let there: BTreeSet<u64> = archive.segments().iter().filter_map(|path| number_of(path)).collect();
    let last = there.last().copied().unwrap_or(least);
    let missing = (1..=last).filter(|number| !there.contains(number));
    bad.extend(missing.map(|number| (format!("{RAW}/{number:06}.zst"), MISSING)));
    if let Some(last) = archive.segments().last().filter(|_| bad.is_empty())
        && !has_all(archive, named)?
    {
        bad.insert(file_in_raw(last), "pages that the journal names are not in it");
    }
    lost.append(&mut bad);
    Ok(())
}

fn has_all(archive: &RawArchive, named: &[(u32, String)]) -> Result<bool, LakeError> {
    for (occurrence, request) in named {
        if archive.get(request, *occurrence)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn file_in_raw(segment: &Path) -> String {
    format!("{RAW}/{}", segment.file_name().unwrap_or_default().to_string_lossy())
}

/// The number that the name of a segment begins with.
fn number_of(segment: &Path) -> Option<u64> {
    segment.file_stem()?.to_str()?.split('-').next()?.parse().ok()
}
