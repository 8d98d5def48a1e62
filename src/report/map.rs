//! The 67 counties as a grid of tiles, each near its place on the map.

use super::number::{change, county, integer};
use crate::aggregate::CountyFigures;
use maud::{Markup, html};

/// County, column and row. Columns run west to east, rows north to south.
const TILES: [(&str, &str, u32, u32); 67] = [
    ("Escambia", "Esc", 0, 0),
    ("Santa Rosa", "SRo", 1, 0),
    ("Okaloosa", "Oka", 2, 0),
    ("Walton", "Wtn", 3, 0),
    ("Holmes", "Hol", 4, 0),
    ("Jackson", "Jac", 5, 0),
    ("Gadsden", "Gad", 6, 0),
    ("Leon", "Leo", 7, 0),
    ("Jefferson", "Jef", 8, 0),
    ("Madison", "Mad", 9, 0),
    ("Hamilton", "Ham", 10, 0),
    ("Nassau", "Nas", 13, 0),
    ("Washington", "Was", 4, 1),
    ("Calhoun", "Cal", 5, 1),
    ("Liberty", "Lib", 6, 1),
    ("Wakulla", "Wak", 7, 1),
    ("Suwannee", "Suw", 10, 1),
    ("Columbia", "Clb", 11, 1),
    ("Baker", "Bak", 12, 1),
    ("Duval", "Duv", 13, 1),
    ("Bay", "Bay", 4, 2),
    ("Gulf", "Glf", 5, 2),
    ("Franklin", "Fra", 6, 2),
    ("Taylor", "Tay", 8, 2),
    ("Lafayette", "Laf", 9, 2),
    ("Gilchrist", "Gil", 10, 2),
    ("Union", "Uni", 11, 2),
    ("Bradford", "Brd", 12, 2),
    ("Clay", "Cla", 13, 2),
    ("St. Johns", "StJ", 14, 2),
    ("Dixie", "Dix", 9, 3),
    ("Levy", "Lev", 10, 3),
    ("Alachua", "Ala", 11, 3),
    ("Putnam", "Put", 12, 3),
    ("Flagler", "Fla", 13, 3),
    ("Citrus", "Cit", 10, 4),
    ("Marion", "Mar", 11, 4),
    ("Lake", "Lak", 12, 4),
    ("Volusia", "Vol", 13, 4),
    ("Hernando", "Her", 10, 5),
    ("Sumter", "Sum", 11, 5),
    ("Orange", "Ora", 12, 5),
    ("Seminole", "Sem", 13, 5),
    ("Pasco", "Pas", 10, 6),
    ("Polk", "Plk", 11, 6),
    ("Osceola", "Osc", 12, 6),
    ("Brevard", "Brv", 13, 6),
    ("Pinellas", "Pin", 9, 7),
    ("Hillsborough", "Hil", 10, 7),
    ("Hardee", "Hrd", 11, 7),
    ("Highlands", "Hig", 12, 7),
    ("Indian River", "InR", 13, 7),
    ("Manatee", "Man", 10, 8),
    ("DeSoto", "DeS", 11, 8),
    ("Okeechobee", "Oke", 12, 8),
    ("St. Lucie", "StL", 13, 8),
    ("Sarasota", "Sar", 10, 9),
    ("Charlotte", "Cha", 11, 9),
    ("Glades", "Gla", 12, 9),
    ("Martin", "Mrt", 13, 9),
    ("Lee", "Lee", 11, 10),
    ("Hendry", "Hen", 12, 10),
    ("Palm Beach", "PBc", 13, 10),
    ("Collier", "Col", 12, 11),
    ("Broward", "Brw", 13, 11),
    ("Monroe", "Mon", 12, 12),
    ("Miami-Dade", "MDa", 13, 12),
];

const TILE: u32 = 46;
const SHADES: usize = 5;

