//! Names of persons and companies from their fields.

use super::text::{letter, squeezed};
use crate::import::files::layout::PartyFields;

const COMPANY_ENDINGS: [&str; 11] =
    ["LLC", "LC", "INC", "CORP", "LTD", "LLP", "LLLP", "PLLC", "CORPORATION", "COMPANY", "INCORPORATED"];

/// The name in a group of fields. A person's name has columns: last name 20, first name 14, middle initial 1, then a suffix.
/// A person whose name ends as a company's is one.
pub fn party(fields: &PartyFields, line: &[u8]) -> String {
    let field = fields.name.of(line);
    if letter(fields.kind.of(line)) != Some('P') || ends_as_company(field) {
        return squeezed(field);
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

/// Whether the letters of the last word of a field are a company's ending.
fn ends_as_company(field: &[u8]) -> bool {
    let field = field.trim_ascii_end();
    let word = &field[field.iter().rposition(|byte| *byte == b' ').map_or(0, |blank| blank + 1)..];
    if word.iter().all(u8::is_ascii_uppercase) {
        return COMPANY_ENDINGS.iter().any(|ending| ending.as_bytes() == word);
    }
    let whole = squeezed(field);
    let word = whole.rsplit(' ').next().unwrap_or("").chars();
    let letters: String = word.flat_map(char::to_uppercase).filter(char::is_ascii_uppercase).collect();
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
        assert_eq!(name("", 'P'), "");
        for company in ["SMITH HOLDINGS, L.L.C.", "SUN Inc.", "CAFÉ CO CORP", "LLC"] {
            let field: Vec<u8> = company.chars().map(|letter| letter as u8).collect();
            let line = [&[b' '; 544], field.as_slice(), &vec![b' '; 42 - field.len()], b"P"].concat();
            assert_eq!(party(&AGENT, &line), company);
        }
        assert_eq!(name("REGISTERED AGENTS OF FLORIDA LLC", 'P'), "REGISTERED AGENTS OF FLORIDA LLC");
    }
}
