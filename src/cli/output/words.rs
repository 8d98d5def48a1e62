//! Results on stdout, and what their text is made of: numbers with their nouns, lists, and several lines.

use crate::cli::exit::CommandError;
use crate::contract::escape::{escaped, escaped_json};
use crate::contract::listing::Listing;
pub(crate) use crate::export::described::text_of as lines;
pub(crate) use crate::report::count as number;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::time::Duration;

/// Prints to stdout; what steers a terminal is written out. A reader that closed the pipe is no error.
pub(crate) fn print(text: &str) -> Result<(), CommandError> {
    print_bytes(escaped(text, &['\n', '\t']).as_bytes())
}

/// As [`print()`], of bytes.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), CommandError> {
    match write_out(bytes) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(source) => Err(CommandError::Io("cannot write to stdout".to_owned(), source)),
        Ok(()) => Ok(()),
    }
}

fn write_out(bytes: &[u8]) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush())
}

/// Prints what is shown only this once: it is an error if nobody can read it.
pub(crate) fn print_secret(text: &str) -> Result<(), CommandError> {
    write_out(text.as_bytes()).map_err(|source| CommandError::Io("cannot write to stdout".to_owned(), source))
}

/// Fails if what is printed goes nowhere. A program that begins with stdout closed has /dev/null in its place.
pub(crate) fn check_stdout() -> Result<(), CommandError> {
    let stdout = std::io::stdout().as_fd().try_clone_to_owned();
    let stdout = stdout.and_then(|stdout| File::from(stdout).metadata());
    match (stdout, std::fs::metadata("/dev/null")) {
        (Ok(stdout), Ok(null)) if stdout.file_type().is_char_device() && stdout.rdev() == null.rdev() => {
            let closed = std::io::Error::other("it is closed, or /dev/null");
            Err(CommandError::Io("cannot write to stdout".to_owned(), closed))
        }
        _ => Ok(()),
    }
}

/// Prints one line of JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CommandError> {
    let json = serde_json::to_string(value).map_err(|error| CommandError::Bug(error.to_string()))?;
    print_bytes(format!("{}\n", escaped_json(&json)).as_bytes())
}

/// Columns that the label of a line takes on the screens of `run` and `status`.
const LABEL: usize = 11;

/// A screen for a terminal of this width: longer lines are continued under their text. Commands and paths stay in one piece, to be
/// copied.
pub(crate) fn folded(screen: &str, width: usize) -> String {
    let is_foldable = |line: &str| {
        let mut chars = line.chars().skip(LABEL - 1);
        chars.next() == Some(' ') && chars.next().is_some_and(|c| c != ' ') && !line.contains("sunlake ")
    };
    screen
        .split_inclusive('\n')
        .map(|line| if is_foldable(line) { folded_line(line, width) } else { line.to_owned() })
        .collect()
}

/// A line in pieces, broken after a semicolon, else at a blank.
fn folded_line(line: &str, width: usize) -> String {
    let mut done = String::new();
    let mut rest = line.to_owned();
    while rest.trim_end().chars().count() > width {
        let end = rest.char_indices().nth(width).map_or(rest.len(), |(at, _)| at);
        let last = |mark: &str| rest[..end].rfind(mark).map(|at| at + mark.len()).filter(|at| *at > LABEL);
        let Some(at) = last("; ").or_else(|| last(", ")).or_else(|| last(" ")) else { break };
        done.push_str(rest[..at].trim_end());
        done.push('\n');
        rest = format!("{:LABEL$}{}", "", &rest[at..]);
    }
    done + &rest
}

