//! A slice: one filter over a range of filing dates, and which rows match it.

use super::row::SeenRow;
use crate::contract::eastern::span_days;
use crate::contract::reference::EntityType;
use crate::contract::search::{BusinessSearch, StatusFilter};
use jiff::civil::{Date, date};

/// The oldest day of a slice without a start; only a name search may have none.
pub(crate) const ANY_AGE: Date = date(1, 1, 1);

/// The filters of a query, without its days. The empty filter is the untyped listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) kind: Option<EntityType>,
    /// Sector, or `sector.type` key.
    pub(crate) industry: Option<String>,
    pub(crate) city: Option<String>,
    /// ZIP code or its first 3 or 4 digits.
    pub(crate) zip: Option<String>,
    pub(crate) name_prefix: Option<String>,
    /// Whether dissolved businesses are included. Needs a name prefix, which then is the query itself, not a part of a wider one.
    pub(crate) status: Option<StatusFilter>,
}

impl Filter {
    /// Whether it contains a value from a record, which the API may reject as a parameter.
    pub(crate) fn has_values_of_records(&self) -> bool {
        self.city.is_some() || (self.name_prefix.is_some() && self.status.is_none())
    }

    /// Whether the API would list this row under the filter.
    pub(crate) fn matches(&self, row: &SeenRow) -> bool {
        self.kind.is_none_or(|kind| kind.key() == &*row.entity_type)
            && self.industry.as_ref().is_none_or(|key| **key == *row.sector || **key == *row.industry_type)
            && self.city.as_ref().is_none_or(|city| city.eq_ignore_ascii_case(&row.city))
            && self.zip.as_ref().is_none_or(|zip| row.zip.starts_with(zip.as_str()))
            && self.name_prefix.as_ref().is_none_or(|prefix| begins_with(&row.name_prefix, prefix))
    }
}

/// Whether a name begins with a prefix; a row keeps three characters of its name.
fn begins_with(name: &str, prefix: &str) -> bool {
    let mut letters = name.chars();
    prefix.chars().flat_map(char::to_uppercase).take(3).all(|letter| letters.next() == Some(letter))
}

/// One filter over the filing dates `from` to `to`, both inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) filter: Filter,
    pub(crate) from: Date,
    pub(crate) to: Date,
}

impl Slice {
    pub(crate) fn on(&self, day: Date) -> Self {
        Self { from: day, to: day, ..self.clone() }
    }

    pub(crate) fn between(&self, from: Date, to: Date) -> Self {
        Self { from, to, ..self.clone() }
    }

    pub(crate) fn under(&self, filter: Filter) -> Self {
        Self { filter, ..self.clone() }
    }

    pub(crate) fn is_one_day(&self) -> bool {
        self.from == self.to
    }

    pub(crate) fn days(&self) -> u32 {
        span_days(self.from, self.to)
    }

    pub(crate) fn holds(&self, row: &SeenRow) -> bool {
        self.from <= row.filed_date && row.filed_date <= self.to && self.filter.matches(row)
    }

    pub(crate) fn search(&self, limit: u32, offset: u32) -> BusinessSearch {
        let filter = self.filter.clone();
        BusinessSearch {
            q: filter.name_prefix,
            city: filter.city,
            zip: filter.zip,
            county: None,
            filed_from: (self.from > ANY_AGE).then_some(self.from),
            filed_to: Some(self.to),
            kind: filter.kind,
            industry: filter.industry,
            status: filter.status,
            limit: Some(limit),
            offset: Some(offset),
        }
    }
}

impl std::fmt::Display for Slice {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}..{}", self.from, self.to)?;
        let filter = &self.filter;
        if let Some(kind) = filter.kind {
            write!(out, " type={}", kind.key())?;
        }
        let parts = [
            ("industry", &filter.industry),
            ("city", &filter.city),
            ("zip", &filter.zip),
            ("q", &filter.name_prefix),
        ];
        for (name, value) in parts {
            if let Some(value) = value {
                write!(out, " {name}={value}")?;
            }
        }
        Ok(())
    }
}
