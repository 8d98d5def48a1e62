//! Why the key file cannot be used or changed.

use crate::contract::hint::of_io;
use crate::contract::plan::Plan;
use jiff::civil::Date;
use std::io;
use std::path::PathBuf;

/// Why the key file cannot be used or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The path names no file.
    #[error("cannot use the key file {0}: {1}")]
    NoFile(PathBuf, #[source] io::Error),
    /// The key file, or the lock file next to it, cannot be read or written.
    #[error("cannot use the key file {0}: {1}")]
    Storage(PathBuf, #[source] io::Error),
    /// The file is not a key file: path, line, what is wrong there.
    #[error("{0} is not a key file: line {1}: {2}")]
    Malformed(PathBuf, usize, String),
    /// The keys cannot be written as TOML.
    #[error("the keys cannot be written as TOML: {0}")]
    Unwritable(#[from] toml::ser::Error),
    /// A key belongs to no account of the file.
    #[error("key {0} belongs to account {1:?}, which the key file does not have")]
    UnknownAccount(String, String),
    /// Two accounts have one name, or two keys one id or digest: path, what it is, the value, both lines.
    #[error("{0} has the {1} {2:?} twice, in lines {first} and {second}", first = .3[0], second = .3[1])]
    Twice(PathBuf, &'static str, String, [usize; 2]),
    /// A limit of an account is 0: account, limit.
    #[error("account {0:?} has {1} = 0; a limit is at least 1")]
    NoLimit(String, &'static str),
    /// A digest is not 64 hexadecimal digits.
    #[error("the digest of key {0} is damaged")]
    Digest(String),
    /// The account has more active keys than its plan allows, or would have with one more.
    #[error("account {0:?} has {2} active keys, and its plan, {1}, allows {allowed}", allowed = .1.active_keys())]
    TooMany(String, Plan, usize),
    /// The account exists with another plan: name, plan in the file, plan of the request.
    #[error("account {0:?} is on the plan {1}, not {2}")]
    OtherPlan(String, Plan, Plan),
    /// A scope that the API does not have.
    #[error("{0:?} is not a scope of the API; it has one: data")]
    Scope(String),
    /// A key that would be refused from the beginning: the day from which it is, today.
    #[error("a key cannot expire on {0}: today is {1} in Eastern time")]
    Expired(Date, Date),
    /// An account without a name, or with control characters in it.
    #[error("an account needs a name of printable characters")]
    NoName,
    /// No key has the id.
    #[error("no key has the id {0:?}")]
    NoKey(String),
}

impl KeysError {
    /// The way out, where there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoFile(..) => "create a key: `sunlake keys create --account NAME --plan PLAN`",
            Self::Storage(_, source) if source.kind() == io::ErrorKind::PermissionDenied => {
                "let this user read the file; only its owner and root can create and revoke keys"
            }
            Self::Storage(_, source) if source.kind() == io::ErrorKind::IsADirectory => {
                "give the path of a file: --keys FILE"
            }
            Self::Storage(_, source) => return of_io(source),
            Self::Malformed(..) => "correct that line of the key file",
            Self::UnknownAccount(..) => "give the key file an [[account]] of that name, or remove the key",
            Self::Twice(..) => "keep one of the two in the key file",
            Self::NoLimit(..) => {
                "give another limit in the key file, or `api_access = false` to refuse the account"
            }
            Self::Digest(_) => "revoke the key, and create another: `sunlake keys revoke ID`",
            Self::TooMany(..) => {
                "revoke keys that nobody uses (`sunlake keys list`, `sunlake keys revoke ID`), \
                 or give the account a larger plan in the key file"
            }
            Self::OtherPlan(..) => "give the plan of the key file, or change the key file",
            Self::Scope(_) => "leave --scopes out, or give `--scopes data`",
            Self::Expired(..) => "give a later day, or days from today: --expires 90d",
            Self::NoName => "give the account a name: `--account NAME`",
            Self::NoKey(_) => "list the keys: `sunlake keys list`",
            Self::Unwritable(_) => return None,
        };
        Some(hint.to_owned())
    }
}
