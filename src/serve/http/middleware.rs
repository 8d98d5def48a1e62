//! What every request passes, whatever its route: body, overload, panics, headers, compression, metrics, access log.

use super::app::Site;
use super::body::{self, BODY_TIMEOUT, BodyFault};
use super::compression::Coding;
use super::head_rules;
use super::quota;
use super::request_id::REQUEST_ID;
use super::response::{HttpResponse, Reply, SNAPSHOT, with_header};
use crate::serve::metrics::Counted;
use futures::FutureExt;
use http_body_util::Full;
use hyper::body::{Body, Bytes};
use hyper::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, HeaderValue,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::time::Instant;

/// Headers of every answer that has none of its own.
const HEADERS: [(HeaderName, &str); 4] = [
    (VARY, "authorization, accept-encoding"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (REFERRER_POLICY, "no-referrer"),
];
/// Methods that the access log names.
const METHODS: [Method; 7] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];

impl Site {
    /// Answers a request, counts it and logs it. Never fails, never panics.
    pub(super) async fn exchange<B>(&self, request: Request<B>, peer: SocketAddr) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let begun = Instant::now();
        let id = self.ids.of(request.headers());
        // A client that disconnects while its body is read drops this future here.
        let in_flight = Counted::new(&self.metrics.in_flight);
        let (parts, body) = request.into_parts();
        let read = match head_rules::fault(&parts) {
            Some((status, message)) => Err(BodyFault(status, message.to_owned())),
            None => body::read(body, BODY_TIMEOUT).await,
        };
        let (reply, parts) = match read {
            Ok(bytes) => {
                let request = Request::from_parts(parts, bytes);
                let reply = self.work(self.route(&request), &id).await;
                (reply, request.into_parts().0)
            }
            // The rest of the body may still arrive, so the connection cannot be used again.
            Err(BodyFault(status, message)) => {
                let close = HeaderValue::from_static("close");
                let refused = with_header(self.problem(status, message), CONNECTION, close);
                (Reply::open(refused, "none"), parts)
            }
        };
        let mut reply =
            Reply { response: self.finish_response(reply.response, &parts.headers, &id), ..reply };
        if let Some(caller) = &reply.caller {
            self.add_snapshot(reply.response.headers_mut());
            if let Some(left) = &reply.left {
                quota::add(reply.response.headers_mut(), &caller.account.limits, left);
            }
        }
        drop(in_flight);
        let took = begun.elapsed();
        self.metrics.answered(reply.route, reply.response.status().as_u16(), took);
        if reply.response.status() == StatusCode::UNAUTHORIZED {
            self.metrics.refused_keys.inc();
            if let Some(requests) = self.refused_keys.due(begun) {
                tracing::warn!(%peer, requests, "no valid key: answered 401");
            }
        }
        log_access(&parts, &reply, &id, peer, took.as_micros());
        reply.response.map(Full::new)
    }

    /// The answer of a route; 503 when too many requests are answered already, 500 when the route panics.
    async fn work(&self, answer: impl Future<Output = Reply>, id: &HeaderValue) -> Reply {
        let Ok(_permit) = self.at_work.try_acquire() else {
            self.metrics.shed("requests");
            let refused = self.problem(503, "the server is busy; try again shortly".to_owned());
            return Reply::open(refused, "none");
        };
        match AssertUnwindSafe(answer).catch_unwind().await {
            Ok(reply) => reply,
            Err(_) => {
                tracing::error!(request = ?id, "a request ended in a panic; this is a bug");
                let message = "an error of the server, which is in its log".to_owned();
                Reply::open(self.problem(500, message), "none")
            }
        }
    }

    /// The snapshot that is served, for an answer that has none of its own.
    fn add_snapshot(&self, headers: &mut HeaderMap) {
        if let Some(number) = self.service.index().and_then(|index| index.snapshot) {
            headers.entry(SNAPSHOT).or_insert(HeaderValue::from(number));
        }
    }

    /// The answer with the headers of every answer, its body compressed when the client accepts that.
    fn finish_response(
        &self,
        mut response: HttpResponse,
        sent: &HeaderMap,
        id: &HeaderValue,
    ) -> HttpResponse {
        let coding = Coding::accepted(sent).filter(|_| !response.headers().contains_key(CONTENT_ENCODING));
        if let Some(coding) = coding
            && let Some(encoded) = coding.encode(response.body())
        {
            *response.body_mut() = encoded.into();
            response.headers_mut().insert(CONTENT_ENCODING, coding.header());
        }
        let headers = response.headers_mut();
        headers.insert(REQUEST_ID, id.clone());
        for (name, value) in HEADERS {
            headers.entry(name).or_insert(HeaderValue::from_static(value));
        }
        self.let_pages_read(sent, headers);
        if self.is_draining() {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// Writes the line of the access log. It has no text of the client: path, query and method may contain a key.
fn log_access(parts: &Parts, reply: &Reply, id: &HeaderValue, peer: SocketAddr, micros: u128) {
    let caller = reply.caller.as_ref();
    tracing::info!(
        request = id.to_str().unwrap_or_default(),
        peer = %peer,
        method = if METHODS.contains(&parts.method) { parts.method.as_str() } else { "other" },
        route = reply.route,
        status = reply.response.status().as_u16(),
        bytes = reply.response.body().len(),
        micros = u64::try_from(micros).unwrap_or(u64::MAX),
        account = caller.map(|caller| caller.account.name.as_str()),
        key = caller.map(|caller| &*caller.key_id),
        "answered"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::fixture::{KEY, generous, site};
    use crate::serve::http::app::{MAX_AT_WORK, RETRY_SECS};
    use http_body_util::{BodyExt, StreamBody};
    use hyper::body::Frame;
    use hyper::header::{
        ACCEPT_ENCODING, AUTHORIZATION, CACHE_CONTROL, ETAG, HOST, IF_NONE_MATCH, RETRY_AFTER,
    };
    use serde_json::Value;
    use std::convert::Infallible;

    const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 1);

    async fn send(
        site: &Site,
        target: &str,
        headers: &[(&str, &str)],
        body: usize,
    ) -> (HeaderMap, u16, Bytes) {
        let mut request =
            Request::get(target).header(HOST, "x").header(AUTHORIZATION, format!("Bearer {KEY}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Full::new(Bytes::from(vec![b'x'; body]));
        let response = site.exchange(request.body(body).expect("a request"), PEER).await;
        let (parts, body) = response.into_parts();
        (parts.headers, parts.status.as_u16(), body.collect().await.expect("a body").to_bytes())
    }

    #[tokio::test]
    async fn every_answer_has_an_id_and_security_headers() {
        let site = site(generous(), &["data"]);
        for (target, status) in
            [("/v1/me", 200), ("/v1/fl/businesses", 400), ("/nowhere", 404), ("/docs", 200)]
        {
            let (headers, found, _) = send(&site, target, &[("x-request-id", "mine-1")], 0).await;
            assert_eq!(found, status, "{target}");
            assert_eq!(headers[REQUEST_ID], "mine-1", "{target}");
            assert_eq!(headers[X_CONTENT_TYPE_OPTIONS], "nosniff", "{target}");
            assert!(headers[VARY].to_str().is_ok_and(|vary| vary.contains("accept-encoding")), "{target}");
        }
        let (one, ..) = send(&site, "/v1/me", &[], 0).await;
        let (other, ..) = send(&site, "/v1/me", &[], 0).await;
        assert_ne!(one[REQUEST_ID], other[REQUEST_ID]);
    }

    #[tokio::test]
    async fn compressed_answer_is_the_plain_one_compressed() {
        let site = site(generous(), &["data"]);
        let target = "/v1/fl/counties";
        let (headers, _, plain) = send(&site, target, &[], 0).await;
        assert!(!headers.contains_key(CONTENT_ENCODING));
        let (headers, _, coded) = send(&site, target, &[(ACCEPT_ENCODING.as_str(), "zstd")], 0).await;
        assert_eq!(headers[CONTENT_ENCODING], "zstd");
        assert_eq!(zstd::decode_all(&coded[..]).expect("zstd"), plain);
        let (headers, ..) = send(&site, "/v1/me", &[(ACCEPT_ENCODING.as_str(), "gzip")], 0).await;
        assert!(!headers.contains_key(CONTENT_ENCODING), "too small to be worth it");
    }

    #[tokio::test]
    async fn unchanged_answer_is_a_304_and_is_counted() {
        let site = site(generous(), &["data"]);
        let target = "/v1/fl/businesses?q=sun";
        let (headers, status, body) = send(&site, target, &[], 0).await;
        assert_eq!((status, &headers[CACHE_CONTROL]), (200, &HeaderValue::from_static("private, no-cache")));
        let tag = headers[ETAG].to_str().expect("text");
        let (again, status, empty) = send(&site, target, &[(IF_NONE_MATCH.as_str(), tag)], 0).await;
        assert_eq!((status, empty.len(), &again[ETAG]), (304, 0, &headers[ETAG]));
        let (_, status, other) =
            send(&site, "/v1/fl/businesses?q=sun&limit=1", &[(IF_NONE_MATCH.as_str(), tag)], 0).await;
        assert_eq!((status, other == body), (200, false));
        let (headers, _, account) = send(&site, "/v1/me", &[(IF_NONE_MATCH.as_str(), "*")], 0).await;
        let account: Value = serde_json::from_slice(&account).expect("JSON");
        assert_eq!(account["remaining"]["minute"], generous().per_minute - 4);
        assert_eq!(headers[CACHE_CONTROL], "private, no-store");
    }

    #[tokio::test]
    async fn if_none_match_hides_no_error() {
        let site = site(generous(), &["data"]);
        for (target, due) in [
            ("/v1/fl/businesses?q=sun", 304),
            ("/v1/fl/stats", 304),
            ("/v1/fl/businesses/1", 304),
            ("/v1/me", 200),
            ("/v1/fl/businesses", 400),
            ("/v1/fl/businesses?q=sun&x=1", 400),
            ("/v1/fl/businesses/0", 400),
            ("/v1/fl/businesses/99", 404),
            ("/v1/fl/businesses/4", 404),
            ("/v1/fl/counties/ATLANTIS", 404),
            ("/v1/fl/filings/daily/2020-01-01", 403),
            ("/nowhere", 404),
        ] {
            let (headers, status, body) = send(&site, target, &[(IF_NONE_MATCH.as_str(), "*")], 0).await;
            assert_eq!((status, body.is_empty()), (due, due == 304), "{target}");
            assert_eq!(headers.contains_key(ETAG), due == 304, "{target}");
        }
    }

    #[tokio::test]
    async fn body_is_allowed_up_to_its_limit() {
        let site = site(generous(), &["data"]);
        assert_eq!(send(&site, "/v1/me", &[], body::MAX_BODY_BYTES).await.1, 200);
        let (headers, status, body) = send(&site, "/v1/me", &[], body::MAX_BODY_BYTES + 1).await;
        assert_eq!((status, &headers[CONNECTION]), (413, &HeaderValue::from_static("close")));
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(body["statusCode"], 413);
    }

    #[tokio::test]
    async fn overload_is_a_503_with_retry_after() {
        let site = site(generous(), &["data"]);
        let others =
            site.at_work.try_acquire_many(u32::try_from(MAX_AT_WORK).expect("small")).expect("permits");
        let (headers, status, body) = send(&site, "/healthz", &[], 0).await;
        assert_eq!((status, &headers[RETRY_AFTER]), (503, &HeaderValue::from(RETRY_SECS)));
        assert!(String::from_utf8_lossy(&body).contains("\"statusCode\":503"));
        drop(others);
        assert_eq!(send(&site, "/healthz", &[], 0).await.1, 200);
    }

    #[tokio::test]
    async fn request_of_a_disconnected_client_is_not_in_flight() {
        let site = site(generous(), &["data"]);
        let silent = futures::stream::pending::<Result<Frame<Bytes>, Infallible>>();
        let request =
            Request::post("/v1/me").header(HOST, "x").body(StreamBody::new(silent)).expect("a request");
        let mut exchange = Box::pin(site.exchange(request, PEER));
        assert!(exchange.as_mut().now_or_never().is_none(), "it waits for its body");
        assert_eq!(site.metrics.in_flight.get(), 1);
        drop(exchange);
        assert_eq!(site.metrics.in_flight.get(), 0);
    }

    #[tokio::test]
    async fn panic_is_a_500_with_the_error_body() {
        let site = site(generous(), &["data"]);
        let id = HeaderValue::from_static("x");
        let reply = site.work(async { panic!("planted") }, &id).await;
        let body: Value = serde_json::from_slice(reply.response.body()).expect("JSON");
        let status = reply.response.status();
        assert_eq!((status, &body["statusCode"]), (StatusCode::INTERNAL_SERVER_ERROR, &500.into()));
        assert_eq!(site.at_work.available_permits(), MAX_AT_WORK);
    }

    #[tokio::test]
    async fn draining_server_closes_every_connection() {
        let site = site(generous(), &["data"]);
        assert_eq!(send(&site, "/readyz", &[], 0).await.1, 200);
        site.drain();
        let (headers, status, _) = send(&site, "/readyz", &[], 0).await;
        assert_eq!((status, &headers[CONNECTION]), (503, &HeaderValue::from_static("close")));
        assert_eq!(send(&site, "/v1/me", &[], 0).await.1, 200, "it still answers");
    }
}
