//! Every status but 200 and 304: its name, when it is sent, an example message.

use crate::contract::endpoint::Endpoint;

pub(super) struct Problem {
    pub(super) status: u16,
    /// Name of the response in the `OpenAPI` document.
    pub(super) name: &'static str,
    pub(super) when: &'static str,
    /// An example of the error body's message.
    pub(super) message: &'static str,
}

const fn problem(status: u16, name: &'static str, when: &'static str, message: &'static str) -> Problem {
    Problem { status, name, when, message }
}

/// Every status, ascending.
pub(super) const PROBLEMS: [Problem; 14] = [
    problem(
        400,
        "BrokenRule",
        "A broken rule of path or query. All broken rules are reported.",
        "limit must be a whole number from 1 to 1000, not \"0\"",
    ),
    problem(
        401,
        "Unauthorized",
        "Key missing or not valid.",
        "the API key is missing or not valid; send it as Authorization: Bearer <API_KEY>",
    ),
    problem(
        403,
        "Forbidden",
        "No API access, no data scope, or a day before the plan's daily window.",
        "the key lacks the data scope",
    ),
    problem(
        404,
        "NotFound",
        "No such business or county, or a detail that was never fetched into the lake.",
        "no business has this id",
    ),
    problem(
        405,
        "MethodNotAllowed",
        "Another method than GET or HEAD.",
        "POST is not allowed here; this path answers GET, HEAD",
    ),
    problem(
        408,
        "BodyTooSlow",
        "A request body that did not come within 8 s.",
        "the body did not come within 8 s",
    ),
    problem(
        413,
        "ContentTooLarge",
        "A request body larger than 64 KiB. No operation reads one.",
        "the body is larger than 65536 bytes",
    ),
    problem(
        414,
        "TargetTooLong",
        "A request target that is too long.",
        "the target of the request is too long",
    ),
    problem(
        415,
        "OtherMediaType",
        "Of POST /mcp only: a Content-Type other than application/json.",
        "the Content-Type must be application/json",
    ),
    problem(
        429,
        "OverLimit",
        "The account is over a request limit.",
        "the account is over a request limit; wait 17 s",
    ),
    problem(431, "HeadTooLarge", "A request head that is too large.", "the head of the request is too large"),
    problem(500, "Failed", "A bug of the server.", "an error of the server, which is in its log"),
    problem(
        501,
        "OtherCoding",
        "A Transfer-Encoding other than chunked.",
        "the only Transfer-Encoding that is read here is chunked",
    ),
    problem(
        503,
        "Unavailable",
        "Key checking or the server briefly unavailable. Retry the call after a short wait.",
        "the server is busy; try again shortly",
    ),
];

impl Problem {
    /// Whether an operation answers with this status.
    pub(super) fn is_of(&self, endpoint: Endpoint) -> bool {
        use Endpoint::{Business, BusinessByDocument, County, Officers};
        match self.status {
            400 => endpoint.has_parameters(),
            404 => matches!(endpoint, BusinessByDocument | Business | Officers | County),
            415 => false,
            _ => true,
        }
    }

    /// Headers of the answer by name, with what they say.
    pub(super) const fn headers(&self) -> &'static [(&'static str, &'static str)] {
        match self.status {
            401 => &[("WWW-Authenticate", "The accepted scheme: Bearer.")],
            404 => &[("X-Not-Found", NOT_FOUND)],
            405 => &[("Allow", "The methods of the path.")],
            429 => &[
                ("Retry-After", RETRY_AFTER),
                ("RateLimit-Policy", RATE_LIMIT_POLICY),
                ("RateLimit", RATE_LIMIT),
            ],
            503 => &[("Retry-After", RETRY_AFTER)],
            _ => &[],
        }
    }
}

const RETRY_AFTER: &str = "Seconds to wait, an integer.";
const NOT_FOUND: &str = "What was not found: business or county; detail or officers of a business that is in the lake, but \
they were never fetched into it.";
pub(super) const RATE_LIMIT_POLICY: &str = "Requests of the account a minute, day and month: \"minute\";q=60;w=60, \"day\";q=5000;w=86400, \"month\";q=50000";
pub(super) const RATE_LIMIT: &str =
    "Requests that the account has left: \"minute\";r=59, \"day\";r=4999, \"month\";r=49999";
