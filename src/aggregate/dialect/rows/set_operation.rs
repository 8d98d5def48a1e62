//! `UNION`, `INTERSECT` and `EXCEPT`.

use super::super::coerce::cast_as;
use super::super::names::{Column, Rows, unique};
use super::super::node::{Frame, Seen, Window};
use super::super::refusal::{Result, not_here, wrong};
use super::order::in_order;
use super::query::Planner;
use polars::prelude::{
    Expr as Lazy, JoinArgs, JoinType, LazyFrame, UnionArgs, UniqueKeepStrategy, col, concat,
};
use sqlparser::ast::{SetOperator, SetQuantifier};

impl Planner<'_> {
    pub(super) fn operation(
        &self,
        left: Rows,
        right: Rows,
        op: SetOperator,
        quantifier: SetQuantifier,
    ) -> Result<Rows> {
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
        let side = |rows: Rows| -> Result<LazyFrame> {
            let pairs = rows.columns.iter().zip(&columns);
            let cast = pairs.map(|(from, to)| {
                Ok(cast_as(from.node(), to.kind, 64, false)?.in_polars().alias(to.id.clone()))
            });
            Ok(rows.frame.clone().select(cast.collect::<Result<Vec<_>>>()?))
        };
        let (mut left, mut right) = (side(left)?, side(right)?);
        let frame = match op {
            SetOperator::Union => concat([left, right], UnionArgs::default())?,
            SetOperator::Intersect | SetOperator::Except | SetOperator::Minus => {
                let mut on = unique(&columns);
                if is_all {
                    // Equal rows are numbered, so that each is taken once.
                    let id = self.ids.next();
                    let number = number_of_equal(&columns).alias(id.clone());
                    (left, right) = (left.with_column(number.clone()), right.with_column(number));
                    on.push(col(id));
                }
                let how = if op == SetOperator::Intersect { JoinType::Semi } else { JoinType::Anti };
                let args = JoinArgs { nulls_equal: true, ..in_order(how) };
                left.join(right, on.clone(), on, args)
            }
        };
        let frame = frame.select(unique(&columns));
        let frame = if is_all { frame } else { frame.unique_stable_generic(None, UniqueKeepStrategy::First) };
        Ok(Rows::new(frame, columns))
    }

    /// Columns that hold the values of both sides.
    fn common_columns(&self, left: &Rows, right: &Rows) -> Result<Vec<Column>> {
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

/// The number of each row among those that are equal to it.
fn number_of_equal(columns: &[Column]) -> Lazy {
    let (seen, frame, by) = (Seen::RowNumber, Frame::Peers, columns.iter().map(Column::node).collect());
    let window = Window { seen, of: Vec::new(), by, order: Vec::new(), frame };
    window.in_polars(&columns[0].id)
}
