//! The narrower filters of a cell along one dimension, and the share of its rows that each is likely to hold (pure).

use super::histogram::{FLORIDA_ZIP3, Shares, by_weight, is_of_florida};
use super::row_set::SeenRow;
use super::slice::Filter;
use crate::contract::reference::{EntityType, EntityTypeEntry, Industries};
use std::collections::{BTreeMap, BTreeSet};

/// A way of cutting a cell into narrower ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dimension {
    /// `industry` by sector: every record has one, as a rule a published one.
    Sector,
    /// `type`: counts know a seventh value.
    Kind,
    /// `industry` by the types of the cell's sector.
    IndustryType,
    /// `zip` by prefixes of three digits; by one digit more where the cell has a prefix.
    Zip,
}

/// Lists that narrow a cell, known from the reference stage.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// Sectors with their types.
    pub sectors: Vec<(String, Vec<String>)>,
    /// Type keys; the untyped listing may leave fictitious names out.
    pub kinds: Vec<EntityType>,
}

impl Vocabulary {
    /// The values of the published lists.
    pub fn of(industries: &Industries, entity_types: &[EntityTypeEntry]) -> Self {
        let sectors = industries.sectors.iter();
        Self {
            sectors: sectors.map(|sector| (sector.sector.clone(), sector.types.clone())).collect(),
            kinds: entity_types.iter().filter_map(|entry| EntityType::from_key(&entry.key)).collect(),
        }
    }

    /// Whether a sector is published, so that rows can be asked for by it.
    pub(crate) fn lists(&self, sector: &str) -> bool {
        self.sectors.iter().any(|(key, _)| key == sector)
    }
}

/// A narrower filter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub(crate) filter: Filter,
    /// Share of the cell's rows, 0 to 1.
    pub(crate) share: f64,
}

/// A ZIP prefix outside Florida that is likely to hold fewer rows of a cell is not asked for before it must.
pub(crate) const LEAST_ROWS: f64 = 0.25;

impl Dimension {
    /// Whether every row comes under one of its published values: the types may leave some out, and ZIP codes do.
    pub(crate) fn is_exhaustive(self) -> bool {
        matches!(self, Self::Sector | Self::IndustryType)
    }

    /// Whether a cell can be cut along it.
    pub(crate) fn applies(self, filter: &Filter) -> bool {
        match self {
            Self::Sector => filter.industry.is_none(),
            Self::IndustryType => filter.industry.as_ref().is_some_and(|key| !key.contains('.')),
            Self::Kind => filter.kind.is_none(),
            Self::Zip => filter.zip.as_ref().is_none_or(|zip| zip.len() < 5),
        }
    }
}

/// The parts of a cell of so many rows along a dimension, those likely to hold most first.
pub(crate) fn parts(
    filter: &Filter,
    dimension: Dimension,
    rows: u64,
    words: &Vocabulary,
    shares: &Shares,
) -> Vec<Part> {
    let industry = |key: String| Filter { industry: Some(key), ..filter.clone() };
    let mut parts: Vec<Part> = match dimension {
        Dimension::Sector => {
            let keys = words.sectors.iter().map(|(sector, _)| sector.clone());
            keys.map(|key| Part { share: shares.of_sector(&key), filter: industry(key) }).collect()
        }
        Dimension::IndustryType => {
            let sector = filter.industry.as_deref().unwrap_or("");
            let known = words.sectors.iter().find(|(key, _)| key == sector);
            let types = known.map(|(_, types)| types.clone()).unwrap_or_default();
            let share = 1.0 / types.len().max(1) as f64;
            types.into_iter().map(|key| Part { share, filter: industry(key) }).collect()
        }
        Dimension::Kind => {
            let kinds = words.kinds.iter().filter(|kind| **kind != EntityType::Fictitious);
            let part = |kind: &EntityType| Part {
                share: shares.of_kind(*kind),
                filter: Filter { kind: Some(*kind), ..filter.clone() },
            };
            kinds.map(part).collect()
        }
        Dimension::Zip => zips(filter, rows, shares)
            .into_iter()
            .map(|(zip, share)| Part { share, filter: under_zip(filter, zip) })
            .collect(),
    };
    // A stable sort keeps the given order among equals.
    parts.sort_by(|a, b| b.share.total_cmp(&a.share));
    parts
}

/// A cell's filter under a ZIP prefix.
pub(crate) fn under_zip(filter: &Filter, zip: String) -> Filter {
    Filter { zip: Some(zip), ..filter.clone() }
}

fn zips(filter: &Filter, rows: u64, shares: &Shares) -> Vec<(String, f64)> {
    if let Some(prefix) = &filter.zip {
        let digits = Shares::digits();
        let even = 1.0 / digits.len() as f64;
        return (0..digits.len()).map(|digit| (format!("{prefix}{digit}"), even)).collect();
    }
    let florida = FLORIDA_ZIP3.iter().map(|zip| (*zip).to_owned());
    let elsewhere = likely_prefixes(rows, shares);
    florida.chain(elsewhere).map(|zip| (zip.clone(), shares.of_zip3(&zip))).collect()
}

/// ZIP prefixes outside Florida under which rows of a cell of so many rows are likely, most likely first.
fn likely_prefixes(rows: u64, shares: &Shares) -> Vec<String> {
    let mut prefixes = shares.elsewhere();
    prefixes.retain(|zip| shares.of_zip3(zip) * rows as f64 > LEAST_ROWS);
    prefixes
}

