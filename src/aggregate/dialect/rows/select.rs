//! One `SELECT`: conditions, groups, windows, the columns of the result, their order.

use super::super::names::{Column, Ids, Rows, find, unique};
use super::super::node::{Node, Order};
use super::super::refusal::{Planned, not_here, wrong};
use super::super::resolve::{Answer, Scope, order_of};
use super::from::{conjuncts, filtered, matched, starred};
use super::group::{grouped, plain_count, windowed};
use super::order::{at_place, orders, ordinal, sorted};
use super::title::title;
use polars::prelude::{JoinType, UniqueKeepStrategy};
use sqlparser::ast::{
    Distinct, ExcludeSelectItem, Expr, GroupByExpr, OrderBy, Select, SelectItem,
    SelectItemQualifiedWildcardKind, WildcardAdditionalOptions,
};
use std::collections::HashMap;

/// A `SELECT` with what is known before: its tables and the answers of its subqueries.
pub(super) struct Selection<'s> {
    pub(super) select: &'s Select,
    pub(super) sources: Vec<Rows>,
    pub(super) outer: &'s [Column],
    pub(super) answers: &'s HashMap<Expr, Answer>,
    pub(super) order: Option<&'s OrderBy>,
    pub(super) ids: &'s Ids,
}

/// The clauses of a `SELECT`, over its columns.
struct Clauses {
    /// Names and values of the result.
    outputs: Vec<(String, Node)>,
    keys: Vec<Node>,
    having: Option<Node>,
    qualify: Option<Node>,
    order: Vec<Order>,
    is_grouped: bool,
}

