//! Officers and registered agents: people and companies, all invented except the
//! well-known agents.

use super::chance::{Draw, Purpose, Weighted};
use super::series::Series;
use crate::contract::business::Officer;
use crate::contract::reference::EntityType;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Alphabetical.
pub(super) static SURNAMES: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("surnames.txt").split_whitespace().collect());
/// Alphabetical.
pub(super) static GIVEN_NAMES: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("given_names.txt").split_whitespace().collect());

/// Companies that serve as registered agents, by how often.
static COMPANY_AGENTS: LazyLock<Weighted<&str>> = LazyLock::new(|| {
    [
        ("INC AUTHORITY RA", 30),
        ("ZENBUSINESS INC.", 19),
        ("NORTHWEST REGISTERED AGENT LLC", 14),
        ("LEGALZOOM USCA, INC.", 13),
        ("SIMPLEBIZ REGISTERED AGENT SERVICES LLC", 6),
        ("REGISTERED AGENTS INC", 5),
        ("REPUBLIC REGISTERED AGENT LLC", 3),
        ("UNITED STATES CORPORATION AGENTS, INC.", 10),
        ("CORPORATION SERVICE COMPANY", 6),
        ("C T CORPORATION SYSTEM", 5),
        ("CAPITOL CORPORATE SERVICES, INC.", 4),
        ("SPIEGEL & UTRERA P.A.", 4),
        ("COGENCY GLOBAL INC.", 3),
        ("SUNSHINE STATE FILINGS LLC", 18),
    ]
    .into_iter()
    .collect()
});

/// Whether a word is a surname or a given name.
pub(super) fn is_name(word: &str) -> bool {
    SURNAMES.binary_search(&word).is_ok() || GIVEN_NAMES.binary_search(&word).is_ok()
}

/// `SURNAME, GIVEN M`; 60% have the middle initial.
fn person(draw: &mut Draw) -> String {
    let (surname, given) = (draw.word(&SURNAMES), draw.word(&GIVEN_NAMES));
    if draw.happens(0.6) {
        format!(
            "{surname}, {given} {}",
            draw.word(&["A", "B", "C", "D", "E", "F", "G", "J", "L", "M", "R", "S", "T"])
        )
    } else {
        format!("{surname}, {given}")
    }
}

/// The registered agent: a person for 82%; in an office building mostly the company that runs it.
pub(super) fn agent(seed: u64, purpose: Purpose, id: u64, is_hot: bool) -> String {
    let mut draw = Draw::of(seed, purpose, id);
    let company = if is_hot { 0.85 } else { 0.15 };
    if !draw.happens(company) {
        return person(&mut draw);
    }
    let name = if is_hot {
        draw.word(&["NORTHWEST REGISTERED AGENT LLC", "REGISTERED AGENTS INC"])
    } else {
        COMPANY_AGENTS.draw(&mut draw).copied().unwrap_or("REGISTERED AGENTS INC")
    };
    name.to_owned()
}

/// The officers of a business, sorted by name, then title.
pub(super) fn officers(seed: u64, id: u64, series: &Series) -> Vec<Officer> {
    let mut draw = Draw::of(seed, Purpose::Officers, id);
    let count = officer_count(series.entity_type, &mut draw);
    let mut names = BTreeSet::new();
    let officers = (0..count).map(|place| {
        let mut name = officer_name(place, &mut draw);
        while !names.insert(name.clone()) {
            name = person(&mut draw);
        }
        Officer { name, title: title(series, place, &mut draw).to_owned() }
    });
    let mut officers: Vec<Officer> = officers.collect();
    officers.sort_unstable();
    officers
}

fn officer_name(place: usize, draw: &mut Draw) -> String {
    match place {
        0 if draw.happens(0.007) => "NORTHWEST REGISTERED AGENT LLC".to_owned(),
        0 if draw.happens(0.033) => {
            let ending = draw.word(&["HOLDINGS LLC", "VENTURES LLC", "CAPITAL GROUP INC", "MANAGEMENT LLC"]);
            format!("{} {ending}", draw.word(&SURNAMES))
        }
        _ => person(draw),
    }
}

