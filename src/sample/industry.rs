//! Industries of businesses: sectors, types, segments, and the words in a name that imply them.
//!
//! `trades.csv` and `causes.csv` (nonprofits): type, weight, phrases of names. Most names imply nothing; their type is
//! `other.general`.

use super::chance::{Draw, Weighted};
use crate::contract::business::Industry;
use crate::contract::reference::{Industries, Sector, Segment};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// An industry type and the phrases that imply it.
#[derive(Debug)]
pub(super) struct Trade {
    /// `<sector>.<type_name>`.
    pub(super) key: &'static str,
    pub(super) phrases: Vec<&'static str>,
}

/// The type of names that imply nothing.
pub(super) const GENERAL: &str = "other.general";

/// The industries of most companies.
pub(super) static TRADES: LazyLock<Weighted<Trade>> = LazyLock::new(|| read(include_str!("trades.csv")));
/// Those of nonprofits.
pub(super) static CAUSES: LazyLock<Weighted<Trade>> = LazyLock::new(|| read(include_str!("causes.csv")));

/// Groups of sectors and types. `construction` is also the key of a sector, and then means the sector.
const SEGMENTS: [(&str, &[&str], &[&str]); 5] = [
    ("caregivers", &["health"], &["education.childcare"]),
    ("construction", &["construction"], &["home_services.handyman", "real_estate.brokerage"]),
    ("money", &["finance"], &["professional.accounting", "professional.insurance"]),
    ("storefronts", &["beauty", "food", "retail"], &[]),
    ("trades", &["construction", "home_services"], &["automotive.repair"]),
];

fn read(table: &'static str) -> Weighted<Trade> {
    let row = |line: &'static str| {
        let mut cells = line.split(',');
        let (key, weight) = (cells.next()?, cells.next()?.parse().ok()?);
        Some((Trade { key, phrases: cells.next()?.split('|').collect() }, weight))
    };
    table.lines().skip(1).filter_map(row).collect()
}

/// A type of one of the tables, by weight, and the phrase that implies it.
pub(super) fn implied_by(table: &'static Weighted<Trade>, draw: &mut Draw) -> (&'static str, &'static str) {
    table.draw(draw).map_or((GENERAL, "GROUP"), |trade| (trade.key, draw.word(&trade.phrases)))
}

/// Every phrase of companies' names with the type it implies.
pub(super) fn phrases() -> impl Iterator<Item = (&'static str, &'static str)> {
    TRADES.items.iter().flat_map(|trade| trade.phrases.iter().map(|phrase| (trade.key, *phrase)))
}

pub(super) fn industry(key: &str) -> Industry {
    let sector = key.split_once('.').map_or(key, |(sector, _)| sector);
    Industry { sector: sector.to_owned(), kind: key.to_owned() }
}

/// All industries of the sample: its sectors and types, alphabetical, and segments.
pub fn industries() -> Industries {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for trade in TRADES.items.iter().chain(&CAUSES.items) {
        let Industry { sector, kind } = industry(trade.key);
        types.entry(sector).or_default().push(kind);
    }
    let texts = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    let sectors = types.into_iter().map(|(sector, mut types)| {
        types.sort();
        types.dedup();
        Sector { sector, types }
    });
    let segments = SEGMENTS.iter().map(|(key, sectors, types)| Segment {
        key: (*key).to_owned(),
        sectors: texts(sectors),
        types: texts(types),
    });
    Industries { sectors: sectors.collect(), segments: segments.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_belongs_to_its_sector_and_every_segment_names_known_ones() {
        let Industries { sectors, segments } = industries();
        assert!((15..=20).contains(&sectors.len()), "{}", sectors.len());
        let known = |kind: &String| sectors.iter().any(|sector| sector.types.contains(kind));
        for sector in &sectors {
            assert!(sector.types.iter().all(|kind| kind.starts_with(&format!("{}.", sector.sector))));
        }
        for segment in &segments {
            assert!(segment.types.iter().all(known), "{segment:?}");
            let named = |key: &String| sectors.iter().any(|sector| sector.sector == *key);
            assert!(segment.sectors.iter().all(named), "{segment:?}");
        }
        let both = |segment: &&Segment| sectors.iter().any(|sector| sector.sector == segment.key);
        assert_eq!(segments.iter().filter(both).count(), 1);
    }

    #[test]
    fn every_line_of_the_tables_is_read() {
        let lines = |text: &str| text.lines().count() - 1;
        assert_eq!(TRADES.items.len(), lines(include_str!("trades.csv")));
        assert_eq!(CAUSES.items.len(), lines(include_str!("causes.csv")));
        assert!(phrases().all(|(key, phrase)| key.contains('.') && !phrase.is_empty()));
    }
}
