//! Routes: path → key → operation → answer, or 304 when the client has the answer already.

use super::app::{Site, bearer};
use super::response::{
    HttpResponse, NOT_FOUND_OF, Reply, Tag, bare, of_snapshot, response, tagged, with_header,
};
use crate::contract::argument::Arguments;
use crate::contract::endpoint::Endpoint;
use crate::contract::query::{self, cut};
use crate::serve::auth::{Admission, Caller};
use crate::serve::mcp::endpoint as mcp;
use crate::serve::service::{ApiError, NextPage, Versioned};
use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderValue, LINK};
use hyper::{Method, Request, StatusCode, Uri};

impl Site {
    pub(super) async fn route(&self, request: &Request<Bytes>) -> Reply {
        if let Some(allowed) = self.preflight(request) {
            return Reply::open(allowed, "none");
        }
        match request.uri().path() {
            mcp::PATH => mcp::respond(self, request).await,
            _ => self.respond(request.method(), request.uri(), request.headers()).await,
        }
    }

    /// The answer to a request without a body. Checks: route, method, key, plan and scope, limits, then the operation's.
    pub(crate) async fn respond(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Reply {
        let is_read = *method == Method::GET || *method == Method::HEAD;
        if let Some((page, route)) = self.open_page(uri.path()) {
            return Reply::open(if is_read { page } else { self.wrong_method(method, READ) }, route);
        }
        let Some(keyed) = KeyedRoute::of(uri.path()) else {
            let missing = self.problem(404, format!("no route {} {}", cut(method.as_str()), cut(uri.path())));
            return Reply::open(not_found(missing, "route"), "none");
        };
        let route = keyed.name;
        if !is_read {
            return Reply::open(self.wrong_method(method, READ), route);
        }
        let caller = match self.service.authenticate(bearer(headers)) {
            Ok(caller) => caller,
            Err(error) => return Reply::open(self.refusal(&error), route),
        };
        // Every request with a valid key is counted, a 403 and a 304 too.
        let counted = self.service.count(&caller).await;
        let left = counted.as_ref().ok().map(|counted| counted.left);
        let answered = self.answer(&caller, counted, keyed, uri, headers).await;
        let response = answered.unwrap_or_else(|error| match &error {
            ApiError::NotFound(what, _) => not_found(self.refusal(&error), what),
            _ => self.refusal(&error),
        });
        Reply { response, route, caller: Some(caller), left }
    }

    /// The answer of an operation.
    async fn answer(
        &self,
        caller: &Caller,
        counted: Result<Admission, ApiError>,
        keyed: KeyedRoute<'_>,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<HttpResponse, ApiError> {
        let (KeyedRoute { endpoint, argument, name }, counted) = (keyed, counted?);
        self.service.authorize(caller, endpoint).and(counted.admitted().map_err(ApiError::from))?;
        let arguments = Arguments::from_request(endpoint, argument, uri.query().unwrap_or_default());
        if name == CHANGES {
            return Ok(response(StatusCode::OK, "application/json", self.service.changes(arguments)?));
        }
        let Versioned { body, next, version, snapshot } =
            self.service.answer(caller, &counted.left, arguments).await?;
        let response = of_snapshot(response(StatusCode::OK, "application/json", body), snapshot);
        // After the operation has succeeded: a client cannot have a 400 or a 404 cached.
        let answer = match tag(version, endpoint, uri) {
            Some(tag) if tag.matches(headers) => tagged(bare(StatusCode::NOT_MODIFIED, ""), &tag),
            Some(tag) => tagged(response, &tag),
            None => response,
        };
        Ok(match next.and_then(|next| next_link(uri, next)) {
            Some(link) => with_header(answer, LINK, link),
            None => answer,
        })
    }
}

/// The changes of a business: the page at `/` shows them, the API does not have them.
const CHANGES: &str = "/changes/{id}";

/// A route that needs a key.
struct KeyedRoute<'a> {
    name: &'static str,
    /// The operation whose rules hold: scopes and arguments.
    endpoint: Endpoint,
    /// The argument in the path.
    argument: Option<&'a str>,
}

