//! A document number of up to 12 digits and capital letters as a 64-bit number.

/// Characters of a packed number at most.
const MAX_LENGTH: usize = 12;
/// The digits, the letters, and the end of the text.
const SYMBOLS: u64 = 37;

/// Room for the characters of an unpacked number.
pub(super) type Unpacked = [u8; MAX_LENGTH];

/// A text of 1 to 12 digits and capital letters as a number of its own that keeps the order of the texts; `None` for any
/// other text.
pub(super) fn pack(text: &str) -> Option<u64> {
    if text.is_empty() || text.len() > MAX_LENGTH {
        return None;
    }
    let padding = std::iter::repeat_n(Some(0), MAX_LENGTH - text.len());
    let symbols = text.bytes().map(|byte| match byte {
        b'0'..=b'9' => Some(byte - b'0' + 1),
        b'A'..=b'Z' => Some(byte - b'A' + 11),
        _ => None,
    });
    symbols.chain(padding).try_fold(0, |number, symbol| Some(number * SYMBOLS + u64::from(symbol?)))
}

/// The text of a packed number, written to `bytes`.
pub(super) fn unpack(mut number: u64, bytes: &mut Unpacked) -> &str {
    let mut length = 0;
    for place in (0..MAX_LENGTH).rev() {
        let symbol = (number % SYMBOLS) as u8;
        number /= SYMBOLS;
        bytes[place] = match symbol {
            0 => 0,
            1..=10 => b'0' + symbol - 1,
            _ => b'A' + symbol - 11,
        };
        length = if symbol != 0 && length == 0 { place + 1 } else { length };
    }
    std::str::from_utf8(&bytes[..length]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_numbers_are_unpacked_and_keep_their_order() {
        let mut texts = ["L24000123456", "0", "00", "Z", "ZZZZZZZZZZZZ", "P12345", "P1234", "A0", "9"];
        texts.sort_unstable();
        let numbers = texts.map(|text| pack(text).expect(text));
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        for (text, number) in texts.iter().zip(numbers) {
            assert_eq!(unpack(number, &mut Unpacked::default()), *text);
        }
        for other in ["", "l24000123456", "L-1", "L240001234567", "É"] {
            assert_eq!(pack(other), None, "{other}");
        }
    }
}
