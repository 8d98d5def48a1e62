//! The order of rows, and how many of them.

use super::super::names::{Column, is_same};
use super::super::node::{Node, Order};
use super::super::refusal::{Result, wrong};
use super::super::resolve::order_of;
use super::super::value::{Cell, Kind};
use polars::prelude::{
    Expr as Lazy, JoinArgs, JoinCoalesce, JoinType, LazyFrame, MaintainOrderJoin, SortMultipleOptions,
};
use sqlparser::ast::{Expr, OrderBy, OrderByExpr, OrderByKind, OrderByOptions, Value};

/// Rows in order.
pub(super) fn sorted(frame: LazyFrame, order: &[Order]) -> LazyFrame {
    if order.is_empty() {
        return frame;
    }
    let by: Vec<Lazy> = order.iter().map(|order| order.by.in_polars()).collect();
    frame.sort_by_exprs(by, sort_options(order))
}

pub(super) fn sort_options(order: &[Order]) -> SortMultipleOptions {
    SortMultipleOptions::default()
        .with_order_descending_multi(order.iter().map(|order| order.descends))
        .with_nulls_last_multi(order.iter().map(|order| order.nulls_last))
        .with_maintain_order(true)
}

/// The frame with all orders kept. Otherwise those that a sum does not need are dropped, and its last digits differ from time to time.
pub(in crate::aggregate::dialect) fn orders_kept(frame: LazyFrame) -> LazyFrame {
    frame.with_check_order(false)
}

/// A join whose rows come in the order of the left rows, then of the right ones: the same tables give the same rows.
pub(super) fn in_order(how: JoinType) -> JoinArgs {
    let (coalesce, maintain_order) = (JoinCoalesce::KeepColumns, MaintainOrderJoin::LeftRight);
    JoinArgs { coalesce, maintain_order, ..JoinArgs::new(how) }
}

/// What `ORDER BY` says: `ALL` is by every value of the result; `one` says what another expression is.
pub(super) fn orders(
    order: &OrderBy,
    outputs: impl Iterator<Item = Node>,
    one: impl Fn(&OrderByExpr) -> Result<Order>,
) -> Result<Vec<Order>> {
    let of_all = |options: &OrderByOptions| Ok(outputs.map(|node| order_of(node, options)).collect());
    match &order.kind {
        OrderByKind::All(options) => of_all(options),
        OrderByKind::Expressions(all) => match &all[..] {
            [OrderByExpr { expr: Expr::Identifier(name), options, .. }]
                if name.quote_style.is_none() && is_same(&name.value, "all") =>
            {
                of_all(options)
            }
            all => all.iter().map(one).collect(),
        },
    }
}

/// The place that a number in `GROUP BY` or `ORDER BY` names.
pub(super) fn ordinal(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// The value at a place.
pub(super) fn at_place(outputs: &[(String, Node)], at: usize, clause: &str) -> Result<Node> {
    match at.checked_sub(1).and_then(|at| outputs.get(at)) {
        Some((_, node)) => Ok(node.clone()),
        None => {
            wrong(format!("{clause} {at} is no place of a column"), format!("there are {}", outputs.len()))
        }
    }
}

/// The order of a result by its own columns.
pub(super) fn order_of_result(columns: &[Column], order: &OrderBy) -> Result<Vec<Order>> {
    orders(order, columns.iter().map(Column::node), |by| {
        let found = match (&by.expr, ordinal(&by.expr)) {
            (_, Some(at)) => at.checked_sub(1).and_then(|at| columns.get(at)),
            (Expr::Identifier(name), _) => columns.iter().find(|column| is_same(&column.name, &name.value)),
            _ => None,
        };
        match found {
            Some(column) => Ok(order_of(column.node(), &by.options)),
            None => wrong(
                format!("{} is no column of the result", by.expr),
                "sort by a column of the result: its name or its place",
            ),
        }
    })
}

/// The number of rows that a limit names.
pub(super) fn rows_of_limit(node: &Node) -> Result<Option<u32>> {
    match node {
        Node::Literal(Cell::Int(of @ 0..), Kind::Integer) => Ok(Some(u32::try_from(*of).unwrap_or(u32::MAX))),
        Node::Literal(Cell::Null, _) => Ok(None),
        _ => wrong("LIMIT and OFFSET take a number", "such as: LIMIT 10"),
    }
}
