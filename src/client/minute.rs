//! The last 60 seconds of requests (pure).
//!
//! Answers are counted in slots of a quarter second. A slot expires 60 s after its end, measured from answers, so no minute
//! that the server may use, fixed or sliding, holds more requests than allowed. A request without an answer counts as long as it
//! is under way.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

const SLOT_MS: i64 = 250;
const MINUTE_MS: i64 = 60_000;
/// A request without an answer after this time belongs to a process that is gone; its minute has passed.
const ABANDONED_MS: i64 = 180_000;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MinuteWindow {
    /// Slot number, and the requests answered in it.
    slots: Vec<(i64, u32)>,
    /// When each request still under way was sent, in ms.
    under_way: Vec<i64>,
}

impl MinuteWindow {
    /// Drops what is older than the window.
    pub(super) fn roll(&mut self, now: Timestamp) {
        let now_ms = now.as_millisecond();
        let oldest = (now_ms - MINUTE_MS).div_euclid(SLOT_MS);
        let newest = now_ms.div_euclid(SLOT_MS);
        // After the clock was set back, later entries would stay until the clock reaches them again.
        self.slots.iter_mut().for_each(|(slot, _)| *slot = newest.min(*slot));
        self.under_way.iter_mut().for_each(|sent| *sent = now_ms.min(*sent));
        self.slots.retain(|(slot, _)| *slot >= oldest);
        self.under_way.retain(|sent| now_ms - sent < ABANDONED_MS);
    }

    /// Requests in the window, those under way included.
    pub(super) fn used(&self) -> u32 {
        self.slots.iter().map(|(_, count)| count).sum::<u32>() + self.under_way.len() as u32
    }

    pub(super) fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Milliseconds until a request leaves the window: 1 to 60,000. One under way may be answered sooner.
    pub(super) fn wait_ms(&self, now: Timestamp) -> i64 {
        let now_ms = now.as_millisecond();
        let answered = self.slots.iter().map(|(slot, _)| (slot + 1) * SLOT_MS + MINUTE_MS);
        let abandoned = self.under_way.iter().map(|sent| sent + ABANDONED_MS);
        let first = answered.chain(abandoned).min().unwrap_or(now_ms).min(now_ms + MINUTE_MS);
        (first - now_ms).max(1)
    }

    /// Estimated milliseconds until this many more requests may have begun, with `most` in a minute: those without room begin evenly
    /// from the time when the first may. After a burst they take up to a minute less, but a number of requests that is a little too low
    /// would miss a full minute.
    pub(super) fn delay_ms(&self, requests: u64, now: Timestamp, most: u32) -> i64 {
        let room = u64::from(most.max(1)).saturating_sub(u64::from(self.used()));
        let Some(later) = requests.checked_sub(room + 1) else { return 0 };
        let later = i64::try_from(later).unwrap_or(i64::MAX / MINUTE_MS).saturating_mul(MINUTE_MS);
        let first = if self.used() == 0 { MINUTE_MS } else { self.wait_ms(now) };
        first.saturating_add(later / i64::from(most.max(1)))
    }

    pub(super) fn begin(&mut self, now: Timestamp) {
        self.under_way.push(now.as_millisecond());
    }

    /// Counts a request as answered now.
    pub(super) fn release(&mut self, sent: Timestamp, now: Timestamp) {
        self.give_back(sent);
        self.count(now, 1);
    }

    /// Takes back a request that was counted at this time.
    pub(super) fn give_back(&mut self, sent: Timestamp) {
        let sent_ms = sent.as_millisecond();
        // After the clock was set back, its entry may have an earlier time: the newest one no later than it is taken then.
        let known = self.under_way.iter().enumerate().filter(|(_, known)| **known <= sent_ms);
        if let Some(at) = known.max_by_key(|(_, known)| **known).map(|(at, _)| at) {
            self.under_way.swap_remove(at);
        }
    }

    pub(super) fn count(&mut self, now: Timestamp, requests: u32) {
        let slot = now.as_millisecond().div_euclid(SLOT_MS);
        match self.slots.last_mut() {
            Some((last, count)) if *last == slot => *count += requests,
            _ => self.slots.push((slot, requests)),
        }
    }

