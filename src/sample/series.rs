//! The series of document numbers: a prefix, the year of posting, a counter.

use crate::contract::reference::EntityType;

#[derive(Debug, Clone, Copy)]
pub(super) struct Series {
    /// Letters of the document number.
    pub(super) prefix: &'static str,
    /// Which counter numbers it; two kinds may share a prefix.
    pub(super) counter: usize,
    pub(super) entity_type: EntityType,
    pub(super) company_type: &'static str,
    pub(super) is_foreign: bool,
    /// Filings for each LLC filing; fictitious names have a volume of their own.
    pub(super) per_llc: f64,
}

pub(super) const COUNTERS: usize = 10;

/// All kinds of filing. Of all but fictitious: LLC 89.7%, corporation 7.9%, nonprofit 2.1%, partnership 0.3%.
pub(super) const SERIES: [Series; 11] = [
    Series::new("L", 0, EntityType::Llc, "LLC", false, 0.971),
    Series::new("M", 1, EntityType::Llc, "LLC", true, 0.029),
    Series::new("P", 2, EntityType::Corporation, "Corporation", false, 0.0790),
    Series::new("F", 3, EntityType::Corporation, "Corporation", true, 0.0091),
    Series::new("F", 3, EntityType::Nonprofit, "Nonprofit", true, 0.0009),
    Series::new("N", 4, EntityType::Nonprofit, "Nonprofit", false, 0.0225),
    Series::new("A", 5, EntityType::Partnership, "LP", false, 0.0013),
    Series::new("B", 6, EntityType::Partnership, "LP", true, 0.0006),
    Series::new("GP", 7, EntityType::Partnership, "GP", false, 0.0014),
    Series::new("D", 8, EntityType::Trust, "Trust", false, 0.00034),
    Series::new("G", 9, EntityType::Fictitious, "Fictitious name", false, 0.0),
];

impl Series {
    const fn new(
        prefix: &'static str,
        counter: usize,
        entity_type: EntityType,
        company_type: &'static str,
        is_foreign: bool,
        per_llc: f64,
    ) -> Self {
        Self { prefix, counter, entity_type, company_type, is_foreign, per_llc }
    }

    pub(super) fn is_fictitious(&self) -> bool {
        self.entity_type == EntityType::Fictitious
    }

    /// A document number of 12 characters: prefix, two digits of the year, counter.
    pub(super) fn document_number(&self, year: i16, count: u64) -> String {
        let width = 10_usize.saturating_sub(self.prefix.len());
        format!("{}{:02}{count:0width$}", self.prefix, year.rem_euclid(100))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_numbers_have_twelve_characters() {
        for series in SERIES {
            assert_eq!(series.document_number(2026, 123_456).len(), 12);
            assert!(series.counter < COUNTERS);
        }
        assert_eq!(SERIES[0].document_number(2026, 123_456), "L26000123456");
        assert_eq!(SERIES[8].document_number(2026, 7), "GP2600000007");
    }
}
