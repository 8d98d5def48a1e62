//! JSON-RPC errors whose data has the API's error body.

use crate::contract::error::{ErrorBody, Message};
use crate::contract::query::quoted;
use crate::serve::http::response::{HttpResponse, response};
use hyper::StatusCode;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, RequestId};
use serde_json::{Value, json};

/// The reply of rmcp with the API's error body in its error; `None` for a reply without an error.
pub(super) fn with_api_body(docs_url: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reply: JsonRpcError = serde_json::from_slice(bytes).ok()?;
    let error = &mut reply.error;
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
        error.data = Some(api_body(docs_url, status_code, &error.message, data));
    }
    Some(as_json(&reply))
}

/// The reply as JSON; an unknown id is null, as JSON-RPC has it.
fn as_json(reply: &JsonRpcError) -> Vec<u8> {
    let mut reply = json!(reply);
    if reply.get("id").is_none() {
        reply["id"] = Value::Null;
    }
    reply.to_string().into_bytes()
}

/// The API's error body, with the fields of `more` after it.
pub(super) fn api_body(docs_url: &str, status_code: u16, message: &str, more: Value) -> Value {
    let (message, docs_url) = (Message::One(message.to_owned()), docs_url.to_owned());
    let mut body = json!(ErrorBody { status_code, message, docs_url });
    if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
        body.extend(more);
    }
    body
}

/// A JSON-RPC error of status 400.
pub(super) fn invalid(docs_url: &str, code: ErrorCode, message: String) -> ErrorData {
    let data = api_body(docs_url, 400, &message, Value::Null);
    ErrorData::new(code, message, Some(data))
}

/// The answer with a JSON-RPC error: status 400.
pub(super) fn answer(id: Option<RequestId>, error: ErrorData) -> HttpResponse {
    response(StatusCode::BAD_REQUEST, "application/json", as_json(&JsonRpcError::new(id, error)))
}