impl<'a> KeyedRoute<'a> {
    fn of(path: &'a str) -> Option<Self> {
        let id = path.strip_prefix("/changes/").filter(|id| !id.is_empty() && !id.contains('/'));
        if id.is_some() {
            return Some(Self { name: CHANGES, endpoint: Endpoint::Business, argument: id });
        }
        let (endpoint, argument) = Endpoint::match_path(path)?;
        Some(Self { name: endpoint.template(), endpoint, argument })
    }
}

/// Methods of the routes without a body.
const READ: &str = "GET, HEAD";

fn not_found(answer: HttpResponse, what: &'static str) -> HttpResponse {
    with_header(answer, NOT_FOUND_OF, HeaderValue::from_static(what))
}

/// The tag of an operation's answer, whatever the order of its parameters; `None` for the account record, which changes with
/// every request.
fn tag(version: [u8; 32], endpoint: Endpoint, uri: &Uri) -> Option<Tag> {
    let mut parameters: Vec<&str> = uri.query().unwrap_or_default().split('&').collect();
    parameters.sort_unstable();
    let mut parts = vec![&version[..], uri.path().as_bytes()];
    parts.extend(parameters.iter().map(|piece| piece.as_bytes()));
    (endpoint != Endpoint::Account).then(|| Tag::of(&parts))
}

