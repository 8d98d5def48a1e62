//! Exponential backoff of days whose readings stay incomplete.

use crate::contract::eastern::span_days;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// Most days between two readings of a day.
const LONGEST_PAUSE: u32 = 14;

/// Incomplete readings of a day, one after another. A row that nothing finds is likely to stay out of reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadBackoff {
    pub(crate) times: u32,
    pub(crate) on: Date,
}

impl ReadBackoff {
    /// The backoff after one more incomplete reading.
    pub(crate) fn after(before: Option<Self>, on: Date) -> Self {
        Self { times: before.map_or(0, |backoff| backoff.times) + 1, on }
    }

    /// Whether the day is skipped today. After the first incomplete reading it is read at once, for rows may only have changed
    /// during the reading; then after 2, 4, 8 and 14 days.
    pub(crate) fn is_backing_off(self, today: Date) -> bool {
        let pause = 1 << self.times.saturating_sub(1).min(4);
        self.times > 1 && span_days(self.on, today) <= LONGEST_PAUSE.min(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::eastern::plus_days;
    use jiff::civil::date;

    #[test]
    fn pauses_grow_with_each_incomplete_reading() {
        let on = date(2026, 7, 1);
        let mut backoff = ReadBackoff::after(None, on);
        let mut pauses = Vec::new();
        for _ in 0..6 {
            pauses.push((0..40).find(|nights| !backoff.is_backing_off(plus_days(on, *nights))));
            backoff = ReadBackoff::after(Some(backoff), on);
        }
        assert_eq!(pauses, [Some(0), Some(2), Some(4), Some(8), Some(14), Some(14)]);
    }
}