impl Selection<'_> {
    fn scope<'a>(&'a self, columns: &'a [Column], aliases: &'a [(String, Node)]) -> Scope<'a> {
        let windows = &self.select.named_window;
        Scope { outer: self.outer, aliases, windows, ..Scope::of(columns, self.answers) }
    }

    /// The rows, in order.
    pub(super) fn rows(mut self) -> Planned<Rows> {
        self.refuse_other_clauses()?;
        let columns: Vec<Column> = self.sources.iter().flat_map(|rows| rows.columns.clone()).collect();
        let outputs = self.outputs(&columns)?;
        let conditions = match &self.select.selection {
            Some(condition) => conjuncts(self.scope(&columns, &outputs).condition(condition)?),
            None => Vec::new(),
        };
        if conditions.iter().any(|node| node.has_reduce() || node.has_window()) {
            return wrong(
                "WHERE is about one row",
                "put a condition on a count in HAVING, on a window in QUALIFY",
            );
        }
        let mut clauses = self.clauses(&columns, outputs)?;
        let (rows, conditions) = self.source(conditions)?;
        let mut rows = self.groups(rows, conditions, &mut clauses)?;
        if let Some(having) = clauses.having.take() {
            rows = filtered(rows, vec![having]);
        }
        rows = windowed(rows, clauses.nodes(), self.ids)?;
        if let Some(qualify) = clauses.qualify.take() {
            rows = filtered(rows, vec![qualify]);
        }
        self.result(rows, clauses)
    }

    /// The tables joined, and the conditions that are left.
    fn source(&mut self, mut conditions: Vec<Node>) -> Planned<(Rows, Vec<Node>)> {
        let mut sources = std::mem::take(&mut self.sources).into_iter();
        let Some(mut rows) = sources.next() else {
            return wrong("nothing is selected from", "such as: FROM filings");
        };
        for right in sources {
            let is_here = |node: &Node| node.reads_only(|id| rows.has(id) || right.has(id));
            let (on, later) = conditions.into_iter().partition(is_here);
            conditions = later;
            rows = matched(rows, right, JoinType::Inner, on, self.ids)?;
        }
        Ok((rows, conditions))
    }

    /// The rows of which the conditions hold, in groups if the query has some.
    fn groups(&self, rows: Rows, conditions: Vec<Node>, clauses: &mut Clauses) -> Planned<Rows> {
        if !clauses.is_grouped {
            return Ok(filtered(rows, conditions));
        }
        let keys = std::mem::take(&mut clauses.keys);
        if clauses.having.is_none()
            && let Some(counted) = plain_count(&rows, &conditions, &keys, clauses.nodes())?
        {
            return Ok(counted);
        }
        grouped(filtered(rows, conditions), &keys, clauses.nodes(), self.ids)
    }

    fn refuse_other_clauses(&self) -> Planned<()> {
        let select = self.select;
        if select.top.is_some() {
            return wrong("TOP is no part of a query here", "write LIMIT at its end: LIMIT 10");
        }
        let is_other = select.into.is_some()
            || !select.lateral_views.is_empty()
            || select.prewhere.is_some()
            || !select.connect_by.is_empty()
            || !select.cluster_by.is_empty()
            || !select.distribute_by.is_empty()
            || !select.sort_by.is_empty()
            || select.exclude.is_some()
            || select.value_table_mode.is_some()
            || matches!(select.distinct, Some(Distinct::On(_)));
        if is_other { not_here("such a SELECT") } else { Ok(()) }
    }

    fn outputs(&self, columns: &[Column]) -> Planned<Vec<(String, Node)>> {
        let mut outputs: Vec<(String, Node)> = Vec::new();
        // `FROM filings` alone.
        if self.select.projection.is_empty() {
            outputs.extend(columns.iter().map(|column| (column.name.clone(), column.node())));
        }
        for item in &self.select.projection {
            let (expr, name) = match item {
                SelectItem::UnnamedExpr(expr) => (expr, None),
                SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias.value.clone())),
                SelectItem::Wildcard(options) => {
                    outputs.extend(stars(columns, None, options)?);
                    continue;
                }
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(table),
                    options,
                ) => {
                    outputs.extend(stars(columns, Some(table.to_string().trim_matches('"')), options)?);
                    continue;
                }
                other => return not_here(other),
            };
            let node = self.scope(columns, &outputs).node(expr)?;
            let name = match (name, expr) {
                (Some(name), _) => name,
                (None, Expr::Identifier(_) | Expr::CompoundIdentifier(_)) => named_as(columns, expr)?,
                (None, expr) => title(expr),
            };
            outputs.push((name, node));
        }
        Ok(outputs)
    }

    fn clauses(&self, columns: &[Column], outputs: Vec<(String, Node)>) -> Planned<Clauses> {
        let scope = self.scope(columns, &outputs);
        let by_alias = |expr: &Option<Expr>| expr.as_ref().map(|expr| scope.condition(expr)).transpose();
        let (having, qualify) = (by_alias(&self.select.having)?, by_alias(&self.select.qualify)?);
        let order = self.order_by(columns, &outputs)?;
        let all = || outputs.iter().map(|(_, node)| node).chain(order.iter().map(|order| &order.by));
        let has_reduce = all().chain(&qualify).any(Node::has_reduce);
        let (keys, has_keys) = self.keys(columns, &outputs)?;
        let is_grouped = has_keys || has_reduce || having.is_some();
        if self.select.distinct.is_some()
            && order.iter().any(|order| !outputs.iter().any(|(_, node)| *node == order.by))
        {
            return wrong(
                "DISTINCT is sorted by what is not selected",
                "select it too, or sort by a selected column",
            );
        }
        let keys = keys.into_iter().fold(Vec::new(), |mut keys: Vec<Node>, key| {
            if !keys.contains(&key) {
                keys.push(key);
            }
            keys
        });
        Ok(Clauses { outputs, keys, having, qualify, order, is_grouped })
    }

    /// What is grouped by, and whether anything is.
    fn keys(&self, columns: &[Column], outputs: &[(String, Node)]) -> Planned<(Vec<Node>, bool)> {
        let (exprs, others) = match &self.select.group_by {
            GroupByExpr::All(others) => {
                let keys = outputs.iter().map(|(_, node)| node).filter(|node| !node.has_reduce()).cloned();
                return if others.is_empty() {
                    Ok((keys.collect(), true))
                } else {
                    not_here("such a GROUP BY")
                };
            }
            GroupByExpr::Expressions(exprs, others) => (exprs, others),
        };
        if !others.is_empty() {
            return not_here("such a GROUP BY");
        }
        let scope = self.scope(columns, outputs);
        let key = |expr: &Expr| match ordinal(expr) {
            Some(at) => at_place(outputs, at, "GROUP BY"),
            None => scope.node(expr),
        };
        let keys: Vec<Node> = exprs.iter().map(key).collect::<Planned<_>>()?;
        if keys.iter().any(|key| key.has_reduce() || key.has_window()) {
            return wrong("GROUP BY is about one row", "group by a column, and count in a subquery");
        }
        Ok((keys, !exprs.is_empty()))
    }

    fn order_by(&self, columns: &[Column], outputs: &[(String, Node)]) -> Planned<Vec<Order>> {
        let Some(order) = self.order else { return Ok(Vec::new()) };
        if order.interpolate.is_some() {
            return not_here(order);
        }
        let scope = Scope { are_aliases_first: true, ..self.scope(columns, outputs) };
        orders(order, outputs.iter().map(|(_, node)| node.clone()), |by| match ordinal(&by.expr) {
            Some(at) => Ok(order_of(at_place(outputs, at, "ORDER BY")?, &by.options)),
            None => scope.order(by),
        })
    }

    /// The columns of the result, in order.
    fn result(&self, rows: Rows, clauses: Clauses) -> Planned<Rows> {
        let mut steps = Vec::new();
        let mut columns = Vec::new();
        for (name, node) in &clauses.outputs {
            let id = self.ids.of(node, &mut steps);
            columns.push(Column { table: String::new(), name: name.clone(), id, kind: node.kind() });
        }
        let placed = |node: &Node| clauses.outputs.iter().position(|(_, output)| output == node);
        let mut order = clauses.order;
        order.retain(|order| !matches!(order.by, Node::Literal(..)));
        for order in &mut order {
            order.by = match placed(&order.by) {
                Some(at) => columns[at].node(),
                None => self.ids.column(&order.by, &mut steps),
            };
        }
        let mut frame = rows.frame.with_columns(steps);
        if let Some(Distinct::Distinct) = self.select.distinct {
            frame = frame.select(unique(&columns)).unique_stable_generic(None, UniqueKeepStrategy::First);
        }
        Ok(Rows::new(sorted(frame, &order), columns))
    }
}

