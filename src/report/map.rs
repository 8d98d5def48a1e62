//! The 67 counties as a grid of tiles, each near its place on the map.

use super::number::{change, county, integer};
use crate::aggregate::CountyFigures;
use maud::{Markup, html};
use std::sync::LazyLock;

/// The counties of each row, north to south: column, label, name. Columns run west to east.
const ROWS: [&str; 13] = [
    "0 Esc Escambia, 1 SRo Santa Rosa, 2 Oka Okaloosa, 3 Wtn Walton, 4 Hol Holmes, 5 Jac Jackson, 6 Gad Gadsden, \
     7 Leo Leon, 8 Jef Jefferson, 9 Mad Madison, 10 Ham Hamilton, 13 Nas Nassau",
    "4 Was Washington, 5 Cal Calhoun, 6 Lib Liberty, 7 Wak Wakulla, 10 Suw Suwannee, 11 Clb Columbia, \
     12 Bak Baker, 13 Duv Duval",
    "4 Bay Bay, 5 Glf Gulf, 6 Fra Franklin, 8 Tay Taylor, 9 Laf Lafayette, 10 Gil Gilchrist, \
     11 Uni Union, 12 Brd Bradford, 13 Cla Clay, 14 StJ St. Johns",
    "9 Dix Dixie, 10 Lev Levy, 11 Ala Alachua, 12 Put Putnam, 13 Fla Flagler",
    "10 Cit Citrus, 11 Mar Marion, 12 Lak Lake, 13 Vol Volusia",
    "10 Her Hernando, 11 Sum Sumter, 12 Ora Orange, 13 Sem Seminole",
    "10 Pas Pasco, 11 Plk Polk, 12 Osc Osceola, 13 Brv Brevard",
    "9 Pin Pinellas, 10 Hil Hillsborough, 11 Hrd Hardee, 12 Hig Highlands, 13 InR Indian River",
    "10 Man Manatee, 11 DeS DeSoto, 12 Oke Okeechobee, 13 StL St. Lucie",
    "10 Sar Sarasota, 11 Cha Charlotte, 12 Gla Glades, 13 Mrt Martin",
    "11 Lee Lee, 12 Hen Hendry, 13 PBc Palm Beach",
    "12 Col Collier, 13 Brw Broward",
    "12 Mon Monroe, 13 MDa Miami-Dade",
];

/// County, label, column and row of each tile.
static TILES: LazyLock<Vec<(&str, &str, u32, u32)>> = LazyLock::new(|| {
    let tile = |row, text: &'static str| {
        let mut words = text.splitn(3, ' ');
        let (column, label) = (words.next()?.parse().ok()?, words.next()?);
        Some((words.next()?, label, column, row))
    };
    (0..).zip(ROWS).flat_map(|(row, line)| line.split(", ").filter_map(move |text| tile(row, text))).collect()
});

const TILE: u32 = 46;
const SHADES: usize = 5;

/// The map; the shade of a county is its fifth by filings of the last 30 days.
pub(super) fn map(counties: &[CountyFigures]) -> Markup {
    let bounds = shade_bounds(counties);
    html! {
        svg viewBox={ "0 0 " (15 * TILE) " " (13 * TILE) } role="img" aria-label="Filings of the last 30 days by county" {
            @for &(name, short, column, row) in TILES.iter() {
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
    match figures.growth {
        None => format!("{filings} filings in 30 days"),
        growth => format!("{filings} filings in 30 days; growth {}", change(growth)),
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
