//! The words of progress, and as many of them as fit a line.

use super::words::{duration, number};
use crate::client::{Pause, PauseReason};
use crate::pipeline::{Done, Reading, Work};
use std::time::Duration;

/// What a run does, and how far it is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shown {
    pub(super) reading: Reading,
    /// The pause that is under way, and what is left of it.
    pub(super) pause: Option<(PauseReason, Duration)>,
    /// What the run does after its requests.
    pub(super) work: Option<Work>,
}

/// Cells of the drawn bar.
const CELLS: u64 = 16;

/// The parts of the line, from left to right. On a narrow terminal, parts are shortened or left out in the order of [`Part::FORMS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Bar,
    Requests,
    Filings,
    Days,
    Pause,
    ShortPause,
    Quota,
    TimeLeft,
}

impl Part {
    /// The forms of the line, from the longest to the shortest.
    const FORMS: [&[Self]; 8] = [
        &[Self::Bar, Self::Requests, Self::Filings, Self::Days, Self::Pause, Self::Quota, Self::TimeLeft],
        Self::ALL_WORDS,
        &[Self::Requests, Self::Filings, Self::Days, Self::ShortPause, Self::Quota, Self::TimeLeft],
        &[Self::Requests, Self::Filings, Self::Days, Self::ShortPause, Self::TimeLeft],
        &[Self::Requests, Self::Filings, Self::ShortPause, Self::TimeLeft],
        &[Self::Requests, Self::ShortPause, Self::TimeLeft],
        &[Self::Requests, Self::TimeLeft],
        &[Self::Requests],
    ];
    const ALL_WORDS: &[Self] =
        &[Self::Requests, Self::Filings, Self::Days, Self::Pause, Self::Quota, Self::TimeLeft];
}

impl Shown {
    /// The line for a terminal of this width.
    pub(super) fn line(&self, width: usize) -> String {
        if let Some(work) = self.work {
            return work_words(work);
        }
        if self.reading.requests == 0 && self.pause.is_none() {
            return "Asking the API".to_owned();
        }
        let mut lines = Part::FORMS.iter().map(|parts| self.words(parts));
        lines.clone().find(|line| line.chars().count() <= width).or(lines.next_back()).unwrap_or_default()
    }

    /// All there is to say, for a log line.
    pub(super) fn all(&self) -> String {
        match self.work {
            Some(work) => work_words(work),
            None => self.words(Part::ALL_WORDS),
        }
    }

    /// Whether the day's quota ends before the run.
    fn ends_later(&self) -> bool {
        let left = self.reading.planned.map(|planned| planned.saturating_sub(self.reading.requests));
        left.zip(self.reading.quota).is_some_and(|(left, (today, _))| left > u64::from(today))
    }

    fn words(&self, parts: &[Part]) -> String {
        parts.iter().filter_map(|part| self.part(*part)).collect::<Vec<_>>().join("  ")
    }

    fn part(&self, part: Part) -> Option<String> {
        let reading = &self.reading;
        // More requests than were estimated: all but done.
        let planned = reading.planned.map(|planned| planned.max(reading.requests));
        match part {
            Part::Bar => planned.map(|planned| bar(reading.requests, planned)),
            Part::Requests => Some(match planned {
                Some(planned) => format!("{}/{} requests", number(reading.requests), number(planned)),
                None => format!("{} requests", number(reading.requests)),
            }),
            Part::Filings => (reading.filings > 0).then(|| format!("{} filings", number(reading.filings))),
            Part::Days => (reading.days_wanted > 0)
                .then(|| format!("{}/{} days", number(reading.days), number(reading.days_wanted))),
            Part::Pause => {
                self.pause.map(|(reason, left)| format!("waiting {} {}", duration(left), why(reason)))
            }
            Part::ShortPause => self.pause.map(|(_, left)| format!("waiting {}", duration(left))),
            Part::Quota => reading.quota.map(|(today, month)| {
                if today <= month {
                    format!("{} left today", number(u64::from(today)))
                } else {
                    format!("{} left this month", number(u64::from(month)))
                }
            }),
            Part::TimeLeft if self.ends_later() => Some("continues tomorrow".to_owned()),
            Part::TimeLeft => {
                let left = reading.time_left.filter(|left| left.as_millis() >= 500);
                left.map(|left| format!("{} to go", time_left(left)))
            }
        }
    }
}

