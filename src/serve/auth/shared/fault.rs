//! Why a store cannot be used, in words for the log.

use jiff::Timestamp;
use redis::{ErrorKind, RedisError, ServerErrorKind};
use std::fmt;
use std::time::Duration;

/// How long a request waits for the store.
pub(super) const PATIENCE: Duration = Duration::from_millis(250);

/// The script's error for a time outside the days that it was given.
const CLOCK: &str = "CLOCK";
/// What a store with too many clients says. Others may leave.
const FULL: &str = "max number of clients";
/// What a store that wants a password says of a call as long as ours.
const CLOSED: &str = "unauthenticated";
/// What rustls says of a certificate that is not trusted, and of a port without TLS.
const TLS: [&str; 2] = ["invalid peer certificate", "corrupt message"];

/// Why a store cannot be used.
#[derive(Debug)]
pub(super) enum Fault {
    /// No answer in time.
    Late,
    /// The store's clock and this server's are days apart; the store's time.
    Clocks(Option<Timestamp>),
    /// An error of the store, or of the way to it.
    Store(RedisError),
}

impl Fault {
    /// Whether the store answers, and the settings are wrong: the password, the address, the rights of the user.
    pub(super) fn is_of_settings(&self) -> bool {
        let Self::Store(error) = self else { return false };
        match error.kind() {
            ErrorKind::AuthenticationFailed | ErrorKind::Parse | ErrorKind::InvalidClientConfig => true,
            ErrorKind::Server(kind) => {
                matches!(
                    kind,
                    ServerErrorKind::NoPerm
                        | ServerErrorKind::Moved
                        | ServerErrorKind::CrossSlot
                        | ServerErrorKind::ResponseError
                ) && !error.to_string().contains(FULL)
            }
            ErrorKind::Extension => matches!(error.code(), Some("NOAUTH" | "WRONGPASS")),
            // The client gives no more of an error of TLS than its text.
            ErrorKind::Io => TLS.iter().any(|part| error.to_string().contains(part)),
            _ => false,
        }
    }

    /// Whether the fault is of one account's hash alone.
    pub(super) fn is_of_account(&self) -> bool {
        matches!(self, Self::Store(error) if error.to_string().contains("WRONGTYPE"))
    }
}

impl From<RedisError> for Fault {
    fn from(error: RedisError) -> Self {
        if error.code() == Some(CLOCK) {
            let millis = error.detail().and_then(|millis| millis.trim().parse().ok());
            return Self::Clocks(millis.and_then(|millis| Timestamp::from_millisecond(millis).ok()));
        }
        if error.is_timeout() { Self::Late } else { Self::Store(error) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Late => write!(f, "no answer within {} ms", PATIENCE.as_millis()),
            Self::Clocks(Some(at)) => {
                write!(f, "its clock says {at:.0}, more than a day from the clock of this server")
            }
            Self::Clocks(None) => f.write_str("its clock is more than a day from the clock of this server"),
            Self::Store(error) => match (error.code(), error.detail()) {
                (Some("NOAUTH"), _) => f.write_str("it wants a password"),
                (_, Some(detail)) if detail.contains(CLOSED) => f.write_str("it wants a password"),
                (Some(code), Some(detail)) => write!(f, "{code} {detail}"),
                _ if error.kind() == ErrorKind::AuthenticationFailed => {
                    f.write_str("it refuses the user or the password")
                }
                _ if error.kind() == ErrorKind::Parse => {
                    f.write_str("it does not speak the protocol of Redis")
                }
                _ => write!(f, "{error}"),
            },
        }
    }
}
