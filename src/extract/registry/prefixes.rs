//! Which starts of a name to ask for next (pure): those known first, then what their letters suggest.
//!
//! A name search needs two characters, and nothing lists the starts there are. Names already seen tell most of them;
//! the others are guessed from how often a character comes first and how often second, and from the starts of the words
//! inside names. A start whose guess is next to nothing is not worth a request, unless rows are known to be missing.

use std::collections::{BTreeMap, BTreeSet};

/// The first two characters of a name, upper case.
pub type Start = [char; 2];

/// First characters, the usual ones first.
const USUAL_FIRST: &str = "ASCMBTPLDGEFRHNJWIVKOUYZQX1234567890";

/// Second characters after a letter, the usual ones first; after a digit; after anything else.
const USUAL_SECOND: [&str; 3] = [
    "AOERIHLUNTSCPYMDGBKVFWXJZQ &.'-/0123456789",
    "0123456789 SNRTDAX-/.&CEMGLBPHFKVUOIJWYZQ'",
    "1ASCMBTPLDGEFRHNJWIVKOUYZQX234567890 ",
];

/// Characters that a name may begin with and need not hold elsewhere.
const ODD_FIRST: &str = "\"#'(&$@*.!-+/%?=:~_[{<\\|^`,;)]}>";

/// Names that the usual second characters stand for.
const USUAL_NAMES: f64 = 50.0;

/// Share of all names that the usual first characters stand for, and one that was never met in first place.
const USUAL_SHARE: f64 = 0.005;
const UNMET_SHARE: f64 = 0.0005;

/// What a start asked in vain leaves of the chance of others with the same first character, while none was found.
const IN_VAIN: f64 = 0.7;

/// A second character never met counts as half a name.
const UNMET: f64 = 0.5;

/// How much the starts of words inside names tell of the starts of names.
const WORDS_SHARE: f64 = 0.3;

/// Words inside names after which two letters that never opened one are taken for rarer than the letters say.
const MANY_WORDS: f64 = 20_000.0;

/// Fictitious names for each other name, while nothing is known of them; and where there is no other name.
const FICTITIOUS_SHARE: f64 = 0.1;
const FICTITIOUS_ALONE: f64 = 0.02;

/// What names have told so far.
#[derive(Debug, Clone, Default)]
pub struct Alphabet {
    /// Names by start: of all types but fictitious, and of fictitious names.
    names: [BTreeMap<Start, u64>; 2],
    /// Characters that names hold anywhere.
    letters: BTreeSet<char>,
    /// Starts of words inside names.
    words: BTreeMap<Start, u64>,
    words_seen: u64,
}

/// A start and the rows that may be expected under it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guess {
    /// The start.
    pub start: Start,
    /// Whether fictitious names are meant.
    pub is_fictitious: bool,
    /// Rows expected.
    pub rows: f64,
}

/// The first two characters of a name, upper case; none for a name of one.
pub fn start_of(name: &str) -> Option<Start> {
    let mut letters = name.chars().map(upper);
    Some([letters.next()?, letters.next()?])
}

/// A start as it is asked for.
pub fn text(start: Start) -> String {
    start.iter().collect()
}

/// Upper case where that is one character.
fn upper(letter: char) -> char {
    let mut folded = letter.to_uppercase();
    match (folded.next(), folded.next()) {
        (Some(one), None) => one,
        _ => letter,
    }
}

impl Alphabet {
    /// Counts the name of a row in.
    pub fn note_start(&mut self, name: &str, is_fictitious: bool) {
        if let Some(start) = start_of(name) {
            *self.names[usize::from(is_fictitious)].entry(start).or_default() += 1;
        }
    }

    /// How many rows a start has been found to have.
    pub fn settle(&mut self, start: Start, is_fictitious: bool, rows: u64) {
        self.names[usize::from(is_fictitious)].insert(start, rows);
    }

