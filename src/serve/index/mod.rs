//! The in-memory index of one snapshot: immutable, and complete before the first request reads it.
//!
//! Rows are numbered in the order of every listing: newest filing first, then the largest id. Columns are stored apart.
//! Repeated texts are dictionary codes; the codes that listings filter by are packed in one 64-bit number a row.
//!
//! - A listing without a name is a range of row numbers (at most 92 days). It is scanned from one end to the other.
//! - A listing with a name prefix starts from a binary search in the order of names. A short range is looked at row by
//!   row. A long range is filtered 512 rows at a time with a bit-sliced index (O'Neil & Quass, "Improved Query Performance
//!   with Variant Indexes", 1997).
//! - Texts compare by Unicode simple case folding. A sorted dictionary turns "equal" and "begins with" into a range of codes.
//! - Look-ups by id and by document number are hash tables of row numbers.
//! - Details and officers are texts by business id. Where a snapshot has them by month of filing, as one of the state's files has,
//!   they stay there: a look-up reads one page a column of the month's file, whose footer stays in memory.
//!
//! # Files, in reading order
//!
//! - `case_fold`: comparing texts without regard to case
//! - `column`: columns of texts, of codes, and of the few values that do not fit
//! - `dictionary`: the distinct texts of a column, sorted, with a code each
//! - `packed_row`: flags and filter codes of a row in one 64-bit number
//! - `columns`: all columns, of rows that are collected and of a snapshot; a document number packed in 8 bytes
//! - `bit_slices`: the bit-sliced index
//! - `name_order`: rows sorted by name, and prefix search
//! - `counts`: counts by day, by county and statewide
//! - `lookup_text`: details and officers as JSON
//! - `month_files`: rows that stay in the files of a snapshot
//! - `lookup`: the index itself: look-ups by id and document number, details, officers
//! - `builder`: rows in any order → an index
//! - `filter`: the filters of a listing as codes
//! - `listing_query`: total and page of a listing
//! - `row_json`: rows as JSON

mod bit_slices;
pub(super) mod builder;
mod case_fold;
mod column;
pub(super) mod columns;
mod counts;
mod dictionary;
pub(super) mod filter;
pub(super) mod listing_query;
mod lookup;
mod lookup_text;
pub(super) mod month_files;
mod name_order;
mod packed_row;
mod row_json;

pub(super) use builder::IndexBuilder;
pub use builder::IndexError;
pub(super) use counts::CountyName;
pub(super) use lookup::Index;
