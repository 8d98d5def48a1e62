//! Reads a watch list: document numbers of businesses that are looked up, one a line (pure).

use super::mistakes::Mistake;
use crate::contract::id::DocumentNumber;
use std::collections::BTreeSet;

/// Name of the column, if the list has a first line of names.
const COLUMN: &str = "document_number";

/// The numbers of a list, each once, in its order. A number is the first field of a line; further fields, and lines without one, are
/// passed over.
///
/// # Errors
///
/// Every line whose first field is no document number.
pub(super) fn read_watch_list(text: &str) -> Result<Vec<DocumentNumber>, Vec<Mistake>> {
    let (mut numbers, mut seen, mut wrong) = (Vec::new(), BTreeSet::new(), Vec::new());
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut at = 0;
    for (line, whole) in text.split_inclusive('\n').enumerate() {
        let field = whole.split([',', ';', '\t']).next().unwrap_or_default();
        let field = field.trim().trim_matches('"').trim();
        let place = at..at + whole.trim_end().len();
        at += whole.len();
        match DocumentNumber::parse(field) {
            _ if field.is_empty() || (line == 0 && field.eq_ignore_ascii_case(COLUMN)) => {}
            Some(number) => {
                if seen.insert(number.as_str().to_owned()) {
                    numbers.push(number);
                }
            }
            None => {
                let problem = format!("{field:?} is no document number: 6 to 12 letters or digits");
                wrong.push(Mistake::at(text, place, problem, None));
            }
        }
    }
    if wrong.is_empty() { Ok(numbers) } else { Err(wrong) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<String> {
        let numbers = read_watch_list(text).expect("a list");
        numbers.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_number_is_the_first_field_of_a_line_and_counts_once() {
        let text = "\u{feff}document_number,note\nl24000123456,ours\r\n\n\"P12345\"; theirs\nL24000123456\n";
        assert_eq!(numbers(text), ["L24000123456", "P12345"]);
        assert_eq!(numbers("P12345"), ["P12345"]);
        assert_eq!(numbers(""), [""; 0]);
    }

    #[test]
    fn every_line_without_a_number_is_named() {
        let wrong = read_watch_list("document_number\nP12345\nP 12345\nL24-00012,x\n").expect_err("mistakes");
        let lines: Vec<usize> = wrong.iter().map(|mistake| mistake.line).collect();
        assert_eq!(lines, [3, 4]);
        assert!(wrong[0].problem.contains("\"P 12345\" is no document number"), "{}", wrong[0].problem);
    }
}
