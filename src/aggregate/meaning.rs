//! SQL that polars would run in another sense than it has: such SQL is written so that it is run as meant, or refused.
//!
//! polars sorts one row by `ORDER BY COUNT(*)`, takes `SUM(COUNT(*)) OVER ()` within each group, repeats a count for every row where
//! `GROUP BY` is missing, and reads a `DATE` that does not exist as null. It says nothing, and the result is wrong.

use super::refused;
use polars::error::PolarsError;
use polars::prelude::LazyFrame;
use polars::sql::SQLContext;
use sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, GroupByExpr, JoinConstraint, JoinOperator, OrderByKind, Query,
    Select, SelectItem, SetExpr, Statement, Value, VisitMut, VisitorMut,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserOptions};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Functions of many rows.
const AGGREGATES: &str = "array_agg avg corr count covar covar_pop covar_samp first last max median min quantile_cont quantile_disc \
                          stddev stddev_samp stdev stdev_samp string_agg sum var var_samp variance";

/// The rows of SQL, as it is meant.
pub(super) fn execute(context: &mut SQLContext, sql: &str) -> Result<LazyFrame, PolarsError> {
    let tables = context.get_tables();
    context.execute(&as_meant(sql, &|name| tables.iter().any(|table| table == name))?)
}

fn as_meant<'s>(sql: &'s str, is_table: &dyn Fn(&str) -> bool) -> Result<Cow<'s, str>, PolarsError> {
    // What cannot be parsed is reported by polars.
    let Ok(mut statements) = parsed(sql) else { return Ok(sql.into()) };
    let mut walk = Walk { is_table, ..Walk::for_(Aim::Meaning) };
    match statements.visit(&mut walk) {
        ControlFlow::Break(problem) => Err(PolarsError::InvalidOperation(problem.into())),
        ControlFlow::Continue(()) if walk.has_changed => {
            Ok(statements.iter().map(ToString::to_string).collect::<Vec<_>>().join(";").into())
        }
        ControlFlow::Continue(()) => Ok(sql.into()),
    }
}

/// The statements of SQL, parsed as polars does.
pub(super) fn parsed(sql: &str) -> Result<Vec<Statement>, sqlparser::parser::ParserError> {
    let options = ParserOptions { trailing_commas: true, ..ParserOptions::default() };
    Parser::new(&GenericDialect).with_options(options).try_with_sql(sql)?.parse_statements()
}

/// What a walk through SQL is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// Writes all queries as they are meant, or stops at what is wrong.
    Meaning,
    /// Stops at a function of many rows, outside of subqueries.
    Aggregate,
    /// Stops at a column that is in no function of many rows, outside of subqueries.
    Column,
}

/// One type for every aim, because each type has its own copy of the walk through all of SQL.
struct Walk<'t> {
    aim: Aim,
    /// Whether the lake has a table of a name.
    is_table: &'t dyn Fn(&str) -> bool,
    /// Subqueries, and functions of many rows, around the expression that it is at.
    inside: u32,
    has_changed: bool,
}

