//! The values of some rows of a page, by the encodings of Apache Parquet that files of looked-up tables have.
//!
//! What is between the rows is passed over, and of a dictionary no value is decoded but those of these rows. Nothing in a page is
//! trusted: each place is looked up within its bytes.
//!
//! Source: <https://parquet.apache.org/docs/file-format/data-pages/encodings/>.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::Page;
use parquet::errors::ParquetError;

/// Rows of a row group at most, against memory for what a damaged header says.
pub(super) const MOST_VALUES: usize = 1 << 20;

/// A value as the format stores it: a text in bytes, or a number.
pub(super) trait Stored: Sized {
    /// The encoding of such values by differences.
    const DELTA: Encoding;

    /// One of the values that lie one after another.
    fn plain(values: &mut Plain<'_>, index: usize) -> Result<Self, ParquetError>;

    /// Some of the values that are stored by differences.
    fn deltas(bytes: &Bytes, places: &[usize]) -> Result<Vec<Self>, ParquetError>;
}

/// Values one after another.
pub(super) struct Plain<'a> {
    bytes: &'a Bytes,
    /// Where texts begin, as far as this was needed; the first one does at 0.
    starts: Vec<usize>,
}

/// The values of these rows of a page of at most [`MOST_VALUES`], counted from its first row, in ascending order; none for null. Asks for
/// the dictionary where a value is in it.
pub(super) fn values_of<T: Stored>(
    page: &Page,
    dictionary: impl FnOnce() -> Result<Option<Page>, ParquetError>,
    is_nullable: bool,
    rows: &[usize],
) -> Result<Vec<Option<T>>, ParquetError> {
    let Page::DataPage { buf, encoding, def_level_encoding, .. } = page else {
        return Err(ParquetError::NYI("a page of another version".to_owned()));
    };
    if !is_nullable {
        let values = picked(buf, *encoding, dictionary, rows)?;
        return Ok(values.into_iter().map(Some).collect());
    }
    if *def_level_encoding != Encoding::RLE {
        return Err(ParquetError::NYI(format!("nulls by {def_level_encoding}")));
    }
    let length = usize::try_from(u32::from_le_bytes(fixed(buf, 0)?))?;
    let levels = runs(part(buf, 4, length)?, 1, 0..rows.last().map_or(0, |last| last + 1))?;
    let is_value = |row: &usize| levels.get(*row) == Some(&1);
    let (mut before, mut places, mut at) = (0, Vec::new(), 0);
    for row in rows.iter().filter(|row| is_value(row)) {
        before += levels[at..*row].iter().filter(|level| **level == 1).count();
        at = *row;
        places.push(before);
    }
    let mut values = picked(&buf.slice(4 + length..), *encoding, dictionary, &places)?.into_iter();
    Ok(rows.iter().map(|row| is_value(row).then(|| values.next()).flatten()).collect())
}

/// Some of the values that are not null.
fn picked<T: Stored>(
    bytes: &Bytes,
    encoding: Encoding,
    dictionary: impl FnOnce() -> Result<Option<Page>, ParquetError>,
    places: &[usize],
) -> Result<Vec<T>, ParquetError> {
    match encoding {
        _ if places.is_empty() => Ok(Vec::new()),
        Encoding::PLAIN => {
            let mut values = Plain { bytes, starts: vec![0] };
            places.iter().map(|place| T::plain(&mut values, *place)).collect()
        }
        Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
            let dictionary = dictionary()?.ok_or_else(beyond)?;
            let [width] = fixed(bytes, 0)?;
            let numbers = runs(&bytes[1..], u32::from(width), places.iter().copied())?;
            let mut values = Plain { bytes: dictionary.buffer(), starts: vec![0] };
            numbers.into_iter().map(|number| T::plain(&mut values, usize::try_from(number)?)).collect()
        }
        _ if encoding == T::DELTA => T::deltas(bytes, places),
        _ => Err(ParquetError::NYI(format!("values by {encoding}"))),
    }
}

/// The numbers at some places of runs, in ascending order: a run is a repeated number, or groups of eight that have `width` bits each.
fn runs(bytes: &[u8], width: u32, places: impl Iterator<Item = usize>) -> Result<Vec<u64>, ParquetError> {
    let (mut places, mut numbers) = (places.peekable(), Vec::new());
    let (mut at, mut start) = (0, 0_usize);
    while places.peek().is_some() {
        let head = varint(bytes, &mut at)?;
        let count = usize::try_from(head >> 1)?;
        let (values, length) = match head & 1 {
            0 => (count, width.div_ceil(8) as usize),
            // Eight numbers take as many bytes as one has bits.
            _ => (count.saturating_mul(8), count.saturating_mul(width as usize)),
        };
        let packed = bytes.get(at..).ok_or_else(beyond)?;
        let end = start.saturating_add(values);
        while let Some(place) = places.next_if(|place| *place < end) {
            let before = if head & 1 == 0 { 0 } else { (place - start) * width as usize };
            numbers.push(bits(packed, before, width)?);
        }
        if values == 0 {
            return Err(ParquetError::General("a run of no numbers".to_owned()));
        }
        (at, start) = (at.saturating_add(length), end);
    }
    Ok(numbers)
}

