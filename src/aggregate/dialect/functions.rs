//! The functions and operators of one row, as one table.
//!
//! A letter says what an argument is: `t` text, `i` whole number, `n` number, `d` number as a double, `b` true or false, `D` day or time,
//! `a` any, all of one type, `?` the ones after it may be left out, `*` the last one may be repeated. The same letters say what is given;
//! `n` and `a` give the type of the arguments, `y` a day, `T` a time.

use super::days::{self, part_of};
use super::node::{Function, OfCells, Run};
use super::reduce::{REDUCES, divided};
use super::texts;
use super::value::Cell;
use polars::prelude::{DataType, Expr, coalesce, lit};
use std::cmp::Ordering;

const fn native(
    names: &'static [&'static str],
    takes: &'static str,
    gives: char,
    make: fn(Vec<Expr>) -> Expr,
) -> Function {
    Function { names, takes, gives, run: Run::Natively(make) }
}

const fn row(names: &'static [&'static str], takes: &'static str, gives: char, make: OfCells) -> Function {
    Function { names, takes, gives, run: Run::ByRow(make) }
}

const fn nulls(names: &'static [&'static str], takes: &'static str, gives: char, make: OfCells) -> Function {
    Function { names, takes, gives, run: Run::WithNulls(make) }
}

/// Two expressions.
fn both(of: Vec<Expr>, make: fn(Expr, Expr) -> Expr) -> Expr {
    of.into_iter().reduce(make).unwrap_or_else(|| lit(true))
}

fn only(of: Vec<Expr>) -> Expr {
    both(of, |first, _| first)
}

/// A part of a day or time that polars has.
fn part(of: Vec<Expr>, make: fn(polars::prelude::dt::DateLikeNameSpace) -> Expr) -> Expr {
    make(only(of).dt()).cast(DataType::Int64)
}

fn double(of: f64) -> Result<Cell<'static>, String> {
    Ok(Cell::Double(of))
}

fn integer(of: Option<i64>, what: &str) -> Result<Cell<'static>, String> {
    of.map(Cell::Int).ok_or_else(|| format!("{what} is beyond 64 bits: cast to DOUBLE first"))
}

fn quotient(of: Option<i64>) -> Result<Cell<'static>, String> {
    let by_zero = "a number is divided by 0, maybe in a part of a CASE that is not taken: use NULLIF(x, 0)";
    of.map(Cell::Int).ok_or_else(|| by_zero.to_owned())
}

