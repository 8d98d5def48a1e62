//! Texts from outside, as a terminal, a log or a spreadsheet may show them, and as DuckDB may read them.

use std::borrow::Cow;

/// The text with each character that steers a terminal as an escape, such as `\u{1b}`, but those in `kept`: what an API, a file or a
/// person's name says must change nothing but the line that it is on.
pub(crate) fn escaped<'t>(text: &'t str, kept: &[char]) -> Cow<'t, str> {
    replaced(text, |c| steers(c) && !kept.contains(&c), |shown, c| shown.extend(c.escape_unicode()))
}

/// The same of JSON, whose own escapes leave out some: such a character is only in a string of it, where it becomes `\u009b`.
pub(crate) fn escaped_json(json: &str) -> Cow<'_, str> {
    let is_bare = |c: char| steers(c) && c != '\n';
    replaced(json, is_bare, |shown, c| shown.push_str(&format!("\\u{:04x}", u32::from(c))))
}

/// A text whose lines are one: a name of a file or a value may have line ends, and none of them begins a line of ours.
pub(crate) fn on_one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What `DuckDB` takes in a path for a pattern of several.
pub(crate) const PATTERN_SIGNS: &str = "*?[";

/// The pattern that finds a path and no other: `DuckDB` takes each path for a pattern.
pub(crate) fn pattern_of(path: &str) -> Cow<'_, str> {
    replaced(path, |c| PATTERN_SIGNS.contains(c), |pattern, c| pattern.extend(['[', c, ']']))
}

fn replaced(
    text: &str,
    is_replaced: impl Fn(char) -> bool,
    replace: impl Fn(&mut String, char),
) -> Cow<'_, str> {
    if !text.contains(&is_replaced) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_replaced(c) { replace(&mut shown, c) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Whether a terminal obeys a character in place of showing it: controls, and marks that turn the direction of what follows.
pub(crate) fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_finds_the_path_alone() {
        for (path, pattern) in
            [("/data/florida", "/data/florida"), ("a*b?c", "a[*]b[?]c"), ("[old] lake", "[[]old] lake")]
        {
            assert_eq!(pattern_of(path), pattern);
        }
    }

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
        assert_eq!(escaped_json("{\"a\":\"\u{9b}2J\"}\n"), "{\"a\":\"\\u009b2J\"}\n");
    }
}
