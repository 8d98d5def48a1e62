//! sunlake turns the Florida Business Filings API into a columnar lake, and serves that API from the lake.
//!
//! This page is the map for whoever changes the code; the README is for whoever runs it.
//!
//! # The picture
//!
//! ```text
//!            asks                     keeps              cleans            publishes          adds up
//! the API ─────────▶ client, extract ───────▶ raw pages ───────▶ normalize ───────▶ lake ───────▶ aggregate
//!    ▲                                                                                │
//!    └───────────────────────── the same contract, answered by serve ◀────────────────┘
//! ```
//!
//! At the ground lies [`contract`]: what the API document says, as types and rules, without I/O and without a clock. The
//! asking side and the answering side both stand on it and never on each other, so a rule is written and tested once.
//!
//! # Floors
//!
//! A module imports downward only.
//!
//! | floor | modules | know |
//! | --- | --- | --- |
//! | 6 | [`cli`], `main.rs` | flags, signals, exit codes; the clock and the environment enter in `main` |
//! | 5 | [`pipeline`] | the order of a run, pipeline files, what a run costs and did |
//! | 4 | [`report`] | HTML from plain values |
//! | 3 | [`aggregate`], [`serve`], [`export`] | SQL over a snapshot (polars, nowhere else); the API over a snapshot (hyper, nowhere else); a snapshot for other programs |
//! | 2 | [`extract`], [`normalize`], [`lake`] | which questions to ask, and the proof; records → rows; snapshots on disk |
//! | 1 | [`client`], [`table`], [`sample`] | requests under limits; Arrow schemas and Parquet files; a Florida from a seed |
//! | 0 | [`contract`] | the API document |
//!
//! Beside each other stand, on one floor, modules that do not know each other. [`extract`] knows no Arrow and no disk, [`lake`] no
//! HTTP and no slices; arrow-rs and polars meet only in Parquet files.
//!
//! # A run, in reading order
//!
//! 1. `cli::run` finds the source, starting the embedded API where the file asks for it, and hears signals.
//! 2. [`pipeline::run()`] takes the lake's lock, tries the pipeline's SQL and looks for an unfinished run to go on with.
//! 3. [`extract::reference`](mod@extract::reference) asks for account, lists and counts; [`pipeline::need`] says which days must be read.
//! 4. [`extract::listing`] reads them, newest first, until distinct rows equal the API's `total`. Every answer passes
//!    [`extract::ask`], which archives it before it counts, and [`client::Budget`], which counts the request before it is sent.
//! 5. `pipeline::land` takes proven days through [`normalize`] into a [`lake::Staging`].
//! 6. `pipeline::publish` merges tables, holds the checks, runs [`aggregate`], commits, and has [`report`] written; `cli::show`
//!    tells.
//!
//! Start with [`contract::search`], [`extract`] and [`lake`]: the rest follows from them.
//!
//! # Habits
//!
//! - Decide (pure), do, then tell. Clock, day, seed, limits and randomness are arguments.
//! - Parse once, then trust: a checked type has one door.
//! - What cannot be proven is told: a row that is missing stands in `coverage`, in the summary, and in the exit code.
//! - Errors belong to the module that raises them, and a variant exists because someone acts differently on it. The exit code is
//!   chosen in one place, [`cli::exit`].
//! - A column is described in [`table::columns`] and nowhere else; the README is checked against it, as against every command, flag,
//!   exit code, pipeline key and aggregate.
//! - An exception to a lint is an `expect` with its reason. `.ci/run` holds all of this.

pub mod aggregate;
pub mod cli;
pub mod client;
pub mod contract;
pub mod export;
pub mod extract;
pub mod lake;
pub mod normalize;
pub mod pipeline;
pub mod report;
pub mod sample;
pub mod serve;
pub mod table;
