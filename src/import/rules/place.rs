//! State, city, ZIP code, country and county of an address as filed.
//!
//! `facts/zip_codes.csv`: ZIP codes by county, from the HUD crosswalk of 2023 (U.S. government work) and, mostly for P.O. boxes,
//! the package `zipcodes` 3.0.0 (MIT). `facts/cities.csv`: spellings of cities, their name and county.

use super::text::squeezed_text;
use std::collections::HashMap;
use std::sync::LazyLock;

const STATES: &str = "AL AK AS AZ AR CA CO CT DE DC FM FL GA GU HI ID IL IN IA KS KY LA ME MH MD MA MI MN MS MO MT NE NV NH NJ NM \
    NY NC ND MP OH OK OR PW PA PR RI SC SD TN TX UT VT VI VA WA WV WI WY AA AE AP";
/// Values of the country field that mean the United States.
const HOME: [&str; 4] = ["", "US", "UN", "FL"];
/// Words of a city that are written in one way.
const WORDS: [(&str, &str); 12] = [
    ("SAINT", "ST"),
    ("STE", "ST"),
    ("FT", "FORT"),
    ("MT", "MOUNT"),
    ("BCH", "BEACH"),
    ("SPGS", "SPRINGS"),
    ("SPNGS", "SPRINGS"),
    ("SPG", "SPRINGS"),
    ("HTS", "HEIGHTS"),
    ("GDNS", "GARDENS"),
    ("HBR", "HARBOR"),
    ("VLG", "VILLAGE"),
];
const FLORIDA: [&str; 3] = ["FLORIDA", "FLA", "FL"];
/// What is between the parts of an address.
const SEPARATORS: [char; 4] = [' ', ',', '.', ';'];

static COUNTIES: LazyLock<HashMap<u32, &str>> = LazyLock::new(|| {
    let lines = include_str!("facts/zip_codes.csv").lines().skip(1).filter_map(|line| line.split_once(','));
    lines
        .flat_map(|(county, codes)| {
            codes.split(' ').filter_map(move |code| Some((code.parse().ok()?, county)))
        })
        .collect()
});

/// The name and county of a city by its key. The county is empty for a city in several.
static CITIES: LazyLock<HashMap<&str, (&str, &str)>> = LazyLock::new(|| {
    let lines = include_str!("facts/cities.csv").lines().skip(1);
    lines
        .filter_map(|line| {
            let mut cells = line.split(',');
            Some((cells.next()?, (cells.next()?, cells.next()?)))
        })
        .collect()
});

/// County names by their letters.
static COUNTY_NAMES: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
    let named = COUNTIES.values().map(|name| (county_letters(name), *name));
    named.chain([("DADE".to_owned(), "Miami-Dade")]).collect()
});

fn county_letters(text: &str) -> String {
    let text = text.to_uppercase().replace("SAINT ", "ST ");
    text.chars().filter(char::is_ascii_uppercase).collect()
}

/// The words of a city in capitals, without punctuation, each in its usual form.
fn city_key(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars().flat_map(char::to_uppercase) {
        match letter {
            '\'' | '’' => {}
            'A'..='Z' | '0'..='9' => plain.push(letter),
            _ => plain.push(' '),
        }
    }
    let mut key = String::with_capacity(plain.len());
    for word in plain.split_ascii_whitespace() {
        if !key.is_empty() {
            key.push(' ');
        }
        key.push_str(WORDS.iter().find(|(from, _)| *from == word).map_or(word, |(_, to)| to));
    }
    key
}

fn without_separators(text: &str) -> &str {
    text.trim_end_matches(SEPARATORS)
}

/// Whether a text has this form, in which a `9` is any digit.
fn has_form(text: &[u8], form: &str) -> bool {
    let fits = |(byte, expected): (&u8, u8)| match expected {
        b'9' => byte.is_ascii_digit(),
        _ => *byte == expected,
    };
    text.len() == form.len() && text.iter().zip(form.bytes()).all(fits)
}

