//! The tables of the lake: name, meaning, key, sort order, partition.

/// Version of all table schemas together; written into every file and every commit.
pub const SCHEMA_VERSION: u32 = 1;

/// A table of the lake; aggregates are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// One row a business, as last read.
    Filings,
    /// What a look-up of one business adds.
    Details,
    /// Officers of looked-up businesses.
    Officers,
    /// What appeared, changed, vanished or returned.
    Changes,
    /// The API's own count of each day, by the day of the request.
    DailyCounts,
    /// The API's own counts of each county, by the day of the request.
    Counties,
    /// The API's own monthly counts, by the day of the request.
    MonthlyCounts,
    /// The API's own statewide figures, by the day of the request.
    Statewide,
    /// The API's own split by type of the last 30 days, by the day of the request.
    TypeSplit,
    /// Sectors and industry types.
    IndustryTypes,
    /// Segments and their members.
    IndustrySegments,
    /// Entity types and labels.
    EntityTypes,
    /// How complete each day is.
    Coverage,
}

impl Table {
    /// All tables, in the order they are documented.
    pub const ALL: [Self; 13] = [
        Self::Filings,
        Self::Details,
        Self::Officers,
        Self::Changes,
        Self::DailyCounts,
        Self::Counties,
        Self::MonthlyCounts,
        Self::Statewide,
        Self::TypeSplit,
        Self::IndustryTypes,
        Self::IndustrySegments,
        Self::EntityTypes,
        Self::Coverage,
    ];

    /// Folder name of the table in a snapshot.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Filings => "filings",
            Self::Details => "details",
            Self::Officers => "officers",
            Self::Changes => "changes",
            Self::DailyCounts => "daily_counts",
            Self::Counties => "counties",
            Self::MonthlyCounts => "monthly_counts",
            Self::Statewide => "statewide",
            Self::TypeSplit => "type_split",
            Self::IndustryTypes => "industry_types",
            Self::IndustrySegments => "industry_segments",
            Self::EntityTypes => "entity_types",
            Self::Coverage => "coverage",
        }
    }

    /// What a row of it says.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Filings => "One row a business, as last read.",
            Self::Details => "What a look-up of one business adds.",
            Self::Officers => "Officers of looked-up businesses.",
            Self::Changes => "What appeared, changed, vanished or returned.",
            Self::DailyCounts => "The API's own count of each day, by the day of the request.",
            Self::Counties => "The API's own counts of each county, by the day of the request.",
            Self::MonthlyCounts => "The API's own monthly counts, by the day of the request.",
            Self::Statewide => "The API's own statewide figures, by the day of the request.",
            Self::TypeSplit => "The API's own split by type of the last 30 days, by the day of the request.",
            Self::IndustryTypes => "Sectors and industry types.",
            Self::IndustrySegments => "Segments and their members.",
            Self::EntityTypes => "Entity types and labels.",
            Self::Coverage => "How complete each day is.",
        }
    }

    /// The table of a folder name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }

    /// The columns of the primary key. None of them is null.
    pub const fn key(self) -> &'static [&'static str] {
        match self {
            Self::Filings | Self::Details => &["business_id"],
            Self::Officers => &["business_id", "position"],
            Self::Changes => &["run_id", "business_id", "change", "field"],
            Self::DailyCounts => &["observed_on", "date"],
            Self::Counties => &["observed_on", "key"],
            Self::MonthlyCounts => &["observed_on", "month", "type"],
            Self::Statewide => &["observed_on"],
            Self::TypeSplit => &["observed_on", "type"],
            Self::IndustryTypes => &["observed_on", "sector", "type"],
            Self::IndustrySegments => &["observed_on", "segment", "kind", "member"],
            Self::EntityTypes => &["observed_on", "key"],
            Self::Coverage => &["filed_date", "entity_type"],
        }
    }

    /// Sort order in a file: column and whether it descends. It includes every key column, so the order is unique.
    pub const fn sort(self) -> &'static [(&'static str, bool)] {
        match self {
            Self::Filings => &[("filed_date", true), ("business_id", true)],
            Self::Details => &[("business_id", true)],
            Self::Officers => &[("business_id", true), ("position", false)],
            Self::Changes => &[
                ("observed_at", true),
                ("business_id", true),
                ("change", false),
                ("field", false),
                ("run_id", false),
            ],
            Self::DailyCounts => &[("observed_on", true), ("date", true)],
            Self::Counties => &[("observed_on", true), ("key", false)],
            Self::MonthlyCounts => &[("observed_on", true), ("month", true), ("type", false)],
            Self::Statewide => &[("observed_on", true)],
            Self::TypeSplit => &[("observed_on", true), ("type", false)],
            Self::IndustryTypes => &[("observed_on", true), ("sector", false), ("type", false)],
            Self::IndustrySegments => {
                &[("observed_on", true), ("segment", false), ("kind", false), ("member", false)]
            }
            Self::EntityTypes => &[("observed_on", true), ("key", false)],
            Self::Coverage => &[("filed_date", true), ("entity_type", false)],
        }
    }

    /// Columns with a bloom filter.
    pub const fn bloom(self) -> &'static [&'static str] {
        match self {
            Self::Filings => &["business_id", "document_number"],
            Self::Details | Self::Officers => &["business_id"],
            _ => &[],
        }
    }

    /// Columns whose values rarely repeat.
    pub const fn distinct(self) -> &'static [&'static str] {
        match self {
            Self::Filings => &["business_id", "id", "document_number", "name", "url"],
            Self::Officers => &["business_id", "name"],
            Self::Details | Self::Changes => &["business_id"],
            _ => &[],
        }
    }

    /// Whether the table is partitioned by `filed_month`, which is then in the path only.
    pub const fn is_partitioned(self) -> bool {
        matches!(self, Self::Filings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sorts_and_blooms_name_columns_and_no_key_is_nullable() {
        for table in Table::ALL {
            let schema = table.schema();
            for name in table.key() {
                let field = schema.field_with_name(name).expect("a key names a column");
                assert!(!field.is_nullable(), "{}.{name}", table.name());
            }
            for (name, _) in table.sort() {
                let field = schema.field_with_name(name).expect("an order names a column");
                assert!(!field.is_nullable(), "{}.{name}", table.name());
            }
            for name in table.key() {
                assert!(table.sort().iter().any(|(by, _)| by == name), "{} by {name}", table.name());
            }
            for name in table.bloom().iter().chain(table.distinct()) {
                assert!(schema.field_with_name(name).is_ok(), "{}.{name}", table.name());
            }
        }
    }
}
