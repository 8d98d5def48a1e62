//! Requests that are counted together, so that a fast run changes the ledger once for many (pure).
//!
//! A plan of fewer than 1,200 requests a minute counts each request alone. A service without such a limit answers thousands a second:
//! then the requests of about a tenth of a second are counted in advance, and their answers noted together. A kill leaves what was
//! not sent counted: too much, never too little. `/v1/me` corrects it.

use super::counts::{Allowance, Counts, Ticket, Verdict};
use super::pause::Quota;
use crate::contract::eastern::eastern_day;
use jiff::Timestamp;

/// Time that a block is meant to last.
const MEANT_MS: i64 = 100;
/// Time after which a block is given back.
const LONGEST_MS: i64 = 1_000;
/// Requests of a block, at most.
const MOST: u32 = 64;
/// Blocks in a minute of the plan, at least.
const LEAST_PER_MINUTE: u32 = 600;

/// Requests of this process that the ledger counts already.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Not sent yet, the next one last.
    waiting: Vec<Ticket>,
    /// Answered, but under way for the ledger.
    answered: Vec<Ticket>,
    /// Requests of the block before.
    size: u32,
    /// When it was counted.
    taken_at: Option<Timestamp>,
    /// The account's windows when a request was last counted or delayed.
    pub(super) quota: Option<Quota>,
}

impl Block {
    /// The next request, if one is counted and still valid.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<Ticket> {
        if self.is_open(now) { self.waiting.pop() } else { None }
    }

    /// The account's windows, as long as a request of this block waits.
    pub(super) fn open_quota(&self, now: Timestamp) -> Option<&Quota> {
        self.quota.as_ref().filter(|_| self.is_open(now))
    }

    fn is_open(&self, now: Timestamp) -> bool {
        let is_young = |taken: Timestamp| {
            (0..LONGEST_MS).contains(&age_ms(taken, now)) && eastern_day(taken) == eastern_day(now)
        };
        !self.waiting.is_empty() && self.taken_at.is_some_and(is_young)
    }

    /// Counts the next block, and settles this one. Decides about its first request; the others wait here.
    pub(super) fn refill(&mut self, counts: &mut Counts, allowance: &Allowance, now: Timestamp) -> Verdict {
        let size = self.next_size(now).min(allowance.per_minute / LEAST_PER_MINUTE).max(1);
        self.settle_in(counts, now);
        let first = counts.admit(now, allowance);
        if let Verdict::Go(_) = first {
            let more = (1..size).map_while(|_| match counts.admit(now, allowance) {
                Verdict::Go(ticket) => Some(ticket),
                _ => None,
            });
            self.waiting = more.collect();
            self.waiting.reverse();
        }
        (self.size, self.taken_at) = (size, Some(now));
        self.quota = Some(Quota { counts: counts.clone(), allowance: *allowance });
        first
    }

    /// Twice as many while blocks last less than they are meant to, half as many when they last longer.
    fn next_size(&self, now: Timestamp) -> u32 {
        match self.taken_at.map(|taken| age_ms(taken, now)) {
            Some(lasted) if lasted < MEANT_MS / 2 => (self.size * 2).min(MOST),
            Some(lasted) if lasted > MEANT_MS => self.size / 2,
            _ => self.size,
        }
    }

    /// Notes an answer; true when it is time to change the ledger.
    pub(super) fn answer(&mut self, ticket: Ticket) -> bool {
        self.answered.push(ticket);
        self.size <= 1 || self.answered.len() >= MOST as usize
    }

    /// Notes the answers in the counts.
    pub(super) fn release_in(&mut self, counts: &mut Counts, now: Timestamp) {
        self.answered.drain(..).for_each(|ticket| counts.release(&ticket, now));
    }

    /// Notes the answers in the counts, and gives back what was not sent.
    pub(super) fn settle_in(&mut self, counts: &mut Counts, now: Timestamp) {
        self.release_in(counts, now);
        // The newest first.
        self.waiting.drain(..).for_each(|ticket| counts.give_back(&ticket, now));
    }

    /// Drops requests that the ledger could not count.
    pub(super) fn forget(&mut self) {
        self.waiting.clear();
    }

    /// Whether the ledger knows all of it.
    pub(super) fn is_settled(&self) -> bool {
        self.waiting.is_empty() && self.answered.is_empty()
    }
}

fn age_ms(taken: Timestamp, now: Timestamp) -> i64 {
    now.as_millisecond() - taken.as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::counts::Used;
    use crate::client::counts::tests::at;

    /// Sends requests, each answered at once, `apart_ms` apart. Returns how often the counts were changed for one.
    fn send(
        block: &mut Block,
        counts: &mut Counts,
        allowance: &Allowance,
        requests: i64,
        apart_ms: i64,
    ) -> u32 {
        let mut changes = 0;
        for number in 0..requests {
            let now = at(number * apart_ms);
            let ticket = block.next(now).unwrap_or_else(|| {
                changes += 1;
                match block.refill(counts, allowance, now) {
                    Verdict::Go(ticket) => ticket,
                    other => panic!("{other:?}"),
                }
            });
            if block.answer(ticket) {
                block.release_in(counts, now);
            }
        }
        changes
    }

    fn allowance(per_minute: u32) -> Allowance {
        Allowance { per_minute, per_day: 1_000_000, per_month: 1_000_000 }
    }

    #[test]
    fn a_plan_of_few_requests_a_minute_counts_each_alone() {
        let (mut block, mut counts) = Default::default();
        assert_eq!(send(&mut block, &mut counts, &allowance(1_199), 500, 1), 500);
        assert!(block.is_settled());
    }

    #[test]
    fn a_fast_run_counts_many_together_and_gives_back_what_it_did_not_send() {
        let (mut block, mut counts) = Default::default();
        let changes = send(&mut block, &mut counts, &allowance(600_000), 5_000, 1);
        assert!(changes < 200, "{changes}");
        let counted = counts.used(at(5_000)).day;
        assert!((5_000..=5_064).contains(&counted), "never too few: {counted}");
        block.settle_in(&mut counts, at(5_000));
        assert_eq!(counts.used(at(5_000)), Used { minute: 5_000, day: 5_000, month: 5_000 });
        assert_eq!((counts.under_way(), counts.sent), (0, 5_000));
    }

    #[test]
    fn a_block_is_given_back_after_a_second_and_at_the_end_of_its_day() {
        let (mut block, mut counts) = Default::default();
        send(&mut block, &mut counts, &allowance(600_000), 1_000, 1);
        assert!(block.open_quota(at(1_000)).is_some());
        assert!(block.next(at(3_000)).is_none());
        assert!(matches!(block.refill(&mut counts, &allowance(600_000), at(3_000)), Verdict::Go(_)));
        block.settle_in(&mut counts, at(3_000));
        assert_eq!(counts.used(at(3_000)).day, 1_001);
    }

    #[test]
    fn a_window_that_is_nearly_full_gives_no_more_than_its_rest() {
        let (mut block, mut counts) = Default::default();
        let most = Allowance { per_day: 1_010, ..allowance(600_000) };
        assert!(send(&mut block, &mut counts, &most, 1_010, 1) < 200);
        assert_eq!(block.refill(&mut counts, &most, at(1_010)), Verdict::DaySpent);
    }
}
