//! Values in the types that an operator, a function or another value needs.

use super::convert::cast_cell;
use super::functions as f;
use super::node::{Function, Id, Node, Set};
use super::refusal::{Result, not_here, wrong};
use super::value::{Cell, Cells, Kind, MOST_PLACES, column_of};
use polars::prelude::{DataFrame, IntoLazy as _, NamedFrom as _, Series};
use sqlparser::ast::BinaryOperator;
use std::sync::Arc;

const A_DAY: &str = "a day is YYYY-MM-DD: '2026-11-20'";
const NO_NUMBER: &str = "write a day as DATE '2026-03-01'; without quotes, 2026-03-01 is the number 2022";
const QUOTES: &str = "a text is in single quotes, a number in none: zip = '33101', business_id = 42";
/// Longer lists are looked up.
const MOST_COMPARED: usize = 12;

/// A call with its arguments in the types that the function takes.
pub(super) fn call(function: &'static Function, given: Vec<Node>) -> Result<Node> {
    let name = function.names[0];
    let letters: Vec<char> = function.takes.chars().filter(|letter| !"?*".contains(*letter)).collect();
    let least = function.takes.find('?').unwrap_or(letters.len());
    let is_open = function.takes.ends_with('*');
    if given.len() < least || (given.len() > letters.len() && !is_open) {
        return wrong(format!("{name} has {} arguments", given.len()), format!("it takes {least}"));
    }
    let letter = |at: usize| letters[at.min(letters.len() - 1)];
    let typed = given.into_iter().enumerate().map(|(at, node)| as_letter(node, letter(at), name));
    let mut parts = typed.collect::<Result<Vec<_>>>()?;
    // Values of one type, which the result may have too.
    let places: Vec<usize> = (0..parts.len()).filter(|at| "an".contains(letter(*at))).collect();
    let common = same_kind(places.iter().map(|at| parts[*at].clone()).collect())?;
    let kind = common.first().map_or(Kind::Null, Node::kind);
    for (at, node) in places.into_iter().zip(common) {
        parts[at] = node;
    }
    let kind = match function.gives {
        'b' => Kind::Bool,
        't' => Kind::Text,
        'i' => Kind::Integer,
        'd' => Kind::Double,
        'y' => Kind::Day,
        'T' => Kind::Time(parts.iter().any(|part| part.kind() == Kind::Time(true))),
        _ => kind,
    };
    let (function, parts) = column_first(function, parts);
    folded(Node::Call(function, parts, kind))
}

/// A comparison with the value that has no column last. Where a column is one value in all rows, as after a join that found nothing,
/// polars gives a comparison as many rows as its first side has.
fn column_first(function: &'static Function, mut parts: Vec<Node>) -> (&'static Function, Vec<Node>) {
    let mirrored = [
        (&f::EQ, &f::EQ),
        (&f::NOT_EQ, &f::NOT_EQ),
        (&f::SAME, &f::SAME),
        (&f::LT, &f::GT),
        (&f::LT_EQ, &f::GT_EQ),
        (&f::GT, &f::LT),
        (&f::GT_EQ, &f::LT_EQ),
    ];
    match mirrored.into_iter().find(|(one, _)| std::ptr::eq(*one, function)) {
        Some((_, other)) if parts[0].columns().is_empty() => {
            parts.reverse();
            (other, parts)
        }
        _ => (function, parts),
    }
}

