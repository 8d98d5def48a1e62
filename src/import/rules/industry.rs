//! Industries by the words of a name: every phrase is searched at once (Aho-Corasick).

use super::text::squeezed_text;
use aho_corasick::{AhoCorasick, BuildError};
use serde::Deserialize;
use std::cmp::Reverse;

/// The industry of a name without a phrase.
pub const OTHER: &str = "other.general";
const LEGAL_FORMS: [&str; 20] = [
    "LLC",
    "INC",
    "CORP",
    "CORPORATION",
    "INCORPORATED",
    "CO",
    "COMPANY",
    "LTD",
    "LIMITED",
    "LLP",
    "LLLP",
    "LP",
    "LC",
    "PLLC",
    "PL",
    "PA",
    "PC",
    "LIABILITY",
    "DBA",
    "THE",
];

/// Which names a rule is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scope {
    Any,
    Company,
    Nonprofit,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    industry: String,
    scope: Scope,
    strength: u8,
    phrases: Vec<String>,
}

/// A file of rules.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    rule: Vec<Rule>,
}

/// What is wrong with a file of rules.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of an error names its fields")]
pub enum RuleError {
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    #[error("industry {industry}: an industry is <sector>.<type>, in lower case")]
    Industry { industry: String },
    #[error(
        "the phrase {phrase:?} of {industry} has more than capitals, digits and single blanks, and a * at its end"
    )]
    Phrase { industry: String, phrase: String },
    #[error("the phrases are too many: {0}")]
    Size(#[from] BuildError),
}

/// One phrase of one rule.
#[derive(Debug)]
struct Phrase {
    industry: usize,
    scope: Scope,
    strength: u8,
    words: usize,
    is_prefix: bool,
    /// Of equal phrases, the first: complete ones, then the shorter prefix.
    order: usize,
}

/// Rules, ready to search with.
#[derive(Debug)]
pub struct Industries {
    search: AhoCorasick,
    phrases: Vec<Phrase>,
    names: Vec<String>,
}

impl Industries {
    /// Reads a file of rules.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let file: RuleFile = toml::from_str(text)?;
        let (mut phrases, mut names, mut patterns) = (Vec::new(), Vec::new(), Vec::new());
        for rule in file.rule {
            check_industry(&rule.industry)?;
            for phrase in &rule.phrases {
                let (text, is_prefix) =
                    phrase.strip_suffix('*').map_or((phrase.as_str(), false), |text| (text, true));
                check_phrase(&rule.industry, text)?;
                let order = if is_prefix { 1 + text.rsplit(' ').next().map_or(0, str::len) } else { 0 };
                patterns.push(if is_prefix { format!(" {text}") } else { format!(" {text} ") });
                phrases.push(Phrase {
                    industry: names.len(),
                    scope: rule.scope,
                    strength: rule.strength,
                    words: text.split(' ').count(),
                    is_prefix,
                    order,
                });
            }
            names.push(rule.industry);
        }
        Ok(Self { search: AhoCorasick::new(&patterns)?, phrases, names })
    }

    /// The industry of a name: that of the strongest phrase; of equal ones that which ends last, then the longest.
    pub fn of(&self, name: &str, entity_type: &str) -> &str {
        let words = name_words(name);
        let is_nonprofit = entity_type == "nonprofit";
        let mut best = None;
        for found in self.search.find_overlapping_iter(&words) {
            let at = found.pattern().as_usize();
            let phrase = &self.phrases[at];
            let fits = match phrase.scope {
                Scope::Any => true,
                Scope::Company => !is_nonprofit,
                Scope::Nonprofit => is_nonprofit,
            };
            if fits {
                let end = if phrase.is_prefix {
                    words[found.end()..].find(' ').map_or(words.len(), |rest| found.end() + rest)
                } else {
                    found.end() - 1
                };
                let rank = (phrase.strength, end, phrase.words, Reverse(phrase.order), Reverse(at));
                best = best.max(Some(rank));
            }
        }
        best.map_or(OTHER, |(.., Reverse(at))| &self.names[self.phrases[at].industry])
    }
}

fn check_industry(industry: &str) -> Result<(), RuleError> {
    let is_plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    match industry.split_once('.') {
        Some((sector, kind)) if is_plain(sector) && is_plain(kind) => Ok(()),
        _ => Err(RuleError::Industry { industry: industry.to_owned() }),
    }
}