/// A duration for people: `0.8 s`, `150 s`, `12 min`, `3 h 20 min`. From ten seconds on, a part that has begun counts.
pub(crate) fn duration(time: Duration) -> String {
    let secs = time.as_secs_f64();
    let minutes = (secs / 60.0).ceil() as u64;
    match secs {
        ..9.95 => format!("{secs:.1} s"),
        ..180.0 => format!("{:.0} s", secs.ceil()),
        ..6_000.0 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// A number with its noun, such as `2 files`.
pub(crate) fn count(number: u64, singular: &str) -> String {
    format!("{} {}", self::number(number), noun(number, singular))
}

/// The singular or the plural of a noun.
pub(crate) fn noun(number: u64, singular: &str) -> String {
    if number == 1 { singular.to_owned() } else { format!("{singular}s") }
}

/// Snapshots by number, such as `snapshots 1, 2`.
pub(crate) fn snapshots(numbers: &[u64]) -> String {
    let list = numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    format!("{} {list}", noun(numbers.len() as u64, "snapshot"))
}

/// A number of prefixes.
pub(crate) fn prefixes(number: u64) -> String {
    if number == 1 { "1 prefix".to_owned() } else { format!("{} prefixes", self::number(number)) }
}

/// The complete days of a window, and what counts: fictitious names, which are a listing of their own, or some types alone.
pub(crate) fn complete_days<'l>(
    complete: u64,
    days: u64,
    listings: impl IntoIterator<Item = &'l str>,
) -> String {
    let listings: BTreeSet<&str> = listings.into_iter().collect();
    let has_names = listings.len() > 1 && listings.contains(Listing::FICTITIOUS.label());
    let of = match listings.contains(Listing::Untyped.label()) {
        true if has_names => ", fictitious names included".to_owned(),
        false if !listings.is_empty() => {
            format!(", of {}", listings.into_iter().map(Listing::name_of).collect::<Vec<_>>().join(" and "))
        }
        _ => String::new(),
    };
    format!("{} of {} complete{of}", number(complete), count(days, "day"))
}

/// A day of a listing.
pub(crate) fn day_of_listing(day: Date, label: &str) -> String {
    match Listing::from_label(label) {
        Some(Listing::Untyped) => format!("{day}"),
        _ => format!("{day} {label}"),
    }
}

/// How many counted businesses the lake lacks, after their number; nothing where none is missing or where that is unknown.
pub(crate) fn of_these_missing(missing: Option<i64>) -> String {
    match missing {
        Some(missing @ 1..) => format!(", {} of them not in the lake", number(missing.unsigned_abs())),
        Some(missing @ ..0) => format!(", {} fewer than the lake has", number(missing.unsigned_abs())),
        Some(0) | None => String::new(),
    }
}

/// The days that are not complete: how many were not read, with what was not read of them, and at most `most` of those read, with rows
/// found and expected.
pub(crate) fn open_days(
    text: &mut String,
    unread: &BTreeMap<Date, String>,
    read: &[(Date, &str, u64, u64)],
    most: usize,
) -> std::fmt::Result {
    let mut by_part: BTreeMap<&str, Vec<Date>> = BTreeMap::new();
    for (day, part) in unread {
        by_part.entry(part).or_default().push(*day);
    }
    for (part, days) in by_part {
        let of = if part.is_empty() { String::new() } else { format!("{part} of ") };
        let (days, newest) = (count(days.len() as u64, "day"), days[days.len() - 1]);
        writeln!(text, "           {of}{days} not read yet, the newest {newest}")?;
    }
    let more = read.len().saturating_sub(most);
    for (day, label, landed, expected) in read.iter().take(most) {
        let day = day_of_listing(*day, label);
        writeln!(text, "           {day}: {} of {} rows", number(*landed), number(*expected))?;
    }
    if more == 0 { Ok(()) } else { writeln!(text, "           and {} more", number(more as u64)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_continued_under_its_text_and_a_command_stays_in_one_piece() {
        let screen = "quota      4,985 requests left today, 49,985 this month; http://127.0.0.1:1, key 7f\n\
                      next       sunlake query \"SELECT name FROM filings\" --lake a/long/path/to/it --today 2026-11-20\n\
                      lake       output/a/very/long/path/without/a/blank/that/is/longer/than/the/terminal\n";
        let lines = |width| folded(screen, width).lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(folded(screen, 120), screen);
        assert_eq!(
            lines(60)[..2],
            [
                "quota      4,985 requests left today, 49,985 this month;",
                "           http://127.0.0.1:1, key 7f"
            ]
        );
        assert_eq!(lines(60)[2..], screen.lines().skip(1).collect::<Vec<_>>());
        assert_eq!(
            lines(40)[..3],
            [
                "quota      4,985 requests left today,",
                "           49,985 this month;",
                "           http://127.0.0.1:1, key 7f"
            ]
        );
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(
            complete_days(31, 31, ["*", "fictitious"]),
            "31 of 31 days complete, fictitious names included"
        );
        assert_eq!(complete_days(0, 1, ["fictitious"]), "0 of 1 day complete, of fictitious names");
        let of_types = complete_days(1_000, 2_000, ["llc", "trust"]);
        assert_eq!(of_types, "1,000 of 2,000 days complete, of llc and trust");
        let day = jiff::civil::date(2026, 7, 31);
        assert_eq!(
            ["*", "fictitious"].map(|label| day_of_listing(day, label)),
            ["2026-07-31", "2026-07-31 fictitious"]
        );
    }

    #[test]
    fn days_that_were_not_read_say_what_of_them() {
        let day = |day| jiff::civil::date(2026, 7, day);
        let names = "fictitious names".to_owned();
        let unread = BTreeMap::from([(day(1), String::new()), (day(2), names.clone()), (day(3), names)]);
        let mut text = String::new();
        open_days(&mut text, &unread, &[(day(4), "*", 7, 9)], 5).expect("a text");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let expected = [
            "1 day not read yet, the newest 2026-07-01",
            "fictitious names of 2 days not read yet, the newest 2026-07-03",
            "2026-07-04: 7 of 9 rows",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn numbers_and_durations_are_written_for_people() {
        assert_eq!(
            [0, 999, 1_000, 131_353, 12_810_000].map(number),
            ["0", "999", "1,000", "131,353", "12,810,000"]
        );
        let shown = |secs: f64| duration(Duration::from_secs_f64(secs));
        for (secs, words) in [
            (0.0, "0.0 s"),
            (4.21, "4.2 s"),
            (9.96, "10 s"),
            (30.4, "31 s"),
            (120.5, "121 s"),
            (180.0, "3 min"),
            (700.0, "12 min"),
            (5_990.0, "100 min"),
            (12_000.0, "3 h 20 min"),
        ] {
            assert_eq!(shown(secs), words, "{secs}");
        }
    }
}
