//! One `SELECT`: conditions, groups, windows, the columns of the result, their order.

use super::super::names::{Column, Ids, Rows, find, is_same, unique};
use super::super::node::{Node, Order};
use super::super::refusal::{Result, not_here, unknown, wrong};
use super::super::resolve::{Answer, Scope, order_of};
use super::from::{all_joined, conjuncts, filtered};
use super::group::{grouped, plain_count, windowed};
use super::order::{at_place, orders, ordinal, sorted};
use super::title::title;
use polars::prelude::UniqueKeepStrategy;
use sqlparser::ast::{
    Distinct, ExcludeSelectItem, Expr, GroupByExpr, Ident, OrderBy, Select, SelectItem,
    SelectItemQualifiedWildcardKind, WildcardAdditionalOptions,
};
use std::collections::HashMap;

/// A `SELECT` with what is known before: its tables and the answers of its subqueries.
pub(super) struct Selection<'s> {
    pub(super) select: &'s Select,
    pub(super) sources: Vec<Rows>,
    /// The columns of all sources.
    pub(super) columns: Vec<Column>,
    pub(super) answers: HashMap<Expr, Answer>,
    pub(super) order: Option<&'s OrderBy>,
    pub(super) ids: &'s Ids,
}

/// Names and values of a result.
type Outputs = Vec<(String, Node)>;

/// Where the name of a column of the result is from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Alias,
    /// A column that is selected with its table: `f.county`, `f.*`.
    WithTable,
    Otherwise,
}

/// The clauses of a `SELECT`, over its columns.
struct Clauses {
    /// Names and values of the result.
    outputs: Outputs,
    /// None without groups.
    keys: Option<Vec<Node>>,
    having: Option<Node>,
    qualify: Option<Node>,
    order: Vec<Order>,
}