    /// Learns the characters of a name, and how its words begin.
    pub fn note_letters(&mut self, name: &str) {
        let mut before = ' ';
        let mut letters = name.chars().map(upper).filter(|letter| !letter.is_control()).peekable();
        while let Some(letter) = letters.next() {
            if !self.letters.contains(&letter) {
                self.letters.insert(letter);
            }
            if before == ' '
                && let Some(next) = letters.peek()
            {
                *self.words.entry([letter, *next]).or_default() += 1;
                self.words_seen += 1;
            }
            before = letter;
        }
    }

    /// Every start not asked for yet, the likeliest first; `total` is how many businesses there are. A `thorough` guess
    /// does not take a start for rare because no word begins with it.
    pub fn guesses(&self, total: u64, thorough: bool, is_asked: &dyn Fn(Start, bool) -> bool) -> Vec<Guess> {
        let places = self.places(total as f64);
        let usual = [USUAL_FIRST, USUAL_SECOND[0], ODD_FIRST].into_iter().flat_map(str::chars);
        let letters: BTreeSet<char> = self.letters.iter().copied().chain(usual).collect();
        let mut guesses = Vec::new();
        for one in letters.iter().filter(|letter| **letter != ' ') {
            for other in &letters {
                let start = [*one, *other];
                let rarity = if thorough { 1.0 } else { self.rarity(start) };
                let share = places.share(start) * rarity + WORDS_SHARE * self.words_share(start);
                let model = total as f64 * share;
                for is_fictitious in [false, true].into_iter().filter(|kind| !is_asked(start, *kind)) {
                    let rows = self.expected(start, is_fictitious, model);
                    guesses.push(Guess { start, is_fictitious, rows });
                }
            }
        }
        // A stable sort keeps the order of characters among equals.
        guesses.sort_by(|one, other| other.rows.total_cmp(&one.rows));
        guesses
    }

    fn expected(&self, start: Start, is_fictitious: bool, model: f64) -> f64 {
        let known = |kind: usize| self.names[kind].get(&start).map(|rows| *rows as f64);
        match (is_fictitious, known(usize::from(is_fictitious)), known(0)) {
            (_, Some(rows), _) if rows > 0.0 => rows,
            (true, _, Some(0.0)) => FICTITIOUS_ALONE * model,
            (true, _, others) => FICTITIOUS_SHARE * others.unwrap_or(model),
            (false, ..) => model,
        }
    }

    /// How much rarer a start is than its two characters say, as the words inside names tell; these begin with letters.
    fn rarity(&self, start: Start) -> f64 {
        if class(start[0]) != 0 || self.words.contains_key(&start) {
            return 1.0;
        }
        (MANY_WORDS / self.words_seen.max(1) as f64).min(1.0)
    }

    fn words_share(&self, start: Start) -> f64 {
        let words = self.words.get(&start).copied().unwrap_or(0);
        words as f64 / self.words_seen.max(1) as f64
    }

    fn places(&self, total: f64) -> Places {
        let mut places = Places::usual(total);
        for (start, rows) in self.names.iter().flatten() {
            places.add(*start, *rows as f64);
        }
        places
    }
}

/// How often each character stands first, and how often second after a letter, a digit, anything else.
struct Places {
    first: Counts,
    second: [Counts; 3],
    /// Starts asked in vain, by first character.
    in_vain: BTreeMap<char, i32>,
    /// Names that a first character never met stands for.
    unmet: f64,
}

impl Places {
    fn usual(total: f64) -> Self {
        Self {
            first: Counts::usual(USUAL_FIRST, (total * USUAL_SHARE).max(USUAL_NAMES)),
            second: USUAL_SECOND.map(|letters| Counts::usual(letters, USUAL_NAMES)),
            in_vain: BTreeMap::new(),
            unmet: (total * UNMET_SHARE).max(UNMET),
        }
    }

    fn add(&mut self, [one, other]: Start, names: f64) {
        if names > 0.0 {
            self.first.add(one, names);
            self.second[class(one)].add(other, names);
        } else {
            *self.in_vain.entry(one).or_default() += 1;
        }
    }

    fn share(&self, [one, other]: Start) -> f64 {
        let second = self.second[class(one)].share(other, UNMET);
        let first = self.first.share(one, self.unmet);
        let vain = self.in_vain.get(&one).filter(|_| !self.first.is_found(one));
        first * second * vain.map_or(1.0, |times| IN_VAIN.powi(*times))
    }
}