/// The functions that have a name in SQL.
pub(super) static FUNCTIONS: &[Function] = &[
    native(&["coalesce", "ifnull"], "a*", 'a', |of| coalesce(&of)),
    nulls(&["greatest"], "a*", 'a', |of| Ok(extreme(of, Ordering::Greater))),
    nulls(&["least"], "a*", 'a', |of| Ok(extreme(of, Ordering::Less))),
    // Texts.
    row(&["upper", "ucase"], "t", 't', |of| Ok(texts::upper(&of[0]))),
    row(&["lower", "lcase"], "t", 't', |of| Ok(texts::lower(&of[0]))),
    row(&["trim"], "t?t", 't', |of| Ok(texts::trim(of, true, true))),
    row(&["ltrim"], "t?t", 't', |of| Ok(texts::trim(of, true, false))),
    row(&["rtrim"], "t?t", 't', |of| Ok(texts::trim(of, false, true))),
    row(&["length", "len", "char_length", "character_length"], "t", 'i', |of| {
        Ok(Cell::Int(of[0].str().chars().count() as i64))
    }),
    row(&["substr", "substring"], "ti?i", 't', |of| {
        Ok(texts::substring(&of[0], of[1].int(), of.get(2).map(Cell::int)))
    }),
    row(&["left"], "ti", 't', |of| Ok(texts::left(&of[0], of[1].int()))),
    row(&["right"], "ti", 't', |of| Ok(texts::right(&of[0], of[1].int()))),
    row(&["replace"], "ttt", 't', |of| {
        let is_nothing = of[1].str().is_empty();
        Ok(if is_nothing { of[0].clone() } else { Cell::text(of[0].str().replace(of[1].str(), of[2].str())) })
    }),
    row(&["reverse"], "t", 't', |of| texts::reverse(&of[0])),
    row(&["contains"], "tt", 'b', |of| Ok(Cell::Bool(of[0].str().contains(of[1].str())))),
    row(&["starts_with", "prefix"], "tt", 'b', |of| Ok(Cell::Bool(of[0].str().starts_with(of[1].str())))),
    row(&["ends_with", "suffix"], "tt", 'b', |of| Ok(Cell::Bool(of[0].str().ends_with(of[1].str())))),
    row(&["strpos", "instr", "position"], "tt", 'i', |of| {
        let before = of[0].str().find(of[1].str()).map(|at| of[0].str()[..at].chars().count() as i64 + 1);
        Ok(Cell::Int(before.unwrap_or(0)))
    }),
    row(&["split_part"], "tti", 't', |of| texts::split_part(of)),
    row(&["lpad"], "tit", 't', |of| texts::pad(of, true)),
    row(&["rpad"], "tit", 't', |of| texts::pad(of, false)),
    nulls(&["concat"], "s*", 't', |of| Ok(Cell::text(of.iter().map(Cell::str).collect::<String>()))),
    // Numbers.
    row(&["abs"], "n", 'n', |of| match &of[0] {
        Cell::Double(of) => double(of.abs()),
        of => integer(of.int().checked_abs(), "abs"),
    }),
    row(&["sign"], "n", 'i', |of| {
        let of = of[0].double();
        Ok(Cell::Int(i64::from(of > 0.0) - i64::from(of < 0.0)))
    }),
    row(&["sqrt"], "d", 'd', |of| double(of[0].double().sqrt())),
    row(&["exp"], "d", 'd', |of| double(of[0].double().exp())),
    row(&["ln"], "d", 'd', |of| double(of[0].double().ln())),
    row(&["log", "log10"], "d", 'd', |of| double(of[0].double().log10())),
    row(&["log2"], "d", 'd', |of| double(of[0].double().log2())),
    row(&["pow", "power"], "dd", 'd', |of| double(of[0].double().powf(of[1].double()))),
    // Days and times.
    native(&["year"], "D", 'i', |of| part(of, |of| of.year())),
    native(&["month"], "D", 'i', |of| part(of, |of| of.month())),
    native(&["day", "dayofmonth"], "D", 'i', |of| part(of, |of| of.day())),
    native(&["quarter"], "D", 'i', |of| part(of, |of| of.quarter())),
    row(&["week", "weekofyear"], "D", 'i', |of| part_of("week", &of[0])),
    row(&["isodow"], "D", 'i', |of| part_of("isodow", &of[0])),
    row(&["dayofweek", "weekday"], "D", 'i', |of| part_of("dow", &of[0])),
    row(&["dayofyear"], "D", 'i', |of| part_of("doy", &of[0])),
    row(&["hour"], "D", 'i', |of| part_of("hour", &of[0])),
    row(&["minute"], "D", 'i', |of| part_of("minute", &of[0])),
    row(&["second"], "D", 'i', |of| part_of("second", &of[0])),
    row(&["date_part", "datepart"], "tD", 'i', |of| part_of(of[0].str(), &of[1])),
    row(&["date_trunc", "datetrunc"], "tD", 'T', |of| days::truncated(of[0].str(), &of[1])),
    row(&["date_diff", "datediff"], "tDD", 'i', |of| days::between(of)),
    row(&["last_day"], "D", 'y', |of| days::last_day(&of[0])),
    row(&["make_date"], "iii", 'y', |of| days::made(of)),
    row(&["dayname"], "D", 't', |of| days::written(&of[0], "%A")),
    row(&["monthname"], "D", 't', |of| days::written(&of[0], "%B")),
    row(&["strftime"], "Dt", 't', |of| days::written(&of[0], of[1].str())),
];

