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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::id::CountyKey;

    #[test]
    fn every_county_has_its_own_well_formed_key_and_the_order_is_the_keys() {
        let keys = FLORIDA_COUNTIES.map(county_key);
        assert!(keys.iter().all(|key| CountyKey::parse(key).is_some_and(|read| read.as_str() == key)));
        assert!(keys.is_sorted());
    }
}
