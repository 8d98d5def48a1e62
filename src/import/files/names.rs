//! What a file's name says: its kind, its day, its set, and whether it only resembles a file of the state.
//!
//! Names are compared without case. A quarterly set is the quarterly files of one folder. Archives, folders that are named after the
//! state's files, and `cor`, `fic`, `gen` and `events` are part of the set of the folder that they are in.

use super::layout::Kind;
use jiff::civil::Date;

/// Names of quarterly files, without the digit and the ending; the first of a kind is the usual one.
const QUARTERLY: [(&str, Kind); 8] = [
    ("cordata", Kind::Corporate),
    ("corevt", Kind::CorporateEvent),
    ("corevent", Kind::CorporateEvent),
    ("corevet", Kind::CorporateEvent),
    ("ficdata", Kind::Fictitious),
    ("ficevt", Kind::FictitiousEvent),
    ("genfile", Kind::Partnership),
    ("genevt", Kind::PartnershipEvent),
];

/// Letters of daily files, after the day.
const DAILY: [(&str, Kind); 7] = [
    ("c", Kind::Corporate),
    ("ce", Kind::CorporateEvent),
    ("f", Kind::Fictitious),
    ("fn", Kind::Fictitious),
    ("fe", Kind::FictitiousEvent),
    ("g", Kind::Partnership),
    ("ge", Kind::PartnershipEvent),
];

/// Folders of the state's server that are part of a set.
const INSIDE: [&str; 5] = ["cor", "fic", "gen", "events", "."];

/// Kind and day of a file by the last part of its name; the day of a quarterly file is none.
pub fn kind_of(name: &str) -> Option<(Kind, Option<Date>)> {
    let base = base_of(name);
    kind_of_stem(without_copy_mark(base.strip_suffix(".txt")?))
}

fn kind_of_stem(stem: &str) -> Option<(Kind, Option<Date>)> {
    if let Some(daily) = daily(stem) {
        return Some(daily);
    }
    let stem = stem.strip_suffix(|last: char| last.is_ascii_digit()).unwrap_or(stem);
    QUARTERLY.iter().find(|(name, _)| *name == stem).map(|(_, kind)| (*kind, None))
}

/// The usual name of a quarterly file.
pub fn name_in_set(kind: Kind, part: Option<u8>) -> String {
    let stem = QUARTERLY.iter().find(|(_, known)| *known == kind).map_or("", |(stem, _)| stem);
    format!("{stem}{}.txt", part.map(|part| part.to_string()).unwrap_or_default())
}

/// Kind and day of `YYYYMMDDc` and the like.
fn daily(stem: &str) -> Option<(Kind, Option<Date>)> {
    let (digits, letters) = split_day(stem)?;
    let (_, kind) = *DAILY.iter().find(|(known, _)| *known == letters)?;
    let number = |from: usize, to: usize| digits[from..to].parse().ok();
    let day = Date::new(number(0, 4)?, number(4, 6)? as i8, number(6, 8)? as i8).ok()?;
    Some((kind, Some(day)))
}

