//! The counties with their figures.

use super::number::{RELIABLE, integer, points as points_text};
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
            let year = in_days(figures.filings, windows, YEAR);
            let people = figures.filings as f64 * 10_000.0 / self.population as f64;
            let by_people = windows.are_settled().then(|| format!(" ({people:.0} per 10,000 people)"));
            facts.push(year + &by_people.unwrap_or_default());
        }
        facts.extend(figures.points_from_state.map(|points| growth(figures, points)));
        let month = || in_days(figures.filings_last_30_days, windows, MONTH);
        let week = in_days(figures.filings_last_7_days, windows, WEEK);
        let filling: Vec<String> =
            windows.is_longer(MONTH, WEEK).then(month).into_iter().chain([week]).collect();
        facts.push(format!("{FILLING}: {}", filling.join(", ")));
        facts.join("; ")
    }
}

/// The growth of a county against the state's, in words; of few filings nothing is said, whatever their interval is.
fn growth(figures: &CountyFigures, points: f64) -> String {
    if figures.is_different {
        format!("growth {} points from the state's", points_text(points))
    } else if figures.filings_newer.min(figures.filings_older) < RELIABLE {
        format!("growth not said of fewer than {RELIABLE} filings")
    } else {
        "growth no different from the state's".to_owned()
    }
}

/// Filings of the last days in words, where these were read.
fn in_days(number: i64, windows: &Windows, days: u32) -> String {
    match windows.known(number, days) {
        Some(number) => format!("{} in the last {}", filings(number), windows.label(days)),
        None => format!("the last {days} days not read"),
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
    use jiff::civil::date;

    #[test]
    fn spellings_of_a_county_are_one_and_two_counties_are_two() {
        for other in ["St. Johns", "ST JOHNS", "Saint Johns", "st johns"] {
            assert!(is_same_county("St. Johns", other), "{other}");
        }
        assert!(!is_same_county("St. Johns", "St. Lucie"));
        assert!(!is_same_county("", "Bay"));
    }

    #[test]
    fn a_county_without_filings_of_days_that_were_not_read_does_not_have_0() {
        let unread = Figures { as_of: Some(date(2026, 11, 20)), ..Figures::default() };
        let facts = counties(&unread)[0].facts(&Windows::of(&unread));
        let expected =
            "the last 365 days not read; still filling: the last 30 days not read, the last 7 days not read";
        assert_eq!(facts, expected);
        let some =
            vec![CountyFigures { county: "Alachua".to_owned(), filings: 1, ..CountyFigures::default() }];
        let some = Figures { counties: some, ..unread };
        let facts = counties(&some)[0].facts(&Windows::of(&some));
        assert!(facts.starts_with("1 filing in the last 365 days, incomplete; "), "{facts}");
    }

    #[test]
    fn growth_of_few_filings_is_not_said() {
        let of = |filings_newer, filings_older, is_different| {
            let figures =
                CountyFigures { filings_newer, filings_older, is_different, ..CountyFigures::default() };
            growth(&figures, 30.0)
        };
        assert_eq!(of(130, 100, true), "growth +30.0 points from the state's");
        assert_eq!(of(130, 100, false), "growth no different from the state's");
        assert_eq!(of(130, 99, false), "growth not said of fewer than 100 filings");
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
