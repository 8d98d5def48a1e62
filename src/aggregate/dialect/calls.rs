//! Calls of functions by name: of one row, of many rows, of a window.

use super::coerce::{arithmetic, as_letter, call, case, cast_as, constant_as, folded, same_kind};
use super::functions as f;
use super::node::{Frame, Function, Node, Order, Seen, Window};
use super::reduce::{REDUCES, Reduce};
use super::refusal::{ALIKE, Result, not_here, unknown, wrong};
use super::value::{Cell, Kind};
use crate::contract::hint::nearest;
use sqlparser::ast::BinaryOperator;

/// Functions that other programs have, and what to write here.
const OTHERS: [(&[&str], &str); 6] = [
    (
        &["current_date", "current_timestamp", "getdate", "now", "today", "localtimestamp"],
        "name the day: filed_date >= DATE '2026-03-01', or count from the lake's: JOIN days USING (filed_date) WHERE days_ago < 30",
    ),
    (&["adddate", "date_add", "dateadd", "date_sub", "subdate"], "add days: filed_date + 7"),
    (&["str_to_date", "strptime", "to_date"], "a text YYYY-MM-DD as a day: CAST(x AS DATE)"),
    (&["first", "last", "any_value", "arbitrary"], "which row is first is not known: use MIN or MAX"),
    (&["to_char", "date_format", "format_datetime"], "use strftime(filed_date, '%Y-%m')"),
    (&["isnull", "nvl"], "use COALESCE(x, y)"),
];

/// Functions that give lists, or texts of them.
const LISTS: [&str; 5] = ["array_agg", "group_concat", "list", "listagg", "string_agg"];

/// A function of one row.
pub(super) fn scalar(name: &str, mut args: Vec<Node>) -> Result<Node> {
    let text = |node: &Node| {
        if let Node::Literal(Cell::Text(text), _) = node { text.to_lowercase() } else { String::new() }
    };
    match (name, args.len()) {
        ("if" | "iff", 3) => {
            let other = args.pop();
            let then = args.pop().unwrap_or(Node::int(0));
            case(vec![(as_letter(args.remove(0), 'b', name)?, then)], other)
        }
        ("nullif", 2) => {
            // Of the type of the first.
            let is_equal = call(&f::EQ, args.clone())?;
            args.truncate(1);
            case(vec![(is_equal, Node::Literal(Cell::Null, Kind::Null))], args.pop())
        }
        ("round", 1 | 2) => round(args),
        ("floor", 1) => to_unit(args.remove(0), &f::FLOOR_UNITS, &f::FLOOR),
        ("ceil" | "ceiling", 1) => to_unit(args.remove(0), &f::CEIL_UNITS, &f::CEIL),
        ("trunc", 1) => to_unit(args.remove(0), &f::TRUNC_UNITS, &f::TRUNC),
        ("mod", 2) => {
            let other = args.remove(1);
            arithmetic(&BinaryOperator::Modulo, args.remove(0), other)
        }
        ("date", 1) => cast_as(args.remove(0), Kind::Day, 64, false),
        ("date_part" | "datepart", 2) if ["year", "month", "day", "quarter"].contains(&&*text(&args[0])) => {
            scalar(&text(&args[0]), args.split_off(1))
        }
        ("substr" | "substring", 3)
            if args[1].number().is_some_and(|from| from > 0)
                && args[2].number().is_some_and(|length| length >= 0) =>
        {
            call(&f::SLICE, args)
        }
        _ => match f::FUNCTIONS.iter().find(|function| function.names.contains(&name)) {
            Some(function) => call(function, args),
            None => no_function(name),
        },
    }
}

/// Refuses a function that other programs have, before its arguments are looked at.
pub(super) fn refuse_other(name: &str) -> Result<()> {
    if LISTS.contains(&name) {
        return not_here(format_args!("the function {name}"));
    }
    match OTHERS.iter().find(|(names, _)| names.contains(&name)) {
        Some((_, form)) => wrong(format!("there is no function {name}"), *form),
        None => Ok(()),
    }
}

fn no_function<T>(name: &str) -> Result<T> {
    let ours = f::FUNCTIONS.iter().flat_map(|function| function.names);
    let known: Vec<&str> = ours.chain(REDUCES.iter().flat_map(|(names, ..)| *names)).copied().collect();
    match nearest(name, known.iter().copied(), ALIKE) {
        Some(_) => unknown("function", name, &known),
        None => not_here(format_args!("the function {name}")),
    }
}

/// A number to some decimal places.
fn round(mut args: Vec<Node>) -> Result<Node> {
    let places = if args.len() == 2 { args.pop() } else { None };
    let of = args.pop().unwrap_or(Node::int(0));
    let wanted = places.as_ref().map_or(Some(0), Node::number);
    match (of.kind(), wanted) {
        (kind @ (Kind::Integer | Kind::Decimal(_)), Some(wanted)) => {
            let has = i64::from(kind.places().unwrap_or(0));
            match u32::try_from(has - wanted).map(|places| 10_i64.checked_pow(places)) {
                Err(_) | Ok(Some(1)) => Ok(of),
                Ok(Some(_)) if wanted >= 0 => cast_as(of, Kind::Decimal(wanted as u8), 64, false),
                Ok(Some(unit)) => {
                    let whole = if kind == Kind::Integer { kind } else { Kind::Decimal(0) };
                    cast_as(call(&f::ROUND_UNITS, vec![of, Node::int(unit)])?, whole, 64, false)
                }
                Ok(None) => wrong("round to so large a unit", "cast the number to DOUBLE"),
            }
        }
        (Kind::Integer | Kind::Decimal(_), None) => {
            wrong("round of an exact number needs its decimal places", "such as: round(x, 2)")
        }
        _ => call(&f::ROUND, vec![of, places.unwrap_or(Node::int(0))]),
    }
}

