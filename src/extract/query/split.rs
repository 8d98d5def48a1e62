//! The narrower filters of a query along one dimension, and the share of its rows that each probably has (pure).

use super::histogram::{FLORIDA_ZIP3, Shares, by_weight, is_of_florida};
use super::row::SeenRow;
use super::slice::Filter;
use crate::contract::reference::{EntityType, EntityTypeEntry, Industries};
use std::collections::BTreeMap;

/// A filter by which a query is split into narrower ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dimension {
    /// `industry` by sector: every record has one, usually a published one.
    Sector,
    /// `type`: statewide counts have a seventh value, so it may not be exhaustive.
    Kind,
    /// `industry` by the types of the query's sector.
    IndustryType,
    /// `zip` by prefixes of three digits, or by one more digit of its prefix.
    Zip,
}

/// The published values of the filters, from the reference stage.
#[derive(Debug, Clone, Default)]
pub(crate) struct FilterValues {
    /// Sectors with their types.
    pub(crate) sectors: Vec<(String, Vec<String>)>,
    pub(crate) kinds: Vec<EntityType>,
}

impl FilterValues {
    pub(crate) fn of(industries: &Industries, entity_types: &[EntityTypeEntry]) -> Self {
        let sectors = industries.sectors.iter();
        Self {
            sectors: sectors.map(|sector| (sector.sector.clone(), sector.types.clone())).collect(),
            kinds: entity_types.iter().filter_map(|entry| EntityType::from_key(&entry.key)).collect(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub(crate) filter: Filter,
    /// Share of the query's rows, 0 to 1.
    pub(crate) share: f64,
}

/// A ZIP prefix outside Florida with fewer expected rows is requested only when rows are missing.
pub(crate) const LEAST_ROWS: f64 = 0.25;

impl Dimension {
    /// Whether every row has one of its published values. Types may miss some rows; ZIP codes do.
    pub(crate) fn is_exhaustive(self) -> bool {
        matches!(self, Self::Sector | Self::IndustryType)
    }

    /// Whether a query can be split by it.
    pub(crate) fn applies(self, filter: &Filter) -> bool {
        match self {
            Self::Sector => filter.industry.is_none(),
            Self::IndustryType => filter.industry.as_ref().is_some_and(|key| !key.contains('.')),
            Self::Kind => filter.kind.is_none(),
            Self::Zip => filter.zip.as_ref().is_none_or(|zip| zip.len() < 5),
        }
    }
}

/// The parts of a query with this number of rows along a dimension, largest first.
pub(crate) fn parts(
    filter: &Filter,
    dimension: Dimension,
    rows: u64,
    values: &FilterValues,
    shares: &Shares,
) -> Vec<Part> {
    let industry = |key: String| Filter { industry: Some(key), ..filter.clone() };
    let mut parts: Vec<Part> = match dimension {
        Dimension::Sector => {
            let keys = values.sectors.iter().map(|(sector, _)| sector.clone());
            keys.map(|key| Part { share: shares.of_sector(&key), filter: industry(key) }).collect()
        }
        Dimension::IndustryType => {
            let sector = filter.industry.as_deref().unwrap_or("");
            let known = values.sectors.iter().find(|(key, _)| key == sector);
            let types = known.map(|(_, types)| types.clone()).unwrap_or_default();
            let share = 1.0 / types.len().max(1) as f64;
            types.into_iter().map(|key| Part { share, filter: industry(key) }).collect()
        }
        Dimension::Kind => {
            let kinds = values.kinds.iter().filter(|kind| **kind != EntityType::Fictitious);
            let part = |kind: &EntityType| Part {
                share: shares.of_kind(*kind),
                filter: Filter { kind: Some(*kind), ..filter.clone() },
            };
            kinds.map(part).collect()
        }
        Dimension::Zip => zips(filter, rows, shares),
    };
    // A stable sort keeps the given order of equal shares.
    parts.sort_by(|a, b| b.share.total_cmp(&a.share));
    parts
}

pub(crate) fn under_zip(filter: &Filter, zip: String) -> Filter {
    Filter { zip: Some(zip), ..filter.clone() }
}

fn zips(filter: &Filter, rows: u64, shares: &Shares) -> Vec<Part> {
    let part = |share: f64, zip: String| Part { share, filter: under_zip(filter, zip) };
    if let Some(prefix) = &filter.zip {
        return (0..10).map(|digit| part(0.1, format!("{prefix}{digit}"))).collect();
    }
    let florida = FLORIDA_ZIP3.iter().map(|zip| (*zip).to_owned());
    let others = shares.out_of_state().into_iter();
    let others = others.filter(|zip| shares.of_zip3(zip) * rows as f64 > LEAST_ROWS);
    florida.chain(others).map(|zip| part(shares.of_zip3(&zip), zip)).collect()
}

/// The parts with addresses outside Florida, largest first: by known ZIP prefix; by city for rows without a ZIP code.
pub(crate) fn known_out_of_state(filter: &Filter, shares: &Shares) -> Vec<Part> {
    let prefixes = shares.out_of_state().into_iter();
    let prefixes = prefixes.map(|zip| Part { share: shares.of_zip3(&zip), filter: under_zip(filter, zip) });
    let cities = shares.no_zip_cities.keys().filter(|city| is_askable_city(city));
    let cities = cities.map(|city| Part {
        share: shares.of_no_zip_city(city),
        filter: Filter { city: Some(city.clone()), ..filter.clone() },
    });
    let mut parts: Vec<Part> = prefixes.chain(cities).collect();
    parts.sort_by(|a, b| b.share.total_cmp(&a.share));
    parts
}

/// Whether the API accepts a text as a city: 1 to 40 characters, no control characters.
fn is_askable_city(city: &str) -> bool {
    (1..=40).contains(&city.chars().count()) && !city.chars().any(char::is_control) && city.trim() == city
}

/// All ZIP prefixes outside Florida, known ones first. Together they find every row that has a ZIP code.
pub(crate) fn all_out_of_state_zip3(shares: &Shares) -> Vec<String> {
    let mut zips = shares.out_of_state();
    let all = (0..1_000).map(|number| format!("{number:03}"));
    zips.extend(all.filter(|zip| !is_of_florida(zip) && !shares.zip3.contains_key(zip)));
    zips
}

/// Other characters than letters and digits that are second or third in names.
const ODD: [char; 4] = ['&', '\'', '.', '-'];

/// Name prefixes: those of the rows, most frequent first, then all others of letters and digits. They have two characters, or three
/// if the second is a blank, because a search ignores a blank at the end of `q`.
pub(crate) fn name_prefixes<'a>(seen: impl Iterator<Item = &'a SeenRow>) -> Vec<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for prefix in seen.filter_map(|row| askable(&row.name_prefix)) {
        *counts.entry(prefix).or_default() += 1;
    }
    let mut prefixes = by_weight(counts.keys().cloned(), &counts);
    let letters = || ('A'..='Z').chain('0'..='9');
    for gap in ["", " "] {
        let second = |first: char| letters().chain(ODD).map(move |second| format!("{first}{gap}{second}"));
        prefixes.extend(letters().flat_map(second).filter(|prefix| !counts.contains_key(prefix)));
    }
    prefixes
}

/// The prefix by which a name can be searched; none if it has none.
pub(crate) fn askable(name: &str) -> Option<String> {
    let letters = if name.chars().nth(1)? == ' ' { 3 } else { 2 };
    let prefix: String = name.chars().take(letters).collect();
    let fits =
        prefix.chars().count() == letters && !prefix.ends_with(' ') && !prefix.chars().any(char::is_control);
    fits.then_some(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn all_prefixes_outside_florida_are_listed_once_known_ones_first() {
        let shares = Shares { zip3: [("891".to_owned(), 3)].into(), rows: 3, ..Shares::default() };
        let asked = all_out_of_state_zip3(&shares);
        let all: BTreeSet<&String> = asked.iter().collect();
        assert_eq!((all.len(), asked.len()), (1_000 - FLORIDA_ZIP3.len(), 1_000 - FLORIDA_ZIP3.len()));
        assert_eq!(asked[0], "891");
        assert!(all.contains(&"074".to_owned()));
    }

    #[test]
    fn name_with_a_blank_second_is_searched_by_three_characters() {
        let asked = |name| askable(name);
        assert_eq!(asked("A 1").as_deref(), Some("A 1"));
        assert_eq!(asked("SUN").as_deref(), Some("SU"));
        assert_eq!((asked("A"), asked("A  ")), (None, None));
        let prefixes = name_prefixes(std::iter::empty());
        assert!(prefixes.contains(&"A &".to_owned()) && prefixes.contains(&"1S".to_owned()));
        assert!(prefixes.iter().all(|prefix| askable(prefix).as_ref() == Some(prefix)));
    }

    #[test]
    fn prefix_outside_florida_is_a_part_when_a_row_is_likely() {
        let zip3 = [("331", 900), ("100", 9), ("891", 1)].map(|(zip, rows)| (zip.to_owned(), rows));
        let shares = Shares { rows: 1_000, zip3: zip3.into(), ..Shares::default() };
        let asked = |rows| {
            let parts = parts(&Filter::default(), Dimension::Zip, rows, &FilterValues::default(), &shares)
                .into_iter();
            parts.filter_map(|part| part.filter.zip).collect::<Vec<_>>()
        };
        assert_eq!(asked(200)[..2], ["331", "100"]);
        assert_eq!((asked(20).len(), asked(200).len(), asked(300).len()), (26, 27, 28));
        let narrow = Filter { zip: Some("331".to_owned()), ..Filter::default() };
        let digits = parts(&narrow, Dimension::Zip, 9, &FilterValues::default(), &shares);
        assert_eq!(digits.len(), 10);
        assert_eq!(digits[3].filter.zip.as_deref(), Some("3313"));
    }
}