/// An argument in the type of a letter.
pub(super) fn as_letter(node: Node, letter: char, name: &str) -> Result<Node> {
    let kind = node.kind();
    let refuse = |what: &str, form: &str| wrong(format!("{name} takes {what}, not {}", kind.name()), form);
    match (letter, kind) {
        ('a', _) | ('t', Kind::Text) | ('i', Kind::Integer) => Ok(node),
        ('n', kind) if kind.is_number() => Ok(node),
        ('b', _) => to_bool(node),
        ('s', _) => shown(node),
        ('D', Kind::Day | Kind::Time(_)) => Ok(node),
        ('D', Kind::Text) if has_time(&node) => {
            refuse("a day or a time", "name the type of the text: TIMESTAMP '2026-11-20 08:00:00'")
        }
        ('D', Kind::Text | Kind::Null) => constant_as(&node, Kind::Day),
        ('t', Kind::Null) => cast_as(node, Kind::Text, 64, false),
        ('i' | 'n', Kind::Null) => cast_as(node, Kind::Integer, 64, false),
        ('d', kind) if kind.is_number() || kind == Kind::Null => cast_as(node, Kind::Double, 64, false),
        ('t', Kind::Day) => {
            refuse("a text", "for a month: filed_date BETWEEN DATE '2026-03-01' AND DATE '2026-03-31'")
        }
        ('t', _) => refuse("a text", "cast it: CAST(x AS VARCHAR)"),
        ('i', _) => refuse("a whole number", "cast it: CAST(x AS BIGINT)"),
        ('n' | 'd', Kind::Text) => refuse("a number", QUOTES),
        ('D', _) => refuse("a day or a time", NO_NUMBER),
        _ => refuse("a number", "use COUNT or COUNT_IF, or cast it: CAST(x AS BIGINT)"),
    }
}

/// Whether a literal text is longer than a day.
fn has_time(node: &Node) -> bool {
    matches!(node, Node::Literal(text, _) if text.str().trim().len() > 10)
}

/// Values in the type that holds all of them. A literal text is read as what the others are.
pub(super) fn same_kind(nodes: Vec<Node>) -> Result<Vec<Node>> {
    let is_text = |node: &Node| matches!(node, Node::Literal(_, Kind::Text));
    let is_read = nodes.iter().any(|node| !matches!(node.kind(), Kind::Text | Kind::Null));
    let mut common = Kind::Null;
    for node in nodes.iter().filter(|node| !(is_read && is_text(node))) {
        let kind = match (common, node.kind()) {
            (Kind::Bool, kind) | (kind, Kind::Bool) if kind.is_number() => Some(kind),
            (common, kind) => common.with(kind),
        };
        common = kind.map_or_else(|| unlike(&nodes), Ok)?;
    }
    let as_common = |node: Node| {
        if is_read && is_text(&node) { constant_as(&node, common) } else { cast_as(node, common, 64, false) }
    };
    nodes.into_iter().map(as_common).collect()
}

/// What is wrong with values of types that have nothing in common.
fn unlike<T>(nodes: &[Node]) -> Result<T> {
    let number = nodes.iter().find(|node| node.kind().is_number());
    let has = |kind: Kind| nodes.iter().any(|node| node.kind() == kind);
    match number {
        Some(number) if has(Kind::Day) || has(Kind::Time(false)) || has(Kind::Time(true)) => {
            let shown = match number {
                Node::Literal(cell, kind) => cell.show(*kind).unwrap_or_default(),
                _ => "of a column".to_owned(),
            };
            wrong(format!("a day is compared with the number {shown}"), NO_NUMBER)
        }
        Some(_) => wrong("a text is compared with a number", QUOTES),
        None if has(Kind::Text) && has(Kind::Day) => wrong(
            "a text is compared with a day",
            "a month is a text: filed_month = '2026-03'; a text as a day: CAST(x AS DATE)",
        ),
        None => wrong("values of different types are compared", "cast one of them: CAST(x AS VARCHAR)"),
    }
}

/// A literal, read as a value of another type.
pub(super) fn constant_as(node: &Node, kind: Kind) -> Result<Node> {
    match node {
        Node::Literal(Cell::Null, _) => Ok(Node::Literal(Cell::Null, kind)),
        Node::Literal(text, Kind::Text) => match (cast_cell(text, Kind::Text, kind, 64), kind) {
            (Ok(Some(cell)), _) => Ok(Node::Literal(cell, kind)),
            (_, Kind::Day | Kind::Time(_)) => wrong("a text is used as a day and is none", A_DAY),
            (_, to) if to.is_number() => wrong("a text is compared with a number", QUOTES),
            (_, to) => {
                wrong(format!("the text '{}' is used as {} and is none", text.str(), to.name()), QUOTES)
            }
        },
        node => cast_as(node.clone(), kind, 64, false),
    }
}

