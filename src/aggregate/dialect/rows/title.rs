//! Names of columns that a query does not name: those that `DuckDB` gives.

use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments};

/// The name of a column with this value.
pub(super) fn title(expr: &Expr) -> String {
    match expr {
        Expr::Nested(inner) => title(inner),
        Expr::Identifier(name) => name.value.clone(),
        Expr::CompoundIdentifier(names) => {
            names.iter().map(|name| name.value.as_str()).collect::<Vec<_>>().join(".")
        }
        Expr::TypedString(typed) => {
            format!("CAST({} AS {})", typed.value, typed.data_type.to_string().to_lowercase())
        }
        Expr::BinaryOp { left, op, right } => format!("({} {op} {})", title(left), title(right)),
        Expr::UnaryOp { op: sqlparser::ast::UnaryOperator::Minus, expr } => format!("-{}", title(expr)),
        Expr::UnaryOp { op, expr } => format!("({op} {})", title(expr)),
        Expr::IsNull(of) => format!("({} IS NULL)", title(of)),
        Expr::IsNotNull(of) => format!("({} IS NOT NULL)", title(of)),
        Expr::Cast { expr, data_type, .. } => format!("CAST({} AS {data_type})", title(expr)),
        Expr::Function(function) => of_function(function),
        other => other.to_string(),
    }
}

fn of_function(function: &Function) -> String {
    let name = function.name.to_string().to_lowercase();
    let FunctionArguments::List(list) = &function.args else { return function.to_string() };
    let args: Vec<String> = list
        .args
        .iter()
        .map(|arg| match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => title(expr),
            other => other.to_string(),
        })
        .collect();
    let distinct = if list.duplicate_treatment.is_some() { "DISTINCT " } else { "" };
    let mut text = match (&*name, &args[..]) {
        ("count", [] | [_]) if args.first().is_none_or(|arg| arg == "*") => "count_star()".to_owned(),
        _ => format!("{name}({distinct}{})", args.join(", ")),
    };
    if let Some(filter) = &function.filter {
        text.push_str(&format!(" FILTER (WHERE {})", title(filter)));
    }
    if let Some(over) = &function.over {
        text.push_str(&format!(" OVER ({})", over.to_string().trim_start_matches('(').trim_end_matches(')')));
    }
    text
}
