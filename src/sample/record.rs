//! The complete record of one business, from its number, name, place, people and life.

use super::chance::{Draw, Purpose};
use super::life::{Change, Life};
use super::name::Names;
use super::place::{Location, location};
use super::posting::Posting;
use super::series::{SERIES, Series};
use super::spec::{SampleBusiness, Shape};
use super::{industry, person};
use crate::contract::business::{Address, Detail, Summary};
use jiff::civil::Date;
use std::sync::LazyLock;

/// The building that thousands of companies give as their address.
const HOT_ZIP: &str = "33702";

#[derive(Debug, Clone, Copy)]
pub(super) struct Numbered {
    pub(super) posting: Posting,
    pub(super) posted: Date,
    pub(super) id: u64,
    /// Its position in the series of its document numbers, from 1.
    pub(super) count: u64,
}

/// The business of a filing with its events.
pub(super) fn business(
    seed: u64,
    shape: Shape,
    names: &Names,
    filing: Numbered,
    life: Life,
) -> SampleBusiness {
    let Numbered { posting, posted, id, count } = filing;
    let series = &SERIES[posting.series];
    let place_purpose = if life.change == Some(Change::Moved) { Purpose::NewPlace } else { Purpose::Place };
    let place = location(seed, shape, place_purpose, id, series.is_foreign);
    let named = names.name(id, series);
    let document_number = series.document_number(posted.year(), count);
    let summary = Summary {
        id: id.to_string(),
        url: format!("https://filings.example/fl/{document_number}"),
        document_number,
        name: named.name,
        entity_type: series.entity_type.key().to_owned(),
        company_type: series.company_type.to_owned(),
        status: if life.dissolved.is_some() { "dissolved" } else { "active" }.to_owned(),
        filed_date: posting.filed,
        dissolved_date: life.dissolved.map(|day| day.to_string()),
        city: place.city.clone(),
        zip: place.zip.clone(),
        county: place.county.to_owned(),
        industry: industry::industry(skewed(seed, shape, id, named.industry)),
    };
    let is_hot = place.zip == HOT_ZIP;
    let agent_purpose =
        if life.change == Some(Change::NewAgent) { Purpose::NewAgent } else { Purpose::Agent };
    let officers = person::officers(seed, id, series);
    let mut draw = Draw::of(seed, Purpose::Detail, id);
    let formation_state = formation_state(series, &mut draw);
    let license_count = match draw.below(100) {
        0 => 2,
        1..10 => 1,
        _ => 0,
    };
    let mailing_address = draw.happens(0.17).then(|| mailing_address(&place, &mut draw));
    let detail = Detail {
        summary,
        principal_address: principal_address(place, is_hot, &mut draw),
        mailing_address,
        registered_agent_name: person::agent(seed, agent_purpose, id, is_hot),
        formation_state: formation_state.to_owned(),
        last_annual_report_year: i32::from(life.last_report_year),
        officer_count: officers.len() as i32,
        license_count,
    };
    SampleBusiness { detail, officers, posted }
}

/// The industry in the sample's shape: 57% of the names imply nothing, 75% where one sector is large.
fn skewed(seed: u64, shape: Shape, id: u64, implied: &'static str) -> &'static str {
    let is_lost = shape == Shape::OneSector && Draw::of(seed, Purpose::Skew, id).happens(0.42);
    if is_lost { industry::GENERAL } else { implied }
}

fn formation_state(series: &Series, draw: &mut Draw) -> &'static str {
    const STATES: [&str; 24] = [
        "DE", "DE", "DE", "DE", "DE", "DE", "DE", "DE", "NY", "NY", "GA", "GA", "TX", "TX", "NV", "WY", "WY",
        "CA", "CA", "NJ", "IL", "PA", "NC", "MD",
    ];
    if series.is_foreign { draw.word(&STATES) } else { "FL" }
}

fn principal_address(place: Location, is_hot: bool, draw: &mut Draw) -> Address {
    let (street, street2) = match (is_hot, draw.happens(0.06)) {
        (true, _) if draw.happens(0.9) => {
            ("7901 4TH ST N".to_owned(), draw.word(&["STE 300", "STE 300", "STE 4000", ""]))
        }
        (false, true) => (shared_office(&place.zip), draw.word(&["STE 100", "STE 200", "STE 500"])),
        _ => (
            street(draw),
            draw.word(&["", "", "", "", "", "APT 2", "APT 104", "UNIT B", "UNIT 12", "STE 101"]),
        ),
    };
    addressed(street, street2, place)
}

fn mailing_address(place: &Location, draw: &mut Draw) -> Address {
    let street = if draw.happens(0.5) { format!("PO BOX {}", draw.between(10, 9_999)) } else { street(draw) };
    addressed(street, "", place.clone())
}

fn addressed(street: String, street2: &str, place: Location) -> Address {
    Address {
        street,
        street2: street2.to_owned(),
        city: place.city,
        state: place.state.to_owned(),
        zip: place.zip,
        country: place.country.to_owned(),
    }
}

/// The one address of a ZIP code with many companies.
fn shared_office(zip: &str) -> String {
    let number: usize = zip.bytes().fold(0, |sum, byte| (sum * 31 + usize::from(byte)) % 97);
    format!("{} COMMERCE {}", 100 + number * 25, ["BLVD", "PKWY", "AVE"][number % 3])
}

static STREET_NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "PALM OAK MAIN CITRUS ORANGE PINE MAGNOLIA LAKE CYPRESS OSCEOLA SEMINOLE HIBISCUS PELICAN HERON CORAL GULF OCEAN BAY \
     RIVER PARK CENTRAL WASHINGTON MAPLE CEDAR SUNSET HARBOR MANATEE EAGLE WILLOW GRANADA"
        .split_whitespace()
        .collect()
});
const STREET_KINDS: [&str; 10] = ["ST", "ST", "AVE", "AVE", "RD", "DR", "LN", "CT", "BLVD", "WAY"];
const STREET_SIDES: [&str; 8] = ["N", "S", "E", "W", "NW", "NE", "SW", "SE"];

/// A street that may exist in any town.
fn street(draw: &mut Draw) -> String {
    let number = draw.between(100, 19_999);
    match draw.below(10) {
        0..4 => {
            format!(
                "{number} {} {} {}",
                draw.word(&STREET_SIDES),
                ordinal(draw.between(1, 190)),
                draw.word(&["ST", "AVE", "TER"])
            )
        }
        4..6 => format!(
            "{number} {} {} {}",
            draw.word(&STREET_SIDES),
            draw.word(&STREET_NAMES),
            draw.word(&STREET_KINDS)
        ),
        _ => format!("{number} {} {}", draw.word(&STREET_NAMES), draw.word(&STREET_KINDS)),
    }
}

fn ordinal(number: usize) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "TH",
        (_, 1) => "ST",
        (_, 2) => "ND",
        (_, 3) => "RD",
        _ => "TH",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_streets_have_correct_ordinals() {
        assert_eq!(
            [1, 2, 3, 4, 11, 12, 13, 21, 102, 111, 113].map(ordinal).join(" "),
            "1ST 2ND 3RD 4TH 11TH 12TH 13TH 21ST 102ND 111TH 113TH"
        );
    }
}
