//! sunlake turns the Florida Business Filings API into a columnar lake, and serves that API from the lake.

pub mod aggregate;
pub mod cli;
pub mod client;
pub mod contract;
pub mod extract;
pub mod lake;
pub mod normalize;
pub mod pipeline;
pub mod report;
pub mod sample;
pub mod serve;
pub mod table;
