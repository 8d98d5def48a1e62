//! What must be read, and what that costs. Everything but the estimate itself is pure: no clock, no request.
//!
//! # Files, in reading order
//!
//! - `lake_view`: what the newest snapshot has of each day
//! - `stale_days`: which days must be read
//! - `inputs`: what is known before a run reads
//! - `due`: which businesses must be looked up
//! - `watch_due`: which document numbers must be looked up
//! - `jobs`: the listings of a pipeline, and what is read of each
//! - `forecast`: expected rows of days not read yet
//! - `refresh_cost`: a stage and its cost; the cost of reading and updating days
//! - `registry_estimate`: the cost of reading the register
//! - `completion_date`: when a run that does not fit a day will be complete
//! - `estimate`: the estimate of a run

pub(crate) mod completion_date;
pub(super) mod due;
pub(crate) mod estimate;
pub(super) mod forecast;
pub(super) mod inputs;
pub(super) mod jobs;
pub(super) mod lake_view;
pub(super) mod refresh_cost;
pub(super) mod registry_estimate;
pub(crate) mod stale_days;
pub(super) mod watch_due;
