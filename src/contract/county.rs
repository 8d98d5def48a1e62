//! The 67 counties of Florida.
//!
//! Source: API document, "County record"; the names are the state's own.

/// Display names in alphabetical order.
#[rustfmt::skip]
pub const FLORIDA_COUNTIES: [&str; 67] = [
    "Alachua", "Baker", "Bay", "Bradford", "Brevard", "Broward", "Calhoun", "Charlotte", "Citrus", "Clay",
    "Collier", "Columbia", "DeSoto", "Dixie", "Duval", "Escambia", "Flagler", "Franklin", "Gadsden",
    "Gilchrist", "Glades", "Gulf", "Hamilton", "Hardee", "Hendry", "Hernando", "Highlands", "Hillsborough",
    "Holmes", "Indian River", "Jackson", "Jefferson", "Lafayette", "Lake", "Lee", "Leon", "Levy", "Liberty",
    "Madison", "Manatee", "Marion", "Martin", "Miami-Dade", "Monroe", "Nassau", "Okaloosa", "Okeechobee",
    "Orange", "Osceola", "Palm Beach", "Pasco", "Pinellas", "Polk", "Putnam", "Santa Rosa", "Sarasota",
    "Seminole", "St. Johns", "St. Lucie", "Sumter", "Suwannee", "Taylor", "Union", "Volusia", "Wakulla",
    "Walton", "Washington",
];

/// The county of Florida with exactly this display name.
pub fn florida_county(name: &str) -> Option<&'static str> {
    FLORIDA_COUNTIES.into_iter().find(|county| *county == name)
}

/// The key of a county name: the name in capitals.
pub fn county_key(name: &str) -> String {
    name.to_uppercase()
}

/// What is known of a county beyond the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountyFacts {
    /// Display name.
    pub name: &'static str,
    /// State and county code, 5 digits.
    pub fips: &'static str,
    /// Residents on April 1, 2020.
    pub population: i64,
    /// In square miles, rounded, without water.
    pub land_area_sq_mi: i64,
    /// One of the state's 8 economic development regions.
    pub region: &'static str,
}

/// The facts of the 67 counties, in their order.
///
/// Source of the populations: 2020 census, P.L. 94-171. Of codes and land areas: Census Bureau, Gazetteer of counties, 2017.
/// Of the regions: Enterprise Florida.
pub fn county_facts() -> impl Iterator<Item = CountyFacts> {
    let rows = include_str!("county_facts.csv").lines().skip(1);
    rows.filter_map(|line| {
        let mut cells = line.split(',');
        Some(CountyFacts {
            name: cells.next()?,
            fips: cells.next()?,
            population: cells.next()?.parse().ok()?,
            land_area_sq_mi: cells.next()?.parse().ok()?,
            region: cells.next()?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::id::is_county_key;
    use std::collections::BTreeSet;

    #[test]
    fn every_county_has_its_own_well_formed_key_and_the_order_is_the_keys() {
        let keys = FLORIDA_COUNTIES.map(county_key);
        assert!(keys.iter().all(|key| is_county_key(key) && *key == key.to_ascii_uppercase()));
        assert!(keys.is_sorted());
    }

    #[test]
    fn the_facts_are_those_of_every_county_and_add_up_to_the_state() {
        let facts: Vec<_> = county_facts().collect();
        assert_eq!(facts.iter().map(|county| county.name).collect::<Vec<_>>(), FLORIDA_COUNTIES);
        assert_eq!(facts.iter().map(|county| county.population).sum::<i64>(), 21_538_187);
        let land: i64 = facts.iter().map(|county| county.land_area_sq_mi).sum();
        assert!((53_500..53_750).contains(&land), "Florida has 53,625 square miles of land, not {land}");
        let codes: BTreeSet<_> = facts.iter().map(|county| county.fips).collect();
        assert_eq!(codes.len(), 67);
        assert!(codes.iter().all(|code| code.len() == 5 && code.starts_with("12")));
        assert_eq!(facts.iter().map(|county| county.region).collect::<BTreeSet<_>>().len(), 8);
        let miami = facts.iter().find(|county| county.name == "Miami-Dade").expect("a county");
        assert_eq!((miami.fips, miami.population, miami.region), ("12086", 2_701_767, "Southeast"));
    }
}
