//! The tables of the lake: name, meaning, key, sort order, partition. And the views over them, which are shared by every program
//! that reads the lake with SQL.

/// Version of all table schemas together; written into every file and every commit.
pub const SCHEMA_VERSION: u32 = 1;

/// Directions of a sort order.
const DOWN: bool = true;
const UP: bool = false;

macro_rules! tables {
    ($($table:ident $name:literal $meaning:literal key $key:tt sort $sort:tt)*) => {
        /// A table of the lake; aggregates are not among them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Table { $(#[doc = $meaning] $table),* }

        impl Table {
            /// All tables, in the order they are documented.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$table),*];

            /// Folder name of the table in a snapshot.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$table => $name),* }
            }

            /// What a row of it says.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$table => $meaning),* }
            }

            /// The columns of the primary key. None of them is null.
            pub const fn key(self) -> &'static [&'static str] {
                match self { $(Self::$table => &$key),* }
            }

            /// Sort order in a file: column and whether it descends. It includes every key column, so the order is unique.
            pub const fn sort(self) -> &'static [(&'static str, bool)] {
                match self { $(Self::$table => &$sort),* }
            }
        }
    };
}

tables! {
    Filings "filings" "One row a business, as last read."
        key ["business_id"] sort [("filed_date", DOWN), ("business_id", DOWN)]
    Details "details" "What a look-up of one business adds."
        key ["business_id"] sort [("business_id", DOWN)]
    Officers "officers" "Officers of looked-up businesses."
        key ["business_id", "position"] sort [("business_id", DOWN), ("position", UP)]
    Changes "changes" "What appeared, changed, vanished or returned."
        key ["run_id", "observed_on", "business_id", "change", "field"]
        sort [("observed_at", DOWN), ("observed_on", DOWN), ("business_id", DOWN), ("change", UP), ("field", UP), ("run_id", UP)]
    DailyCounts "daily_counts" "The API's own count of each day, as last observed."
        key ["filed_date"] sort [("filed_date", DOWN)]
    DailyCountsHistory "daily_counts_history" "The API's own count of each day, by the day of the observation."
        key ["observed_on", "filed_date"]
        sort [("observed_on", DOWN), ("filed_date", DOWN)]
    Counties "counties" "The API's own counts of each county, as last observed."
        key ["county_key"] sort [("county_key", UP)]
    CountiesHistory "counties_history" "The API's own counts of each county, by the day of the observation."
        key ["observed_on", "county_key"]
        sort [("observed_on", DOWN), ("county_key", UP)]
    MonthlyCounts "monthly_counts" "The API's own monthly counts by type, as last observed."
        key ["filed_month", "entity_type"] sort [("filed_month", DOWN), ("entity_type", UP)]
    MonthlyCountsHistory "monthly_counts_history" "The API's own monthly counts by type, by the day of the observation."
        key ["observed_on", "filed_month", "entity_type"]
        sort [("observed_on", DOWN), ("filed_month", DOWN), ("entity_type", UP)]
    Statewide "statewide" "The API's own statewide figures, as last observed."
        key ["observed_on"] sort [("observed_on", DOWN)]
    StatewideHistory "statewide_history" "The API's own statewide figures, by the day of the observation."
        key ["observed_on"]
        sort [("observed_on", DOWN)]
    TypeSplit "type_split" "The API's own split by type of the last 30 days, as last observed."
        key ["entity_type"] sort [("entity_type", UP)]
    TypeSplitHistory "type_split_history" "The API's own split by type of the last 30 days, by the day of the observation."
        key ["observed_on", "entity_type"]
        sort [("observed_on", DOWN), ("entity_type", UP)]
    IndustryTypes "industry_types" "Sectors and industry types, as last observed."
        key ["industry_sector", "industry_type"] sort [("industry_sector", UP), ("industry_type", UP)]
    IndustryTypesHistory "industry_types_history" "Sectors and industry types, by the day of the observation."
        key ["observed_on", "industry_sector", "industry_type"]
        sort [("observed_on", DOWN), ("industry_sector", UP), ("industry_type", UP)]
    IndustrySegments "industry_segments" "Segments and their members, as last observed."
        key ["segment", "kind", "member"] sort [("segment", UP), ("kind", UP), ("member", UP)]
    IndustrySegmentsHistory "industry_segments_history" "Segments and their members, by the day of the observation."
        key ["observed_on", "segment", "kind", "member"]
        sort [("observed_on", DOWN), ("segment", UP), ("kind", UP), ("member", UP)]
    EntityTypes "entity_types" "Entity types and labels, as last observed."
        key ["entity_type"] sort [("entity_type", UP)]
    EntityTypesHistory "entity_types_history" "Entity types and labels, by the day of the observation."
        key ["observed_on", "entity_type"]
        sort [("observed_on", DOWN), ("entity_type", UP)]
    Coverage "coverage" "How complete each day is."
        key ["filed_date", "entity_type"] sort [("filed_date", DOWN), ("entity_type", UP)]
    Days "days" "One row a day with filings or coverage."
        key ["filed_date"] sort [("filed_date", DOWN)]
    Months "months" "One row a month with filings or coverage."
        key ["filed_month"] sort [("filed_month", DOWN)]
    Events "events" "What happened to a business, from the state's files."
        key ["business_id", "position"] sort [("business_id", DOWN), ("position", UP)]
    UnmatchedEvents "unmatched_events" "Events of the state's files whose business has no record yet."
        key ["business_id", "position"] sort [("business_id", DOWN), ("position", UP)]
    Records "records" "Which file of the state has the newest record of a business, and older records that still count."
        key ["business_id", "source_date", "source_rank"]
        sort [("business_id", DOWN), ("source_date", DOWN), ("source_rank", DOWN)]
    Imports "imports" "One row a file of the state that was read."
        key ["digest", "file"] sort [("source_date", DOWN), ("file", UP), ("digest", UP)]
    CountyFacts "county_facts" "One row a county: its code, population, land and region."
        key ["county_key"] sort [("county_key", UP)]
    IndustryLabels "industry_labels" "Labels of sectors and industry types."
        key ["industry_key"] sort [("industry_key", UP)]
}

