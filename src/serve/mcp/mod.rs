//! MCP over streamable HTTP at `/mcp`: one message a request, no sessions, every answer JSON.
//!
//! rmcp speaks the protocol, in its versions with a handshake and in the one without. Around it stands what an API owes its
//! callers and what rmcp answers in plain text: key and limits as for every other endpoint, size and form of the request,
//! versions that are not spoken. What is wrong with the HTTP request gets the API's error body; what is wrong with the message in
//! it gets a JSON-RPC error with that body as its `data`; a failed call gets a result that `isError`, with that body as its text.
//!
//! | file | knows |
//! | --- | --- |
//! | `doors.rs` | Host and Origin |
//! | `tools.rs` | the twelve tools |

mod tools;

pub(super) use super::http::host_guard::Doors;

use super::auth::access::Caller;
use super::http::app::Site;
use super::http::response::{HttpResponse, Reply, response};
use super::http::routes::bearer;
use super::service::{ApiError, Service};
use crate::contract::endpoint::Endpoint;
use crate::contract::error::{ErrorBody, Message};
use crate::contract::query::quoted;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes};
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, RequestId};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;
use tools::{Tools, VERSIONS};

/// The one path.
pub(super) const PATH: &str = "/mcp";
/// The header that names the protocol's version.
const VERSION_HEADER: &str = "mcp-protocol-version";
/// Where a request without a handshake names its version.
const VERSION_POINTER: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

/// Answers one request, its body read: host and origin, method, key, plan and scope, limits, then the message.
pub(super) async fn respond(site: &Site, request: &Request<Bytes>) -> Reply {
    if let Err(reason) = site.doors.check(request.uri(), request.headers()) {
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
    let response = match admit(&site.service, &caller, message.as_ref().ok()) {
        Err(error) => site.refusal(&error),
        Ok(()) if !is_json(request.headers()) => {
            site.problem(415, "the Content-Type must be application/json".to_owned())
        }
        Ok(()) => match message {
            Ok(message) => answer(site, caller.clone(), request, &message).await,
            Err(error) => {
                let reason = format!("the body is not JSON: {error}");
                fault(site.docs_url(), ErrorCode::PARSE_ERROR, None, reason)
            }
        },
    };
    Reply { response, route: PATH, caller: Some(caller) }
}

/// Counts a request, and refuses it as the endpoints do: for its plan and scope before its account's limits. A call that plan or scope
/// refuses goes on, because its refusal is the tool's result.
fn admit(service: &Service, caller: &Caller, message: Option<&Value>) -> Result<(), ApiError> {
    let counted = service.count(caller);
    match message.and_then(called) {
        Some(endpoint) if service.authorize(caller, endpoint).is_err() => Ok(()),
        Some(_) => counted,
        // Whatever is not a call needs no scope, as the account record does not.
        None => service.authorize(caller, Endpoint::Account).and(counted),
    }
}

/// The operation that a message calls.
fn called(message: &Value) -> Option<Endpoint> {
    let tool = message.pointer("/params/name").filter(|_| message["method"] == "tools/call")?;
    Endpoint::from_tool(tool.as_str()?)
}

fn is_json(headers: &HeaderMap) -> bool {
    let sent = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = sent.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// Looks at the message as far as rmcp would answer in plain text, then hands it over.
async fn answer(site: &Site, caller: Caller, request: &Request<Bytes>, message: &Value) -> HttpResponse {
    let headers = request.headers();
    if message.is_array() {
        let reason = "batches are not supported: one message a request".to_owned();
        return fault(site.docs_url(), ErrorCode::INVALID_REQUEST, None, reason);
    }
    if !message["method"].is_string() {
        let reason = "the body is no JSON-RPC request or notification".to_owned();
        return fault(site.docs_url(), ErrorCode::INVALID_REQUEST, None, reason);
    }
    let id = message.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    if let Err(error) = check_version(site.docs_url(), headers, message) {
        return rpc_error(400, id, error);
    }
    let tools = Tools { service: Arc::clone(&site.service), docs_url: Arc::clone(site.docs_url()), caller };
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(tools.clone()), sessions, settings());
    mended(site, id, service.handle(handed_over(headers, request.body().clone())).await).await
}

/// Host, Origin and size have been looked at by then.
fn settings() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true)
}

