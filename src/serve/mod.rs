//! The API, served from a snapshot of the lake or from records in memory.
//!
//! All rows are in memory, in an index made for the listings of the API. A request passes
//! `http` or `mcp`, which ask `service`; both protocols give the same bodies.
//!
//! Order of checks: route (404, not counted) → method (405) → key (401) → plan and scope (403) → limits (429) →
//! parameters (400) → the plan's window (403) → existence (404).
//!
//! # Files, in reading order
//!
//! - `rarely`: what is said only so often
//! - `config`: what a server is started with, and why it cannot start
//! - `server`: start, run, shutdown
//! - `index`: all rows in memory, newest first
//! - `load`: snapshot folder → index
//! - `service`: the twelve operations, without HTTP or MCP
//! - `auth`: keys, accounts, limits and request counts
//! - `http`: connections, middleware, routes
//! - `mcp`: the same operations as tools over MCP
//! - `pages`: a search and the reference, for people
//! - `reference`: the `OpenAPI` document, the Markdown page, JSON Schemas
//! - `detached`: blocking work on a thread of its own
//! - `watch`: work that is done again and again, each kind on its own
//! - `key_watch`: a changed key file without a restart, and one that cannot be read
//! - `hot_reload`: new snapshots, looked for every second
//! - `metrics`: counters for Prometheus

mod auth;
mod config;
mod detached;
#[cfg(test)]
mod fixture;
mod hot_reload;
mod http;
mod index;
mod key_watch;
mod load;
mod mcp;
mod metrics;
mod pages;
mod rarely;
mod reference;
mod server;
mod service;
mod watch;

pub(crate) use auth::{
    Accounts, AddressError, KEY_PREFIX, KeyFile, KeyRecord, KeyRequest, KeyState, LastUse, LastUses,
    StoreAddress, last_uses,
};
pub use auth::{KeysError, LimitOverride, MeterError};
pub use config::ServeError;
pub(crate) use config::{AccountsSource, DEFAULT_LINGER, IndexSource, ServeConfig, UsagePlace};
pub(crate) use http::connection::ConnectionLimits;
pub(crate) use http::host_guard::Origins;
pub use http::wire::tls::TlsError;
pub(crate) use http::wire::tls::TlsFiles;
pub use index::IndexError;
pub use load::LoadError;
pub(crate) use server::{Opened, Server, reachable};