/// The text without a ZIP code at its end, in any form; none where it has none.
fn without_zip(text: &str) -> Option<&str> {
    ["99999-9999", "999999999", "99999"].into_iter().find_map(|form| {
        let start = text.len().checked_sub(form.len())?;
        has_form(&text.as_bytes()[start..], form).then(|| &text[..start])
    })
}

/// The text without a word for Florida at its end; none where it has none.
fn without_florida(text: &str) -> Option<&str> {
    FLORIDA.iter().find_map(|word| {
        let start = text.len().checked_sub(word.len())?;
        let is_word = text.is_char_boundary(start) && text[start..].eq_ignore_ascii_case(word);
        is_word.then(|| &text[..start])
    })
}

/// A city without one of what can follow it: a ZIP code, a word for Florida, or punctuation.
fn without_ending(text: &str) -> &str {
    if let Some(rest) = without_zip(text) {
        let is_word_before = rest.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        if !is_word_before {
            return without_separators(rest);
        }
    }
    if let Some(rest) = without_florida(text.strip_suffix('.').unwrap_or(text))
        && rest.ends_with(SEPARATORS)
    {
        return without_separators(rest);
    }
    without_separators(text)
}

/// Whether a city ends with a word for Florida, a ZIP code perhaps after it.
fn names_florida(city: &str) -> bool {
    let text = without_separators(city);
    let ends = |text: &str| {
        let rest = without_florida(without_separators(text));
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(SEPARATORS))
    };
    ends(text) || without_zip(text).is_some_and(ends)
}

/// A ZIP code as filed: `33602-1234` where it has nine digits, other text unchanged.
pub fn zip_as_filed(text: &str) -> String {
    let is_squeezed = text.bytes().all(|byte| byte.is_ascii_graphic());
    let filed = if is_squeezed { text.to_owned() } else { squeezed_text(text) };
    let has = |form: &str| has_form(filed.as_bytes(), form);
    if has("999999999") || has("99999-9999") || has("99999 9999") {
        match (&filed[..5], &filed[filed.len() - 4..]) {
            (code, "0000") => code.to_owned(),
            (code, rest) => format!("{code}-{rest}"),
        }
    } else if has("99999-") {
        filed[..5].to_owned()
    } else {
        filed
    }
}

/// The 5 digits of a U.S. ZIP code as [`zip_as_filed`] gives it; empty for other text.
pub fn zip5(filed: &str) -> &str {
    let has = |form: &str| has_form(filed.as_bytes(), form);
    let is_code = has("99999") || has("99999-9999");
    if is_code && !filed.starts_with("00000") { &filed[..5] } else { "" }
}

fn county_of_zip(zip: &str) -> Option<&'static str> {
    COUNTIES.get(&zip.parse().ok()?).copied()
}

/// The state of an address: as filed, or Florida where it is blank and the rest of a U.S. address says so.
fn state(filed: &str, zip: &str, city: &str, country: &str) -> String {
    if !filed.is_empty() || !HOME.contains(&country) {
        return filed.to_owned();
    }
    let is_florida = county_of_zip(zip5(zip)).is_some()
        || names_florida(city)
        || (zip.is_empty() && CITIES.contains_key(city_key(without_ending(city)).as_str()));
    if is_florida { "FL".to_owned() } else { String::new() }
}

/// An address: street, second line, city, state, ZIP code, country.
pub type Address = [String; 6];

/// An address with its blank state and country where the rest says them, and its ZIP code in one form.
pub fn completed(filed: &Address) -> Address {
    let [street, second, city, state_filed, zip, country] = filed;
    let zip = zip_as_filed(zip);
    let (state_filed, country) = (state_filed.to_uppercase(), country.to_uppercase());
    let state = state(&state_filed, &zip, city, &country);
    let is_home = !zip5(&zip).is_empty() || STATES.split(' ').any(|known| known == state);
    let country = if country.is_empty() && is_home { "US".to_owned() } else { country };
    [street.clone(), second.clone(), city.clone(), state, zip, country]
}

