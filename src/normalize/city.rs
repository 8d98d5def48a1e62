//! The city of a business under one spelling.
//!
//! `cities.csv`: every Florida city of a ZIP code, its other names, its ZIP codes (a 2-digit entry has the first 3 digits of
//! the entry before it). Names of the Postal Service from the package `zipcodes` 3.0.0 (MIT), abbreviations written out.

use hashbrown::HashMap;
use std::sync::LazyLock;

/// Most edits between a city as filed and the well-known city of its ZIP code.
const MOST_EDITS: usize = 2;
/// Letters of a city that may be found without its ZIP code, by 1 edit.
const DISTINCT_LETTERS: usize = 7;

/// Words that have one form in every name.
const FOLDED: [(&str, &str); 2] = [("SAINT", "ST"), ("FT", "FORT")];

/// Abbreviations that are written out where this gives a well-known city.
const ABBREVIATIONS: [(&str, &str); 17] = [
    ("N", "NORTH"),
    ("S", "SOUTH"),
    ("E", "EAST"),
    ("W", "WEST"),
    ("BCH", "BEACH"),
    ("GDNS", "GARDENS"),
    ("HBR", "HARBOR"),
    ("HTS", "HEIGHTS"),
    ("IS", "ISLAND"),
    ("LK", "LAKE"),
    ("LKS", "LAKES"),
    ("MT", "MOUNT"),
    ("PT", "PORT"),
    ("SHRS", "SHORES"),
    ("SPG", "SPRINGS"),
    ("SPGS", "SPRINGS"),
    ("VLG", "VILLAGE"),
];

/// The postal codes of the other states and of the District of Columbia.
const OTHER_STATES: &str = "AL AK AZ AR CA CO CT DC DE GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC \
    ND OH OK OR PA PR RI SC SD TN TX UT VT VA WA WV WI WY";

/// The well-known cities.
struct Cities {
    /// The city of each well-known name.
    by_name: HashMap<&'static str, &'static str>,
    by_zip: HashMap<u32, Vec<&'static str>>,
}

static CITIES: LazyLock<Cities> = LazyLock::new(|| Cities::read(include_str!("cities.csv")));

impl Cities {
    fn read(table: &'static str) -> Self {
        let mut cities = Self { by_name: HashMap::new(), by_zip: HashMap::new() };
        for line in table.lines().skip(1) {
            let mut cells = line.split(',');
            let (Some(city), Some(others), Some(zips)) = (cells.next(), cells.next(), cells.next()) else {
                continue;
            };
            for name in others.split('|').chain([city]).filter(|name| !name.is_empty()) {
                cities.by_name.insert(name, city);
            }
            let mut zip = 0;
            for entry in zips.split(' ') {
                let digits: u32 = entry.parse().unwrap_or(0);
                zip = if entry.len() == 2 { zip / 100 * 100 + digits } else { digits };
                cities.by_zip.entry(zip).or_default().push(city);
            }
        }
        cities
    }

    /// The one well-known city of a ZIP code that is nearest to a name.
    fn near_zip(&self, name: &str, zip: Option<u32>) -> Option<&'static str> {
        let of_zip = self.by_zip.get(&zip?)?.iter().copied();
        only_nearest(of_zip.filter_map(|city| {
            // More edits than half of its letters make any word of any other.
            let edits = edits(name, city, MOST_EDITS)?;
            (2 * edits < city.len()).then_some((edits, city))
        }))
    }

    /// The one well-known city of Florida that is 1 edit from a name.
    fn near_any(&self, name: &str) -> Option<&'static str> {
        let distinct =
            self.by_name.iter().filter(|(name, city)| name == city && city.len() >= DISTINCT_LETTERS);
        only_nearest(distinct.filter_map(|(city, _)| Some((edits(name, city, 1)?, *city))))
    }
}

