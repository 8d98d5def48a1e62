//! The rows that a query reads: tables, views, subqueries, and their joins.

use super::super::calls::scalar;
use super::super::coerce::call;
use super::super::functions as f;
use super::super::names::{Column, Ids, Key, Rows, find, no_column, once, unique};
use super::super::node::{Id, Node};
use super::super::refusal::{Result, not_here, wrong};
use super::super::resolve::{Answer, Scope};
use super::super::value::Cell;
use super::order::{in_order, orders_kept};
use polars::prelude::{DataFrame, IntoLazy as _, JoinType, LazyFrame, UnionArgs, col, concat};
use sqlparser::ast::{Expr, Ident, Join, JoinConstraint, JoinOperator};
use std::collections::HashMap;

/// The parts of a condition, all of which must hold.
pub(super) fn conjuncts(of: Node) -> Vec<Node> {
    match of {
        Node::Call(function, parts, _) if std::ptr::eq(function, &f::AND) => {
            parts.into_iter().flat_map(conjuncts).collect()
        }
        of => vec![of],
    }
}

/// Rows of which every condition holds.
pub(super) fn filtered(mut rows: Rows, conditions: impl IntoIterator<Item = Node>) -> Rows {
    for condition in conditions {
        if condition == Node::bool(true) {
            continue;
        }
        rows.filings.clear();
        rows.frame = match &condition {
            // Not true of any row.
            Node::Literal(..) => rows.frame.limit(0),
            _ => rows.frame.filter(condition.in_polars()),
        };
    }
    rows
}

/// All tables of a `FROM`, joined on the conditions that are about them; and the other conditions. A `SELECT` without tables has one row in
/// their place, an `EXISTS` nothing.
pub(super) fn all_joined(
    sources: Vec<Rows>,
    mut conditions: Vec<Node>,
    ids: &Ids,
) -> Result<(Rows, Vec<Node>)> {
    let mut sources = sources.into_iter();
    let Some(mut rows) = sources.next() else { return not_here("EXISTS without FROM") };
    for right in sources {
        let is_here = |node: &Node| node.reads_only(|id| rows.has(id) || right.has(id));
        let (on, later) = conditions.into_iter().partition(is_here);
        conditions = later;
        rows = matched(rows, right, JoinType::Inner, on, ids)?;
    }
    Ok((rows, conditions))
}

/// Plans a join. `ids` names its columns.
pub(super) fn joined(
    left: Rows,
    right: Rows,
    join: &Join,
    answers: &HashMap<Expr, Answer>,
    ids: &Ids,
) -> Result<Rows> {
    use JoinOperator as J;
    let (how, constraint) = match &join.join_operator {
        J::Join(on) | J::Inner(on) => (JoinType::Inner, on),
        J::Left(on) | J::LeftOuter(on) => (JoinType::Left, on),
        J::Right(on) | J::RightOuter(on) => (JoinType::Right, on),
        J::FullOuter(on) => (JoinType::Full, on),
        J::Semi(on) | J::LeftSemi(on) => (JoinType::Semi, on),
        J::Anti(on) | J::LeftAnti(on) => (JoinType::Anti, on),
        J::CrossJoin(JoinConstraint::None) => (JoinType::Inner, &JoinConstraint::None),
        _ => return not_here("such a join"),
    };
    let is_cross = matches!(join.join_operator, J::CrossJoin(_));
    match constraint {
        JoinConstraint::On(on) => {
            let columns: Vec<Column> = left.columns.iter().chain(&right.columns).cloned().collect();
            let on = conjuncts(Scope::of(&columns, answers).condition(on)?);
            matched(left, right, how, on, ids)
        }
        JoinConstraint::Using(names) => using(left, right, how, names, ids),
        JoinConstraint::None if is_cross => matched(left, right, how, Vec::new(), ids),
        JoinConstraint::None => {
            wrong("a join has no ON", "such as: JOIN days d ON d.filed_date = f.filed_date")
        }
        JoinConstraint::Natural => wrong("NATURAL JOIN is not run", "name the columns: USING (business_id)"),
    }
}