/// A version that is not spoken, named by the header alone. One that the message names too is rmcp's to refuse; a
/// handshake is there to settle on another.
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
    let data = with_error_body(docs_url, 400, reason, json!({"requested": sent, "supported": VERSIONS}));
    Err(ErrorData::new(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, reason, Some(data)))
}

/// The request as rmcp wants it: it insists on two kinds of answers, of which only one is ever given. The key stays outside.
fn handed_over(headers: &HeaderMap, bytes: Bytes) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(bytes));
    *request.method_mut() = Method::POST;
    let own = request.headers_mut();
    own.extend(
        headers
            .iter()
            .filter(|(name, _)| name.as_str().starts_with("mcp-"))
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    own.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    own.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    own.insert(HOST, HeaderValue::from_static("localhost"));
    request
}

/// The answer of rmcp; where it is plain text, as JSON.
async fn mended<B>(site: &Site, id: Option<RequestId>, answer: Response<B>) -> HttpResponse
where
    B: Body<Data = Bytes>,
{
    let status = answer.status();
    let is_json = is_json(answer.headers());
    let Some(bytes) = answer.into_body().collect().await.ok().map(|body| body.to_bytes()) else {
        return site.problem(500, "the answer broke off".to_owned());
    };
    if is_json {
        let told = explained(site.docs_url(), &bytes).unwrap_or_else(|| bytes.into());
        return response(status, "application/json", told);
    }
    if bytes.is_empty() && status.is_success() {
        let mut accepted = Response::new(bytes);
        *accepted.status_mut() = status;
        return accepted;
    }
    let said = String::from_utf8_lossy(&bytes);
    match status {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            let reason = "the body is not one JSON-RPC 2.0 message".to_owned();
            fault(site.docs_url(), ErrorCode::INVALID_REQUEST, id, reason)
        }
        _ if status.is_client_error() => {
            fault(site.docs_url(), ErrorCode::INVALID_REQUEST, id, quoted(&said))
        }
        _ => {
            tracing::error!(%status, %said, "the MCP layer failed");
            site.problem(500, "the server failed".to_owned())
        }
    }
}

/// A message that may hold a JSON-RPC error.
#[derive(Deserialize)]
struct Told<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// A JSON-RPC error, with the API's error body in its data; `None` for any other message.
fn explained(docs_url: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    serde_json::from_slice::<Told<'_>>(bytes).ok()?.error?;
    let mut told: JsonRpcError = serde_json::from_slice(bytes).ok()?;
    let error = &mut told.error;
    let is_complete = error.data.as_ref().is_some_and(|data| data.get("docs_url").is_some());
    if !is_complete {
        let status_code = match error.code {
            ErrorCode::METHOD_NOT_FOUND => 404,
            ErrorCode::INTERNAL_ERROR => 500,
            _ => 400,
        };
        if error.code == ErrorCode::METHOD_NOT_FOUND {
            error.message = format!("there is no method {}", quoted(&error.message)).into();
        }
        let data = error.data.take().unwrap_or_default();
        error.data = Some(with_error_body(docs_url, status_code, &error.message, data));
    }
    serde_json::to_vec(&told).ok()
}

/// The API's error body, and beside it the data an error has already.
fn with_error_body(docs_url: &str, status_code: u16, message: &str, data: Value) -> Value {
    let mut whole = json!(ErrorBody {
        status_code,
        message: Message::One(message.to_owned()),
        docs_url: docs_url.to_owned()
    });
    if let (Value::Object(whole), Value::Object(data)) = (&mut whole, data) {
        whole.extend(data);
    }
    whole
}

/// Status 400: what is wrong with the message as such.
fn fault(docs_url: &str, code: ErrorCode, id: Option<RequestId>, message: String) -> HttpResponse {
    rpc_error(400, id, error_data(docs_url, code, 400, message))
}

/// A JSON-RPC error with the API's error body in it.
fn error_data(docs_url: &str, code: ErrorCode, status_code: u16, message: String) -> ErrorData {
    let data = with_error_body(docs_url, status_code, &message, Value::Null);
    ErrorData::new(code, message, Some(data))
}

fn rpc_error(status: u16, id: Option<RequestId>, error: ErrorData) -> HttpResponse {
    let body = serde_json::to_vec(&JsonRpcError::new(id, error)).unwrap_or_default();
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    response(status, "application/json", body)
}
