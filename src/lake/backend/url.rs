//! The address of a lake in an object store: which cloud, which bucket, under which name.

use super::deletion::SingleDeletes;
use super::http_way::SafeWay;
use super::object_client::Objects;
use crate::lake::error::LakeError;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path as ObjectPath;
use object_store::signer::Signer;
use object_store::{ObjectStore, RetryConfig};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// Longest a connection may take to be made.
const CONNECT_TIMEOUT: &str = "10 seconds";
/// Longest a request may take, its body included.
const REQUEST_TIMEOUT: &str = "120 seconds";
/// Retries of a failed request, and the time after which none starts.
const RETRIES: usize = 5;
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);

/// Prefixes of the environment variables that the clouds' own tools read; so does this program.
pub const CLOUD_VARIABLES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

/// Parts of the names of variables that lead an address to another store, or change how it is asked.
const SETTINGS_OF_A_PLACE: [&str; 4] = ["ENDPOINT", "CONDITIONAL_PUT", "EMULATOR", "BASE_URL"];

/// Variables with an address.
const ADDRESSES: [&str; 13] = [
    "AWS_ENDPOINT",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL_STS",
    "AWS_METADATA_ENDPOINT",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AZURE_ENDPOINT",
    "AZURE_STORAGE_ENDPOINT",
    "AZURE_AUTHORITY_HOST",
    "AZURE_STORAGE_AUTHORITY_HOST",
    "AZURE_MSI_ENDPOINT",
    "AZURE_IDENTITY_ENDPOINT",
    "GOOGLE_BASE_URL",
];
/// Variables with a name that becomes part of an address.
const WORDS: [&str; 4] =
    ["AWS_REGION", "AWS_DEFAULT_REGION", "AZURE_STORAGE_ACCOUNT_NAME", "AZURE_ACCOUNT_NAME"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cloud {
    Aws,
    Azure,
    Google,
}

/// Whether a lake's name is an address of an object store rather than a path.
pub fn is_address(lake: &str) -> bool {
    lake.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// Opens the store of an address. `variables` are those of the environment with a prefix in [`CLOUD_VARIABLES`].
pub(crate) fn open(address: &str, variables: &[(String, String)]) -> Result<Objects, LakeError> {
    let retry = RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_TIMEOUT, ..RetryConfig::default() };
    // The builders have the same methods, but no trait in common.
    macro_rules! store {
        ($builder:ty, $prefix:literal) => {{
            let builder =
                <$builder>::new().with_url(address).with_retry(retry.clone()).with_http_connector(SafeWay);
            let options = options(variables, $prefix).into_iter();
            let builder = options.fold(builder, |builder, (key, value)| builder.with_config(key, value));
            Arc::new(builder.build().map_err(|error| wrong(address, &error.to_string()))?)
        }};
    }
    let (cloud, prefix) = parse(address)?;
    variables.iter().try_for_each(|(name, value)| check_variable(name, value))?;
    let (store, single): (Arc<dyn ObjectStore>, _) = match cloud {
        Cloud::Aws => {
            let store = store!(AmazonS3Builder, "AWS_");
            let single = SingleDeletes::of(Arc::clone(&store) as Arc<dyn Signer>);
            (store, Some(single.map_err(|error| wrong(address, &error.to_string()))?))
        }
        Cloud::Azure => (store!(MicrosoftAzureBuilder, "AZURE_"), None),
        Cloud::Google => (store!(GoogleCloudStorageBuilder, "GOOGLE_"), None),
    };
    let mut places: Vec<_> = variables
        .iter()
        .filter(|(name, _)| SETTINGS_OF_A_PLACE.iter().any(|part| name.to_ascii_uppercase().contains(part)))
        .collect();
    places.sort();
    let mut objects = Objects::new(store, &prefix, address)?;
    objects.place = blake3::hash(format!("{} {places:?}", objects.url("")).as_bytes()).to_hex().to_string();
    objects.single = single;
    Ok(objects)
}

/// The cloud of an address, and the lake's prefix in its bucket.
fn parse(address: &str) -> Result<(Cloud, ObjectPath), LakeError> {
    let wrong = |what: &str| wrong(address, what);
    let Some((scheme, rest)) = address.split_once("://") else {
        return Err(wrong("it begins with no scheme"));
    };
    let cloud = match scheme {
        "s3" | "s3a" => Cloud::Aws,
        "az" | "azure" | "abfs" | "abfss" => Cloud::Azure,
        "gs" => Cloud::Google,
        _ => return Err(wrong("known are s3://, gs:// and az://, and paths of this machine")),
    };
    let (bucket, path) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.is_empty() {
        return Err(wrong("it names no bucket"));
    }
    if rest.contains(['?', '#']) || bucket.contains(':') {
        return Err(wrong("credentials and options belong in the environment"));
    }
    let path = ObjectPath::from_url_path(path).map_err(|error| wrong(&error.to_string()))?;
    Ok((cloud, path))
}

/// Refuses what would become an address that no request can be sent to: there the library ends the program.
fn check_variable(name: &str, value: &str) -> Result<(), LakeError> {
    let wrong = |what| Err(LakeError::Setting { name: name.to_owned(), what });
    let is_in = |names: &[&str]| names.contains(&name.to_ascii_uppercase().as_str());
    if is_in(&ADDRESSES) && !is_of_the_web(value) {
        return wrong("an address such as https://HOST:PORT");
    }
    if is_in(&WORDS) && !value.bytes().all(is_of_name) {
        return wrong("a name of letters, digits and hyphens");
    }
    Ok(())
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._".contains(&byte)
}

/// Whether a text is an address of http or https with a host, and perhaps a port and a path.
fn is_of_the_web(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) else {
        return false;
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (host, None),
    };
    let is_host = match host.strip_prefix('[') {
        Some(address) => address.strip_suffix(']').is_some_and(|it| it.parse::<std::net::Ipv6Addr>().is_ok()),
        None => !host.is_empty() && host.bytes().all(is_of_name),
    };
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
    is_host && port.is_none_or(|port| port.parse::<u16>().is_ok()) && path.bytes().all(is_plain)
}