fn bar(done: u64, planned: u64) -> String {
    let full = (done * CELLS / planned.max(1)).min(CELLS);
    let cells = (0..CELLS).map(|cell| if cell < full { '█' } else { '░' });
    cells.collect()
}

/// The last half minute has too few requests for a better estimate.
fn time_left(left: Duration) -> String {
    const SHORTEST: Duration = Duration::from_secs(30);
    if left < SHORTEST { format!("under {}", duration(SHORTEST)) } else { duration(left) }
}

fn why(reason: PauseReason) -> &'static str {
    match reason {
        PauseReason::Minute => "for the minute's quota",
        PauseReason::Asked => "as the API asks",
        PauseReason::Retry => "to try again",
    }
}

/// A pause as it begins, for a log line.
pub(super) fn pause_words(pause: Pause) -> String {
    format!("waiting {} {}", duration(pause.length), why(pause.reason))
}

fn work_words(work: Work) -> String {
    match work {
        Work::Merging => "Merging rows into the tables".to_owned(),
        Work::AddingUp(aggregates) => format!("Adding up {aggregates} aggregates"),
        Work::Publishing => "Checking and publishing".to_owned(),
    }
}

/// The line of a finished part.
pub(super) fn done_words(done: Done) -> String {
    match done {
        Done::Read(filings, time) => format!("Read {} filings in {}", number(filings), duration(time)),
        Done::LookedUp(businesses, time) => {
            format!("Looked up {} businesses in {}", number(businesses), duration(time))
        }
        Done::AddedUp(aggregates, time) => format!("Added up {aggregates} aggregates in {}", duration(time)),
        Done::Published(snapshot) => format!("Published snapshot {snapshot}"),
        Done::Held(snapshot) => format!("Made snapshot {snapshot}, which waits for review"),
        Done::Unchanged(Some(snapshot)) => format!("Nothing differs from snapshot {snapshot}"),
        Done::Unchanged(None) => "Nothing to publish".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> Shown {
        Shown {
            reading: Reading {
                requests: 340,
                planned: Some(1_704),
                filings: 31_353,
                days: 12,
                days_wanted: 90,
                quota: Some((9_660, 99_660)),
                time_left: Some(Duration::from_secs(1_382)),
            },
            pause: Some((PauseReason::Minute, Duration::from_millis(30_400))),
            work: None,
        }
    }

    #[test]
    fn a_line_says_what_fits_its_terminal() {
        for (width, line) in [
            (
                140,
                "███░░░░░░░░░░░░░  340/1,704 requests  31,353 filings  12/90 days  waiting 31 s for the minute's quota  9,660 left today  24 min to go",
            ),
            (
                120,
                "340/1,704 requests  31,353 filings  12/90 days  waiting 31 s for the minute's quota  9,660 left today  24 min to go",
            ),
            (80, "340/1,704 requests  31,353 filings  12/90 days  waiting 31 s  24 min to go"),
            (60, "340/1,704 requests  waiting 31 s  24 min to go"),
            (30, "340/1,704 requests"),
        ] {
            assert_eq!(shown().line(width), line);
            assert!(line.chars().count() <= width);
        }
        let unpaused = Shown { pause: None, ..shown() };
        assert_eq!(unpaused.line(60), "340/1,704 requests  31,353 filings  12/90 days  24 min to go");
        let mut starter = unpaused;
        starter.reading.quota = Some((976, 9_976));
        let line = "340/1,704 requests  31,353 filings  12/90 days  976 left today  continues tomorrow";
        assert_eq!(starter.line(90), line);
        let mut last = unpaused;
        last.reading.time_left = Some(Duration::from_secs(12));
        assert_eq!(last.line(60), "340/1,704 requests  31,353 filings  under 30 s to go");
    }

    #[test]
    fn more_requests_than_estimated_are_never_more_than_all() {
        let mut late = shown();
        late.reading.requests = 1_800;
        assert!(late.line(100).starts_with("1,800/1,800 requests"), "{}", late.line(100));
    }

    #[test]
    fn nothing_is_said_of_what_a_pipeline_does_not_have() {
        let reading = Reading { requests: 3, ..Reading::default() };
        assert_eq!(Shown { reading, ..Shown::default() }.line(120), "3 requests");
        assert_eq!(Shown::default().line(120), "Asking the API");
    }
}
