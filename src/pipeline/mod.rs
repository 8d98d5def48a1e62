//! A run, from the first request to the published snapshot: extract → normalize → lake → aggregate → check → publish.
//!
//! | file | what it knows |
//! | --- | --- |
//! | [`spec`] | pipeline files |
//! | [`run`](mod@run) | the order of a run, and resuming one |
//! | [`need`] | which days must be read (pure) |
//! | [`land`](self) | readings → rows of the coming snapshot |
//! | `register` | reading the register start by start of a name |
//! | [`register_state`] | how far it has been read |
//! | `enrich` | looking chosen businesses up |
//! | [`enrich_state`] | what look-ups found out beside rows |
//! | `listed` | what the filings of a snapshot add up to (pure) |
//! | [`check`](self) | what holds publication back (pure) |
//! | [`publish`](self) | aggregates, checks, commit |
//! | [`price`] | what a run would cost |
//! | [`outlook`](self) | rows to be expected of days not read yet (pure) |
//! | [`completion`] | when a run that does not fit a day will be complete (pure) |
//! | [`state`] | what one run learns for the next |
//! | [`summary`] | what a run did |
//! | [`report`] | the report of a snapshot |
//! | [`standing`] | where a lake stands |

mod check;
pub mod completion;
mod enrich;
pub mod enrich_state;
mod error;
mod known;
mod land;
mod listed;
pub mod need;
mod outlook;
mod pages;
pub mod price;
mod publish;
mod register;
pub mod register_state;
pub mod report;
pub mod run;
pub mod spec;
pub mod standing;
pub mod state;
pub mod summary;
mod work;

pub use error::PipelineError;
pub use run::{RunContext, Source, run};

use crate::table::EVERY_OTHER_TYPE;
