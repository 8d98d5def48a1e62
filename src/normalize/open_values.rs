//! Values of the columns that the API document leaves open.

use crate::table::FilingRow;
use hashbrown::HashSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Distinct values by column: `entity_type`, `company_type`, `status`, `county`, `industry_sector`, `industry_type`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct OpenValues(BTreeMap<String, BTreeSet<String>>);

impl OpenValues {
    pub(super) const COLUMNS: [&'static str; 6] =
        ["entity_type", "company_type", "status", "county", "industry_sector", "industry_type"];

    /// The values of each of [`OpenValues::COLUMNS`].
    pub(super) fn of(values: [HashSet<String>; Self::COLUMNS.len()]) -> Self {
        let columns = Self::COLUMNS.into_iter().zip(values).filter(|(_, values)| !values.is_empty());
        Self(columns.map(|(column, values)| (column.to_owned(), values.into_iter().collect())).collect())
    }

    /// Adds the values of a row.
    pub fn note(&mut self, row: &FilingRow) {
        let values = [
            row.entity_type.as_str(),
            row.company_type.as_str(),
            row.status.as_str(),
            row.county.as_deref().unwrap_or(""),
            row.industry_sector.as_str(),
            row.industry_type.as_str(),
        ];
        for (column, value) in Self::COLUMNS.into_iter().zip(values) {
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
}
