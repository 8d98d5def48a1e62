//! What hints are made of: the right name that a wrong one was meant to be, and what errors of several modules have in common.

use std::io::{self, ErrorKind};

/// Hint of an error about a lake without a snapshot.
pub(crate) const MAKE_SNAPSHOT: &str = "make a snapshot: `sunlake run`";
/// Hint of an error about a file of a later format.
pub(crate) const NEWER_SUNLAKE: &str = "use the newer sunlake";
/// Hint of an error about a certificate.
pub(crate) const TRUST: &str = "if an authority of your own signs here (a company's proxy), add its certificate to the system's store, or \
                                name a PEM file with all authorities in SSL_CERT_FILE; else check the address and this machine's clock";

/// The hint of an error of the system.
pub(crate) fn of_io(source: &io::Error) -> Option<String> {
    let hint = match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free disk space, then run the same command again"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "make the file and its folder writable for this user"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

/// How alike two names are, at least, where one is taken for the other and the wrong one can only be a name.
pub(crate) const NEAR: f64 = 0.6;

/// The name that is nearest to a wrong one, if one is more alike than `least` (0 to 1). Capitals make no difference.
pub(crate) fn nearest<'n>(
    wrong: &str,
    names: impl IntoIterator<Item = &'n str>,
    least: f64,
) -> Option<&'n str> {
    let wrong = wrong.to_lowercase();
    let scored = names.into_iter().map(|name| (strsim::jaro_winkler(&wrong, &name.to_lowercase()), name));
    let (score, name) = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (score > least).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_has_a_nearest_one_and_a_different_word_has_none() {
        let names = ["counties", "filings", "agg_settling"];
        assert_eq!(nearest("filing", names, NEAR), Some("filings"));
        assert_eq!(nearest("Countys", names, NEAR), Some("counties"));
        assert_eq!(nearest("zzz", names, NEAR), None);
        assert_eq!(nearest("filing", names, 1.0), None);
    }
}
