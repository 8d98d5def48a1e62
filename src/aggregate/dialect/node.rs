//! An expression with known types, and its form in polars.

use super::convert::cast_cell;
use super::reduce::{Reduce, unscaled};
use super::refusal::Result;
use super::value::{Cell, Cells, Kind, column_of};
use polars::prelude::{
    Column, DataType, Expr, Field, PlSmallStr, PolarsError, PolarsResult, Series, col, map_multiple, when,
};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// The name of a column in a plan. No two columns have one.
pub(super) type Id = PlSmallStr;

/// A function of one row.
pub(super) struct Function {
    pub(super) names: &'static [&'static str],
    /// A letter for each argument, see `functions`.
    pub(super) takes: &'static str,
    pub(super) gives: char,
    pub(super) run: Run,
}

pub(super) type OfCells = for<'a> fn(&[Cell<'a>]) -> Result<Cell<'a>, String>;

/// How a function is computed.
#[derive(Clone, Copy)]
pub(super) enum Run {
    /// By polars.
    Natively(fn(Vec<Expr>) -> Expr),
    /// Row by row; NULL where a value is.
    ByRow(OfCells),
    /// Row by row, NULL included.
    WithNulls(OfCells),
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// The rows of a subquery, as keys.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) keys: HashSet<Box<[u8]>>,
    pub(super) has_null: bool,
    /// Whether it is asked for a row alone, so that the answer is never NULL.
    pub(super) is_exists: bool,
}

impl Set {
    /// Adds a row. One with NULL is equal to none.
    pub(super) fn add(&mut self, row: &[Cell<'_>]) {
        if row.contains(&Cell::Null) {
            self.has_null = true;
        } else {
            self.keys.insert(key_of(row).into());
        }
    }
}

fn key_of(row: &[Cell<'_>]) -> Vec<u8> {
    let mut key = Vec::new();
    row.iter().for_each(|cell| cell.add_key(&mut key));
    key
}

/// The bounds of a frame: by rows, or up to the rows that are equal in order, which are all rows without an order. None is unbounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Frame {
    Peers,
    Rows(Option<i64>, Option<i64>),
}

/// An order: what it is by, whether it descends, whether NULL is last.
#[derive(Clone, PartialEq)]
pub(super) struct Order {
    pub(super) by: Node,
    pub(super) descends: bool,
    pub(super) nulls_last: bool,
}

/// What a window gives for a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Seen {
    Reduced(Reduce),
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Tiles,
    /// The value some rows before; a negative number after.
    Lag(i64),
    First,
    Last,
    Nth,
}

#[derive(Clone, PartialEq)]
pub(super) struct Window {
    pub(super) seen: Seen,
    /// Values and, of some, a default.
    pub(super) of: Vec<Node>,
    pub(super) by: Vec<Node>,
    pub(super) order: Vec<Order>,
    pub(super) frame: Frame,
}

impl Window {
    pub(super) fn kind(&self) -> Kind {
        match self.seen {
            Seen::Reduced(reduce) => reduce.gives(self.of.first().map_or(Kind::Integer, Node::kind)),
            Seen::RowNumber | Seen::Rank | Seen::DenseRank | Seen::Tiles => Kind::Integer,
            Seen::PercentRank | Seen::CumeDist => Kind::Double,
            Seen::Lag(_) | Seen::First | Seen::Last | Seen::Nth => self.of[0].kind(),
        }
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &Node> {
        self.of.iter().chain(&self.by).chain(self.order.iter().map(|order| &order.by))
    }
}

#[derive(Clone, PartialEq)]
pub(super) enum Node {
    Column(Id, Kind),
    Literal(Cell<'static>, Kind),
    Call(&'static Function, Vec<Node>, Kind),
    /// Conditions with results, and the result of no condition.
    Case(Vec<(Node, Node)>, Box<Node>, Kind),
    /// A value in another type, of the size that `literal` has for it; NULL where it cannot be, if that is asked for.
    Cast(Box<Node>, Kind, u8, bool),
    In(Vec<Node>, Arc<Set>),
    /// Of the values, distinct or not; of rows where there are no values.
    Reduce(Reduce, Option<Box<Node>>, bool),
    Window(Box<Window>),
}

impl Node {
    pub(super) fn int(of: i64) -> Self {
        Self::Literal(Cell::Int(of), Kind::Integer)
    }

    pub(super) fn bool(of: bool) -> Self {
        Self::Literal(Cell::Bool(of), Kind::Bool)
    }

    pub(super) fn text(of: &str) -> Self {
        Self::Literal(Cell::Text(of.to_owned().into()), Kind::Text)
    }

    /// The number of a literal.
    pub(super) fn number(&self) -> Option<i64> {
        if let Self::Literal(Cell::Int(of), Kind::Integer) = self { Some(*of) } else { None }
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Column(_, kind)
            | Self::Literal(_, kind)
            | Self::Call(_, _, kind)
            | Self::Case(_, _, kind)
            | Self::Cast(_, kind, ..) => *kind,
            Self::In(..) => Kind::Bool,
            Self::Reduce(reduce, of, _) => reduce.gives(of.as_ref().map_or(Kind::Integer, |of| of.kind())),
            Self::Window(window) => window.kind(),
        }
    }

    /// Its parts.
    pub(super) fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Column(..) | Self::Literal(..) => Vec::new(),
            Self::Call(_, parts, _) | Self::In(parts, _) => parts.iter().collect(),
            Self::Case(cases, other, _) => {
                cases.iter().flat_map(|(when, then)| [when, then]).chain([&**other]).collect()
            }
            Self::Cast(of, ..) => vec![of],
            Self::Reduce(_, of, ..) => of.iter().map(|of| &**of).collect(),
            Self::Window(window) => window.parts().collect(),
        }
    }

