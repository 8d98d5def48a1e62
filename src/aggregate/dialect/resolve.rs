//! Expressions of SQL, as they are parsed, to expressions with types.

use super::calls;
use super::coerce::{
    arithmetic, call, case, cast_as, constant_as, in_cells, in_list, negated_if, not, shown, to_bool,
};
use super::days::interval;
use super::functions as f;
use super::literal::{kind_of, literal};
use super::names::{Column, find, is_same, no_column};
use super::node::{Frame, Node, Order};
use super::refusal::{Result, not_here, wrong};
use super::value::{Cell, Kind};
use sqlparser::ast::{
    BinaryOperator, CastKind, CeilFloorKind, DuplicateTreatment, Expr, FunctionArg, FunctionArgExpr,
    FunctionArguments, Ident, NamedWindowDefinition, NamedWindowExpr, OrderByExpr, TrimWhereField,
    TypedString, UnaryOperator, WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType,
};
use std::collections::HashMap;

/// What a subquery gave.
pub(super) enum Answer {
    Value(Node),
    Rows(Vec<Cell<'static>>, Kind),
}

/// The names that an expression may use.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    pub(super) columns: &'s [Column],
    /// Of the query around a subquery.
    pub(super) outer: &'s [Column],
    /// Names of the result.
    pub(super) aliases: &'s [(String, Node)],
    pub(super) are_aliases_first: bool,
    pub(super) answers: &'s HashMap<Expr, Answer>,
    pub(super) windows: &'s [NamedWindowDefinition],
}

impl<'s> Scope<'s> {
    /// Columns alone.
    pub(super) fn of(columns: &'s [Column], answers: &'s HashMap<Expr, Answer>) -> Self {
        Self { columns, outer: &[], aliases: &[], are_aliases_first: false, answers, windows: &[] }
    }
}

