//! Random loads compared with a simple model.

use super::*;
use std::collections::BTreeMap;

/// A small random generator with a fixed sequence.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn filing(&mut self, second: i64) -> Filing {
        let id = self.roll(40) as i64;
        // Mostly in its own month, sometimes in another.
        let month = if self.roll(8) == 0 { 1 + self.roll(4) } else { 1 + id as u64 % 4 };
        let day = format!("2026-{month:02}-{:02}", 1 + id % 3);
        let name = format!("NAME {}", self.roll(3));
        let entity_type = if id % 5 == 0 { "fictitious" } else { "llc" };
        filing(id, &day).named(&name).typed(entity_type).seen(second + self.roll(3) as i64)
    }
}

/// Expected rows: business → filing, listed, first seen.
type Model = BTreeMap<i64, (Filing, bool, i64)>;

fn merge_into(model: &mut Model, rows: &[Filing], days: &BTreeSet<(Date, bool)>) {
    let mut newest: BTreeMap<i64, Filing> = Default::default();
    for row in rows {
        let known = newest.get(&row.business_id);
        if known.is_none_or(|known| known.seen <= row.seen) {
            newest.insert(row.business_id, row.clone());
        }
    }
    for (id, (filing, listed, _)) in model.iter_mut() {
        let listing = (filing.filed_date.parse().expect("a date"), filing.entity_type == "fictitious");
        *listed = *listed && (newest.contains_key(id) || !days.contains(&listing));
    }
    for (id, row) in newest {
        let first = model.get(&id).map_or(row.seen, |(_, _, first)| *first);
        model.insert(id, (row, true, first));
    }
}

#[test]
fn random_loads_equal_a_simple_model() -> Result {
    for seed in 0..12 {
        let mut dice = Dice(seed);
        let root = folder();
        let lake = Lake::open(root.path())?;
        let mut model = Model::default();
        for turn in 0..6 {
            let second = 100 * (turn + 1);
            let rows: Vec<Filing> = (0..dice.roll(50)).map(|_| dice.filing(second)).collect();
            let days: Vec<(String, bool)> = (0..dice.roll(6))
                .map(|_| (format!("2026-{:02}-{:02}", 1 + dice.roll(4), 1 + dice.roll(3)), dice.roll(2) == 0))
                .collect();
            let days: Vec<(&str, bool)> = days.iter().map(|(day, kind)| (day.as_str(), *kind)).collect();
            load(&lake, &format!("r{turn}"), &rows, &days, second + 9)?;
            merge_into(&mut model, &rows, &complete(&days));
            let expected: Vec<StateRow> = model
                .iter()
                .map(|(id, (row, listed, first))| {
                    (*id, row.filed_date.clone(), row.name.clone(), *listed, *first)
                })
                .collect();
            assert_eq!(state(&lake)?, expected, "seed {seed}, turn {turn}");
        }
        assert_sound(&lake)?;
    }
    Ok(())
}
