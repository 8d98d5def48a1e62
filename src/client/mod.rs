//! The API from a caller's side: one typed `Call` per operation, sent under the account's limits.
//!
//! Every request passes the same steps:
//!
//! 1. The `Budget` waits until the account's minute, day and month have room, and counts the request in the `Ledger`.
//!    Counting comes first, so a kill never makes the ledger too low.
//! 2. The `Client` sends it with the key in the `Authorization` header. Redirects are not followed.
//! 3. 429, 5xx and broken connections are retried with exponential backoff and jitter (`response` recognises them, `sender`
//!    pauses the account, `retry` waits). `Retry-After` is always obeyed.
//! 4. The answer is decoded to the type of its call.
//!
//! Limits belong to accounts, but the API identifies keys. The ledger is one file per service, shared by every process of
//! the host, so that two runs with one key do not exceed its limits together. `/v1/me` corrects the counts once a day.
//!
//! Knows HTTP, limits and retries. Knows nothing of days, queries or the lake's files.
//!
//! # Files, in reading order
//!
//! - `error`: why a request gave no usable answer
//! - `call`: the calls, typed by their answers
//! - `key`: the API key, never printed
//! - `minute`: the last 60 seconds of requests
//! - `counts`: requests allowed in each window, and what one account has used
//! - `account_book`: the accounts of one service, and which keys belong to the same one
//! - `ledger`: the file that all processes of a host share
//! - `pause`: pauses between requests, and how long requests will be delayed
//! - `block`: requests that are counted together
//! - `budget`: holds each request back until it is allowed; the flag that stops a run
//! - `retry`: what is retried, and after how long
//! - `latency`: how many requests must overlap to use the allowed pace
//! - `response`: what headers and error statuses mean
//! - `silence`: whether a silent server speaks plain http
//! - `sender`: the client, its address, timeouts and size bound

mod account_book;
mod block;
mod budget;
mod call;
mod counts;
mod error;
mod key;
mod latency;
mod ledger;
mod minute;
mod pause;
mod response;
mod retry;
mod sender;
mod silence;

pub(crate) use budget::{Bounds, Budget};
pub use budget::{Stop, StopSwitch};
pub(crate) use call::{Call, Decode, RawRecord};
pub(crate) use counts::Allowance;
pub use error::ClientError;
pub use key::{ApiKey, KeyError};
pub(crate) use latency::MOST_UNDER_WAY;
pub(crate) use ledger::{AccountUsed, Ledger};
pub use pause::{Pause, PauseReason};
pub(crate) use sender::{Client, ClientConfig};