    pub(super) fn absorb(&mut self, other: Self) {
        self.slots.extend(other.slots);
        self.slots.sort_unstable();
        self.under_way.extend(other.under_way);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::counts::tests::at;
    use crate::client::counts::{Allowance, Counts, Ticket, Verdict};
    use proptest::prelude::*;

    /// Milliseconds until the last of some requests begins, when each begins as soon as it may and is answered at once.
    fn begun_after_ms(mut window: MinuteWindow, requests: u64, most: u32) -> i64 {
        let mut now_ms = 0;
        for _ in 0..requests {
            window.roll(at(now_ms));
            while window.used() >= most {
                now_ms += window.wait_ms(at(now_ms));
                window.roll(at(now_ms));
            }
            window.begin(at(now_ms));
            window.release(at(now_ms), at(now_ms));
        }
        now_ms
    }

    #[test]
    fn requests_take_at_most_a_minute_less_than_their_delay() {
        for (used, apart_ms) in [(0, 0), (10, 50), (10, 4_000), (7, 900), (3, 0)] {
            let mut window = MinuteWindow::default();
            let begun = (0..used).map(|number| (number - used) * apart_ms);
            begun.for_each(|ms| window.count(at(ms), 1));
            window.roll(at(0));
            for requests in [1, 2, 3, 7, 9, 10, 11, 25, 100] {
                let (delay, took) =
                    (window.delay_ms(requests, at(0), 10), begun_after_ms(window.clone(), requests, 10));
                // A slot that takes in later requests delays each further round by its length.
                assert!(
                    (-MINUTE_MS..=SLOT_MS * 10).contains(&(took - delay)),
                    "{used} {apart_ms} {requests}: {delay} {took}"
                );
                assert_eq!(took == 0, delay == 0, "{used} {apart_ms} {requests}");
            }
        }
    }

    #[derive(Clone, Copy)]
    enum Step {
        Ask,
        Answered(Ticket),
    }

    /// The times at which requests reach the server, when `askers` share one ledger and each sends one request at a time. A
    /// request arrives at any time between its sending and its answer.
    fn arrivals(askers: usize, latency_ms: i64, lag_ms: i64, per_minute: u32, until_ms: i64) -> Vec<i64> {
        let allowance = Allowance { per_minute, per_day: u32::MAX, per_month: u32::MAX };
        let mut counts = Counts::default();
        let mut next: Vec<(i64, Step)> = (0..askers).map(|asker| (asker as i64, Step::Ask)).collect();
        let mut arrivals = Vec::new();
        loop {
            let asker = (0..askers).min_by_key(|asker| next[*asker].0).expect("an asker");
            let (ms, step) = next[asker];
            if ms > until_ms {
                arrivals.sort_unstable();
                return arrivals;
            }
            next[asker] = match step {
                Step::Ask => match counts.admit(at(ms), &allowance) {
                    Verdict::Go(ticket) => {
                        arrivals.push(ms + arrivals.len() as i64 * 7_919 % latency_ms);
                        (ms + latency_ms, Step::Answered(ticket))
                    }
                    Verdict::WaitMinute(wait) => (ms + wait + lag_ms, Step::Ask),
                    other => panic!("{other:?}"),
                },
                Step::Answered(ticket) => {
                    counts.release(&ticket, at(ms));
                    (ms + lag_ms, Step::Ask)
                }
            };
        }
    }

    #[test]
    fn slow_answers_keep_95_percent_of_the_pace() {
        for (per_minute, askers, latency_ms) in [
            (20, 1, 300),
            (60, 1, 300),
            (120, 1, 300),
            (120, 3, 300),
            (120, 3, 1_000),
            (60, 2, 1_000),
            (20, 3, 1_000),
        ] {
            let minutes = 20;
            let arrivals = arrivals(askers, latency_ms, 3, per_minute, minutes * MINUTE_MS);
            let share = arrivals.len() as f64 / (minutes as f64 * f64::from(per_minute));
            assert!(share > 0.95, "{share:.3} of {per_minute} a minute with {askers} at {latency_ms} ms");
        }
    }

    proptest! {
        #[test]
        fn no_60_seconds_at_the_server_exceed_the_minute_limit(
            askers in 1usize..9,
            latency_ms in 1i64..4_000,
            lag_ms in 0i64..50,
            per_minute in 1u32..130,
        ) {
            let arrivals = arrivals(askers, latency_ms, lag_ms, per_minute, 5 * MINUTE_MS);
            let beyond = arrivals.windows(per_minute as usize + 1).find(|some| some[per_minute as usize] - some[0] <= MINUTE_MS);
            prop_assert!(beyond.is_none(), "{:?}", beyond);
        }
    }
}
