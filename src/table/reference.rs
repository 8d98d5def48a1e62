//! Rows of the filter values: entity types, industry sectors with their types, segments.

use super::column::OBSERVED_ON;
use super::row::table_row;
use crate::contract::county::{CountyFacts, county_facts, county_key};
use crate::contract::reference::{
    EntityType, EntityTypeEntry, Industries, Sector, Segment, industry_labels, label_of_key,
};
use jiff::civil::Date;
use std::collections::BTreeMap;

table_row! {
    /// One entity type.
    EntityTypeRow of EntityTypes {
        observed_on: Date = OBSERVED_ON,
        entity_type: String = "value of the type filter",
        label: String = "display label",
    }
}

impl EntityTypeRow {
    /// The row of an entry that the API gave on a day.
    pub fn from(observed_on: Date, record: &EntityTypeEntry) -> Self {
        Self { observed_on, entity_type: record.key.clone(), label: record.label.clone() }
    }

    /// The rows of all types, with the program's labels.
    pub fn all(observed_on: Date) -> Vec<Self> {
        let row = |kind: EntityType| Self {
            observed_on,
            entity_type: kind.key().to_owned(),
            label: kind.label().to_owned(),
        };
        EntityType::ALL.map(row).into()
    }
}

table_row! {
    /// One industry type in its sector.
    IndustryTypeRow of IndustryTypes {
        observed_on: Date = OBSERVED_ON,
        industry_sector: String = "industry sector key",
        industry_type: String = "industry type key, <sector>.<type_name>; empty for a sector without types",
    }
}

impl IndustryTypeRow {
    /// The rows of one sector: one a type, or one with an empty type when it has none.
    pub fn from(observed_on: Date, record: &Sector) -> Vec<Self> {
        let row = |industry_type: &str| Self {
            observed_on,
            industry_sector: record.sector.clone(),
            industry_type: industry_type.to_owned(),
        };
        if record.types.is_empty() {
            return vec![row("")];
        }
        record.types.iter().map(|kind| row(kind)).collect()
    }
}

/// What a segment's row names.
const SECTOR: &str = "sector";
const TYPE: &str = "type";
/// A segment that holds nothing: `kind` and `member` are empty.
const NOTHING: &str = "";

table_row! {
    /// One sector or industry type in a segment.
    SegmentRow of IndustrySegments {
        observed_on: Date = OBSERVED_ON,
        segment: String = "segment key",
        kind: String = "sector or type; empty for a segment that holds nothing",
        member: String = "key of the sector or type it holds; empty with kind",
    }
}

impl SegmentRow {
    /// The rows of one segment: its sectors, then its types; one row with empty `kind` for an empty segment.
    pub fn from(observed_on: Date, record: &Segment) -> Vec<Self> {
        let row = |kind: &str, member: &str| Self {
            observed_on,
            segment: record.key.clone(),
            kind: kind.to_owned(),
            member: member.to_owned(),
        };
        let sectors = record.sectors.iter().map(|sector| row(SECTOR, sector));
        let types = record.types.iter().map(|kind| row(TYPE, kind));
        let rows: Vec<Self> = sectors.chain(types).collect();
        if rows.is_empty() { vec![row(NOTHING, NOTHING)] } else { rows }
    }
}

table_row! {
    /// One county.
    CountyFactsRow of CountyFacts {
        county: String = "county display name",
        county_key: String = "county key of the API, in capitals",
        fips: String = "state and county code, 5 digits",
        population: i64 = "residents on April 1, 2020, by the census; the 67 add up to 21,538,187",
        land_area_sq_mi: i64 = "land in square miles, by the Census Bureau's gazetteer",
        region: String = "one of the state's 8 economic development regions",
    }
}

impl CountyFactsRow {
    /// The rows of all counties.
    pub fn all() -> Vec<Self> {
        let row = |county: CountyFacts| Self {
            county: county.name.to_owned(),
            county_key: county_key(county.name),
            fips: county.fips.to_owned(),
            population: county.population,
            land_area_sq_mi: county.land_area_sq_mi,
            region: county.region.to_owned(),
        };
        county_facts().map(row).collect()
    }
}

