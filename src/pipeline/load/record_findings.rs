//! What the records of a run showed: rejects, unknown fields, and the values of columns whose set the API leaves open.

use crate::lake::Quarantine;
use crate::normalize::{OpenValues, Reject, UnknownFields};
use crate::pipeline::error::Result;
use hashbrown::HashSet;

/// What is found while records become rows.
#[derive(Default)]
pub(crate) struct RecordFindings {
    /// Where records go that could not be normalized; none in a replay.
    quarantine: Option<Quarantine>,
    rejected: HashSet<blake3::Hash>,
    pub(crate) unknown_fields: UnknownFields,
    pub(crate) open_values: OpenValues,
}

impl RecordFindings {
    pub(super) fn new(quarantine: Option<Quarantine>) -> Self {
        Self { quarantine, ..Self::default() }
    }

    pub(super) fn note(&mut self, unknown_fields: UnknownFields, open_values: OpenValues) {
        for (field, count) in unknown_fields {
            *self.unknown_fields.entry(field).or_default() += count;
        }
        self.open_values.absorb(open_values);
    }

    /// Writes a record to the quarantine, once, even if it is on two pages: the quarantine itself compares lines, which name the page.
    pub(super) fn reject(&mut self, reject: &Reject) -> Result<()> {
        if self.rejected.insert(blake3::hash(reject.record.as_bytes())) {
            let reasons = reject.reasons.join("; ");
            tracing::warn!(slice = reject.slice, "a record goes to quarantine: {reasons}");
            if let Some(quarantine) = &mut self.quarantine {
                quarantine.append(reject)?;
            }
        }
        Ok(())
    }

    /// Distinct records that could not be normalized.
    pub(crate) fn rejected(&self) -> u64 {
        self.rejected.len() as u64
    }

    pub(super) fn sync(&self) -> Result<()> {
        Ok(self.quarantine.as_ref().map_or(Ok(()), Quarantine::sync)?)
    }
}