/// The address of the next page: the same search from another offset.
fn next_link(uri: &Uri, next: NextPage) -> Option<HeaderValue> {
    let mut pairs = query::split(uri.query().unwrap_or_default()).pairs;
    pairs.retain(|(name, _)| name != "limit" && name != "offset");
    let own =
        [("limit", next.limit), ("offset", next.offset)].map(|(name, number)| (name, number.to_string()));
    let all = pairs.iter().map(|(name, value)| (name.as_str(), value.clone())).chain(own);
    HeaderValue::try_from(format!("<{}?{}>; rel=\"next\"", uri.path(), query::join(all))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::{Plan, PlanLimits};
    use crate::serve::fixture::{KEY, generous, site};
    use futures::FutureExt;
    use hyper::header::{ALLOW, AUTHORIZATION, RETRY_AFTER, WWW_AUTHENTICATE};
    use serde_json::{Value, json};

    struct Reply {
        status: u16,
        headers: HeaderMap,
        body: Value,
    }

    fn send(site: &Site, method: &str, target: &str, authorization: &[&str]) -> Reply {
        let mut headers = HeaderMap::new();
        for value in authorization {
            headers.append(AUTHORIZATION, value.parse().expect("a header"));
        }
        let (method, target) = (method.parse().expect("a method"), target.parse().expect("a target"));
        let reply = site.respond(&method, &target, &headers).now_or_never().expect("counts in memory");
        let (parts, bytes) = reply.response.into_parts();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Reply { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    fn get(site: &Site, target: &str) -> Reply {
        send(site, "GET", target, &[&format!("Bearer {KEY}")])
    }

    fn ids(reply: &Reply) -> Vec<&str> {
        let rows = reply.body["data"].as_array().expect("rows");
        rows.iter().filter_map(|row| row["id"].as_str()).collect()
    }

    #[test]
    fn listings_match_the_document_newest_first() {
        let site = site(generous(), &["data"]);
        for (target, expected) in [
            ("/v1/fl/filings/daily/2026-07-31", &["9", "2", "1"][..]),
            ("/v1/fl/businesses?filed_from=2026-07-01", &["9", "2", "1", "3", "4"]),
            ("/v1/fl/businesses?filed_from=2026-07-01&filed_to=2026-08-01", &["8", "9", "2", "1", "3", "4"]),
            ("/v1/fl/businesses?q=sun", &["2", "1", "4"]),
            ("/v1/fl/businesses?q=SUN&status=all", &["6", "2", "1", "4"]),
            ("/v1/fl/businesses?q=SUN&type=fictitious", &["5"]),
            ("/v1/fl/businesses?q=%C3%B1and%C3%BA", &["7"]),
            ("/v1/fl/businesses?q=LLC", &[]),
            ("/v1/fl/businesses?q=SUN&filed_to=2026-07-30", &["4"]),
            ("/v1/fl/businesses?city=tampa", &["9", "2", "1"]),
            ("/v1/fl/businesses?city=ocala", &["4"]),
            ("/v1/fl/businesses?zip=336", &["9", "2", "1"]),
            ("/v1/fl/businesses?zip=33603", &["2"]),
            ("/v1/fl/businesses?q=SU&county=HILLSBOROUGH", &["2", "1"]),
            ("/v1/fl/businesses?q=SU&industry=food", &["1"]),
            ("/v1/fl/businesses?q=SU&industry=trade.roof", &["2"]),
            ("/v1/fl/businesses?q=SU&type=trust", &["4"]),
            ("/v1/fl/businesses?city=Nowhere", &[]),
        ] {
            let reply = get(&site, target);
            assert_eq!(reply.status, 200, "{target}: {}", reply.body);
            assert_eq!(ids(&reply), expected, "{target}");
            assert_eq!(reply.body["pagination"]["total"], expected.len(), "{target}");
        }
    }

    #[test]
    fn pages_of_any_size_make_the_same_listing() {
        let site = site(generous(), &["data"]);
        for size in [1, 2, 3, 50] {
            let (mut seen, mut offset) = (Vec::new(), 0);
            loop {
                let target = format!("/v1/fl/businesses?filed_from=2026-07-01&limit={size}&offset={offset}");
                let reply = get(&site, &target);
                seen.extend(ids(&reply).into_iter().map(str::to_owned));
                offset += size;
                if reply.body["pagination"]["has_more"] == false {
                    break;
                }
            }
            assert_eq!(seen, ["9", "2", "1", "3", "4"], "pages of {size}");
        }
    }

    #[test]
    fn limit_above_the_rows_per_call_is_reduced_and_reported() {
        let site = site(PlanLimits { rows_per_call: 2, ..generous() }, &["data"]);
        let reply = get(&site, "/v1/fl/businesses?filed_from=2026-07-01&limit=1000&offset=1");
        assert_eq!(reply.body["pagination"], json!({"limit": 2, "offset": 1, "has_more": true, "total": 5}));
    }

    #[test]
    fn a_summary_has_every_field_and_a_detail_adds_the_rest() {
        let site = site(generous(), &["data"]);
        let listed = get(&site, "/v1/fl/businesses?q=gone");
        let expected = serde_json::to_value(crate::serve::fixture::summary(9)).expect("JSON");
        assert_eq!(listed.body["data"][0], expected);
        let expected = serde_json::to_value(crate::serve::fixture::detail(1, 30)).expect("JSON");
        for target in ["/v1/fl/businesses/1", "/v1/fl/businesses/by-document/l26000000001"] {
            let reply = get(&site, target);
            assert_eq!((reply.status, &reply.body["data"]), (200, &expected), "{target}");
        }
    }

    #[test]
    fn statuses_and_messages_by_target() {
        let site = site(PlanLimits { window_days: 30, ..generous() }, &["data"]);
        for (target, status, says) in [
            ("/v1/fl/businesses/0", 400, "id must be a positive integer"),
            ("/v1/fl/businesses/x/officers", 400, "id must be a positive integer"),
            ("/v1/fl/businesses/4", 404, "never fetched"),
            ("/v1/fl/businesses/3/officers", 404, "never fetched"),
            ("/v1/fl/businesses/99", 404, "no business has this id"),
            ("/v1/fl/businesses/99999999999999999999999", 404, "no business has this id"),
            ("/v1/fl/businesses/1?x=1", 400, "unknown parameter \"x\""),
            ("/v1/fl/businesses/by-document/L1", 400, "6 to 12 letters or digits"),
            ("/v1/fl/businesses/by-document/L99999999", 404, "no business has the document number L99999999"),
            ("/v1/fl/businesses?q=SU&industry=nope", 400, "industry \"nope\" is not a key"),
            ("/v1/fl/businesses", 400, "narrowing filter"),
            (
                "/v1/fl/businesses?filed_from=2026-07-01&filed_to=2026-07-02",
                403,
                "reaches back to 2026-07-02",
            ),
            ("/v1/fl/filings/daily/2026-07-01", 403, "reaches back to 2026-07-02"),
            ("/v1/fl/filings/daily/2026-08-01", 400, "in the future"),
            ("/v1/fl/filings/daily?days=91", 400, "whole number from 1 to 90"),
            ("/v1/fl/counties/D1", 400, "county key"),
            ("/v1/fl/counties/ATLANTIS", 404, "no county has the key ATLANTIS"),
            ("/v1/fl/counties/", 404, "no route GET /v1/fl/counties/"),
            ("/v1/other", 404, "no route"),
        ] {
            let reply = get(&site, target);
            let message = reply.body["message"].as_str().unwrap_or_default();
            assert_eq!(reply.status, status, "{target}: {}", reply.body);
            assert_eq!(reply.body["statusCode"], status, "{target}");
            assert!(message.contains(says), "{target}: {message}");
            assert_eq!(reply.body["docs_url"], "http://127.0.0.1:1/docs.md", "{target}");
        }
    }

    #[test]
    fn several_broken_rules_are_a_list() {
        let site = site(generous(), &["data"]);
        let reply = get(&site, "/v1/fl/businesses?limit=0&industry=nope&status=all");
        assert_eq!(reply.body["message"].as_array().map(Vec::len), Some(4), "{}", reply.body);
    }

    #[test]
    fn officers_are_25_sorted_or_none() {
        let site = site(generous(), &["data"]);
        let reply = get(&site, "/v1/fl/businesses/1/officers");
        assert_eq!(reply.body["data"].as_array().map(Vec::len), Some(25));
        assert_eq!(reply.body["data"][0], json!({"name": "OFFICER 00", "title": "MGR"}));
        assert_eq!(get(&site, "/v1/fl/businesses/2/officers").body, json!({"data": []}));
    }

    #[test]
    fn changes_of_a_business_are_newest_first_and_need_a_key_that_they_count_for() {
        let site = site(PlanLimits { per_minute: 3, ..generous() }, &["data"]);
        let change = |at: &str, on: &str, change: &str, field: &str| {
            json!({"observed_at": at, "observed_on": on, "change": change, "field": field,
                   "old": (field == "city").then_some("Miami"), "new": (field == "city").then_some("Tampa")})
        };
        let newest_first = json!([
            change("2026-07-31T17:00:00Z", "2026-07-31", "changed", "city"),
            change("2026-07-31T16:00:00Z", "2026-07-31", "returned", ""),
        ]);
        assert_eq!(get(&site, "/changes/1").body["data"], newest_first);
        assert_eq!(get(&site, "/changes/2").body, json!({"data": []}));
        assert_eq!(get(&site, "/changes/99").status, 404);
        assert_eq!(get(&site, "/changes/1").status, 429, "all three were counted");
        assert_eq!(send(&site, "GET", "/changes/1", &[]).status, 401);
        assert_eq!(send(&site, "POST", "/changes/1", &[]).status, 405);
        assert_eq!(send(&site, "GET", "/changes/1/2", &[]).status, 404);
    }

    #[test]
    fn counts_agree_with_the_listings() {
        let site = site(generous(), &["data"]);
        let daily = get(&site, "/v1/fl/filings/daily?days=2").body;
        let days = json!([{"date": "2026-07-31", "count": 3}, {"date": "2026-07-30", "count": 1}]);
        let single = json!({"limit": 2, "offset": 0, "has_more": false, "total": 2});
        assert_eq!(daily, json!({"data": days, "pagination": single}));
        let county = get(&site, "/v1/fl/counties/hillsborough").body;
        assert_eq!(county["data"]["filings_last_7_days"], 5);
        assert_eq!(county["data"]["active_businesses"], 4);
        assert_eq!(get(&site, "/v1/fl/counties").body["data"].as_array().map(Vec::len), Some(67));
        let stats = get(&site, "/v1/fl/stats?ignored=%zz").body;
        assert_eq!(stats["data"]["businesses_total"], 9);
        assert_eq!(stats["data"]["latest_filing_date"], "2026-07-31");
        assert_eq!(stats["data"]["filings"]["last_30_days"], 6);
        assert_eq!(stats["data"]["filings"]["previous_30_days"], 1);
        let month = &stats["data"]["monthly"][12];
        assert_eq!(
            (&month["month"], &month["partial"], &month["total"]),
            (&json!("2026-07"), &json!(true), &json!(7))
        );
        assert_eq!(stats["data"]["type_split_30d"][0], json!({"type": "llc", "n": 4}));
    }

    #[test]
    fn checks_are_in_the_documented_order() {
        let site = site(PlanLimits { per_minute: 1, ..generous() }, &["data"]);
        let none = send(&site, "GET", "/v1/fl/nowhere", &[]);
        assert_eq!(none.status, 404);
        let method = send(&site, "POST", "/v1/me", &[]);
        assert_eq!((method.status, method.headers[ALLOW].as_bytes()), (405, &b"GET, HEAD"[..]));
        for wrong in
            [&[][..], &["Basic x"], &["Bearer"], &["Bearer wrong"], &["Bearer flb_test", "Bearer flb_test"]]
        {
            let reply = send(&site, "GET", "/v1/fl/businesses", wrong);
            assert_eq!(reply.status, 401, "{wrong:?}");
            assert!(reply.headers[WWW_AUTHENTICATE].to_str().is_ok_and(|text| text.starts_with("Bearer")));
        }
        assert_eq!(get(&site, "/v1/fl/businesses").status, 400, "the first counted request");
        let over = get(&site, "/v1/fl/businesses");
        assert_eq!((over.status, over.headers[RETRY_AFTER].as_bytes()), (429, &b"60"[..]));
        assert_eq!(send(&site, "GET", "/v1/stats", &["bearer flb_test"]).status, 404);
    }

    #[test]
    fn key_without_data_scope_reads_only_its_account() {
        let site = site(Plan::Starter.limits(), &[]);
        assert_eq!(get(&site, "/v1/fl/stats").status, 403);
        assert_eq!(get(&site, "/v1/fl/businesses?limit=0").status, 403);
        let account = get(&site, "/v1/me").body;
        assert_eq!(account["remaining"], json!({"minute": 17, "day": 997, "month": 9_997}));
        assert_eq!(account["limits"], json!({"perMinute": 20, "perDay": 1_000, "perMonth": 10_000}));
        assert_eq!(account["scopes"], json!([]));
    }

    #[test]
    fn open_pages_need_no_key_and_are_not_counted() {
        let site = site(PlanLimits { per_minute: 1, ..generous() }, &["data"]);
        for target in ["/", "/healthz", "/readyz", "/docs", "/docs.md", "/openapi.json"] {
            assert_eq!(send(&site, "GET", target, &[]).status, 200, "{target}");
            assert_eq!(send(&site, "PUT", target, &[]).status, 405, "{target}");
        }
        assert_eq!(get(&site, "/v1/me").status, 200);
    }
}
