//! Every status but 200 and 304: its name, when it is sent, an example message.

use crate::contract::endpoint::Endpoint;

/// A status of a failed call.
pub(super) struct Problem {
    pub(super) status: u16,
    /// Name of the response in the `OpenAPI` document.
    pub(super) name: &'static str,
    pub(super) when: &'static str,
    /// An example of the error body's message.
    pub(super) message: &'static str,
    /// A header of the answer, and its description.
    pub(super) header: Option<(&'static str, &'static str)>,
    /// Whether an operation answers with it.
    pub(super) is_of: fn(Endpoint) -> bool,
}

/// Every status, ascending. A request that is not well-formed HTTP has further ones: 408, 414, 431.
pub(super) const PROBLEMS: [Problem; 9] = [
    problem(
        400,
        "BrokenRule",
        "A broken rule of path or query. All broken rules are reported.",
        "limit must be a whole number from 1 to 1000, not \"0\"",
    )
    .of(Endpoint::has_parameters),
    problem(
        401,
        "Unauthorized",
        "Key missing or not valid.",
        "the API key is missing or not valid; send it as Authorization: Bearer <API_KEY>",
    )
    .with("WWW-Authenticate", "The accepted scheme: Bearer."),
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
    )
    .of(is_of_one),
    problem(
        405,
        "MethodNotAllowed",
        "Another method than GET.",
        "POST is not allowed here; this path answers GET",
    )
    .with("Allow", "The methods of the path."),
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
    )
    .with("Retry-After", "Seconds to wait, an integer."),
    problem(500, "Failed", "A bug of the server.", "an error of the server, which is in its log"),
    problem(
        503,
        "Unavailable",
        "Briefly unavailable. Retry the call after a short wait.",
        "the server is busy; try again shortly",
    ),
];

const fn problem(status: u16, name: &'static str, when: &'static str, message: &'static str) -> Problem {
    Problem { status, name, when, message, header: None, is_of: |_| true }
}

impl Problem {
    const fn of(self, is_of: fn(Endpoint) -> bool) -> Self {
        Self { is_of, ..self }
    }

    const fn with(self, header: &'static str, description: &'static str) -> Self {
        Self { header: Some((header, description)), ..self }
    }
}

/// Whether an operation addresses one business or county.
fn is_of_one(endpoint: Endpoint) -> bool {
    use Endpoint::{Business, BusinessByDocument, County, Officers};
    matches!(endpoint, BusinessByDocument | Business | Officers | County)
}
