//! TODO page.

pub(super) mod app;
pub(super) mod body;
pub(super) mod compression;
pub(super) mod connection;
pub(super) mod error_response;
pub(super) mod etag;
pub(super) mod host_guard;
pub(super) mod middleware;
pub(super) mod request_id;
pub(super) mod response;
pub(super) mod routes;
pub(super) mod socket;
