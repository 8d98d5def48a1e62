//! Rows with named columns, and finding a column by its name.

use super::node::{Id, Node};
use super::refusal::{ALIKE, Result, unknown, wrong};
use super::value::Kind;
use crate::contract::hint::nearest;
use polars::prelude::{Expr, LazyFrame, col};
use sqlparser::ast::Ident;
use std::cell::Cell as Counter;
use std::path::PathBuf;

/// A column: the table that it is from, its name in SQL, its name in the plan.
#[derive(Clone)]
pub(super) struct Column {
    pub(super) table: String,
    pub(super) name: String,
    pub(super) id: Id,
    pub(super) kind: Kind,
    pub(super) key: Key,
}

/// What a column is to a join with `USING`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    No,
    /// The one column of both sides, which its name alone means.
    Merged,
    /// The column of one side, which only its name with its table means.
    OfTable,
}

impl Column {
    /// A column that is no key of a join.
    pub(super) fn new(name: String, id: Id, kind: Kind) -> Self {
        Self { table: String::new(), name, id, kind, key: Key::No }
    }

    pub(super) fn node(&self) -> Node {
        Node::Column(self.id.clone(), self.kind)
    }

    /// Whether it is meant where a table is named, or where none is.
    pub(super) fn is_of(&self, table: Option<&str>) -> bool {
        match table {
            Some(table) => self.key != Key::Merged && is_same(&self.table, table),
            None => self.key != Key::OfTable,
        }
    }
}

/// Rows, not yet read.
#[derive(Clone)]
pub(super) struct Rows {
    pub(super) frame: LazyFrame,
    pub(super) columns: Vec<Column>,
    /// Whether it is known that there are none.
    pub(super) are_none: bool,
    /// The files, of all rows of the filings.
    pub(super) filings: Vec<PathBuf>,
}

impl Rows {
    pub(super) fn new(frame: LazyFrame, columns: Vec<Column>) -> Self {
        Self { frame, columns, are_none: false, filings: Vec::new() }
    }

    /// The same rows with columns of their own, under a name. Rows that are read twice have their columns twice.
    pub(super) fn renamed(self, table: &str, ids: &Ids) -> Self {
        let mut columns = self.columns;
        let mut selected = Vec::new();
        for column in &mut columns {
            let id = ids.next();
            selected.push(col(column.id.clone()).alias(id.clone()));
            (column.id, column.table) = (id, table.to_owned());
        }
        Self { frame: self.frame.select(selected), columns, ..self }
    }

    pub(super) fn has(&self, id: &Id) -> bool {
        self.columns.iter().any(|column| column.id == *id)
    }
}

pub(super) fn columns_of(sources: &[Rows]) -> Vec<Column> {
    sources.iter().flat_map(|rows| rows.columns.clone()).collect()
}

/// The columns of the plan, each once.
pub(super) fn unique(columns: &[Column]) -> Vec<Expr> {
    once(columns).into_iter().map(|column| col(column.id.clone())).collect()
}

pub(super) fn once(columns: &[Column]) -> Vec<&Column> {
    let mut all: Vec<&Column> = Vec::new();
    for column in columns {
        if !all.iter().any(|known| known.id == column.id) {
            all.push(column);
        }
    }
    all
}

/// Gives each column of a plan its own name.
#[derive(Default)]
pub(super) struct Ids(Counter<u32>);

impl Ids {
    pub(super) fn next(&self) -> Id {
        self.0.set(self.0.get() + 1);
        format!("c{}", self.0.get()).into()
    }

    /// The column of a value, which a step makes if there is none.
    pub(super) fn of(&self, node: &Node, steps: &mut Vec<Expr>) -> Id {
        if let Node::Column(id, _) = node {
            return id.clone();
        }
        let id = self.next();
        steps.push(node.in_polars().alias(id.clone()));
        id
    }

    /// The same as an expression.
    pub(super) fn column(&self, node: &Node, steps: &mut Vec<Expr>) -> Node {
        Node::Column(self.of(node, steps), node.kind())
    }
}

pub(super) fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// The column of a name; none where there is none.
pub(super) fn find<'c>(columns: &'c [Column], name: &[Ident]) -> Result<Option<&'c Column>> {
    let (table, column) = match name {
        [column] => (None, column),
        [table, column] => (Some(table), column),
        _ => return wrong("a name has too many parts", "a column is table.column: f.county"),
    };
    let table = table.map(|table| table.value.as_str());
    let is_of = |known: &&Column| known.is_of(table) && is_same(&known.name, &column.value);
    let mut found = columns.iter().filter(is_of);
    let first = found.next();
    match (first, found.find(|other| first.is_some_and(|first| other.id != first.id))) {
        (Some(first), Some(other)) => wrong(
            format!("{} is a column of {} and of {}", column.value, first.table, other.table),
            format!("name one: {}.{}", first.table, column.value),
        ),
        (first, _) => Ok(first),
    }
}

/// Columns of `days` that are looked for in tables with `filed_date`.
const OF_DAYS: [&str; 6] = ["days_ago", "filed_week", "fullness", "holiday", "ordinary", "weekday"];

/// What is wrong with a name that is no column.
pub(super) fn no_column<T>(columns: &[Column], name: &[Ident]) -> Result<T> {
    let Some(last) = name.last() else { return wrong("a name is empty", "name a column") };
    if let [table, _] = name
        && !columns.iter().any(|known| is_same(&known.table, &table.value))
    {
        let mut tables: Vec<&str> = columns.iter().map(|known| known.table.as_str()).collect();
        tables.dedup();
        return unknown("table", &table.value, &tables);
    }
    let table = name.iter().nth_back(1).map(|table| table.value.as_str());
    let is_of = |known: &&Column| known.is_of(table);
    let known: Vec<&str> = columns.iter().filter(is_of).map(|known| known.name.as_str()).collect();
    let is_like_one = nearest(&last.value, known.iter().copied(), ALIKE).is_some();
    if last.quote_style.is_some() && !is_like_one {
        let is_name = last.value.chars().all(|c| c.is_alphanumeric() || c == '_');
        let columns =
            if is_name { format!("; for a column, there are {}", known.join(", ")) } else { String::new() };
        let hint = format!("a text is in single quotes: '{}'{columns}", last.value);
        return wrong(format!("there is no column {}", last.value), hint);
    }
    if known.contains(&"filed_date") && OF_DAYS.contains(&&*last.value.to_lowercase()) {
        let hint = "it is a column of days: JOIN days USING (filed_date)";
        return wrong(format!("there is no column {}", last.value), hint);
    }
    unknown("column", &last.value, &known)
}
