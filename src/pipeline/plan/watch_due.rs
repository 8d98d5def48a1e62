//! Which document numbers of a watch list must be looked up (pure).
//!
//! A number is due when it was never looked up, or longer ago than the pipeline allows. A number that the API does not know is reported
//! by name.

use super::due::repeated_before;
use crate::contract::id::DocumentNumber;
use crate::pipeline::config::spec::EnrichSpec;
use crate::pipeline::state::run_state::EnrichState;
use jiff::Timestamp;

/// Days after which a number is looked up again where the pipeline names no other number: a month.
const USUAL_AGE_DAYS: u32 = 30;

/// The numbers of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DueNumbers {
    /// To look up, in the order of the list.
    pub(crate) due: Vec<DocumentNumber>,
    /// Number of those that earlier parts of this run looked up.
    pub(crate) looked_up: u64,
}

/// The numbers that are due for a run that began at this time.
pub(crate) fn due_numbers(
    list: &[DocumentNumber],
    spec: &EnrichSpec,
    state: &EnrichState,
    began: Timestamp,
) -> DueNumbers {
    let repeated_before = repeated_before(began, spec.max_age_days.unwrap_or(USUAL_AGE_DAYS));
    let looked_up_at = |number: &DocumentNumber| state.watched.get(number.as_str()).copied();
    let is_due = |number: &&DocumentNumber| looked_up_at(number).is_none_or(|at| at < repeated_before);
    let looked_up = list.iter().filter(|number| looked_up_at(number).is_some_and(|at| at >= began)).count();
    let most = spec.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let due = list.iter().filter(is_due).take(most.saturating_sub(looked_up)).cloned().collect();
    DueNumbers { due, looked_up: looked_up as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Span;
    use std::path::PathBuf;

    fn numbers(list: &[DocumentNumber]) -> Vec<&str> {
        list.iter().map(DocumentNumber::as_str).collect()
    }

    #[test]
    fn a_number_is_due_once_a_month_or_as_often_as_the_pipeline_says() {
        let list: Vec<_> =
            ["P00001", "P00002", "P00003"].into_iter().filter_map(DocumentNumber::parse).collect();
        let now: Timestamp = "2026-07-31T12:00:00Z".parse().expect("an instant");
        let days_ago = |days: i64| now - Span::new().hours(days * 24);
        let watched = [("P00001", days_ago(31)), ("P00003", days_ago(29))];
        let mut state = EnrichState {
            watched: watched.map(|(number, at)| (number.to_owned(), at)).into(),
            ..EnrichState::default()
        };
        let mut spec = EnrichSpec {
            condition: None,
            documents: Some(PathBuf::from("watch.csv")),
            limit: None,
            max_age_days: None,
            officers: true,
        };
        assert_eq!(numbers(&due_numbers(&list, &spec, &state, now).due), ["P00001", "P00002"]);
        spec.max_age_days = Some(7);
        spec.limit = Some(2);
        assert_eq!(numbers(&due_numbers(&list, &spec, &state, now).due), ["P00001", "P00002"]);
        state.watched.insert("P00002".to_owned(), now);
        let resumed = due_numbers(&list, &spec, &state, now);
        assert_eq!((numbers(&resumed.due), resumed.looked_up), (vec!["P00001"], 1));
    }

    #[test]
    fn a_number_of_each_morning_is_due_whenever_in_the_morning_it_was_looked_up() {
        let at = |text: &str| text.parse::<Timestamp>().expect("an instant");
        let began = at("2026-07-31T10:00:00Z");
        let is_repeated = |looked_up: &str, days| at(looked_up) < repeated_before(began, days);
        assert!(is_repeated("2026-07-30T10:00:07Z", 1), "seconds after the run of the day before began");
        assert!(is_repeated("2026-07-31T03:59:59Z", 1), "the end of the Eastern day before");
        assert!(!is_repeated("2026-07-31T04:00:00Z", 1) && !is_repeated("2026-07-30T10:00:07Z", 2));
        assert!(is_repeated("2026-07-31T09:59:59Z", 0) && !is_repeated("2026-07-31T10:00:00Z", 0));
        assert!(!is_repeated("2026-07-01T10:00:00Z", u32::MAX));
    }
}
