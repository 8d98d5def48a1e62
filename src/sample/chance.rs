//! Random draws that depend on the seed and on their purpose only: not on the order of calls,
//! the platform or the day. Integer mixing (splitmix64) and plain IEEE arithmetic.

/// The purpose of a sequence of draws; two purposes never share draws.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    /// Noise of a filing day's volume.
    Volume = 1,
    /// Rounding of the filings of one filing day posted on one day.
    Posting,
    /// Filings posted years after their date.
    BackDated,
    Order,
    NameOrder,
    Name,
    Place,
    /// The new address of a business that changes its own.
    NewPlace,
    Agent,
    NewAgent,
    Officers,
    Detail,
    Life,
    /// A business of the 30 years before.
    Register,
    /// Whether it belongs to the one large sector of a skewed sample.
    Skew,
}

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

fn mixed(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[derive(Debug, Clone)]
pub(super) struct Draw {
    state: u64,
}

impl Draw {
    /// The sequence for one purpose and one key under a seed.
    pub(super) fn of(seed: u64, purpose: Purpose, key: u64) -> Self {
        let world = mixed(seed.wrapping_add(STEP) ^ mixed(purpose as u64));
        Self { state: mixed(world ^ mixed(key.wrapping_add(STEP))) }
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mixed(self.state)
    }

    /// A number from 0 to `end - 1`; 0 when `end` is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// A number from 0 to 1, without 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// An integer whose expectation is `mean`: its floor, or one more.
    pub(super) fn rounded(&mut self, mean: f64) -> u32 {
        (mean + self.unit()) as u32
    }

    /// One of the words; empty for an empty list.
    pub(super) fn word<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words.get(self.below(words.len())).copied().unwrap_or_default()
    }

    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}

/// A list whose items are drawn by weight.
#[derive(Debug)]
pub(super) struct Weighted<T> {
    pub(super) items: Vec<T>,
    running: Vec<u64>,
}

impl<T> FromIterator<(T, u64)> for Weighted<T> {
    fn from_iter<I: IntoIterator<Item = (T, u64)>>(pairs: I) -> Self {
        let mut total = 0;
        let (items, running) = pairs
            .into_iter()
            .map(|(item, weight)| {
                total += weight;
                (item, total)
            })
            .unzip();
        Self { items, running }
    }
}

impl<T> Weighted<T> {
    /// An item, by weight; `None` only of an empty list.
    pub(super) fn draw(&self, draw: &mut Draw) -> Option<&T> {
        let total = self.running.last().copied().unwrap_or(0);
        let at = draw.below(total as usize) as u64;
        self.items.get(self.running.partition_point(|running| *running <= at))
    }
}

/// A fixed permutation of the numbers below `size`: neighbours are far apart.
#[derive(Debug, Clone)]
pub(super) struct Permutation {
    size: u64,
    half_bits: u32,
    mask: u64,
    keys: [u64; 3],
}

impl Permutation {
    /// The permutation of this sequence of draws.
    pub(super) fn new(size: u64, draw: &mut Draw) -> Self {
        let bits = (64 - size.saturating_sub(1).leading_zeros()).max(2);
        let keys = std::array::from_fn(|_| draw.bits() | 1);
        Self { size: size.max(1), half_bits: bits.div_ceil(2), mask: (1 << bits) - 1, keys }
    }

    /// The number at this position; positions repeat after `size`.
    pub(super) fn at(&self, place: u64) -> u64 {
        let mut number = place % self.size;
        loop {
            for key in self.keys {
                number = number.wrapping_add(key >> 20) & self.mask;
                number ^= number >> self.half_bits;
                number = number.wrapping_mul(key) & self.mask;
            }
            number ^= number >> self.half_bits;
            if number < self.size {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn draw(key: u64) -> Draw {
        Draw::of(7, Purpose::Name, key)
    }

    #[test]
    fn draws_never_change() {
        let mut first = Draw::of(1, Purpose::Volume, 0);
        assert_eq!([first.bits(), first.bits()], [392_713_652_795_542_741, 5_172_105_081_962_100_921]);
    }

    #[test]
    fn a_permutation_returns_each_number_once() {
        for size in [1, 2, 3, 100, 1_000, 4_097] {
            let order = Permutation::new(size, &mut draw(size));
            let seen: BTreeSet<u64> = (0..size).map(|place| order.at(place)).collect();
            assert_eq!(seen.len() as u64, size);
            assert!(seen.iter().all(|number| *number < size));
        }
    }

    #[test]
    fn rounding_keeps_the_expectation() {
        let mut draw = draw(1);
        let sum: u32 = (0..100_000).map(|_| draw.rounded(0.37)).sum();
        assert!((36_500..37_500).contains(&sum), "{sum}");
    }

    #[test]
    fn weights_decide_how_often_an_item_is_drawn() {
        let list: Weighted<&str> = [("never", 0), ("one", 1), ("three", 3)].into_iter().collect();
        let mut draw = draw(2);
        let threes = (0..10_000).filter(|_| list.draw(&mut draw) == Some(&"three")).count();
        assert!((7_300..7_700).contains(&threes), "{threes}");
        assert!((0..10_000).all(|_| list.draw(&mut draw) != Some(&"never")));
    }
}
