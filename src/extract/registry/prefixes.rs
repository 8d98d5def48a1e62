//! Which name prefixes to request next (pure): known ones first, then those that their letters suggest.
//!
//! A name search needs two characters, and nothing lists the prefixes that exist. Known names have most of them. The others are
//! predicted: from how often a character is first and how often second, and from the first letters of words inside names. A prefix
//! with almost no expected rows is not requested, unless rows are known to be missing.

use hashbrown::HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The first two characters of a name, upper case.
pub(crate) type NamePrefix = [char; 2];

/// First characters, most frequent first.
const USUAL_FIRST: &str = "ASCMBTPLDGEFRHNJWIVKOUYZQX1234567890";

/// Second characters, most frequent first: after a letter, after a digit, after anything else.
const USUAL_SECOND: [&str; 3] = [
    "AOERIHLUNTSCPYMDGBKVFWXJZQ &.'-/0123456789",
    "0123456789 SNRTDAX-/.&CEMGLBPHFKVUOIJWYZQ'",
    "1ASCMBTPLDGEFRHNJWIVKOUYZQX234567890 ",
];

/// Other characters that a name may begin with.
const RARE_FIRST: &str = "\"#'(&$@*.!-+/%?=:~_[{<\\|^`,;)]}>";

/// Weight of the usual second characters, in names.
const USUAL_NAMES: f64 = 50.0;

/// Weight of the usual first characters, and of one that was never first, as shares of all names.
const USUAL_SHARE: f64 = 0.005;
const UNMET_SHARE: f64 = 0.0005;

/// Factor for each empty prefix with the same first character, while none with a name was found.
const AFTER_EMPTY: f64 = 0.7;

/// Weight of a second character that was never second, in names.
const UNMET: f64 = 0.5;

/// Weight of the prefixes of words inside names.
const WORDS_SHARE: f64 = 0.3;

/// Words inside names after which a prefix that no word has counts as rarer than its letters suggest.
const MANY_WORDS: f64 = 20_000.0;

/// Expected fictitious names per other name, before any is known; and per expected name of a prefix that has no other name.
const FICTITIOUS_SHARE: f64 = 0.1;
const FICTITIOUS_ALONE: f64 = 0.02;

/// Predicts how many names have a prefix, from the names known so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct PrefixModel {
    prefixes: HashMap<NamePrefix, Known>,
    letters: BTreeSet<char>,
    words_seen: u64,
}

/// What is known of a prefix.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// Names with it, if any were looked for: of all types except fictitious, and fictitious names.
    names: [Option<u64>; 2],
    /// Words inside names with it.
    words: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Guess {
    pub(crate) prefix: NamePrefix,
    pub(crate) is_fictitious: bool,
    pub(crate) rows: f64,
    /// Whether a name with it is known.
    pub(crate) is_known: bool,
}

/// The first two characters of a name, upper case; none for a name of one.
pub(crate) fn prefix_of(name: &str) -> Option<NamePrefix> {
    let mut letters = name.chars().map(upper);
    Some([letters.next()?, letters.next()?])
}

pub(crate) fn text(prefix: NamePrefix) -> String {
    prefix.iter().collect()
}

/// The upper case of a character, if it is one character.
fn upper(letter: char) -> char {
    let mut folded = letter.to_uppercase();
    match (folded.next(), folded.next()) {
        (Some(one), None) => one,
        _ => letter,
    }
}

impl PrefixModel {
    /// Counts the name of a row.
    pub(crate) fn note_prefix(&mut self, name: &str, is_fictitious: bool) {
        if let Some(prefix) = prefix_of(name) {
            *self.names(prefix, is_fictitious).get_or_insert(0) += 1;
        }
    }

    /// Sets the number of rows that a prefix was found to have.
    pub(crate) fn set_count(&mut self, prefix: NamePrefix, is_fictitious: bool, rows: u64) {
        *self.names(prefix, is_fictitious) = Some(rows);
    }

    fn names(&mut self, prefix: NamePrefix, is_fictitious: bool) -> &mut Option<u64> {
        &mut self.prefixes.entry(prefix).or_default().names[usize::from(is_fictitious)]
    }

