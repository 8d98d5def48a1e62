//! What a seed decides before a round begins: the plan, the register, the mornings.

use crate::support::dice::Dice;
use crate::support::lake::{current, files_below};
use crate::support::listings::Filing;
use crate::support::server::Plan;
use crate::support::source;
use jiff::ToSpan;
use jiff::civil::Date;
use std::fmt;
use std::sync::OnceLock;
use sunlake::table::{FilingRow, read_rows};

/// The largest number of rows that one query reaches, and the smallest.
const REACH: (u64, u64) = (20, 5_100);
/// Late rows arrive within this number of days after they were filed.
const LATE: i64 = 12;

/// A plan, a register, and mornings.
pub(super) struct World {
    pub(super) plan: Plan,
    /// Whether the pipeline file has the plan's numbers.
    pub(super) is_plan_given: bool,
    /// The first morning, and the number of mornings on which rows change.
    pub(super) today: Date,
    pub(super) mornings: u64,
    /// Pages of the register, about.
    pub(super) pages: u64,
    /// Requests that a run may use.
    pub(super) budget: Option<u64>,
    /// Filings, each with the day from which it is listed.
    pub(super) filings: Vec<(Date, Filing)>,
}

impl World {
    pub(super) fn of(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let plan = plan(&mut dice);
        let mornings = 1 + dice.below(4);
        let newest: Date = source::history().today.parse().expect("a day");
        let today = newest - (mornings as i64 - 1 + dice.below(4) as i64).days();
        let pages = 20 + dice.below(131);
        let is_plan_given = dice.below(2) == 0;
        let budget = (dice.below(4) == 0).then(|| pages / 2 + dice.below(pages));
        let oldest = today - (plan.window_days - 1).days();
        let reached: Vec<&Filing> = filings().iter().filter(|filing| filing.filed >= oldest).collect();
        let within = reached.iter().filter(|filing| filing.filed <= today).count() as u64;
        let wanted = pages * plan.rows_per_call as u64;
        let thinned = reached.into_iter().filter(|_| dice.below(within.max(1)) < wanted);
        let thinned: Vec<Filing> = thinned.cloned().collect();
        let filings = thinned.into_iter().map(|filing| (arrival(&filing, &mut dice), filing)).collect();
        Self { plan, is_plan_given, today, mornings, pages, budget, filings }
    }
}

impl fmt::Display for World {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { rows_per_call, max_offset, window_days, .. } = self.plan;
        let plan = if self.is_plan_given { "given" } else { "learned" };
        write!(
            out,
            "{} filings, {rows_per_call} rows a call, max offset {max_offset}, window {window_days} days, plan {plan}, \
             {} mornings from {}, budget {:?}",
            self.filings.len(),
            self.mornings,
            self.today,
            self.budget
        )
    }
}

fn plan(dice: &mut Dice) -> Plan {
    let rows_per_call = [2, 5, 10, 13, 25, 50, 100][dice.below(7) as usize];
    let (least, most) = REACH;
    // Pages after the first, so that the reach is spread evenly over its orders of magnitude.
    let fewest = (least.div_ceil(rows_per_call) - 1).max(1) as f64;
    let range = (most / rows_per_call - 1) as f64 / fewest;
    let pages = fewest * range.powf(dice.below(1_000) as f64 / 999.0);
    Plan {
        name: "custom",
        rows_per_call: rows_per_call as i64,
        max_offset: pages.round() as i64 * rows_per_call as i64,
        window_days: 3 + dice.below(88) as i64,
    }
}

/// Three rows of ten are listed some days after they were filed.
fn arrival(filing: &Filing, dice: &mut Dice) -> Date {
    let days = if dice.below(10) < 3 { dice.below(LATE as u64) } else { 0 };
    filing.filed + (days as i64).days()
}

/// The active filings of the source, read once.
pub(super) fn filings() -> &'static [Filing] {
    static FILINGS: OnceLock<Vec<Filing>> = OnceLock::new();
    FILINGS.get_or_init(|| {
        let files = files_below(&current(&source::history().lake).join("filings"));
        let rows = files.iter().flat_map(|file| read_rows::<FilingRow>(file).expect("rows"));
        rows.filter(|row| row.listed && row.status == "active").map(Filing::from).collect()
    })
}
