//! How rows are distributed over the values of a filter, learned from rows (pure).

use super::row::SeenRow;
use crate::contract::reference::EntityType;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// First three digits of the ZIP codes of Florida, those with most filings first.
pub(crate) const FLORIDA_ZIP3: [&str; 26] = [
    "331", "334", "328", "330", "337", "336", "333", "335", "347", "339", "322", "342", "346", "341", "338",
    "327", "349", "329", "344", "320", "325", "323", "324", "326", "332", "321",
];

/// Number of sectors assumed before any row is known.
pub(crate) const USUAL_SECTORS: usize = 20;
/// Share of the largest sector, which has the names without a known industry.
const USUAL_HEAVIEST: f64 = 0.55;

/// Shares of the types, without fictitious names.
const USUAL_KINDS: [(EntityType, f64); 5] = [
    (EntityType::Llc, 0.895),
    (EntityType::Corporation, 0.08),
    (EntityType::Nonprofit, 0.02),
    (EntityType::Partnership, 0.004),
    (EntityType::Trust, 0.001),
];

/// Share of the largest ZIP prefix of Florida, before any row is known; the others have equal shares.
const USUAL_ZIP3: f64 = 0.17;

/// Share of the largest next digit of a ZIP prefix; the others have equal shares.
const USUAL_DIGIT: f64 = 0.35;

/// Number of ZIP prefixes outside Florida that the first 1,000 rows have once.
const USUAL_ONCE: f64 = 1.0;

/// How often each value of a filter occurs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shares {
    pub(crate) rows: u64,
    pub(crate) sector: BTreeMap<String, u64>,
    pub(crate) kind: BTreeMap<String, u64>,
    /// By the first three digits of the ZIP code.
    pub(crate) zip3: BTreeMap<String, u64>,
    /// By city, of rows without a ZIP code.
    #[serde(rename = "abroad", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) no_zip_cities: BTreeMap<String, u64>,
}

/// Rows by a text that rows share: found by its address, because comparing texts is most of the work.
#[derive(Default)]
struct Tally<'a>(HashMap<usize, (&'a str, u64)>);

impl<'a> Tally<'a> {
    fn count(&mut self, text: &'a Arc<str>) {
        self.0.entry(Arc::as_ptr(text).addr()).or_insert((text, 0)).1 += 1;
    }

    /// Adds the rows to those of a key of their text, if it has one.
    fn add_to(
        &self,
        rows: &mut BTreeMap<String, u64>,
        weight: u64,
        key: impl Fn(&'a str) -> Option<&'a str>,
    ) {
        for (text, count) in self.0.values() {
            if let Some(key) = key(text) {
                *rows.entry(key.to_owned()).or_default() += count * weight;
            }
        }
    }
}

/// Cities of rows without a ZIP code that are counted, at most.
const MOST_NO_ZIP_CITIES: usize = 1_000;

impl Shares {
    pub(crate) fn learn<'a>(&mut self, rows: impl Iterator<Item = &'a SeenRow>) {
        self.learn_weighted(rows, 1);
    }

