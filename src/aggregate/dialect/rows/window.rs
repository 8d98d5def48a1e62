//! Windows, row by row: polars has no frames, and its ranks and its orders treat NULL otherwise.

use super::super::node::{Frame, Id, Node, Seen, Window};
use super::super::reduce::{Reduce, Tally};
use super::super::value::{Cell, Cells, Kind, column_of};
use super::order::sort_options;
use polars::prelude::{
    Column, DataFrame, Expr, Field, GroupsIndicator, IdxCa, IntoColumn as _, PolarsResult, Series,
    apply_multiple, col,
};
use std::collections::BTreeSet;
use std::ops::Range;

/// A window whose parts are columns of the plan.
impl Window {
    /// The column that it gives, over all rows at once. `row` is a column that is never empty of rows.
    pub(super) fn in_polars(self, row: &Id) -> Expr {
        let mut columns = BTreeSet::from([row.clone()]);
        self.parts().for_each(|part| part.add_columns(&mut columns));
        let columns: Vec<Expr> = columns.into_iter().map(col).collect();
        let dtype = self.kind().in_polars();
        let run = move |columns: &mut [Column]| self.run(columns);
        apply_multiple(
            run,
            columns,
            move |_, fields: &[Field]| Ok(Field::new(fields[0].name().clone(), dtype.clone())),
            false,
        )
    }

    fn run(&self, columns: &[Column]) -> PolarsResult<Column> {
        let rows = columns[0].len();
        let name = columns[0].name().clone();
        let mut frame = DataFrame::new(rows, columns.to_vec())?;
        frame.with_column(IdxCa::from_vec("row".into(), (0..rows as u32).collect()).into_column())?;
        if !self.order.is_empty() {
            let by: Vec<Id> = self.order.iter().flat_map(|order| order.by.columns()).collect();
            frame = frame.sort(by, sort_options(&self.order))?;
        }
        frame.rechunk_mut();
        let series = |id: &str| frame.column(id).map(|column| column.as_materialized_series().rechunk());
        let all = |nodes: &mut dyn Iterator<Item = &Node>| -> PolarsResult<Vec<Series>> {
            nodes.flat_map(Node::columns).map(|id| series(&id)).collect()
        };
        let (of, by) = (all(&mut self.of.iter())?, all(&mut self.order.iter().map(|order| &order.by))?);
        let of: Vec<Cells<'_>> = of.iter().map(Cells::of).collect::<PolarsResult<_>>()?;
        let by: Vec<Cells<'_>> = by.iter().map(Cells::of).collect::<PolarsResult<_>>()?;
        let places = series("row")?;
        let places: Vec<usize> = places.idx()?.iter().flatten().map(|at| at as usize).collect();
        let mut made = vec![Cell::Null; rows];
        for group in self.groups(&frame)? {
            let group = Group { rows: group, of: &of, by: &by };
            for (at, cell) in group.made(self)?.into_iter().enumerate() {
                made[places[group.rows[at]]] = cell;
            }
        }
        column_of(name, self.kind(), made.into_iter().map(Ok))
    }

    /// The rows of each group, in order.
    fn groups(&self, frame: &DataFrame) -> PolarsResult<Vec<Vec<usize>>> {
        if self.by.is_empty() || frame.height() == 0 {
            return Ok(vec![(0..frame.height()).collect()]);
        }
        let grouped = frame.group_by(self.by.iter().flat_map(Node::columns))?;
        let groups = grouped.get_groups().iter().map(|group| {
            let mut rows: Vec<usize> = match group {
                GroupsIndicator::Idx((_, rows)) => rows.iter().map(|row| *row as usize).collect(),
                GroupsIndicator::Slice([first, length]) => {
                    (first as usize..first as usize + length as usize).collect()
                }
            };
            rows.sort_unstable();
            rows
        });
        Ok(groups.collect())
    }
}

/// The rows of one group, and the cells of all rows.
struct Group<'g> {
    rows: Vec<usize>,
    of: &'g [Cells<'g>],
    by: &'g [Cells<'g>],
}