    /// The same with other parts.
    pub(super) fn with_parts(&self, change: &mut dyn FnMut(&Self) -> Result<Self>) -> Result<Self> {
        let mut all = |parts: &[Self]| parts.iter().map(&mut *change).collect::<Result<Vec<_>>>();
        Ok(match self {
            Self::Column(..) | Self::Literal(..) => self.clone(),
            Self::Call(function, parts, kind) => Self::Call(function, all(parts)?, *kind),
            Self::In(parts, set) => Self::In(all(parts)?, set.clone()),
            Self::Case(cases, other, kind) => {
                let cases = cases.iter().map(|(when, then)| Ok((change(when)?, change(then)?)));
                Self::Case(cases.collect::<Result<_>>()?, Box::new(change(other)?), *kind)
            }
            Self::Cast(of, kind, size, tries) => Self::Cast(Box::new(change(of)?), *kind, *size, *tries),
            Self::Reduce(reduce, of, distinct) => {
                let of = of.as_ref().map(|of| change(of).map(Box::new)).transpose()?;
                Self::Reduce(*reduce, of, *distinct)
            }
            Self::Window(window) => {
                let (of, by) = (all(&window.of)?, all(&window.by)?);
                let order =
                    window.order.iter().map(|order| Ok(Order { by: change(&order.by)?, ..order.clone() }));
                let order = order.collect::<Result<_>>()?;
                Self::Window(Box::new(Window { of, by, order, ..(**window).clone() }))
            }
        })
    }

    /// Whether it or one of its parts is so.
    pub(super) fn has(&self, is: &dyn Fn(&Self) -> bool) -> bool {
        is(self) || self.parts().iter().any(|part| part.has(is))
    }

    pub(super) fn is_reduce(&self) -> bool {
        matches!(self, Self::Reduce(..))
    }

    pub(super) fn has_reduce(&self) -> bool {
        self.has(&Self::is_reduce)
    }

    pub(super) fn is_window(&self) -> bool {
        matches!(self, Self::Window(_))
    }

    pub(super) fn has_window(&self) -> bool {
        self.has(&Self::is_window)
    }

    /// Adds the columns that it reads.
    pub(super) fn add_columns(&self, ids: &mut BTreeSet<Id>) {
        if let Self::Column(id, _) = self {
            ids.insert(id.clone());
        }
        self.parts().iter().for_each(|part| part.add_columns(ids));
    }

    pub(super) fn columns(&self) -> BTreeSet<Id> {
        let mut ids = BTreeSet::new();
        self.add_columns(&mut ids);
        ids
    }

    /// Whether it reads columns, all of them such.
    pub(super) fn reads_only(&self, is: impl Fn(&Id) -> bool) -> bool {
        let columns = self.columns();
        !columns.is_empty() && columns.iter().all(is)
    }