/// The narrower filters of a cell under which rows from outside Florida are known, with the share of its rows that each is likely to hold,
/// most first: by ZIP prefix, and by city for those that have no ZIP code.
pub(crate) fn known_elsewhere(filter: &Filter, shares: &Shares) -> Vec<Part> {
    let prefixes = shares.elsewhere().into_iter();
    let prefixes = prefixes.map(|zip| Part { share: shares.of_zip3(&zip), filter: under_zip(filter, zip) });
    let cities = shares.abroad.keys().filter(|city| is_askable_city(city));
    let cities = cities.map(|city| Part {
        share: shares.of_city_abroad(city),
        filter: Filter { city: Some(city.clone()), ..filter.clone() },
    });
    let mut parts: Vec<Part> = prefixes.chain(cities).collect();
    parts.sort_by(|a, b| b.share.total_cmp(&a.share));
    parts
}

/// Whether the API takes a text as a city: 1 to 40 characters, none of them a control character.
fn is_askable_city(city: &str) -> bool {
    (1..=40).contains(&city.chars().count()) && !city.chars().any(char::is_control) && city.trim() == city
}

/// Every ZIP prefix outside Florida, the likely ones first: whoever asks on until the last row is there finds it, where it
/// has a ZIP code at all.
pub(crate) fn everywhere(shares: &Shares) -> Vec<String> {
    let mut zips = shares.elsewhere();
    let known: BTreeSet<String> = zips.iter().cloned().collect();
    let all = (0..1_000).map(|number| format!("{number:03}"));
    zips.extend(all.filter(|zip| !is_of_florida(zip) && !known.contains(zip)));
    zips
}

/// Characters that stand second or third in names, beside letters and digits.
const ODD: [char; 4] = ['&', '\'', '.', '-'];

/// Starts of names: those of the rows seen, the most frequent first, then the others that letters and digits make. Two characters, or
/// three where the second is a blank, which a search does not count as the end of a start.
pub(crate) fn name_starts<'a>(seen: impl Iterator<Item = &'a SeenRow>) -> Vec<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for start in seen.filter_map(|row| askable(&row.name_start)) {
        *counts.entry(start).or_default() += 1;
    }
    let mut starts = by_weight(counts.keys().cloned(), &counts);
    let letters = || ('A'..='Z').chain('0'..='9');
    for gap in ["", " "] {
        let second = |first: char| letters().chain(ODD).map(move |second| format!("{first}{gap}{second}"));
        starts.extend(letters().flat_map(second).filter(|start| !counts.contains_key(start)));
    }
    starts
}

/// The start by which a name can be asked for; none where it has none.
pub(crate) fn askable(name: &str) -> Option<String> {
    let letters = if name.chars().nth(1)? == ' ' { 3 } else { 2 };
    let start: String = name.chars().take(letters).collect();
    let fits =
        start.chars().count() == letters && !start.ends_with(' ') && !start.chars().any(char::is_control);
    fits.then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_elsewhere_are_asked_for_under_every_prefix_there_is() {
        let shares = Shares { zip3: [("891".to_owned(), 3)].into(), rows: 3, ..Shares::default() };
        let asked = everywhere(&shares);
        let all: BTreeSet<&String> = asked.iter().collect();
        assert_eq!((all.len(), asked.len()), (1_000 - FLORIDA_ZIP3.len(), 1_000 - FLORIDA_ZIP3.len()));
        assert_eq!(asked[0], "891");
        assert!(all.contains(&"074".to_owned()));
    }

    #[test]
    fn a_name_of_one_letter_and_a_blank_is_asked_for_by_three() {
        let asked = |name| askable(name);
        assert_eq!(asked("A 1").as_deref(), Some("A 1"));
        assert_eq!(asked("SUN").as_deref(), Some("SU"));
        assert_eq!((asked("A"), asked("A  ")), (None, None));
        let starts = name_starts(std::iter::empty());
        assert!(starts.contains(&"A &".to_owned()) && starts.contains(&"1S".to_owned()));
        assert!(starts.iter().all(|start| askable(start).as_ref() == Some(start)));
    }

    #[test]
    fn a_prefix_elsewhere_is_asked_for_where_it_is_likely_to_hold_a_row() {
        let zip3 = [("331", 900), ("100", 9), ("891", 1)].map(|(zip, rows)| (zip.to_owned(), rows));
        let shares = Shares { rows: 1_000, zip3: zip3.into(), ..Shares::default() };
        let asked = |rows| {
            let parts =
                parts(&Filter::default(), Dimension::Zip, rows, &Vocabulary::default(), &shares).into_iter();
            parts.filter_map(|part| part.filter.zip).collect::<Vec<_>>()
        };
        assert_eq!(asked(200)[..2], ["331", "100"]);
        assert_eq!((asked(20).len(), asked(200).len(), asked(300).len()), (26, 27, 28));
        let narrow = Filter { zip: Some("331".to_owned()), ..Filter::default() };
        let digits = parts(&narrow, Dimension::Zip, 9, &Vocabulary::default(), &shares);
        assert_eq!(digits.len(), 10);
        assert_eq!(digits[3].filter.zip.as_deref(), Some("3313"));
    }
}