impl<'g> Group<'g> {
    fn cell(&self, column: usize, at: usize) -> Cell<'g> {
        self.of.get(column).map_or(Cell::Null, |cells| cells.get(self.rows[at]))
    }

    /// For each row the rows that are equal in order. Without an order, all are.
    fn peers(&self) -> Vec<Range<usize>> {
        let is_new = |at: usize| {
            let differs =
                |cells: &Cells<'_>| cells.get(self.rows[at - 1]).order(&cells.get(self.rows[at])).is_ne();
            self.by.iter().any(differs)
        };
        let mut peers = Vec::with_capacity(self.rows.len());
        let mut start = 0;
        for at in 1..=self.rows.len() {
            if at == self.rows.len() || is_new(at) {
                peers.resize(at, start..at);
                start = at;
            }
        }
        peers
    }

    fn made(&self, window: &Window) -> PolarsResult<Vec<Cell<'g>>> {
        let count = self.rows.len();
        let peers = self.peers();
        if let Seen::Reduced(reduce) = window.seen {
            return self.reduced(reduce, window, &peers);
        }
        let mut dense = 0;
        let mut made = Vec::with_capacity(count);
        for (at, same) in peers.iter().enumerate() {
            dense += i64::from(at == same.start);
            let seen = frame_of(window.frame, at, count, same);
            let place = |at: usize| Cell::Int(at as i64 + 1);
            made.push(match window.seen {
                Seen::RowNumber => place(at),
                Seen::Rank => place(same.start),
                Seen::DenseRank => Cell::Int(dense),
                Seen::PercentRank if count == 1 => Cell::Double(0.0),
                Seen::PercentRank => Cell::Double(same.start as f64 / (count - 1) as f64),
                Seen::CumeDist => Cell::Double(same.end as f64 / count as f64),
                Seen::Tiles => tile(self.cell(0, at).int(), at, count)?,
                Seen::Lag(rows) => match usize::try_from(at as i64 - rows) {
                    Ok(before) if before < count => self.cell(0, before),
                    _ => self.cell(1, at),
                },
                Seen::First if !seen.is_empty() => self.cell(0, seen.start),
                Seen::Last if !seen.is_empty() => self.cell(0, seen.end - 1),
                Seen::Nth => match usize::try_from(self.cell(1, at).int() - 1) {
                    Ok(nth) if nth < seen.len() => self.cell(0, seen.start + nth),
                    _ => Cell::Null,
                },
                Seen::First | Seen::Last | Seen::Reduced(_) => Cell::Null,
            });
        }
        Ok(made)
    }

    /// A function of the rows of each frame. Frames that grow keep what they have.
    fn reduced(
        &self,
        reduce: Reduce,
        window: &Window,
        peers: &[Range<usize>],
    ) -> PolarsResult<Vec<Cell<'g>>> {
        let kind = window.of.first().map_or(Kind::Null, Node::kind);
        let count = self.rows.len();
        let mut made: Vec<Cell<'g>> = Vec::with_capacity(count);
        let (mut tally, mut done) = (Tally::default(), 0..0);
        for (at, same) in peers.iter().enumerate() {
            let seen = frame_of(window.frame, at, count, same);
            if at > 0 && seen == done {
                made.push(made[at - 1].clone());
                continue;
            }
            if seen.start != done.start || seen.end < done.end {
                (tally, done) = (Tally::default(), seen.start..seen.start);
            }
            for row in done.end..seen.end {
                let cell = if window.of.is_empty() { Cell::Bool(true) } else { self.cell(0, row) };
                tally.add(reduce, &cell);
            }
            done = seen;
            made.push(tally.result(reduce, kind)?);
        }
        Ok(made)
    }
}

/// The rows of a frame.
fn frame_of(frame: Frame, at: usize, count: usize, peers: &Range<usize>) -> Range<usize> {
    match frame {
        Frame::Peers => 0..peers.end,
        Frame::Rows(start, end) => {
            let place = |rows: i64| (at as i64).saturating_add(rows).clamp(0, count as i64) as usize;
            let start = start.map_or(0, place);
            let end = end.map_or(count, |rows| place(rows.saturating_add(1)));
            start..end.max(start)
        }
    }
}

/// The tile of a row, of tiles of nearly equal size, the larger ones first.
fn tile<'a>(tiles: i64, at: usize, count: usize) -> PolarsResult<Cell<'a>> {
    let Some(tiles) = usize::try_from(tiles).ok().filter(|tiles| *tiles > 0) else {
        return Err(polars::prelude::PolarsError::ComputeError("ntile takes a number above 0".into()));
    };
    let (size, larger) = (count / tiles, count % tiles);
    let of_larger = larger * (size + 1);
    let tile = if at < of_larger { at / (size + 1) } else { larger + (at - of_larger) / size.max(1) };
    Ok(Cell::Int(tile as i64 + 1))
}