fn check_phrase(industry: &str, phrase: &str) -> Result<(), RuleError> {
    let is_plain =
        phrase.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    if is_plain && !phrase.is_empty() && squeezed_text(phrase) == phrase {
        return Ok(());
    }
    Err(RuleError::Phrase { industry: industry.to_owned(), phrase: phrase.to_owned() })
}

/// The words of a name in capitals without its legal form, each with a blank before and after it.
fn name_words(name: &str) -> String {
    let upper = capitals(name);
    let mut words = String::with_capacity(upper.len() + 8);
    words.push(' ');
    for (at, letter) in upper.iter().enumerate() {
        match letter {
            'A'..='Z' | '0'..='9' => words.push(*letter),
            '.' if is_dot_of_initials(&upper, at) => {}
            '&' => {
                end_word(&mut words);
                words.push_str("AND ");
            }
            _ => end_word(&mut words),
        }
    }
    end_word(&mut words);
    while let Some(rest) = before_legal_form(&words) {
        words.truncate(rest);
    }
    words
}

/// The characters of a name in capitals, without apostrophes.
fn capitals(name: &str) -> Vec<char> {
    let mut upper = Vec::with_capacity(name.len());
    let is_kept = |letter: &char| !matches!(letter, '\'' | '’' | '`');
    if name.is_ascii() {
        upper.extend(name.bytes().map(|byte| char::from(byte.to_ascii_uppercase())).filter(is_kept))
    } else {
        upper.extend(name.chars().flat_map(char::to_uppercase).filter(is_kept))
    }
    upper
}

fn end_word(words: &mut String) {
    if !words.ends_with(' ') {
        words.push(' ');
    }
}

/// Where the last word begins, if it is a legal form after other words.
fn before_legal_form(words: &str) -> Option<usize> {
    let others = words.trim_end().rfind(' ').filter(|others| *others > 0)?;
    LEGAL_FORMS.contains(&words[others..].trim()).then_some(others + 1)
}

/// Whether the dot at a place is between two initials, as in `L.L.C`.
fn is_dot_of_initials(text: &[char], at: usize) -> bool {
    let is_word = |letter: Option<&char>| letter.is_some_and(|l| l.is_alphanumeric() || *l == '_');
    let is_initial = |letter: Option<&char>| letter.is_some_and(char::is_ascii_uppercase);
    at > 0
        && is_initial(text.get(at - 1))
        && !is_word(at.checked_sub(2).and_then(|before| text.get(before)))
        && is_initial(text.get(at + 1))
        && !is_word(text.get(at + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = include_str!("../../../pipelines/industries.toml");

    #[test]
    fn strongest_phrase_gives_the_industry() {
        let rules = Industries::parse(RULES).expect("rules");
        for (name, entity, industry) in [
            ("SUNCOAST ROOFING LLC", "llc", "construction.roofing"),
            ("FIRST BAPTIST CHURCH OF TAMPA, INC.", "nonprofit", "community.religious"),
            ("ABC HOLDINGS LLC", "llc", "other.general"),
            ("", "llc", "other.general"),
        ] {
            assert_eq!(rules.of(name, entity), industry, "{name}");
        }
    }

    #[test]
    fn words_have_no_punctuation_and_no_legal_form() {
        for (name, words) in [
            ("Joe's A.B.C. Pizza & Sons, L.L.C.", " JOES ABC PIZZA AND SONS "),
            ("THE COMPANY", " THE "),
            ("CAFÉ 9", " CAF 9 "),
            ("Pool & Spa Co. of the Keys Inc", " POOL AND SPA CO OF THE KEYS "),
            ("& LLC", " AND "),
            ("-- ' --", " "),
            ("straße’s 1", " STRASSES 1 "),
        ] {
            assert_eq!(name_words(name), words);
        }
    }

    #[test]
    fn a_wrong_rule_is_named() {
        let wrong = |text: &str| Industries::parse(text).expect_err("wrong").to_string();
        let rule = |industry: &str, phrase: &str| {
            format!(
                "[[rule]]\nindustry = \"{industry}\"\nscope = \"any\"\nstrength = 1\nphrases = [\"{phrase}\"]\n"
            )
        };
        assert!(wrong(&rule("roofing", "ROOF")).contains("<sector>.<type>"));
        assert!(wrong(&rule("a.b", "roof")).contains("\"roof\""));
        assert!(wrong("[[rules]]\n").contains("rules"));
    }
}
