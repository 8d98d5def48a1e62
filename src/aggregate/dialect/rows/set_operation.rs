//! `UNION`, `INTERSECT` and `EXCEPT`.

use super::super::coerce::cast_as;
use super::super::names::{Column, Rows, unique};
use super::super::node::{Frame, Id, Seen};
use super::super::refusal::{Planned, not_here, wrong};
use super::super::value::Kind;
use super::order::in_order;
use super::query::Planner;
use super::window::OverColumns;
use polars::prelude::{JoinArgs, JoinType, LazyFrame, UnionArgs, UniqueKeepStrategy, col, concat};
use sqlparser::ast::{SetOperator, SetQuantifier};

impl Planner<'_> {
    pub(super) fn operation(
        &self,
        left: Rows,
        right: Rows,
        op: SetOperator,
        quantifier: SetQuantifier,
    ) -> Planned<Rows> {
        if left.columns.len() != right.columns.len() {
            return wrong(
                "the sides of a set operation have different numbers of columns",
                "select as many on each side",
            );
        }
        let is_all = match quantifier {
            SetQuantifier::All => true,
            SetQuantifier::None | SetQuantifier::Distinct => false,
            _ => return not_here(format_args!("{op} {quantifier}")),
        };
        let columns = self.common_columns(&left, &right)?;
        let side = |rows: Rows| -> Planned<LazyFrame> {
            let pairs = rows.columns.iter().zip(&columns);
            let cast = pairs.map(|(from, to)| {
                Ok(cast_as(from.node(), to.kind, 64, false)?.in_polars().alias(to.id.clone()))
            });
            Ok(rows.frame.clone().select(cast.collect::<Planned<Vec<_>>>()?))
        };
        let (mut left, mut right) = (side(left)?, side(right)?);
        let mut by: Vec<Id> = columns.iter().map(|column| column.id.clone()).collect();
        let frame = match op {
            SetOperator::Union => concat([left, right], UnionArgs::default())?,
            SetOperator::Intersect | SetOperator::Except | SetOperator::Minus => {
                if is_all {
                    (left, right) = self.numbered(left, right, &mut by);
                }
                let how = if op == SetOperator::Intersect { JoinType::Semi } else { JoinType::Anti };
                let on: Vec<_> = by.iter().map(|id| col(id.clone())).collect();
                let args = JoinArgs { nulls_equal: true, ..in_order(how) };
                left.join(right, on.clone(), on, args)
            }
        };
        let frame = frame.select(unique(&columns));
        let frame = if is_all { frame } else { frame.unique_stable_generic(None, UniqueKeepStrategy::First) };
        Ok(Rows::new(frame, columns))
    }

    /// Both sides with equal rows numbered, so that each is taken once.
    fn numbered(&self, left: LazyFrame, right: LazyFrame, by: &mut Vec<Id>) -> (LazyFrame, LazyFrame) {
        let (seen, frame) = (Seen::RowNumber, Frame::All);
        let (of, order) = (Vec::new(), Vec::new());
        let window = OverColumns { seen, of, by: by.clone(), order, frame, kind: Kind::Integer };
        let id = self.ids.next();
        let number = window.in_polars(&by[0]).alias(id.clone());
        by.push(id);
        (left.with_column(number.clone()), right.with_column(number))
    }

    /// Columns that hold the values of both sides.
    fn common_columns(&self, left: &Rows, right: &Rows) -> Planned<Vec<Column>> {
        let mut columns = left.columns.clone();
        for (column, other) in columns.iter_mut().zip(&right.columns) {
            match column.kind.with(other.kind) {
                Some(kind) => (column.kind, column.id) = (kind, self.ids.next()),
                None => {
                    let reason =
                        format!("{} is {} and {}", column.name, column.kind.name(), other.kind.name());
                    return wrong(reason, "cast one of them: CAST(x AS VARCHAR)");
                }
            }
        }
        Ok(columns)
    }
}