/// What operators and other forms of SQL stand for.
pub(super) static AND: Function = native(&["AND"], "bb", 'b', |of| both(of, Expr::and));
pub(super) static OR: Function = native(&["OR"], "bb", 'b', |of| both(of, Expr::or));
pub(super) static NOT: Function = native(&["NOT"], "b", 'b', |of| only(of).not());
pub(super) static IS_NULL: Function = native(&["IS NULL"], "a", 'b', |of| only(of).is_null());
pub(super) static EQ: Function = native(&["="], "aa", 'b', |of| both(of, Expr::eq));
pub(super) static NOT_EQ: Function = native(&["<>"], "aa", 'b', |of| both(of, Expr::neq));
pub(super) static LT: Function = native(&["<"], "aa", 'b', |of| both(of, Expr::lt));
pub(super) static LT_EQ: Function = native(&["<="], "aa", 'b', |of| both(of, Expr::lt_eq));
pub(super) static GT: Function = native(&[">"], "aa", 'b', |of| both(of, Expr::gt));
pub(super) static GT_EQ: Function = native(&[">="], "aa", 'b', |of| both(of, Expr::gt_eq));
pub(super) static SAME: Function =
    native(&["IS NOT DISTINCT FROM"], "aa", 'b', |of| both(of, Expr::eq_missing));
/// Doubles.
pub(super) static ADD_DOUBLES: Function = native(&["+"], "dd", 'd', |of| both(of, |one, other| one + other));
pub(super) static SUBTRACT_DOUBLES: Function =
    native(&["-"], "dd", 'd', |of| both(of, |one, other| one - other));
pub(super) static MULTIPLY_DOUBLES: Function =
    native(&["*"], "dd", 'd', |of| both(of, |one, other| one * other));
pub(super) static DIVIDE: Function = native(&["/"], "dd", 'd', |of| both(of, divided));
pub(super) static MODULO_DOUBLES: Function =
    row(&["%"], "dd", 'd', |of| double(of[0].double() % of[1].double()));
/// Exact numbers of one decimal place.
pub(super) static ADD: Function =
    row(&["+"], "nn", 'n', |of| integer(of[0].int().checked_add(of[1].int()), "a sum"));
pub(super) static SUBTRACT: Function =
    row(&["-"], "nn", 'n', |of| integer(of[0].int().checked_sub(of[1].int()), "a difference"));
pub(super) static MULTIPLY: Function =
    row(&["*"], "nn", 'n', |of| integer(of[0].int().checked_mul(of[1].int()), "a product"));
pub(super) static MODULO: Function =
    row(&["%"], "nn", 'n', |of| quotient(of[0].int().checked_rem(of[1].int())));
pub(super) static QUOTIENT: Function =
    row(&["//"], "ii", 'i', |of| quotient(of[0].int().checked_div(of[1].int())));
pub(super) static NEGATE: Function = row(&["-"], "n", 'n', |of| match &of[0] {
    Cell::Double(of) => double(-of),
    of => integer(of.int().checked_neg(), "a number"),
});
/// A number to some places, of doubles.
pub(super) static ROUND: Function = row(&["round"], "di", 'd', |of| {
    let (of, places) = (of[0].double(), of[1].int().clamp(-308, 308) as i32);
    let unit = 10_f64.powi(places.abs());
    let rounded = if places < 0 { (of / unit).round() * unit } else { (of * unit).round() / unit };
    double(if rounded.is_finite() { rounded } else { of })
});
/// An exact number to larger units: rounded, down, up or towards 0.
pub(super) static ROUND_UNITS: Function = row(&["round"], "ni", 'n', |of| {
    let (of, unit) = (i128::from(of[0].int()), i128::from(of[1].int()));
    let half = if of < 0 { -unit / 2 } else { unit / 2 };
    integer(i64::try_from((of + half) / unit * unit).ok(), "round")
});
pub(super) static FLOOR_UNITS: Function =
    row(&["floor"], "ni", 'n', |of| integer(Some(of[0].int().div_euclid(of[1].int())), "floor"));
pub(super) static CEIL_UNITS: Function =
    row(&["ceil"], "ni", 'n', |of| integer(Some(-(-of[0].int()).div_euclid(of[1].int())), "ceil"));
pub(super) static TRUNC_UNITS: Function =
    row(&["trunc"], "ni", 'n', |of| integer(Some(of[0].int() / of[1].int()), "trunc"));
