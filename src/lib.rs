//! sunlake builds a columnar lake of Florida business filings from a paid API, and serves that API from the lake.
//!
//! This page is the map for people who change the code. The README is for people who run the program, `docs/` is its manual.
//!
//! # The way of the data
//!
//! ```text
//!          requests               archives            normalizes         commits          aggregates
//! the API ─────────▶ client, extract ───▶ raw pages ───▶ normalize ───▶ lake ───▶ aggregate ───▶ report
//!    ▲                                                                   │
//!    └──────────────── the same contract, answered by serve ◀────────────┘
//! ```
//!
//! [`contract`] holds the API document as types and rules, without I/O and without a clock. The client and the server both use
//! it and never each other, so each rule is written and tested once.
//!
//! # Layers
//!
//! A module imports downward only, and no two files import each other. Tests check both.
//!
//! | layer | modules | what they know |
//! | --- | --- | --- |
//! | 6 | [`cli`], `main.rs` | flags, signals, exit codes; `main` alone reads the clock and the environment |
//! | 5 | [`pipeline`] | the order of a run, pipeline files, what a run costs and did |
//! | 4 | [`report`] | HTML from plain values |
//! | 3 | [`aggregate`], [`export`], [`serve`] | SQL over a snapshot (polars, nowhere else); a snapshot for other programs; the API over a snapshot (hyper, nowhere else) |
//! | 2 | [`extract`], [`import`], [`normalize`], [`lake`] | which requests to send, and the proof that nothing is missing; the state's files; records → rows; snapshots on disk |
//! | 1 | [`client`], [`table`], [`sample`] | requests under limits; Arrow schemas and Parquet files; a made-up Florida from a seed |
//! | 0 | [`contract`] | the API document |
//!
//! Modules of one layer do not know each other. [`extract`] knows no Arrow and no disk, [`lake`] no HTTP and no slices.
//! arrow-rs and polars meet only in Parquet files.
//!
//! The order to read in: [`contract`] → [`client`] → [`table`] → [`sample`] → [`extract`] (query, plan, listing, registry) →
//! [`normalize`] → [`import`] (files, rules, business) → [`lake`] (format, backend, `data_file`, run, snapshot, merge, integrity) → [`aggregate`] → [`export`] →
//! [`report`] → [`serve`] (index, load, auth, http, mcp, reference) → [`pipeline`] (config, state, plan, load, import,
//! publish, maintain) → [`cli`]. The page of each folder lists its files in reading order.
//!
//! # A run
//!
//! 1. `cli::command::run` finds the source, starts the embedded API where the file asks for it, and listens to signals.
//! 2. [`pipeline::run()`] takes the lake's lock, tries the pipeline's SQL, looks for an unfinished run to resume, and requests the account.
//! 3. [`extract::reference`](mod@extract::reference) requests lists and statewide figures, `pipeline::load::extraction` the counts of
//!    days; `pipeline::plan::stale_days` decides which days are read.
//! 4. [`extract::listing`] reads them, newest first, until the distinct ids equal the API's `total`. Every answer passes
//!    [`extract::fetch`], which archives it before it counts. The client's budget counts each request before it is sent.
//! 5. `pipeline::load::landing` takes complete days through [`normalize`] into a [`lake::Staging`]; `load::day_check` compares them
//!    with fresh counts at the end.
//! 6. `pipeline::publish` merges tables, runs checks and [`aggregate`], commits, and writes the [`report`].
//!
//! A pipeline with `[import]` goes another way: `pipeline::import` reads the state's files by [`import`] into a spool, merges them
//! month by month, and publishes by the same steps.
//!
//! # Where a rule is
//!
//! | question | file |
//! | --- | --- |
//! | when is a day read again? | `pipeline/plan/stale_days.rs`; after failures `pipeline/state/run_state.rs` |
//! | which day is too late for a run? | `pipeline/api_day.rs` |
//! | when is a day complete? | `extract/listing/range_state.rs`, called by `full_read.rs` and `day.rs`; no longer if `pipeline/load/day_check.rs` finds a difference, `recount.rs` other rows in the lake, or `coverage.rs` a record in quarantine |
//! | what happens to a 429? | `client/response.rs` recognises it, `sender.rs` pauses the account, `retry.rs` waits |
//! | how does a killed run resume? | `pipeline/run.rs`; its pages come from `lake/run/page_archive.rs` |
//! | when does a snapshot exist? | `lake/snapshot/commit.rs`, by `lake/backend/disk.rs` |
//! | when is a file damaged, and what does that mean? | `lake/integrity/audit.rs`, `problem.rs` |
//! | which columns has a table? | the `table_row!` of its row type, in `table/business.rs`, `change.rs`, `count.rs` or `reference.rs` |
//! | what does a field of the state's files mean? | `import/files/layout.rs`, then `import/rules` |
//! | which of a business's state records and events count? | `import/business/merge.rs` |
//! | when does a file of the state count? | `import/sound.rs`; its name is read in `import/files/names.rs` |
//! | which SQL is refused? | as text `aggregate/dialect/statement.rs`, else where a form is planned: `resolve.rs`, `functions.rs`, `reduce.rs`, `rows/` |
//! | which of the state's files are read, and what is their date? | `import/files/source.rs`, `pipeline/import/known.rs` |
//! | what happens to an invalid record? | `normalize/answer.rs`, then `lake/run/quarantine.rs` |
//! | which exit code has an error? | `cli/exit.rs`; its hint is the method `hint` of its type, next to it |
//! | who may use the server, how often? | `serve/auth/access.rs`, `serve/auth/usage_meter.rs`; several servers: `serve/auth/shared` |
//! | how long may a client take, how many connections has it? | `serve/http/wire/waiting.rs`, `serve/http/wire/peers.rs` |
//! | how is a listing answered? | `serve/index/listing_query.rs` |
//! | which files does the program carry with it? | `pipeline/config/built_in.rs` |
//! | what is wrong in a pipeline file, in SQL, on the command line? | `pipeline/config/mistakes.rs`, `aggregate/dialect/statement.rs`, `cli/args/mistakes.rs` |
//! | which months does an aggregate compute again? | `aggregate/by_month.rs` |
//! | where is an aggregate run? | `aggregate/run.rs`; its SQL is in `pipelines/aggregates/` |
//!
//! # Code terms
//!
//! - *Listing*: what one query without paging would return. *Slice*: a query that can be read to its end.
//! - *Reach*: rows that one query can ever return, max offset plus rows per call.
//! - *Complete* (of a day): the lake holds exactly the distinct ids that the API's `total` counts. While rows change, pages that
//!   join without a gap replace the total.
//! - *Settled* (of a day): read complete when it was 30 days old or older.
//! - *Drift*: rows that change while they are being read.
//! - *Snapshot*: one state of the lake. *Commit*: its file list, created once. *Pending*: a snapshot that failed a check and waits for a person.
//!
//! # Habits
//!
//! - Decide (pure), act, then report. Clock, day, seed, limits and randomness are arguments.
//! - Parse once, then trust: a checked type has one constructor.
//! - A row that cannot be reached is in `coverage`, in the summary and in the exit code.
//! - Each module has its own errors. A variant exists because somebody acts differently on it. [`cli::exit`] alone maps errors
//!   to exit codes; `pipeline::publish::summary` has the codes of runs that end without an error.
//! - [`table::columns`] describes every column. The reference pages in `docs/` are generated from it, from the command line's
//!   definition and from the pipeline types.
//! - An exception to a lint is an `expect` with its reason. `.ci/run` checks all of this.

pub mod aggregate;
pub mod cli;
pub mod client;
pub mod contract;
pub mod export;
pub mod extract;
#[cfg(test)]
mod fuzz;
pub mod import;
pub mod lake;
pub mod normalize;
pub mod pipeline;
pub mod report;
pub mod sample;
pub mod serve;
pub mod table;
