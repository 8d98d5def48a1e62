//! Changes of the key file's text: comments, order and layout of what stays are kept.

use toml_edit::{DocumentMut, value};

/// The text with a time of revocation in some keys, by their place in the file, and with more tables at its end. None for a file
/// that has its keys in another form than `[[key]]`.
pub(super) fn edited(
    text: &str,
    added: &str,
    revoked: impl Iterator<Item = (usize, String)>,
) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    for (place, time) in revoked {
        let keys = document.get_mut("key")?.as_array_of_tables_mut()?;
        keys.get_mut(place)?.insert("revoked_at", value(time));
    }
    let mut edited = document.to_string();
    if !added.is_empty() {
        if !edited.is_empty() {
            edited.push_str(if edited.ends_with('\n') { "\n" } else { "\n\n" });
        }
        edited.push_str(added);
    }
    // More tables cannot follow an array in brackets.
    edited.parse::<DocumentMut>().is_ok().then_some(edited)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Ours.\n[[account]]\nname   = \"acme\" # a customer\n\n# The first key.\n[[key]]\nid = \"key_1\"\n\n\
                        [[key]]\nid = 'key_2'  # for tests\n";

    #[test]
    fn all_that_is_not_changed_stays_as_it_was_typed() {
        let none = || std::iter::empty();
        assert_eq!(edited(FILE, "", none()).as_deref(), Some(FILE));
        let added = edited(FILE, "[[key]]\nid = \"key_3\"\n", none()).expect("a file");
        assert_eq!(added, format!("{FILE}\n[[key]]\nid = \"key_3\"\n"));
        let revoked = edited(FILE, "", [(0, "2026-11-20T00:00:00Z".to_owned())].into_iter()).expect("a file");
        let expected = FILE.replace("\"key_1\"\n", "\"key_1\"\nrevoked_at = \"2026-11-20T00:00:00Z\"\n");
        assert_eq!(revoked, expected);
        assert_eq!(edited("", "[[key]]\n", none()).as_deref(), Some("[[key]]\n"));
        assert_eq!(edited("key = []\n", "[[key]]\n", none()), None);
    }
}
