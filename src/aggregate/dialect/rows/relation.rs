//! What a query reads: tables, views, queries with a name, subqueries.

use super::super::coerce::cast_as;
use super::super::names::{Column, Rows, is_same};
use super::super::node::{Id, Node};
use super::super::refusal::{Result, no_table, not_here, wrong};
use super::super::value::Kind;
use super::from::{aliased, joined};
use super::query::{Named, Planner};
use crate::aggregate::tables::have_no_rows;
use crate::table::VIEWS;
use polars::prelude::{LazyFrame, col};
use sqlparser::ast::{Join, JoinConstraint, JoinOperator, TableFactor, TableWithJoins};
use std::path::PathBuf;

impl Planner<'_> {
    /// The tables of the items of `FROM`, joined where it says how.
    pub(super) fn sources(&self, items: &[TableWithJoins], named: &Named) -> Result<Vec<Rows>> {
        let is_cross =
            |join: &Join| matches!(join.join_operator, JoinOperator::CrossJoin(JoinConstraint::None));
        let mut all = Vec::new();
        for item in items {
            let crossed = item.joins.iter().rev().take_while(|join| is_cross(join)).count();
            let (joins, crossed) = item.joins.split_at(item.joins.len() - crossed);
            let mut rows = self.factor(&item.relation, named)?;
            for join in joins {
                let right = self.factor(&join.relation, named)?;
                let columns: Vec<Column> = rows.columns.iter().chain(&right.columns).cloned().collect();
                let answers = self.answers(&join.join_operator, &columns, named)?;
                rows = joined(rows, right, join, &answers, &self.ids)?;
            }
            all.push(rows);
            for join in crossed {
                all.push(self.factor(&join.relation, named)?);
            }
        }
        Ok(all)
    }

    fn factor(&self, factor: &TableFactor, named: &Named) -> Result<Rows> {
        match factor {
            TableFactor::Table { name, alias, args: None, sample: None, version: None, .. } => {
                let parts: Vec<String> =
                    name.0.iter().map(|part| part.to_string().trim_matches('"').to_owned()).collect();
                let [name] = &parts[..] else {
                    return wrong(
                        format!("{name} has more than one name"),
                        "a table has no name before its own: FROM filings",
                    );
                };
                aliased(self.table(name.trim_matches('\''), named)?, name, alias.as_ref(), &self.ids)
            }
            TableFactor::Derived { lateral: false, subquery, alias, sample: None } => {
                let rows = self.query(subquery, named)?;
                aliased(rows, "", alias.as_ref(), &self.ids)
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                let mut all = self.sources(std::slice::from_ref(table_with_joins), named)?;
                match all.len() {
                    1 => Ok(all.remove(0)),
                    _ => not_here("CROSS JOIN in brackets"),
                }
            }
            _ => not_here("such a table in FROM"),
        }
    }

    fn table(&self, name: &str, named: &Named) -> Result<Rows> {
        if let Some((_, rows)) = named.iter().rev().find(|(known, _)| is_same(known, name)) {
            return Ok(rows.clone());
        }
        if let Some(rows) = self.tables.rows(&name.to_lowercase()) {
            let (mut frame, files) = rows?;
            return of_table(&mut frame, &name.to_lowercase(), files);
        }
        let view = VIEWS.iter().find(|view| is_same(view.name, name));
        let is_here = |table: &&str| self.tables.rows(table).is_some();
        let Some(view) = view.filter(|view| view.tables.iter().all(is_here)) else {
            let views = VIEWS.iter().map(|view| view.name);
            return no_table(name, &views.chain(self.tables.names()).collect::<Vec<_>>());
        };
        self.query(&super::super::statement::parsed(view.sql)?, &Named::new())
    }
}

/// A table of files: its columns in the types of SQL, and the month of filings, which is only in their path.
fn of_table(frame: &mut LazyFrame, name: &str, files: Vec<PathBuf>) -> Result<Rows> {
    let mut columns = Vec::new();
    let mut steps = Vec::new();
    for (column, dtype) in frame.collect_schema()?.iter() {
        let Some(kind) = Kind::of(dtype) else { continue };
        if *dtype != kind.in_polars() {
            steps.push(col(column.clone()).cast(kind.in_polars()));
        }
        columns.push(Column::new(column.to_string(), column.clone(), kind));
    }
    let is_filings = name == "filings";
    if is_filings && let Some(day) = columns.iter().find(|column| column.name == "filed_date").cloned() {
        let text = cast_as(day.node(), Kind::Text, 64, false)?;
        let month = super::super::calls::scalar("substr", vec![text, Node::int(1), Node::int(7)])?;
        let id = Id::from_static("filed_month");
        steps.push(month.in_polars().alias(id.clone()));
        columns.push(Column { name: id.to_string(), id, kind: Kind::Text, ..day });
    }
    let frame = frame.clone().with_columns(steps);
    let are_none = !files.is_empty() && have_no_rows(&files)?;
    let filings = if is_filings { files } else { Vec::new() };
    Ok(Rows { are_none, filings, ..Rows::new(frame, columns) })
}
