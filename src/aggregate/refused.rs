//! SQL that polars answers in another sense, and that no other form of polars gives: it is refused, with the form to use.

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Interval,
    JoinConstraint, JoinOperator, Query, Select, SetExpr, UnaryOperator, Value, WindowType,
};

/// Functions that polars computes over all rows of the window, whatever its order and frame are.
const WITHOUT_ORDER: &str = "avg first_value last_value mean median quantile_cont quantile_disc stddev stddev_pop stddev_samp stdev \
                             stdev_samp var var_pop var_samp variance";

/// What is wrong with a query, apart from its subqueries. `is_table` says whether the lake has a table of a name.
pub(super) fn of_query(query: &Query, is_table: &dyn Fn(&str) -> bool) -> Option<String> {
    let named = query.with.iter().flat_map(|with| &with.cte_tables).map(|table| &table.alias.name.value);
    let mut named = named.filter(|name| is_table(&name.to_lowercase()));
    if let Some(name) = named.next() {
        return Some(format!("WITH {name} has the name of a table of the lake: give it another name"));
    }
    of_rows(&query.body)
}

/// What is wrong with the rows of a query, each side of a set operation included.
fn of_rows(rows: &SetExpr) -> Option<String> {
    match rows {
        SetExpr::Select(select) => of_select(select),
        SetExpr::SetOperation { left, op, right, .. } => {
            let is_other =
                |side: &SetExpr| matches!(side, SetExpr::SetOperation { op: inner, .. } if inner != op);
            if is_other(left) || is_other(right) {
                return Some(format!(
                    "{op} is mixed with another set operation: put the inner one in brackets"
                ));
            }
            of_rows(left).or_else(|| of_rows(right))
        }
        _ => None,
    }
}

fn of_select(select: &Select) -> Option<String> {
    if select.from.is_empty() && select.selection.is_some() {
        return Some("WHERE needs FROM".to_owned());
    }
    let joins = select.from.iter().flat_map(|table| &table.joins);
    let found = joins.filter_map(|join| outer_condition(&join.join_operator)).find_map(not_an_equation)?;
    Some(format!(
        "{found} in ON of an outer, semi or anti join is no equation of two columns: put it in a subquery"
    ))
}

/// The condition of a join that keeps rows without a match, or that only tests for one.
fn outer_condition(join: &JoinOperator) -> Option<&Expr> {
    match join {
        JoinOperator::Left(on)
        | JoinOperator::LeftOuter(on)
        | JoinOperator::Right(on)
        | JoinOperator::RightOuter(on)
        | JoinOperator::FullOuter(on)
        | JoinOperator::Semi(on)
        | JoinOperator::LeftSemi(on)
        | JoinOperator::RightSemi(on)
        | JoinOperator::Anti(on)
        | JoinOperator::LeftAnti(on)
        | JoinOperator::RightAnti(on) => match on {
            JoinConstraint::On(on) => Some(on),
            _ => None,
        },
        _ => None,
    }
}

/// A part of a condition that is not `a = b`.
fn not_an_equation(condition: &Expr) -> Option<&Expr> {
    match condition {
        Expr::Nested(inner) => not_an_equation(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            not_an_equation(left).or_else(|| not_an_equation(right))
        }
        Expr::BinaryOp { op: BinaryOperator::Eq, .. } => None,
        other => Some(other),
    }
}

/// What is wrong with an expression, apart from its parts.
pub(super) fn of_expr(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Function(function) => of_function(function),
        Expr::Interval(interval) if !is_of_days(interval) => {
            Some(format!("{interval} is not a number of days, months or years"))
        }
        Expr::Substring { substring_from: Some(from), .. } if is_negative(from) => {
            Some(format!("{expr} counts from the end: use RIGHT(text, n)"))
        }
        Expr::BinaryOp { left, op: BinaryOperator::Modulo, right }
            if is_negative(left) || is_negative(right) =>
        {
            Some(format!("{expr} has a negative number"))
        }
        _ => None,
    }
}

fn of_function(function: &Function) -> Option<String> {
    let name = function.name.to_string().to_lowercase();
    if let Some(WindowType::WindowSpec(window)) = &function.over
        && !window.order_by.is_empty()
        && WITHOUT_ORDER.split_whitespace().any(|known| known == name)
    {
        return Some(format!("{function}: {name} takes no ORDER BY in OVER here"));
    }
    let FunctionArguments::List(arguments) = &function.args else { return None };
    match (&*name, &*arguments.args) {
        ("sum" | "avg", [argument]) if value_of(argument).is_some() => {
            Some(format!("{function} is about no column: use COUNT(*)"))
        }
        ("substr" | "substring", [_, from, ..]) if value_of(from).is_some_and(is_negative) => {
            Some(format!("{function} counts from the end: use RIGHT(text, n)"))
        }
        _ => None,
    }
}

/// The value of an argument that names no column.
fn value_of(argument: &FunctionArg) -> Option<&Expr> {
    let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument else { return None };
    matches!(expr, Expr::Value(_) | Expr::UnaryOp { .. }).then_some(expr).filter(|expr| match expr {
        Expr::UnaryOp { expr, .. } => matches!(**expr, Expr::Value(_)),
        _ => true,
    })
}

fn is_negative(expr: &Expr) -> bool {
    match expr {
        Expr::UnaryOp { op: UnaryOperator::Minus, .. } => true,
        Expr::Nested(inner) => is_negative(inner),
        _ => false,
    }
}

fn is_of_days(interval: &Interval) -> bool {
    let text = match &*interval.value {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::Number(text, _) => text.to_lowercase(),
            _ => return false,
        },
        _ => return false,
    };
    let field = interval.leading_field.as_ref().map(|field| field.to_string().to_lowercase());
    let words = text.split_whitespace().map(str::to_owned).chain(field);
    let mut units = words.filter(|word| word.parse::<i64>().is_err());
    units.all(|unit| ["day", "week", "month", "quarter", "year"].contains(&unit.trim_end_matches('s')))
}
