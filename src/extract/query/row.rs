//! What is kept of a row: the fields that a filter can compare.

use crate::contract::business::business_id;
use crate::contract::page::plain_text;
use crate::contract::records::{Records, SummaryText};
use hashbrown::HashSet;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;

/// The fields of a row that a filter can compare. Repeated texts are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenRow {
    /// The business id; a negative number made from the text of a record without a readable id.
    pub(crate) id: i64,
    pub(crate) filed_date: Date,
    pub(crate) entity_type: Arc<str>,
    pub(crate) sector: Arc<str>,
    pub(crate) industry_type: Arc<str>,
    /// ZIP code as sent.
    pub(crate) zip: Arc<str>,
    /// City as sent.
    pub(crate) city: Arc<str>,
    /// First three characters of the name, upper case.
    pub(crate) name_prefix: Arc<str>,
}

/// Keeps one copy of equal texts.
#[derive(Debug, Default)]
pub(crate) struct Interner(HashSet<Arc<str>>);

impl Interner {
    pub(crate) fn share(&mut self, text: &str) -> Arc<str> {
        Arc::clone(self.0.get_or_insert_with(text, |text| text.into()))
    }

    /// The shared copy of the first three characters of a name, upper case.
    pub(crate) fn share_prefix(&mut self, name: &str) -> Arc<str> {
        match name.as_bytes().first_chunk::<3>() {
            Some(start) if start.is_ascii() => {
                let start = start.map(|letter| letter.to_ascii_uppercase());
                self.share(std::str::from_utf8(&start).unwrap_or_default())
            }
            _ => self.share(&name.chars().flat_map(char::to_uppercase).take(3).collect::<String>()),
        }
    }

    /// The rows of a page, which begins on a day or before it.
    pub(crate) fn rows(&mut self, records: &Records, mut day: Date) -> Vec<SeenRow> {
        match records {
            Records::Read(summaries) => {
                let mut rows: Vec<SeenRow> = Vec::with_capacity(records.len());
                for summary in summaries.iter() {
                    let row = self.row(&summary, rows.last());
                    rows.push(row);
                }
                rows
            }
            Records::AsSent(records) => {
                let read = records.iter().map(|record| {
                    let row = self.read(record, day);
                    day = row.filed_date;
                    row
                });
                read.collect()
            }
        }
    }

    /// The id and the day of the first record of a page.
    pub(crate) fn first_row(&mut self, records: &Records, day: Date) -> Option<(i64, Date)> {
        match records {
            Records::Read(summaries) => {
                summaries.iter().next().map(|summary| (summary.business_id, summary.filed_date))
            }
            Records::AsSent(records) => {
                records.first().map(|record| self.read(record, day)).map(|row| (row.id, row.filed_date))
            }
        }
    }

    fn row(&mut self, summary: &SummaryText<'_>, above: Option<&SeenRow>) -> SeenRow {
        // Neighbours often share these, and a comparison costs less than a look-up.
        let mut share = |text: &str, above: Option<&Arc<str>>| match above {
            Some(above) if **above == *text => Arc::clone(above),
            _ => self.share(text),
        };
        SeenRow {
            id: summary.business_id,
            filed_date: summary.filed_date,
            entity_type: share(summary.entity_type, above.map(|above| &above.entity_type)),
            sector: share(summary.sector, above.map(|above| &above.sector)),
            industry_type: share(summary.industry_type, above.map(|above| &above.industry_type)),
            zip: self.share(summary.zip),
            city: self.share(summary.city),
            name_prefix: self.share_prefix(summary.name),
        }
    }

    /// The row of a record. A field that is missing or has another type reads as empty. An unreadable date is taken from the row
    /// before, because a listing is ordered by date.
    pub(crate) fn read(&mut self, record: &RawValue, date_before: Date) -> SeenRow {
        let loose: Loose<'_> = serde_json::from_str(record.get()).unwrap_or_default();
        let industry: LooseIndustry<'_> =
            loose.industry.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        SeenRow {
            id: business_id(&text(loose.id)).unwrap_or_else(|| stand_in(record)),
            filed_date: text(loose.filed_date).parse().unwrap_or(date_before),
            entity_type: self.share(&text(loose.entity_type)),
            sector: self.share(&text(industry.sector)),
            industry_type: self.share(&text(industry.r#type)),
            zip: self.share(&text(loose.zip)),
            city: self.share(&text(loose.city)),
            name_prefix: self.share_prefix(&text(loose.name)),
        }
    }
}

/// The text of a field; empty for a missing field or another value.
fn text(value: Option<&RawValue>) -> Cow<'_, str> {
    let Some(value) = value else { return Cow::Borrowed("") };
    match plain_text(value) {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(serde_json::from_str(value.get()).unwrap_or_default()),
    }
}

/// A negative number for a record without a readable id; equal for equal texts.
fn stand_in(record: &RawValue) -> i64 {
    let digest = blake3::hash(record.get().as_bytes());
    let mut bytes = [0u8; 8];
    bytes.copy_from_slice(&digest.as_bytes()[..8]);
    -((i64::from_le_bytes(bytes) >> 1).abs() + 1)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Loose<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    filed_date: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    entity_type: Option<&'a RawValue>,
    #[serde(borrow)]
    zip: Option<&'a RawValue>,
    #[serde(borrow)]
    city: Option<&'a RawValue>,
    #[serde(borrow)]
    industry: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LooseIndustry<'a> {
    #[serde(borrow)]
    sector: Option<&'a RawValue>,
    #[serde(borrow)]
    r#type: Option<&'a RawValue>,
}
