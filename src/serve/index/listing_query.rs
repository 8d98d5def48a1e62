//! A listing: its filters → its total, and the rows of one page, newest first.

use super::case_fold::folded;
use super::filter::{Filter, FilterTexts};
use super::lookup::Index;
use crate::contract::eastern::epoch_days;
use crate::contract::search::CheckedSearch;
use jiff::civil::Date;
use std::ops::Range;

/// The filters of a listing; texts are folded, days are counted from 1970-01-01.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ListingQuery {
    first_day: Option<i32>,
    last_day: i32,
    name_prefix: Option<String>,
    filters: FilterTexts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListingPage {
    pub(crate) total: u64,
    pub(crate) rows: Vec<u32>,
}

impl ListingQuery {
    pub(crate) fn of_day(day: Date) -> Self {
        Self { first_day: Some(epoch_days(day)), last_day: epoch_days(day), ..Self::default() }
    }

    pub(crate) fn of_search(search: &CheckedSearch) -> Self {
        let sent = search.as_sent();
        Self {
            first_day: search.from().map(epoch_days),
            last_day: epoch_days(search.to()),
            name_prefix: sent.q.as_deref().map(folded),
            filters: FilterTexts {
                city: sent.city.as_deref().map(folded),
                zip: sent.zip.clone(),
                county: sent.county.as_deref().map(folded),
                kind: sent.kind,
                industry: sent.industry.clone(),
                with_dissolved: search.includes_dissolved(),
            },
        }
    }

    /// The total of the listing, and the rows of a page.
    pub(crate) fn page(&self, index: &Index, offset: usize, limit: usize) -> ListingPage {
        let mut page = PageCollector { wanted: offset..offset + limit, seen: 0, rows: Vec::new() };
        if let Some(filter) = Filter::of(&self.filters, &index.columns, &index.industries) {
            let period = index.columns.uncoded.filed_between(self.first_day, self.last_day);
            match &self.name_prefix {
                None => read_period(index, &filter, period, &mut page),
                Some(prefix) => read_names(index, &filter, period, prefix, &mut page),
            }
        }
        ListingPage { total: page.seen as u64, rows: page.rows }
    }
}

/// Counts the rows that pass, and keeps those of a page.
#[derive(Debug)]
struct PageCollector {
    wanted: Range<usize>,
    seen: usize,
    rows: Vec<u32>,
}

impl PageCollector {
    /// Adds the next rows, newest first.
    fn add(&mut self, count: usize, rows: impl Iterator<Item = u32>) {
        let next = self.seen..self.seen + count;
        self.seen = next.end;
        let (first, end) = (self.wanted.start.max(next.start), self.wanted.end.min(next.end));
        if first < end {
            self.rows.extend(rows.skip(first - next.start).take(end - first));
        }
    }

    /// Adds all rows of a listing, in any order.
    fn add_unordered(&mut self, mut rows: Vec<u32>) {
        self.seen += rows.len();
        let (first, end) = (self.wanted.start.min(rows.len()), self.wanted.end.min(rows.len()));
        if end < rows.len() {
            rows.select_nth_unstable(end);
            rows.truncate(end);
        }
        if first > 0 && first < end {
            rows.select_nth_unstable(first);
        }
        self.rows = rows.split_off(first);
        self.rows.sort_unstable();
    }
}

/// Reads the rows of a period in their order.
fn read_period(index: &Index, filter: &Filter, period: Range<u32>, page: &mut PageCollector) {
    let test = &filter.test;
    let (mask, want) = (test.mask, test.want);
    // Most queries have one of the first two forms; the compiler vectorizes their loops.
    match (test.fields.as_slice(), filter.is_packed()) {
        ([], true) => scan(index, period, page, |_, packed| packed & mask == want),
        ([field], true) if field.ranges.len() == 1 => {
            let in_range = field.first_range_test();
            scan(index, period, page, |_, packed| (packed & mask == want) & in_range(packed));
        }
        _ => scan(index, period, page, |row, packed| {
            test.passes(packed) && filter.passes_spilled_fields(row, &index.columns)
        }),
    }
}

/// Rows that are counted before any of them is copied.
const CHUNK: usize = 1_024;

fn scan(index: &Index, period: Range<u32>, page: &mut PageCollector, passes: impl Fn(u32, u64) -> bool) {
    let packed_rows = &index.columns.packed_rows[period.start as usize..period.end as usize];
    let firsts = period.step_by(CHUNK);
    for (first, chunk) in firsts.zip(packed_rows.chunks(CHUNK)) {
        let found = || (first..).zip(chunk).filter(|(row, packed)| passes(*row, **packed));
        page.add(found().count(), found().map(|(row, _)| row));
    }
}