/// The name of a city: of Florida by its spellings; others as filed, in title case.
pub fn city(filed: &str, state: &str) -> String {
    let mut text = filed;
    if matches!(state, "FL" | "") {
        let known = |text: &str| CITIES.get(city_key(text).as_str()).map(|(known, _)| (*known).to_owned());
        let (mut shorter, mut found) = (without_ending(text), known(text));
        while shorter != text && found.is_none() {
            (text, shorter, found) = (shorter, without_ending(shorter), known(shorter));
        }
        if FLORIDA.iter().any(|word| text.eq_ignore_ascii_case(word)) {
            (text, found) = ("", None);
        }
        if let Some(known) = found {
            return known;
        }
    }
    let text = text.trim_matches(SEPARATORS);
    let (has_upper, has_lower) = (text.chars().any(char::is_uppercase), text.chars().any(char::is_lowercase));
    if has_upper != has_lower { title_case(text) } else { text.to_owned() }
}

fn title_case(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut in_word = false;
    for letter in text.chars() {
        if in_word {
            shown.extend(letter.to_lowercase())
        } else {
            shown.extend(letter.to_uppercase())
        }
        in_word = letter.is_alphabetic();
    }
    shown
}

/// The county of a Florida address: by its ZIP code, else by the name of its city.
pub fn county(state: &str, zip: &str, shown_city: &str) -> Option<&'static str> {
    if state != "FL" {
        return None;
    }
    let of_city = || CITIES.get(city_key(shown_city).as_str()).map(|(_, county)| *county);
    county_of_zip(zip5(zip)).or_else(of_city).filter(|county| !county.is_empty())
}

/// The county that a county field names.
pub fn county_named(text: &str) -> Option<&'static str> {
    if text.is_empty() { None } else { COUNTY_NAMES.get(&county_letters(text)).copied() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cities_have_one_name() {
        for (filed, shown) in [
            ("MIAMI , FL", "Miami"),
            ("ST.PETERSBURG", "St. Petersburg"),
            ("SAINT PETERSBURG FL 33702", "St. Petersburg"),
            ("Ft. Lauderdale", "Fort Lauderdale"),
            ("FL", ""),
            ("NOWHERE CITY", "Nowhere City"),
            ("MID FLORIDA", "Mid Florida"),
            ("land o lakes", "Land O' Lakes"),
            ("", ""),
            ("ÉVRY-SUR O'SEINE", "Évry-Sur O'Seine"),
        ] {
            assert_eq!(city(filed, "FL"), shown, "{filed}");
        }
    }

    #[test]
    fn zip_codes_have_five_digits() {
        for (filed, code) in [
            ("33602", "33602"),
            ("336021234", "33602"),
            ("33602-1234", "33602"),
            ("33602-0000", "33602"),
            ("33602-", "33602"),
            ("3360", ""),
            ("M5V 2T6", ""),
            ("00000", ""),
            ("", ""),
        ] {
            assert_eq!(zip5(&zip_as_filed(filed)), code, "{filed}");
        }
    }

    #[test]
    fn counties_and_states_follow_from_the_rest() {
        assert_eq!(county("FL", "33602-1234", "Tampa"), Some("Hillsborough"));
        assert_eq!(county("FL", "", "Tampa"), Some("Hillsborough"));
        assert_eq!(county("GA", "33602", "Tampa"), None);
        let names = ["MIAMI-DADE", "DADE", "ST JOHNS", "SAINT LUCIE", "DE SOTO", "MULTIPLE", ""];
        let counties = [
            Some("Miami-Dade"),
            Some("Miami-Dade"),
            Some("St. Johns"),
            Some("St. Lucie"),
            Some("DeSoto"),
            None,
            None,
        ];
        assert_eq!(names.map(county_named), counties);
        for (zip, city, country, found) in [
            ("33602", "TAMPA", "", "FL"),
            ("", "NAPLES", "", "FL"),
            ("", "NAPLES", "IT", ""),
            ("80134", "NAPLES", "", ""),
            ("", "MIAMI, FL", "US", "FL"),
            ("", "NOWHERE", "", ""),
        ] {
            assert_eq!(state("", zip, city, country), found, "{city}");
        }
        assert_eq!(COUNTIES.values().collect::<std::collections::BTreeSet<_>>().len(), 67);
    }
}
