//! The measures that shade a county, and the five shades of each.

use super::county::County;
use super::number::{compact, integer, points};
use super::windows::{FILLING, MONTH, WEEK, Windows, YEAR};
use crate::aggregate::CountyFigures;

pub(super) const SHADES: usize = 5;
/// Lower bounds of the upper four shades of growth, in points from the state's.
const GROWTH: [f64; SHADES - 1] = [-15.0, -5.0, 5.0, 15.0];

/// What shades the counties of the map. Settled figures come first, those that still fill last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Settled,
    Year,
    People,
    Growth,
    Month,
    Week,
}

impl Measure {
    const ALL: [Self; 6] = [Self::Settled, Self::Year, Self::People, Self::Growth, Self::Month, Self::Week];

    /// The measures whose days the lake has; growth where it is known of a county.
    pub(super) fn shown(windows: &Windows, counties: &[County<'_>]) -> Vec<Self> {
        let has_growth = counties.iter().any(|county| county.figures.points_from_state.is_some());
        let is_shown = |measure: &Self| match measure {
            Self::Settled | Self::People => windows.are_settled(),
            Self::Year => windows.is_longer(YEAR, MONTH),
            Self::Month => windows.is_longer(MONTH, WEEK),
            Self::Growth => has_growth,
            Self::Week => true,
        };
        Self::ALL.into_iter().filter(is_shown).collect()
    }

    /// The word in the page's identifiers; its first letter begins the classes of the shades.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Settled => "settled",
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

    pub(super) fn label(self, windows: &Windows) -> String {
        match self {
            Self::Settled => "30 settled days".to_owned(),
            Self::Week => format!("{}, {FILLING}", windows.label(WEEK)),
            Self::Month => format!("{}, {FILLING}", windows.label(MONTH)),
            Self::Year => windows.label(YEAR),
            Self::People => format!("per 10,000 people, {}", windows.label(YEAR)),
            Self::Growth => "growth against the state's".to_owned(),
        }
    }

    /// The value of a county; none for a growth that is no different from the state's, and of days that were not read.
    pub(super) fn value(
        self,
        figures: &CountyFigures,
        population: Option<i64>,
        windows: &Windows,
    ) -> Option<f64> {
        let known = |filings: i64, days: u32| windows.known(filings, days).map(|filings| filings as f64);
        match self {
            Self::Settled => Some(figures.filings_settled_30_days as f64),
            Self::Week => known(figures.filings_last_7_days, WEEK),
            Self::Month => known(figures.filings_last_30_days, MONTH),
            Self::Year => known(figures.filings, YEAR),
            Self::People => population.map(|people| figures.filings as f64 * 10_000.0 / people as f64),
            Self::Growth => figures.points_from_state.filter(|_| figures.is_different),
        }
    }

    pub(super) fn of(self, county: &County<'_>, windows: &Windows) -> Option<f64> {
        self.value(&county.figures, Some(county.population), windows)
    }

    /// The value as a cell of a table; a dash without one.
    pub(super) fn cell(self, value: Option<f64>) -> String {
        match (self, value) {
            (_, None) => "–".to_owned(),
            (Self::Growth, Some(value)) => points(value),
            (_, Some(value)) => self.text(value),
        }
    }

    /// The value in words.
    pub(super) fn text(self, value: f64) -> String {
        match self {
            Self::Settled | Self::Week | Self::Month | Self::Year => integer(value as i64),
            Self::People => format!("{value:.0}"),
            Self::Growth => format!("{value:+.0} points").replace('-', "−"),
        }
    }

    /// The value of a county in at most five characters; a dash without one.
    pub(super) fn short_text(self, county: &County<'_>, windows: &Windows) -> String {
        match (self, self.of(county, windows)) {
            (_, None) => "–".to_owned(),
            (Self::Growth, Some(value)) => format!("{value:+.0}").replace('-', "−"),
            (Self::People, Some(value)) => self.text(value),
            (_, Some(value)) => compact(value as i64),
        }
    }
}

/// The five shades of a measure.
pub(super) struct Shades<'w> {
    pub(super) measure: Measure,
    pub(super) windows: &'w Windows,
    /// Lower bounds of the shades above the first.
    bounds: [f64; SHADES - 1],
}

