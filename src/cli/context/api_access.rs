//! Address and key of the API, where each was given, and the hints that name both.

use super::secret::secret;
use crate::cli::exit::CommandError;
use crate::cli::session::{Session, World};
use crate::client::{ApiKey, ClientError};
use crate::pipeline::config::file::Pipeline;
use crate::pipeline::{PipelineError, Source};

/// Where an address overrides the pipeline file's.
const FLAG: &str = "--base-url or SUNLAKE_BASE_URL";

/// The first request of a run.
const ME: &str = "/v1/me";

/// Address and key of an account.
pub(crate) struct Access {
    base_url: String,
    pub(crate) key: ApiKey,
    /// Where the address was given.
    address_in: String,
    /// Where the key was given.
    key_in: String,
}

impl Access {
    /// The access of a run.
    pub(crate) fn of_run(session: &Session<'_>, pipeline: &Pipeline) -> Result<Self, CommandError> {
        let (base_url, address_in) = match (&session.common.base_url, &pipeline.spec.source.base_url) {
            (Some(given), _) => (given, FLAG.to_owned()),
            (None, Some(written)) => (written, format!("[source] base_url of {}", pipeline.path.display())),
            (None, None) => {
                return Err(CommandError::Settings("no address of the API".to_owned())
                    .with_hint(format!("give {FLAG}, or `[source] base_url` in the pipeline file")));
            }
        };
        let (key, key_in) = api_key(session.world)?;
        Self::new(base_url, address_in, key, key_in)
    }

    /// The access of a command without a pipeline.
    pub(crate) fn of_flag(base_url: &str, key: ApiKey, key_in: String) -> Result<Self, CommandError> {
        Self::new(base_url, FLAG.to_owned(), key, key_in)
    }

    fn new(base_url: &str, address_in: String, key: ApiKey, key_in: String) -> Result<Self, CommandError> {
        if !is_of_the_web(base_url) {
            // The part before an @ may be a secret.
            let shown = if base_url.contains('@') {
                "the base URL".to_owned()
            } else {
                format!("base URL {base_url:?}")
            };
            let error = CommandError::Settings(format!("{shown} does not begin with https:// or http://"));
            return Err(error.with_hint(format!("give such an address with {address_in}")));
        }
        Ok(Self { base_url: base_url.to_owned(), key, address_in, key_in })
    }

    /// The API of a run.
    pub(crate) fn source(&self, allow_plain_http: bool) -> Source {
        Source { base_url: self.base_url.clone(), key: self.key.clone(), allow_plain_http }
    }

    /// An error of a request, with a hint that names the address or the key.
    pub(crate) fn with_context(&self, error: ClientError) -> CommandError {
        let Self { base_url, address_in, key_in, .. } = self;
        let address = format!("{base_url} of {address_in}");
        let last = match &error {
            ClientError::GaveUp { last, .. } => &**last,
            other => other,
        };
        let hint = match last {
            ClientError::Refused { status: 404, target, .. } if target == ME => {
                let error =
                    CommandError::Settings(format!("{error}: {base_url} is not an address of the API"));
                return error.with_hint(format!("check {address_in}, and give the address without /v1"));
            }
            ClientError::Refused { status: 401, .. } => {
                format!("put a key that is valid at {base_url} into {key_in}")
            }
            ClientError::Refused { status: 403, .. } => {
                format!("check the scope and the plan of the key in {key_in}")
            }
            ClientError::PlainHttp { .. } => {
                let plain = base_url.replacen("https://", "http://", 1);
                format!("give {plain} in {address_in}, or the port that answers https")
            }
            ClientError::Untrusted { is_certificate: false, .. } => {
                format!(
                    "check whether {address} is the right address, and which proxy or firewall is on the way"
                )
            }
            ClientError::Refused { .. } | ClientError::OutsideContract { retryable: false, .. } => {
                format!(
                    "check whether {address} is the address of the API, and whether there is a newer sunlake"
                )
            }
            ClientError::Transport { .. } => {
                format!("check the address {address}, and the network")
            }
            ClientError::OutsideContract { target, .. } if target == ME => {
                format!("check whether {address} is the address of the API")
            }
            _ => return PipelineError::from(error).into(),
        };
        CommandError::from(PipelineError::from(error)).with_hint(hint)
    }
}