    /// Learns the characters of a name and the prefixes of its words.
    pub(crate) fn note_letters(&mut self, name: &str) {
        let mut before = ' ';
        let mut letters = name.chars().map(upper).filter(|letter| !letter.is_control()).peekable();
        while let Some(letter) = letters.next() {
            self.letters.insert(letter);
            if before == ' '
                && let Some(next) = letters.peek()
            {
                self.prefixes.entry([letter, *next]).or_default().words += 1;
                self.words_seen += 1;
            }
            before = letter;
        }
    }

    /// Prefixes to request, most expected rows first; `is_due` says whether of other names, and of fictitious ones. If `thorough`, one
    /// that no word inside names has is not rarer for that.
    pub(crate) fn guesses(
        &self,
        total: u64,
        thorough: bool,
        is_due: &dyn Fn(NamePrefix) -> [bool; 2],
    ) -> Vec<Guess> {
        let frequencies = Frequencies::of(&self.prefixes, total as f64);
        let usual = [USUAL_FIRST, USUAL_SECOND[0], RARE_FIRST].into_iter().flat_map(str::chars);
        let letters: BTreeSet<char> = self.letters.iter().copied().chain(usual).collect();
        let shares = |counts: &Counts| letters.iter().map(|letter| counts.share(*letter)).collect();
        let seconds: [Vec<f64>; 3] = frequencies.second.each_ref().map(shares);
        let mut guesses = Vec::new();
        for one in letters.iter().filter(|letter| **letter != ' ') {
            let first = frequencies.first.share(*one) * frequencies.after_empty(*one);
            for (other, second) in letters.iter().zip(&seconds[class(*one)]) {
                let prefix = [*one, *other];
                let due = is_due(prefix);
                if due == [false, false] {
                    continue;
                }
                let known = self.prefixes.get(&prefix).copied().unwrap_or_default();
                let words = known.words as f64 / self.words_seen.max(1) as f64;
                let rarity = if thorough || known.words > 0 { 1.0 } else { self.rarity(*one) };
                let model = total as f64 * (first * second * rarity + WORDS_SHARE * words);
                for is_fictitious in [false, true].into_iter().filter(|kind| due[usize::from(*kind)]) {
                    let rows = known.expected(is_fictitious, model);
                    let is_known = known.names[usize::from(is_fictitious)].is_some_and(|rows| rows > 0);
                    guesses.push(Guess { prefix, is_fictitious, rows, is_known });
                }
            }
        }
        // A stable sort keeps the order of characters.
        guesses.sort_by(|one, other| other.rows.total_cmp(&one.rows));
        guesses
    }

    /// Factor by which a prefix that no word inside names has is rarer than its characters suggest. Words begin with letters.
    fn rarity(&self, first: char) -> f64 {
        if class(first) == 0 { (MANY_WORDS / self.words_seen.max(1) as f64).min(1.0) } else { 1.0 }
    }
}

impl Known {
    /// The rows that a prefix is expected to have, if its letters suggest `model`.
    fn expected(&self, is_fictitious: bool, model: f64) -> f64 {
        let [others, fictitious] = self.names.map(|names| names.map(|rows| rows as f64));
        match (is_fictitious, if is_fictitious { fictitious } else { others }, others) {
            (_, Some(rows), _) if rows > 0.0 => rows,
            (true, _, Some(0.0)) => FICTITIOUS_ALONE * model,
            (true, _, others) => FICTITIOUS_SHARE * others.unwrap_or(model),
            (false, ..) => model,
        }
    }
}

/// How often each character is first, and how often second: after a letter, a digit, anything else.
struct Frequencies {
    first: Counts,
    second: [Counts; 3],
    /// Empty prefixes, by first character.
    empty: BTreeMap<char, i32>,
}

impl Frequencies {
    fn of(prefixes: &HashMap<NamePrefix, Known>, total: f64) -> Self {
        let (usual, unmet) = ((total * USUAL_SHARE).max(USUAL_NAMES), (total * UNMET_SHARE).max(UNMET));
        let mut first = Counts::usual(USUAL_FIRST, usual, unmet);
        let mut second = USUAL_SECOND.map(|letters| Counts::usual(letters, USUAL_NAMES, UNMET));
        let mut empty: BTreeMap<char, i32> = BTreeMap::new();
        for ([one, other], known) in prefixes {
            for rows in known.names.into_iter().flatten() {
                if rows > 0 {
                    first.add(*one, rows);
                    second[class(*one)].add(*other, rows);
                } else {
                    *empty.entry(*one).or_default() += 1;
                }
            }
        }
        Self { first, second, empty }
    }

