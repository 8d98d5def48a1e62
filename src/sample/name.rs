//! Names of businesses: head, tail and ending. No two businesses of the same two years share head and tail.

use super::chance::{Draw, Permutation, Purpose};
use super::series::Series;
use super::{industry, person};
use crate::contract::reference::EntityType;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Single words that any name may contain.
static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("words.txt").split_whitespace().collect());
static HEADS: LazyLock<Vec<String>> = LazyLock::new(heads);
static TAILS: LazyLock<Vec<Tail>> = LazyLock::new(tails);

/// Numbers that begin a name.
const NUMBERS: [&str; 59] = [
    "1", "2", "3", "4", "5", "7", "9", "11", "18", "20/20", "22", "23", "28", "36", "40", "42", "44", "77",
    "88", "100", "111", "123", "222", "401K", "4TH", "6TH", "1ST", "2ND", "3D", "3RD", "4EVER", "4U", "5TH",
    "7TH", "8TH", "10X", "12TH", "13TH", "17TH", "21ST", "24K", "24/7", "30A", "33", "50/50", "101", "108",
    "305", "321", "352", "360", "365", "407", "561", "727", "786", "813", "850", "954",
];

/// A phrase and the industry that it implies; or a word that implies nothing, and that a phrase follows.
type Tail = (Option<&'static str>, &'static str);

fn heads() -> Vec<String> {
    let initials = ('A'..='Z').flat_map(|first| {
        "ACDJLMRST".chars().map(move |second| match (first as u8 + second as u8) % 3 {
            0 => format!("{first}&{second}"),
            1 => format!("{first} & {second}"),
            _ => format!("{first}{second}"),
        })
    });
    let words = WORDS.iter().chain(&*person::SURNAMES).chain(&*person::GIVEN_NAMES).chain(&NUMBERS);
    let mut known = BTreeSet::new();
    words.map(|word| (*word).to_owned()).chain(initials).filter(|head| known.insert(head.clone())).collect()
}

fn tails() -> Vec<Tail> {
    let mut known: BTreeSet<&str> = WORDS.iter().copied().collect();
    let words = WORDS.iter().map(|word| (None, *word));
    let phrases = industry::phrases().filter(|(_, phrase)| known.insert(phrase));
    words.chain(phrases.map(|(industry, phrase)| (Some(industry), phrase))).collect()
}

#[derive(Debug)]
pub(super) struct Names {
    seed: u64,
    order: Permutation,
}

/// A name and the industry it implies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) name: String,
    /// `<sector>.<type_name>`.
    pub(super) industry: &'static str,
}

impl Names {
    pub(super) fn new(seed: u64) -> Self {
        let pairs = HEADS.len() as u64 * TAILS.len() as u64;
        Self { seed, order: Permutation::new(pairs, &mut Draw::of(seed, Purpose::NameOrder, 0)) }
    }

    /// The name of a business; ids less than two million apart never share head and tail.
    pub(super) fn name(&self, id: u64, series: &Series) -> Named {
        let pair = self.order.at(id);
        let tails = TAILS.len() as u64;
        let head = HEADS.get((pair / tails) as usize).map_or("FLORIDA", String::as_str);
        let mut draw = Draw::of(self.seed, Purpose::Name, id);
        let (body, industry) = match TAILS.get((pair % tails) as usize) {
            Some((Some(industry), phrase)) if implies_trade(series.entity_type) => {
                (format!("{head} {phrase}"), *industry)
            }
            Some((_, tail)) => led_by(head, tail, series, &mut draw),
            None => (head.to_owned(), industry::GENERAL),
        };
        Named { name: finished(body, series, &mut draw), industry }
    }
}

/// Whether names of this type imply the trade of a company.
fn implies_trade(kind: EntityType) -> bool {
    matches!(kind, EntityType::Llc | EntityType::Corporation | EntityType::Fictitious)
}

/// Endings of partnerships.
const FUNDS: [&str; 7] =
    ["PARTNERS", "INVESTORS", "HOLDINGS", "FUND I", "FUND II", "REAL ESTATE FUND", "CAPITAL PARTNERS"];

fn led_by(head: &str, tail: &str, series: &Series, draw: &mut Draw) -> (String, &'static str) {
    let (industry, phrase) = match series.entity_type {
        EntityType::Nonprofit => industry::implied_by(&industry::CAUSES, draw),
        EntityType::Trust => ("finance.investment", ""),
        EntityType::Partnership => ("finance.investment", draw.word(&FUNDS)),
        _ => industry::implied_by(&industry::TRADES, draw),
    };
    let root = rooted(head, tail, draw);
    (if phrase.is_empty() { root } else { format!("{root} {phrase}") }, industry)
}

