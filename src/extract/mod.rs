//! Reads the API completely under its limits: questions, in an order that pays least, and the proof that nothing is missing.
//!
//! | file | what it knows |
//! | --- | --- |
//! | [`ask`] | one question after another, answered from the archive where it was asked before |
//! | [`slice`](mod@slice) | a query over a range of days |
//! | [`seen`] | the rows seen, countable under any filter |
//! | [`shares`] | how rows are spread, learned from those seen (pure) |
//! | [`stretch`] | which days are read in one go (pure) |
//! | [`planner`] | how days beyond reach are cut, and what reading costs (pure) |
//! | [`narrow`] | the narrower filters of a cell (pure) |
//! | `walk` | reading past the offset cap by date |
//! | `parts` | reading in parts what one query cannot reach |
//! | `drift` | whether rows move while they are read (pure) |
//! | `tail` | what of a day stands below a row, and proves it where rows move |
//! | `rest` | finding rows that no part held |
//! | `arrivals` | days held before: what came, what went |
//! | [`pace`] | how days held before go on to change (pure) |
//! | `rank` | finding a few rows without reading all |
//! | [`listing`] | one listing, stretch by stretch, proven |
//! | [`starts`] | which starts of a name to ask for next (pure) |
//! | [`register`] | all names with a start, of any age |
//! | [`detail`] | one business: its details, its officers |
//! | [`reference`](mod@reference) | account, lists, counts |
//!
//! Knows no Arrow and no disk.

pub mod detail;
pub mod fetch;
pub mod listing;
pub mod plan;
pub mod query;
pub mod reference;
pub mod registry;

use crate::client::ClientError;
use serde::{Deserialize, Serialize};

/// Numbers of the plan that a pipeline file gives, because neither `/v1/me` nor the limits table tells them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanOverride {
    /// Rows one call can give.
    pub rows_per_call: Option<u32>,
    /// Largest offset that is not a 400.
    pub max_offset: Option<u32>,
    /// Days that searches by date reach back.
    pub window_days: Option<u32>,
}

/// Why extraction stopped.
#[derive(Debug, thiserror::Error)]
pub enum ExtractError {
    /// A request gave nothing that can be used, or may not be sent.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The run's archive of pages failed; nothing counts that is not in it.
    #[error("the archive of pages failed: {0}")]
    Store(fetch::StoreError),
    /// What was read could not be handed over.
    #[error("{0}")]
    HandOver(fetch::StoreError),
    /// A request under way whose answer never came; only a bug causes this.
    #[error("the request GET {target} was lost")]
    Lost {
        /// Path and query.
        target: String,
    },
    /// A page that is not the answer to its question.
    #[error("GET {target} answered outside its contract: {reason}")]
    WrongPage {
        /// Path and query asked for.
        target: String,
        /// What does not fit.
        reason: String,
    },
}