    /// Counts each row as `weight` rows.
    pub(crate) fn learn_weighted<'a>(&mut self, rows: impl Iterator<Item = &'a SeenRow>, weight: u64) {
        let (mut sectors, mut kinds, mut zips) = (Tally::default(), Tally::default(), Tally::default());
        for row in rows {
            self.rows += weight;
            sectors.count(&row.sector);
            kinds.count(&row.entity_type);
            zips.count(&row.zip);
            if zip3(&row.zip).is_none() {
                self.learn_city(&row.city, weight);
            }
        }
        sectors.add_to(&mut self.sector, weight, Some);
        kinds.add_to(&mut self.kind, weight, Some);
        zips.add_to(&mut self.zip3, weight, zip3);
    }

    fn learn_city(&mut self, city: &str, weight: u64) {
        if let Some(rows) = self.no_zip_cities.get_mut(city) {
            *rows += weight;
        } else if self.no_zip_cities.len() < MOST_NO_ZIP_CITIES {
            self.no_zip_cities.insert(city.to_owned(), weight);
        }
    }

    pub(crate) fn of_sector(&self, key: &str) -> f64 {
        self.share(&self.sector, key).unwrap_or(1.0 / USUAL_SECTORS as f64)
    }

    /// Share of the rows that have this city and no ZIP code, 0 to 1.
    pub(crate) fn of_no_zip_city(&self, city: &str) -> f64 {
        self.share(&self.no_zip_cities, city).unwrap_or(0.0)
    }

    pub(crate) fn of_kind(&self, kind: EntityType) -> f64 {
        let usual = || USUAL_KINDS.iter().find(|(known, _)| *known == kind).map_or(0.0, |(_, share)| *share);
        self.share(&self.kind, kind.key()).unwrap_or_else(usual)
    }

    pub(crate) fn of_zip3(&self, prefix: &str) -> f64 {
        let usual =
            || if is_of_florida(prefix) { (1.0 - USUAL_ZIP3) / FLORIDA_ZIP3.len() as f64 } else { 0.0 };
        self.share(&self.zip3, prefix).unwrap_or_else(usual)
    }

    fn share(&self, counts: &BTreeMap<String, u64>, key: &str) -> Option<f64> {
        (self.rows > 0).then(|| counts.get(key).copied().unwrap_or(0) as f64 / self.rows as f64)
    }

    pub(crate) fn sectors(&self) -> Vec<f64> {
        match self.rows {
            0 => one_heavy(USUAL_HEAVIEST, USUAL_SECTORS),
            _ => self.all(&self.sector),
        }
    }

    pub(crate) fn kinds(&self) -> Vec<f64> {
        match self.rows {
            0 => USUAL_KINDS.iter().map(|(_, share)| *share).collect(),
            _ => self.all(&self.kind),
        }
    }

    pub(crate) fn zip3s_of_florida(&self) -> Vec<f64> {
        match self.rows {
            0 => one_heavy(USUAL_ZIP3, FLORIDA_ZIP3.len()),
            _ => FLORIDA_ZIP3.iter().map(|zip| self.of_zip3(zip)).collect(),
        }
    }

    fn all(&self, counts: &BTreeMap<String, u64>) -> Vec<f64> {
        counts.values().map(|count| *count as f64 / self.rows as f64).collect()
    }

    /// Shares of the next digit of a ZIP prefix.
    pub(crate) fn digits() -> Vec<f64> {
        one_heavy(USUAL_DIGIT, 10)
    }

    /// Share of rows with a new ZIP prefix after `more` rows: the Good–Turing estimate, the share of prefixes that occurred once.
    pub(crate) fn unseen_zip3(&self, more: f64) -> f64 {
        let once = match self.rows {
            0 => USUAL_ONCE,
            _ => self.zip3.iter().filter(|(zip, rows)| **rows == 1 && !is_of_florida(zip)).count() as f64,
        };
        once / (self.rows.max(1_000) as f64 + more)
    }

    /// Known ZIP prefixes outside Florida, most frequent first.
    pub(crate) fn out_of_state(&self) -> Vec<String> {
        by_weight(self.zip3.keys().filter(|zip| !is_of_florida(zip)).cloned(), &self.zip3)
    }
}

fn one_heavy(heaviest: f64, values: usize) -> Vec<f64> {
    let other = (1.0 - heaviest) / (values - 1) as f64;
    std::iter::once(heaviest).chain(std::iter::repeat_n(other, values - 1)).collect()
}

pub(crate) fn is_of_florida(prefix: &str) -> bool {
    FLORIDA_ZIP3.contains(&prefix)
}

/// The first three digits of a ZIP code; none if the text is no ZIP code.
pub(crate) fn zip3(zip: &str) -> Option<&str> {
    zip.get(..3).filter(|prefix| prefix.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Keys by weight, largest first; equal weights keep the given order.
pub(crate) fn by_weight(keys: impl Iterator<Item = String>, weights: &BTreeMap<String, u64>) -> Vec<String> {
    let mut keys: Vec<String> = keys.collect();
    keys.sort_by_key(|key| std::cmp::Reverse(weights.get(key).copied().unwrap_or(0)));
    keys
}
