//! Addresses of businesses: counties, cities, ZIP codes, addresses outside Florida, spellings of a city.
//!
//! `places.csv`: county, city, weight (40 for each filing of one statewide day), ZIP codes with a weight after `*`. ZIP 33702 has one building that 4% of Florida's new companies give as their address.
//! `foreign.csv`: city, state, first three digits of the ZIP code (or a complete foreign code), country, weight.

use super::chance::{Draw, Purpose, Weighted};
use super::spec::Shape;
use std::sync::LazyLock;

/// The address that a business gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Location {
    /// County, empty outside Florida.
    pub(super) county: &'static str,
    pub(super) city: String,
    pub(super) zip: String,
    /// State code, empty where the country has none.
    pub(super) state: &'static str,
    pub(super) country: &'static str,
}

/// County, city and ZIP code.
static FLORIDA: LazyLock<Weighted<[&str; 3]>> = LazyLock::new(|| {
    include_str!("places.csv").lines().skip(1).filter_map(florida_places).flatten().collect()
});
/// City, state, beginning of the ZIP code, and country.
static FOREIGN: LazyLock<Weighted<[&str; 4]>> =
    LazyLock::new(|| include_str!("foreign.csv").lines().skip(1).filter_map(foreign_place).collect());

fn florida_places(line: &'static str) -> Option<Vec<([&'static str; 3], u64)>> {
    let mut cells = line.split(',');
    let (county, city) = (cells.next()?, cells.next()?);
    let weight: u64 = cells.next()?.parse().ok()?;
    let zips: Vec<(&str, u64)> = cells
        .next()?
        .split(' ')
        .filter_map(|zip| match zip.split_once('*') {
            Some((zip, times)) => Some((zip, times.parse().ok()?)),
            None => Some((zip, 1)),
        })
        .collect();
    let parts: u64 = zips.iter().map(|(_, times)| times).sum();
    let share = |times: u64| weight * 1_000 * times / parts.max(1);
    Some(zips.into_iter().map(|(zip, times)| ([county, city, zip], share(times))).collect())
}

fn foreign_place(line: &'static str) -> Option<([&'static str; 4], u64)> {
    let mut cells = line.split(',');
    let place = [cells.next()?, cells.next()?, cells.next()?, cells.next()?];
    Some((place, cells.next()?.parse().ok()?))
}

/// The place of a business. Companies formed out of state mostly have an address outside Florida, others rarely: 4% of all.
pub(super) fn location(seed: u64, shape: Shape, purpose: Purpose, id: u64, is_foreign: bool) -> Location {
    let mut draw = Draw::of(seed, purpose, id);
    let outside = if is_foreign { 0.6 } else { 0.021 };
    let found = match (draw.happens(outside), shape) {
        (true, Shape::LongTail) => Some(anywhere(&mut draw)),
        (true, _) => foreign(&mut draw),
        (false, _) => florida(&mut draw),
    };
    // No table is empty, so each draw has a place.
    found.unwrap_or_default()
}

fn florida(draw: &mut Draw) -> Option<Location> {
    let [county, city, zip] = *FLORIDA.draw(draw)?;
    let city = spelled(city, zip, draw);
    Some(Location { county, city, zip: zip.to_owned(), state: "FL", country: "US" })
}

fn foreign(draw: &mut Draw) -> Option<Location> {
    let [city, state, zip_start, country] = *FOREIGN.draw(draw)?;
    let zip = match country {
        "US" => format!("{zip_start}{:02}", draw.between(1, 60)),
        _ => zip_start.to_owned(),
    };
    Some(Location { county: "", city: city.to_owned(), zip, state, country })
}

const TAIL_PREFIXES: usize = 300;

/// A place outside Florida under one of 300 ZIP prefixes: the eleventh has half the weight of the first, the last a thirtieth.
fn anywhere(draw: &mut Draw) -> Location {
    static TAIL: LazyLock<Weighted<u64>> =
        LazyLock::new(|| (0..TAIL_PREFIXES as u64).map(|rank| (rank, 1_000_000 / (rank + 10))).collect());
    let rank = TAIL.draw(draw).copied().unwrap_or(0);
    // 7 and 900 have no common factor: no two ranks share a prefix. None begins with a 3, as all of Florida's do.
    let place = rank * 7 % 900;
    let prefix = if place < 300 { place } else { place + 100 };
    Location {
        county: "",
        city: format!("Township {rank}"),
        zip: format!("{prefix:03}{:02}", draw.between(1, 60)),
        state: "NY",
        country: "US",
    }
}

