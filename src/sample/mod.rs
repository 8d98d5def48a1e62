//! A Florida from a seed: businesses, officers, counties, industries, as the register would show them on a day.
//!
//! Same spec, same records, on every machine. What was posted on a day depends on the seed, the scale and that day
//! alone; so the world of tomorrow is the world of today, and what is posted tomorrow, and the few businesses whose
//! day to change or end has come. Nothing is kept between records: memory stays flat.
//!
//! | file | knows |
//! | --- | --- |
//! | `calendar` | how many filings carry a date |
//! | `posting` | when they are posted |
//! | `series` | document numbers |
//! | `name`, `industry` | what businesses are called, what they do |
//! | `place`, `person` | where they are, who stands for them |
//! | `life` | how they change and end |
//! | `record` | the whole record |
//! | `register` | the thirty years before |
//! | `chance` | the draws behind it all |

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
pub use window::businesses;
