//! The way out of an error of a request to the API.

use crate::client::ClientError;
use crate::contract::eastern::instant;

/// Hint of an error about a certificate.
pub(crate) const TRUST: &str = "if an authority of your own signs here (a company's proxy), add its certificate to the system's store, or \
                                name a PEM file with all authorities in SSL_CERT_FILE; else check the address and this machine's clock";

/// The way out of an error of a request, where it does not depend on the address or the key.
pub(super) fn of_client(error: &ClientError) -> Option<String> {
    match error {
        ClientError::BudgetSpent { until: Some(until), .. } | ClientError::WaitTooLong { until, .. } => {
            Some(format!("run the same command again after {}", instant(*until)))
        }
        ClientError::BudgetSpent { until: None, .. } | ClientError::Stopped => {
            some("run the same command again")
        }
        ClientError::GaveUp { last, .. } => of_client(last),
        ClientError::NoClient { .. } => some(
            "install the system's store of certificates (ca-certificates), or name a PEM file with authorities in SSL_CERT_FILE",
        ),
        ClientError::ProxyRefused { .. } => some(
            "give it as HTTPS_PROXY=http://NAME:PASSWORD@HOST:PORT, or exclude the host of the API with NO_PROXY",
        ),
        _ => None,
    }
}

fn some(hint: &str) -> Option<String> {
    Some(hint.to_owned())
}
