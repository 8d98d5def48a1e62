//! Whether rows move while a listing is read (pure).

/// What was seen of rows that move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Drift {
    reading: bool,
    stretch: bool,
    stretch_before: bool,
}

impl Drift {
    /// Rows were seen to move.
    pub(crate) fn note(&mut self) {
        (self.reading, self.stretch) = (true, true);
    }

    /// Another reading begins.
    pub(crate) fn begin_reading(&mut self) {
        self.reading = false;
    }

    /// Another stretch begins.
    pub(crate) fn begin_stretch(&mut self) {
        *self = Self { stretch_before: self.stretch, ..Self::default() };
    }

    /// Whether rows moved during the reading in hand.
    pub(crate) fn is_seen(&self) -> bool {
        self.reading
    }

    /// Whether rows moved during this stretch.
    pub(crate) fn is_in_stretch(&self) -> bool {
        self.stretch
    }

    /// Whether rows moved during this stretch or the one before, so that no sum over several readings proves anything.
    pub(crate) fn is_likely(&self) -> bool {
        self.stretch || self.stretch_before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_moved_are_likely_to_move_until_a_stretch_was_calm() {
        let mut drift = Drift::default();
        assert!(!drift.is_seen() && !drift.is_likely());
        drift.note();
        drift.begin_reading();
        assert!(!drift.is_seen() && drift.is_in_stretch() && drift.is_likely(), "another reading of it");
        drift.begin_stretch();
        assert!(!drift.is_in_stretch() && drift.is_likely(), "the stretch after");
        drift.begin_stretch();
        assert_eq!(drift, Drift::default());
    }
}
