//! HTTP/1.1 on hyper: connections, middleware, routes.
//!
//! hyper parses requests and frames answers. A web framework is not used: the routes come from the contract's table of
//! endpoints, and hyper's own bodiless 400s are replaced at the socket.
//!
//! # Files, in reading order
//!
//! - [`connection`]: accept, limit, overload, graceful shutdown
//! - [`wire`]: below HTTP: TLS, deadlines, JSON bodies for hyper's bare errors
//! - [`head_rules`]: `Host` and `Transfer-Encoding`
//! - [`middleware`]: what every request passes: body, overload, panics, headers, access log
//! - [`app`]: the state behind every route, pages without a key, errors as answers, the key of a request
//! - [`routes`]: path → operation → answer
//! - [`quota`]: the account's limits in every answer
//! - [`cors`]: pages of other origins
//! - [`body`]: request bodies within limits
//! - [`response`]: answers in memory, and conditional requests
//! - [`compression`]: gzip and zstd
//! - [`request_id`]: the header `X-Request-Id`
//! - [`host_guard`]: protection against DNS rebinding
//! - [`metrics_listener`]: the metrics, on a listener of their own

pub(super) mod app;
mod body;
mod compression;
pub(super) mod connection;
mod cors;
mod head_rules;
pub(super) mod host_guard;
pub(super) mod metrics_listener;
mod middleware;
mod quota;
mod request_id;
pub(super) mod response;
mod routes;
pub(super) mod wire;
