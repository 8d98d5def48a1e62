//! Texts from outside, as a terminal, a log or a spreadsheet may show them.

use std::borrow::Cow;

/// The text with each character that steers a terminal as an escape, such as `\u{1b}`, but those in `kept`: what an API, a file or a
/// person's name says must change nothing but the line that it is on.
pub(crate) fn escaped<'t>(text: &'t str, kept: &[char]) -> Cow<'t, str> {
    let is_escaped = |c: char| steers(c) && !kept.contains(&c);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match is_escaped(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal obeys a character in place of showing it: controls, and marks that turn the direction of what follows.
fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_written_out() {
        for (text, shown) in [
            ("a name, é, 名", "a name, é, 名"),
            ("red \u{1b}[31m", "red \\u{1b}[31m"),
            ("\u{9b}2J", "\\u{9b}2J"),
            ("over\rwritten\u{8}", "over\\u{d}written\\u{8}"),
            ("two\nlines", "two\nlines"),
            ("\u{202e}gpj.exe", "\\u{202e}gpj.exe"),
        ] {
            assert_eq!(escaped(text, &['\n']), shown);
        }
        assert_eq!(escaped("a\r\n\t", &['\n', '\r', '\t']), "a\r\n\t");
    }
}
