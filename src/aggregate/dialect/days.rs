//! Functions of days and times.

use super::value::{Cell, DAY_MICROS};
use crate::contract::eastern::{day_of_epoch, epoch_days};
use jiff::civil::Date;
use jiff::{ToSpan as _, Unit};

type Made<'a> = Result<Cell<'a>, String>;

const OUTSIDE: &str = "a day is outside of the calendar";

fn date(of: i64) -> Result<Date, String> {
    i32::try_from(of).ok().and_then(day_of_epoch).ok_or_else(|| OUTSIDE.to_owned())
}

fn month_number(day: Date) -> i64 {
    i64::from(day.year()) * 12 + i64::from(day.month()) - 1
}

/// The first day of a month, by its number.
fn first_of(month: i64) -> Result<Date, String> {
    let year = i16::try_from(month.div_euclid(12)).map_err(|_| OUTSIDE)?;
    Date::new(year, month.rem_euclid(12) as i8 + 1, 1).map_err(|_| OUTSIDE.to_owned())
}

/// The name of a part without its plural.
fn unit(part: &str) -> String {
    let part = part.to_lowercase();
    part.strip_suffix('s').map(str::to_owned).unwrap_or(part)
}

fn no_part<T>(part: &str) -> Result<T, String> {
    Err(format!("{part} is no part here: there are year, quarter, month, week, day, hour, minute, second"))
}

/// A part of a day or time as a number.
pub(super) fn part_of<'a>(part: &str, of: &Cell<'_>) -> Made<'a> {
    let day = date(of.day())?;
    let seconds = of.micros().rem_euclid(DAY_MICROS) / 1_000_000;
    let sunday = i64::from(day.weekday().to_sunday_zero_offset());
    Ok(Cell::Int(match &*unit(part) {
        "year" => day.year().into(),
        "quarter" => i64::from(day.month() - 1) / 3 + 1,
        "month" => day.month().into(),
        "week" | "weekofyear" => day.iso_week_date().week().into(),
        "isoyear" => day.iso_week_date().year().into(),
        "day" | "dayofmonth" => day.day().into(),
        "dow" | "dayofweek" | "weekday" => sunday,
        "isodow" => day.weekday().to_monday_one_offset().into(),
        "doy" | "dayofyear" => day.day_of_year().into(),
        "hour" => seconds / 3600,
        "minute" => seconds / 60 % 60,
        "second" => seconds % 60,
        _ => return no_part(part),
    }))
}

/// A part as a number on one line, so that the difference of two is how often it began between them.
fn count_of(part: &str, of: &Cell<'_>) -> Result<i64, String> {
    let day = date(of.day())?;
    Ok(match &*unit(part) {
        "year" => day.year().into(),
        "quarter" => month_number(day).div_euclid(3),
        "month" => month_number(day),
        // 1 January 1970 was a Thursday.
        "week" => (of.day() + 3).div_euclid(7),
        "day" => of.day(),
        "hour" => of.micros().div_euclid(3_600_000_000),
        "minute" => of.micros().div_euclid(60_000_000),
        "second" => of.micros().div_euclid(1_000_000),
        _ => return no_part(part),
    })
}

/// How often a part began between two days or times. Programs count weeks in different ways.
pub(super) fn between<'a>(of: &[Cell<'_>]) -> Made<'a> {
    if unit(of[0].str()) == "week" {
        return Err("weeks are counted in different ways: use (one - other) // 7 for days".to_owned());
    }
    Ok(Cell::Int(count_of(of[0].str(), &of[2])? - count_of(of[0].str(), &of[1])?))
}

/// The begin of a part.
pub(super) fn truncated<'a>(part: &str, of: &Cell<'_>) -> Made<'a> {
    let count = count_of(part, of)?;
    let micros = match &*unit(part) {
        "hour" => return Ok(Cell::Time(count * 3_600_000_000)),
        "minute" => return Ok(Cell::Time(count * 60_000_000)),
        "second" => return Ok(Cell::Time(count * 1_000_000)),
        "year" => epoch_days(first_of(count * 12)?).into(),
        "quarter" => epoch_days(first_of(count * 3)?).into(),
        "month" => epoch_days(first_of(count)?).into(),
        "week" => count * 7 - 3,
        _ => count,
    };
    Ok(Cell::Time(micros * DAY_MICROS))
}

