//! Groups and windows: what is asked of many rows becomes columns.

use super::super::functions as f;
use super::super::names::{Column, Ids, Rows};
use super::super::node::{Id, Node, Window};
use super::super::reduce::Reduce;
use super::super::refusal::{Planned, wrong};
use super::super::value::{Cell, Kind};
use super::from::stored;
use super::window::{OverColumns, ordered};
use crate::aggregate::count::{Key, MOST_KEYS, counted};
use polars::prelude::{Expr as Lazy, IntoLazy as _, UniqueKeepStrategy, col};

/// The keys of a grouping; its rows may be counted already.
pub(super) struct Needed<'n> {
    pub(super) keys: &'n [Node],
    pub(super) is_counted: bool,
}

/// A value of many rows, and the column that has it.
type Made = Vec<(Node, Id)>;

/// Groups rows, each group at the place of its first row. In the expressions, keys and functions of many rows become columns of the groups.
pub(super) fn grouped(
    mut rows: Rows,
    needed: &Needed<'_>,
    nodes: Vec<&mut Node>,
    ids: &Ids,
) -> Planned<Rows> {
    let (mut steps, columns) = (Vec::new(), rows.columns.clone());
    if needed.is_counted {
        // A row is a group: the keys are columns, and the last column has their numbers.
        let Some(count) = rows.columns.last().map(|column| column.id.clone()) else { return Ok(rows) };
        let places = rows.columns.iter().map(|column| column.id.clone());
        let mut made: Made = needed.keys.iter().cloned().zip(places).collect();
        made.push((Node::Reduce(Reduce::Rows, None, false, Kind::Integer), count));
        replace(nodes, &made, &columns)?;
        return Ok(rows);
    }
    let mut made: Made = needed.keys.iter().map(|key| (key.clone(), ids.of(key, &mut steps))).collect();
    let by: Vec<Lazy> = made.iter().map(|(_, id)| col(id.clone())).collect();
    let (mut of_group, mut after) = (Vec::new(), Vec::new());
    let mut found = Vec::new();
    nodes.iter().for_each(|node| find(node, &|node| matches!(node, Node::Reduce(..)), &mut found));
    for node in found {
        let Node::Reduce(reduce, of, is_distinct, kind) = &node else { continue };
        let of = of.as_ref().map_or_else(Id::default, |of| ids.of(of, &mut steps));
        let id = ids.next();
        let (parts, result) = reduce.steps(stored(*kind), *is_distinct, &of, &id);
        of_group.extend(parts);
        if result != col(id.clone()) {
            after.push(result.alias(id.clone()));
        }
        made.push((node, id));
    }
    let mut frame = if steps.is_empty() { rows.frame } else { rows.frame.with_columns(steps) };
    frame = match (by.is_empty(), of_group.is_empty()) {
        (true, true) => frame.select([polars::prelude::len().alias(ids.next())]),
        (true, false) => frame.select(of_group),
        (false, true) => frame.select(by).unique_stable_generic(None, UniqueKeepStrategy::First),
        (false, false) => frame.group_by_stable(by).agg(of_group),
    };
    rows.frame = if after.is_empty() { frame } else { frame.with_columns(after) };
    replace(nodes, &made, &columns)?;
    Ok(Rows::new(rows.frame, Vec::new()))
}

/// Adds the outermost expressions of a sort, each once.
fn find(node: &Node, is: &dyn Fn(&Node) -> bool, found: &mut Vec<Node>) {
    if is(node) {
        if !found.contains(node) {
            found.push(node.clone());
        }
        return;
    }
    // The same expression again: only its parts are looked at.
    let _ = node.with_parts::<()>(&mut |part| {
        find(part, is, found);
        Ok(part.clone())
    });
}

fn replace(nodes: Vec<&mut Node>, made: &Made, columns: &[Column]) -> Planned<()> {
    for node in nodes {
        *node = replaced(node, made, columns)?;
    }
    Ok(())
}

fn replaced(node: &Node, made: &Made, columns: &[Column]) -> Planned<Node> {
    if let Some((_, id)) = made.iter().find(|(known, _)| known == node) {
        return Ok(Node::Column(id.clone(), node.kind()));
    }
    match node {
        Node::Column(id, _) => {
            let name =
                columns.iter().find(|column| column.id == *id).map_or("a column", |column| &column.name);
            let reason = format!("{name} is selected from groups, and they are not grouped by it");
            wrong(reason, "name the column after GROUP BY too, or take MIN or MAX of it")
        }
        node => node.with_parts(&mut |part| replaced(part, made, columns)),
    }
}