impl<'w> Shades<'w> {
    /// Fifths of the counties that have filings; fixed bounds for growth.
    pub(super) fn of(measure: Measure, counties: &[County<'_>], windows: &'w Windows) -> Self {
        if measure == Measure::Growth {
            return Self { measure, windows, bounds: GROWTH };
        }
        let values = counties.iter().filter_map(|county| measure.of(county, windows));
        let mut values: Vec<f64> = values.filter(|value| *value > 0.0).collect();
        values.sort_by(f64::total_cmp);
        let bound = |fifth| values.get(values.len() * (fifth + 1) / SHADES).copied().unwrap_or(f64::INFINITY);
        Self { measure, windows, bounds: std::array::from_fn(bound) }
    }

    /// 0 without a value or without filings, then 1 to 5.
    pub(super) fn shade(&self, county: &County<'_>) -> usize {
        match self.measure.of(county, self.windows) {
            None => 0,
            Some(0.0) if self.measure != Measure::Growth => 0,
            Some(value) => 1 + self.bounds.iter().filter(|bound| value >= **bound).count(),
        }
    }

    /// The classes of a county by all measures: the first letter of the measure, and the shade.
    pub(super) fn classes(all: &[Self], county: &County<'_>) -> String {
        let class = |shades: &Self| format!("{}{}", shades.measure.initial(), shades.shade(county));
        all.iter().map(class).collect::<Vec<_>>().join(" ")
    }

    /// The class and the values of each shade, in words; a shade that no county has is left out.
    pub(super) fn legend(&self, counties: &[County<'_>]) -> Vec<(String, String)> {
        let (measure, bounds) = (self.measure, &self.bounds);
        let counts = !matches!(measure, Measure::People | Measure::Growth);
        let below = |bound: f64| if counts { bound - 1.0 } else { bound };
        let is_known = |county: &County<'_>| measure.of(county, self.windows).is_some();
        let text = |shade: usize| match shade {
            0 if measure == Measure::Growth => {
                "no different from the state, too small or not known".to_owned()
            }
            0 if counties.iter().all(is_known) => "none".to_owned(),
            0 => "not read".to_owned(),
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
    use crate::aggregate::Figures;
    use crate::report::county::counties;
    use crate::report::windows::tests::lake;

    fn figures(county: &str, filings_last_30_days: i64, points: Option<f64>) -> CountyFigures {
        CountyFigures {
            county: county.to_owned(),
            filings_last_30_days,
            points_from_state: points,
            is_different: points.is_some_and(|points| points != 0.0),
            ..CountyFigures::default()
        }
    }

    #[test]
    fn shades_are_fifths_of_the_counties_that_have_filings() {
        let names = ["Bay", "Lee", "Gulf", "Clay", "Duval"];
        let of = names.iter().zip(1..).map(|(name, n)| figures(name, n * 10, None));
        let of = Figures { counties: of.collect(), ..Figures::default() };
        let (counties, windows) = (counties(&of), Windows::default());
        let shade = |name: &str| {
            let county = counties.iter().find(|county| county.name == name).expect(name);
            Shades::of(Measure::Month, &counties, &windows).shade(county)
        };
        assert_eq!(names.map(shade), [1, 2, 3, 4, 5]);
        assert_eq!(shade("Union"), 0, "no filings");
        let words = |windows: &Windows| -> Vec<String> {
            let legend = Shades::of(Measure::Month, &counties, windows).legend(&counties);
            legend.into_iter().map(|(_, words)| words).collect()
        };
        let shades = ["below 20", "20 to 29", "30 to 39", "40 to 49", "50 and more"];
        assert_eq!(
            (words(&windows)[0].as_str(), &words(&windows)[1..]),
            ("none", &shades.map(str::to_owned)[..])
        );
        let unread = Windows::of(&lake(0, |_| true));
        assert_eq!(words(&unread)[0], "not read");
        let union = counties.iter().find(|county| county.name == "Union").expect("a county");
        assert_eq!(Measure::Month.short_text(union, &unread), "–");
    }

    #[test]
    fn growth_has_fixed_shades_on_both_sides_of_the_state_and_none_where_it_is_no_different() {
        let names = ["Bay", "Lee", "Gulf", "Clay", "Duval", "Polk"];
        let points = [-50.0, -7.0, 3.0, 5.0, 30.0, 0.0];
        let of = names.iter().zip(points).map(|(name, points)| figures(name, 100, Some(points)));
        let of = Figures { counties: of.collect(), ..Figures::default() };
        let (counties, windows) = (counties(&of), Windows::default());
        let shade = |name: &str| {
            let county = counties.iter().find(|county| county.name == name).expect(name);
            Shades::of(Measure::Growth, &counties, &windows).shade(county)
        };
        assert_eq!(names.map(shade), [1, 2, 3, 4, 5, 0]);
        let legend = Shades::of(Measure::Growth, &counties, &windows).legend(&counties);
        let words: Vec<&str> = legend[..4].iter().map(|(_, words)| words.as_str()).collect();
        let expected = ["no different from the state, too small or not known", "below −15 points"];
        assert_eq!(words[..2], expected);
        assert_eq!(words[2..], ["−15 points to −5 points", "−5 points to +5 points"]);
    }

    #[test]
    fn measures_are_those_whose_days_the_lake_has_and_settled_ones_come_first() {
        let of_growth = |points, days: u32, is_complete: &dyn Fn(u32) -> bool| -> Vec<String> {
            let windows = Windows::of(&lake(days, is_complete));
            let figures = Figures { counties: vec![figures("Bay", 10, points)], ..Figures::default() };
            let shown = Measure::shown(&windows, &counties(&figures));
            shown.into_iter().map(|measure| measure.label(&windows)).collect()
        };
        let labels = |days: u32, is_complete: &dyn Fn(u32) -> bool| of_growth(Some(0.0), days, is_complete);
        let growth = "growth against the state's";
        let [filling, month] = ["7 days, still filling", "30 days, still filling"];
        let all = |_| true;
        let people = |days: &str| format!("per 10,000 people, {days}");
        assert_eq!(
            labels(400, &all),
            ["30 settled days", "365 days", &people("365 days"), growth, month, filling]
        );
        assert_eq!(
            labels(90, &all),
            ["30 settled days", "90 days", &people("90 days"), growth, month, filling]
        );
        assert_eq!(labels(20, &all), [growth, "20 days, still filling", filling]);
        assert_eq!(
            of_growth(None, 20, &all),
            ["20 days, still filling", filling],
            "growth of no county is known"
        );
        let cut = "90 days, incomplete";
        assert_eq!(
            labels(90, &|ago| ago < 45),
            ["30 settled days", cut, &people(cut), growth, month, filling]
        );
    }

    #[test]
    fn the_classes_of_two_measures_never_meet() {
        let initials: std::collections::BTreeSet<&str> =
            Measure::ALL.into_iter().map(Measure::initial).collect();
        assert_eq!(initials.len(), Measure::ALL.len());
    }
}