impl Scope<'_> {
    fn name(&self, name: &[Ident]) -> Result<Node> {
        let alias = match name {
            // Of two with one name the last counts.
            [name] => self.aliases.iter().rfind(|(alias, _)| is_same(alias, &name.value)),
            _ => None,
        };
        if let (true, Some((_, node))) = (self.are_aliases_first, alias) {
            return Ok(node.clone());
        }
        if let Some(column) = find(self.columns, name)? {
            return Ok(column.node());
        }
        match (alias, find(self.outer, name)?) {
            (Some((_, node)), _) => Ok(node.clone()),
            (None, Some(column)) => Ok(column.node()),
            (None, None) => no_column(self.columns, name),
        }
    }

    pub(super) fn all(&self, exprs: &[Expr]) -> Result<Vec<Node>> {
        exprs.iter().map(|expr| self.node(expr)).collect()
    }

    /// A condition.
    pub(super) fn condition(&self, expr: &Expr) -> Result<Node> {
        to_bool(self.node(expr)?)
    }

    pub(super) fn node(&self, expr: &Expr) -> Result<Node> {
        match expr {
            Expr::Nested(inner) => self.node(inner),
            Expr::Identifier(name) => self.name(std::slice::from_ref(name)),
            Expr::CompoundIdentifier(names) => self.name(names),
            Expr::Value(value) => literal(&value.value),
            Expr::TypedString(typed) => typed_text(typed),
            Expr::UnaryOp { op, expr } => self.unary(*op, expr),
            Expr::BinaryOp { left, op, right } => self.binary(left, op, right),
            Expr::IsNull(of) => call(&f::IS_NULL, vec![self.node(of)?]),
            Expr::IsNotNull(of) => not(call(&f::IS_NULL, vec![self.node(of)?])?),
            Expr::IsTrue(of) => self.is_known(of, false),
            Expr::IsNotTrue(of) => not(self.is_known(of, false)?),
            Expr::IsNotFalse(of) => self.is_known(of, true),
            Expr::IsFalse(of) => not(self.is_known(of, true)?),
            Expr::IsUnknown(of) => call(&f::IS_NULL, vec![self.condition(of)?]),
            Expr::IsNotUnknown(of) => not(call(&f::IS_NULL, vec![self.condition(of)?])?),
            Expr::IsNotDistinctFrom(one, other) => call(&f::SAME, vec![self.node(one)?, self.node(other)?]),
            Expr::IsDistinctFrom(one, other) => {
                not(call(&f::SAME, vec![self.node(one)?, self.node(other)?])?)
            }
            Expr::Between { expr, negated, low, high } => {
                let of = self.node(expr)?;
                let low = call(&f::GT_EQ, vec![of.clone(), self.node(low)?])?;
                let high = call(&f::LT_EQ, vec![of, self.node(high)?])?;
                negated_if(*negated, call(&f::AND, vec![low, high])?)
            }
            Expr::InList { expr, list, negated } => {
                negated_if(*negated, in_list(self.node(expr)?, self.all(list)?)?)
            }
            Expr::Like { negated, any: false, expr: of, pattern, escape_char }
            | Expr::ILike { negated, any: false, expr: of, pattern, escape_char } => {
                let function = if matches!(expr, Expr::Like { .. }) { &f::LIKE } else { &f::ILIKE };
                let escape = escape_char.as_ref().and_then(|escape| escape.value.clone().into_string());
                let parts =
                    vec![self.node(of)?, self.node(pattern)?, Node::text(&escape.unwrap_or_default())];
                negated_if(*negated, call(function, parts)?)
            }
            Expr::Case { operand, conditions, else_result, .. } => {
                let cases = conditions.iter().map(|case| {
                    let is = match operand {
                        Some(of) => call(&f::EQ, vec![self.node(of)?, self.node(&case.condition)?])?,
                        None => self.condition(&case.condition)?,
                    };
                    Ok((is, self.node(&case.result)?))
                });
                let other = else_result.as_ref().map(|other| self.node(other)).transpose()?;
                case(cases.collect::<Result<_>>()?, other)
            }
            Expr::Cast { kind, expr, data_type, format: None, .. } => {
                let (to, size) = kind_of(data_type)?;
                let tries = matches!(kind, CastKind::TryCast | CastKind::SafeCast);
                cast_as(self.node(expr)?, to, size, tries)
            }
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => self.subquery(expr),
            Expr::Function(function) => self.function(function),
            other => self.form(other),
        }
    }

    fn subquery(&self, expr: &Expr) -> Result<Node> {
        let negated = match expr {
            Expr::Exists { negated, .. } | Expr::InSubquery { negated, .. } => *negated,
            _ => false,
        };
        match (self.answers.get(expr), expr) {
            (Some(Answer::Value(node)), _) => negated_if(negated, node.clone()),
            (Some(Answer::Rows(cells, kind)), Expr::InSubquery { expr, .. }) => {
                negated_if(negated, in_cells(self.node(expr)?, cells, *kind)?)
            }
            _ => not_here("a subquery in this place"),
        }
    }

    /// A condition, with a value in place of NULL.
    fn is_known(&self, of: &Expr, instead: bool) -> Result<Node> {
        calls::scalar("coalesce", vec![self.condition(of)?, Node::bool(instead)])
    }

    fn unary(&self, op: UnaryOperator, expr: &Expr) -> Result<Node> {
        match op {
            UnaryOperator::Not => not(self.condition(expr)?),
            UnaryOperator::Plus => self.node(expr),
            UnaryOperator::Minus => call(&f::NEGATE, vec![self.node(expr)?]),
            _ => not_here(format_args!("the operator {op}")),
        }
    }

    fn binary(&self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Node> {
        if let Some(moved) = self.shifted(left, op, right)? {
            return Ok(moved);
        }
        if is_comparison(op) && matches!(left, Expr::BinaryOp { op, .. } if is_comparison(op)) {
            return wrong("comparisons stand in a row", "use AND: a < b AND b < c, or brackets: (a = b) = c");
        }
        let (one, other) = (self.node(left)?, self.node(right)?);
        let function = match op {
            BinaryOperator::And | BinaryOperator::Or => {
                let function = if *op == BinaryOperator::And { &f::AND } else { &f::OR };
                return call(function, vec![to_bool(one)?, to_bool(other)?]);
            }
            BinaryOperator::Eq => &f::EQ,
            BinaryOperator::NotEq => &f::NOT_EQ,
            BinaryOperator::Lt => &f::LT,
            BinaryOperator::LtEq => &f::LT_EQ,
            BinaryOperator::Gt => &f::GT,
            BinaryOperator::GtEq => &f::GT_EQ,
            BinaryOperator::Divide => &f::DIVIDE,
            BinaryOperator::DuckIntegerDivide | BinaryOperator::MyIntegerDivide => &f::QUOTIENT,
            BinaryOperator::StringConcat => {
                let [one, other] = [shown(one)?, shown(other)?];
                return call(&f::JOIN_TEXTS, vec![one, other]);
            }
            BinaryOperator::Plus
            | BinaryOperator::Minus
            | BinaryOperator::Multiply
            | BinaryOperator::Modulo => {
                return arithmetic(op, one, other);
            }
            _ => return not_here(format_args!("the operator {op}")),
        };
        call(function, vec![one, other])
    }

    /// A day or time and an interval.
    fn shifted(&self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Option<Node>> {
        let (of, by, sign) = match (left, op, right) {
            (of, BinaryOperator::Plus, Expr::Interval(by))
            | (Expr::Interval(by), BinaryOperator::Plus, of) => (of, by, 1),
            (of, BinaryOperator::Minus, Expr::Interval(by)) => (of, by, -1),
            _ => return Ok(None),
        };
        let text = match self.node(&by.value)? {
            Node::Literal(Cell::Int(of), Kind::Integer) => of.to_string(),
            Node::Literal(Cell::Text(text), _) => text.into_owned(),
            _ => String::new(),
        };
        let field = by.leading_field.as_ref().map(ToString::to_string);
        let is_plain = by.last_field.is_none()
            && by.leading_precision.is_none()
            && by.fractional_seconds_precision.is_none();
        let Some((months, micros)) = interval(&text, field.as_deref()).filter(|_| is_plain) else {
            return wrong(
                format!("{by} is no number of days or months"),
                "such as: INTERVAL 7 DAY, INTERVAL '2 months'",
            );
        };
        let mut node = self.node(of)?;
        if months != 0 {
            node = call(&f::ADD_MONTHS, vec![node, Node::int(months * sign)])?;
        }
        if micros != 0 || months == 0 {
            node = call(&f::ADD_MICROS, vec![node, Node::int(micros * sign)])?;
        }
        Ok(Some(node))
    }
}

/// Calls of functions, and forms of SQL that stand for one.
impl Scope<'_> {
    fn form(&self, expr: &Expr) -> Result<Node> {
        let all = |exprs: &[Option<&Expr>]| -> Result<Vec<Node>> {
            exprs.iter().flatten().map(|expr| self.node(expr)).collect()
        };
        match expr {
            Expr::Extract { field, expr, .. } => {
                calls::scalar("date_part", vec![Node::text(&field.to_string()), self.node(expr)?])
            }
            Expr::Substring { expr, substring_from, substring_for, .. } => {
                let from =
                    substring_from.as_ref().map_or_else(|| Ok(Node::int(1)), |from| self.node(from))?;
                let mut parts = vec![self.node(expr)?, from];
                parts.extend(all(&[substring_for.as_deref()])?);
                calls::scalar("substr", parts)
            }
            Expr::Trim { expr, trim_where, trim_what, trim_characters: None } => {
                let name = match trim_where {
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                    _ => "trim",
                };
                calls::scalar(name, all(&[Some(expr), trim_what.as_deref()])?)
            }
            Expr::Trim { expr, trim_characters: Some(chars), .. } => {
                calls::scalar("trim", all(&[Some(expr), chars.first()])?)
            }
            Expr::Ceil { expr, field: CeilFloorKind::DateTimeField(_) } => {
                calls::scalar("ceil", all(&[Some(expr)])?)
            }
            Expr::Floor { expr, field: CeilFloorKind::DateTimeField(_) } => {
                calls::scalar("floor", all(&[Some(expr)])?)
            }
            Expr::Position { expr, r#in } => calls::scalar("strpos", all(&[Some(r#in), Some(expr)])?),
            other => not_here(other),
        }
    }

    fn function(&self, function: &sqlparser::ast::Function) -> Result<Node> {
        let name = function.name.to_string().to_lowercase();
        calls::refuse_other(&name)?;
        let (mut args, mut is_distinct, mut is_of_all) = (Vec::new(), false, false);
        if let FunctionArguments::List(list) = &function.args {
            if !list.clauses.is_empty() {
                return not_here(function);
            }
            is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
            for arg in &list.args {
                match arg {
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => args.push(self.node(expr)?),
                    FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => is_of_all = name != "count",
                    _ => return not_here(function),
                }
            }
        }
        if is_of_all && calls::reduce(&name, &[], false, None)?.is_none() {
            // A wrong name is the first mistake.
            calls::scalar(&name, Vec::new())?;
        }
        if is_of_all || !function.within_group.is_empty() || function.null_treatment.is_some() {
            return not_here(function);
        }
        let filter = function.filter.as_ref().map(|filter| self.condition(filter)).transpose()?;
        let reduced = calls::reduce(&name, &args, is_distinct, filter)?;
        match (&function.over, reduced) {
            (None, Some(_)) if args.iter().any(Node::has_reduce) => wrong(
                format!("{name} is of another function of many rows"),
                "count first, in a WITH or a subquery",
            ),
            (None, Some(node)) => Ok(node),
            (_, None) if is_distinct || function.filter.is_some() => not_here(function),
            (None, None) => calls::scalar(&name, args),
            (Some(over), reduced) => {
                let spec = self.window_spec(over)?;
                let order = spec.order_by.iter().map(|by| self.order(by)).collect::<Result<Vec<_>>>()?;
                let frame = frame(&spec)?;
                let by = self.all(&spec.partition_by)?;
                calls::window(&name, reduced, args, by, order, frame)
            }
        }
    }

    fn window_spec(&self, over: &WindowType) -> Result<WindowSpec> {
        let name = match over {
            WindowType::WindowSpec(spec) if spec.window_name.is_none() => return Ok(spec.clone()),
            WindowType::WindowSpec(spec) => return not_here(spec),
            WindowType::NamedWindow(name) => name,
        };
        let found = self.windows.iter().find(|window| is_same(&window.0.value, &name.value));
        match found.map(|window| &window.1) {
            Some(NamedWindowExpr::WindowSpec(spec)) => Ok(spec.clone()),
            _ => wrong(format!("there is no window {name}"), "name it: WINDOW w AS (PARTITION BY county)"),
        }
    }

    /// What is sorted by, NULL last if nothing else is said.
    pub(super) fn order(&self, by: &OrderByExpr) -> Result<Order> {
        if by.with_fill.is_some() {
            return not_here(by);
        }
        Ok(order_of(self.node(&by.expr)?, &by.options))
    }
}

pub(super) fn order_of(by: Node, options: &sqlparser::ast::OrderByOptions) -> Order {
    Order { by, descends: options.asc == Some(false), nulls_last: options.nulls_first != Some(true) }
}

fn frame(spec: &WindowSpec) -> Result<Frame> {
    let Some(frame) = &spec.window_frame else {
        // Without an order all rows are peers.
        return Ok(if spec.order_by.is_empty() { Frame::Rows(None, None) } else { Frame::Peers });
    };
    let bound = |bound: &WindowFrameBound| -> Option<Option<i64>> {
        let rows = |rows: &Option<Box<Expr>>| match rows.as_deref() {
            None => Some(None),
            Some(Expr::Value(value)) => value.to_string().parse().ok().map(Some),
            Some(_) => None,
        };
        match bound {
            WindowFrameBound::CurrentRow => Some(Some(0)),
            WindowFrameBound::Preceding(of) => rows(of).map(|of| of.map(|of: i64| -of)),
            WindowFrameBound::Following(of) => rows(of),
        }
    };
    let last = frame.end_bound.as_ref().unwrap_or(&WindowFrameBound::CurrentRow);
    let is_unbounded = matches!(frame.start_bound, WindowFrameBound::Preceding(None));
    let is_turned = matches!(frame.start_bound, WindowFrameBound::Following(None))
        || matches!(last, WindowFrameBound::Preceding(None));
    match (frame.units, last) {
        _ if is_turned => {
            wrong("a frame begins after its end", "such as: ROWS BETWEEN 6 PRECEDING AND CURRENT ROW")
        }
        (_, WindowFrameBound::Following(None)) if is_unbounded => Ok(Frame::Rows(None, None)),
        (WindowFrameUnits::Range, WindowFrameBound::CurrentRow) if is_unbounded => Ok(Frame::Peers),
        (WindowFrameUnits::Rows, last) => match (bound(&frame.start_bound), bound(last)) {
            (Some(start), Some(end)) if start.is_none_or(|start| end.is_none_or(|end| start <= end)) => {
                Ok(Frame::Rows(start, end))
            }
            _ => not_here("such a frame"),
        },
        _ => not_here("a frame by values"),
    }
}

fn is_comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

/// A text with its type before it.
fn typed_text(typed: &TypedString) -> Result<Node> {
    let text = typed.value.clone().into_string().unwrap_or_default();
    let (text, (kind, size)) = (Node::text(&text), kind_of(&typed.data_type)?);
    if size == 64 { constant_as(&text, kind) } else { cast_as(text, kind, size, false) }
}