/// A join on columns of one name. The name alone is the column of both, which is the left one, or the right one in a RIGHT JOIN, or the
/// one of them that is not NULL in a FULL JOIN.
fn using(
    left: Rows,
    right: Rows,
    how: JoinType,
    names: &[sqlparser::ast::ObjectName],
    ids: &Ids,
) -> Result<Rows> {
    let mut on = Vec::new();
    let mut merged = Vec::new();
    for name in names {
        let ident = [Ident::new(name.to_string().trim_matches('"'))];
        let side = |rows: &Rows| match find(&rows.columns, &ident)? {
            Some(column) => Ok(column.clone()),
            None => no_column(&rows.columns, &ident),
        };
        let (one, other) = (side(&left)?, side(&right)?);
        on.push(call(&f::EQ, vec![one.node(), other.node()])?);
        merged.push((one, other));
    }
    let mut rows = matched(left, right, how.clone(), on, ids)?;
    if is_of_left(&how) {
        return Ok(rows);
    }
    let mut steps = Vec::new();
    for (one, other) in merged {
        let node = match how {
            JoinType::Right => other.node(),
            JoinType::Full => scalar("coalesce", vec![one.node(), other.node()])?,
            _ => one.node(),
        };
        let id = ids.of(&node, &mut steps);
        let both = Column { id, kind: node.kind(), key: Key::Merged, ..one.clone() };
        rows.columns = with_key(rows.columns, [&one, &other], &both);
    }
    rows.frame = rows.frame.with_columns(steps);
    Ok(rows)
}

/// The columns with one of both sides in the place of the left one. Of the sides only their tables' columns are left.
fn with_key(columns: Vec<Column>, [one, other]: [&Column; 2], both: &Column) -> Vec<Column> {
    let mut all = Vec::with_capacity(columns.len() + 1);
    for column in columns {
        let is = |side: &Column| (&column.id, column.key) == (&side.id, side.key);
        if is(one) {
            all.push(both.clone());
        }
        if !is(one) && !is(other) {
            all.push(column);
        } else if column.key == Key::No {
            all.push(Column { key: Key::OfTable, ..column });
        }
    }
    all
}

/// The two sides of an equation, one of the left and one of the right; none if it is no such equation.
pub(super) fn sides(
    condition: &Node,
    is_left: impl Fn(&Node) -> bool,
    is_right: impl Fn(&Node) -> bool,
) -> Option<(Node, Node)> {
    let Node::Call(function, parts, _) = condition else { return None };
    match &parts[..] {
        _ if !std::ptr::eq(*function, &f::EQ) => None,
        [one, other] if is_left(one) && is_right(other) => Some((one.clone(), other.clone())),
        [one, other] if is_left(other) && is_right(one) => Some((other.clone(), one.clone())),
        _ => None,
    }
}

/// Whether a join keeps rows of the left alone: those that have a match, or none.
fn is_of_left(how: &JoinType) -> bool {
    matches!(how, JoinType::Semi | JoinType::Anti)
}

/// Joins rows on conditions: equations of both sides are looked up, the others filter what was found.
fn matched(mut left: Rows, mut right: Rows, how: JoinType, on: Vec<Node>, ids: &Ids) -> Result<Rows> {
    let (mut equal, mut of_left, mut of_right, mut others) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for condition in on {
        let is_left = |node: &Node| node.reads_only(|id| left.has(id));
        let is_right = |node: &Node| node.reads_only(|id| right.has(id));
        match sides(&condition, is_left, is_right) {
            Some(sides) => equal.push(sides),
            None if is_right(&condition) => of_right.push(condition),
            None if is_left(&condition) => of_left.push(condition),
            None => others.push(condition),
        }
    }
    // A row that is kept without a match is kept whatever its own condition says.
    let keeps_left = matches!(how, JoinType::Left | JoinType::Full | JoinType::Anti);
    let keeps_right = matches!(how, JoinType::Right | JoinType::Full);
    for (of_side, rows, keeps) in [(of_left, &mut left, keeps_left), (of_right, &mut right, keeps_right)] {
        if keeps { others.extend(of_side) } else { *rows = filtered(rows.clone(), of_side) }
    }
    let left = with_keys(left, equal.iter().map(|(one, _)| one), ids);
    let right = with_keys(right, equal.iter().map(|(_, other)| other), ids);
    let mut columns = left.0.columns.clone();
    if !is_of_left(&how) {
        columns.extend(right.0.columns.iter().cloned());
    }
    let are_none = match how {
        JoinType::Inner => left.0.are_none || right.0.are_none,
        _ => left.0.are_none && right.0.are_none,
    };
    let frame = match (&how, others.is_empty()) {
        _ if are_none => return Ok(no_rows(columns)),
        (JoinType::Inner, _) => pairs(&left, &right, others),
        (_, true) if !equal.is_empty() => on_keys(&left.0.frame, &right.0.frame, (&left.1, &right.1), how),
        _ => by_pairs(left, right, how, others, ids)?,
    };
    Ok(Rows::new(frame.select(unique(&columns)), columns))
}

