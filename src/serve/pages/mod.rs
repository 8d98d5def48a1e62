//! Pages for people: a search over the register at `/`, the reference at `/docs`.
//!
//! Each is one file that asks only this server. Its policy lets the browser run only the style and the script that are in it. A key
//! that a person types stays in the tab.
//!
//! # Files, in reading order
//!
//! - [`shell`]: style, script and policy of a page
//! - [`home`]: the search
//! - [`manual`]: the reference, and a form that sends a request

pub(super) mod home;
pub(super) mod manual;
pub(super) mod shell;
