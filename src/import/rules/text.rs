//! Characters, document numbers and days of a field.

use jiff::civil::Date;

/// Windows-1252 from 128 to 159. Undefined bytes are blanks.
const HIGH: [char; 32] = [
    '€', ' ', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', ' ', 'Ž', ' ', ' ', '‘', '’', '“', '”',
    '•', '–', '—', '˜', '™', 'š', '›', 'œ', ' ', 'ž', 'Ÿ',
];

/// The character of a byte: Windows-1252; control characters, NUL and the no-break space are blanks.
pub fn character(byte: u8) -> char {
    match byte {
        0..=31 | 127 | 0xA0 => ' ',
        128..=159 => HIGH[usize::from(byte) - 128],
        _ => char::from(byte),
    }
}

/// The characters of all bytes, for a record in quarantine.
pub fn decoded(raw: &[u8]) -> String {
    raw.iter().map(|byte| character(*byte)).collect()
}

/// The text of a field without leading, trailing and repeated blanks.
pub fn squeezed(raw: &[u8]) -> String {
    let raw = without_end(raw);
    if let Some(plain) = plain(raw) {
        return plain.to_owned();
    }
    let mut text = String::with_capacity(raw.len());
    let mut after_blank = false;
    for byte in raw {
        match character(*byte) {
            ' ' => after_blank = true,
            letter => {
                if std::mem::take(&mut after_blank) && !text.is_empty() {
                    text.push(' ');
                }
                text.push(letter);
            }
        }
    }
    text
}

/// A field without the blanks at its end, which are most of a wide field.
fn without_end(mut raw: &[u8]) -> &[u8] {
    while let Some((before, last)) = raw.split_last_chunk::<16>()
        && *last == [b' '; 16]
    {
        raw = before;
    }
    raw.trim_ascii_end()
}

/// Bytes that are their own text: ASCII without control characters, with single blanks between words. Most fields are.
fn plain(raw: &[u8]) -> Option<&str> {
    // Every byte is looked at, so that many are compared at once.
    let is_text = raw.iter().fold(true, |all, byte| all & matches!(byte, b' '..=b'~'));
    let pairs = raw.iter().zip(raw.iter().skip(1));
    let has_two = pairs.fold(false, |any, (one, next)| any | ((*one == b' ') & (*next == b' ')));
    (is_text && !has_two && raw.first() != Some(&b' ')).then(|| std::str::from_utf8(raw).ok()).flatten()
}

/// As [`squeezed`], of a text.
pub fn squeezed_text(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a field has only blanks.
pub fn is_blank(raw: &[u8]) -> bool {
    raw.iter().all(|byte| character(*byte) == ' ')
}

/// The first character of a field of one column, in capitals; none for a blank.
pub fn letter(raw: &[u8]) -> Option<char> {
    raw.first().map(|byte| character(*byte)).filter(|letter| *letter != ' ').map(|l| l.to_ascii_uppercase())
}

/// A document number in capitals; none unless it has 6 to 12 letters or digits.
pub fn document_number(raw: &[u8]) -> Option<String> {
    let mut number = squeezed(raw);
    number.make_ascii_uppercase();
    let fits = (6..=12).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then_some(number)
}

/// The bijective base 36 value of a document number: its digits, `0` to `9` and `A` to `Z`, count 1 to 36, so that each text of
/// up to 12 characters has its own positive number.
pub fn business_id(number: &str) -> i64 {
    number.bytes().fold(0, |value: i64, byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            _ => byte.to_ascii_uppercase().wrapping_sub(b'A').wrapping_add(10),
        };
        value.wrapping_mul(36).wrapping_add(i64::from(digit) + 1)
    })
}

/// The document number with this [`business_id`].
pub fn document_number_of(id: i64) -> String {
    let (mut rest, mut digits) = (id, Vec::new());
    while rest > 0 {
        let digit = ((rest - 1) % 36) as u8;
        digits.push(if digit < 10 { b'0' + digit } else { b'A' + digit - 10 });
        rest = (rest - 1) / 36;
    }
    digits.iter().rev().map(|digit| char::from(*digit)).collect()
}

/// The day of a field: MMDDYYYY, or YYYYMMDD where only that is a day. None for other text, and outside the years 1800 to
/// 2100.
pub fn day(raw: &[u8]) -> Option<Date> {
    if raw.len() != 8 || !raw.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |from: usize, to: usize| {
        raw[from..to].iter().fold(0_i16, |value, digit| value * 10 + i16::from(digit - b'0'))
    };
    let of = |year: i16, month: i16, day: i16| {
        let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
        Date::new(year, month, day).ok().filter(|_| (1800..=2100).contains(&year))
    };
    of(number(4, 8), number(0, 2), number(2, 4)).or_else(|| of(number(0, 4), number(4, 6), number(6, 8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_windows_1252_and_control_characters_are_blanks() {
        assert_eq!(squeezed(b"  CAF\xc9 \x92\x96\xa0\x00\x81A  "), "CAFÉ ’– A");
        assert_eq!(decoded(b"A\x00B"), "A B");
    }

    #[test]
    fn every_document_number_has_its_own_id() {
        for (number, id) in [
            ("ZZZZZZZZZZZZ", 4_873_763_662_273_663_092),
            ("J10003", 1_212_730_744),
            ("L16000000014", 2_903_703_622_819_729_565),
        ] {
            assert_eq!(business_id(number), id);
            assert_eq!(document_number_of(id), number);
        }
        assert_ne!(business_id("012345"), business_id("12345"));
        assert_eq!(document_number(b" l26000352447").as_deref(), Some("L26000352447"));
        for text in ["", "12345", "L26-00352447", "L260003524471", "L25 000015"] {
            assert_eq!(document_number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn days_have_two_forms() {
        for (text, expected) in [
            ("10102026", "2026-10-10"),
            ("20261010", "2026-10-10"),
            ("02292000", "2000-02-29"),
            ("19991231", "1999-12-31"),
        ] {
            assert_eq!(day(text.as_bytes()).map(|day| day.to_string()).as_deref(), Some(expected));
        }
        for text in ["02302020", "00000000", "        ", "12111110", "02291900", "0101202X", "1010202"] {
            assert_eq!(day(text.as_bytes()), None, "{text}");
        }
    }
}
