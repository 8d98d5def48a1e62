//! The 67 counties as a grid of equal tiles, each near its place on the map.

use super::county::{County, slug};
use super::measure::Shades;
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

/// The tiles, shaded as the map is; each has the value of the measure that the reader chose.
pub(super) fn tiles(counties: &[County<'_>], shades: &[Shades<'_>]) -> Markup {
    html! {
        svg viewBox={ "0 0 " (15 * TILE) " " (13 * TILE) } role="group" aria-label="The counties as equal tiles" {
            @for &(name, short, column, row) in TILES.iter() {
                @if let Some(county) = counties.iter().find(|county| county.name == name) {
                    @let shade = Shades::classes(shades, county);
                    g.tile.(shade) transform={ "translate(" (column * TILE) " " (row * TILE) ")" } {
                        // The link has the shade too: what a link inherits is black once it was visited.
                        a.(shade) href={ "#" (slug(name)) } {
                            title { (name) }
                            rect width=(TILE - 3) height=(TILE - 3) rx="5" {}
                        }
                        text x="5" y="16" { (short) }
                        @for Shades { measure, windows, .. } in shades {
                            text.of.{ "of-" (measure.key()) } x="5" y="34" { (measure.short_text(county, windows)) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::county::florida_county;
    use std::collections::BTreeSet;

    #[test]
    fn every_county_has_its_own_tile() {
        let names: BTreeSet<_> = TILES.iter().map(|tile| tile.0).collect();
        let labels: BTreeSet<_> = TILES.iter().map(|tile| tile.1).collect();
        let places: BTreeSet<_> = TILES.iter().map(|tile| (tile.2, tile.3)).collect();
        assert_eq!((names.len(), labels.len(), places.len()), (67, 67, 67));
        assert!(names.iter().all(|name| florida_county(name).is_some()));
    }
}
