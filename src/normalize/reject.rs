//! Records that cannot be normalized: kept as sent, with reason and source.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Where a record was in the API's answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Key of the slice, or path of the look-up.
    pub slice: String,
    /// Rows of the listing before the page.
    pub offset: u32,
}

/// One record that gives no row; a line of `runs/<run_id>/quarantine/*.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// Key of the slice, or path of the look-up.
    pub slice: String,
    /// Records of the listing before this one; `None` when the answer could not be cut into records.
    pub position: Option<u64>,
    /// The digits of the service id, when readable.
    pub business_id: Option<i64>,
    /// Every problem, each naming its field.
    pub reasons: Vec<String>,
    /// When the API returned the record.
    pub seen_at: Timestamp,
    /// The record's JSON text as sent; bytes that are not UTF-8 become U+FFFD.
    pub record: String,
}

impl Reject {
    /// The reject as one line of JSON, with its line end.
    pub fn line(&self) -> serde_json::Result<String> {
        Ok(format!("{}\n", serde_json::to_string(self)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::answer::Answer;

    #[test]
    fn a_reject_is_one_line_that_keeps_the_record() {
        let record = "{\"name\":\n\"\\ud800\", \"x\":1e999}";
        let place = Place { slice: "filed:2026-11-20".to_owned(), offset: 50 };
        let answer = Answer::new(b"", &place, Timestamp::UNIX_EPOCH);
        let reject = answer.reject(3, record, Some(7), vec!["name cannot be read".to_owned()]);
        let line = reject.line().expect("a line");
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.ends_with('\n'));
        assert_eq!(serde_json::from_str::<Reject>(&line).expect("a reject"), reject);
        assert_eq!(reject.position, Some(53));
    }
}