/// No rows with these columns: what would be read for them is not.
fn no_rows(columns: Vec<Column>) -> Rows {
    let schema = columns.iter().map(|column| (column.id.clone(), column.kind.in_polars()));
    let frame = DataFrame::empty_with_schema(&schema.collect()).lazy();
    Rows { are_none: true, ..Rows::new(frame, columns) }
}

/// Rows with their keys as columns.
type Keyed = (Rows, Vec<Id>);

fn with_keys<'k>(mut rows: Rows, keys: impl Iterator<Item = &'k Node>, ids: &Ids) -> Keyed {
    let (mut named, mut steps) = (Vec::new(), Vec::new());
    for key in keys {
        match key {
            Node::Column(id, _) if !named.contains(id) => named.push(id.clone()),
            key => {
                let id = ids.next();
                steps.push(key.in_polars().alias(id.clone()));
                named.push(id);
            }
        }
    }
    rows.frame = rows.frame.with_columns(steps);
    (rows, named)
}

fn on_keys(left: &LazyFrame, right: &LazyFrame, keys: (&[Id], &[Id]), how: JoinType) -> LazyFrame {
    let cols = |ids: &[Id]| ids.iter().map(|id| col(id.clone())).collect::<Vec<_>>();
    left.clone().join(right.clone(), cols(keys.0), cols(keys.1), in_order(how))
}

/// All pairs of rows that match.
fn pairs(left: &Keyed, right: &Keyed, others: Vec<Node>) -> LazyFrame {
    let frame = if left.1.is_empty() {
        left.0.frame.clone().cross_join(right.0.frame.clone(), None)
    } else {
        on_keys(&left.0.frame, &right.0.frame, (&left.1, &right.1), JoinType::Inner)
    };
    filtered(Rows::new(frame, Vec::new()), others).frame
}

/// A join that keeps rows without a match, on any condition: the pairs that match, and the rows that are in none.
fn by_pairs(left: Keyed, right: Keyed, how: JoinType, others: Vec<Node>, ids: &Ids) -> Result<LazyFrame> {
    let numbered = |(rows, keys): Keyed| -> Result<(Keyed, Id)> {
        let id = ids.next();
        // Read once, so that a number stays with its row.
        let frame = orders_kept(rows.frame.with_row_index(id.clone(), None)).collect()?.lazy();
        Ok(((Rows { frame, ..rows }, keys), id))
    };
    let ((left, of_left), (right, of_right)) = (numbered(left)?, numbered(right)?);
    let found = orders_kept(pairs(&left, &right, others)).collect()?.lazy();
    let of = |rows: &Keyed, id: &Id, how: JoinType| {
        let ids = std::slice::from_ref(id);
        on_keys(&rows.0.frame, &found.clone().select([col(id.clone())]), (ids, ids), how)
    };
    if is_of_left(&how) {
        return Ok(of(&left, &of_left, how));
    }
    let columns: Vec<Column> = left.0.columns.iter().chain(&right.0.columns).cloned().collect();
    let full = |frame: LazyFrame, rows: &Keyed| {
        let all = once(&columns).into_iter().map(|column| {
            if rows.0.has(&column.id) {
                col(column.id.clone())
            } else {
                Cell::Null.literal(column.kind).alias(column.id.clone())
            }
        });
        frame.select(all.collect::<Vec<_>>())
    };
    let mut all = vec![found.clone().select(unique(&columns))];
    if how != JoinType::Right {
        all.push(full(of(&left, &of_left, JoinType::Anti), &left));
    }
    if how != JoinType::Left {
        all.push(full(of(&right, &of_right, JoinType::Anti), &right));
    }
    Ok(concat(all, UnionArgs::default())?)
}

/// Rows under the name that a query gives them, and their columns under theirs.
pub(super) fn aliased(
    rows: Rows,
    name: &str,
    alias: Option<&sqlparser::ast::TableAlias>,
    ids: &Ids,
) -> Result<Rows> {
    let table = alias.map_or(name, |alias| &alias.name.value);
    let mut rows = rows.renamed(table, ids);
    let named = alias.map_or(&[][..], |alias| &alias.columns);
    if named.len() > rows.columns.len() {
        return wrong(
            format!("{table} has more names than columns"),
            format!("it has {}", rows.columns.len()),
        );
    }
    if !named.is_empty() {
        // The files have the columns under other names.
        rows.filings.clear();
    }
    for (column, name) in rows.columns.iter_mut().zip(named) {
        column.name.clone_from(&name.name.value);
    }
    Ok(rows)
}