    /// The factor of a first character that has empty prefixes and no name.
    fn after_empty(&self, first: char) -> f64 {
        let empty = self.empty.get(&first).filter(|_| !self.first.found.contains_key(&first));
        empty.map_or(1.0, |times| AFTER_EMPTY.powi(*times))
    }
}

fn class(letter: char) -> usize {
    match letter {
        _ if letter.is_alphabetic() => 0,
        _ if letter.is_numeric() => 1,
        _ => 2,
    }
}

/// Names by the character in one position.
struct Counts {
    usual: BTreeMap<char, f64>,
    /// Weight of the usual ones together, in names.
    all_usual: f64,
    found: BTreeMap<char, u64>,
    all_found: u64,
    /// Weight of a character that was never there, in names.
    unmet: f64,
}

impl Counts {
    fn usual(letters: &str, names: f64, unmet: f64) -> Self {
        let weight = |rank: usize| 1.0 / (rank + 3) as f64;
        let weights: f64 = (0..letters.chars().count()).map(weight).sum();
        let usual =
            letters.chars().enumerate().map(|(rank, letter)| (letter, names * weight(rank) / weights));
        Self { usual: usual.collect(), all_usual: names, found: BTreeMap::new(), all_found: 0, unmet }
    }

    fn add(&mut self, letter: char, names: u64) {
        *self.found.entry(letter).or_default() += names;
        self.all_found += names;
    }

    fn share(&self, letter: char) -> f64 {
        let usual = self.usual.get(&letter).copied().unwrap_or(self.unmet);
        let found = self.found.get(&letter).copied().unwrap_or(0);
        (usual + found as f64) / (self.all_usual + self.all_found as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(model: &PrefixModel, total: u64) -> Vec<String> {
        let guesses = model.guesses(total, false, &|_| [true, false]);
        guesses.iter().map(|guess| text(guess.prefix)).collect()
    }

    #[test]
    fn known_prefixes_come_first_then_those_their_letters_suggest() {
        let mut model = PrefixModel::default();
        for name in ["SUN LLC", "SUNNY", "QUAY INC", "SARA", "TALL", "Ñandú"] {
            for _ in 0..1_000 {
                model.note_prefix(name, false);
                model.note_letters(name);
            }
        }
        let order = order(&model, 6_000);
        assert_eq!(order[0], "SU");
        let rank = |prefix: &str| order.iter().position(|known| known == prefix).expect("a guess");
        assert!(["QU", "SA", "TA", "ÑA"].iter().all(|known| rank(known) < 5), "{:?}", &order[..8]);
        assert!(rank("TU") < rank("TZ") && rank("QA") < rank("XQ"), "{:?}", &order[..20]);
        assert!(!order.iter().any(|prefix| prefix.starts_with(' ')));
    }

    #[test]
    fn without_names_every_usual_prefix_is_guessed_once() {
        let order = order(&PrefixModel::default(), 1_000);
        let distinct: BTreeSet<&String> = order.iter().collect();
        assert_eq!(distinct.len(), order.len());
        for prefix in ["AA", "ZZ", "A ", "1S", "9'"] {
            assert!(distinct.contains(&prefix.to_owned()), "{prefix}");
        }
        assert_eq!(&order[0], "AA");
    }

    #[test]
    fn requested_prefixes_are_not_guessed_and_a_set_count_replaces_a_noted_one() {
        let mut model = PrefixModel::default();
        model.note_prefix("SUN", false);
        model.set_count(['S', 'U'], false, 70);
        let rows = |model: &PrefixModel, kind: bool| {
            let guesses = model.guesses(100, false, &|prefix| [prefix != ['T', 'H']; 2]);
            assert!(guesses.iter().all(|guess| guess.prefix != ['T', 'H']));
            guesses.iter().find(|g| g.prefix == ['S', 'U'] && g.is_fictitious == kind).map(|guess| guess.rows)
        };
        assert_eq!((rows(&model, false), rows(&model, true)), (Some(70.0), Some(7.0)));
    }

    #[test]
    fn prefix_is_two_characters_in_upper_case() {
        assert_eq!(prefix_of("ñandú").map(text), Some("ÑA".to_owned()));
        assert_eq!(prefix_of("ßa").map(text), Some("ßA".to_owned()));
        assert_eq!((prefix_of("A"), prefix_of("")), (None, None));
    }
}