pub(super) fn cast_as(node: Node, to: Kind, size: u8, tries: bool) -> Result<Node> {
    let from = node.kind();
    let is_possible = match (from, to) {
        (from, to) if from == to && (size == 64 || from.places().is_none()) => return Ok(node),
        (Kind::Null, _) | (Kind::Text, _) | (Kind::Day, Kind::Time(_)) => true,
        (Kind::Time(_), Kind::Day | Kind::Time(_)) => true,
        (Kind::Double | Kind::Bool, Kind::Integer) | (Kind::Bool | Kind::Day, Kind::Text) => true,
        (from, Kind::Text) if from.is_number() => true,
        (Kind::Integer | Kind::Decimal(_), to) if to.is_number() || to == Kind::Bool => true,
        (Kind::Bool, Kind::Double) => {
            return cast_as(cast_as(node, Kind::Integer, 64, tries)?, to, size, tries);
        }
        _ => false,
    };
    match (is_possible, from, to) {
        (true, Kind::Text, Kind::Decimal(_)) | (false, Kind::Double, Kind::Decimal(_)) => {
            wrong("a double is not cast to DECIMAL here", "use ROUND(x, 2)")
        }
        (true, ..) => folded(Node::Cast(Box::new(node), to, size, tries)),
        (_, Kind::Time(_), Kind::Text) => {
            wrong("a time has no text of its own", "use strftime(time, '%Y-%m-%d %H:%M:%S')")
        }
        _ => wrong(format!("{} is not cast to {}", from.name(), to.name()), "cast it to VARCHAR first"),
    }
}

/// A value as text.
pub(super) fn shown(node: Node) -> Result<Node> {
    cast_as(node, Kind::Text, 64, false)
}

pub(super) fn to_bool(node: Node) -> Result<Node> {
    match node.kind() {
        Kind::Bool => Ok(node),
        Kind::Null | Kind::Integer => cast_as(node, Kind::Bool, 64, false),
        kind => wrong(format!("a condition is {}", kind.name()), "compare it: county = 'Duval'"),
    }
}

pub(super) fn not(of: Node) -> Result<Node> {
    call(&f::NOT, vec![of])
}

pub(super) fn negated_if(is: bool, of: Node) -> Result<Node> {
    if is { not(of) } else { Ok(of) }
}

pub(super) fn arithmetic(op: &BinaryOperator, one: Node, other: Node) -> Result<Node> {
    use BinaryOperator::{Minus, Multiply, Plus};
    let is_day = |node: &Node| node.kind() == Kind::Day;
    match (op, is_day(&one), is_day(&other)) {
        (Plus, true, false) => return call(&f::ADD_DAYS, vec![one, other]),
        (Plus, false, true) => return call(&f::ADD_DAYS, vec![other, one]),
        (Minus, true, true) => return call(&f::DAYS_BETWEEN, vec![one, other]),
        (Minus, true, false) if other.kind() == Kind::Integer => {
            return call(&f::ADD_DAYS, vec![one, call(&f::NEGATE, vec![other])?]);
        }
        _ => {}
    }
    if [&one, &other].iter().any(|node| matches!(node.kind(), Kind::Time(_))) {
        return wrong(
            "two times are added or subtracted",
            "use date_diff('day', one, other), or INTERVAL 7 DAY",
        );
    }
    let name = op.to_string();
    let (one, other) = (as_letter(one, 'n', &name)?, as_letter(other, 'n', &name)?);
    let (exact, doubles) = match op {
        Plus => (&f::ADD, &f::ADD_DOUBLES),
        Minus => (&f::SUBTRACT, &f::SUBTRACT_DOUBLES),
        Multiply => (&f::MULTIPLY, &f::MULTIPLY_DOUBLES),
        _ => (&f::MODULO, &f::MODULO_DOUBLES),
    };
    match (one.kind().places(), other.kind().places()) {
        // A product has the decimal places of both, so that its factors keep theirs.
        (Some(places), Some(others)) if *op == Multiply => {
            if places + others > MOST_PLACES {
                return wrong("a product has too many decimal places", "cast a factor to DOUBLE");
            }
            let is_whole = one.kind() == other.kind() && one.kind() == Kind::Integer;
            let kind = if is_whole { Kind::Integer } else { Kind::Decimal(places + others) };
            folded(Node::Call(exact, vec![one, other], kind))
        }
        (Some(_), Some(_)) => call(exact, vec![one, other]),
        _ => call(doubles, vec![one, other]),
    }
}

