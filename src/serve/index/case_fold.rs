//! Comparing texts without regard to case: each character alone, as Unicode simple case folding does.

use std::cmp::Ordering;

/// A character with its case folded away.
pub(super) fn fold(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    let upper = single(character.to_uppercase()).unwrap_or(character);
    single(upper.to_lowercase()).unwrap_or(upper)
}

pub(super) fn folded(text: &str) -> String {
    text.chars().map(fold).collect()
}

/// The order of a text, once folded, and `folded`.
pub(super) fn compare_with_folded(text: &str, folded: &str) -> Ordering {
    text.chars().map(fold).cmp(folded.chars())
}

/// The order of two texts, both folded.
pub(super) fn compare_folded(one: &str, other: &str) -> Ordering {
    if one == other {
        return Ordering::Equal;
    }
    let mut same = 0;
    for (a, b) in one.bytes().zip(other.bytes()) {
        if !(a.is_ascii() && b.is_ascii()) {
            break;
        }
        let order = a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase());
        if order != Ordering::Equal {
            return order;
        }
        same += 1;
    }
    one[same..].chars().map(fold).cmp(other[same..].chars().map(fold))
}

/// The first bytes of a folded text, which sort as the text does; zeros follow a shorter one.
pub(super) fn first_folded<const BYTES: usize>(text: &str) -> [u8; BYTES] {
    let (mut first, mut taken, mut utf8) = ([0; BYTES], 0, [0; 4]);
    let start = &text.as_bytes()[..text.len().min(BYTES)];
    first[..start.len()].copy_from_slice(start);
    if first.is_ascii() {
        first.make_ascii_lowercase();
        return first;
    }
    first = [0; BYTES];
    for character in text.chars() {
        for byte in fold(character).encode_utf8(&mut utf8).bytes() {
            let Some(place) = first.get_mut(taken) else { return first };
            *place = byte;
            taken += 1;
        }
    }
    first
}

/// The order of a text, folded and cut to the length of a folded prefix, and that prefix.
pub(super) fn compare_prefix(text: &str, prefix: &str) -> Ordering {
    let mut given = text.chars().map(fold);
    for wanted in prefix.chars() {
        match given.next() {
            None => return Ordering::Less,
            Some(have) if have != wanted => return have.cmp(&wanted),
            Some(_) => {}
        }
    }
    Ordering::Equal
}

/// The only character of a mapping; `None` when it has several.
fn single(mut characters: impl Iterator<Item = char>) -> Option<char> {
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_folded_character_by_character() {
        assert_eq!(folded("ÉCLAIR Ñandú ΣΑΣ"), folded("éclair ñANDÚ σας"));
        assert_eq!(folded("Straße"), "straße");
        assert_ne!(folded("strasse"), folded("straße"));
    }

    #[test]
    fn a_prefix_matches_at_the_first_character_only() {
        assert_eq!(compare_prefix("Sunshine Bakery", "sun"), Ordering::Equal);
        assert_eq!(compare_prefix("The Sun", "sun"), Ordering::Greater);
        assert_eq!(compare_prefix("SU", "sun"), Ordering::Less);
    }

    #[test]
    fn all_ways_to_compare_agree_with_the_folded_texts() {
        let texts = "|A|a b|AB|ab|Abc|ABCDEFGHI|abcdefghij|ÑANDÚ|ñandu|Zé|ze|zÉa";
        for one in texts.split('|') {
            for other in texts.split('|') {
                let expected = folded(one).cmp(&folded(other));
                assert_eq!(compare_folded(one, other), expected, "{one:?} {other:?}");
                assert_eq!(compare_with_folded(one, &folded(other)), expected, "{one:?} {other:?}");
                let firsts = first_folded::<8>(one).cmp(&first_folded::<8>(other));
                assert!(firsts == expected || firsts == Ordering::Equal, "{one:?} {other:?}");
            }
        }
        assert_eq!(first_folded::<8>("AbCdEfGhI"), *b"abcdefgh");
        assert_eq!(first_folded::<4>("Ñ"), [0xC3, 0xB1, 0, 0]);
    }
}