/// Adds the columns of windows. In the expressions, windows become these columns.
pub(super) fn windowed(mut rows: Rows, nodes: Vec<&mut Node>, ids: &Ids) -> Planned<Rows> {
    let mut found = Vec::new();
    nodes.iter().for_each(|node| find(node, &|node| matches!(node, Node::Window(_)), &mut found));
    if found.is_empty() {
        return Ok(rows);
    }
    let (mut steps, mut made) = (Vec::new(), Made::new());
    let row = ids.of(&Node::Literal(Cell::Int(0), Kind::Integer), &mut steps);
    let mut windows = Vec::new();
    for node in found {
        let Node::Window(window) = &node else { continue };
        if window
            .of
            .iter()
            .chain(&window.by)
            .chain(window.order.iter().map(|order| &order.by))
            .any(Node::has_window)
        {
            return wrong("a window is of another window", "compute the inner one in a WITH or a subquery");
        }
        let id = ids.next();
        windows.push(over(window, &mut steps, ids).in_polars(&row).alias(id.clone()));
        made.push((node, id));
    }
    rows.frame = rows.frame.with_columns(steps).with_columns(windows);
    for node in nodes {
        *node = in_columns(node, &made);
    }
    Ok(rows)
}

fn over(window: &Window, steps: &mut Vec<Lazy>, ids: &Ids) -> OverColumns {
    let order: Vec<Id> = window.order.iter().map(|order| ids.of(&order.by, steps)).collect();
    let mut at = order.iter();
    OverColumns {
        seen: window.seen,
        of: window.of.iter().map(|of| (ids.of(of, steps), stored(of.kind()))).collect(),
        by: window.by.iter().map(|by| ids.of(by, steps)).collect(),
        order: ordered(&window.order, |_| at.next().cloned().unwrap_or_default()),
        frame: window.frame,
        kind: window.kind,
    }
}

fn in_columns(node: &Node, made: &Made) -> Node {
    if let Some((_, id)) = made.iter().find(|(known, _)| known == node) {
        return Node::Column(id.clone(), node.kind());
    }
    node.with_parts::<()>(&mut |part| Ok(in_columns(part, made))).unwrap_or_else(|()| node.clone())
}

/// The rows of a count of listed filings by a few columns, counted without polars: several times as fast. None for anything else.
pub(super) fn plain_count(
    rows: &Rows,
    conditions: &[Node],
    keys: &[Node],
    nodes: Vec<&Node>,
) -> Planned<Option<Rows>> {
    let column =
        |id: &Id| rows.columns.iter().find(|column| column.id == *id).map(|column| column.name.as_str());
    let [Node::Column(listed, _)] = conditions else { return Ok(None) };
    let mut reduces = Vec::new();
    nodes.into_iter().for_each(|node| find(node, &|node| matches!(node, Node::Reduce(..)), &mut reduces));
    let is_counted = matches!(&reduces[..], [Node::Reduce(Reduce::Rows, ..)]);
    if rows.filings.is_empty() || column(listed) != Some("listed") || !is_counted {
        return Ok(None);
    }
    let key = |node: &Node| match node {
        Node::Column(id, Kind::Day) if column(id) == Some(Key::Day.name()) => Some(Key::Day),
        Node::Column(id, Kind::Text) => column(id).and_then(Key::of_text),
        Node::Call(function, parts, _) if std::ptr::eq(*function, &f::SLICE) => match &parts[..] {
            [Node::Cast(of, ..), Node::Literal(Cell::Int(1), _), Node::Literal(Cell::Int(7), _)] => {
                match &**of {
                    Node::Column(id, Kind::Day) if column(id) == Some(Key::Day.name()) => Some(Key::Month),
                    _ => None,
                }
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
    let kinds = keys.iter().map(Node::kind).chain([Kind::Integer]);
    let columns = names.into_iter().zip(kinds);
    let columns =
        columns.map(|(id, kind)| Column { table: String::new(), name: id.to_string(), id, kind }).collect();
    Ok(Some(Rows::new(frame.lazy(), columns)))
}