impl Walk<'_> {
    fn for_(aim: Aim) -> Self {
        Self { aim, is_table: &|_| false, inside: 0, has_changed: false }
    }

    fn read_query(&mut self, query: &mut Query) -> ControlFlow<String> {
        let problem = of_rows(&query.body).or_else(|| refused::of_query(query, self.is_table));
        if let Some(problem) = problem {
            return ControlFlow::Break(problem);
        }
        let SetExpr::Select(select) = &*query.body else { return ControlFlow::Continue(()) };
        if let Some(order) = &mut query.order_by
            && let OrderByKind::Expressions(order) = &mut order.kind
        {
            for by in order.iter_mut().filter(|by| has_aggregate(&by.expr)) {
                let Some(column) = column_of(select, &by.expr) else {
                    return ControlFlow::Break(format!("{} is none of the columns to sort by", by.expr));
                };
                (by.expr, self.has_changed) = (column, true);
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether columns in an expression are none of the row.
    fn hides(&self, expr: &Expr) -> bool {
        let is_of_rows = |function: &Function| is_aggregate(function) || function.over.is_some();
        self.aim == Aim::Column && matches!(expr, Expr::Function(function) if is_of_rows(function))
    }
}

impl VisitorMut for Walk<'_> {
    /// What is wrong, or nothing where it was looked for.
    type Break = String;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<String> {
        self.inside += 1;
        if self.aim == Aim::Meaning { self.read_query(query) } else { ControlFlow::Continue(()) }
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<String> {
        self.inside -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<String> {
        if self.aim == Aim::Meaning
            && let Some(meant) = without_null(expr)
        {
            (*expr, self.has_changed) = (meant, true);
        }
        let found = match (self.aim, &*expr) {
            (Aim::Meaning, _) => wrong_sense(expr),
            (Aim::Aggregate, Expr::Function(function)) => {
                (self.inside == 0 && is_aggregate(function)).then(String::new)
            }
            (Aim::Column, Expr::Identifier(_) | Expr::CompoundIdentifier(_)) => {
                (self.inside == 0).then(String::new)
            }
            _ => None,
        };
        self.inside += u32::from(self.hides(expr));
        found.map_or(ControlFlow::Continue(()), ControlFlow::Break)
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<String> {
        self.inside -= u32::from(self.hides(expr));
        ControlFlow::Continue(())
    }
}

/// What polars would take in another sense.
fn wrong_sense(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Function(function) if function.over.is_some() => {
            let counts = has_aggregate(&function.args) || has_aggregate(&function.over);
            counts.then(|| format!("{function} counts over other counts"))
        }
        Expr::TypedString(day) if day.data_type == DataType::Date => {
            let text = day.value.clone().into_string().unwrap_or_default();
            text.parse::<jiff::civil::Date>().is_err().then(|| format!("invalid DATE literal {text}"))
        }
        _ => None,
    }
    .or_else(|| refused::of_expr(expr))
}

/// `x IS TRUE` and its kin as a condition that is never null: polars drops the rows where `x` is null.
fn without_null(expr: &Expr) -> Option<Expr> {
    let sql = match expr {
        Expr::IsTrue(of) => format!("COALESCE({of}, FALSE)"),
        Expr::IsNotTrue(of) => format!("(NOT COALESCE({of}, FALSE))"),
        Expr::IsFalse(of) => format!("(NOT COALESCE({of}, TRUE))"),
        Expr::IsNotFalse(of) => format!("COALESCE({of}, TRUE)"),
        _ => return None,
    };
    Parser::new(&GenericDialect).try_with_sql(&sql).ok()?.parse_expr().ok()
}

/// What is wrong with the rows of a query, each side of a set operation included.
fn of_rows(rows: &SetExpr) -> Option<String> {
    match rows {
        SetExpr::Select(select) => without_group(select).or_else(|| about_one_table(select)),
        SetExpr::SetOperation { left, right, .. } => of_rows(left).or_else(|| of_rows(right)),
        _ => None,
    }
}

/// What is wrong where a column is selected with a count, and nothing is grouped.
fn without_group(select: &Select) -> Option<String> {
    let is_grouped = !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
    let count = select.projection.iter().find(|item| has_aggregate(*item)).filter(|_| !is_grouped)?;
    let is_column = |item: &&SelectItem| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => has_column(expr),
        _ => true,
    };
    let column = select.projection.iter().find(is_column)?;
    Some(format!("{column} is selected with {count}, and nothing is grouped"))
}

/// What is wrong where a join compares a column with a value: polars looks for the column in the other table.
fn about_one_table(select: &Select) -> Option<String> {
    let joins = select.from.iter().flat_map(|table| &table.joins);
    let mut conditions = joins.filter_map(|join| match &join.join_operator {
        JoinOperator::Join(JoinConstraint::On(on))
        | JoinOperator::Inner(JoinConstraint::On(on))
        | JoinOperator::Left(JoinConstraint::On(on))
        | JoinOperator::LeftOuter(JoinConstraint::On(on)) => Some(on),
        _ => None,
    });
    let found = conditions.find_map(with_value)?;
    Some(format!("{found} in ON is about one table"))
}

/// A part of a condition that compares with a value.
fn with_value(condition: &Expr) -> Option<&Expr> {
    let is_value = |expr: &Expr| matches!(expr, Expr::Value(_) | Expr::TypedString(_));
    match condition {
        Expr::Nested(inner) => with_value(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            with_value(left).or_else(|| with_value(right))
        }
        Expr::BinaryOp { left, right, .. } => (is_value(left) || is_value(right)).then_some(condition),
        _ => None,
    }
}

/// The column of the result that has the value of an expression; none where there is no such column.
fn column_of(select: &Select, expr: &Expr) -> Option<Expr> {
    let text = |expr: &Expr| expr.to_string().to_lowercase();
    for (at, item) in select.projection.iter().enumerate() {
        match item {
            SelectItem::ExprWithAlias { expr: of, alias } if text(of) == text(expr) => {
                return Some(Expr::Identifier(alias.clone()));
            }
            SelectItem::UnnamedExpr(of) if text(of) == text(expr) => {
                return Some(Expr::Value(Value::Number((at + 1).to_string(), false).with_empty_span()));
            }
            SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. } => {}
            // A number of columns that is not known.
            _ => return None,
        }
    }
    None
}

fn is_aggregate(function: &Function) -> bool {
    let name = function.name.to_string().to_lowercase();
    function.over.is_none() && AGGREGATES.split_whitespace().any(|known| known == name)
}

fn has_aggregate(part: &(impl VisitMut + Clone)) -> bool {
    part.clone().visit(&mut Walk::for_(Aim::Aggregate)).is_break()
}

fn has_column(part: &Expr) -> bool {
    part.clone().visit(&mut Walk::for_(Aim::Column)).is_break()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_run_as_meant_stays_as_it_is() {
        for sql in [
            "SELECT county, COUNT(*) AS n FROM filings GROUP BY county HAVING COUNT(*) > 5 ORDER BY n -- most",
            "SELECT MAX(filed_date), 5 AS five FROM filings",
            "SELECT name, COUNT(*) OVER (PARTITION BY county) FROM filings",
            "SELECT a.name FROM a JOIN b ON a.id = b.id AND a.day < b.day",
            "SELECT name FROM filings WHERE filed_date >= DATE '2026-02-28' AND zip IN (SELECT MAX(zip) FROM a)",
            "SELEC 1",
        ] {
            assert!(matches!(as_meant(sql, &|_| false), Ok(Cow::Borrowed(same)) if same == sql), "{sql}");
        }
    }

    #[test]
    fn a_test_for_truth_is_never_null() {
        let meant = |sql: &str| as_meant(sql, &|_| false).expect(sql).into_owned();
        for (test, condition) in [
            ("listed IS TRUE", "COALESCE(listed, false)"),
            ("listed IS NOT TRUE", "(NOT COALESCE(listed, false))"),
            ("listed IS FALSE", "(NOT COALESCE(listed, true))"),
            ("NOT (listed IS NOT FALSE)", "NOT (COALESCE(listed, true))"),
        ] {
            let sql = |condition: &str| format!("SELECT name FROM a WHERE {condition}");
            assert_eq!(meant(&sql(test)), sql(condition));
        }
    }

    #[test]
    fn a_count_to_sort_by_is_the_column_of_the_result() {
        let meant = |sql: &str| as_meant(sql, &|_| false).expect(sql).into_owned();
        let counted = "SELECT county, COUNT(*) AS n FROM filings GROUP BY county ORDER BY";
        assert_eq!(meant(&format!("{counted} count(*) DESC LIMIT 2")), format!("{counted} n DESC LIMIT 2"));
        let unnamed = "SELECT county, SUM(filings) FROM a GROUP BY county ORDER BY";
        assert_eq!(meant(&format!("{unnamed} SUM(filings), county")), format!("{unnamed} 2, county"));
        let within = format!("SELECT * FROM ({counted} COUNT(*) LIMIT 3) AS most");
        assert_eq!(meant(&within), format!("SELECT * FROM ({counted} n LIMIT 3) AS most"));
    }

    #[test]
    fn what_would_be_wrong_is_refused() {
        for (sql, problem) in [
            ("SELECT county FROM a GROUP BY county ORDER BY COUNT(*)", "COUNT(*) is none of the columns"),
            (
                "SELECT kind, SUM(COUNT(*)) OVER () FROM a GROUP BY kind",
                "SUM(COUNT(*)) OVER () counts over other counts",
            ),
            ("SELECT kind, RANK() OVER (ORDER BY COUNT(*)) FROM a GROUP BY kind", "counts over other counts"),
            ("SELECT county, COUNT(*) AS n FROM a", "county is selected with COUNT(*) AS n"),
            (
                "WITH b AS (SELECT UPPER(name), MAX(day) FROM a) SELECT * FROM b",
                "UPPER(name) is selected with",
            ),
            ("SELECT *, MAX(day) FROM a", "* is selected with MAX(day), and nothing is grouped"),
            (
                "SELECT 1 FROM a LEFT JOIN b ON a.id = b.id AND (b.day > DATE '2026-02-03')",
                "b.day > DATE '2026-02-03' in ON is about one table",
            ),
            ("SELECT 1 FROM a WHERE day > DATE '2026-02-30'", "invalid DATE literal 2026-02-30"),
            (
                "WITH Filings AS (SELECT 1 FROM a) SELECT * FROM Filings",
                "has the name of a table of the lake",
            ),
            (
                "SELECT 1 FROM a LEFT JOIN b ON a.id = b.id AND a.day < b.day",
                "a.day < b.day in ON of an outer",
            ),
            ("SELECT 1 FROM a FULL OUTER JOIN b ON a.day < b.day", "is no equation of two columns"),
            ("SELECT 1 FROM a SEMI JOIN b ON a.id = b.id OR a.day = b.day", "is no equation of two columns"),
            ("SELECT 1 FROM a ANTI JOIN b ON a.id <> b.id", "is no equation of two columns"),
            ("SELECT AVG(n) OVER (PARTITION BY kind ORDER BY day) FROM a", "avg takes no ORDER BY in OVER"),
            ("SELECT LAST_VALUE(n) OVER (ORDER BY day) FROM a", "last_value takes no ORDER BY"),
            ("SELECT 1 FROM a UNION SELECT 1 FROM b INTERSECT SELECT 1 FROM c", "mixed with another"),
            ("SELECT n FROM a UNION ALL SELECT county, COUNT(*) FROM b", "nothing is grouped"),
            ("SELECT 1 AS a WHERE FALSE", "WHERE needs FROM"),
            ("SELECT SUM(1) FROM a", "is about no column"),
            ("SELECT -7 % 3 FROM a", "has a negative number"),
            ("SELECT SUBSTR(name, -2) FROM a", "use RIGHT(text, n)"),
            ("SELECT day + INTERVAL '36 hours' FROM a", "is not a number of days"),
        ] {
            let error = as_meant(sql, &|name| name == "filings").expect_err(sql).to_string();
            assert!(error.contains(problem), "{sql}: {error}");
        }
    }
}
