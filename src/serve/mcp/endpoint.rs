//! The endpoint `/mcp`: what is checked before rmcp sees a message, and rmcp's answer as JSON.

use super::body_place::with_body;
use super::rpc_error;
use super::tools::{Tools, VERSIONS};
use crate::contract::account::Remaining;
use crate::contract::endpoint::Endpoint;
use crate::contract::query::quoted;
use crate::serve::auth::{Admission, Caller};
use crate::serve::http::app::{Site, bearer};
use crate::serve::http::response::{HttpResponse, Reply, bare, of_snapshot, response};
use crate::serve::service::{ApiError, Service, Versioned};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

pub(crate) const PATH: &str = "/mcp";
const VERSION_HEADER: &str = "mcp-protocol-version";
/// Where the message of a request without a handshake has its version.
const VERSION_POINTER: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

/// The answer to one request, its body read. Checks: host and origin, method, key, plan and scope, limits, then the message.
pub(crate) async fn respond(site: &Site, request: &Request<Bytes>) -> Reply {
    if let Err(reason) = site.host_guard.check(request.uri(), request.headers()) {
        return Reply::open(site.problem(403, reason), PATH);
    }
    if request.method() != Method::POST {
        return Reply::open(site.wrong_method(request.method(), "POST"), PATH);
    }
    let caller = match site.service.authenticate(bearer(request.headers())) {
        Ok(caller) => caller,
        Err(error) => return Reply::open(site.refusal(&error), PATH),
    };
    let message = serde_json::from_slice(request.body());
    let counted = site.service.count(&caller).await;
    let left = counted.as_ref().ok().map(|counted| counted.left);
    let response = match admit(&site.service, &caller, counted, message.as_ref().ok()) {
        Err(error) => site.refusal(&error),
        Ok(_) if !is_json(request.headers()) => {
            site.problem(415, "the Content-Type must be application/json".to_owned())
        }
        Ok(left) => match message {
            Ok(message) => answer(site, caller.clone(), left, request, &message).await,
            Err(error) => {
                let reason = format!("the body is not JSON: {error}");
                invalid(site, ErrorCode::PARSE_ERROR, None, reason)
            }
        },
    };
    Reply { response, route: PATH, caller: Some(caller), left }
}

/// Refuses a request in the order of the endpoints: plan and scope, then limits; otherwise what its account has left. A tool call without
/// the plan or scope passes, because its error is the tool's result.
fn admit(
    service: &Service,
    caller: &Caller,
    counted: Result<Admission, ApiError>,
    message: Option<&Value>,
) -> Result<Remaining, ApiError> {
    let counted = counted?;
    match message.and_then(called) {
        Some(endpoint) if service.authorize(caller, endpoint).is_err() => return Ok(counted.left),
        Some(_) => {}
        // A message that calls no tool needs no scope, like the account record.
        None => service.authorize(caller, Endpoint::Account)?,
    }
    counted.admitted()?;
    Ok(counted.left)
}

/// The operation that a message calls, if it is a tool call.
fn called(message: &Value) -> Option<Endpoint> {
    let tool = message.pointer("/params/name").filter(|_| message["method"] == "tools/call")?;
    Endpoint::from_tool(tool.as_str()?)
}

