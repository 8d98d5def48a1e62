//! What a field means.
//!
//! # Files, in reading order
//!
//! - [`text`]: characters, numbers and days of a field
//! - [`place`]: state, city, ZIP code and county of an address
//! - [`party`]: names of persons and companies
//! - [`effect`]: filing types, and what an event does to a business
//! - [`industry`]: industries by the words of a name

pub mod effect;
pub mod industry;
pub mod party;
pub mod place;
pub mod text;
