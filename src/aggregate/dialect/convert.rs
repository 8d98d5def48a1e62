//! Values in another type.

use super::value::{Cell, DAY_MICROS, Kind};
use crate::contract::eastern::epoch_days;

/// A value in another type, of a size; none where it has none. Fails where other programs would read more into a text.
pub(super) fn cast_cell(
    cell: &Cell<'_>,
    from: Kind,
    to: Kind,
    size: u8,
) -> Result<Option<Cell<'static>>, String> {
    let text = cell.str().trim_matches(blanks(to));
    let unclear = |is: bool, form: &str| {
        if is { Err(format!("the text '{text}' is {} in another form: {form}", to.name())) } else { Ok(None) }
    };
    Ok(match (from, to) {
        (_, Kind::Text) => Some(Cell::Text(cell.show(from)?.into())),
        (from, to) if from == to && size == 64 => Some(cell.clone().owned()),
        (Kind::Integer | Kind::Decimal(_), Kind::Integer | Kind::Decimal(_)) => {
            let [places, wanted] = [from, to].map(|kind| kind.places().unwrap_or(0));
            let is_in = |of: &i64| if to == Kind::Integer { fits(*of, size) } else { has_digits(*of, size) };
            rescaled(cell.int(), places, wanted).filter(is_in).map(Cell::Int)
        }
        (Kind::Integer | Kind::Decimal(_) | Kind::Bool, Kind::Double) => {
            Some(Cell::Double(cell.double() / 10_f64.powi(from.places().unwrap_or(0).into())))
        }
        (Kind::Double, Kind::Integer) => {
            let whole = cell.double().round_ties_even();
            // The bounds are exact in a double.
            let is_in = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&whole);
            Some(whole as i64).filter(|of| is_in && fits(*of, size)).map(Cell::Int)
        }
        (Kind::Text, Kind::Integer) => match text.parse::<i64>() {
            Ok(of) => Some(Cell::Int(of)).filter(|_| fits(of, size)),
            Err(_) if has_digit_forms(text) => return unclear(true, "write it in digits alone"),
            Err(_) => return unclear(is_float(text), "cast it to DOUBLE first"),
        },
        (Kind::Text, Kind::Double) => match text.parse() {
            Ok(of) => Some(Cell::Double(of)),
            Err(_) => return unclear(is_float(text) || has_digit_forms(text), "write it in digits alone"),
        },
        (Kind::Text, Kind::Bool) => match &*text.to_lowercase() {
            "true" | "t" | "1" | "yes" | "y" => Some(Cell::Bool(true)),
            "false" | "f" | "0" | "no" | "n" => Some(Cell::Bool(false)),
            _ => None,
        },
        (Kind::Text, Kind::Day | Kind::Time(_)) => {
            let time = |(written, utc)| Cell::Time(if to == Kind::Time(true) { utc } else { written });
            let read = if to == Kind::Day { day_of(text).map(Cell::Day) } else { time_of(text).map(time) };
            if read.is_none() {
                return unclear(is_like_day(text), "a day is YYYY-MM-DD");
            }
            read
        }
        (Kind::Integer | Kind::Decimal(_), Kind::Bool) => Some(Cell::Bool(cell.int() != 0)),
        (Kind::Bool, Kind::Integer) => Some(Cell::Int(cell.int())),
        (Kind::Day | Kind::Time(_), Kind::Time(_)) => Some(Cell::Time(cell.micros())),
        (Kind::Time(_), Kind::Day) => i32::try_from(cell.day()).ok().map(Cell::Day),
        _ => None,
    })
}

/// What may be around a value in a text.
const fn blanks(to: Kind) -> &'static [char] {
    match to {
        Kind::Bool => &[],
        Kind::Day | Kind::Time(_) => &[' '],
        _ => &[' ', '\t', '\n', '\u{b}', '\u{c}', '\r'],
    }
}

const fn fits(of: i64, size: u8) -> bool {
    let most = i64::MAX >> (64 - size);
    of <= most && of >= -most - 1
}

/// Whether a number has at most this many digits.
fn has_digits(of: i64, most: u8) -> bool {
    10_u64.checked_pow(most.into()).is_none_or(|above| of.unsigned_abs() < above)
}

/// Units of one decimal place as those of another, rounded half away from 0.
fn rescaled(of: i64, places: u8, wanted: u8) -> Option<i64> {
    if wanted >= places {
        return of.checked_mul(10_i64.checked_pow((wanted - places).into())?);
    }
    let unit = 10_i64.checked_pow((places - wanted).into())?;
    let half = if of < 0 { -unit / 2 } else { unit / 2 };
    Some(of.checked_add(half)? / unit)
}

/// Whether a text is a number with decimals or an exponent, with signs before it and a `.` after it.
fn is_float(text: &str) -> bool {
    text.trim_start_matches(['+', '-']).trim_end_matches('.').parse::<f64>().is_ok()
}

/// Whether a text may be a number with signs between its digits, or in another base: `1_000`, `0x1F`.
fn has_digit_forms(text: &str) -> bool {
    let plain = text.trim_start_matches(['+', '-']);
    let is_based = plain.starts_with('0') && plain.get(1..2).is_some_and(|base| "xXbBoO".contains(base));
    is_based || (text.contains('_') && text.replace('_', "").parse::<f64>().is_ok())
}

/// Whether a text that is no day here may be one in other programs. What has the form of a day that no month has is none.
fn is_like_day(text: &str) -> bool {
    let is_outside = text.get(..10).is_some_and(|day| is_iso(day) && iso_day(day).is_none());
    let word = text.trim_start_matches('-').to_lowercase();
    let has_digits = text.bytes().filter(u8::is_ascii_digit).count() > 2;
    !is_outside && (has_digits || ["epoch", "inf", "infinity"].contains(&&*word))
}

/// The day of a text, as days since 1970. A time after it is read and left out.
fn day_of(text: &str) -> Option<i32> {
    iso_day(text).or_else(|| i32::try_from(time_of(text)?.0.div_euclid(DAY_MICROS)).ok())
}

/// Whether a text has the form `YYYY-MM-DD`.
fn is_iso(text: &str) -> bool {
    let is_at_place = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(is_at_place)
}

fn iso_day(text: &str) -> Option<i32> {
    text.parse::<jiff::civil::Date>().ok().filter(|_| is_iso(text)).map(epoch_days)
}

/// The time of a text `YYYY-MM-DD HH:MM:SS`, as microseconds since 1970: as it is written, and in UTC, which it is in without an offset.
fn time_of(text: &str) -> Option<(i64, i64)> {
    if let Some(day) = iso_day(text) {
        let midnight = i64::from(day) * DAY_MICROS;
        return Some((midnight, midnight));
    }
    let plain = text.strip_suffix('Z').unwrap_or(text);
    let is_known = text.bytes().all(|byte| byte.is_ascii_digit() || b"-: T.+Z".contains(&byte));
    // A second 60 would be read as 59.
    let is_full = is_known && plain.len() >= 19 && text.get(17..19) != Some("60");
    let time = plain.parse::<jiff::civil::DateTime>().ok().filter(|_| is_full)?;
    let written = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_microsecond();
    let has_offset = text.get(10..).is_some_and(|time| time.contains(['+', '-']));
    let utc = if has_offset { text.parse::<jiff::Timestamp>().ok()?.as_microsecond() } else { written };
    Some((written, utc))
}
