//! Values of the columns that the API document leaves open.

use crate::table::FilingRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Distinct values by column: `entity_type`, `company_type`, `status`, `county`, `industry_sector`, `industry_type`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct OpenValues(BTreeMap<String, BTreeSet<String>>);

impl OpenValues {
    /// Adds the values of a row.
    pub fn note(&mut self, row: &FilingRow) {
        for (column, value) in [
            ("entity_type", row.entity_type.as_str()),
            ("company_type", row.company_type.as_str()),
            ("status", row.status.as_str()),
            ("county", row.county.as_deref().unwrap_or("")),
            ("industry_sector", row.industry_sector.as_str()),
            ("industry_type", row.industry_type.as_str()),
        ] {
            if !self.contains(column, value) {
                self.0.entry(column.to_owned()).or_default().insert(value.to_owned());
            }
        }
    }

    /// Adds all values of another set.
    pub fn absorb(&mut self, other: Self) {
        for (column, values) in other.0 {
            self.0.entry(column).or_default().extend(values);
        }
    }

    /// Whether a column has any value.
    pub fn contains(&self, column: &str, value: &str) -> bool {
        self.0.get(column).is_some_and(|values| values.contains(value))
    }

    /// The values that a known set lacks: what a run reports as new.
    pub fn unseen_in(&self, known: &Self) -> Self {
        let unseen = self.0.iter().filter_map(|(column, values)| {
            let new: BTreeSet<String> =
                values.iter().filter(|value| !known.contains(column, value)).cloned().collect();
            (!new.is_empty()).then(|| (column.clone(), new))
        });
        Self(unseen.collect())
    }

    /// Columns and their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.0.iter().map(|(column, values)| (column.as_str(), values))
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
