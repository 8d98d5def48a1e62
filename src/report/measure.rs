//! The measures that shade a county, and the five shades of each.

use super::county::County;
use super::number::{compact, integer};

pub(super) const SHADES: usize = 5;
/// Lower bounds of the upper four shades of growth: 1 is 100 %.
const GROWTH: [f64; SHADES - 1] = [-0.10, -0.02, 0.02, 0.10];

/// What shades the counties of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Week,
    Month,
    Year,
    People,
    Growth,
}

impl Measure {
    pub(super) const ALL: [Self; 5] = [Self::Week, Self::Month, Self::Year, Self::People, Self::Growth];

    /// The word in the page's identifiers; its first letter begins the classes of the shades.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
            Self::People => "people",
            Self::Growth => "growth",
        }
    }

    /// The first letter of its key, which no other measure has.
    pub(super) fn initial(self) -> &'static str {
        &self.key()[..1]
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Week => "7 days",
            Self::Month => "30 days",
            Self::Year => "365 days",
            Self::People => "365 days, per 10,000 people",
            Self::Growth => "growth of settled days",
        }
    }

    /// The value of a county; none for a growth that is not reliable.
    pub(super) fn value(self, county: &County<'_>) -> Option<f64> {
        let figures = &county.figures;
        match self {
            Self::Week => Some(figures.filings_last_7_days as f64),
            Self::Month => Some(figures.filings_last_30_days as f64),
            Self::Year => Some(figures.filings as f64),
            Self::People => Some(county.per_10_000()),
            Self::Growth => figures.growth,
        }
    }

    /// The value in words.
    fn text(self, value: f64) -> String {
        match self {
            Self::Week | Self::Month | Self::Year => integer(value as i64),
            Self::People => format!("{value:.0}"),
            Self::Growth => format!("{:+.0} %", value * 100.0).replace('-', "−"),
        }
    }

    /// The value of a county in at most five characters; a dash without one.
    pub(super) fn short_text(self, county: &County<'_>) -> String {
        match (self, self.value(county)) {
            (_, None) => "–".to_owned(),
            (Self::People | Self::Growth, Some(value)) => self.text(value).replace(' ', ""),
            (_, Some(value)) => compact(value as i64),
        }
    }
}

/// The five shades of a measure.
pub(super) struct Shades {
    measure: Measure,
    /// Lower bounds of the shades above the first.
    bounds: [f64; SHADES - 1],
}

impl Shades {
    /// Fifths of the counties that have filings; fixed bounds for growth.
    pub(super) fn of(measure: Measure, counties: &[County<'_>]) -> Self {
        if measure == Measure::Growth {
            return Self { measure, bounds: GROWTH };
        }
        let mut values: Vec<f64> =
            counties.iter().filter_map(|county| measure.value(county)).filter(|value| *value > 0.0).collect();
        values.sort_by(f64::total_cmp);
        let bound = |fifth| values.get(values.len() * (fifth + 1) / SHADES).copied().unwrap_or(f64::INFINITY);
        Self { measure, bounds: std::array::from_fn(bound) }
    }

    /// 0 without a value or without filings, then 1 to 5.
    pub(super) fn shade(&self, county: &County<'_>) -> usize {
        match self.measure.value(county) {
            None => 0,
            Some(0.0) if self.measure != Measure::Growth => 0,
            Some(value) => 1 + self.bounds.iter().filter(|bound| value >= **bound).count(),
        }
    }

    /// The class of a county: the first letter of the measure, and the shade.
    pub(super) fn class(&self, county: &County<'_>) -> String {
        format!("{}{}", self.measure.initial(), self.shade(county))
    }

    /// The classes of a county by all measures.
    pub(super) fn classes(all: &[Self], county: &County<'_>) -> String {
        all.iter().map(|shades| shades.class(county)).collect::<Vec<_>>().join(" ")
    }

    /// The class and the values of each shade, in words; a shade that no county has is left out.
    pub(super) fn legend(&self, counties: &[County<'_>]) -> Vec<(String, String)> {
        let (measure, bounds) = (self.measure, &self.bounds);
        let counts = matches!(measure, Measure::Week | Measure::Month | Measure::Year);
        let below = |bound: f64| if counts { bound - 1.0 } else { bound };
        let text = |shade: usize| match shade {
            0 if measure == Measure::Growth => "too few filings, or days not complete".to_owned(),
            0 => "none".to_owned(),
            1 => format!("below {}", measure.text(bounds[0])),
            SHADES => format!("{} and more", measure.text(bounds[SHADES - 2])),
            _ => match [bounds[shade - 2], below(bounds[shade - 1])].map(|bound| measure.text(bound)) {
                [lowest, highest] if lowest == highest => lowest,
                [lowest, highest] => format!("{lowest} to {highest}"),
            },
        };
        let has = |shade: &usize| counties.iter().any(|county| self.shade(county) == *shade);
        let entry = |shade| (format!("{}{shade}", measure.initial()), text(shade));
        (0..=SHADES).filter(has).map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::CountyFigures;
    use crate::report::county::counties;

    fn figures(county: &str, filings_last_30_days: i64, growth: Option<f64>) -> CountyFigures {
        CountyFigures { county: county.to_owned(), filings_last_30_days, growth, ..CountyFigures::default() }
    }

    #[test]
    fn shades_are_fifths_of_the_counties_that_have_filings() {
        let names = ["Bay", "Lee", "Gulf", "Clay", "Duval"];
        let of: Vec<CountyFigures> =
            names.iter().zip(1..).map(|(name, n)| figures(name, n * 10, None)).collect();
        let counties = counties(&of);
        let shade = |name: &str| {
            let county = counties.iter().find(|county| county.name == name).expect(name);
            Shades::of(Measure::Month, &counties).shade(county)
        };
        assert_eq!(names.map(shade), [1, 2, 3, 4, 5]);
        assert_eq!(shade("Union"), 0, "no filings");
        let words: Vec<String> = Shades::of(Measure::Month, &counties)
            .legend(&counties)
            .into_iter()
            .map(|(_, words)| words)
            .collect();
        assert_eq!(words, ["none", "below 20", "20 to 29", "30 to 39", "40 to 49", "50 and more"]);
    }

    #[test]
    fn growth_has_fixed_shades_on_both_sides_of_nothing() {
        let names = ["Bay", "Lee", "Gulf", "Clay", "Duval"];
        let growths = [-0.5, -0.05, 0.0, 0.02, 0.3];
        let of: Vec<CountyFigures> =
            names.iter().zip(growths).map(|(name, growth)| figures(name, 100, Some(growth))).collect();
        let counties = counties(&of);
        let shade = |name: &str| {
            let county = counties.iter().find(|county| county.name == name).expect(name);
            Shades::of(Measure::Growth, &counties).shade(county)
        };
        assert_eq!(names.map(shade), [1, 2, 3, 4, 5]);
        let legend = Shades::of(Measure::Growth, &counties).legend(&counties);
        let words: Vec<&str> = legend[1..4].iter().map(|(_, words)| words.as_str()).collect();
        assert_eq!(words, ["below −10 %", "−10 % to −2 %", "−2 % to +2 %"]);
    }
}
