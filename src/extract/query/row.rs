//! What is kept of a row: the fields that a filter can compare.

use crate::contract::business::business_id;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashSet;
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
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let shared: Arc<str> = Arc::from(text);
        self.0.insert(Arc::clone(&shared));
        shared
    }

    /// The shared copy of the first three characters of a name, upper case.
    pub(crate) fn share_prefix(&mut self, name: &str) -> Arc<str> {
        let start: String = name.chars().flat_map(char::to_uppercase).take(3).collect();
        self.share(&start)
    }

    /// The row of a record. A field that is missing or has another type reads as empty. An unreadable date is taken from the row
    /// before, because a listing is ordered by date.
    pub(crate) fn read(&mut self, record: &RawValue, date_before: Date) -> SeenRow {
        let loose: Loose = serde_json::from_str(record.get()).unwrap_or_default();
        let industry = |name: &str| text(loose.industry.as_ref().and_then(|industry| industry.get(name)));
        SeenRow {
            id: business_id(text(loose.id.as_ref())).unwrap_or_else(|| stand_in(record)),
            filed_date: text(loose.filed_date.as_ref()).parse().unwrap_or(date_before),
            entity_type: self.share(text(loose.entity_type.as_ref())),
            sector: self.share(industry("sector")),
            industry_type: self.share(industry("type")),
            zip: self.share(text(loose.zip.as_ref())),
            city: self.share(text(loose.city.as_ref())),
            name_prefix: self.share_prefix(text(loose.name.as_ref())),
        }
    }
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or("")
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
struct Loose {
    id: Option<Value>,
    filed_date: Option<Value>,
    name: Option<Value>,
    entity_type: Option<Value>,
    zip: Option<Value>,
    city: Option<Value>,
    industry: Option<Value>,
}
