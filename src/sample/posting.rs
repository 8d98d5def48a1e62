//! When a filing is posted: usually days after its date, sometimes before it, rarely years later.
//!
//! A day's filings are spread over their posting days. The filings posted on one day are computed
//! without any other day, so a later day never changes an earlier one.

use super::calendar::{is_open, is_weekend, volume};
use super::chance::{Draw, Purpose};
use super::series::SERIES;
use crate::contract::eastern::{minus_days, plus_days};
use jiff::civil::Date;
use std::collections::VecDeque;

/// A filing is posted at most this number of days before its date.
pub(super) const AHEAD_DAYS: usize = 84;
/// A filing that is not back-dated is posted at most this number of days after its date.
const LATE_DAYS: usize = 46;
const SPREAD: usize = AHEAD_DAYS + LATE_DAYS + 1;
/// Share of ordinary filings posted before their date.
const REGULAR_AHEAD: f64 = 0.016;
/// Back-dated LLC filings of a posting day on which the office works.
const BACK_DATED_LLC: f64 = 16.0;
/// Filings by days from their date to their posting, of 3,100 records.
const LATE: [f64; LATE_DAYS + 1] = [
    28.0, 105.0, 194.0, 444.0, 669.0, 690.0, 479.0, 107.0, 132.0, 100.0, 68.0, 46.0, 28.0, 15.0, 4.0, 2.0,
    0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.3, 0.3, 0.3, 0.3, 0.3,
    0.2, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1,
];
/// Days from date to posting of back-dated filings, as equal steps of their distribution.
const BACK_DATED_DAYS: [usize; 12] = [61, 75, 90, 180, 340, 800, 1_080, 1_300, 1_900, 2_450, 3_880, 4_490];

/// A filing as it is posted: its series and its date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Posting {
    /// Index into [`SERIES`].
    pub(super) series: usize,
    pub(super) filed: Date,
    /// Dated months or years before its posting.
    pub(super) is_back_dated: bool,
}

/// Expected filings of one date, by posting day: the first `AHEAD_DAYS` before the date.
#[derive(Debug)]
struct Spread {
    filed: Date,
    llc: [f64; SPREAD],
    fictitious: [f64; SPREAD],
}

/// Walks the posting days, oldest first.
#[derive(Debug)]
pub(super) struct Postings {
    seed: u64,
    scale: f64,
    /// The next posting day.
    pub(super) day: Date,
    /// The dates whose filings may be posted on `day`, oldest first.
    spreads: VecDeque<Spread>,
    /// The office's paces on the days on which filings of the newest of them may be posted.
    paces: VecDeque<f64>,
}

impl Postings {
    pub(super) fn starting(seed: u64, scale: f64, day: Date) -> Self {
        let oldest = minus_days(day, LATE_DAYS as u32);
        let before = minus_days(oldest, AHEAD_DAYS as u32 + 1);
        let paces = (0..SPREAD as u32).map(|after| office_pace(plus_days(before, after))).collect();
        let mut postings = Self { seed, scale, day, spreads: VecDeque::new(), paces };
        for after in 0..SPREAD as u32 {
            postings.open(plus_days(oldest, after));
        }
        postings
    }

    /// Adds the date after the newest one.
    fn open(&mut self, filed: Date) {
        self.paces.pop_front();
        self.paces.push_back(office_pace(plus_days(filed, LATE_DAYS as u32)));
        self.spreads.push_back(Spread::of(self.seed, filed, &self.paces));
    }

    /// Filings of the next day by series, without naming them; advances by a day.
    pub(super) fn count_day(&mut self) -> [u64; SERIES.len()] {
        let mut counts = [0; SERIES.len()];
        self.visit_cells(|series, _, count| counts[series] += u64::from(count));
        for posting in self.back_dated() {
            counts[posting.series] += 1;
        }
        self.move_on();
        counts
    }

    /// Filings of the next day in the order of their numbers; advances by a day.
    pub(super) fn next_day(&mut self) -> Vec<Posting> {
        let mut postings = self.back_dated();
        self.visit_cells(|series, filed, count| {
            let posting = Posting { series, filed, is_back_dated: false };
            postings.extend(std::iter::repeat_n(posting, count as usize));
        });
        Draw::of(self.seed, Purpose::Order, day_number(self.day)).shuffle(&mut postings);
        self.move_on();
        postings
    }

    fn visit_cells(&self, mut visit: impl FnMut(usize, Date, u32)) {
        let today = day_number(self.day);
        for (back, spread) in self.spreads.iter().rev().enumerate() {
            let (llc, fictitious) = (spread.llc[back] * self.scale, spread.fictitious[back] * self.scale);
            if llc + fictitious == 0.0 {
                continue;
            }
            let mut draw = Draw::of(self.seed, Purpose::Posting, (today << 8) | back as u64);
            for (at, series) in SERIES.iter().enumerate() {
                let mean = if series.is_fictitious() { fictitious } else { llc * series.per_llc };
                let count = draw.rounded(mean);
                if count > 0 {
                    visit(at, spread.filed, count);
                }
            }
        }
    }

    fn back_dated(&self) -> Vec<Posting> {
        let mut draw = Draw::of(self.seed, Purpose::BackDated, day_number(self.day));
        let llc = BACK_DATED_LLC * self.scale * office_pace(self.day);
        let mut postings = Vec::new();
        for (at, series) in SERIES.iter().enumerate() {
            let count = if series.is_fictitious() { 0 } else { draw.rounded(llc * series.per_llc) };
            for _ in 0..count {
                let step = draw.below(BACK_DATED_DAYS.len() - 1);
                let back = draw.between(BACK_DATED_DAYS[step], BACK_DATED_DAYS[step + 1]);
                let filed = minus_days(self.day, back as u32);
                postings.push(Posting { series: at, filed, is_back_dated: true });
            }
        }
        postings
    }