/// The eight digits of a day that a name begins with, and the rest.
fn split_day(stem: &str) -> Option<(&str, &str)> {
    stem.split_at_checked(8).filter(|(digits, _)| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The last digit of a quarterly file of corporations, which is that of its document numbers.
pub fn part_of_set(name: &str) -> Option<u8> {
    let base = base_of(name);
    let stem = without_copy_mark(base.strip_suffix(".txt")?);
    stem.bytes().last().filter(u8::is_ascii_digit).map(|digit| digit - b'0')
}

fn base_of(name: &str) -> String {
    name.rsplit('/').next().unwrap_or_default().trim().to_lowercase()
}

/// A name without what a browser, a file manager or an archiver adds to a second copy: ` (1)`, ` 2`, ` copy`, ` - Copy (2)`.
fn without_copy_mark(stem: &str) -> &str {
    let mut stem = stem.trim_end();
    loop {
        let number = stem.trim_end_matches(|last: char| last.is_ascii_digit());
        let in_brackets =
            stem.strip_suffix(')').map(|rest| rest.trim_end_matches(|last: char| last.is_ascii_digit()));
        let shorter = in_brackets
            .and_then(|rest| rest.strip_suffix('('))
            .or_else(|| number.strip_suffix(' ').filter(|_| number.len() < stem.len()))
            .or_else(|| stem.strip_suffix("copy").filter(|rest| rest.ends_with([' ', '-', '_'])));
        match shorter {
            Some(shorter) => stem = shorter.trim_end_matches([' ', '-', '_']),
            None => return stem,
        }
    }
}

/// Whether a folder or an archive has a set's files, and does not name the set.
fn is_inside(part: &str) -> bool {
    let part = part.to_lowercase();
    let part = without_copy_mark(&part);
    let stem = part.strip_suffix(".zip").or_else(|| part.strip_suffix(".txt")).unwrap_or(part);
    part.ends_with(".zip") || INSIDE.contains(&stem) || kind_of_stem(without_copy_mark(stem)).is_some()
}

/// The folder of the set of a quarterly file; empty for a daily file.
pub fn set_of(name: &str, day: Option<Date>) -> String {
    if day.is_some() {
        return String::new();
    }
    let mut parts: Vec<&str> = name.split('/').collect();
    parts.pop();
    // Folders of an archive are its own matter.
    let is_archive = |part: &&str| part.to_lowercase().ends_with(".zip");
    if let Some(archive) = parts.iter().position(is_archive) {
        parts.truncate(archive);
    }
    while parts.last().is_some_and(|last| is_inside(last)) {
        parts.pop();
    }
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// Whether a file is what systems add to folders and archives, or a set that repeats records of another.
pub fn is_litter(name: &str) -> bool {
    let base = base_of(name);
    let is_of_system = |part: &str| part == "__MACOSX" || part.starts_with("._");
    name.split('/').any(is_of_system)
        || ["thumbs.db", "desktop.ini"].contains(&&*base)
        || base.starts_with(['.', '~'])
}

/// Whether a name resembles one of the state's files, such as `cordata3.txt.part` or `20261014c.gz`.
pub fn resembles(name: &str) -> bool {
    let base = base_of(name);
    if is_litter(name) || base.starts_with("npcordata") {
        return false;
    }
    let is_daily = |(_, rest): (&str, &str)| {
        let letters = rest.split(|letter: char| !letter.is_ascii_lowercase()).next().unwrap_or_default();
        DAILY.iter().any(|(known, _)| *known == letters)
    };
    QUARTERLY.iter().any(|(stem, _)| base.contains(stem)) || split_day(&base).is_some_and(is_daily)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn names_give_kind_day_and_set() {
        let day = Some(date(2026, 10, 12));
        for (name, expected) in [
            ("doc/cor/20261012c.txt", Some((Kind::Corporate, day))),
            ("doc/cor/events/20261012CE.TXT", Some((Kind::CorporateEvent, day))),
            ("20261012fn.txt", Some((Kind::Fictitious, day))),
            ("20261012c (1).txt", Some((Kind::Corporate, day))),
            ("20261012ce - Copy (2).txt", Some((Kind::CorporateEvent, day))),
            ("a/cordata.zip/cordata7.txt", Some((Kind::Corporate, None))),
            ("a/cordata7 2.txt", Some((Kind::Corporate, None))),
            ("a/corevt copy.txt", Some((Kind::CorporateEvent, None))),
            ("a/corevt.txt", Some((Kind::CorporateEvent, None))),
            ("a/20261332c.txt", None),
            ("a/npcordata.txt", None),
            ("a/README.TXT", None),
            ("a/+0261012c.txt", None),
        ] {
            assert_eq!(kind_of(name), expected, "{name}");
        }
        for (name, set) in [
            ("doc/quarterly/cor/cordata.zip/cordata7.txt", "doc/quarterly"),
            ("doc/quarterly/cor/cordata (1).zip/cordata/cordata7.txt", "doc/quarterly"),
            ("doc/quarterly/cor/cordata/cordata7.txt", "doc/quarterly"),
            ("doc/Quarterly/Cor/corevt.txt", "doc/Quarterly"),
            ("cordata1.txt", "."),
            ("cordata1.txt/cordata1.txt", "."),
            ("2026q3/ficdata.txt", "2026q3"),
            ("2026q3/all.zip/state/ficdata.txt", "2026q3"),
        ] {
            assert_eq!(set_of(name, None), set, "{name}");
        }
        assert_eq!(["x/cordata7 (1).txt", "cordata.txt"].map(part_of_set), [Some(7), None]);
    }

    #[test]
    fn a_name_that_resembles_one_of_the_state_is_found_and_litter_is_not() {
        for name in
            ["cordata3.txt.part", "20261014c.gz", "a/20261014ce.txt.crdownload", "old-ficdata.7z", "CORDATA"]
        {
            assert!(resembles(name), "{name}");
        }
        for name in [
            "README.TXT",
            "__MACOSX/._cordata0.txt",
            "a/.DS_Store",
            "Thumbs.db",
            "npcordata.zip",
            "20261014.txt",
            ".cordata0.txt.swp",
        ] {
            assert!(!resembles(name), "{name}");
        }
    }
}
