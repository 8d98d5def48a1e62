//! The answers that hyper makes itself have no body: they get the API's error body.

pub(in crate::serve::http) const CHUNKED: &str = "chunked";
/// The message of a 501.
pub(in crate::serve::http) const OTHER_CODING: &str =
    "the only Transfer-Encoding that is read here is chunked";

/// The answers that hyper makes itself, all without a body: how they begin, status, reason, message.
const BARE_ANSWERS: [(&[u8], u16, &str, &str); 3] = [
    (b"HTTP/1.1 400 ", 400, "Bad Request", "this is not an HTTP request that can be read"),
    (b"HTTP/1.1 414 ", 414, "URI Too Long", "the target of the request is too long"),
    (b"HTTP/1.1 431 ", 431, "Request Header Fields Too Large", "the head of the request is too large"),
];

/// The answer to send instead of a bare one of hyper to a `request`; `None` for any other bytes.
pub(super) fn better_answer(bytes: &[u8], request: &[u8], docs_url: &str) -> Option<Vec<u8>> {
    let (_, mut status, mut reason, mut message) =
        BARE_ANSWERS.into_iter().find(|(head, ..)| bytes.starts_with(head))?;
    if status == 400 && sent_codings(request).any(|coding| !coding.eq_ignore_ascii_case(CHUNKED)) {
        (status, reason, message) = (501, "Not Implemented", OTHER_CODING);
    }
    let is_bare =
        bytes.ends_with(b"\r\n\r\n") && bytes.windows(21).any(|line| line == b"\r\ncontent-length: 0\r\n");
    let body =
        serde_json::json!({ "statusCode": status, "message": message, "docs_url": docs_url }).to_string();
    let length = body.len();
    is_bare.then(|| {
        format!(
            "HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
             cache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n{body}"
        )
        .into_bytes()
    })
}

/// The transfer codings that the head of a request names.
fn sent_codings(head: &[u8]) -> impl Iterator<Item = &str> {
    let lines = head.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let values = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("transfer-encoding").then_some(value)
    });
    values.flat_map(|value| value.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bare_answers_of_hyper_are_replaced() {
        let bare = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\ndate: x\r\n\r\n";
        let better =
            String::from_utf8(better_answer(bare, b"", "http://x/docs").expect("better")).expect("text");
        let (head, body) = better.split_once("\r\n\r\n").expect("head and body");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{better}");
        let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
        assert_eq!((&body["statusCode"], &body["docs_url"]), (&400.into(), &"http://x/docs".into()));
        for other in [
            &b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}"[..],
            b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            b"{\"content-length: 0\"}",
        ] {
            assert_eq!(better_answer(other, b"", ""), None);
        }
    }

    #[test]
    fn another_transfer_encoding_than_chunked_is_a_501() {
        let bare = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
        for (sent, status) in [
            ("Transfer-Encoding: gzip", "501 Not Implemented"),
            ("transfer-encoding: chunked, gzip", "501 Not Implemented"),
            ("Transfer-Encoding: Chunked\r\nContent-Length: -1", "400 Bad Request"),
            ("X: transfer-encoding: gzip", "400 Bad Request"),
        ] {
            let asked = format!("POST / HTTP/1.1\r\nHost: x\r\n{sent}\r\n\r\n");
            let better = better_answer(bare, asked.as_bytes(), "").expect("better");
            assert!(better.starts_with(format!("HTTP/1.1 {status}\r\n").as_bytes()), "{sent}");
        }
    }
}
