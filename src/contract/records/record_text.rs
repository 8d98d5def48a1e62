//! One record of the documented form as JSON.

use serde::Deserialize;
use std::borrow::Cow;

/// Texts of a record that are kept as sent.
pub(super) const KEPT: usize = 12;
/// Those and the day.
pub(super) const SENT: usize = KEPT + 1;

/// The fields of a record; texts without escapes are not copied.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordText<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) document_number: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) entity_type: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) company_type: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) status: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) filed_date: Cow<'a, str>,
    // A field with its own reader must be there.
    #[serde(deserialize_with = "Option::deserialize")]
    pub(super) dissolved_date: Option<String>,
    #[serde(borrow)]
    pub(super) city: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) zip: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) county: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) industry: IndustryText<'a>,
    #[serde(borrow)]
    pub(super) url: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IndustryText<'a> {
    #[serde(borrow)]
    pub(super) sector: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'a, str>,
}

impl<'a> RecordText<'a> {
    /// The day, then the texts in the order in which they are kept.
    pub(super) fn texts(&self) -> [&Cow<'a, str>; SENT] {
        [
            &self.filed_date,
            &self.id,
            &self.document_number,
            &self.name,
            &self.entity_type,
            &self.company_type,
            &self.status,
            &self.city,
            &self.zip,
            &self.county,
            &self.industry.sector,
            &self.industry.kind,
            &self.url,
        ]
    }
}
