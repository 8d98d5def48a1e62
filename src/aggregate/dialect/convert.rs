//! Values in another type.

use super::value::{Cell, DAY_MICROS, Kind};
use crate::contract::eastern::epoch_days;

/// A value in another type; none where it has none. Fails where other programs would read more into a text.
pub(super) fn cast_cell(
    cell: &Cell<'_>,
    from: Kind,
    to: Kind,
    bits: u8,
) -> Result<Option<Cell<'static>>, String> {
    let text = cell.str().trim();
    let unclear = |is: bool, form: &str| {
        if is { Err(format!("the text '{text}' is {} in another form: {form}", to.name())) } else { Ok(None) }
    };
    Ok(match (from, to) {
        (_, Kind::Text) => Some(Cell::Text(cell.show(from)?.into())),
        (from, to) if from == to && bits == 64 => Some(cell.clone().owned()),
        (Kind::Integer | Kind::Decimal(_), Kind::Integer | Kind::Decimal(_)) => {
            let [places, wanted] = [from, to].map(|kind| kind.places().unwrap_or(0));
            rescaled(cell.int(), places, wanted).filter(|of| fits(*of, bits)).map(Cell::Int)
        }
        (Kind::Integer | Kind::Decimal(_) | Kind::Bool, Kind::Double) => {
            Some(Cell::Double(cell.double() / 10_f64.powi(from.places().unwrap_or(0).into())))
        }
        (Kind::Double, Kind::Integer) => {
            let whole = cell.double().round_ties_even();
            // The bounds are exact in a double.
            let is_in = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&whole);
            Some(whole as i64).filter(|of| is_in && fits(*of, bits)).map(Cell::Int)
        }
        (Kind::Text, Kind::Integer) => match text.parse::<i64>() {
            Ok(of) => Some(Cell::Int(of)).filter(|_| fits(of, bits)),
            Err(_) => return unclear(text.parse::<f64>().is_ok(), "cast it to DOUBLE first"),
        },
        (Kind::Text, Kind::Double) => text.parse().ok().map(Cell::Double),
        (Kind::Text, Kind::Bool) => match &*text.to_lowercase() {
            "true" | "t" | "1" | "yes" | "y" => Some(Cell::Bool(true)),
            "false" | "f" | "0" | "no" | "n" => Some(Cell::Bool(false)),
            _ => None,
        },
        (Kind::Text, Kind::Day | Kind::Time) => {
            let read =
                if to == Kind::Day { day_of(text).map(Cell::Day) } else { time_of(text).map(Cell::Time) };
            if read.is_none() {
                let is_like_one = text.bytes().filter(u8::is_ascii_digit).count() > 3;
                return unclear(is_like_one, "a day is YYYY-MM-DD");
            }
            read
        }
        (Kind::Integer | Kind::Decimal(_), Kind::Bool) => Some(Cell::Bool(cell.int() != 0)),
        (Kind::Bool, Kind::Integer) => Some(Cell::Int(cell.int())),
        (Kind::Day, Kind::Time) => Some(Cell::Time(cell.micros())),
        (Kind::Time, Kind::Day) => i32::try_from(cell.day()).ok().map(Cell::Day),
        _ => None,
    })
}

const fn fits(of: i64, bits: u8) -> bool {
    let most = i64::MAX >> (64 - bits);
    of <= most && of >= -most - 1
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

/// The day of a text `YYYY-MM-DD`, as days since 1970.
pub(super) fn day_of(text: &str) -> Option<i32> {
    let is_iso = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let day = text.parse::<jiff::civil::Date>().ok().filter(|_| is_iso)?;
    Some(epoch_days(day))
}

/// The time of a text `YYYY-MM-DD HH:MM:SS`, in UTC, as microseconds since 1970.
fn time_of(text: &str) -> Option<i64> {
    if let Some(day) = day_of(text) {
        return Some(i64::from(day) * DAY_MICROS);
    }
    let plain = text.strip_suffix("+00").or_else(|| text.strip_suffix('Z')).unwrap_or(text);
    let time = plain.parse::<jiff::civil::DateTime>().ok().filter(|_| plain.len() >= 19)?;
    Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_microsecond())
}
