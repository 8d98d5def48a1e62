//! Functions of texts, by characters.

use super::value::Cell;

/// In capitals, character by character.
pub(super) fn upper<'a>(of: &Cell<'_>) -> Cell<'a> {
    let one = |letter: char| {
        let mut upper = letter.to_uppercase();
        match (upper.next(), upper.next()) {
            (Some(upper), None) => upper,
            _ => one_capital(letter).unwrap_or(letter),
        }
    };
    Cell::text(of.str().chars().map(one).collect::<String>())
}

/// The one capital of a letter that has two as a text: `ß` and Greek letters with a small iota below.
fn one_capital(letter: char) -> Option<char> {
    let near = [8, 9].into_iter().filter_map(|step| char::from_u32(u32::from(letter) + step));
    near.chain(['ẞ']).find(|capital| capital.to_lowercase().eq([letter]))
}

pub(super) fn lower<'a>(of: &Cell<'_>) -> Cell<'a> {
    let one = |letter: char| letter.to_lowercase().next().unwrap_or(letter);
    Cell::text(of.str().chars().map(one).collect::<String>())
}

/// The blanks of Unicode, without those that end a line or a cell.
const BLANKS: &str = " \u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\u{2003}\u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200a}\u{202f}\u{205f}\u{3000}";

/// Without blanks, or without these characters, at its ends.
pub(super) fn trim<'a>(of: &[Cell<'a>], at_start: bool, at_end: bool) -> Cell<'a> {
    let chars: Vec<char> = of.get(1).map_or(BLANKS, |chars| chars.str()).chars().collect();
    let mut text = of[0].str();
    if at_start {
        text = text.trim_start_matches(&chars[..]);
    }
    if at_end {
        text = text.trim_end_matches(&chars[..]);
    }
    Cell::text(text.to_owned())
}

/// Characters from a place on, counted from 1, or from the end if it is negative. A negative length takes those before. The places may be
/// outside of the text: those inside are taken.
pub(super) fn substring<'a>(of: &Cell<'_>, from: i64, length: Option<i64>) -> Cell<'a> {
    let size = of.str().chars().count() as i64;
    let (start, length) = match from {
        0 => (0, length.map(|length| length.saturating_sub(1).max(0))),
        1.. => (from - 1, length),
        _ => (size.saturating_add(from), length),
    };
    let other = length.map_or(size, |length| start.saturating_add(length));
    let [first, end] = [start.min(other), start.max(other)].map(|place| place.clamp(0, size) as usize);
    Cell::text(of.str().chars().skip(first).take(end - first).collect::<String>())
}

/// The first characters; without the last ones if the number is negative.
pub(super) fn left<'a>(of: &Cell<'_>, count: i64) -> Cell<'a> {
    let size = of.str().chars().count() as i64;
    let count = if count < 0 { (size + count).max(0) } else { count };
    substring(of, 1, Some(count))
}

/// The last characters; without the first ones if the number is negative.
pub(super) fn right<'a>(of: &Cell<'_>, count: i64) -> Cell<'a> {
    let size = of.str().chars().count() as i64;
    let count = if count < 0 { (size + count).max(0) } else { count.min(size) };
    substring(of, size - count + 1, Some(count))
}

pub(super) fn reverse<'a>(of: &Cell<'_>) -> Result<Cell<'a>, String> {
    if of.str().is_ascii() {
        Ok(Cell::text(of.str().chars().rev().collect::<String>()))
    } else {
        // Programs reverse what is seen as one letter, which may be several characters.
        Err("only ASCII is reversed".to_owned())
    }
}

/// A part between separators, counted from 1, or from the end if it is negative.
pub(super) fn split_part<'a>(of: &[Cell<'_>]) -> Result<Cell<'a>, String> {
    let (text, by, at) = (of[0].str(), of[1].str(), of[2].int());
    if by.is_empty() || at == 0 {
        return Err("split_part needs a separator and a place other than 0".to_owned());
    }
    // Separators are found from the start, whatever the end that is counted from.
    let parts: Vec<&str> = text.split(by).collect();
    let place = if at > 0 { at - 1 } else { at.saturating_add(parts.len() as i64) };
    let part = usize::try_from(place).ok().and_then(|place| parts.get(place));
    Ok(Cell::text(part.copied().unwrap_or_default().to_owned()))
}

/// At this many characters, filled with a text or cut.
pub(super) fn pad<'a>(of: &[Cell<'_>], at_start: bool) -> Result<Cell<'a>, String> {
    let (text, wanted, fill) = (of[0].str(), of[1].int().clamp(0, 1 << 20) as usize, of[2].str());
    let size = text.chars().count();
    if size < wanted && fill.is_empty() {
        return Err("a text is padded with nothing".to_owned());
    }
    let cut: String = text.chars().take(wanted).collect();
    let filling: String = fill.chars().cycle().take(wanted.saturating_sub(size)).collect();
    Ok(Cell::text(if at_start { filling + &cut } else { cut + &filling }))
}

/// Whether a text has a pattern: `%` is any characters, `_` is one; after the escape character both are themselves.
pub(super) fn is_like(text: &str, pattern: &str, escape: &str) -> Result<bool, String> {
    let mut escape = escape.chars();
    let (escape, None) = (escape.next(), escape.next()) else {
        return Err("ESCAPE is more than one character: use one, such as ESCAPE '!'".to_owned());
    };
    let mut steps = Vec::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        steps.push(match letter {
            letter if Some(letter) == escape => {
                Step::Letter(letters.next().ok_or("a pattern ends with its escape character")?)
            }
            '%' => Step::Any,
            '_' => Step::One,
            letter => Step::Letter(letter),
        });
    }
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut step, mut retry) = (0, 0, None);
    while at < text.len() {
        match steps.get(step) {
            Some(Step::Any) => {
                retry = Some((at, step));
                step += 1;
                continue;
            }
            Some(Step::One) => {}
            Some(Step::Letter(letter)) if *letter == text[at] => {}
            _ => match retry {
                Some((from, any)) => {
                    retry = Some((from + 1, any));
                    (at, step) = (from + 1, any + 1);
                    continue;
                }
                None => return Ok(false),
            },
        }
        (at, step) = (at + 1, step + 1);
    }
    Ok(steps[step..].iter().all(|step| matches!(step, Step::Any)))
}

enum Step {
    Any,
    One,
    Letter(char),
}
