//! Names of persons and companies from their fields.

use super::text::{letter, squeezed};
use crate::import::files::layout::PartyFields;

const COMPANY_ENDINGS: [&str; 11] =
    ["LLC", "LC", "INC", "CORP", "LTD", "LLP", "LLLP", "PLLC", "CORPORATION", "COMPANY", "INCORPORATED"];

/// The name in a group of fields. A person's name has columns: last name 20, first name 14, middle initial 1, then a suffix.
/// A person whose name ends as a company's is one.
pub fn party(fields: &PartyFields, line: &[u8]) -> String {
    let field = fields.name.of(line);
    let whole = squeezed(field);
    if letter(fields.kind.of(line)) != Some('P') || is_company(&whole) {
        return whole;
    }
    let part = |from: usize, to: usize| squeezed(&field[from.min(field.len())..to.min(field.len())]);
    let last = part(0, 20);
    let mut given = String::new();
    for word in [part(20, 34), part(34, 35), part(35, field.len())] {
        if !given.is_empty() && !word.is_empty() {
            given.push(' ');
        }
        given.push_str(&word);
    }
    match (last.is_empty(), given.is_empty()) {
        (false, false) => format!("{last}, {given}"),
        (_, true) => last,
        (true, false) => given,
    }
}

fn is_company(name: &str) -> bool {
    let word = name.rsplit(' ').next().unwrap_or("");
    if word.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return COMPANY_ENDINGS.contains(&word);
    }
    let letters: String =
        word.chars().flat_map(char::to_uppercase).filter(char::is_ascii_uppercase).collect();
    COMPANY_ENDINGS.contains(&letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::files::layout::corporate::AGENT;

    #[test]
    fn persons_have_columns_and_companies_do_not() {
        let name = |field: &str, kind: char| {
            let line = format!("{:544}{field:42}{kind}", "");
            party(&AGENT, line.as_bytes())
        };
        let person = format!("{:20}{:14}{:1}{:7}", "FOSS", "ORLANDO", "W", "IV");
        assert_eq!(name(&person, 'P'), "FOSS, ORLANDO W IV");
        assert_eq!(name(&person, 'C'), "FOSS ORLANDO WIV");
        assert_eq!(name("MADONNA", 'P'), "MADONNA");
        assert_eq!(name("REGISTERED AGENTS OF FLORIDA LLC", 'P'), "REGISTERED AGENTS OF FLORIDA LLC");
    }
}
