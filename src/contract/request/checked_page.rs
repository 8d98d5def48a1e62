//! A page of a listing, checked against a plan.
//!
//! Source: API document, "Limits", rows per call and max offset.

use super::super::error::Violation;
use super::super::plan::PlanLimits;
use super::argument::Arguments;
use super::param::DEFAULT_LIMIT;

/// A page of a listing that the plan allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CheckedPage {
    limit: u32,
    offset: u32,
}

impl CheckedPage {
    /// Reads `limit` and `offset`; an offset above the plan's is added to the broken rules.
    pub(crate) fn read(arguments: &mut Arguments, limits: &PlanLimits) -> Self {
        let limit = arguments.integer("limit").unwrap_or(DEFAULT_LIMIT).min(limits.rows_per_call);
        let offset = arguments.integer("offset").unwrap_or(0);
        if offset > limits.max_offset {
            let message = format!("offset {offset} is above the plan's maximum of {}", limits.max_offset);
            arguments.reject(Violation::invalid("offset", message));
        }
        Self { limit, offset }
    }

    /// The limit applied: the one sent, or the plan's rows per call if that is less.
    pub const fn limit(self) -> u32 {
        self.limit
    }

    /// Rows before the page.
    pub const fn offset(self) -> u32 {
        self.offset
    }
}
