//! The result of a call that succeeded: rmcp writes it without its body, and the body is put in afterwards.
//!
//! The body is in a result twice: as text, and as JSON. rmcp would parse it into values, copy them and write them again, which
//! takes several times as long as the search itself.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

/// What a result has in the place of its body.
const PLACE: &str = "body";
// Text of a client cannot be one of these: its quotation marks are escaped.
const TEXT: &[u8] = b"\"text\":\"body\"";
const STRUCTURED: &[u8] = b"\"structuredContent\":\"body\"";

/// The result without its body.
pub(super) fn place_of_body() -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(PLACE)]);
    result.structured_content = Some(Value::from(PLACE));
    result
}

/// The message with the body, which is JSON, in both places; `None` for a message without them.
pub(super) fn with_body(message: &[u8], body: &[u8]) -> Option<Vec<u8>> {
    let (before, rest) = split(message, TEXT)?;
    let (between, after) = split(rest, STRUCTURED)?;
    // As text, a quotation mark takes two bytes.
    let mut whole = Vec::with_capacity(message.len() + body.len() * 5 / 2);
    whole.extend_from_slice(before);
    whole.extend_from_slice(b"\"text\":");
    serde_json::to_writer(&mut whole, str::from_utf8(body).ok()?).ok()?;
    whole.extend_from_slice(between);
    whole.extend_from_slice(b"\"structuredContent\":");
    whole.extend_from_slice(body);
    whole.extend_from_slice(after);
    Some(whole)
}

/// What is before and after the first `part`.
fn split<'a>(bytes: &'a [u8], part: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = bytes.windows(part.len()).position(|found| found == part)?;
    Some((&bytes[..at], &bytes[at + part.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{JsonRpcResponse, JsonRpcVersion2_0, RequestId};
    use serde_json::json;

    #[test]
    fn body_is_text_and_json_of_the_result_whatever_the_client_named_its_request() {
        let body = json!({"data": [{"name": "THE \"A\" \\ Ñ\u{7f}\n"}]});
        for id in ["1", "body", "\"text\":\"body\"", ",\"structuredContent\":\"body\"", "text\":\"body"] {
            let message = JsonRpcResponse {
                jsonrpc: JsonRpcVersion2_0,
                id: RequestId::String(id.into()),
                result: place_of_body(),
            };
            let message = serde_json::to_vec(&message).expect("JSON");
            let whole = with_body(&message, body.to_string().as_bytes()).expect("both places");
            let whole: Value = serde_json::from_slice(&whole).expect("JSON");
            let expected = json!({
                "jsonrpc": "2.0", "id": id, "result": {
                    "resultType": "complete", "content": [{"type": "text", "text": body.to_string()}],
                    "structuredContent": body, "isError": false,
                },
            });
            assert_eq!(whole, expected);
        }
        assert!(with_body(b"{\"result\":{}}", b"{}").is_none());
    }
}
