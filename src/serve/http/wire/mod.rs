//! The connection of one client below HTTP: TLS, deadlines, hyper's bare errors with a body.
//!
//! # Files, in reading order
//!
//! - [`tls`]: a certificate that is read again when it changes
//! - [`peers`]: connections of one address
//! - [`waiting`]: how long a client may take to send a request, and to send the next one
//! - [`bare_answer`]: the error body in hyper's bodiless answers
//! - [`socket`]: all of this as one stream

pub(super) mod bare_answer;
pub(super) mod peers;
pub(super) mod socket;
pub(crate) mod tls;
pub(super) mod waiting;