/// All numbers that are stored as differences in blocks, and where they end. An error for fewer than those up to the last of `places`.
fn differences(bytes: &[u8], places: &[usize]) -> Result<(Vec<i64>, usize), ParquetError> {
    let mut place = 0;
    let of_block = usize::try_from(varint(bytes, &mut place)?)?;
    let of_blocks_parts = usize::try_from(varint(bytes, &mut place)?)?;
    let count = usize::try_from(varint(bytes, &mut place)?)?;
    let mut last = zigzag(varint(bytes, &mut place)?);
    let of_part = of_block.checked_div(of_blocks_parts).unwrap_or(0);
    let has_all = places.last().is_none_or(|last| *last < count);
    if !has_all || count.max(of_block) > MOST_VALUES || of_part == 0 || of_part % 8 != 0 {
        return Err(ParquetError::General(format!("{count} differences in blocks of {of_block}")));
    }
    let mut numbers = Vec::with_capacity(count);
    numbers.push(last);
    while numbers.len() < count {
        let least = zigzag(varint(bytes, &mut place)?);
        let widths = part(bytes, place, of_blocks_parts)?;
        place += of_blocks_parts;
        for width in widths {
            if numbers.len() == count {
                break;
            }
            let packed = part(bytes, place, of_part / 8 * usize::from(*width))?;
            place += packed.len();
            for number in 0..of_part.min(count - numbers.len()) {
                let more = bits(packed, number * usize::from(*width), u32::from(*width))?;
                last = last.wrapping_add(least).wrapping_add(more.cast_signed());
                numbers.push(last);
            }
        }
    }
    Ok((numbers, place))
}

impl Stored for Bytes {
    const DELTA: Encoding = Encoding::DELTA_LENGTH_BYTE_ARRAY;

    fn plain(values: &mut Plain<'_>, index: usize) -> Result<Self, ParquetError> {
        let Plain { bytes, starts } = values;
        let length = |start: usize| Ok::<_, ParquetError>(u32::from_le_bytes(fixed(bytes, start)?) as usize);
        while starts.len() <= index {
            let last = starts[starts.len() - 1];
            starts.push(last + 4 + length(last)?);
        }
        let (start, length) = (starts[index] + 4, length(starts[index])?);
        part(bytes, start, length)?;
        Ok(bytes.slice(start..start + length))
    }

    fn deltas(bytes: &Bytes, places: &[usize]) -> Result<Vec<Self>, ParquetError> {
        let (lengths, mut start) = differences(bytes, places)?;
        let mut at = 0;
        let mut text = |place: &usize| {
            for length in &lengths[at..*place] {
                start = start.checked_add(usize::try_from(*length)?).ok_or_else(beyond)?;
            }
            at = *place;
            let length = usize::try_from(lengths[at])?;
            part(bytes, start, length)?;
            Ok(bytes.slice(start..start + length))
        };
        places.iter().map(&mut text).collect()
    }
}

macro_rules! stored_number {
    ($($number:ty),*) => {$(
        impl Stored for $number {
            const DELTA: Encoding = Encoding::DELTA_BINARY_PACKED;

            fn plain(values: &mut Plain<'_>, index: usize) -> Result<Self, ParquetError> {
                Ok(Self::from_le_bytes(fixed(values.bytes, index.saturating_mul(size_of::<Self>()))?))
            }

            fn deltas(bytes: &Bytes, places: &[usize]) -> Result<Vec<Self>, ParquetError> {
                let (numbers, _) = differences(bytes, places)?;
                // Differences of 32 bits wrap at 32 bits.
                Ok(places.iter().map(|place| numbers[*place] as Self).collect())
            }
        }
    )*};
}

stored_number!(i32, i64);

fn beyond() -> ParquetError {
    ParquetError::EOF("a value is beyond its page".to_owned())
}

fn part(bytes: &[u8], start: usize, length: usize) -> Result<&[u8], ParquetError> {
    let end = start.checked_add(length).ok_or_else(beyond)?;
    bytes.get(start..end).ok_or_else(beyond)
}

fn fixed<const N: usize>(bytes: &[u8], start: usize) -> Result<[u8; N], ParquetError> {
    part(bytes, start, N)?.try_into().map_err(|_| beyond())
}

/// A number of at most 64 bits from a bit on, the lowest bit first.
fn bits(bytes: &[u8], from: usize, width: u32) -> Result<u64, ParquetError> {
    if width > u64::BITS {
        return Err(beyond());
    }
    let end = (from + width as usize).div_ceil(8);
    let mut word = [0; 16];
    let own = bytes.get(from / 8..end).ok_or_else(beyond)?;
    word.get_mut(..own.len()).ok_or_else(beyond)?.copy_from_slice(own);
    let number = u128::from_le_bytes(word) >> (from % 8) & ((1 << width) - 1);
    u64::try_from(number).map_err(|_| beyond())
}

/// A number in groups of seven bits, the lowest first.
fn varint(bytes: &[u8], place: &mut usize) -> Result<u64, ParquetError> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let [byte] = fixed(bytes, *place)?;
        *place += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(ParquetError::General("a number of more than 64 bits".to_owned()))
}

/// A signed number whose lowest bit is its sign.
fn zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}
