//! The address of a store: `redis://HOST:PORT/DB`, without a user and a password, which come from variables.

use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisConnectionInfo, RedisError};
use secrecy::{ExposeSecret, SecretString};
use std::fmt;

const DEFAULT_PORT: u16 = 6_379;

/// A store, and what opens it. Neither `Debug` nor `Display` shows the password.
#[derive(Debug, Clone)]
pub(crate) struct StoreAddress {
    host: String,
    port: u16,
    database: i64,
    has_tls: bool,
    user: Option<String>,
    password: Option<SecretString>,
}

/// A text that is no address of a store. It does not repeat the text, which may have a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AddressError {
    /// A user or a password.
    #[error("the address of the store has a user or a password in it")]
    Secret,
    /// A scheme of something else.
    #[error("the address begins with a scheme that is neither redis:// nor rediss://")]
    Scheme,
    /// Not a host, a port and a number.
    #[error("the address of the store is not redis://HOST:PORT/DB")]
    Malformed,
}

impl StoreAddress {
    /// The address in a text; `None` for a text that is a path.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, AddressError> {
        let Some(scheme) = scheme(text) else { return Ok(None) };
        if text.contains('@') {
            return Err(AddressError::Secret);
        }
        let has_tls = match scheme.to_ascii_lowercase().as_str() {
            "redis" => false,
            "rediss" => true,
            _ => return Err(AddressError::Scheme),
        };
        let rest = text[scheme.len()..].strip_prefix("://").ok_or(AddressError::Malformed)?;
        let (place, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = place_of(place).ok_or(AddressError::Malformed)?;
        let database = match database {
            "" => 0,
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse::<u16>().map_err(|_| AddressError::Malformed)?.into()
            }
            _ => return Err(AddressError::Malformed),
        };
        Ok(Some(Self { host: host.to_owned(), port, database, has_tls, user: None, password: None }))
    }

    /// The same with a user and a password.
    pub(crate) fn opened_by(self, user: Option<String>, password: Option<SecretString>) -> Self {
        Self { user, password, ..self }
    }

    /// The address for the client.
    pub(super) fn connection_info(&self) -> Result<ConnectionInfo, RedisError> {
        let (host, port) = (self.host.clone(), self.port);
        let address = if self.has_tls {
            ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
        } else {
            ConnectionAddr::Tcp(host, port)
        };
        // Without a name for the connection, which wants a further right.
        let mut settings = RedisConnectionInfo::default().set_db(self.database).set_skip_set_lib_name();
        if let Some(user) = &self.user {
            settings = settings.set_username(user);
        }
        if let Some(password) = &self.password {
            settings = settings.set_password(password.expose_secret());
        }
        Ok(address.into_connection_info()?.set_redis_settings(settings))
    }
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.has_tls { "rediss" } else { "redis" };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        write!(f, "{scheme}://{host}:{}/{}", self.port, self.database)
    }
}

/// The scheme of a text: what is before its first colon, if that is a word and no part of a path.
fn scheme(text: &str) -> Option<&str> {
    let (word, _) = text.split_once(':')?;
    let is_word = word.len() > 1
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte));
    is_word.then_some(word)
}

/// The host and port of `HOST`, `HOST:PORT`, `[IPv6]` or `[IPv6]:PORT`.
fn place_of(place: &str) -> Option<(&str, u16)> {
    let (host, port) = match place.strip_prefix('[') {
        Some(bracketed) => {
            let (host, after) = bracketed.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, if after.is_empty() { None } else { Some(after.strip_prefix(':')?) })
        }
        None => {
            let (host, port) = place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port)));
            let is_name = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
            (!host.is_empty() && is_name).then_some((host, port))?
        }
    };
    let port = match port {
        Some(port) => port.parse().ok().filter(|port| *port > 0)?,
        None => DEFAULT_PORT,
    };
    Some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<String>, AddressError> {
        StoreAddress::parse(text).map(|address| address.map(|address| address.to_string()))
    }

    #[test]
    fn an_address_has_a_host_and_may_have_a_port_and_a_database() {
        for (text, address) in [
            ("redis://localhost", "redis://localhost:6379/0"),
            ("redis://10.0.0.7:6380/3", "redis://10.0.0.7:6380/3"),
            ("REDISS://counts.example.org/", "rediss://counts.example.org:6379/0"),
            ("redis://[::1]:7000/1", "redis://[::1]:7000/1"),
        ] {
            assert_eq!(read(text), Ok(Some(address.to_owned())), "{text}");
        }
    }

    #[test]
    fn a_path_is_no_address_and_everything_with_a_scheme_is_one() {
        for path in ["usage.jsonl", "/a/redis:b", "./redis:b", "a b:c", "x:y", "", ":"] {
            assert_eq!(read(path), Ok(None), "{path}");
        }
        for (text, error) in [
            ("redis://ann:secret@host", AddressError::Secret),
            ("redis://:secret@host:1/0", AddressError::Secret),
            ("memcached://user:secret@host", AddressError::Secret),
            ("memcached://host", AddressError::Scheme),
            ("redis+unix:///run/redis.sock", AddressError::Scheme),
            ("unix:/run/redis.sock", AddressError::Scheme),
            ("file:///usage.jsonl", AddressError::Scheme),
            ("redis:", AddressError::Malformed),
            ("redis://", AddressError::Malformed),
            ("redis:host", AddressError::Malformed),
            ("redis://host:0", AddressError::Malformed),
            ("redis://host:70000", AddressError::Malformed),
            ("redis://host/zero", AddressError::Malformed),
            ("redis://host/0?password=secret", AddressError::Malformed),
            ("rediss://host/#insecure", AddressError::Malformed),
            ("redis://a,b", AddressError::Malformed),
            ("redis://[host]", AddressError::Malformed),
        ] {
            assert_eq!(read(text), Err(error), "{text}");
            assert!(!error.to_string().contains("secret"));
        }
    }

    #[test]
    fn the_password_is_not_shown() {
        let address = StoreAddress::parse("redis://host").expect("an address").expect("a store");
        let address = address.opened_by(Some("ann".to_owned()), Some("hidden".to_owned().into()));
        assert!(!format!("{address:?} {address}").contains("hidden"));
        assert_eq!(
            address.connection_info().expect("an address").redis_settings().password(),
            Some("hidden")
        );
    }
}