impl Clauses {
    /// Everything that is computed, to be changed.
    fn nodes(&mut self) -> Vec<&mut Node> {
        let outputs = self.outputs.iter_mut().map(|(_, node)| node);
        let order = self.order.iter_mut().map(|order| &mut order.by);
        outputs.chain(order).chain(&mut self.having).chain(&mut self.qualify).collect()
    }
}

fn named_as(columns: &[Column], expr: &Expr) -> Planned<String> {
    let name = match expr {
        Expr::Identifier(name) => std::slice::from_ref(name),
        Expr::CompoundIdentifier(names) => names,
        _ => &[],
    };
    let written = name.last().map(|name| name.value.clone()).unwrap_or_default();
    Ok(find(columns, name)?.map_or(written, |column| column.name.clone()))
}

fn stars(
    columns: &[Column],
    table: Option<&str>,
    options: &WildcardAdditionalOptions,
) -> Planned<Vec<(String, Node)>> {
    if options.opt_ilike.is_some() || options.opt_replace.is_some() || options.opt_rename.is_some() {
        return not_here(options);
    }
    let plain = |name: String| name.trim_matches('"').to_owned();
    let mut without = match &options.opt_exclude {
        Some(ExcludeSelectItem::Single(name)) => vec![plain(name.to_string())],
        Some(ExcludeSelectItem::Multiple(names)) => {
            names.iter().map(|name| plain(name.to_string())).collect()
        }
        None => Vec::new(),
    };
    if let Some(except) = &options.opt_except {
        let names = std::iter::once(&except.first_element).chain(&except.additional_elements);
        without.extend(names.map(|name| name.value.clone()));
    }
    let columns = starred(columns, table, &without)?;
    Ok(columns.into_iter().map(|column| (column.name.clone(), column.node())).collect())
}
