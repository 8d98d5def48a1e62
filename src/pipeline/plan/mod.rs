//! TODO page.

pub mod completion_date;
pub mod estimate;
pub(super) mod forecast;
pub(super) mod jobs;
pub(super) mod lake_view;
pub(super) mod refresh_cost;
pub mod stale_days;
