//! A run, from the first request to the published snapshot: extract → normalize → lake → aggregate → check → publish.
//!
//! # Files, in reading order
//!
//! - [`config`]: pipeline files
//! - [`state`]: what a run learns for the next one
//! - `progress`: what a run reports while it works
//! - `context`: what a run takes from outside, and what its steps share
//! - `api_day`: the API's own day, which no run is later than
//! - `run`: the order of a run, and resuming one
//! - `plan`: what must be read, and what that costs
//! - `load`: reading from the API, and rows of the next snapshot
//! - `import`: reading the state's files instead of the API
//! - [`publish`]: aggregates, checks, commit
//! - [`sample_lake`]: the lake behind the embedded API
//! - `maintain`: status, replay and repair of a lake
//! - `error`: why a run ended early

mod api_day;
pub mod config;
mod context;
mod error;
mod import;
mod load;
pub(crate) mod maintain;
pub(crate) mod plan;
mod progress;
pub mod publish;
mod run;
pub mod sample_lake;
pub mod state;

pub use context::{ApiContext, RunContext, Source};
pub use error::{PipelineError, SpecError};
pub use import::run::import;
pub use plan::estimate::Price;
pub use plan::refresh_cost::StagePrice;
pub use progress::{Done, Event, Events, Reading, Work};
pub use run::run;