    fn move_on(&mut self) {
        self.day = plus_days(self.day, 1);
        self.spreads.pop_front();
        self.open(plus_days(self.day, AHEAD_DAYS as u32));
    }
}

impl Spread {
    fn of(seed: u64, filed: Date, paces: &VecDeque<f64>) -> Self {
        let late = shares(paces, |at| at.checked_sub(AHEAD_DAYS).map_or(0.0, |lag| LATE[lag]));
        let soon = shares(paces, |at| AHEAD_DAYS.checked_sub(at).map_or(0.0, soon_weight));
        let chosen = shares(paces, |at| AHEAD_DAYS.checked_sub(at).map_or(0.0, chosen_weight));
        let volume = volume(seed, filed);
        let llc = std::array::from_fn(|at| {
            let regular = (1.0 - REGULAR_AHEAD) * late[at] + REGULAR_AHEAD * soon[at];
            let by_choice = (1.0 - volume.chosen_ahead) * late[at] + volume.chosen_ahead * chosen[at];
            volume.llc_regular * regular + volume.llc_chosen * by_choice
        });
        Self { filed, llc, fictitious: late.map(|share| share * volume.fictitious) }
    }
}

/// The office's postings on a day, as a share of a working day.
fn office_pace(day: Date) -> f64 {
    match (is_open(day), is_weekend(day)) {
        (true, _) => 1.0,
        (false, true) => 0.28,
        (false, false) => 0.05,
    }
}

fn shares(paces: &VecDeque<f64>, weight: impl Fn(usize) -> f64) -> [f64; SPREAD] {
    let weights: [f64; SPREAD] = std::array::from_fn(|at| paces[at] * weight(at));
    let total: f64 = weights.iter().sum();
    weights.map(|weight| if total > 0.0 { weight / total } else { 0.0 })
}

/// Weight of being posted this number of days ahead, for an ordinary date.
fn soon_weight(ahead: usize) -> f64 {
    match ahead {
        0 => 0.0,
        1..=6 => 12.0,
        7..=16 => 4.0,
        17..=45 => 1.0,
        _ => 0.3,
    }
}

/// Weight of being posted this number of days ahead, for a date that filers choose.
fn chosen_weight(ahead: usize) -> f64 {
    match ahead {
        0 => 0.0,
        1..=15 => 3.0,
        16..=45 => 2.0,
        _ => 0.5,
    }
}

fn day_number(day: Date) -> u64 {
    day.duration_since(Date::ZERO).as_hours().unsigned_abs() / 24
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    /// Corporate filings by days from date to posting, in the summer of 2026.
    fn late_filings() -> [f64; LATE_DAYS + 1] {
        let mut counts = [0.0; LATE_DAYS + 1];
        let mut postings = Postings::starting(3, 1.0, date(2026, 6, 5));
        while postings.day <= date(2026, 8, 20) {
            let posted = postings.day;
            for posting in postings.next_day() {
                let days = usize::try_from((posted - posting.filed).get_days()).ok();
                if let Some(count) = days.and_then(|days| counts.get_mut(days)) {
                    *count += f64::from(u8::from(!SERIES[posting.series].is_fictitious()));
                }
            }
        }
        counts
    }

    #[test]
    fn filings_arrive_as_late_as_measured() {
        let counts = late_filings();
        let all: f64 = counts.iter().sum();
        let measured =
            [(2, 0.10), (3, 0.25), (4, 0.46), (5, 0.68), (6, 0.83), (8, 0.91), (10, 0.96), (14, 0.989)];
        for (days, share) in measured {
            let made = counts[..=days].iter().sum::<f64>() / all;
            assert!((made - share).abs() < 0.06, "within {days} days: {made} for {share}");
        }
    }

    #[test]
    fn some_dates_are_ahead_and_a_few_far_back() {
        let mut postings = Postings::starting(3, 1.0, date(2026, 1, 1));
        let (mut all, mut ahead, mut back) = (0.0, 0.0, 0.0);
        while postings.day < date(2027, 1, 1) {
            let posted = postings.day;
            for posting in postings.next_day() {
                if !SERIES[posting.series].is_fictitious() {
                    all += 1.0;
                    ahead += f64::from(u8::from(posting.filed > posted));
                    back += f64::from(u8::from(posting.is_back_dated));
                }
            }
        }
        assert!((0.035..0.055).contains(&(ahead / all)), "ahead {}", ahead / all);
        assert!((0.005..0.009).contains(&(back / all)), "back {}", back / all);
    }

    #[test]
    fn counting_a_day_and_naming_it_agree() {
        let mut counted = Postings::starting(9, 0.3, date(2026, 6, 30));
        let mut named = Postings::starting(9, 0.3, date(2026, 6, 30));
        for _ in 0..10 {
            let counts: u64 = counted.count_day().iter().sum();
            assert_eq!(counts, named.next_day().len() as u64);
        }
    }

    #[test]
    fn weekends_post_a_third_of_a_working_day() {
        let mut postings = Postings::starting(3, 1.0, date(2026, 7, 13));
        let days: Vec<u64> = (0..7).map(|_| postings.count_day().iter().sum()).collect();
        let working = days[..5].iter().sum::<u64>() as f64 / 5.0;
        for weekend in &days[5..] {
            assert!((0.2..0.5).contains(&(*weekend as f64 / working)), "{days:?}");
        }
    }
}
