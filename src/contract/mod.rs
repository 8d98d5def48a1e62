//! What the API document says, as types and rules, with no I/O and no clock.
//!
//! Client and server both use this module and never each other, so each rule is written once.
//! Each file names its part of the API document; [`holiday`] names a statute.
//!
//! # Files, in reading order
//!
//! - [`business`]: summary, detail and officer records
//! - [`id`]: identifiers and their forms
//! - [`reference`](mod@reference): business types and industry lists
//! - [`listing`]: listings by type, and which businesses they hold
//! - [`county`](mod@county): the 67 counties
//! - [`count`]: daily, county and statewide counts
//! - [`page`]: pagination block and `data` wrappers
//! - `records`: the records of a listing's page
//! - [`error`]: error bodies and broken rules
//! - `escape`: texts from outside, as a terminal may show them
//! - `hint`: the right name that a wrong one was meant to be, and hints that errors of several modules share
//! - [`eastern`]: days and months in Eastern time
//! - [`holiday`]: Florida's state holidays
//! - [`plan`]: the limits table
//! - [`account`]: the account record
//! - [`usage`]: requests used in each window
//! - [`request`]: the operations, their parameters, and requests checked against a plan

pub mod account;
pub mod business;
pub mod count;
pub mod county;
pub mod eastern;
pub mod error;
pub(crate) mod escape;
pub(crate) mod hint;
pub mod holiday;
pub mod id;
pub mod listing;
pub mod page;
pub mod plan;
pub(crate) mod records;
pub mod reference;
pub mod request;
pub mod usage;

pub use request::{argument, daily, endpoint, param, query, search};
