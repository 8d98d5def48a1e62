//! Literals and the names of types.

use super::node::Node;
use super::refusal::{Result, not_here, wrong};
use super::value::{Cell, Kind, MOST_PLACES};
use sqlparser::ast::{DataType, Value};

/// Digits that a DECIMAL can have.
const MOST_DIGITS: u8 = 38;

/// A literal.
pub(super) fn literal(value: &Value) -> Result<Node> {
    Ok(match value {
        Value::Null => Node::Literal(Cell::Null, Kind::Null),
        Value::Boolean(of) => Node::bool(*of),
        Value::SingleQuotedString(text) => Node::text(text),
        Value::DoubleQuotedString(text) => {
            return wrong(
                format!("\"{text}\" is no column"),
                format!("a text is in single quotes: '{text}'"),
            );
        }
        Value::Number(text, _) => {
            let whole = text.replace('.', "");
            let places = text.split_once('.').map(|(_, places)| places.len());
            match (whole.parse::<i64>(), text.parse::<f64>()) {
                (Ok(of), _) if places.is_none_or(|places| places <= MOST_PLACES.into()) => {
                    let kind = places.map_or(Kind::Integer, |places| Kind::Decimal(places as u8));
                    Node::Literal(Cell::Int(of), kind)
                }
                (_, Ok(of)) if text.contains(['e', 'E']) => Node::Literal(Cell::Double(of), Kind::Double),
                _ => return wrong(format!("the number {text} is too long"), "write it as a double: 1e20"),
            }
        }
        other => return not_here(other),
    })
}

/// Digits and decimal places of a DECIMAL, by its name.
fn decimal(name: &str) -> Option<(u8, u8)> {
    let Some((_, sizes)) = name.split_once('(') else { return Some((18, 3)) };
    let sizes = sizes.trim_end_matches(')');
    let (digits, places) = sizes.split_once(',').unwrap_or((sizes, "0"));
    let number = |text: &str| text.trim().parse::<u8>().ok();
    let (digits, places) = (number(digits)?, number(places)?);
    (places <= digits.min(MOST_PLACES) && (1..=MOST_DIGITS).contains(&digits)).then_some((digits, places))
}

/// A type of SQL, and its size: bits of whole numbers, digits of a DECIMAL.
pub(super) fn kind_of(of: &DataType) -> Result<(Kind, u8)> {
    let name = of.to_string().to_uppercase();
    let kind = match name.split('(').next().unwrap_or_default().trim() {
        "BIGINT" | "INT8" | "LONG" | "INT64" => (Kind::Integer, 64),
        "INTEGER" | "INT" | "INT4" | "INT32" => (Kind::Integer, 32),
        "SMALLINT" | "INT2" | "INT16" => (Kind::Integer, 16),
        "TINYINT" => (Kind::Integer, 8),
        "DOUBLE" | "DOUBLE PRECISION" | "FLOAT8" | "FLOAT64" => (Kind::Double, 64),
        "VARCHAR" | "STRING" | "TEXT" | "CHAR" => (Kind::Text, 64),
        "BOOLEAN" | "BOOL" => (Kind::Bool, 64),
        "DATE" => (Kind::Day, 64),
        "TIMESTAMP" | "DATETIME" => (Kind::Time(false), 64),
        "TIMESTAMPTZ" | "TIMESTAMP WITH TIME ZONE" => (Kind::Time(true), 64),
        "DECIMAL" | "NUMERIC" | "DEC" if let Some((digits, places)) = decimal(&name) => {
            (Kind::Decimal(places), digits)
        }
        _ => {
            let form = "use BIGINT, DOUBLE, VARCHAR, BOOLEAN, DATE or TIMESTAMP";
            return wrong(format!("the type {of} is not known"), form);
        }
    };
    Ok(kind)
}
