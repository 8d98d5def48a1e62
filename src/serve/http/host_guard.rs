//! Protection against DNS rebinding: a web page whose own name resolves to this server may not call it.
//!
//! The `Host` and `Origin` of a request must name this server.

use super::head_rules::host_name;
use hyper::Uri;
use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

/// The origins of pages that may call this server; `*` are all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins(pub(crate) Vec<String>);

impl Origins {
    pub(super) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    fn have(&self, origin: &str) -> bool {
        self.0.iter().any(|known| known == "*" || known.eq_ignore_ascii_case(origin))
    }

    /// The origin of a request, when its pages may call this server.
    pub(super) fn of<'a>(&self, headers: &'a HeaderMap) -> Option<&'a HeaderValue> {
        headers.get(ORIGIN).filter(|origin| origin.to_str().is_ok_and(|origin| self.have(origin)))
    }
}

/// What to do about a `Host` that a proxy put in the place of the client's.
const BEHIND_A_PROXY: &str =
    "a proxy must send the Host that clients use, and the server know it by --public-url";

/// The accepted names: loopback, the listening address, and the public address if there is one.
#[derive(Debug)]
pub(crate) struct HostGuard {
    listening: SocketAddr,
    public: Option<Uri>,
    /// Origins of web pages that the operator lets in.
    pub(super) origins: Origins,
    /// Whether a refused `Host` was reported: once says it all.
    has_warned: AtomicBool,
}

impl HostGuard {
    /// The names of a server that listens on `listening`, and that clients may know as `public_url`; pages of `origins` are let in.
    pub(crate) fn new(listening: SocketAddr, public_url: Option<&str>, origins: Origins) -> Self {
        Self {
            listening,
            public: public_url.and_then(|url| url.parse().ok()),
            origins,
            has_warned: AtomicBool::new(false),
        }
    }

    /// Checks `Host` and `Origin`; the error is the reason, for the client.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), String> {
        let host = headers.get(HOST).map_or_else(|| uri.authority().map(|name| name.as_str()), text);
        if !host.and_then(host_name).is_some_and(|host| self.knows_host(&host)) {
            if !self.has_warned.swap(true, Ordering::Relaxed) {
                tracing::warn!("a request to /mcp was refused for its Host; {BEHIND_A_PROXY}");
            }
            return Err(format!("the Host {} is not a name of this server; {BEHIND_A_PROXY}", shown(host)));
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => Ok(()),
            (Some(origin), None) if text(origin).is_some_and(|origin| self.knows_origin(origin)) => Ok(()),
            (Some(origin), _) => Err(format!("the Origin {} may not call this server", shown(text(origin)))),
        }
    }

    /// Of DNS names only loopback and the public name are known, because a name can be pointed at any address. An IP address
    /// cannot: every address of a server that listens on all of them is known.
    fn knows_host(&self, host: &str) -> bool {
        if is_loopback(host)
            || self.public.as_ref().and_then(Uri::host).is_some_and(|name| name.eq_ignore_ascii_case(host))
        {
            return true;
        }
        let listening = self.listening.ip();
        address(host).is_some_and(|address| address == listening || listening.is_unspecified())
    }

    fn knows_origin(&self, origin: &str) -> bool {
        if self.origins.have(origin) {
            return true;
        }
        let Ok(origin) = origin.parse::<Uri>() else { return false };
        let (Some(scheme), Some(host)) = (origin.scheme_str(), origin.host()) else { return false };
        let is_web = ["http", "https"].contains(&scheme);
        let is_listening =
            address(host) == Some(self.listening.ip()) && port(&origin) == Some(self.listening.port());
        let is_public = self.public.as_ref().is_some_and(|public| {
            public.scheme_str() == Some(scheme)
                && public.host().is_some_and(|name| name.eq_ignore_ascii_case(host))
                && port(public) == port(&origin)
        });
        is_web && (is_loopback(host) || is_listening || is_public)
    }
}

fn address(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || address(host).is_some_and(|address| address.is_loopback())
}

fn port(uri: &Uri) -> Option<u16> {
    uri.port_u16().or(match uri.scheme_str() {
        Some("http") => Some(80),
        Some("https") => Some(443),
        _ => None,
    })
}

fn text(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()
}

fn shown(text: Option<&str>) -> String {
    text.map_or_else(|| "of this request".to_owned(), crate::contract::query::quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(guard: &HostGuard, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().expect("a header"));
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().expect("a header"));
        }
        guard.check(&Uri::from_static("/mcp"), &headers).is_err()
    }

    #[test]
    fn loopback_listening_address_and_public_name_are_accepted() {
        let guard = HostGuard::new(
            "10.0.0.5:8080".parse().expect("an address"),
            Some("https://filings.example.org"),
            Origins::default(),
        );
        let known =
            "localhost localhost:8080 LOCALHOST:1 127.0.0.1:9 [::1]:80 10.0.0.5:8080 filings.example.org";
        for host in known.split(' ') {
            assert!(!refused(&guard, host, None), "{host}");
        }
        let unknown = "evil.example 10.0.0.6:8080 localhost.evil.example a@localhost localhost/x \
                       filings.example.org.evil";
        for host in unknown.split(' ') {
            assert!(refused(&guard, host, None), "{host}");
        }
        let known = "http://localhost:6274 https://127.0.0.1 http://[::1]:5 http://10.0.0.5:8080 \
                     https://filings.example.org https://filings.example.org:443";
        for origin in known.split(' ') {
            assert!(!refused(&guard, "localhost", Some(origin)), "{origin}");
        }
        let unknown = "http://evil.example null http://10.0.0.5:81 http://filings.example.org \
                       https://filings.example.org:8443 file://localhost localhost";
        for origin in unknown.split(' ').chain([""]) {
            assert!(refused(&guard, "localhost", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn server_on_all_interfaces_accepts_any_address_but_no_foreign_name() {
        let guard = HostGuard::new("0.0.0.0:8080".parse().expect("an address"), None, Origins::default());
        assert!(!refused(&guard, "192.168.1.7:8080", None));
        assert!(refused(&guard, "rebound.example:8080", None));
        assert!(
            refused(&guard, "192.168.1.7:8080", Some("http://192.168.1.7:8080")),
            "not this server's page"
        );
    }

    #[test]
    fn missing_host_and_two_origins_are_refused() {
        let guard = HostGuard::new("127.0.0.1:8080".parse().expect("an address"), None, Origins::default());
        assert!(guard.check(&Uri::from_static("/mcp"), &HeaderMap::new()).is_err());
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        headers.append(ORIGIN, HeaderValue::from_static("http://localhost"));
        headers.append(ORIGIN, HeaderValue::from_static("http://localhost"));
        assert!(guard.check(&Uri::from_static("/mcp"), &headers).is_err());
    }
}
