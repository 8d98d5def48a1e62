//! What a key file may have once only: an account's name, a key's id, a key's digest. Of two that are the same, one would stay in force
//! when the other is changed.

use serde::Deserialize;
use std::collections::HashMap;
use toml::Spanned;

#[derive(Deserialize)]
struct Places {
    #[serde(default)]
    account: Vec<Account>,
    #[serde(default)]
    key: Vec<Key>,
}

#[derive(Deserialize)]
struct Account {
    name: Spanned<String>,
}

#[derive(Deserialize)]
struct Key {
    id: Spanned<String>,
    digest: Spanned<String>,
}

/// What a key file has twice: what it is, the value, both lines.
pub(super) type Twice = (&'static str, String, [usize; 2]);

/// The first value that the text of a key file has twice.
pub(super) fn twice(text: &str) -> Option<Twice> {
    let Places { account, key } = toml::from_str(text).ok()?;
    let (ids, digests) = key.into_iter().map(|key| (key.id, key.digest)).unzip::<_, _, Vec<_>, Vec<_>>();
    let names = account.into_iter().map(|account| account.name).collect();
    for (what, values) in [("account", names), ("key id", ids), ("digest", digests)] {
        let mut seen = HashMap::new();
        for value in values {
            let here = line(text, Some(value.span()));
            let value = value.into_inner();
            // Digests are read in either case.
            let value = if what == "digest" { value.to_ascii_lowercase() } else { value };
            if let Some(before) = seen.insert(value.clone(), here) {
                return Some((what, value, [before, here]));
            }
        }
    }
    None
}

/// The line of a place in a text, from 1.
pub(super) fn line(text: &str, place: Option<std::ops::Range<usize>>) -> usize {
    let before = place.and_then(|place| text.get(..place.start)).unwrap_or_default();
    before.matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_id_or_digest_is_found_with_both_lines() {
        let key = |id: &str, digest: &str| format!("[[key]]\nid = \"{id}\"\ndigest = '{digest}'\n");
        let file = |parts: &[&str]| twice(&parts.concat());
        let (account, other) = ("[[account]]\nname = \"acme\"\n", "[[account]]\nname = \"Other\"\n");
        assert_eq!(file(&[account, other, &key("key_1", "a1"), &key("key_2", "b2")]), None);
        let found = |what, value: &str, lines| Some((what, value.to_owned(), lines));
        assert_eq!(file(&[account, other, account]), found("account", "acme", [2, 6]));
        assert_eq!(file(&[&key("key_1", "a1"), &key("key_1", "b2")]), found("key id", "key_1", [2, 5]));
        assert_eq!(file(&[&key("key_1", "a1"), "\n", &key("key_2", "A1")]), found("digest", "a1", [3, 7]));
    }
}
