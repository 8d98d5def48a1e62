//! A run, from the first request to the published snapshot: extract → normalize → lake → aggregate → check → publish.
//!
//! | file | what it knows |
//! | --- | --- |
//! | [`spec`], [`file`](mod@file) | what a pipeline file says; reading one |
//! | [`run`](mod@run) | the order of a run, and resuming one |
//! | `extraction` | what a run reads: lists, counts, listings |
//! | [`need`] | which days must be read (pure) |
//! | [`land`](self) | readings → rows of the coming snapshot |
//! | `register` | reading the register start by start of a name |
//! | [`register_state`] | how far it has been read |
//! | `enrich` | looking chosen businesses up |
//! | [`enrich_state`] | what look-ups found out beside rows |
//! | `listed` | what the filings of a snapshot add up to (pure) |
//! | `lists` | the API's lists and counts → their tables |
//! | [`evidence`](self) | what the checks look at |
//! | [`check`](self) | what holds publication back (pure) |
//! | [`journal`](self) | how a snapshot came about, so that it can be made again |
//! | [`repair`](mod@repair) | damage put right |
//! | [`replay`](mod@replay) | a run's snapshot made again from its archived pages |
//! | [`publish`](self) | aggregates, checks, commit |
//! | [`price`] | what a run would cost |
//! | [`sql`] | aggregates and conditions, tried before a request is spent |
//! | [`moved`](self) | what bringing days up to date costs (pure) |
//! | [`outlook`](self) | rows to be expected of days not read yet (pure) |
//! | `remember` | what a run learned of days, for the next one |
//! | [`completion`] | when a run that does not fit a day will be complete (pure) |
//! | [`state`] | what one run learns for the next |
//! | [`summary`] | what a run did |
//! | [`report`] | the report of a snapshot |
//! | [`standing`] | where a lake stands |

pub mod config;
mod error;
mod load;
pub mod maintain;
pub mod plan;
pub mod publish;
pub mod run;
pub mod sample_lake;
pub mod state;

pub use error::PipelineError;
pub use run::{RunContext, Source, run};

use crate::table::EVERY_OTHER_TYPE;