fn class(letter: char) -> usize {
    match letter {
        _ if letter.is_alphabetic() => 0,
        _ if letter.is_numeric() => 1,
        _ => 2,
    }
}

/// Names by the character in one place.
struct Counts {
    usual: BTreeMap<char, f64>,
    found: BTreeMap<char, f64>,
    all: f64,
}

impl Counts {
    fn usual(letters: &str, names: f64) -> Self {
        let weight = |rank: usize| 1.0 / (rank + 3) as f64;
        let weights: f64 = (0..letters.chars().count()).map(weight).sum();
        let usual =
            letters.chars().enumerate().map(|(rank, letter)| (letter, names * weight(rank) / weights));
        Self { usual: usual.collect(), found: BTreeMap::new(), all: names }
    }

    fn add(&mut self, letter: char, names: f64) {
        *self.found.entry(letter).or_default() += names;
        self.all += names;
    }

    fn is_found(&self, letter: char) -> bool {
        self.found.contains_key(&letter)
    }

    fn share(&self, letter: char, unmet: f64) -> f64 {
        let usual = self.usual.get(&letter).copied().unwrap_or(unmet);
        (usual + self.found.get(&letter).copied().unwrap_or(0.0)) / self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(alphabet: &Alphabet, total: u64) -> Vec<String> {
        let guesses = alphabet.guesses(total, false, &|_, is_fictitious| is_fictitious);
        guesses.iter().map(|guess| text(guess.start)).collect()
    }

    #[test]
    fn known_starts_come_first_and_then_what_their_letters_suggest() {
        let mut alphabet = Alphabet::default();
        for name in ["SUN LLC", "SUNNY", "QUAY INC", "SARA", "TALL", "Ñandú"] {
            for _ in 0..1_000 {
                alphabet.note_start(name, false);
                alphabet.note_letters(name);
            }
        }
        let order = order(&alphabet, 6_000);
        assert_eq!(order[0], "SU");
        let place = |start: &str| order.iter().position(|known| known == start).expect("a guess");
        assert!(["QU", "SA", "TA", "ÑA"].iter().all(|known| place(known) < 5), "{:?}", &order[..8]);
        assert!(place("TU") < place("TZ") && place("QA") < place("XQ"), "{:?}", &order[..20]);
        assert!(!order.iter().any(|start| start.starts_with(' ')));
    }

    #[test]
    fn without_any_name_every_usual_start_is_guessed_once() {
        let order = order(&Alphabet::default(), 1_000);
        let distinct: BTreeSet<&String> = order.iter().collect();
        assert_eq!(distinct.len(), order.len());
        for start in ["AA", "ZZ", "A ", "1S", "9'"] {
            assert!(distinct.contains(&start.to_owned()), "{start}");
        }
        assert_eq!(&order[0], "AA");
    }

    #[test]
    fn what_was_asked_is_not_guessed_again_and_a_count_found_replaces_one_noted() {
        let mut alphabet = Alphabet::default();
        alphabet.note_start("SUN", false);
        alphabet.settle(['S', 'U'], false, 70);
        let rows = |alphabet: &Alphabet, kind: bool| {
            let guesses = alphabet.guesses(100, false, &|start, _| start == ['T', 'H']);
            assert!(guesses.iter().all(|guess| guess.start != ['T', 'H']));
            guesses.iter().find(|g| g.start == ['S', 'U'] && g.is_fictitious == kind).map(|guess| guess.rows)
        };
        assert_eq!((rows(&alphabet, false), rows(&alphabet, true)), (Some(70.0), Some(7.0)));
    }

    #[test]
    fn a_start_is_two_characters_in_upper_case() {
        assert_eq!(start_of("ñandú").map(text), Some("ÑA".to_owned()));
        assert_eq!(start_of("ßa").map(text), Some("ßA".to_owned()));
        assert_eq!((start_of("A"), start_of("")), (None, None));
    }
}
