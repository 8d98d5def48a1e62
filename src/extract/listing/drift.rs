//! Whether rows change while a listing is read (pure).

/// What was noticed of drift: rows that arrive, leave or change while they are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Drift {
    reading: bool,
    range: bool,
    range_before: bool,
}

impl Drift {
    pub(crate) fn note(&mut self) {
        (self.reading, self.range) = (true, true);
    }

    /// Begins another reading of the same day range.
    pub(crate) fn begin_reading(&mut self) {
        self.reading = false;
    }

    pub(crate) fn of_next_range(self) -> Self {
        Self { range_before: self.range, ..Self::default() }
    }

    /// Whether rows drifted during the current reading.
    pub(crate) fn is_seen(self) -> bool {
        self.reading
    }

    /// Whether rows drifted during this day range.
    pub(crate) fn is_in_range(self) -> bool {
        self.range
    }

    /// Whether rows drifted during this day range or the one before. No sum over several queries proves anything then.
    pub(crate) fn is_likely(self) -> bool {
        self.range || self.range_before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_likely_until_a_day_range_without_it() {
        let mut drift = Drift::default();
        assert!(!drift.is_seen() && !drift.is_likely());
        drift.note();
        drift.begin_reading();
        assert!(!drift.is_seen() && drift.is_in_range() && drift.is_likely(), "another reading of it");
        drift = drift.of_next_range();
        assert!(!drift.is_in_range() && drift.is_likely(), "the next range");
        assert_eq!(drift.of_next_range(), Drift::default());
    }
}
