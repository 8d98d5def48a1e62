//! SQL that is not run: what is wrong with it, and the hint.

use crate::contract::hint::nearest;
use polars::error::PolarsError;

/// Why SQL has no plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub reason: String,
    /// The form to use.
    pub hint: Option<String>,
    /// Whether `DuckDB` may run it.
    pub is_for_duckdb: bool,
    /// A table that does not exist.
    pub missing: Option<String>,
}

/// What planning gives, or why there is no plan.
pub(super) type Result<T, E = Refusal> = std::result::Result<T, E>;

/// A mistake in SQL, and the form to use.
pub(super) fn wrong<T>(reason: impl Into<String>, hint: impl Into<String>) -> Result<T> {
    Err(Refusal { reason: reason.into(), hint: Some(hint.into()), ..Refusal::default() })
}

/// SQL that is right, and is not run here.
pub(super) fn not_here<T>(what: impl std::fmt::Display) -> Result<T> {
    Err(Refusal::not_here(what))
}

impl Refusal {
    fn not_here(what: impl std::fmt::Display) -> Self {
        Self { reason: format!("{what} is not run here"), is_for_duckdb: true, ..Self::default() }
    }
}

/// How alike words are that are taken for one another: names of tables and columns, and the first word of a query.
pub(super) const ALIKE: f64 = 0.8;

/// The names nearest to a wrong one of a table or column, or all there are.
fn name_hint(wrong: &str, known: &[&str]) -> String {
    match nearest(wrong, known.iter().copied(), ALIKE) {
        Some(near) => format!("did you mean {near}?"),
        None if known.is_empty() => "there is none".to_owned(),
        None => format!("there are {}", known.join(", ")),
    }
}

/// Refuses a table that does not exist. A path gets the hint that files cannot be queried.
pub(super) fn no_table<T>(name: &str, known: &[&str]) -> Result<T> {
    let hint = if name.contains('/') {
        let meant = name.split('/').find(|part| known.contains(part)).unwrap_or("filings");
        format!("a query names the tables of the lake, not files: FROM {meant}")
    } else {
        name_hint(name, known)
    };
    let reason = format!("there is no table {name}");
    Err(Refusal { reason, hint: Some(hint), missing: Some(name.to_owned()), ..Refusal::default() })
}

/// A name that nothing has.
pub(super) fn unknown<T>(what: &str, name: &str, known: &[&str]) -> Result<T> {
    wrong(format!("there is no {what} {name}"), name_hint(name, known))
}

/// How a refusal names a plan that polars did not run. It is a gap of the dialect, which the random queries of the tests look for.
pub(super) const NO_PLAN: &str = "a plan that polars refuses";

impl From<PolarsError> for Refusal {
    fn from(error: PolarsError) -> Self {
        let Some(reason) = first_line(&error) else {
            tracing::debug!(%error, "polars refuses a plan");
            return Self::not_here(NO_PLAN);
        };
        Self { reason, ..Self::default() }
    }
}

/// The first line of an error of a calculation or a file; `None` for every other kind, which is about the inner state of polars.
fn first_line(error: &PolarsError) -> Option<String> {
    let text = match error {
        PolarsError::Context { error, .. } | PolarsError::ExprContext { error, .. } => {
            return first_line(error);
        }
        PolarsError::ComputeError(text) => text.to_string(),
        PolarsError::IO { .. } => error.to_string(),
        _ => return None,
    };
    Some(text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned())
}
