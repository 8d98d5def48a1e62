//! A slice: one filter over a range of filing dates, and which rows match it.

use super::row::SeenRow;
use crate::contract::eastern::{minus_days, span_days};
use crate::contract::reference::EntityType;
use crate::contract::search::BusinessSearch;
use jiff::civil::{Date, date};

/// The oldest day of a slice without a start; only a name search may have none.
pub(crate) const ANY_AGE: Date = date(1, 1, 1);

/// The filters of a query: a search without days and pages. The empty filter is the untyped listing.
///
/// A search by `status` needs a name prefix, which then is the query itself, not a part of a wider one.
pub(crate) type Filter = BusinessSearch;

/// Whether a name begins with a prefix; a row keeps three characters of its name.
fn begins_with(name: &str, prefix: &str) -> bool {
    let mut letters = name.chars();
    prefix.chars().flat_map(char::to_uppercase).take(3).all(|letter| letters.next() == Some(letter))
}

/// One filter over the filing dates `from` to `to`, both inclusive.
#[derive(Debug, Clone, PartialEq)]
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

    /// The newer and the older half of its days.
    pub(crate) fn halves(&self) -> (Self, Self) {
        let middle = minus_days(self.to, span_days(self.from, self.to) / 2 - 1);
        (self.between(middle, self.to), self.between(self.from, minus_days(middle, 1)))
    }

    /// Whether its filter contains a value from a record, which the API may reject as a parameter.
    pub(crate) fn has_values_of_records(&self) -> bool {
        self.filter.city.is_some() || (self.filter.q.is_some() && self.filter.status.is_none())
    }

    pub(crate) fn holds(&self, row: &SeenRow) -> bool {
        self.from <= row.filed_date && row.filed_date <= self.to && self.matches(row)
    }

    /// Whether the API would list a row of its days under the filter.
    pub(crate) fn matches(&self, row: &SeenRow) -> bool {
        let Filter { q, city, zip, kind, industry, .. } = &self.filter;
        kind.is_none_or(|kind| kind.key() == &*row.entity_type)
            && industry.as_ref().is_none_or(|key| **key == *row.sector || **key == *row.industry_type)
            && city.as_ref().is_none_or(|city| city.eq_ignore_ascii_case(&row.city))
            && zip.as_ref().is_none_or(|zip| row.zip.starts_with(zip.as_str()))
            && q.as_ref().is_none_or(|prefix| begins_with(&row.name_prefix, prefix))
    }

    pub(crate) fn search(&self, limit: u32, offset: u32) -> BusinessSearch {
        BusinessSearch {
            filed_from: (self.from > ANY_AGE).then_some(self.from),
            filed_to: Some(self.to),
            limit: Some(limit),
            offset: Some(offset),
            ..self.filter.clone()
        }
    }
}

impl std::fmt::Display for Slice {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}..{}", self.from, self.to)?;
        let filter = &self.filter;
        let parts = [
            ("type", filter.kind.map(EntityType::key)),
            ("industry", filter.industry.as_deref()),
            ("city", filter.city.as_deref()),
            ("zip", filter.zip.as_deref()),
            ("q", filter.q.as_deref()),
        ];
        for (name, value) in parts {
            if let Some(value) = value {
                write!(out, " {name}={value}")?;
            }
        }
        Ok(())
    }
}