fn without_secrets(address: &str) -> String {
    let (start, rest) = address.split_once("://").map_or(("", address), |(scheme, rest)| (scheme, rest));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (bucket, path) = rest.split_once('/').map_or((rest, ""), |(bucket, path)| (bucket, path));
    let bucket = match bucket.split_once('@') {
        Some((user, host)) if user.contains(':') => host,
        _ => bucket,
    };
    [start, "://", bucket, if path.is_empty() { "" } else { "/" }, path].concat()
}

fn wrong(address: &str, what: &str) -> LakeError {
    LakeError::Address { address: without_secrets(address), what: what.to_owned() }
}

/// Options of one cloud's builder: default timeouts, then the environment, which may change them.
fn options<K: FromStr>(variables: &[(String, String)], start: &str) -> Vec<(K, String)> {
    let bounds = [("connect_timeout", CONNECT_TIMEOUT), ("timeout", REQUEST_TIMEOUT)];
    let bounds = bounds.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let given = variables.iter().filter(|(name, _)| name.starts_with(start));
    let given = given.map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    // Other tools have variables with the same prefix; the builder does not know those.
    bounds.chain(given).filter_map(|(name, value)| Some((name.parse().ok()?, value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_with(address: &str, variables: &[(&str, &str)]) -> Result<Objects, LakeError> {
        let variables: Vec<_> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        open(address, &variables)
    }

    #[test]
    fn addresses_are_distinguished_from_paths() {
        for address in ["s3://bucket", "gs://bucket/lake", "az://container/a/b", "ftp://x"] {
            assert!(is_address(address), "{address}");
        }
        for path in ["output", "/var/lib/lake", "./s3:/x", "C:/lake", "://x", "a b://x"] {
            assert!(!is_address(path), "{path}");
        }
    }

    #[test]
    fn each_cloud_is_opened_with_its_own_variables() {
        let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_REGION", "us-east-1")];
        let s3 = open_with("s3://bucket/lakes/florida/", &keys).expect("a store");
        assert_eq!(s3.url("latest.json"), "s3://bucket/lakes/florida/latest.json");
        let azure = [("AZURE_STORAGE_ACCOUNT_NAME", "a"), ("AZURE_STORAGE_ACCOUNT_KEY", "YQ==")];
        open_with("az://container/lake", &azure).expect("a store");
        open_with("gs://bucket", &[("GOOGLE_SKIP_SIGNATURE", "true")]).expect("a store");
        assert_eq!(parse("s3://bucket/lakes/x/").expect("parsed"), (Cloud::Aws, ObjectPath::from("lakes/x")));
        assert_eq!(parse("gs://bucket").expect("parsed"), (Cloud::Google, ObjectPath::default()));
    }

    #[test]
    fn a_variable_that_leads_nowhere_is_named_without_its_value() {
        let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
        for (name, value) in [
            ("AWS_ENDPOINT", "::::"),
            ("AWS_ENDPOINT", "nonsense"),
            ("AWS_ENDPOINT", "http://"),
            ("AWS_ENDPOINT_URL", "http://[::1"),
            ("AWS_ENDPOINT_URL_S3", "http://a b"),
            ("AWS_ENDPOINT", "http://host:port"),
            ("AWS_ENDPOINT", "http://id:SECRET@host"),
            ("AWS_METADATA_ENDPOINT", ":::"),
            ("GOOGLE_BASE_URL", "http://:::"),
            ("AWS_REGION", "us east"),
            ("AZURE_STORAGE_ACCOUNT_NAME", "a/b"),
        ] {
            let error = open_with("s3://bucket/x", &[&keys[..], &[(name, value)]].concat()).expect_err(value);
            assert!(matches!(&error, LakeError::Setting { .. }), "{error}");
            assert!(error.to_string().starts_with(name) && !error.to_string().contains("SECRET"), "{error}");
        }
        for endpoint in ["http://127.0.0.1:9000", "https://[::1]:9/path", "https://s3.example/"] {
            open_with("s3://bucket/x", &[&keys[..], &[("AWS_ENDPOINT", endpoint)]].concat()).expect(endpoint);
        }
    }

    #[test]
    fn another_endpoint_is_another_place() {
        let place = |endpoint| {
            let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
            let variables = [&keys[..], &[("AWS_ENDPOINT", endpoint)]].concat();
            open_with("s3://bucket/x", &variables).expect("a store").place
        };
        assert_eq!(place("https://a.example"), place("https://a.example"));
        assert_ne!(place("https://a.example"), place("https://b.example"));
    }

    #[test]
    fn error_about_a_wrong_address_contains_no_secret() {
        for address in
            ["s3://", "ftp://host/x", "s3://id:SECRET@bucket/x", "az://c/x?sig=SECRET", "gs://b/a/../c"]
        {
            let error = open_with(address, &[]).expect_err(address).to_string();
            assert!(!error.contains("SECRET"), "{error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
}
