//! What hints are made of: the right name that a wrong one was meant to be.

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
