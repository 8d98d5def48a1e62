//! Numbers as people read them.

use crate::contract::count::with_commas;

/// An integer with a comma every three digits.
pub(super) fn integer(number: i64) -> String {
    let grouped = with_commas(number.unsigned_abs());
    if number < 0 { format!("−{grouped}") } else { grouped }
}

/// A count that cannot be negative.
pub(crate) fn count(number: u64) -> String {
    integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// At most four characters: `870`, `4.2k`, `12k`, `3.1M`.
pub(super) fn compact(number: i64) -> String {
    match number {
        ..1_000 => number.to_string(),
        1_000..9_950 => {
            format!("{}.{}k", (number + 50) / 1_000, (number + 50) % 1_000 / 100).replace(".0", "")
        }
        9_950..999_500 => format!("{}k", (number + 500) / 1_000),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

/// A change: 0.125 is `+12.5 %`; a dash when unknown.
pub(super) fn change(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{} %", points(ratio * 100.0)))
}

/// Percentage points: 3.25 is `+3.2`.
pub(super) fn points(points: f64) -> String {
    format!("{points:+.1}").replace('-', "−")
}

/// Filings of a period from which its change on another says something: as in `agg_county_window`.
pub(super) const RELIABLE: i64 = 100;

/// A change that leads to this number of filings, if both numbers are large enough to compare.
pub(super) fn reliable(filings: i64, ratio: Option<f64>) -> Option<f64> {
    let before = |ratio: f64| (filings as f64 / (1.0 + ratio)).round() as i64;
    ratio.filter(|ratio| filings >= RELIABLE && before(*ratio) >= RELIABLE)
}

/// A share: 0.125 is `12.5 %`; a dash when unknown.
pub(super) fn share(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{:.1} %", ratio * 100.0))
}

/// A duration: `4.2 s`, `12 min 5 s`.
pub(crate) fn span(secs: f64) -> String {
    if secs < 60.0 {
        return format!("{secs:.1} s");
    }
    let minutes = (secs / 60.0).floor();
    format!("{minutes:.0} min {:.0} s", (secs - minutes * 60.0).floor())
}

/// A type as people write it; a type that is not known keeps its key.
pub(super) fn kind(key: &str) -> &str {
    match key {
        "llc" => "LLC",
        "fictitious" => "fictitious name",
        _ => key,
    }
}

/// The county's name; the API returns none for an address outside Florida.
pub(super) fn county(name: &str) -> &str {
    if name.is_empty() { "outside Florida or unknown" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_come_in_threes() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (-12_345_678, "−12,345,678")] {
            assert_eq!(integer(number), text);
        }
        assert_eq!(integer(i64::MIN), "−9,223,372,036,854,775,808");
    }

    #[test]
    fn changes_carry_their_sign_and_spans_their_units() {
        assert_eq!(
            (change(Some(0.125)), change(Some(-0.5)), change(None)),
            ("+12.5 %".into(), "−50.0 %".into(), "–".into())
        );
        assert_eq!((span(4.25), span(725.9)), ("4.2 s".to_owned(), "12 min 5 s".to_owned()));
    }

    #[test]
    fn a_change_of_few_filings_is_none() {
        for (filings, ratio, kept) in
            [(100, 0.0, true), (76, 75.0, false), (7_600, 75.0, true), (300, 2.1, false)]
        {
            assert_eq!(reliable(filings, Some(ratio)).is_some(), kept, "{filings} {ratio}");
        }
        assert_eq!((reliable(0, Some(-1.0)), reliable(500, None)), (None, None));
    }

    #[test]
    fn short_numbers_have_four_characters() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_049, "1k"),
            (1_950, "2k"),
            (2_050, "2.1k"),
            (9_949, "9.9k"),
            (9_950, "10k"),
            (999_499, "999k"),
            (999_500, "1.0M"),
        ] {
            assert_eq!(compact(number), text);
        }
    }
}
