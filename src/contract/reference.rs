//! The closed set of business types, and the industry lists.
//!
//! Source: API document, "Entity type record" and "Industry lists".

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of the six types a business can be filtered by.
///
/// Records keep their type as text, because a count may name a seventh (`other`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "`label` has the words of each")]
pub enum EntityType {
    Llc,
    Corporation,
    Partnership,
    Nonprofit,
    /// Fictitious name; listed only when asked for by type.
    Fictitious,
    Trust,
}

impl EntityType {
    /// All six, in the order of the API document.
    pub const ALL: [Self; 6] =
        [Self::Llc, Self::Corporation, Self::Partnership, Self::Nonprofit, Self::Fictitious, Self::Trust];

    /// The value of the `type` parameter.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Llc => "llc",
            Self::Corporation => "corporation",
            Self::Partnership => "partnership",
            Self::Nonprofit => "nonprofit",
            Self::Fictitious => "fictitious",
            Self::Trust => "trust",
        }
    }

    /// The display label.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Llc => "Limited liability company",
            Self::Corporation => "Corporation",
            Self::Partnership => "Partnership",
            Self::Nonprofit => "Nonprofit",
            Self::Fictitious => "Fictitious name",
            Self::Trust => "Trust",
        }
    }

    /// The type of a key, exactly as the document writes it.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.key() == key)
    }
}

/// One entry of the entity type list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct EntityTypeEntry {
    /// Value of the `type` parameter.
    pub key: String,
    pub label: String,
}

/// A sector and its types, each of the form `<sector>.<type_name>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct Sector {
    pub sector: String,
    pub types: Vec<String>,
}

/// A named group of sectors and types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Key of the segment; where a sector has the same key, the filter means the sector.
    pub key: String,
    /// Sectors it contains with all their types.
    pub sectors: Vec<String>,
    /// Further types it contains; may be empty.
    pub types: Vec<String>,
}

/// `data` of the industries endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct Industries {
    pub sectors: Vec<Sector>,
    pub segments: Vec<Segment>,
}

/// The sectors and industry types that are known by a label for people: key and label, in the order of the keys.
pub fn industry_labels() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("industry_labels.csv").lines().skip(1).filter_map(|line| line.split_once(','))
}

/// The label of a sector or an industry type that has none: the words of its last part.
pub fn label_of_key(key: &str) -> String {
    let words = key.rsplit('.').next().unwrap_or(key).replace('_', " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_in_the_order_of_their_keys_and_a_new_key_has_its_own_words() {
        let keys: Vec<_> = industry_labels().map(|(key, _)| key).collect();
        assert!(keys.is_sorted_by(|one, next| one < next));
        assert!(industry_labels().all(|(_, label)| !label.is_empty() && !label.contains(',')));
        for (key, label) in [("mining", "Mining"), ("mining.open_pit", "Open pit"), ("", ""), ("a.", "")] {
            assert_eq!(label_of_key(key), label);
        }
    }
}