    /// The expression in polars. Functions of many rows and windows are columns by then.
    pub(super) fn in_polars(&self) -> Expr {
        match self {
            Self::Column(id, _) => col(id.clone()),
            Self::Literal(cell, kind) => cell.literal(*kind),
            Self::Call(function, parts, kind) => match function.run {
                Run::Natively(make) => make(parts.iter().map(Self::in_polars).collect()),
                Run::ByRow(make) => by_row(parts, *kind, true, make),
                Run::WithNulls(make) => by_row(parts, *kind, false, make),
            },
            Self::Case(cases, other, _) => cases.iter().rev().fold(other.in_polars(), |other, (is, then)| {
                when(is.in_polars()).then(then.in_polars()).otherwise(other)
            }),
            Self::Cast(of, kind, size, tries) => cast(of, *kind, *size, *tries),
            Self::In(parts, set) => {
                let set = set.clone();
                by_row(parts, Kind::Bool, false, move |cells| Ok(is_in(cells, &set)))
            }
            Self::Reduce(..) | Self::Window(_) => Cell::Null.literal(self.kind()),
        }
    }
}

fn is_in(cells: &[Cell<'_>], set: &Set) -> Cell<'static> {
    let is_null = cells.contains(&Cell::Null);
    let is_empty = set.keys.is_empty() && !set.has_null;
    if !is_null && set.keys.contains(&key_of(cells)[..]) {
        Cell::Bool(true)
    } else if set.is_exists || is_empty || !(is_null || set.has_null) {
        Cell::Bool(false)
    } else {
        Cell::Null
    }
}

/// A column computed row by row.
fn by_row<F>(parts: &[Node], kind: Kind, is_strict: bool, make: F) -> Expr
where
    F: for<'a> Fn(&[Cell<'a>]) -> Result<Cell<'a>, String> + Send + Sync + 'static,
{
    let literal = |node: &Node| if let Node::Literal(cell, _) = node { Some(cell.clone()) } else { None };
    let literals: Vec<Option<Cell<'static>>> = parts.iter().map(literal).collect();
    let given: Vec<Expr> = parts.iter().filter(|part| literal(part).is_none()).map(Node::in_polars).collect();
    let run = move |columns: &mut [Column]| -> PolarsResult<Column> {
        let series: Vec<Series> =
            columns.iter().map(|column| column.as_materialized_series().rechunk()).collect();
        let rows = series.first().map_or(1, |series| series.len());
        let mut given = series.iter();
        let cells = literals.iter().map(|literal| match literal {
            Some(cell) => Ok(Cells::All(cell.clone())),
            None => given.next().map_or(Ok(Cells::All(Cell::Null)), Cells::of),
        });
        let cells: Vec<Cells<'_>> = cells.collect::<PolarsResult<_>>()?;
        let mut row = Vec::with_capacity(cells.len());
        let made = (0..rows).map(|at| {
            row.clear();
            row.extend(cells.iter().map(|cells| cells.get(at)));
            if is_strict && row.contains(&Cell::Null) {
                Ok(Cell::Null)
            } else {
                make(&row).map_err(|why| PolarsError::ComputeError(why.into()))
            }
        });
        let name = series.first().map_or_else(PlSmallStr::default, |series| series.name().clone());
        column_of(name, kind, made)
    };
    let dtype = kind.in_polars();
    map_multiple(run, given, move |_, fields: &[Field]| {
        Ok(Field::new(fields[0].name().clone(), dtype.clone()))
    })
}

fn cast(of: &Node, kind: Kind, size: u8, tries: bool) -> Expr {
    let (from, inner) = (of.kind(), of.in_polars());
    match (from, kind) {
        (from, to) if from == to && size == 64 => inner,
        (Kind::Null, _) => inner.cast(kind.in_polars()),
        (Kind::Integer | Kind::Decimal(_), Kind::Double) => unscaled(inner.cast(DataType::Float64), from),
        (Kind::Bool, Kind::Integer)
        | (Kind::Day | Kind::Time(_), Kind::Time(_))
        | (Kind::Day, Kind::Text) => inner.cast(kind.in_polars()),
        _ => {
            let part = std::slice::from_ref(of);
            by_row(part, kind, true, move |cells| match cast_cell(&cells[0], from, kind, size)? {
                Some(cast) => Ok(cast),
                None if tries => Ok(Cell::Null),
                None if from.is_number() => {
                    Err(format!("{} is too large for the type", cells[0].show(from).unwrap_or_default()))
                }
                None => {
                    let shown = cells[0].show(from).unwrap_or_default();
                    Err(format!("{shown:?} is not {}: TRY_CAST gives NULL for it", kind.name()))
                }
            })
        }
    }
}