/// Head and tail as one root.
fn rooted(head: &str, tail: &str, draw: &mut Draw) -> String {
    let joins = head.len() + tail.len() <= 11 && head.len() > 2 && !head.contains([' ', '&', '/']);
    match draw.below(1_000) {
        0..35 => format!("{head} & {tail}"),
        35..55 => format!("{head} AND {tail}"),
        55..75 if person::is_name(head) => format!("{head}'S {tail}"),
        75..83 => format!("{head}-{tail}"),
        83..165 if joins => format!("{head}{tail}"),
        _ => format!("{head} {tail}"),
    }
}

/// The name with its ending and with common irregularities.
fn finished(body: String, series: &Series, draw: &mut Draw) -> String {
    let ending = ending(series, draw);
    match draw.below(1_000) {
        0..24 => format!("THE {body}{ending}"),
        24..26 => format!("#1 {body}{ending}"),
        26..28 => format!("\"{body}\"{ending}"),
        28..31 => format!("{body} OF FLORIDA{ending}"),
        31..33 => format!("{body} (FL){ending}"),
        _ => format!("{body}{ending}"),
    }
}

fn ending(series: &Series, draw: &mut Draw) -> &'static str {
    let endings: &[(usize, &str)] = match (series.entity_type, series.company_type) {
        (EntityType::Llc, _) => &[
            (767, " LLC"),
            (960, ", LLC"),
            (970, " L.L.C."),
            (975, ", LLC."),
            (982, " PLLC"),
            (984, " LIMITED LIABILITY COMPANY"),
            (986, " LLC."),
            (999, ", L.L.C."),
            (1_000, " \"LLC\""),
        ],
        (EntityType::Corporation, _) => &[
            (350, " INC"),
            (550, " CORP"),
            (700, " INC."),
            (800, ", INC."),
            (880, ", INC"),
            (910, " CORP."),
            (920, " P.A."),
            (930, " PA"),
            (970, " CORPORATION"),
            (1_000, " INCORPORATED"),
        ],
        (EntityType::Nonprofit, _) => {
            &[(550, " INC"), (700, " INC."), (850, ", INC."), (940, " CORP"), (1_000, "")]
        }
        (EntityType::Partnership, "GP") => &[(600, ""), (800, " GP"), (1_000, " PARTNERSHIP")],
        (EntityType::Partnership, _) => &[(550, " LP"), (750, ", LP"), (900, ", LLLP"), (1_000, " LTD")],
        (EntityType::Trust, _) => &[(500, " TRUST"), (700, " LAND TRUST"), (1_000, " FAMILY TRUST")],
        (EntityType::Fictitious, _) => &[],
    };
    let at = draw.below(1_000);
    endings.iter().find(|(below, _)| at < *below).map_or("", |(_, ending)| ending)
}

#[cfg(test)]
mod tests {
    use super::super::series::SERIES;
    use super::*;

    fn llcs(count: u64) -> Vec<Named> {
        let names = Names::new(1);
        (50_000_000..50_000_000 + count).map(|id| names.name(id, &SERIES[0])).collect()
    }

    #[test]
    fn there_are_more_pairs_than_filings_of_two_years() {
        let pairs = HEADS.len() * TAILS.len();
        assert!(pairs > 2_000_000, "{} x {}", HEADS.len(), TAILS.len());
    }

    #[test]
    fn names_of_the_same_days_differ() {
        let names = llcs(100_000);
        let distinct: BTreeSet<&str> = names.iter().map(|named| named.name.as_str()).collect();
        assert_eq!(distinct.len(), names.len());
    }

    #[test]
    fn names_look_like_filed_ones() {
        let names = llcs(20_000);
        let share = |test: &dyn Fn(&Named) -> bool| {
            names.iter().filter(|named| test(named)).count() as f64 / names.len() as f64
        };
        assert!(names.iter().all(|named| named.name.is_ascii() && named.name == named.name.to_uppercase()));
        assert!(
            (0.75..0.79)
                .contains(&share(&|named| named.name.ends_with(" LLC") && !named.name.ends_with(", LLC")))
        );
        let plain = share(&|named| named.industry == industry::GENERAL);
        assert!((0.54..0.60).contains(&plain), "{plain}");
        let digit = share(&|named| named.name.starts_with(|first: char| first.is_ascii_digit()));
        assert!((0.015..0.035).contains(&digit), "{digit}");
        let mut lengths: Vec<usize> = names.iter().map(|named| named.name.len()).collect();
        lengths.sort_unstable();
        assert!((20..=27).contains(&lengths[10_000]), "{}", lengths[10_000]);
    }

    #[test]
    fn few_names_share_their_first_two_letters() {
        let mut openings = std::collections::BTreeMap::new();
        for named in llcs(20_000) {
            *openings.entry(named.name[..2].to_owned()).or_insert(0) += 1;
        }
        let largest = openings.values().max().copied().unwrap_or(0);
        assert!((200..=900).contains(&largest), "{largest}");
    }
}