/// Number of officers: rows of (below this number of 1,000, fewest, most); else 26 to 28.
fn officer_count(kind: EntityType, draw: &mut Draw) -> usize {
    let rows: &[(usize, usize, usize)] = match kind {
        EntityType::Llc => {
            &[(8, 0, 0), (628, 1, 1), (878, 2, 2), (958, 3, 3), (983, 4, 4), (997, 5, 8), (999, 9, 25)]
        }
        EntityType::Corporation => {
            &[(5, 0, 0), (455, 1, 1), (725, 2, 2), (865, 3, 3), (935, 4, 4), (990, 5, 8), (997, 9, 25)]
        }
        EntityType::Nonprofit => {
            &[(10, 0, 0), (60, 1, 2), (410, 3, 3), (630, 4, 4), (810, 5, 5), (970, 6, 9), (994, 10, 25)]
        }
        EntityType::Partnership | EntityType::Trust => &[(10, 0, 0), (790, 1, 1), (1_000, 2, 3)],
        EntityType::Fictitious => &[(20, 0, 0), (920, 1, 1), (1_000, 2, 3)],
    };
    let at = draw.below(1_000);
    let (_, fewest, most) = rows.iter().find(|(below, _, _)| at < *below).copied().unwrap_or((1_000, 26, 28));
    draw.between(fewest, most)
}

fn title(series: &Series, place: usize, draw: &mut Draw) -> &'static str {
    let first = place == 0;
    match series.entity_type {
        EntityType::Llc if first => draw.word(&["MGR", "MGR", "AMBR", "AMBR", "AMBR", "MGRM", "AP", "AR"]),
        EntityType::Llc => draw.word(&["MGR", "AMBR", "AMBR", "MBR", "MGRM", "AP"]),
        EntityType::Corporation if first => draw.word(&["P", "P", "P", "PD", "PST", "CEO", "PTSD", "D"]),
        EntityType::Corporation => draw.word(&["VP", "VP", "S", "T", "D", "DS", "CFO", "SVP", "C", "V"]),
        EntityType::Nonprofit if first => draw.word(&["P", "P", "PD", "C", "CEO"]),
        EntityType::Nonprofit => draw.word(&["VP", "S", "T", "D", "D", "D", "DS", "DT"]),
        EntityType::Partnership => "GP",
        EntityType::Trust => "TRUSTEE",
        EntityType::Fictitious => "OWNER",
    }
}

#[cfg(test)]
mod tests {
    use super::super::series::SERIES;
    use super::*;

    #[test]
    fn the_name_lists_are_sorted() {
        assert!(SURNAMES.is_sorted() && GIVEN_NAMES.is_sorted());
        assert!(is_name("GARCIA") && is_name("ZOE") && !is_name("PALM"));
    }

    #[test]
    fn officers_are_sorted_and_a_few_businesses_have_more_than_the_api_lists() {
        let lists: Vec<Vec<Officer>> =
            (0..20_000).map(|id| officers(3, id, &SERIES[id as usize % 3])).collect();
        assert!(lists.iter().all(|list| list.is_sorted()));
        let many = lists.iter().filter(|list| list.len() > 25).count();
        assert!((10..100).contains(&many), "{many}");
        assert!(lists.iter().any(Vec::is_empty));
        assert_eq!(lists.iter().map(Vec::len).max(), Some(28));
    }

    #[test]
    fn four_agents_in_five_are_people() {
        let people = (0..20_000).filter(|id| {
            let name = agent(3, Purpose::Agent, *id, id % 24 == 0);
            !COMPANY_AGENTS.items.iter().any(|company| *company == name)
        });
        let share = people.count() as f64 / 20_000.0;
        assert!((0.80..0.84).contains(&share), "{share}");
    }
}
