//! Views that answer most questions, over the tables of a snapshot. Shared by every program that reads the lake with SQL.

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
