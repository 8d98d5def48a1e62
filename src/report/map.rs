//! The map: the real shapes of the 67 counties, shaded by a measure that the reader chooses.
//!
//! Source of the shapes: Census Bureau, cartographic boundaries, in the public domain; by way of us-atlas 3.0.1, simplified.

use super::county::{County, slug};
use super::measure::{Measure, Shades};
use super::tiles;
use super::windows::Windows;
use maud::{Markup, html};

/// Code of each county, and its shape within 700 by 673.
const SHAPES: &str = include_str!("county_shapes.csv");

/// The map with its switch. The choice works without a script: the page's style shows what the chosen button says.
pub(super) fn map(counties: &[County<'_>], windows: &Windows) -> Markup {
    let measures = Measure::shown(windows, counties);
    let shades: Vec<Shades<'_>> =
        measures.iter().map(|measure| Shades::of(*measure, counties, windows)).collect();
    let first = measures.iter().find(|measure| **measure != Measure::Growth);
    html! {
        fieldset.map {
            legend { "Shade the counties by new filings" }
            @for measure in &measures {
                input type="radio" name="by" id={ "by-" (measure.key()) } checked[Some(measure) == first];
                label for={ "by-" (measure.key()) } { (measure.label(windows)) }
            }
            div.shown {
                @for (measure, shades) in measures.iter().zip(&shades) {
                    p.legend.of.{ "of-" (measure.key()) } { @for (class, text) in shades.legend(counties) {
                        span { span.key.(class) {} (text) } " "
                    } }
                }
                svg viewBox="0 0 700 673" role="group" aria-label="Map of the counties" {
                    @for (fips, path) in shapes() {
                        @if let Some(county) = counties.iter().find(|county| county.fips == fips) {
                            a.shape.(Shades::classes(&shades, county)) href={ "#" (slug(county.name)) } {
                                title { (county.name) ": " (county.facts(windows)) }
                                path d=(path) {}
                            }
                        }
                    }
                }
                details { summary { "As equal tiles" } (tiles::tiles(counties, &shades)) }
            }
        }
    }
}

fn shapes() -> impl Iterator<Item = (&'static str, &'static str)> {
    SHAPES.lines().skip(1).filter_map(|line| line.split_once(','))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::Figures;
    use crate::contract::county::county_facts;
    use crate::report::county::counties;
    use std::collections::BTreeSet;

    #[test]
    fn every_county_has_its_shape_inside_the_map() {
        let shapes: BTreeSet<&str> = shapes().map(|(fips, _)| fips).collect();
        assert_eq!(shapes, county_facts().map(|county| county.fips).collect());
        let none = Figures::default();
        assert_eq!(map(&counties(&none), &Windows::default()).into_string().matches("<path ").count(), 67);
        let numbers = |path: &'static str| {
            path.split(|c: char| !c.is_ascii_digit() && c != '-')
                .filter(|part| !part.is_empty() && *part != "-")
        };
        for (fips, path) in super::shapes() {
            assert!(path.starts_with('M') && path.ends_with('z') && numbers(path).count() > 6, "{fips}");
        }
        assert!(SHAPES.len() < 30_000, "{} bytes", SHAPES.len());
    }
}
