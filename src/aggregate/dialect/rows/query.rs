//! A query with its `WITH`, its set operations and its subqueries.

use super::super::coerce::one_row;
use super::super::names::{Column, Ids, Rows, columns_of, is_same, unique};
use super::super::refusal::{Result, not_here};
use super::super::resolve::Scope;
use super::from::aliased;
use super::order::{order_of_result, rows_of_limit, sorted};
use super::select::Selection;
use crate::aggregate::tables::Tables;
use polars::prelude::{IntoLazy as _, LazyFrame};
use sqlparser::ast::{Expr, LimitClause, OrderBy, Query, Select, SetExpr};
use std::collections::HashMap;

/// Plans queries over tables.
pub(in crate::aggregate::dialect) struct Planner<'p> {
    pub(in crate::aggregate::dialect) tables: &'p dyn Tables,
    pub(in crate::aggregate::dialect) ids: Ids,
}

/// The queries with a name around a query, the innermost last.
pub(super) type Named = Vec<(String, Rows)>;

impl Planner<'_> {
    /// The rows of a query.
    pub(in crate::aggregate::dialect) fn query(&self, query: &Query, named: &Named) -> Result<Rows> {
        if query.fetch.is_some()
            || !query.locks.is_empty()
            || query.for_clause.is_some()
            || query.settings.is_some()
            || query.format_clause.is_some()
            || !query.pipe_operators.is_empty()
        {
            return not_here("such a query");
        }
        let mut named = named.clone();
        self.name_queries(query, &mut named)?;
        let mut rows = match &*query.body {
            SetExpr::Select(select) => self.select(select, query.order_by.as_ref(), &named)?,
            body => {
                let mut rows = self.body(body, &named)?;
                if let Some(order) = &query.order_by {
                    rows.frame = sorted(rows.frame, &order_of_result(&rows.columns, order)?);
                }
                rows
            }
        };
        if let Some(limit) = &query.limit_clause {
            rows.frame = self.limited(rows.frame, limit)?;
        }
        rows.frame = rows.frame.select(unique(&rows.columns));
        rows.filings.clear();
        name_once(&mut rows.columns);
        Ok(rows)
    }

    /// Adds the queries of `WITH`.
    pub(super) fn name_queries(&self, query: &Query, named: &mut Named) -> Result<()> {
        let Some(with) = &query.with else { return Ok(()) };
        if with.recursive {
            return not_here("WITH RECURSIVE");
        }
        for table in &with.cte_tables {
            let rows = self.query(&table.query, named)?;
            let rows = aliased(rows, "", Some(&table.alias), &self.ids)?;
            named.push((table.alias.name.value.clone(), rows));
        }
        Ok(())
    }

    fn limited(&self, frame: LazyFrame, limit: &LimitClause) -> Result<LazyFrame> {
        let LimitClause::LimitOffset { limit, offset, limit_by } = limit else { return not_here(limit) };
        if !limit_by.is_empty() {
            return not_here("LIMIT BY");
        }
        let answers = HashMap::new();
        let scope = Scope::of(&[], &answers);
        let rows = |expr: Option<&Expr>| match expr {
            Some(expr) => rows_of_limit(&scope.node(expr)?),
            None => Ok(None),
        };
        let count = rows(limit.as_ref())?;
        let offset = rows(offset.as_ref().map(|offset| &offset.value))?.unwrap_or(0);
        Ok(frame.slice(offset.into(), count.unwrap_or(u32::MAX - offset)))
    }

    fn body(&self, body: &SetExpr, named: &Named) -> Result<Rows> {
        match body {
            SetExpr::Select(select) => {
                let rows = self.select(select, None, named)?;
                Ok(Rows { frame: rows.frame.clone().select(unique(&rows.columns)), ..rows })
            }
            SetExpr::Query(query) => self.query(query, named),
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                let (left, right) = (self.body(left, named)?, self.body(right, named)?);
                self.operation(left, right, *op, *set_quantifier)
            }
            _ => not_here("such a query"),
        }
    }

    fn select(&self, select: &Select, order: Option<&OrderBy>, named: &Named) -> Result<Rows> {
        let mut sources = self.sources(&select.from, named)?;
        if sources.is_empty() {
            sources.push(Rows::new(one_row().lazy(), Vec::new()));
        }
        let columns = columns_of(&sources);
        let mut answers = self.answers(select, &columns, named)?;
        if let Some(order) = order {
            answers.extend(self.answers(order, &columns, named)?);
        }
        Selection { select, sources, columns, answers, order, ids: &self.ids }.rows()
    }
}

/// Columns of one name get numbers, as `DuckDB` gives them.
fn name_once(columns: &mut [Column]) {
    for at in 1..columns.len() {
        let name = columns[at].name.clone();
        let is_taken = |name: &str| columns[..at].iter().any(|column| is_same(&column.name, name));
        let mut named = name.clone();
        let mut number = 0;
        while is_taken(&named) {
            number += 1;
            named = format!("{name}_{number}");
        }
        columns[at].name = named;
    }
}
