//! Records and events in few bytes, for the spill between reading and merging.
//!
//! A record keeps its bytes: texts and runs of blanks by turns, each with its length. An event is stored field by field.

use super::event::StateEvent;
use crate::contract::eastern::{day_of_epoch, epoch_days};
use jiff::civil::Date;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Fewest blanks that are stored as their number, unless they end the record.
static RUN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("   "));
/// The number of no day.
const NO_DAY: i32 = i32::MIN;

/// Adds a record without its blanks.
pub fn pack_line(line: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < line.len() {
        let text = text_length(&line[at..]);
        let blanks = blanks_of(&line[at + text..]);
        put_length(text, out);
        out.extend_from_slice(&line[at..at + text]);
        put_length(blanks, out);
        at += text + blanks;
    }
}

/// Bytes before the next run of blanks.
fn text_length(line: &[u8]) -> usize {
    let at_end = || line.iter().rev().take_while(|byte| **byte == b' ').count();
    RUN.find(line).unwrap_or_else(|| line.len() - at_end())
}

/// Blanks before the next text.
fn blanks_of(line: &[u8]) -> usize {
    let mut rest = line;
    while let Some((first, after)) = rest.split_first_chunk::<16>()
        && *first == [b' '; 16]
    {
        rest = after;
    }
    line.len() - rest.len() + rest.iter().take_while(|byte| **byte == b' ').count()
}

/// The record that [`pack_line`] packed, in `line`.
pub fn unpack_line(mut packed: &[u8], line: &mut Vec<u8>) {
    line.clear();
    while !packed.is_empty() {
        let text = take_length(&mut packed).min(packed.len());
        line.extend_from_slice(&packed[..text]);
        packed = &packed[text..];
        let blanks = take_length(&mut packed);
        line.resize(line.len() + blanks, b' ');
    }
}

fn put_length(length: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
}

fn take_length(packed: &mut &[u8]) -> usize {
    let Some((length, rest)) = packed.split_first_chunk::<2>() else { return 0 };
    *packed = rest;
    usize::from(u16::from_le_bytes(*length))
}

/// Adds an event.
pub fn pack_event(event: &StateEvent, out: &mut Vec<u8>) {
    for day in [event.effective, event.filed] {
        out.extend_from_slice(&day.map_or(NO_DAY, epoch_days).to_le_bytes());
    }
    out.extend_from_slice(&event.sequence.to_le_bytes());
    out.push(u8::from(event.renames));
    for text in texts(event) {
        put_length(text.len(), out);
        out.extend_from_slice(text.as_bytes());
    }
}

fn texts(event: &StateEvent) -> impl Iterator<Item = &String> {
    let named = [&event.code, &event.description, &event.name, &event.county];
    named.into_iter().chain(&event.notes).chain(&event.address)
}

/// The event that [`pack_event`] packed.
pub fn unpack_event(mut packed: &[u8]) -> StateEvent {
    let mut number = || {
        let Some((bytes, rest)) = packed.split_first_chunk::<4>() else { return 0 };
        packed = rest;
        i32::from_le_bytes(*bytes)
    };
    let day = |number: i32| -> Option<Date> { if number == NO_DAY { None } else { day_of_epoch(number) } };
    let (effective, filed, sequence) = (day(number()), day(number()), number());
    let renames = packed.first() == Some(&1);
    packed = packed.get(1..).unwrap_or_default();
    let mut text = || {
        let length = take_length(&mut packed).min(packed.len());
        let (text, rest) = packed.split_at(length);
        packed = rest;
        String::from_utf8_lossy(text).into_owned()
    };
    let [code, description, name, county] = std::array::from_fn(|_| text());
    let notes = std::array::from_fn(|_| text());
    let address = std::array::from_fn(|_| text());
    StateEvent { code, description, sequence, effective, filed, notes, name, renames, address, county }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packed_line_is_the_line(words in prop::collection::vec(("[A-Z ]{0,9}", 0_usize..900), 0..9)) {
            let line: String = words.iter().map(|(word, blanks)| format!("{word}{:blanks$}", "")).collect();
            let (mut packed, mut again) = (Vec::new(), vec![1, 2]);
            pack_line(line.as_bytes(), &mut packed);
            unpack_line(&packed, &mut again);
            prop_assert_eq!(again, line.as_bytes());
        }
    }

    #[test]
    fn a_packed_event_is_the_event() {
        let event = StateEvent {
            code: "CORAPMER".to_owned(),
            sequence: 17,
            filed: Some(jiff::civil::date(1931, 2, 3)),
            notes: [String::new(), "L26000000001".to_owned(), "É".to_owned()],
            renames: true,
            county: "ORANGE".to_owned(),
            ..StateEvent::default()
        };
        let mut packed = Vec::new();
        pack_event(&event, &mut packed);
        assert_eq!(unpack_event(&packed), event);
    }
}