/// A number without its decimals. A double stays one, and `floor` and `ceil` make doubles of integers.
fn to_unit(of: Node, exact: &'static Function, doubles: &'static Function) -> Result<Node> {
    match of.kind() {
        Kind::Integer if std::ptr::eq(exact, &f::TRUNC_UNITS) => Ok(of),
        Kind::Decimal(places) => {
            let unit = Node::int(10_i64.pow(places.into()));
            folded(Node::Call(exact, vec![of, unit], Kind::Decimal(0)))
        }
        _ => call(doubles, vec![of]),
    }
}

/// A function of many rows; none if the name is of no such function. Without arguments, `count` is of rows.
pub(super) fn reduce(
    name: &str,
    args: &[Node],
    is_distinct: bool,
    filter: Option<Node>,
) -> Result<Option<Node>> {
    let known = REDUCES.iter().find(|(names, ..)| names.contains(&name));
    let Some((_, takes, reduce)) = known else { return Ok(None) };
    let only_if = |of: Node| match &filter {
        Some(filter) => case(vec![(filter.clone(), of)], None),
        None => Ok(of),
    };
    if name == "count" && args.is_empty() {
        return Ok(Some(match filter {
            Some(_) => Node::Reduce(Reduce::Count, Some(Box::new(only_if(Node::bool(true))?)), false),
            None => Node::Reduce(Reduce::Rows, None, false),
        }));
    }
    if args.len() != takes.len() {
        return not_here(format_args!("{name} with {} arguments", args.len()));
    }
    let reduce = match (*reduce, args.get(1)) {
        (Reduce::Quantile(_), Some(Node::Literal(part, kind))) => {
            let part = part.double() / 10_f64.powi(kind.places().unwrap_or(0).into());
            if !(0.0..=1.0).contains(&part) {
                return wrong("a quantile is between 0 and 1", "such as: quantile_cont(filings, 0.9)");
            }
            Reduce::Quantile(part)
        }
        (_, Some(_)) => return not_here(format_args!("{name} with 2 arguments")),
        (reduce, None) => reduce,
    };
    if matches!((reduce, args[0].kind()), (Reduce::Quantile(_), Kind::Decimal(_))) {
        let form = format!(
            "cast it: {name}(CAST(0.1 * filings AS DOUBLE){})",
            if args.len() > 1 { ", 0.9" } else { "" }
        );
        return wrong(format!("how {name} of a decimal is rounded depends on its digits"), form);
    }
    let letter = takes.chars().next().unwrap_or('a');
    let is_true_or_false = args[0].kind() == Kind::Bool || letter == 'b';
    let mut of = as_letter(args[0].clone(), if is_true_or_false { 'b' } else { letter }, name)?;
    if is_true_or_false && reduce == Reduce::Sum {
        of = cast_as(of, Kind::Integer, 64, false)?;
    } else if is_true_or_false && letter != 'b' {
        of = as_letter(of, letter, name)?;
    }
    Ok(Some(Node::Reduce(reduce, Some(Box::new(only_if(of)?)), is_distinct)))
}

/// A function of a window; `reduced` if it is one of many rows.
pub(super) fn window(
    name: &str,
    reduced: Option<Node>,
    mut args: Vec<Node>,
    by: Vec<Node>,
    order: Vec<Order>,
    frame: Frame,
) -> Result<Node> {
    let lag = |args: &mut Vec<Node>, sign: i64| -> Result<Seen> {
        let rows = if args.len() > 1 { args.remove(1).number() } else { Some(1) };
        let Some(rows) = rows else {
            return not_here(format_args!("{name} by a number of rows that is no literal"));
        };
        // A default is like the values, and is read as one of them.
        same_kind(args.clone())?;
        let kind = args[0].kind();
        for default in args.iter_mut().skip(1) {
            *default = constant_as(default, kind)?;
        }
        Ok(Seen::Lag(rows * sign))
    };
    if let ("ntile" | "nth_value", Some(number)) = (name, args.last_mut()) {
        *number = as_letter(number.clone(), 'i', name)?;
    }
    let given = args.len();
    let (seen, takes) = match (name, reduced) {
        (_, Some(Node::Reduce(reduce, of, false))) => {
            args = of.map(|of| *of).into_iter().collect();
            (Seen::Reduced(reduce), given)
        }
        (_, Some(_)) => return not_here(format_args!("{name} with DISTINCT in a window")),
        ("row_number", _) => (Seen::RowNumber, 0),
        ("rank", _) => (Seen::Rank, 0),
        ("dense_rank", _) => (Seen::DenseRank, 0),
        ("percent_rank", _) => (Seen::PercentRank, 0),
        ("cume_dist", _) => (Seen::CumeDist, 0),
        ("ntile", _) => (Seen::Tiles, 1),
        ("lag", _) if (1..=3).contains(&given) => (lag(&mut args, 1)?, given),
        ("lead", _) if (1..=3).contains(&given) => (lag(&mut args, -1)?, given),
        ("first_value", _) => (Seen::First, 1),
        ("last_value", _) => (Seen::Last, 1),
        ("nth_value", _) => (Seen::Nth, 2),
        _ => return not_here(format_args!("the window function {name}")),
    };
    if given != takes {
        return wrong(format!("{name} has {given} arguments"), format!("it takes {takes}"));
    }
    Ok(Node::Window(Box::new(Window { seen, of: args, by, order, frame })))
}
