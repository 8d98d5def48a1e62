//! One listing, read completely and checked: distinct ids = the API's `total`.
//!
//! # The date walk
//!
//! A listing is ordered by filing date, newest first. One query reaches rows per call + max offset rows (its *reach*), for
//! Starter 50 + 1,000 = 1,050. A longer range is read by a chain of queries with one filter. Each query ends in the middle of
//! some day; the next one begins there.
//!
//! Example: July 1 to 10, with 300 rows a day, 3,000 in all.
//!
//! | query | `filed_to` | first offset | pages | new rows | ends |
//! | --- | --- | --- | --- | --- | --- |
//! | 1 | July 10 | 0 | 21 | 1,050 | after 150 rows of July 7 |
//! | 2 | July 7 | 149 | 18 | 899 | after 149 rows of July 4 |
//! | 3 | July 4 | 148 | 18 | 899 | after 148 rows of July 1 |
//! | 4 | July 1 | 147 | 4 | 152 | at the end of the listing |
//!
//! Each query reads one row of the one before again (offset 149, not 150). That row shows that the two join: nothing arrived
//! or left between them. The walk took 61 pages; 60 are the least for 3,000 rows. A wrong estimate costs nothing, because no page
//! is thrown away. Only a single day over reach stops the walk; that day is read in parts, by filters.
//!
//! # The check
//!
//! The first page of a range shows its `total`. The range is complete when the distinct ids read equal it (`range_state`): one number checks
//! many days, and takes no request. If it fails, the days that differ are found by bisection: the total of the newer half, then of
//! the half that differs, down to single days. One wrong day in 64 takes 6 requests.
//!
//! # Incremental reading
//!
//! A complete day that has changed since is not read again. Its newest rows come first, so it is read from the top to the first
//! known row. It is complete when known + new rows = `total`. If it lost rows, they are found by rank: the known rows predict the
//! rank of each row, and a page at offset 500 shows whether the difference is above or below it. Bisection finds one row of 1,050 in
//! 21 pages in about 5 requests.
//!
//! # Drift
//!
//! Rows may arrive or leave during a reading. Arrivals shift later rows down, so a row is read twice; departures shift them up,
//! so a row is missed. Pages that must join show both. After drift was seen, pages overlap by one row, no sum over several queries is
//! trusted, and days are checked one by one.
//!
//! # Missing rows
//!
//! The parts of a split may not be exhaustive: ZIP prefixes of Florida miss addresses outside of it. The total shows how many
//! rows are missing. They are searched under prefixes that other rows have, then by bisection of days and ranks, then by name
//! prefixes, until the total is met or the search costs too much. What is not found is reported.
//!
//! # Files, in reading order
//!
//! - `range_state`: what is known of the day range that is being read: drift, the result of a walk, rows
//! - `daily`: whether the daily endpoint lists the rows of a search
//! - `read_pages`: the pages read, and the records that wait to land
//! - `same_pages`: pages that do not depend on their offset
//! - `pager`: reads and checks single pages
//! - `date_walk`: the date walk, within reach
//! - `below_reach`: the rows of a day below the last page within reach
//! - `rank_search`: finds changed rows of a day by rank
//! - `residual`: finds rows that no part returned
//! - `split_read`: walks a slice, and reads in parts what is over reach
//! - `day`: makes a day match its total, or reads it again
//! - `incremental`: refreshes complete days
//! - `full_read`: reads day ranges completely and checks them
//! - `job`: one listing, newest days first
//! - `compare`: days whose rows differ from fresh totals

pub(super) mod below_reach;
pub(super) mod compare;
pub(super) mod daily;
pub(super) mod date_walk;
pub(super) mod day;
pub(super) mod full_read;
pub(super) mod incremental;
pub(super) mod job;
pub(super) mod pager;
pub(super) mod range_state;
pub(super) mod rank_search;
pub(super) mod read_pages;
pub(super) mod residual;
mod same_pages;
pub(super) mod split_read;

pub(crate) use compare::{CHECK, Totals, differing_days};
pub(crate) use daily::DailyListing;
pub(crate) use day::DayReading;
pub(crate) use job::{ListingJob, ListingStore, ReadContext, Reading, SETTLING, extract_listing};
pub(crate) use read_pages::ReadPage;