/// Reads the rows whose names begin with a prefix: a few one by one, many with the bit-sliced index.
fn read_names(index: &Index, filter: &Filter, period: Range<u32>, prefix: &str, page: &mut PageCollector) {
    let (order, columns) = (&index.by_name, &index.columns);
    let named = order.with_prefix(&columns.uncoded.names, prefix);
    let Some(run) = order.run_worth_filtering(&named) else {
        let passes = |row: &u32| {
            period.contains(row)
                && filter.test.passes(columns.packed_rows[*row as usize])
                && filter.passes_spilled_fields(*row, columns)
        };
        return page.add_unordered(order.rows(named).iter().copied().filter(passes).collect());
    };
    order.passing(run, &named, &period, filter.test.clone(), |rows, bits| {
        if filter.is_packed() {
            page.add(bits.count_ones() as usize, selected(rows, bits));
        } else {
            let found = || selected(rows, bits).filter(|row| filter.passes_spilled_fields(*row, columns));
            page.add(found().count(), found());
        }
    });
}

/// The rows whose bit is set.
fn selected(rows: &[u32], bits: u64) -> impl Iterator<Item = u32> {
    let mut left = bits;
    std::iter::from_fn(move || {
        let row = rows.get(left.trailing_zeros() as usize).filter(|_| left != 0)?;
        left &= left - 1;
        Some(*row)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::business::ACTIVE;
    use crate::contract::eastern::day_of_epoch;
    use crate::contract::reference::{EntityType, Industries, Sector, Segment};
    use crate::serve::fixture::{filing, write_table};
    use crate::serve::index::filter::IndustryMeaning;
    use crate::serve::load::load_snapshot;
    use crate::table::{FilingRow, IndustryTypeRow, SegmentRow, Table};
    use jiff::civil::date;

    /// Pseudo-random numbers, the same in every run.
    struct Draws(u64);

    impl Draws {
        fn below(&mut self, count: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % count
        }

        fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
            words[self.below(words.len())]
        }
    }

    const NAMES: [&str; 8] = ["SUN", "Sunset", "sun bakery", "SUMMER", "Ñandú", "ÑANDÚ II", "THE SUN", "S"];
    const CITIES: [&str; 5] = ["Tampa", "TAMPA", "Miami", "miami beach", ""];
    const ZIPS: [&str; 7] = ["33601", "33602", "33602-1234", "3360", "33101", "K1A 0B1", ""];
    const COUNTIES: [&str; 4] = ["Hillsborough", "HILLSBOROUGH", "Miami-Dade", ""];
    const KINDS: [&str; 4] = ["llc", "corporation", "fictitious", "strange"];
    const INDUSTRIES: [(&str, &str); 4] =
        [("food", "food.bar"), ("food", "food.cafe"), ("trade", "trade.roof"), ("money", "money.bank")];

    fn random_row(draws: &mut Draws, id: i64) -> FilingRow {
        let (sector, kind) = INDUSTRIES[draws.below(INDUSTRIES.len())];
        FilingRow {
            industry_sector: sector.to_owned(),
            industry_type: kind.to_owned(),
            name: draws.of(&NAMES).to_owned(),
            entity_type: draws.of(&KINDS).to_owned(),
            status: draws.of(&[ACTIVE, ACTIVE, "dissolved"]).to_owned(),
            filed_date: day_of_epoch(draws.below(100) as i32).expect("a day"),
            city: draws.of(&CITIES).to_owned(),
            zip: draws.of(&ZIPS).to_owned(),
            county: Some(draws.of(&COUNTIES).to_owned()).filter(|county| !county.is_empty()),
            listed: draws.below(10) > 0,
            ..filing(&id.to_string(), "2026-07-31", true)
        }
    }

    fn lists() -> Industries {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let segment = |key: &str, sectors: &[&str], types: &[&str]| Segment {
            key: key.to_owned(),
            sectors: words(sectors),
            types: words(types),
        };
        let sector = |key: &str| Sector {
            sector: key.to_owned(),
            types: INDUSTRIES
                .iter()
                .filter(|(of, _)| *of == key)
                .map(|(_, kind)| (*kind).to_owned())
                .collect(),
        };
        Industries {
            sectors: ["food", "money", "trade"].map(sector).to_vec(),
            segments: vec![segment("apart", &["trade"], &["food.bar"]), segment("nothing", &[], &[])],
        }
    }

    /// An index of random rows, and the rows in its order.
    fn rows(draws: &mut Draws, count: i64) -> (Index, Vec<FilingRow>) {
        let (snapshot, today, lists) = (tempfile::tempdir().expect("a folder"), date(2026, 7, 31), lists());
        let mut rows: Vec<FilingRow> = (1..=count).map(|id| random_row(draws, id)).collect();
        write_table(snapshot.path(), Table::Filings, "f.parquet", &rows);
        let types = lists.sectors.iter().flat_map(|sector| IndustryTypeRow::from(today, sector));
        write_table(snapshot.path(), Table::IndustryTypes, "i.parquet", &types.collect::<Vec<_>>());
        let segments = lists.segments.iter().flat_map(|segment| SegmentRow::from(today, segment));
        write_table(snapshot.path(), Table::IndustrySegments, "s.parquet", &segments.collect::<Vec<_>>());
        rows.sort_by_key(|row| std::cmp::Reverse((row.filed_date, row.business_id)));
        (load_snapshot(snapshot.path()).expect("an index"), rows)
    }

    fn query(draws: &mut Draws) -> ListingQuery {
        let mut some = |texts: &[&str]| (draws.below(3) == 0).then(|| folded(draws.of(texts)));
        let (city, county) =
            (some(&["tampa", "MIAMI", "Nowhere"]), some(&["hillsborough", "Miami-Dade", "x"]));
        let name_prefix = some(&["su", "SUN", "ñ", "ñandú i", "sun b", "zz", "th"]);
        let industry = some(&["food", "food.bar", "apart", "nothing", "money"]);
        let zip = some(&["336", "3360", "33602", "33603", "331"]);
        let kinds =
            [None, None, Some(EntityType::Llc), Some(EntityType::Fictitious), Some(EntityType::Trust)];
        ListingQuery {
            first_day: [None, Some(20), Some(50)][draws.below(3)],
            last_day: 40 + draws.below(60) as i32,
            name_prefix,
            filters: FilterTexts {
                city,
                zip,
                county,
                kind: kinds[draws.below(kinds.len())],
                industry,
                with_dissolved: draws.below(2) == 0,
            },
        }
    }

    fn passes(wanted: &ListingQuery, lists: &Industries, row: &FilingRow) -> bool {
        let (filters, day) = (&wanted.filters, epoch_days(row.filed_date));
        let is_active = row.status == ACTIVE;
        let is = |want: &Option<String>, have: &str| want.as_ref().is_none_or(|want| *want == folded(have));
        let has_zip =
            |want: &String| if want.len() == 5 { row.zip == *want } else { row.zip.starts_with(want) };
        let meaning = filters.industry.as_ref().map(|key| IndustryMeaning::of(key, lists).expect("a key"));
        (row.listed || !is_active)
            && (is_active || filters.with_dissolved)
            && wanted.first_day.is_none_or(|first| day >= first)
            && day <= wanted.last_day
            && wanted.name_prefix.as_ref().is_none_or(|prefix| folded(&row.name).starts_with(prefix))
            && is(&filters.city, &row.city)
            && is(&filters.county, row.county.as_deref().unwrap_or_default())
            && filters.zip.as_ref().is_none_or(has_zip)
            && filters.kind.map_or(row.entity_type != "fictitious", |want| want.key() == row.entity_type)
            && meaning.is_none_or(|it| {
                it.sectors.contains(&row.industry_sector) || it.types.contains(&row.industry_type)
            })
    }

    #[test]
    fn every_listing_has_the_rows_that_pass_one_by_one() {
        let mut draws = Draws(7);
        let (index, rows) = rows(&mut draws, 2_000);
        let mut found_some = 0;
        for number in 0..600 {
            let wanted = query(&mut draws);
            let passing = (0..).zip(&rows).filter(|(_, row)| passes(&wanted, &index.industries, row));
            let expected: Vec<u32> = passing.map(|(number, _)| number).collect();
            for (offset, limit) in [(0, 0), (0, 1), (0, 100_000), (7, 7), (draws.below(400), 50), (9_000, 5)]
            {
                let found = wanted.page(&index, offset, limit);
                let start = offset.min(expected.len());
                let end = (offset + limit).min(expected.len());
                assert_eq!(found.total, expected.len() as u64, "{number}: {wanted:?}");
                assert_eq!(found.rows, expected[start..end], "{number}: {wanted:?}");
            }
            found_some += usize::from(!expected.is_empty());
        }
        assert!(found_some > 150, "only {found_some} listings had rows");
    }
}
