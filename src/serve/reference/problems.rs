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

/// Every status, ascending. A request that is not well-formed HTTP has further ones: 408, 414, 431.
pub(super) const PROBLEMS: [Problem; 9] = [
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
        "Another method than GET.",
        "POST is not allowed here; this path answers GET",
    ),
    problem(
        413,
        "ContentTooLarge",
        "A request body larger than 64 KiB. No operation reads one.",
        "the body is larger than 65536 bytes",
    ),
    problem(
        429,
        "OverLimit",
        "The account is over a request limit.",
        "the account is over a request limit; wait 17 s",
    ),
    problem(500, "Failed", "A bug of the server.", "an error of the server, which is in its log"),
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
            _ => true,
        }
    }

    pub(super) const fn header(&self) -> Option<(&'static str, &'static str)> {
        match self.status {
            401 => Some(("WWW-Authenticate", "The accepted scheme: Bearer.")),
            405 => Some(("Allow", "The methods of the path.")),
            429 => Some(("Retry-After", "Seconds to wait, an integer.")),
            _ => None,
        }
    }
}
