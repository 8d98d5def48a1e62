//! Reads the paths that a Rust source file names, without a compiler.

use std::fmt::Write;
use std::path::Path;

/// `lake/part.rs` → `lake`, `part`; `lake/mod.rs` → `lake`; `lib.rs` → nothing.
pub(crate) fn module_path(file: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if names.last().is_some_and(|name| name == "mod" || name == "lib") {
        names.pop();
    }
    names
}

/// A path of a source file, as written, `super` and `self` resolved to `crate`.
pub(crate) struct Named {
    pub(crate) names: Vec<String>,
    pub(crate) line: usize,
    /// Whether the path is in a `mod tests`.
    pub(crate) in_tests: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    Word(String),
    /// `::`
    Sep,
    Sign(char),
}

pub(crate) fn paths(text: &str, place: &[String]) -> Vec<Named> {
    let tokens = tokens(text);
    let mut reader = Reader { tokens: &tokens, at: 0, found: Vec::new() };
    let mut scopes: Vec<bool> = Vec::new();
    let mut place = place.to_vec();
    while let Some((token, _)) = tokens.get(reader.at) {
        let word = |at: usize| match tokens.get(at) {
            Some((Token::Word(word), _)) => Some(word.as_str()),
            _ => None,
        };
        match token {
            Token::Word(name)
                if name == "mod" && tokens.get(reader.at + 2).is_some_and(|t| t.0 == Token::Sign('{')) =>
            {
                place.push(word(reader.at + 1).unwrap_or_default().to_owned());
                scopes.push(true);
                reader.at += 3;
            }
            Token::Sign('{') => {
                scopes.push(false);
                reader.at += 1;
            }
            Token::Sign('}') => {
                if scopes.pop() == Some(true) {
                    place.pop();
                }
                reader.at += 1;
            }
            Token::Sign('.') => reader.at += 2,
            // `pub(super)` imports nothing.
            Token::Word(word) if word == "pub" && is_scope(&tokens[reader.at + 1..]) => {
                while tokens[reader.at].0 != Token::Sign(')') {
                    reader.at += 1;
                }
            }
            // A path that follows one of these is another path, even where it begins with `::`.
            Token::Word(word)
                if ["use", "as", "dyn", "impl", "in", "mut", "return"].contains(&word.as_str()) =>
            {
                reader.at += 1;
            }
            Token::Word(_) | Token::Sep => reader.path(Vec::new(), &place),
            Token::Sign(_) => reader.at += 1,
        }
    }
    reader.found
}

/// Whether a visibility has a scope in parentheses.
fn is_scope(tokens: &[(Token, usize)]) -> bool {
    let scopes = ["super", "crate", "self", "in"];
    matches!(tokens, [(Token::Sign('('), _), (Token::Word(word), _), ..] if scopes.contains(&word.as_str()))
}

struct Reader<'t> {
    tokens: &'t [(Token, usize)],
    at: usize,
    found: Vec<Named>,
}

impl Reader<'_> {
    fn token(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    /// Reads a path that continues from `names`; a group in braces gives one path each.
    fn path(&mut self, mut names: Vec<String>, place: &[String]) {
        let line = self.tokens[self.at].1;
        if self.token() == Some(&Token::Sep) {
            self.at += 1;
        }
        loop {
            match self.token().cloned() {
                Some(Token::Word(word)) => {
                    self.at += 1;
                    step(&mut names, &word, place);
                }
                Some(Token::Sign('{')) => return self.group(&names, place),
                _ => break,
            }
            if self.token() != Some(&Token::Sep) {
                break;
            }
            self.at += 1;
        }
        if !names.is_empty() {
            let in_tests = place.iter().any(|part| part == "tests");
            self.found.push(Named { names, line, in_tests });
        }
    }

    fn group(&mut self, names: &[String], place: &[String]) {
        self.at += 1;
        while let Some(token) = self.token() {
            match token {
                Token::Sign('}') => {
                    self.at += 1;
                    return;
                }
                Token::Word(word) if word == "as" => self.at += 2,
                Token::Word(_) | Token::Sep => self.path(names.to_vec(), place),
                Token::Sign('{') => self.group(names, place),
                Token::Sign(_) => self.at += 1,
            }
        }
    }
}

/// Adds a word to a path. A path that begins with `super` or `self` is relative to the file's module.
fn step(names: &mut Vec<String>, word: &str, place: &[String]) {
    let here = || std::iter::once("crate".to_owned()).chain(place.iter().cloned()).collect::<Vec<_>>();
    match word {
        "super" => {
            if names.is_empty() {
                *names = here();
            }
            if names.len() > 1 {
                names.pop();
            }
        }
        "self" if names.is_empty() => *names = here(),
        "self" => {}
        other => names.push(other.to_owned()),
    }
}

/// Words and signs with their lines; comments, texts and character literals are left out.
pub(crate) fn tokens(text: &str) -> Vec<(Token, usize)> {
    let chars: Vec<char> = text.chars().collect();
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    while at < chars.len() {
        let rest = &chars[at..];
        let length = match rest {
            ['/', '/', ..] => rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()),
            ['/', '*', ..] => comment_length(rest),
            ['r', '"' | '#', ..] if raw_text_length(rest).is_some() => raw_text_length(rest).unwrap_or(1),
            ['"', ..] => text_length(rest),
            ['\'', '\\', ..] => 3 + rest[3..].iter().position(|c| *c == '\'').unwrap_or(0),
            ['\'', _, '\'', ..] => 2,
            ['\'', ..] => 0,
            [':', ':', ..] => {
                tokens.push((Token::Sep, line));
                1
            }
            [c, ..] if c.is_alphanumeric() || *c == '_' => {
                let end = rest.iter().position(|c| !(c.is_alphanumeric() || *c == '_')).unwrap_or(rest.len());
                tokens.push((Token::Word(rest[..end].iter().collect()), line));
                end - 1
            }
            [c, ..] => {
                if !c.is_whitespace() {
                    tokens.push((Token::Sign(*c), line));
                }
                0
            }
            [] => 0,
        };
        let end = (at + length + 1).min(chars.len());
        line += chars[at..end].iter().filter(|c| **c == '\n').count();
        at = end;
    }
    tokens
}

/// Length of a nested comment, less its last character; so the others below.
fn comment_length(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at + 1 < rest.len() {
        match (rest[at], rest[at + 1]) {
            ('/', '*') => (depth, at) = (depth + 1, at + 2),
            ('*', '/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at - 1;
        }
    }
    rest.len() - 1
}

fn text_length(rest: &[char]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != '"' {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at.min(rest.len() - 1)
}

fn raw_text_length(rest: &[char]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
    if rest.get(1 + hashes) != Some(&'"') {
        return None;
    }
    let mut end = String::from("\"");
    let _ = write!(end, "{}", "#".repeat(hashes));
    let end: Vec<char> = end.chars().collect();
    let body = &rest[2 + hashes..];
    let length = body.windows(end.len()).position(|part| part == end)?;
    Some(2 + hashes + length + end.len() - 1)
}