/// The map; the shade of a county is its fifth by filings of the last 30 days.
pub(super) fn map(counties: &[CountyFigures]) -> Markup {
    let bounds = shade_bounds(counties);
    html! {
        svg viewBox={ "0 0 " (15 * TILE) " " (13 * TILE) } role="img" aria-label="Filings of the last 30 days by county" {
            @for (name, short, column, row) in TILES {
                @let figures = counties.iter().find(|figures| is_same_county(&figures.county, name));
                @let filings = figures.map_or(0, |figures| figures.filings_last_30_days);
                g transform={ "translate(" (column * TILE) " " (row * TILE) ")" } class={ "tile shade" (shade(filings, bounds)) } {
                    title { (name) ": " (tip(figures)) }
                    rect width=(TILE - 3) height=(TILE - 3) rx="5" {}
                    text x="6" y="16" { (short) }
                    text.value x="6" y="33" { (compact(filings)) }
                }
            }
        }
        @for figures in counties.iter().filter(|figures| !TILES.iter().any(|tile| is_same_county(&figures.county, tile.0))) {
            p.note { (county(&figures.county)) ": " (tip(Some(figures))) }
        }
    }
}

fn tip(figures: Option<&CountyFigures>) -> String {
    let Some(figures) = figures else { return "no filings".to_owned() };
    let filings = integer(figures.filings_last_30_days);
    match figures.growth_30_days {
        None => format!("{filings} filings in 30 days"),
        growth => format!("{filings} filings in 30 days, {}", change(growth)),
    }
}

/// Names are equal by their letters: `St. Johns`, `ST JOHNS` and `Saint Johns` are one county.
fn is_same_county(a: &str, b: &str) -> bool {
    let letters = |name: &str| {
        let letters: String = name.chars().filter(char::is_ascii_alphabetic).collect();
        letters.to_ascii_lowercase().replace("saint", "st")
    };
    letters(a) == letters(b)
}

/// Lower bounds of the shades above the first: fifths of the counties that have filings.
fn shade_bounds(counties: &[CountyFigures]) -> [i64; SHADES - 1] {
    let mut filings: Vec<i64> = counties
        .iter()
        .filter(|figures| !figures.county.is_empty() && figures.filings_last_30_days > 0)
        .map(|figures| figures.filings_last_30_days)
        .collect();
    filings.sort_unstable();
    std::array::from_fn(|fifth| {
        filings.get(filings.len() * (fifth + 1) / SHADES).copied().unwrap_or(i64::MAX)
    })
}

/// 0 without filings, then 1 to 5.
fn shade(filings: i64, bounds: [i64; SHADES - 1]) -> usize {
    if filings == 0 { 0 } else { 1 + bounds.iter().filter(|bound| filings >= **bound).count() }
}

/// At most four characters: `870`, `4.2k`, `12k`.
fn compact(number: i64) -> String {
    match number {
        ..1_000 => number.to_string(),
        1_000..9_950 => format!("{}.{}k", (number + 50) / 1_000, (number + 50) % 1_000 / 100),
        _ => format!("{}k", (number + 500) / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_county_has_its_own_tile() {
        let names: BTreeSet<_> = TILES.iter().map(|tile| tile.0).collect();
        let labels: BTreeSet<_> = TILES.iter().map(|tile| tile.1).collect();
        let places: BTreeSet<_> = TILES.iter().map(|tile| (tile.2, tile.3)).collect();
        assert_eq!((names.len(), labels.len(), places.len()), (67, 67, 67));
    }

    #[test]
    fn spellings_of_a_county_are_one_and_two_counties_are_two() {
        for other in ["St. Johns", "ST JOHNS", "Saint Johns", "st johns"] {
            assert!(is_same_county("St. Johns", other), "{other}");
        }
        assert!(!is_same_county("St. Johns", "St. Lucie"));
        assert!(!is_same_county("", "Bay"));
    }

    #[test]
    fn tiles_show_their_number_in_four_characters() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_049, "1.0k"), (1_950, "2.0k"), (9_949, "9.9k"), (9_950, "10k")]
        {
            assert_eq!(compact(number), text);
        }
    }
}
