//! Errors as answers: status, headers, error body.

use super::app::Site;
use super::response::{HttpResponse, response, with_header};
use crate::contract::error::{ErrorBody, Message};
use crate::serve::service::ApiError;
use hyper::header::{ALLOW, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Method, StatusCode};

/// `Retry-After` of a server that is overloaded, in seconds.
pub(super) const RETRY_SECS: u64 = 1;

impl Site {
    /// Status 405, with the allowed methods.
    pub(crate) fn wrong_method(&self, method: &Method, allowed: &'static str) -> HttpResponse {
        let refused = self.problem(405, format!("{method} is not allowed here; this path answers {allowed}"));
        with_header(refused, ALLOW, HeaderValue::from_static(allowed))
    }

    pub(crate) fn problem(&self, status_code: u16, message: String) -> HttpResponse {
        let docs_url = self.docs_url().to_string();
        error_response(&ErrorBody { status_code, message: Message::One(message), docs_url })
    }

    pub(crate) fn refusal(&self, error: &ApiError) -> HttpResponse {
        let refused = error_response(&error.body(self.docs_url()));
        match error {
            ApiError::Unauthorized { key_sent } => {
                let challenge = if *key_sent { "Bearer error=\"invalid_token\"" } else { "Bearer" };
                with_header(refused, WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
            }
            ApiError::OverLimit { retry_after_secs } => {
                self.metrics.over_limit.inc();
                with_header(refused, RETRY_AFTER, HeaderValue::from(*retry_after_secs))
            }
            _ => refused,
        }
    }
}

fn error_response(body: &ErrorBody) -> HttpResponse {
    let status = StatusCode::from_u16(body.status_code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response(status, "application/json", serde_json::to_vec(body).unwrap_or_default())
}