fn is_of_the_web(address: &str) -> bool {
    let address = address.trim_start().to_ascii_lowercase();
    address.starts_with("https://") || address.starts_with("http://")
}

/// The key, and where it was given: its variable, or the file that a variable names; never the command line.
pub(crate) fn api_key(world: &World) -> Result<(ApiKey, String), CommandError> {
    let (text, key_in) = secret(world, "SUNLAKE_API_KEY", "key")?.ok_or_else(|| {
        CommandError::Settings("no API key".to_owned())
            .with_hint("set SUNLAKE_API_KEY, or set SUNLAKE_API_KEY_FILE to a file with the key")
    })?;
    let key = ApiKey::parse(&text).map_err(|error| {
        CommandError::Settings(format!("{key_in}: {error}"))
            .with_hint(format!("put the key of your account, one word, into {key_in}"))
    })?;
    Ok((key, key_in))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit::{API, KEY_REFUSED, SETTINGS};
    use crate::cli::output::error_text::ErrorText;

    fn access(base_url: &str) -> Result<Access, CommandError> {
        let key = ApiKey::parse("flb_0").expect("a key");
        Access::of_flag(base_url, key, "SUNLAKE_API_KEY".to_owned())
    }

    fn refused(target: &str, status: u16) -> ClientError {
        ClientError::Refused { target: target.to_owned(), status, message: "no".to_owned() }
    }

    #[test]
    fn an_address_begins_with_http_or_https() {
        for wrong in ["foo", "127.0.0.1:1234", "ftp://127.0.0.1", "", "localhost:80"] {
            let error = access(wrong).err().expect(wrong);
            assert_eq!(error.code(), SETTINGS);
            assert!(error.to_string().contains("does not begin with https:// or http://"), "{error}");
        }
        let error = access("user:secret@host").err().expect("no address");
        assert!(!error.to_string().contains("secret"), "{error}");
        assert!(access("https://api.example.com").is_ok() && access("HTTP://127.0.0.1:9").is_ok());
    }

    #[test]
    fn a_hint_names_the_address_or_the_key_and_where_it_was_given() {
        let access = access("https://a.example/v1").expect("an address");
        let target = || ME.to_owned();
        let unreachable = || ClientError::Transport { target: target(), reason: "no route".to_owned() };
        let gave_up = ClientError::GaveUp { attempts: 6, last: Box::new(unreachable()) };
        let page =
            ClientError::OutsideContract { target: target(), reason: "HTML".to_owned(), retryable: true };
        for (error, code, says) in [
            (unreachable(), API, "https://a.example/v1 of --base-url"),
            (gave_up, API, "https://a.example/v1 of --base-url"),
            (page, API, "whether https://a.example/v1 of --base-url"),
            (refused(ME, 404), SETTINGS, "without /v1"),
            (refused(ME, 401), KEY_REFUSED, "valid at https://a.example/v1 into SUNLAKE_API_KEY"),
            (refused("/v1/fl/stats", 403), KEY_REFUSED, "scope and the plan of the key in SUNLAKE_API_KEY"),
        ] {
            let error = access.with_context(error);
            let hint = ErrorText::of(&error).hint.expect("a hint");
            assert!(error.code() == code && hint.contains(says), "{hint}");
        }
        let other = access.with_context(refused("/v1/fl/stats", 404));
        assert_eq!(other.code(), SETTINGS);
        assert!(ErrorText::of(&other).hint.is_some_and(|hint| hint.contains("a newer sunlake")));
    }
}
