//! `UNION`, `INTERSECT` and `EXCEPT`.

use super::super::coerce::cast_as;
use super::super::names::Rows;
use super::super::node::{Frame, Id, Seen};
use super::super::refusal::{Planned, elsewhere, wrong};
use super::super::value::INTEGER;
use super::query::Planner;
use super::select::unique;
use super::window::OverColumns;
use polars::prelude::{
    JoinArgs, JoinCoalesce, JoinType, LazyFrame, UnionArgs, UniqueKeepStrategy, col, concat,
};
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
            _ => return elsewhere(format_args!("{op} {quantifier}")),
        };
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
                    // Equal rows are numbered, so that each is taken once.
                    let number = self.ids.next();
                    let window = OverColumns {
                        seen: Seen::RowNumber,
                        of: Vec::new(),
                        by: by.clone(),
                        order: Vec::new(),
                        frame: Frame::All,
                        kind: INTEGER,
                    };
                    let numbered = |frame: LazyFrame| {
                        frame.with_column(window.clone().in_polars(&by[0]).alias(number.clone()))
                    };
                    (left, right) = (numbered(left), numbered(right));
                    by.push(number);
                }
                let how = if op == SetOperator::Intersect { JoinType::Semi } else { JoinType::Anti };
                let on: Vec<_> = by.iter().map(|id| col(id.clone())).collect();
                let args =
                    JoinArgs { nulls_equal: true, coalesce: JoinCoalesce::KeepColumns, ..JoinArgs::new(how) };
                left.join(right, on.clone(), on, args)
            }
        };
        let frame = frame.select(unique(&columns));
        let frame = if is_all { frame } else { frame.unique_generic(None, UniqueKeepStrategy::Any) };
        Ok(Rows::new(frame, columns))
    }
}