pub(super) fn case(cases: Vec<(Node, Node)>, other: Option<Node>) -> Result<Node> {
    let (conditions, mut values): (Vec<Node>, Vec<Node>) = cases.into_iter().unzip();
    values.push(other.unwrap_or(Node::Literal(Cell::Null, Kind::Null)));
    let mut values = same_kind(values)?;
    let other = values.pop().unwrap_or(Node::Literal(Cell::Null, Kind::Null));
    let kind = other.kind();
    folded(Node::Case(conditions.into_iter().zip(values).collect(), Box::new(other), kind))
}

pub(super) fn in_list(of: Node, list: Vec<Node>) -> Result<Node> {
    let mut all = vec![of];
    all.extend(list);
    let mut list = same_kind(all)?;
    let of = list.remove(0);
    let literal = |node: &Node| if let Node::Literal(cell, _) = node { Some(cell.clone()) } else { None };
    match list.iter().map(literal).collect::<Option<Vec<Cell<'static>>>>() {
        Some(cells) if cells.len() > MOST_COMPARED => {
            let kind = of.kind();
            in_cells(of, &cells, kind)
        }
        _ => {
            let mut equal = list.into_iter().map(|node| call(&f::EQ, vec![of.clone(), node]));
            let first = equal.next().unwrap_or(Ok(Node::bool(false)))?;
            equal.try_fold(first, |one, other| call(&f::OR, vec![one, other?]))
        }
    }
}

/// Whether a value is among others of one type.
pub(super) fn in_cells(of: Node, cells: &[Cell<'static>], kind: Kind) -> Result<Node> {
    // As of a column: a literal text would be read as what it is compared with.
    let mut pair = same_kind(vec![of, Node::Column("values".into(), kind)])?;
    let of = pair.swap_remove(0);
    let mut set = Set::default();
    for cell in cells {
        match (cell, cast_cell(cell, kind, of.kind(), 64)) {
            (Cell::Null, _) => set.has_null = true,
            (_, Ok(Some(cast))) => set.add(&[cast]),
            _ => return wrong("a number is beyond 64 bits", "cast it to DOUBLE"),
        }
    }
    folded(Node::In(vec![of], Arc::new(set)))
}

/// The value of an expression that has only literals, as one.
pub(super) fn folded(node: Node) -> Result<Node> {
    let is_open = |node: &Node| matches!(node, Node::Column(..) | Node::Reduce(..) | Node::Window(_));
    if node.has(&is_open) {
        return Ok(node);
    }
    // As of a column each, so that there is one way to compute it.
    let mut literals = Vec::new();
    let over = node.with_parts(&mut |part| {
        let Node::Literal(cell, kind) = part else { return not_here("such an expression") };
        let id: Id = format!("part{}", literals.len()).into();
        literals.push(column_of(id.clone(), *kind, std::iter::once(Ok(cell.clone())))?);
        Ok(Node::Column(id, *kind))
    })?;
    if literals.is_empty() {
        return Ok(node);
    }
    let one =
        DataFrame::new_infer_height(literals)?.lazy().select([over.in_polars().alias("value")]).collect()?;
    let series = one.column("value")?.as_materialized_series().cast(&node.kind().in_polars())?;
    let cell = Cells::of(&series)?.get(0).owned();
    Ok(Node::Literal(cell, node.kind()))
}

pub(super) fn one_row() -> DataFrame {
    DataFrame::new_infer_height(vec![Series::new("one".into(), [0_i64]).into()]).unwrap_or_default()
}