fn is_json(headers: &HeaderMap) -> bool {
    let sent = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = sent.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// The answer to a JSON body: refuses what rmcp would answer in plain text, then asks rmcp.
async fn answer(
    site: &Site,
    caller: Caller,
    left: Remaining,
    request: &Request<Bytes>,
    message: &Value,
) -> HttpResponse {
    let headers = request.headers();
    if message.is_array() {
        let reason = "batches are not supported: one message a request".to_owned();
        return invalid(site, ErrorCode::INVALID_REQUEST, None, reason);
    }
    if !message["method"].is_string() {
        let reason = "the body is no JSON-RPC request or notification".to_owned();
        return invalid(site, ErrorCode::INVALID_REQUEST, None, reason);
    }
    let id = message.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    if let Err(error) = check_version(&site.docs_url, headers, message) {
        return rpc_error::answer(id, error);
    }
    let called = Arc::<OnceLock<Versioned>>::default();
    let tools = Tools {
        service: Arc::clone(&site.service),
        docs_url: Arc::clone(&site.docs_url),
        caller,
        left,
        answer: Arc::clone(&called),
    };
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(tools.clone()), sessions, settings());
    let answer = service.handle(inner_request(headers, request.body().clone())).await;
    let called = called.get();
    let reply = jsonify_reply(site, id, answer, called.map(|answer| answer.body.as_slice())).await;
    of_snapshot(reply, called.and_then(|answer| answer.snapshot))
}

/// rmcp's own checks of `Host` and `Origin` stay at their defaults: both are checked before.
fn settings() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true)
}

/// Refuses an unsupported version that only the header has. rmcp refuses one that the message has too, and a handshake
/// negotiates another.
fn check_version(docs_url: &str, headers: &HeaderMap, message: &Value) -> Result<(), ErrorData> {
    let Some(sent) = headers.get(VERSION_HEADER) else { return Ok(()) };
    if message["method"] == "initialize" || message.pointer(VERSION_POINTER).is_some() {
        return Ok(());
    }
    let sent = String::from_utf8_lossy(sent.as_bytes());
    if VERSIONS.iter().any(|version| version.as_str() == sent) {
        return Ok(());
    }
    let reason = "Unsupported protocol version";
    let data = rpc_error::api_body(docs_url, 400, reason, json!({"requested": sent, "supported": VERSIONS}));
    Err(ErrorData::new(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, reason, Some(data)))
}

/// The request for rmcp, without the key. rmcp wants `Accept` to have two types, though every answer is JSON.
fn inner_request(headers: &HeaderMap, bytes: Bytes) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(bytes));
    *request.method_mut() = Method::POST;
    let own = request.headers_mut();
    let protocol = headers.iter().filter(|(name, _)| name.as_str().starts_with("mcp-"));
    own.extend(protocol.map(|(name, value)| (name.clone(), value.clone())));
    own.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    own.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    own.insert(HOST, HeaderValue::from_static("localhost"));
    request
}

/// rmcp's answer, with the body of a call that succeeded, and with its plain text turned into JSON.
async fn jsonify_reply(
    site: &Site,
    id: Option<RequestId>,
    answer: Response<BoxBody<Bytes, Infallible>>,
    body: Option<&[u8]>,
) -> HttpResponse {
    let status = answer.status();
    let is_json = is_json(answer.headers());
    let Ok(bytes) = answer.into_body().collect().await.map(|body| body.to_bytes());
    if let Some(body) = body.filter(|_| is_json) {
        return match with_body(&bytes, body) {
            Some(reply) => response(status, "application/json", reply),
            None => site.problem(500, "the server failed".to_owned()),
        };
    }
    if is_json {
        let body = rpc_error::with_api_body(&site.docs_url, &bytes).unwrap_or_else(|| bytes.into());
        return response(status, "application/json", body);
    }
    if bytes.is_empty() && status.is_success() {
        return bare(status, bytes);
    }
    let text = String::from_utf8_lossy(&bytes);
    match status {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            let reason = "the body is not one JSON-RPC 2.0 message".to_owned();
            invalid(site, ErrorCode::INVALID_REQUEST, id, reason)
        }
        _ if status.is_client_error() => invalid(site, ErrorCode::INVALID_REQUEST, id, quoted(&text)),
        _ => {
            tracing::error!(%status, ?text, "the MCP layer failed");
            site.problem(500, "the server failed".to_owned())
        }
    }
}

fn invalid(site: &Site, code: ErrorCode, id: Option<RequestId>, message: String) -> HttpResponse {
    rpc_error::answer(id, rpc_error::invalid(&site.docs_url, code, message))
}
