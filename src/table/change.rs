//! Rows of `changes`: what a run saw appear, change, vanish, return.

use super::Table;
use super::row::{Cell, row_columns};
use arrow::array::StringArray;
use jiff::Timestamp;

/// What happened to a business between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    /// Its first reading.
    Appeared,
    /// A column has another value.
    Changed,
    /// A complete reading of its day no longer shows it.
    Vanished,
    /// It is shown again after it had vanished.
    Returned,
}

impl Change {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Appeared, Self::Changed, Self::Vanished, Self::Returned];

    /// The word on disk.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Appeared => "appeared",
            Self::Changed => "changed",
            Self::Vanished => "vanished",
            Self::Returned => "returned",
        }
    }
}

impl Cell for Change {
    type Column = StringArray;

    fn column<'a>(cells: impl Iterator<Item = &'a Self>) -> Self::Column {
        StringArray::from_iter_values(cells.map(|change| change.name()))
    }

    fn read(column: &Self::Column, row: usize) -> Result<Self, (String, &'static str)> {
        let word = column.value(row);
        Self::ALL
            .into_iter()
            .find(|change| change.name() == word)
            .ok_or_else(|| (format!("{word:?}"), "no kind of change"))
    }
}

/// One change of one business. The column dictionary says what each field means.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the column dictionary has the meaning of each column")]
pub struct ChangeRow {
    pub observed_at: Timestamp,
    pub business_id: i64,
    pub change: Change,
    pub field: String,
    pub old: Option<String>,
    pub new: Option<String>,
    pub run_id: String,
}

row_columns!(ChangeRow, Table::Changes, { observed_at, business_id, change, field, old, new, run_id });
