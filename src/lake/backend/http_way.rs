//! The way of a request to an object store: through the environment's proxy, or straight.

use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpService, ReqwestConnector,
};
use std::error::Error;
use std::net::IpAddr;
use std::pin::Pin;

/// Excludes every name and every address from a proxy.
const ALL_HOSTS: &str = "*,0.0.0.0/0,::/0";

/// In rustls' words for a certificate that cannot be trusted.
pub(crate) const UNTRUSTED: &str = "invalid peer certificate";

/// Makes clients that ask plain http and this machine straight. A proxy would read what is not encrypted, credentials included; of https it
/// sees only the name of the host.
#[derive(Debug, Clone, Copy)]
pub(super) struct SafeWay;

impl HttpConnector for SafeWay {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let connector = ReqwestConnector::default();
        // A proxy that is given keeps the library from taking one of the environment. No host is left for it.
        let straight = options.clone().with_proxy_url("http://localhost").with_proxy_excludes(ALL_HOSTS);
        Ok(HttpClient::new(Ways {
            usual: connector.connect(options)?,
            straight: connector.connect(&straight)?,
        }))
    }
}

#[derive(Debug)]
struct Ways {
    usual: HttpClient,
    straight: HttpClient,
}

type Answer<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>;

impl HttpService for Ways {
    fn call<'a, 'b>(&'a self, request: HttpRequest) -> Answer<'b>
    where
        'a: 'b,
        Self: 'b,
    {
        let uri = request.uri();
        let is_hidden = uri.scheme_str() == Some("https") && !uri.host().is_some_and(is_loopback);
        let client = if is_hidden { &self.usual } else { &self.straight };
        Box::pin(async move { client.execute(request).await.map_err(without_retry) })
    }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// The error of a certificate as one that is not retried: the next attempt would find the same.
fn without_retry(error: HttpError) -> HttpError {
    let first: &(dyn Error + 'static) = &error;
    let mut causes = std::iter::successors(Some(first), |cause| Error::source(*cause));
    if causes.any(|cause| cause.to_string().contains(UNTRUSTED)) {
        HttpError::new(HttpErrorKind::Unknown, error)
    } else {
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_of_this_machine_are_known() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.8.9.1", "[::1]", "[::ffff:127.0.0.1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["localhost.example", "10.0.0.1", "[2001:db8::1]", "s3.amazonaws.com", "127.example"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
