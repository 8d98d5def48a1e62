//! Rows of `officers` ↔ officer records.

use super::Table;
use super::row::{disk_instant, row_columns};
use crate::contract::business::Officer;
use jiff::Timestamp;

/// One officer of one business. The column dictionary says what each field means.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the column dictionary has the meaning of each column")]
pub struct OfficerRow {
    pub business_id: i64,
    pub position: i32,
    pub name: String,
    pub title: String,
    pub fetched_at: Timestamp,
}

row_columns!(OfficerRow, Table::Officers, { business_id, position, name, title, fetched_at });

impl OfficerRow {
    /// The row of the officer at a position of the API's list, counted from 0.
    pub fn new(business_id: i64, position: i32, officer: &Officer, fetched_at: Timestamp) -> Self {
        let Officer { name, title } = officer.clone();
        Self { business_id, position, name, title, fetched_at: disk_instant(fetched_at) }
    }

    /// The officer record of the row.
    pub fn into_officer(self) -> Officer {
        Officer { name: self.name, title: self.title }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::row::tests::assert_round_trip;

    #[test]
    fn officers_round_trip_and_give_their_record_back() {
        let officer = Officer { name: "DOE, JANE".to_owned(), title: String::new() };
        let row = OfficerRow::new(7, 24, &officer, Timestamp::UNIX_EPOCH);
        assert_round_trip(std::slice::from_ref(&row));
        assert_eq!(row.into_officer(), officer);
    }
}
