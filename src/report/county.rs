//! The counties with their figures.

use super::number::{integer, points as points_text};
use super::windows::{FILLING, MONTH, WEEK, Windows, YEAR};
use crate::aggregate::{CountyDetail, CountyFigures, Figures};
use crate::contract::county::{CountyFacts, county_facts};

/// One of Florida's counties, with or without filings.
pub(super) struct County<'f> {
    pub(super) name: &'static str,
    pub(super) fips: &'static str,
    pub(super) population: i64,
    pub(super) figures: CountyFigures,
    pub(super) detail: Option<&'f CountyDetail>,
}

impl County<'_> {
    /// Settled figures first, then those that still fill.
    pub(super) fn facts(&self, windows: &Windows) -> String {
        let figures = &self.figures;
        let mut facts = Vec::new();
        if windows.are_settled() {
            facts.push(format!("{} in 30 settled days", filings(figures.filings_settled_30_days)));
        }
        if windows.is_longer(YEAR, MONTH) {
            let year = format!("{} in {}", integer(figures.filings), windows.label(YEAR));
            let people = figures.filings as f64 * 10_000.0 / self.population as f64;
            let by_people = windows.are_settled().then(|| format!(" ({people:.0} per 10,000 people)"));
            facts.push(year + &by_people.unwrap_or_default());
        }
        let growth = figures.points_from_state.map(|points| {
            if figures.is_different {
                format!("growth {} points from the state's", points_text(points))
            } else {
                "growth no different from the state's, or too few filings to say".to_owned()
            }
        });
        facts.extend(growth);
        let month = |label: String| format!("{} in the last {label}", filings(figures.filings_last_30_days));
        let filling = windows.is_longer(MONTH, WEEK).then(|| month(windows.label(MONTH)));
        let week = format!("{} in the last {}", integer(figures.filings_last_7_days), windows.label(WEEK));
        let filling: Vec<String> = filling.into_iter().chain([week]).collect();
        facts.push(format!("{FILLING}: {}", filling.join(", ")));
        facts.join("; ")
    }
}

fn filings(number: i64) -> String {
    format!("{} {}", integer(number), if number == 1 { "filing" } else { "filings" })
}

/// All counties with their filings, in the order of their names.
pub(super) fn counties(figures: &Figures) -> Vec<County<'_>> {
    let county = |facts: CountyFacts| {
        let is_it = |name: &str| is_same_county(name, facts.name);
        let detail = figures.county_details.iter().find(|(name, _)| is_it(name));
        County {
            name: facts.name,
            fips: facts.fips,
            population: facts.population,
            figures: figures.counties.iter().find(|row| is_it(&row.county)).cloned().unwrap_or_default(),
            detail: detail.map(|(_, detail)| detail),
        }
    };
    county_facts().map(county).collect()
}

/// The part of the page that shows a county: `county-st-johns`.
pub(super) fn slug(name: &str) -> String {
    let words: Vec<&str> =
        name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    format!("county-{}", words.join("-").to_ascii_lowercase())
}

/// Names are equal by their letters: `St. Johns`, `ST JOHNS` and `Saint Johns` are one county.
pub(super) fn is_same_county(a: &str, b: &str) -> bool {
    let letters = |name: &str| {
        let letters: String = name.chars().filter(char::is_ascii_alphabetic).collect();
        letters.to_ascii_lowercase().replace("saint", "st")
    };
    letters(a) == letters(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_county_are_one_and_two_counties_are_two() {
        for other in ["St. Johns", "ST JOHNS", "Saint Johns", "st johns"] {
            assert!(is_same_county("St. Johns", other), "{other}");
        }
        assert!(!is_same_county("St. Johns", "St. Lucie"));
        assert!(!is_same_county("", "Bay"));
    }

    #[test]
    fn every_county_has_its_own_part() {
        let figures = Figures::default();
        let all = counties(&figures);
        let slugs: std::collections::BTreeSet<String> = all.iter().map(|county| slug(county.name)).collect();
        assert_eq!(slugs.len(), 67);
        assert!(slugs.contains("county-st-johns") && slugs.contains("county-miami-dade"));
    }
}
