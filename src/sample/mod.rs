//! A made-up Florida from a seed: businesses, officers, counties, industries, as the register shows them on a day.
//!
//! The same spec gives the same records on every machine. The filings of a posting day depend only on the seed, the scale, the shape
//! and that day. So tomorrow's sample is today's, plus tomorrow's filings, plus a few businesses that change or dissolve.
//! Records are streamed: memory stays flat.
//!
//! # Files, in reading order
//!
//! - `spec`: which Florida to make, and one business of it
//! - `window`: the businesses of the newest days
//! - `register`: the 30 years before
//! - `calendar`: filings by date
//! - `posting`: when they are posted
//! - `series`: document numbers
//! - `record`: the complete record
//! - `name`: names of businesses
//! - `industry`: their industries
//! - `place`: their addresses
//! - `person`: officers and registered agents
//! - `life`: changes and dissolution
//! - `chance`: random draws

mod calendar;
mod chance;
mod industry;
mod life;
mod name;
mod person;
mod place;
mod posting;
mod record;
mod register;
mod series;
mod spec;
#[cfg(test)]
mod tests;
mod window;

pub use industry::industries;
pub use register::{RegisterSpec, old_register};
pub use spec::{SampleBusiness, SampleSpec, Shape};
pub use window::{SAMPLE_DAYS, businesses};
