//! The three plans with API access and their row of the limits table.
//!
//! Source: API document, "Limits".

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A subscription with API access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Plan {
    /// 20 requests a minute, a window of 30 days.
    Starter,
    /// 60 requests a minute, a window of 90 days.
    Agency,
    /// 120 requests a minute, a window of 365 days.
    Enterprise,
}

/// The limits of a plan. Requests are counted per account, rows per call; days and months are Eastern ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanLimits {
    /// Most rows of a call; a larger `limit` is reduced to it.
    pub rows_per_call: u32,
    /// Largest `offset` that is not a 400.
    pub max_offset: u32,
    /// Length of the daily window in days; today counts as day 1.
    pub window_days: u32,
    /// Requests per minute.
    pub per_minute: u32,
    /// Requests per Eastern day.
    pub per_day: u32,
    /// Requests per Eastern month.
    pub per_month: u32,
}

impl Plan {
    /// All plans, smallest first.
    pub const ALL: [Self; 3] = [Self::Starter, Self::Agency, Self::Enterprise];

    /// The plan's row of the limits table.
    pub const fn limits(self) -> PlanLimits {
        let [rows_per_call, max_offset, window_days, per_minute, per_day, per_month] = match self {
            Self::Starter => [50, 1_000, 30, 20, 1_000, 10_000],
            Self::Agency => [100, 2_000, 90, 60, 5_000, 50_000],
            Self::Enterprise => [100, 5_000, 365, 120, 20_000, 200_000],
        };
        PlanLimits { rows_per_call, max_offset, window_days, per_minute, per_day, per_month }
    }

    /// Keys an account of this plan may have active at once.
    pub const fn active_keys(self) -> usize {
        match self {
            Self::Starter => 2,
            Self::Agency => 5,
            Self::Enterprise => 20,
        }
    }

    /// The plan with exactly these request caps, if there is one.
    pub fn from_caps(per_minute: u32, per_day: u32, per_month: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|plan| {
            let row = plan.limits();
            (row.per_minute, row.per_day, row.per_month) == (per_minute, per_day, per_month)
        })
    }
}

/// The name, as key files have it.
impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

impl PlanLimits {
    /// Most rows of one query: the max offset plus one full call.
    ///
    /// Starter 1,050, Agency 2,100, Enterprise 5,100 rows. A query with a larger `total` must be narrowed.
    pub const fn reach_rows(&self) -> u32 {
        self.max_offset + self.rows_per_call
    }

    /// Full calls needed for `rows` rows: the lower bound of their cost in requests.
    pub const fn pages_for(&self, rows: u64) -> u64 {
        rows.div_ceil(self.rows_per_call as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_is_the_last_offset_plus_one_call() {
        assert_eq!(Plan::ALL.map(|plan| plan.limits().reach_rows()), [1_050, 2_100, 5_100]);
    }

    #[test]
    fn a_plan_is_found_only_by_its_exact_caps() {
        assert_eq!(Plan::from_caps(60, 5_000, 50_000), Some(Plan::Agency));
        assert_eq!(Plan::from_caps(60, 5_000, 50_001), None);
    }
}