/// A city as its filer wrote it: 1 in 20 in an uncommon spelling.
fn spelled(city: &str, zip: &str, draw: &mut Draw) -> String {
    let saint = city.starts_with("St. ") || city.contains(" St. ");
    let fort = city.starts_with("Fort ");
    let share = if saint { 0.27 } else { 0.027 } + if fort { 0.06 } else { 0.0 };
    if !draw.happens(share) {
        return city.to_owned();
    }
    match draw.below(100) {
        0..80 if saint => city.replace("St. ", draw.word(&["St ", "St ", "St ", "St.", "Saint ", "Saint "])),
        0..60 if fort => city.replacen("Fort ", draw.word(&["Ft ", "Ft. "]), 1),
        0..30 => format!("{city}, Fl"),
        30..42 => format!("{city} Fl"),
        42..54 => format!("{city}, Florida"),
        54..62 => format!("{city} Florida"),
        62..70 => format!("{city},"),
        70..80 => city.to_uppercase(),
        80..83 => format!("{city} Fl {zip}"),
        83..85 => city.to_lowercase(),
        _ => mistyped(city, draw),
    }
}

/// A doubled letter, a missing letter, or two neighbours swapped.
fn mistyped(city: &str, draw: &mut Draw) -> String {
    let mut letters: Vec<char> = city.chars().collect();
    let at = draw.between(1, letters.len().saturating_sub(2));
    let Some(letter) = letters.get(at).copied() else {
        return city.to_owned();
    };
    match draw.below(3) {
        0 => letters.insert(at, letter),
        1 => drop(letters.remove(at)),
        _ => letters.swap(at, at - 1),
    }
    letters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn shaped(count: u64, shape: Shape) -> impl Iterator<Item = Location> {
        (0..count).map(move |id| location(5, shape, Purpose::Place, id, id % 29 == 0))
    }

    fn sample(count: u64) -> impl Iterator<Item = Location> {
        shaped(count, Shape::Plain)
    }

    #[test]
    fn every_county_has_a_place_and_every_place_a_county() {
        let known: BTreeSet<&str> = crate::contract::county::FLORIDA_COUNTIES.into_iter().collect();
        let placed: BTreeSet<&str> = FLORIDA.items.iter().map(|[county, ..]| *county).collect();
        assert_eq!(known, placed);
    }

    #[test]
    fn every_line_of_the_tables_is_read() {
        let lines = |text: &str| text.lines().count() - 1;
        let cities: BTreeSet<_> = FLORIDA.items.iter().map(|[county, city, _]| (county, city)).collect();
        assert_eq!(cities.len(), lines(include_str!("places.csv")));
        assert_eq!(FOREIGN.items.len(), lines(include_str!("foreign.csv")));
        assert!(FLORIDA.items.iter().all(|[.., zip]| zip.len() == 5 && zip.starts_with('3')));
    }

    #[test]
    fn counties_and_the_hot_zip_have_their_shares() {
        let count = 200_000;
        let mut counties: BTreeMap<&str, f64> = BTreeMap::new();
        let mut hot = 0.0;
        for place in sample(count) {
            *counties.entry(place.county).or_default() += 100.0 / count as f64;
            hot += if place.zip == "33702" { 100.0 / count as f64 } else { 0.0 };
        }
        let near = [("Miami-Dade", 17.3), ("Broward", 9.6), ("Pinellas", 7.6), ("Orange", 7.4), ("", 4.1)];
        for (county, share) in near {
            assert!((counties[county] - share).abs() < 0.4, "{county}: {}", counties[county]);
        }
        assert!((3.7..4.7).contains(&hot), "{hot}");
    }

    #[test]
    fn places_outside_florida_have_no_county_and_many_zip_prefixes() {
        let outside: Vec<Location> = sample(200_000).filter(|place| place.county.is_empty()).collect();
        let prefixes: BTreeSet<&str> = outside.iter().map(|place| &place.zip[..3]).collect();
        assert!(prefixes.len() > 120, "{}", prefixes.len());
        assert!(outside.iter().all(|place| place.state != "FL" && !place.zip.is_empty()));
    }

    #[test]
    fn a_long_tail_spreads_the_same_share_over_three_hundred_prefixes() {
        let outside: Vec<Location> =
            shaped(200_000, Shape::LongTail).filter(|place| place.county.is_empty()).collect();
        let mut prefixes: BTreeMap<&str, usize> = BTreeMap::new();
        for place in &outside {
            *prefixes.entry(&place.zip[..3]).or_default() += 1;
        }
        assert!((0.035..0.05).contains(&(outside.len() as f64 / 200_000.0)), "{}", outside.len());
        assert_eq!(prefixes.len(), TAIL_PREFIXES);
        assert!(prefixes.keys().all(|prefix| !prefix.starts_with('3')));
        let most = prefixes.values().max().copied().unwrap_or(0);
        assert!(most > 10 * prefixes.values().min().copied().unwrap_or(0), "{prefixes:?}");
    }

    #[test]
    fn one_city_in_twenty_has_an_uncommon_spelling() {
        let common: BTreeSet<&str> = FLORIDA.items.iter().map(|[_, city, _]| *city).collect();
        let inside: Vec<Location> = sample(100_000).filter(|place| place.state == "FL").collect();
        let odd = inside.iter().filter(|place| !common.contains(place.city.as_str())).count();
        let share = odd as f64 / inside.len() as f64;
        assert!((0.037..0.057).contains(&share), "{share}");
        assert!(inside.iter().all(|place| !place.city.trim().is_empty()));
    }
}
