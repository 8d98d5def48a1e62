//! Which Florida to make, and what one business of it holds.

use crate::contract::business::{Detail, Officer};
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Deserialize;

/// What kind of Florida: as measured, or skewed so that reading it costs more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// As measured.
    #[default]
    Plain,
    /// Addresses outside Florida spread over 300 ZIP prefixes, most of them rare.
    LongTail,
    /// Three businesses in four belong to one sector.
    OneSector,
}

/// Which Florida, its size, and the day it is seen on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleSpec {
    /// What all draws depend on.
    pub seed: u64,
    /// The Eastern day it is seen on. Later postings do not exist yet.
    pub today: Date,
    /// The oldest filing date is `today - (days - 1)`; back-dated filings may be older.
    pub days: u32,
    /// Share of Florida's volume; 1.0 is all of it. Kept between 0 and 1,000; not a number counts as 0.
    pub scale: f64,
    /// How its businesses are distributed.
    pub shape: Shape,
}

/// One business with everything the API can return about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleBusiness {
    /// The detail record; the summary is part of it.
    pub detail: Detail,
    /// All officers, sorted by name, then title; the API lists the first 25.
    pub officers: Vec<Officer>,
    /// The Eastern day on which the register first showed it.
    pub posted: Date,
}