impl Table {
    /// The table of a folder name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }

    /// The table with every observation, of one that has the latest.
    pub fn history(self) -> Option<Self> {
        Self::from_name(&format!("{}_history", self.name()))
    }

    /// Columns with a bloom filter.
    pub const fn bloom(self) -> &'static [&'static str] {
        match self {
            Self::Filings => &["business_id", "document_number"],
            Self::Details | Self::Officers | Self::Events | Self::Records => &["business_id"],
            _ => &[],
        }
    }

    /// Columns whose values rarely repeat.
    pub const fn distinct(self) -> &'static [&'static str] {
        match self {
            Self::Filings => &["business_id", "document_number", "name", "url"],
            Self::Officers => &["business_id", "name"],
            Self::Details => &["business_id", "principal_street", "mailing_street"],
            Self::Changes | Self::Events | Self::Records => &["business_id"],
            _ => &[],
        }
    }

    /// Whether a column has few different values. Such columns are stored as they are: to begin unpacking takes longer than reading them.
    pub fn is_repeated(self, column: &str) -> bool {
        let packed: &[&str] = match self {
            Self::Filings => &["dissolved_date", "extra"],
            Self::Details => &[
                "principal_street2",
                "principal_zip",
                "mailing_street2",
                "mailing_zip",
                "registered_agent_name",
                "fetched_at",
                "extra",
            ],
            _ => return false,
        };
        !packed.contains(&column) && !self.distinct().contains(&column)
    }

    /// Rows of a page at most, of tables from which single businesses are read. The names of officers resemble each other, and shrink
    /// less in smaller pages.
    pub const fn page_rows(self) -> Option<usize> {
        match self {
            Self::Details => Some(512),
            Self::Officers => Some(2 * 1024),
            _ => None,
        }
    }

    /// Whether only a lake of the state's files has the table.
    pub const fn is_of_state(self) -> bool {
        matches!(self, Self::Events | Self::UnmatchedEvents | Self::Records | Self::Imports)
    }

    /// Whether the table is partitioned by `filed_month`, which is then in the path only.
    pub const fn is_partitioned(self) -> bool {
        matches!(self, Self::Filings)
    }
}

/// A query with a name.
pub(crate) struct View {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The tables that it reads.
    pub(crate) tables: &'static [&'static str],
    pub(crate) sql: &'static str,
}

impl View {
    /// Whether a snapshot with these tables can answer it.
    pub(crate) fn is_of(&self, has: impl Fn(&str) -> bool) -> bool {
        self.tables.iter().all(|table| has(table))
    }
}

/// All views. The table `days` needs none.
pub(crate) const VIEWS: [View; 2] = [
    View {
        name: "businesses",
        about: "Listed businesses, with labels; filed_month is the first day of the month.",
        tables: &["filings", "entity_types", "industry_labels"],
        sql: "\
SELECT f.business_id, f.document_number, f.name, f.entity_type, t.label AS entity_type_label, f.company_type, f.status,
    f.filed_date, CAST(SUBSTR(CAST(f.filed_date AS STRING), 1, 7) || '-01' AS DATE) AS filed_month, f.dissolved_date,
    f.city, f.city_clean, f.zip, f.county, f.county_key, f.industry_sector, s.label AS industry_sector_label,
    f.industry_type, i.label AS industry_type_label, f.url, f.source, f.first_seen_at, f.changed_at
FROM filings f
LEFT JOIN entity_types t ON t.entity_type = f.entity_type
LEFT JOIN industry_labels s ON s.industry_key = f.industry_sector
LEFT JOIN industry_labels i ON i.industry_key = f.industry_type
WHERE f.listed",
    },
    View {
        name: "changes_detail",
        about: "What appeared, changed, vanished or returned, with the business as it is now.",
        tables: &["changes", "filings"],
        sql: "\
SELECT c.observed_on, c.observed_at, c.change, c.field, c.old, c.new, c.business_id, f.name, f.entity_type, f.county,
    f.city_clean, f.filed_date, f.listed, c.run_id
FROM changes c
LEFT JOIN filings f ON f.business_id = c.business_id",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_businesses_by_month_are_sorted_by_their_key() {
        for table in [Table::Details, Table::Officers, Table::Events, Table::Records] {
            let sort: Vec<&str> = table.sort().iter().map(|(name, _)| *name).collect();
            assert_eq!(sort, table.key(), "{}", table.name());
        }
    }

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
