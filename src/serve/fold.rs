//! Names compare without regard to case: each character alone, as Unicode simple folding does.

/// A character with its case folded away.
pub(super) fn fold(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    let upper = single(character.to_uppercase()).unwrap_or(character);
    single(upper.to_lowercase()).unwrap_or(upper)
}

/// A text with its case folded away.
pub(super) fn folded(text: &str) -> String {
    text.chars().map(fold).collect()
}

/// Whether a text is another, case apart; `wanted` is folded already.
pub(super) fn equals_folded(text: &str, wanted: &str) -> bool {
    text.chars().map(fold).eq(wanted.chars())
}

/// How the start of a text compares with a folded prefix; equal when it begins with it.
pub(super) fn compare_start(text: &str, prefix: &str) -> std::cmp::Ordering {
    let mut given = text.chars().map(fold);
    for wanted in prefix.chars() {
        match given.next() {
            None => return std::cmp::Ordering::Less,
            Some(have) if have != wanted => return have.cmp(&wanted),
            Some(_) => {}
        }
    }
    std::cmp::Ordering::Equal
}

fn single(mut characters: impl Iterator<Item = char>) -> Option<char> {
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    #[test]
    fn case_is_folded_character_by_character() {
        assert_eq!(folded("ÉCLAIR Ñandú ΣΑΣ"), folded("éclair ñANDÚ σας"));
        assert_eq!(folded("Straße"), "straße");
        assert_ne!(folded("strasse"), folded("straße"));
    }

    #[test]
    fn a_prefix_matches_the_start_only() {
        assert_eq!(compare_start("Sunshine Bakery", "sun"), Ordering::Equal);
        assert_eq!(compare_start("The Sun", "sun"), Ordering::Greater);
        assert_eq!(compare_start("SU", "sun"), Ordering::Less);
    }
}
