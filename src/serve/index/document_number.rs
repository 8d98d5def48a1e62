//! Document numbers as numbers: twelve letters or digits fit in eight bytes.

/// Characters of a packed number at most.
const MOST: u32 = 12;
/// The digits, the letters, and what stands after the end.
const SYMBOLS: u64 = 37;

/// A text of 1 to 12 digits and capital letters as a number of its own; `None` for any other text.
pub(crate) fn pack(text: &str) -> Option<u64> {
    let length = u32::try_from(text.len()).ok().filter(|length| (1..=MOST).contains(length))?;
    let mut number = 0;
    for byte in text.bytes() {
        let symbol = match byte {
            b'0'..=b'9' => byte - b'0' + 1,
            b'A'..=b'Z' => byte - b'A' + 11,
            _ => return None,
        };
        number = number * SYMBOLS + u64::from(symbol);
    }
    Some(number * SYMBOLS.pow(MOST - length))
}

/// The text of a packed number.
pub(crate) fn unpack(mut number: u64) -> Packed {
    let (mut bytes, mut length) = ([0; MOST as usize], 0);
    for place in (0..MOST as usize).rev() {
        let symbol = (number % SYMBOLS) as u8;
        number /= SYMBOLS;
        bytes[place] = match symbol {
            0 => 0,
            1..=10 => b'0' + symbol - 1,
            _ => b'A' + symbol - 11,
        };
        length = if symbol != 0 && length == 0 { place + 1 } else { length };
    }
    Packed { bytes, length }
}

/// A text in its own memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packed {
    bytes: [u8; MOST as usize],
    length: usize,
}

impl Packed {
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back_and_keeps_its_order() {
        let mut texts = ["L24000123456", "0", "00", "Z", "ZZZZZZZZZZZZ", "P12345", "P1234", "A0", "9"];
        texts.sort_unstable();
        let numbers = texts.map(|text| pack(text).expect(text));
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        for (text, number) in texts.iter().zip(numbers) {
            assert_eq!(unpack(number).as_str(), *text);
        }
        for other in ["", "l24000123456", "L-1", "L240001234567", "É"] {
            assert_eq!(pack(other), None, "{other}");
        }
    }
}
