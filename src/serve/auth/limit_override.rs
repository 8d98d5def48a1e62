//! Limits of a test instance, in place of every account's own.

use crate::contract::plan::PlanLimits;
use std::str::FromStr;

/// The limit of a plan that a name means.
type Limit = fn(&mut PlanLimits) -> &mut u32;

const LIMITS: [(&str, Limit); 6] = [
    ("rows_per_call", |limits| &mut limits.rows_per_call),
    ("max_offset", |limits| &mut limits.max_offset),
    ("window_days", |limits| &mut limits.window_days),
    ("per_minute", |limits| &mut limits.per_minute),
    ("per_day", |limits| &mut limits.per_day),
    ("per_month", |limits| &mut limits.per_month),
];

/// Limits by name, with their values.
#[derive(Debug, Clone, Default)]
pub struct LimitOverride {
    limits: Vec<(Limit, u32)>,
}

impl LimitOverride {
    /// The limits of an account, with these in their place.
    pub fn apply(&self, mut limits: PlanLimits) -> PlanLimits {
        for (limit, value) in &self.limits {
            *limit(&mut limits) = *value;
        }
        limits
    }
}

impl FromStr for LimitOverride {
    type Err = String;

    /// Reads `per_minute=100000,per_day=1000000`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self { limits: text.split(',').map(read).collect::<Result<_, String>>()? })
    }
}

fn read(pair: &str) -> Result<(Limit, u32), String> {
    let (name, value) = pair.split_once('=').ok_or_else(|| format!("{pair:?} is not LIMIT=NUMBER"))?;
    let known = LIMITS.iter().find(|(known, _)| *known == name.trim());
    let names = || LIMITS.map(|(name, _)| name).join(", ");
    let (_, limit) = known.ok_or_else(|| format!("{name:?} is none of {}", names()))?;
    let value: u32 = value.trim().parse().map_err(|_| format!("{value:?} is no limit of {name}"))?;
    (value > 0).then_some((*limit, value)).ok_or_else(|| format!("{name} must be at least 1"))
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
