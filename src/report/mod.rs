//! The report of a snapshot: one self-contained HTML file, made from plain values without I/O.
//!
//! No font, picture or script from another place: the page's content security policy allows only the script in it, by its hash.
//! The page is complete without the script, whose data are the tables of the page.
//! Every text from the lake is escaped, because anyone can file a name.
//!
//! # Files, in reading order
//!
//! - `data`: the values that the report shows
//! - `page`: the page and its sections
//! - `headline`: the figures at the top
//! - `news`: what is new and gone, the newest businesses
//! - `windows`: which days the figures count, and how labels say it
//! - `county`: all counties with their figures
//! - `measure`: the measures that shade a county
//! - `county_table`: the table of the counties, and a part of the page for each
//! - `map`: the map of the real shapes, `county_shapes.csv`
//! - `tiles`: the counties as equal tiles
//! - `chart`: bars by day, month, year and weekday
//! - `periods`: months and years
//! - `calendar`: the calendar of complete days
//! - `table`: tables of figures, what the run did
//! - `number`: numbers as people read them
//!
//! `style.css` and `script.js` are those of the page.

mod calendar;
mod chart;
mod county;
mod county_table;
mod data;
mod headline;
mod map;
mod measure;
mod news;
mod number;
mod page;
mod periods;
mod table;
mod tiles;
mod windows;

pub(crate) use data::{OpenDay, ReportData, RunFacts};
pub(crate) use number::{count, span};
pub(crate) use page::render;
