//! Limits of a test instance, in place of every account's own.

use crate::contract::plan::PlanLimits;
use std::str::FromStr;

/// Some limits, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitOverride {
    limits: Vec<(Limit, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    RowsPerCall,
    MaxOffset,
    WindowDays,
    PerMinute,
    PerDay,
    PerMonth,
}

const NAMES: [(&str, Limit); 6] = [
    ("rows_per_call", Limit::RowsPerCall),
    ("max_offset", Limit::MaxOffset),
    ("window_days", Limit::WindowDays),
    ("per_minute", Limit::PerMinute),
    ("per_day", Limit::PerDay),
    ("per_month", Limit::PerMonth),
];

impl LimitOverride {
    /// The limits of an account, with these in their place.
    pub fn apply(&self, limits: PlanLimits) -> PlanLimits {
        self.limits.iter().fold(limits, |mut limits, (limit, value)| {
            *match limit {
                Limit::RowsPerCall => &mut limits.rows_per_call,
                Limit::MaxOffset => &mut limits.max_offset,
                Limit::WindowDays => &mut limits.window_days,
                Limit::PerMinute => &mut limits.per_minute,
                Limit::PerDay => &mut limits.per_day,
                Limit::PerMonth => &mut limits.per_month,
            } = *value;
            limits
        })
    }
}

impl FromStr for LimitOverride {
    type Err = String;

    /// Reads `per_minute=100000,per_day=1000000`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = |pair: &str| {
            let (name, value) =
                pair.split_once('=').ok_or_else(|| format!("{pair:?} is not LIMIT=NUMBER"))?;
            let known = NAMES.iter().find(|(known, _)| *known == name.trim());
            let names = || NAMES.map(|(name, _)| name).join(", ");
            let (_, limit) = known.ok_or_else(|| format!("{name:?} is none of {}", names()))?;
            let value: u32 = value.trim().parse().map_err(|_| format!("{value:?} is no limit of {name}"))?;
            (value > 0).then_some((*limit, value)).ok_or_else(|| format!("{name} must be at least 1"))
        };
        Ok(Self { limits: text.split(',').map(read).collect::<Result<_, String>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;

    #[test]
    fn named_limits_are_replaced_and_the_others_stay() {
        let read: LimitOverride = "per_minute=1000000, max_offset=100000".parse().expect("an override");
        let (starter, limits) = (Plan::Starter.limits(), read.apply(Plan::Starter.limits()));
        assert_eq!(limits, PlanLimits { per_minute: 1_000_000, max_offset: 100_000, ..starter });
        assert_eq!(LimitOverride::default().apply(starter), starter);
        for (wrong, says) in [
            ("per_minute", "LIMIT=NUMBER"),
            ("per_hour=1", "none of rows_per_call"),
            ("per_day=-1", "no limit of per_day"),
            ("per_day=0", "at least 1"),
            ("", "LIMIT=NUMBER"),
        ] {
            let error = wrong.parse::<LimitOverride>().expect_err(wrong);
            assert!(error.contains(says), "{wrong}: {error}");
        }
    }
}
