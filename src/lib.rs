//! sunlake turns the Florida Business Filings API into a columnar lake, and serves that API from the lake.

pub mod aggregate;
pub mod contract;
pub mod report;
pub mod table;