pub(super) static FLOOR: Function = row(&["floor"], "d", 'd', |of| double(of[0].double().floor()));
pub(super) static CEIL: Function = row(&["ceil"], "d", 'd', |of| double(of[0].double().ceil()));
pub(super) static TRUNC: Function = row(&["trunc"], "d", 'd', |of| double(of[0].double().trunc()));
/// Texts.
pub(super) static JOIN_TEXTS: Function =
    row(&["||"], "tt", 't', |of| Ok(Cell::text([of[0].str(), of[1].str()].concat())));
pub(super) static LIKE: Function =
    row(&["LIKE"], "ttt", 'b', |of| texts::is_like(of[0].str(), of[1].str(), of[2].str()).map(Cell::Bool));
pub(super) static ILIKE: Function = row(&["ILIKE"], "ttt", 'b', |of| {
    // Letter by letter: a sigma at the end of a word is the same letter, and an I with a dot is one.
    let [text, pattern, escape] = [0, 1, 2].map(|at| texts::lower(&of[at]));
    texts::is_like(text.str(), pattern.str(), escape.str()).map(Cell::Bool)
});
/// Characters from a place on, counted from 1, and how many.
pub(super) static SLICE: Function = native(&["substr"], "tii", 't', |of| {
    let [text, from, length] = <[Expr; 3]>::try_from(of).unwrap_or_else(|_| [lit(""), lit(1), lit(0)]);
    text.str().slice(from - lit(1), length)
});
/// Days.
pub(super) static ADD_DAYS: Function = row(&["+"], "Di", 'y', |of| days::days_later(&of[0], of[1].int()));
pub(super) static DAYS_BETWEEN: Function =
    row(&["-"], "DD", 'i', |of| Ok(Cell::Int(of[0].day() - of[1].day())));
pub(super) static ADD_MONTHS: Function = row(&["+"], "Di", 'T', |of| days::months_later(&of[0], of[1].int()));
pub(super) static ADD_MICROS: Function = row(&["+"], "Di", 'T', |of| {
    let moved = of[0].micros().checked_add(of[1].int());
    moved.map(Cell::Time).ok_or_else(|| "a time is outside of the calendar".to_owned())
});

fn extreme<'a>(of: &[Cell<'a>], wanted: Ordering) -> Cell<'a> {
    let values = of.iter().filter(|cell| **cell != Cell::Null);
    values
        .reduce(|best, cell| if cell.order(best) == wanted { cell } else { best })
        .cloned()
        .unwrap_or(Cell::Null)
}

/// Other functions of one row, with forms of their own, and functions of windows.
const FORMS: [(&str, &str); 3] = [
    (
        "of one row",
        "`round(number, places)`, `floor(number)`, `ceil(number)`, `trunc(number)`, `mod(number, number)`, `if(condition, any, any)`, `nullif(any, any)`, `date(time)`",
    ),
    (
        "of a window",
        "`row_number()`, `rank()`, `dense_rank()`, `percent_rank()`, `cume_dist()`, `ntile(tiles)`",
    ),
    (
        "of a window",
        "`lag(any, rows, any)`, `lead(any, rows, any)`, `first_value(any)`, `last_value(any)`, `nth_value(any, place)`",
    ),
];

/// All functions for people: of what they are, and how they are called.
pub fn sql_functions() -> Vec<(&'static str, String)> {
    let call = |(names, takes): (&[&str], &str)| {
        let word = |letter: char| match letter {
            't' => "text",
            'i' => "whole number",
            'n' | 'd' => "number",
            'b' => "condition",
            'D' => "day",
            's' | 'a' => "any",
            '*' => "…",
            _ => "",
        };
        let words: Vec<&str> = takes.chars().map(word).filter(|word| !word.is_empty()).collect();
        format!("`{}({})`", names.join("`, `"), words.join(", "))
    };
    let of_rows = REDUCES.iter().map(|(names, takes, _)| ("of many rows", call((names, takes))));
    let of_one = FUNCTIONS.iter().map(|known| ("of one row", call((known.names, known.takes))));
    let forms = FORMS.iter().map(|(of, text)| (*of, (*text).to_owned()));
    of_one.chain(of_rows).chain(forms).collect()
}
