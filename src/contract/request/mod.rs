//! Requests: the twelve operations, their parameters, and a request checked against the account's plan.
//!
//! A request is read through one table of parameters. Client, validator, `OpenAPI` document and MCP schemas use the same table.
//!
//! # Files, in reading order
//!
//! - [`endpoint`]: the twelve operations, their paths and tool names
//! - [`param`]: the table of parameters
//! - [`query`]: query strings, split and joined
//! - [`argument`]: the parameters of one request, every rule they break, and their page
//! - [`search`]: the business search, checked against the plan
//! - [`daily`]: the daily endpoints, checked against the plan

pub mod argument;
pub mod daily;
pub mod endpoint;
pub mod param;
pub mod query;
pub mod search;
