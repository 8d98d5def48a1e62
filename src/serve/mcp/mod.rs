//! MCP over streamable HTTP at `/mcp`: one message a request, no sessions, every answer JSON.
//!
//! rmcp implements the protocol, the versions with a handshake and the one without. This folder adds what rmcp leaves out
//! or answers in plain text: key and limits as for every other endpoint, size and form of the request, unsupported versions.
//!
//! A wrong HTTP request gets the API's error body. A wrong message gets a JSON-RPC error with that body as its `data`. A
//! failed call gets a result with `isError` and that body as its text.
//!
//! # Files, in reading order
//!
//! - [`endpoint`]: HTTP request → checks → rmcp → answer
//! - `body_place`: the result of a call, before and after its body is put into it
//! - [`tools`]: the twelve tools
//! - [`rpc_error`]: JSON-RPC errors with the API's error body

mod body_place;
pub(super) mod endpoint;
mod rpc_error;
mod tools;