table_row! {
    /// One sector or industry type.
    IndustryLabelRow of IndustryLabels {
        industry_key: String = "key of a sector or of an industry type",
        label: String = "label for people; the words of the key where the program has none",
    }
}

impl IndustryLabelRow {
    /// The rows of all labels, and of the sectors and types in `listed` that have none.
    pub fn all(listed: &[Sector]) -> Vec<Self> {
        let keys = listed.iter().flat_map(|sector| sector.types.iter().chain([&sector.sector]));
        let mut labels: BTreeMap<String, String> = keys.map(|key| (key.clone(), label_of_key(key))).collect();
        labels.extend(industry_labels().map(|(key, label)| (key.to_owned(), label.to_owned())));
        labels.into_iter().map(|(industry_key, label)| Self { industry_key, label }).collect()
    }
}

/// The industry lists of one day's rows, in their order: those of a sector or a segment are neighbours.
pub fn industries(types: &[IndustryTypeRow], segments: &[SegmentRow]) -> Industries {
    let sectors = types.chunk_by(|one, next| one.industry_sector == next.industry_sector).map(|rows| {
        let types = rows.iter().map(|row| &row.industry_type).filter(|kind| !kind.is_empty());
        Sector { sector: rows[0].industry_sector.clone(), types: types.cloned().collect() }
    });
    let segments = segments.chunk_by(|one, next| one.segment == next.segment).map(|rows| {
        let members = |kind: &str| {
            let members = rows.iter().filter(|row| row.kind == kind);
            members.map(|row| row.member.clone()).collect()
        };
        Segment { key: rows[0].segment.clone(), sectors: members(SECTOR), types: members(TYPE) }
    });
    Industries { sectors: sectors.collect(), segments: segments.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::reference::EntityType;
    use crate::table::row::tests::assert_round_trip;
    use jiff::civil::date;

    const TODAY: Date = date(2026, 11, 20);

    #[test]
    fn entity_types_round_trip() {
        let rows = EntityType::ALL.map(|kind| {
            let entry = EntityTypeEntry { key: kind.key().to_owned(), label: kind.label().to_owned() };
            EntityTypeRow::from(TODAY, &entry)
        });
        assert_eq!((rows[5].entity_type.as_str(), rows[5].label.as_str()), ("trust", "Trust"));
        assert_round_trip(&rows);
    }

    #[test]
    fn industry_lists_keep_empty_sectors_and_segments() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let lists = Industries {
            sectors: vec![
                Sector { sector: "retail".to_owned(), types: words(&["retail.food", "retail.auto"]) },
                Sector { sector: "mining".to_owned(), types: Vec::new() },
            ],
            segments: vec![
                Segment {
                    key: "trades".to_owned(),
                    sectors: words(&["mining"]),
                    types: words(&["retail.auto"]),
                },
                Segment { key: "none".to_owned(), sectors: Vec::new(), types: Vec::new() },
            ],
        };
        let types: Vec<_> =
            lists.sectors.iter().flat_map(|sector| IndustryTypeRow::from(TODAY, sector)).collect();
        let segments: Vec<_> =
            lists.segments.iter().flat_map(|segment| SegmentRow::from(TODAY, segment)).collect();
        assert_eq!(industries(&types, &segments), lists);
        assert_round_trip(&types);
        assert_round_trip(&segments);
    }

    #[test]
    fn facts_and_labels_round_trip_and_every_listed_industry_has_a_label() {
        let counties = CountyFactsRow::all();
        assert_eq!((counties.len(), counties[42].county_key.as_str()), (67, "MIAMI-DADE"));
        assert_round_trip(&counties);
        let mining = Sector { sector: "mining".to_owned(), types: vec!["mining.open_pit".to_owned()] };
        let labels = IndustryLabelRow::all(&[mining]);
        let label = |key: &str| {
            let mut rows = labels.iter().filter(|row| row.industry_key == key);
            (rows.next().map(|row| row.label.as_str()), rows.count())
        };
        assert_eq!(label("mining.open_pit"), (Some("Open pit"), 0));
        assert_eq!(label("construction.hvac"), (Some("Heating and air conditioning"), 0));
        assert_eq!(labels.len(), IndustryLabelRow::all(&[]).len() + 2);
        assert_round_trip(&labels);
    }
}
