//! Where a client sends its requests, and the bounds on each.

use super::error::{ClientError, Result};
use super::retry::RetryPolicy;
use reqwest::Url;
use std::time::Duration;

/// Address of the service, and the bounds on each request.
#[derive(Debug, Clone)]
pub(crate) struct ClientConfig {
    /// Address of the service; paths are appended to it.
    pub(crate) base_url: String,
    /// Whether plain http may reach another host; off by default.
    pub(crate) allow_plain_http: bool,
    pub(crate) connect_timeout: Duration,
    /// Longest time without data while an answer arrives.
    pub(crate) read_timeout: Duration,
    /// Longest time of one request, its body included.
    pub(crate) total_timeout: Duration,
    /// Largest body after decompression.
    pub(crate) max_body_bytes: usize,
    pub(crate) retry: RetryPolicy,
}

impl ClientConfig {
    pub(crate) fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            allow_plain_http: false,
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(60),
            max_body_bytes: 16 << 20,
            retry: RetryPolicy::default(),
        }
    }
}

/// The base URL, if it is https, or http to this host. Plain http to other hosts must be allowed.
pub(super) fn checked_base(config: &ClientConfig) -> Result<Url> {
    let settings = |reason: String| ClientError::Settings(format!("base URL {}: {reason}", config.base_url));
    let url = Url::parse(&config.base_url).map_err(|error| settings(error.to_string()))?;
    let host = url.host_str().unwrap_or("").trim_matches(['[', ']']);
    let loopback =
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    if !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some()
    {
        return Err(ClientError::Settings(
            "the base URL may contain only scheme, host, port and path".to_owned(),
        ));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if loopback || config.allow_plain_http => Ok(url),
        "http" => Err(settings("plain http would expose the key on the network; use https".to_owned())),
        other => Err(settings(format!("the scheme {other} is neither https nor http"))),
    }
}
