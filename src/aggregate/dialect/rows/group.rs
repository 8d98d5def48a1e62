//! Groups and windows: what is asked of many rows becomes columns.

use super::super::functions as f;
use super::super::names::{Column, Ids, Rows};
use super::super::node::{Id, Node};
use super::super::reduce::Reduce;
use super::super::refusal::{Result, wrong};
use super::super::value::{Cell, Kind};
use crate::aggregate::count::{FILED_DATE, Key, MOST_KEYS, counted};
use polars::prelude::{Expr as Lazy, IntoLazy as _, UniqueKeepStrategy, col};

/// A value of many rows, and the column that has it.
type Made = Vec<(Node, Id)>;

/// Groups rows, each group at the place of its first row. In the expressions, keys and functions of many rows become columns of the groups.
pub(super) fn grouped(rows: Rows, keys: &[Node], nodes: Vec<&mut Node>, ids: &Ids) -> Result<Rows> {
    let mut steps = Vec::new();
    let mut made: Made = keys.iter().map(|key| (key.clone(), ids.of(key, &mut steps))).collect();
    let by: Vec<Lazy> = made.iter().map(|(_, id)| col(id.clone())).collect();
    let (mut of_group, mut after) = (Vec::new(), Vec::new());
    for node in outermost(&nodes, Node::is_reduce) {
        let Node::Reduce(reduce, of, is_distinct) = &node else { continue };
        let kind = of.as_ref().map_or(Kind::Integer, |of| of.kind());
        let of = of.as_ref().map_or_else(Id::default, |of| ids.of(of, &mut steps));
        let id = ids.next();
        let (parts, result) = reduce.steps(kind, *is_distinct, &of, &id);
        of_group.extend(parts);
        if result != col(id.clone()) {
            after.push(result.alias(id.clone()));
        }
        made.push((node, id));
    }
    let frame = rows.frame.with_columns(steps);
    let frame = match (by.is_empty(), of_group.is_empty()) {
        (true, true) => frame.select([polars::prelude::len().alias(ids.next())]),
        (true, false) => frame.select(of_group),
        (false, true) => frame.select(by).unique_stable_generic(None, UniqueKeepStrategy::First),
        (false, false) => frame.group_by_stable(by).agg(of_group),
    };
    replace(nodes, &made, Some(&rows.columns))?;
    Ok(Rows::new(frame.with_columns(after), Vec::new()))
}

/// The outermost expressions of a sort, each once.
fn outermost(nodes: &[&mut Node], is: fn(&Node) -> bool) -> Vec<Node> {
    let mut found = Vec::new();
    nodes.iter().for_each(|node| add_outermost(node, is, &mut found));
    found
}

fn add_outermost(node: &Node, is: fn(&Node) -> bool, found: &mut Vec<Node>) {
    if !is(node) {
        node.parts().into_iter().for_each(|part| add_outermost(part, is, found));
    } else if !found.contains(node) {
        found.push(node.clone());
    }
}

/// Puts columns in place of what they were made of. Of groups no other column is left.
fn replace(nodes: Vec<&mut Node>, made: &Made, of_groups: Option<&[Column]>) -> Result<()> {
    for node in nodes {
        *node = replaced(node, made, of_groups)?;
    }
    Ok(())
}

fn replaced(node: &Node, made: &Made, of_groups: Option<&[Column]>) -> Result<Node> {
    if let Some((_, id)) = made.iter().find(|(known, _)| known == node) {
        return Ok(Node::Column(id.clone(), node.kind()));
    }
    match (node, of_groups) {
        (Node::Column(id, _), Some(columns)) => {
            let name =
                columns.iter().find(|column| column.id == *id).map_or("a column", |column| &column.name);
            let reason = format!("{name} is selected from groups, and they are not grouped by it");
            wrong(reason, "name the column after GROUP BY too, or take MIN or MAX of it")
        }
        _ => node.with_parts(&mut |part| replaced(part, made, of_groups)),
    }
}

/// Adds the columns of windows. In the expressions, windows become these columns.
pub(super) fn windowed(mut rows: Rows, nodes: Vec<&mut Node>, ids: &Ids) -> Result<Rows> {
    let found = outermost(&nodes, Node::is_window);
    if found.is_empty() {
        return Ok(rows);
    }
    let (mut steps, mut made) = (Vec::new(), Made::new());
    let row = ids.of(&Node::int(0), &mut steps);
    let mut windows = Vec::new();
    for node in found {
        if node.parts().into_iter().any(Node::has_window) {
            return wrong("a window is of another window", "compute the inner one in a WITH or a subquery");
        }
        let over_columns = node.with_parts(&mut |part| Ok(ids.column(part, &mut steps)))?;
        let Node::Window(window) = over_columns else { continue };
        let id = ids.next();
        windows.push(window.in_polars(&row).alias(id.clone()));
        made.push((node, id));
    }
    rows.frame = rows.frame.with_columns(steps).with_columns(windows);
    replace(nodes, &made, None)?;
    Ok(rows)
}

/// The groups of a count of listed filings by a few columns, counted without polars: several times as fast. None for anything else.
pub(super) fn plain_count(
    rows: &Rows,
    conditions: &[Node],
    keys: &[Node],
    nodes: Vec<&mut Node>,
) -> Result<Option<Rows>> {
    let column =
        |id: &Id| rows.columns.iter().find(|column| column.id == *id).map(|column| column.name.as_str());
    let [Node::Column(listed, _)] = conditions else { return Ok(None) };
    let reduces = outermost(&nodes, Node::is_reduce);
    let is_counted = matches!(&reduces[..], [Node::Reduce(Reduce::Rows, ..)]);
    if rows.filings.is_empty() || column(listed) != Some("listed") || !is_counted {
        return Ok(None);
    }
    let is_day = |node: &Node| matches!(node, Node::Column(id, Kind::Day) if column(id) == Some(FILED_DATE));
    let key = |node: &Node| match node {
        day if is_day(day) => Some(Key::Day),
        Node::Column(id, Kind::Text) => column(id).and_then(Key::of_text),
        Node::Call(function, parts, _) if std::ptr::eq(*function, &f::SLICE) => match &parts[..] {
            [Node::Cast(of, ..), Node::Literal(Cell::Int(1), _), Node::Literal(Cell::Int(7), _)]
                if is_day(of) =>
            {
                Some(Key::Month)
            }
            _ => None,
        },
        _ => None,
    };
    let Some(by) = keys.iter().map(key).collect::<Option<Vec<Key>>>() else { return Ok(None) };
    if by.is_empty() || by.len() > MOST_KEYS {
        return Ok(None);
    }
    let (frame, names) = counted(&rows.filings, &by)?;
    let made: Made = keys.iter().cloned().chain(reduces).zip(names).collect();
    replace(nodes, &made, Some(&rows.columns))?;
    Ok(Some(Rows::new(frame.lazy(), Vec::new())))
}