impl Selection<'_> {
    fn scope<'a>(&'a self, aliases: &'a [(String, Node)]) -> Scope<'a> {
        let windows = &self.select.named_window;
        Scope { aliases, windows, ..Scope::of(&self.columns, &self.answers) }
    }

    /// The rows, in order.
    pub(super) fn rows(mut self) -> Result<Rows> {
        self.refuse_other_clauses()?;
        let (outputs, origins) = self.outputs()?;
        let conditions = match &self.select.selection {
            Some(condition) => conjuncts(self.scope(&outputs).condition(condition)?),
            None => Vec::new(),
        };
        if conditions.iter().any(|node| node.has_reduce() || node.has_window()) {
            return wrong(
                "WHERE is about one row",
                "put a condition on a count in HAVING, on a window in QUALIFY",
            );
        }
        let mut clauses = self.clauses(outputs, &origins)?;
        let (rows, conditions) = all_joined(std::mem::take(&mut self.sources), conditions, self.ids)?;
        let rows = self.groups(rows, conditions, &mut clauses)?;
        let rows = filtered(rows, clauses.having.take());
        let rows = windowed(rows, clauses.nodes(), self.ids)?;
        let rows = filtered(rows, clauses.qualify.take());
        self.result(rows, clauses)
    }

    /// The rows of which the conditions hold, in groups if the query has some.
    fn groups(&self, rows: Rows, conditions: Vec<Node>, clauses: &mut Clauses) -> Result<Rows> {
        let Some(keys) = clauses.keys.take() else { return Ok(filtered(rows, conditions)) };
        if clauses.having.is_none()
            && let Some(counted) = plain_count(&rows, &conditions, &keys, clauses.nodes())?
        {
            return Ok(counted);
        }
        grouped(filtered(rows, conditions), &keys, clauses.nodes(), self.ids)
    }

    fn refuse_other_clauses(&self) -> Result<()> {
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

    /// The names and values of the result, and where the names are from.
    fn outputs(&self) -> Result<(Outputs, Vec<Origin>)> {
        let mut outputs: Outputs = Vec::new();
        let mut origins = Vec::new();
        // `FROM filings` alone.
        if self.select.projection.is_empty() {
            outputs.extend(self.stars(None, &WildcardAdditionalOptions::default())?);
        }
        for item in &self.select.projection {
            let (expr, name) = match item {
                SelectItem::UnnamedExpr(expr) => (expr, None),
                SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias.value.clone())),
                SelectItem::Wildcard(options) => {
                    outputs.extend(self.stars(None, options)?);
                    origins.resize(outputs.len(), Origin::Otherwise);
                    continue;
                }
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(table),
                    options,
                ) => {
                    outputs.extend(self.stars(Some(table.to_string().trim_matches('"')), options)?);
                    origins.resize(outputs.len(), Origin::WithTable);
                    continue;
                }
                other => return not_here(other),
            };
            let node = self.scope(&outputs).node(expr)?;
            let (name, from) = match (name, expr) {
                (Some(name), _) => (name, Origin::Alias),
                (None, Expr::Identifier(name)) => {
                    (self.named_as(std::slice::from_ref(name))?, Origin::Otherwise)
                }
                (None, Expr::CompoundIdentifier(names)) => (self.named_as(names)?, Origin::WithTable),
                (None, expr) => (title(expr), Origin::Otherwise),
            };
            outputs.push((name, node));
            origins.push(from);
        }
        Ok((outputs, origins))
    }

    fn clauses(&self, outputs: Outputs, origins: &[Origin]) -> Result<Clauses> {
        let scope = self.scope(&outputs);
        let by_alias = |expr: &Option<Expr>| expr.as_ref().map(|expr| scope.condition(expr)).transpose();
        let (having, qualify) = (by_alias(&self.select.having)?, by_alias(&self.select.qualify)?);
        let order = self.order_by(&outputs, origins)?;
        let all = || outputs.iter().map(|(_, node)| node).chain(order.iter().map(|order| &order.by));
        let has_reduce = all().chain(&qualify).any(Node::has_reduce);
        let keys = self.keys(&outputs)?;
        let is_grouped = !keys.is_empty() || has_reduce || having.is_some();
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
        Ok(Clauses { outputs, keys: is_grouped.then_some(keys), having, qualify, order })
    }

    /// What is grouped by: with `ALL`, every output that depends on the row.
    fn keys(&self, outputs: &[(String, Node)]) -> Result<Vec<Node>> {
        let by = &self.select.group_by;
        let (GroupByExpr::All(others) | GroupByExpr::Expressions(_, others)) = by;
        if !others.is_empty() {
            return not_here("such a GROUP BY");
        }
        let scope = self.scope(outputs);
        let key = |expr: &Expr| match ordinal(expr) {
            Some(at) => at_place(outputs, at, "GROUP BY"),
            None => scope.node(expr),
        };
        let keys: Vec<Node> = match by {
            GroupByExpr::Expressions(exprs, _) => exprs.iter().map(key).collect::<Result<_>>()?,
            GroupByExpr::All(_) => {
                let is_key = |node: &&Node| !node.has_reduce() && !matches!(node, Node::Literal(..));
                outputs.iter().map(|(_, node)| node).filter(is_key).cloned().collect()
            }
        };
        if keys.iter().any(|key| key.has_reduce() || key.has_window()) {
            return wrong("GROUP BY is about one row", "group by a column, and count in a subquery");
        }
        Ok(keys)
    }

    fn order_by(&self, outputs: &[(String, Node)], origins: &[Origin]) -> Result<Vec<Order>> {
        let Some(order) = self.order else { return Ok(Vec::new()) };
        if order.interpolate.is_some() {
            return not_here(order);
        }
        let names = names_of_order(outputs, origins);
        orders(order, outputs.iter().map(|(_, node)| node.clone()), |by| match ordinal(&by.expr) {
            Some(at) => Ok(order_of(at_place(outputs, at, "ORDER BY")?, &by.options)),
            // Inside of an expression a column of the tables comes before an alias.
            None => Scope { are_aliases_first: is_name(&by.expr), ..self.scope(&names) }.order(by),
        })
    }

    fn named_as(&self, name: &[Ident]) -> Result<String> {
        let written = name.last().map(|name| name.value.clone()).unwrap_or_default();
        Ok(find(&self.columns, name)?.map_or(written, |column| column.name.clone()))
    }

    /// The columns of a `*`.
    fn stars(&self, table: Option<&str>, options: &WildcardAdditionalOptions) -> Result<Outputs> {
        let is_of = |column: &&Column| column.is_of(table);
        let without = without(options)?;
        if let Some(table) = table
            && !self.columns.iter().any(|column| is_of(&column))
        {
            let tables: Vec<&str> = self.columns.iter().map(|column| column.table.as_str()).collect();
            return unknown("table", table, &tables);
        }
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let is_known = |wrong: &&String| names.iter().any(|name| is_same(name, wrong));
        if let Some(wrong) = without.iter().find(|name| !is_known(name)) {
            return unknown("column", wrong, &names);
        }
        let is_left = |column: &&Column| !without.iter().any(|name| is_same(name, &column.name));
        let left = self.columns.iter().filter(is_of).filter(is_left);
        Ok(left.map(|column| (column.name.clone(), column.node())).collect())
    }

    /// The columns of the result, in order.
    fn result(&self, rows: Rows, clauses: Clauses) -> Result<Rows> {
        let mut steps = Vec::new();
        let mut columns = Vec::new();
        for (name, node) in &clauses.outputs {
            let id = self.ids.of(node, &mut steps);
            columns.push(Column::new(name.clone(), id, node.kind()));
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

/// The columns of the result that `ORDER BY` may name, the last first: those with an alias, and those of tables whose name no other has.
fn names_of_order(outputs: &[(String, Node)], origins: &[Origin]) -> Outputs {
    let of = |wanted: Origin| {
        outputs.iter().zip(origins).filter(move |(_, from)| **from == wanted).map(|(output, _)| output)
    };
    let is_single = |(name, _): &&(String, Node)| {
        of(Origin::WithTable).filter(|(other, _)| is_same(other, name)).count() == 1
    };
    of(Origin::WithTable).filter(is_single).chain(of(Origin::Alias)).cloned().collect()
}

/// Whether an expression is a name alone.
fn is_name(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_name(inner),
        expr => matches!(expr, Expr::Identifier(_)),
    }
}

/// Whether a `SELECT` has a `GROUP BY`.
pub(super) fn has_groups(select: &Select) -> bool {
    !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty())
}

/// The columns that a `*` leaves out.
fn without(options: &WildcardAdditionalOptions) -> Result<Vec<String>> {
    if options.opt_ilike.is_some() || options.opt_replace.is_some() || options.opt_rename.is_some() {
        return not_here(options);
    }
    let excluded = match &options.opt_exclude {
        Some(ExcludeSelectItem::Single(name)) => std::slice::from_ref(name),
        Some(ExcludeSelectItem::Multiple(names)) => names,
        None => &[],
    };
    let mut without: Vec<String> =
        excluded.iter().map(|name| name.to_string().trim_matches('"').to_owned()).collect();
    if let Some(except) = &options.opt_except {
        let names = std::iter::once(&except.first_element).chain(&except.additional_elements);
        without.extend(names.map(|name| name.value.clone()));
    }
    Ok(without)
}
