//! Subqueries: each is answered before the query around it is planned.

use super::super::functions::EQ;
use super::super::names::{Column, Rows, columns_of};
use super::super::node::{Id, Node, Set};
use super::super::refusal::{Result, not_here, wrong};
use super::super::resolve::{Answer, Scope};
use super::super::statement::{Part, walk};
use super::super::value::{Cell, Cells, Kind};
use super::from::{all_joined, conjuncts, filtered, sides};
use super::group::grouped;
use super::order::orders_kept;
use super::query::{Named, Planner};
use super::select::has_groups;
use polars::prelude::{PolarsResult, Series};
use sqlparser::ast::{Expr, Query, Select, SelectItem, SetExpr, Visit};
use std::collections::HashMap;
use std::sync::Arc;

impl Planner<'_> {
    /// The answers of the subqueries in a part of a query over some columns.
    pub(super) fn answers(
        &self,
        part: &impl Visit,
        columns: &[Column],
        named: &Named,
    ) -> Result<HashMap<Expr, Answer>> {
        let answered =
            subqueries(part).into_iter().map(|expr| Ok((expr.clone(), self.answer(&expr, columns, named)?)));
        answered.collect()
    }

    /// The answer of a subquery: a value, the values of a column, or whether there are rows.
    fn answer(&self, expr: &Expr, columns: &[Column], named: &Named) -> Result<Answer> {
        match expr {
            Expr::Subquery(query) => {
                let (mut cells, kind) = self.cells(query, named, "a subquery in place of a value")?;
                match cells.len() {
                    0 => Ok(Answer::Value(Node::Literal(Cell::Null, kind))),
                    1 => Ok(Answer::Value(Node::Literal(cells.remove(0), kind))),
                    _ => wrong(
                        "a subquery in place of a value has more than one row",
                        "take MAX or MIN of it, or use IN",
                    ),
                }
            }
            Expr::InSubquery { subquery, .. } => {
                let (cells, kind) = self.cells(subquery, named, "IN (SELECT …)")?;
                Ok(Answer::Rows(cells, kind))
            }
            Expr::Exists { subquery, .. } => self.exists(subquery, columns, named),
            _ => not_here("such a subquery"),
        }
    }

    fn cells(&self, query: &Query, named: &Named, what: &str) -> Result<(Vec<Cell<'static>>, Kind)> {
        let rows = self.query(query, named)?;
        let [column] = &rows.columns[..] else {
            return wrong(format!("{what} has {} columns", rows.columns.len()), "select one column in it");
        };
        let frame = orders_kept(rows.frame).collect()?;
        let series = frame.column(&column.id)?.as_materialized_series().rechunk();
        let cells = Cells::of(&series)?;
        Ok(((0..series.len()).map(|row| cells.get(row).owned()).collect(), column.kind))
    }

    /// Whether there are rows; with equations of its columns with those around it, for which of these.
    fn exists(&self, query: &Query, columns: &[Column], named: &Named) -> Result<Answer> {
        let SetExpr::Select(select) = &*query.body else { return self.has_rows(query, named) };
        let mut named = named.clone();
        self.name_queries(query, &mut named)?;
        let sources = self.sources(&select.from, &named)?;
        let own = columns_of(&sources);
        let answers = self.answers(&**select, &own, &named)?;
        let scope = Scope { outer: columns, ..Scope::of(&own, &answers) };
        let condition = select.selection.as_ref().map(|condition| scope.condition(condition)).transpose()?;
        let conditions: Vec<Node> = condition.into_iter().flat_map(conjuncts).collect();
        let is_outer = |id: &Id| columns.iter().any(|column| column.id == *id);
        let (around, within): (Vec<Node>, Vec<Node>) =
            conditions.into_iter().partition(|node| node.columns().iter().any(is_outer));
        if around.is_empty() {
            return self.has_rows(query, &named);
        }
        if query.limit_clause.is_some() || is_counted(select, &scope)? {
            return not_here("EXISTS with a count or a limit that depends on the query around it");
        }
        let equations = around.into_iter().map(|node| equation(node, &is_outer));
        let (keys, given) = equations.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        self.matching(sources, within, keys, given)
    }

    fn has_rows(&self, query: &Query, named: &Named) -> Result<Answer> {
        let rows = orders_kept(self.query(query, named)?.frame.limit(1)).collect()?;
        Ok(Answer::Value(Node::bool(rows.height() > 0)))
    }

    fn matching(
        &self,
        sources: Vec<Rows>,
        within: Vec<Node>,
        keys: Vec<Node>,
        given: Vec<Node>,
    ) -> Result<Answer> {
        let (rows, within) = all_joined(sources, within, &self.ids)?;
        let rows = grouped(filtered(rows, within), &keys, Vec::new(), &self.ids)?;
        let frame = orders_kept(rows.frame).collect()?;
        let series: Vec<Series> =
            frame.columns().iter().map(|column| column.as_materialized_series().rechunk()).collect();
        let cells: Vec<Cells<'_>> = series.iter().map(Cells::of).collect::<PolarsResult<_>>()?;
        let mut set = Set { is_exists: true, ..Set::default() };
        for row in 0..frame.height() {
            set.add(&cells.iter().map(|cells| cells.get(row)).collect::<Vec<_>>());
        }
        Ok(Answer::Value(Node::In(given, Arc::new(set))))
    }
}

/// Whether a `SELECT` gives rows of its own, whatever rows it reads.
fn is_counted(select: &Select, scope: &Scope<'_>) -> Result<bool> {
    for item in &select.projection {
        let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { continue };
        if scope.node(expr)?.has_reduce() {
            return Ok(true);
        }
    }
    Ok(has_groups(select) || select.having.is_some() || select.qualify.is_some())
}

/// The side of an equation of the subquery, and the side of the query around it.
fn equation(node: Node, is_outer: &dyn Fn(&Id) -> bool) -> Result<(Node, Node)> {
    let is_given = |node: &Node| node.reads_only(is_outer);
    let is_own = |node: &Node| !node.columns().iter().any(is_outer);
    match (sides(&node, is_own, is_given), node) {
        (Some(sides), _) => Ok(sides),
        (None, Node::Call(function, ..)) if std::ptr::eq(function, &EQ) => {
            not_here("EXISTS on such an equation")
        }
        _ => not_here("EXISTS on anything but equations with the query around it"),
    }
}

/// The subqueries of a `SELECT`, without those inside of them or of its tables.
fn subqueries(part: &impl Visit) -> Vec<Expr> {
    let mut found = Vec::new();
    walk(part, &mut |part, queries| {
        if let (Part::Expr(expr @ (Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. })), 0) =
            (part, queries)
            && !found.contains(expr)
        {
            found.push(expr.clone());
        }
    });
    found
}
