//! What is known of a query whose days are planned, and a range of its days.

use crate::contract::plan::PlanLimits;
use crate::extract::query::histogram::Shares;
use crate::extract::query::slice::Filter;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// Consecutive days that are read together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DayRange {
    pub(crate) from: Date,
    pub(crate) to: Date,
    /// Whether it has hot days: days expected over reach. It is read in parts then.
    pub(crate) in_parts: bool,
}

/// What is known of a query whose days are planned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline<'a> {
    pub(crate) filter: &'a Filter,
    pub(crate) shares: &'a Shares,
    /// Whether the lake lists its rows, so that their ZIP prefixes and cities are known.
    pub(crate) is_listed: bool,
    pub(crate) plan: &'a PlanLimits,
}

impl<'a> Outline<'a> {
    pub(crate) fn unlisted(filter: &'a Filter, shares: &'a Shares, plan: &'a PlanLimits) -> Self {
        Self { filter, shares, is_listed: false, plan }
    }
}