fn only_nearest(found: impl Iterator<Item = (usize, &'static str)>) -> Option<&'static str> {
    let found: Vec<_> = found.collect();
    let least = found.iter().map(|(edits, _)| *edits).min()?;
    let mut nearest = found.iter().filter(|(edits, _)| *edits == least);
    nearest.next().filter(|_| nearest.next().is_none()).map(|(_, city)| *city)
}

/// One spelling of a city as filed: in capitals, without punctuation, state and ZIP code; in Florida the well-known city that
/// is meant. Empty only for a city that is blank.
///
/// `in_florida` says that the record is in Florida whatever its ZIP code; a Florida ZIP code, or Florida in the text, say it
/// too. A well-known city stays. Else the nearest one of the ZIP code replaces it, or one that differs by 1 edit from no other.
pub fn city_clean(city: &str, zip: &str, in_florida: bool) -> String {
    let zip = five_digits(zip);
    let (name, names_florida) = plain_name(city);
    if name.is_empty() {
        return city.to_uppercase().split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if !in_florida && !names_florida && !zip.is_some_and(is_florida) {
        return name;
    }
    well_known(&name, zip).map_or(name, str::to_owned)
}

fn well_known(name: &str, zip: Option<u32>) -> Option<&'static str> {
    let known = |name: &str| CITIES.by_name.get(name).copied();
    known(name)
        .or_else(|| known(&with_words(name.split(' '), &ABBREVIATIONS)))
        .or_else(|| CITIES.near_zip(name, zip))
        .or_else(|| CITIES.near_any(name))
}

/// The first 5 digits of a ZIP code.
fn five_digits(zip: &str) -> Option<u32> {
    let digits = zip.trim().get(..5)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Whether a ZIP code is of Florida: 320 to 349, less the armed forces' 340.
const fn is_florida(zip: u32) -> bool {
    matches!(zip / 1000, 32..=34) && zip / 100 != 340
}

/// A name in capitals, its words separated by 1 space, without state and ZIP code at its end; and whether Florida was there.
fn plain_name(city: &str) -> (String, bool) {
    let text = folded(city);
    let mut words: Vec<&str> = text.split(' ').filter(|word| !matches!(*word, "" | ",")).collect();
    // The one city whose name ends like an address.
    if words == ["MID", "FLORIDA"] {
        return (words.join(" "), true);
    }
    let names_florida = drop_state(&mut words);
    (with_words(words.into_iter().map(|word| word.trim_start_matches(',')), &FOLDED), names_florida)
}

/// The text in capitals. Other characters than letters and digits become spaces, and apostrophes nothing; a comma stays in
/// front of its word.
fn folded(city: &str) -> String {
    let mut text = String::with_capacity(city.len() + 4);
    let mut after_comma = false;
    for letter in city.chars().flat_map(char::to_uppercase) {
        match letter {
            '\'' | '’' | '`' => {}
            ',' => {
                after_comma = true;
                text.push(' ');
            }
            letter if letter.is_alphanumeric() => {
                if std::mem::take(&mut after_comma) && !text.trim_end().is_empty() {
                    text.push(',');
                }
                text.push(letter);
            }
            _ => text.push(' '),
        }
    }
    text
}

/// Drops the state, the country and the ZIP code at the end of a name of more than 1 word; returns whether the state was
/// Florida. Another state is one only after a comma or before a ZIP code.
fn drop_state(words: &mut Vec<&str>) -> bool {
    let (mut names_florida, mut had_zip) = (false, false);
    while let [_, .., last] = words[..] {
        let word = last.trim_start_matches(',');
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        match word {
            "FL" | "FLA" | "FLORIDA" => names_florida = true,
            "USA" | "US" => {}
            _ if is_number && word.len() == 5 => had_zip = true,
            _ if is_number && word.len() == 4 && ends_with_zip(&words[..words.len() - 1]) => {}
            _ if (had_zip || last.starts_with(',')) && is_other_state(word) => {}
            _ => break,
        }
        words.pop();
    }
    names_florida
}

/// Whether the last of more than 1 word is a ZIP code.
fn ends_with_zip(words: &[&str]) -> bool {
    matches!(words, [_, .., last] if last.trim_start_matches(',').len() == 5 && five_digits(last.trim_start_matches(',')).is_some())
}

fn is_other_state(word: &str) -> bool {
    word.len() == 2 && OTHER_STATES.split(' ').any(|state| state == word)
}

/// The words, each replaced by its other form in `forms`, with spaces between.
fn with_words<'a>(words: impl Iterator<Item = &'a str>, forms: &[(&str, &'a str)]) -> String {
    let mut name = String::with_capacity(32);
    for word in words {
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(forms.iter().find(|(short, _)| *short == word).map_or(word, |(_, long)| long));
    }
    name
}

/// Edits from one text to the other, of bytes: one inserted, dropped, replaced, or swapped with its neighbour. `None` for more
/// than `most`.
fn edits(one: &str, other: &str, most: usize) -> Option<usize> {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    let prefix = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    (one, other) = (&one[prefix..], &other[prefix..]);
    let suffix = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    (one, other) = (&one[..one.len() - suffix], &other[..other.len() - suffix]);
    // One edit leaves at most 2 bytes of either side.
    if most == 1 && one.len().max(other.len()) > 2 {
        return None;
    }
    let of_bytes = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect::<String>();
    let edits = strsim::osa_distance(&of_bytes(one), &of_bytes(other));
    (edits <= most).then_some(edits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The clean name of a city of a record without a county.
    fn clean(city: &str, zip: &str) -> String {
        city_clean(city, zip, false)
    }

    #[test]
    fn every_spelling_of_a_city_becomes_one() {
        for city in [
            "St. Petersburg",
            "St Petersburg",
            "Saint Petersburg",
            "St.Petersburg",
            "st. petersburg",
            "St.. Petersburg",
            "St. Petersburg Fl 33702",
            "St. Petersurg",
            "St. Petersubrg",
            "St. ePtersburg",
            "tS. Petersburg",
            "Stt. Petersburg",
            "S.t Petersburg",
            "S. Petersburg",
            "St.P etersburg",
            "St .Petersburg",
            "St. PPetersburg",
            "St Pete",
            "SAINT PETERSBURG, FLORIDA 33702-1234",
            "St. Petersburg, FL, USA",
            "St.  Petersbrug,",
        ] {
            assert_eq!(clean(city, "33702"), "ST PETERSBURG", "{city}");
        }
        for (city, zip, expected) in [
            ("TAMPA FL 33602", "33602", "TAMPA"),
            ("Tampa, Florida", "", "TAMPA"),
            ("Miami , Fl", "33130", "MIAMI"),
            ("Ft. Lauderdale", "33301-1234", "FORT LAUDERDALE"),
            ("Ft Myers", "", "FORT MYERS"),
            ("Mt Dora", "32757", "MOUNT DORA"),
            ("N. Miami", "33161", "NORTH MIAMI"),
            ("Pt Charlotte", "33948", "PORT CHARLOTTE"),
            ("W Palm Bch", "33401", "WEST PALM BEACH"),
            ("Nmb", "33160", "NORTH MIAMI BEACH"),
            ("Land O' Lakes", "34638", "LAND O LAKES"),
            ("Opa-Locka", "33054", "OPA LOCKA"),
            ("Port Saint Lucie", "34952", "PORT ST LUCIE"),
            ("Porte St Lucie", "34952", "PORT ST LUCIE"),
            ("Altamonte Sprigns", "32701", "ALTAMONTE SPRINGS"),
            ("Kisssimmee", "34741", "KISSIMMEE"),
            ("Lakeworth", "33460", "LAKE WORTH"),
            ("Tmapa", "33602", "TAMPA"),
        ] {
            assert_eq!(clean(city, zip), expected, "{city} {zip}");
        }
    }

    #[test]
    fn a_well_known_city_stays_whatever_its_zip_code() {
        for (city, zip) in [
            ("Miami", "32801"),
            ("Lutz", "33602"),
            ("DOVER", "33597"),
            ("Florida City", "33034"),
            ("Mid Florida", "32799"),
        ] {
            assert_eq!(clean(city, zip), city.to_uppercase());
        }
        let kept = |name: &&str| city_clean(name, "33130", true) == CITIES.by_name[*name];
        assert!(CITIES.by_name.keys().all(kept));
    }

    #[test]
    fn without_a_zip_code_one_edit_from_one_city_of_florida_is_enough_in_florida_only() {
        assert_eq!(city_clean("Jacksonvillve", "", true), "JACKSONVILLE");
        assert_eq!(clean("Jacksonvillve, Fl", ""), "JACKSONVILLE");
        assert_eq!(clean("Jacksonvillve", ""), "JACKSONVILLVE");
        assert_eq!(clean("Orlandoo", "10001"), "ORLANDOO");
        // Two edits, a short name, and two cities as near as each other.
        for city in ["JACKSSONVILLVE", "TAMPPA", "NORTH PORTT RICHEY"] {
            assert_eq!(city_clean(city, "", true), city);
        }
        assert_eq!(only_nearest([(1, "A"), (1, "B"), (2, "C")].into_iter()), None);
    }

    #[test]
    fn out_of_florida_only_punctuation_case_state_and_zip_code_change() {
        for (city, zip, expected) in [
            ("Saint Louis, MO 63101", "63101", "ST LOUIS"),
            ("New York NY 10001", "10001", "NEW YORK"),
            ("New York, NY", "10001", "NEW YORK"),
            ("Ft. Worth", "76101", "FORT WORTH"),
            ("De La", "", "DE LA"),
            ("Ky1-1110 Cayman Islands", "", "KY1 1110 CAYMAN ISLANDS"),
            ("Fl", "33602", "FL"),
            ("33602", "33602", "33602"),
            (" - ", "33602", "-"),
        ] {
            assert_eq!(clean(city, zip), expected, "{city}");
        }
        assert_eq!([city_clean("", "33602", true), city_clean(" \t", "", false)], ["", ""]);
    }

    #[test]
    fn edits_count_a_swap_once() {
        for (one, other, most, expected) in [
            ("TAMPA", "TAMPA", 1, Some(0)),
            ("TMAPA", "TAMPA", 1, Some(1)),
            ("TAPA", "TAMPA", 1, Some(1)),
            ("TAMPPA", "TAMPA", 1, Some(1)),
            ("TANPA", "TAMPA", 1, Some(1)),
            ("ATMAP", "TAMPA", 2, Some(2)),
            ("ATMAP", "TAMPA", 1, None),
            ("TAMARAC", "TAMPA", 2, None),
            ("", "AB", 2, Some(2)),
        ] {
            assert_eq!(edits(one, other, most), expected, "{one} {other}");
            assert_eq!(edits(other, one, most), expected, "{other} {one}");
        }
    }

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines = include_str!("cities.csv").lines().count() - 1;
        let cities = CITIES.by_name.iter().filter(|(name, city)| name == city).count();
        assert_eq!(cities, lines);
        assert!(CITIES.by_zip.len() > 1_450 && CITIES.by_zip.keys().all(|zip| is_florida(*zip)));
        assert!(CITIES.by_name.keys().all(|name| plain_name(name).0 == **name));
    }

    proptest! {
        #[test]
        fn a_clean_city_is_clean_and_is_never_empty(
            city in prop_oneof![
                ".{0,20}",
                "(ST|Saint|Ft|N|PORT|LAKE|MIAMI|BEACH|FL|Florida|NY|33602|1234|[ ,.'-]){1,8}",
                "[A-Z]{0,3} ?(Tampa|St. Petersburg|Orlando|Port Richey)[A-Z ,]{0,4}(Fl|LA|US)?[ 0-9]{0,7}",
            ],
            zip in prop_oneof!["", "33[0-9]{3}", "33702", "[0-9]{5}(-[0-9]{4})?", ".{0,8}"],
            in_florida: bool,
        ) {
            let once = city_clean(&city, &zip, in_florida);
            prop_assert_eq!(once.is_empty(), city.trim().is_empty());
            prop_assert_eq!(city_clean(&once, &zip, in_florida), once);
        }
    }
}
