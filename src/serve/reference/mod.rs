//! The API's reference, generated from the contract's tables: `OpenAPI` 3.1, Markdown, JSON Schemas.
//!
//! # Files, in reading order
//!
//! - [`json_schema`]: schemas of parameters, tool arguments and answers
//! - [`records`]: schemas of records, with a description for each field
//! - [`problems`]: every status but 200, and when it is sent
//! - [`openapi`]: the document at `/openapi.json`
//! - [`markdown`]: the reference at `/docs.md`, of which `/docs` is made

pub(super) mod json_schema;
pub(super) mod markdown;
pub(super) mod openapi;
mod problems;
mod records;
