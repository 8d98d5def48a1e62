//! What of a request's head hyper leaves to the server: `Host` and `Transfer-Encoding`.

use super::wire::bare_answer::{CHUNKED, OTHER_CODING};
use hyper::Version;
use hyper::header::{HOST, HeaderMap, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;

/// Why a head is refused: the status and the message of the answer.
pub(super) fn fault(parts: &Parts) -> Option<(u16, &'static str)> {
    let wrong_host = host_fault(&parts.headers, parts.version).map(|message| (400, message));
    wrong_host.or_else(|| coding_fault(&parts.headers))
}

fn host_fault(headers: &HeaderMap, version: Version) -> Option<&'static str> {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if version < Version::HTTP_11 => None,
        (None, _) => Some("the request has no Host"),
        (Some(_), Some(_)) => Some("the request has two Hosts"),
        (Some(host), None) => {
            let is_name = host.to_str().is_ok_and(|host| host_name(host).is_some());
            (!is_name).then_some("the Host is not a name or address with at most a port")
        }
    }
}

/// The name before the port; `None` when the header is not a plain host.
pub(super) fn host_name(header: &str) -> Option<String> {
    let authority: Authority = header.parse().ok()?;
    let host = authority.host();
    let port = header.strip_prefix(host)?;
    let is_port = |port: &str| port.is_empty() || port.parse::<u16>().is_ok();
    let is_plain = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
    (is_plain && !host.is_empty()).then(|| host.to_owned())
}

fn coding_fault(headers: &HeaderMap) -> Option<(u16, &'static str)> {
    let values = headers.get_all(TRANSFER_ENCODING).iter();
    let codings: Vec<&str> = values.flat_map(|value| value.to_str().unwrap_or("?").split(',')).collect();
    if codings.iter().any(|coding| !coding.trim().eq_ignore_ascii_case(CHUNKED)) {
        return Some((501, OTHER_CODING));
    }
    (codings.len() > 1).then_some((400, "a body is chunked once: Transfer-Encoding names it twice"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn refused(version: Version, headers: &[(&str, &str)]) -> Option<u16> {
        let mut request = Request::get("/").version(version);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        fault(&request.body(()).expect("a request").into_parts().0).map(|(status, _)| status)
    }

    #[test]
    fn a_request_has_one_host_that_is_a_name_or_an_address() {
        let now = Version::HTTP_11;
        for host in
            ["x", "x:80", "x:", "a_b.example", "127.0.0.1:8080", "[::1]", "[::1]:8080", "EXAMPLE.org."]
        {
            assert_eq!(refused(now, &[("host", host)]), None, "{host}");
        }
        for host in
            ["", ":80", "a b", "a/b", "http://a", "u@a", "a:b", "a:99999", "a:80:80", "[::1", "a?b", "a#b"]
        {
            assert_eq!(refused(now, &[("host", host)]), Some(400), "{host}");
        }
        assert_eq!(refused(now, &[]), Some(400));
        assert_eq!(refused(Version::HTTP_10, &[]), None);
        for version in [Version::HTTP_10, now] {
            assert_eq!(refused(version, &[("host", "x"), ("host", "x")]), Some(400), "{version:?}");
        }
    }

    #[test]
    fn chunked_is_the_only_transfer_encoding() {
        for (coding, expected) in [
            ("chunked", None),
            ("Chunked", None),
            ("chunked, chunked", Some(400)),
            ("chunked,chunked, gzip", Some(501)),
            ("gzip, chunked", Some(501)),
            ("identity", Some(501)),
            ("", Some(501)),
        ] {
            let sent = [("host", "x"), ("transfer-encoding", coding)];
            assert_eq!(refused(Version::HTTP_11, &sent), expected, "{coding}");
        }
    }
}