pub(super) fn last_day<'a>(of: &Cell<'_>) -> Made<'a> {
    Ok(Cell::Day(epoch_days(date(of.day())?.last_of_month())))
}

pub(super) fn made<'a>(of: &[Cell<'_>]) -> Made<'a> {
    let [year, month, day] = [0, 1, 2].map(|at| of[at].int());
    let made = || Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok();
    made().map(|day| Cell::Day(epoch_days(day))).ok_or_else(|| format!("{year}-{month}-{day} is no day"))
}

/// What `strftime` knows here.
const WRITTEN: &str = "YmdHMSjaAbByIp%";
/// What may have a `-` before it: numbers that are written without zeros before them.
const SHORT: &str = "mdHMSjyI";

pub(super) fn written<'a>(of: &Cell<'_>, format: &str) -> Made<'a> {
    let mut rest = format;
    while let Some((_, after)) = rest.split_once('%') {
        let (known, form) = after.strip_prefix('-').map_or((WRITTEN, after), |form| (SHORT, form));
        let letter = form.chars().next().filter(|letter| known.contains(*letter));
        let letter = letter.ok_or_else(|| format!("'{format}' has a form that is not known: use {known}"))?;
        rest = &form[letter.len_utf8()..];
    }
    let start = date(of.day())?.at(0, 0, 0, 0);
    let time = start.checked_add(of.micros().rem_euclid(DAY_MICROS).microseconds()).map_err(|_| OUTSIDE)?;
    Ok(Cell::text(time.strftime(format).to_string()))
}

/// A day some days later.
pub(super) fn days_later<'a>(of: &Cell<'_>, days: i64) -> Made<'a> {
    let moved = of.day().checked_add(days).ok_or(OUTSIDE)?;
    date(moved).map(|day| Cell::Day(epoch_days(day)))
}

/// A time some months later, at most at the end of the month.
pub(super) fn months_later<'a>(of: &Cell<'_>, months: i64) -> Made<'a> {
    let day = date(of.day())?;
    let first = first_of(month_number(day).checked_add(months).ok_or(OUTSIDE)?)?;
    let moved = first.with().day(day.day().min(first.days_in_month())).build().map_err(|_| OUTSIDE)?;
    let time = of.micros().rem_euclid(DAY_MICROS);
    Ok(Cell::Time(i64::from(epoch_days(moved)) * DAY_MICROS + time))
}

/// Months and microseconds of an interval such as `7` with `day`, or `1 year 2 months`.
pub(super) fn interval(text: &str, field: Option<&str>) -> Option<(i64, i64)> {
    let words: Vec<&str> = text.split_whitespace().chain(field).collect();
    let (mut months, mut micros) = (0_i64, 0_i64);
    if words.is_empty() {
        return None;
    }
    for pair in words.chunks(2) {
        let [count, name] = pair else { return None };
        let count: i64 = count.parse().ok()?;
        let (step, unit) = match &*unit(name) {
            "year" => (12, Unit::Month),
            "quarter" => (3, Unit::Month),
            "month" => (1, Unit::Month),
            "week" => (7 * DAY_MICROS, Unit::Microsecond),
            "day" => (DAY_MICROS, Unit::Microsecond),
            "hour" => (3_600_000_000, Unit::Microsecond),
            "minute" => (60_000_000, Unit::Microsecond),
            "second" => (1_000_000, Unit::Microsecond),
            _ => return None,
        };
        let sum = if unit == Unit::Month { &mut months } else { &mut micros };
        *sum = sum.checked_add(count.checked_mul(step)?)?;
    }
    Some((months, micros))
}
