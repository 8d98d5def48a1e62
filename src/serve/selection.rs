//! Filters of a listing → how many rows pass them, and the newest of those; and the few listings asked for last.

use super::column::epoch_day;
use super::dictionary::Dictionary;
use super::fold::folded;
use super::index::{Columns, Index};
use super::word::{Field, Place, flag};
use crate::contract::id::ZipPrefix;
use crate::contract::reference::{EntityType, Industries};
use crate::contract::search::CheckedSearch;
use jiff::civil::Date;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// What a listing asks for; texts are folded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Selection {
    first_day: Option<i32>,
    last_day: i32,
    name_prefix: Option<String>,
    city: Option<String>,
    zip: Option<ZipPrefix>,
    county: Option<String>,
    kind: Option<EntityType>,
    industry: Option<String>,
    with_dissolved: bool,
}

/// Rows of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// All that there are.
    pub(super) total: u64,
    /// Some of them, newest first.
    pub(super) rows: Vec<u32>,
}

impl Selection {
    /// The listing of one day.
    pub(super) fn of_day(day: Date) -> Self {
        Self { first_day: Some(epoch_day(day)), last_day: epoch_day(day), ..Self::default() }
    }

    /// The listing of a search.
    pub(super) fn of_search(search: &CheckedSearch) -> Self {
        let sent = search.as_sent();
        Self {
            first_day: search.from().map(epoch_day),
            last_day: epoch_day(search.to()),
            name_prefix: sent.q.as_deref().map(folded),
            city: sent.city.as_deref().map(folded),
            zip: search.zip(),
            county: sent.county.as_deref().map(folded),
            kind: sent.kind,
            industry: sent.industry.clone(),
            with_dissolved: search.includes_dissolved(),
        }
    }

    /// Counts the rows that pass, and gives the newest `keep` of them.
    pub(super) fn find(&self, index: &Index, keep: usize) -> Found {
        let Some(filter) = Filter::of(self, index) else { return Found { total: 0, rows: Vec::new() } };
        let (mask, want) = (filter.mask, filter.want);
        // The two shapes that most queries have are worth a loop of their own.
        match (filter.ranges.as_slice(), filter.has_others()) {
            ([], false) => self.scan(index, keep, |_, word| word & mask == want),
            ([range], false) => self.scan(index, keep, |_, word| (word & mask == want) & range.holds(word)),
            _ => self.scan(index, keep, |row, word| filter.passes(row, word, &index.columns)),
        }
    }

    fn scan(&self, index: &Index, keep: usize, passes: impl Fn(u32, u64) -> bool) -> Found {
        let period = index.columns.filed_between(self.first_day, self.last_day);
        match &self.name_prefix {
            None => scan_period(&index.columns.words, period, keep, passes),
            Some(prefix) => {
                let named = index.by_name.beginning_with(&index.columns.names, prefix);
                let (rows, words) = index.by_name.rows_and_words(named);
                scan_names(rows, words, period, keep, passes)
            }
        }
    }
}

/// Rows looked at in one go.
const CHUNK: usize = 1_024;

/// Rows in their order: the first ones that pass are the newest, the others are only counted.
fn scan_period(words: &[u64], period: Range<u32>, keep: usize, passes: impl Fn(u32, u64) -> bool) -> Found {
    let (mut total, mut rows) = (0, Vec::new());
    let mut first = period.start;
    for chunk in words[period.start as usize..period.end as usize].chunks(CHUNK) {
        let found = (first..).zip(chunk).filter(|(row, word)| passes(*row, **word));
        if rows.len() < keep {
            for (row, _) in found {
                total += 1;
                if rows.len() < keep {
                    rows.push(row);
                }
            }
        } else {
            total += found.count() as u64;
        }
        first += CHUNK as u32;
    }
    Found { total, rows }
}

/// Rows in the order of names: all are counted, and the newest are held apart, twice as many as wanted before they are
/// thinned out.
fn scan_names(
    named: &[u32],
    words: &[u64],
    period: Range<u32>,
    keep: usize,
    passes: impl Fn(u32, u64) -> bool,
) -> Found {
    let (mut total, mut rows) = (0_u64, Vec::with_capacity(2 * keep));
    let (length, mut bound) = (period.end - period.start, u32::MAX);
    for (row, word) in named.iter().zip(words) {
        let pass = (row.wrapping_sub(period.start) < length) & passes(*row, *word);
        total += u64::from(pass);
        if pass & (*row < bound) && keep > 0 {
            if rows.len() == 2 * keep {
                let (_, last, _) = rows.select_nth_unstable(keep - 1);
                bound = *last;
                rows.truncate(keep);
                if *row >= bound {
                    continue;
                }
            }
            rows.push(*row);
        }
    }
    rows.sort_unstable();
    rows.truncate(keep);
    Found { total, rows }
}

/// Codes of a field that lie in the word.
#[derive(Debug, Clone, Copy)]
struct CodeRange {
    shift: u32,
    mask: u64,
    start: u64,
    length: u64,
}

impl CodeRange {
    const fn holds(&self, word: u64) -> bool {
        (word >> self.shift & self.mask).wrapping_sub(self.start) < self.length
    }
}

/// Which codes of a field are wanted.
#[derive(Debug)]
enum Wanted {
    Range(Range<u32>),
    Some(Vec<bool>),
}

impl Wanted {
    fn holds(&self, code: u32) -> bool {
        match self {
            Self::Range(range) => range.contains(&code),
            Self::Some(codes) => codes[code as usize],
        }
    }
}

/// All filters of a selection: what the word must be, then what is not as simple.
#[derive(Debug)]
struct Filter {
    mask: u64,
    want: u64,
    ranges: Vec<CodeRange>,
    others: Vec<(Field, Wanted)>,
}

impl Filter {
    /// `None` when no row can pass.
    fn of(wanted: &Selection, index: &Index) -> Option<Self> {
        let columns = &index.columns;
        let mut filter =
            Self { mask: flag::LISTED, want: flag::LISTED, ranges: Vec::new(), others: Vec::new() };
        if !wanted.with_dissolved {
            filter.mask |= flag::ACTIVE;
            filter.want |= flag::ACTIVE;
        }
        match wanted.kind {
            // Fictitious names are shown only when asked for by type.
            None => filter.mask |= flag::FICTITIOUS,
            Some(kind) => {
                let code = columns.kinds.exactly(kind.key())?;
                filter.add(columns, Field::Kind, Wanted::Range(code..code + 1))?;
            }
        }
        if let Some(county) = &wanted.county {
            filter.add(columns, Field::County, Wanted::Range(columns.counties.equal_to(county)))?;
        }
        if let Some(zip) = &wanted.zip {
            filter.add(columns, Field::Zip, Wanted::Range(codes_of_zip(&columns.zips, zip)))?;
        }
        if let Some(city) = &wanted.city {
            filter.add(columns, Field::City, Wanted::Range(columns.cities.equal_to(city)))?;
        }
        if let Some(key) = &wanted.industry {
            let meaning = IndustryMeaning::of(key, &index.industries).unwrap_or_default();
            filter.add(columns, Field::Industry, meaning.codes(columns))?;
        }
        Some(filter)
    }

    /// Asks for some codes of a field; `None` when there are none.
    fn add(&mut self, columns: &Columns, field: Field, wanted: Wanted) -> Option<()> {
        match (columns.layout.place(field), wanted) {
            (_, Wanted::Range(range)) if range.is_empty() => return None,
            (Place::Word { shift, mask }, Wanted::Range(range)) if range.len() == 1 => {
                self.mask |= mask << shift;
                self.want |= u64::from(range.start) << shift;
            }
            (Place::Word { shift, mask }, Wanted::Range(range)) => {
                let (start, length) = (range.start.into(), range.len() as u64);
                self.ranges.push(CodeRange { shift: *shift, mask: *mask, start, length });
            }
            (_, wanted) => self.others.push((field, wanted)),
        }
        Some(())
    }

    fn has_others(&self) -> bool {
        !self.others.is_empty()
    }

    fn passes(&self, row: u32, word: u64, columns: &Columns) -> bool {
        word & self.mask == self.want
            && self.ranges.iter().all(|range| range.holds(word))
            && self.others.iter().all(|(field, wanted)| wanted.holds(columns.layout.code(*field, row, word)))
    }
}

/// Five digits are exact, fewer a prefix; digits have no case.
fn codes_of_zip(zips: &Dictionary, zip: &ZipPrefix) -> Range<u32> {
    let beginning = zips.beginning_with(zip.as_str());
    match beginning.clone().find(|code| zips.text(*code) == zip.as_str()) {
        Some(code) if zip.as_str().len() == 5 => code..code + 1,
        None if zip.as_str().len() == 5 => 0..0,
        _ => beginning,
    }
}

/// The sectors and types an industry key stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct IndustryMeaning {
    sectors: Vec<String>,
    types: Vec<String>,
}

impl IndustryMeaning {
    /// Reads a key: a sector, else a type, else a segment; `None` when the lists have none of them.
    pub(super) fn of(key: &str, lists: &Industries) -> Option<Self> {
        if lists.sectors.iter().any(|entry| entry.sector == key) {
            return Some(Self { sectors: vec![key.to_owned()], types: Vec::new() });
        }
        if lists.sectors.iter().any(|entry| entry.types.iter().any(|kind| kind == key)) {
            return Some(Self { sectors: Vec::new(), types: vec![key.to_owned()] });
        }
        let segment = lists.segments.iter().find(|segment| segment.key == key)?;
        Some(Self { sectors: segment.sectors.clone(), types: segment.types.clone() })
    }

    /// The industry codes it stands for: a range where they lie next to each other, as those of a sector do.
    fn codes(&self, columns: &Columns) -> Wanted {
        let texts = columns.sectors.texts().zip(columns.industry_types.texts());
        let holds = |list: &[String], text: &str| list.iter().any(|wanted| wanted == text);
        let codes: Vec<bool> =
            texts.map(|(sector, kind)| holds(&self.sectors, sector) || holds(&self.types, kind)).collect();
        let start = codes.iter().position(|wanted| *wanted).unwrap_or(0);
        let length = codes[start..].iter().take_while(|wanted| **wanted).count();
        match codes[start + length..].contains(&true) {
            true => Wanted::Some(codes),
            false => {
                let code = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
                Wanted::Range(code(start)..code(start + length))
            }
        }
    }
}

/// Listings kept at most.
const KEPT_LISTINGS: usize = 64;
/// Rows kept of a listing at least, when it has so many.
const FEWEST_KEPT_ROWS: usize = 512;
/// Rows kept of a listing at most; an account's own limits may reach further.
const MOST_KEPT_ROWS: usize = 16 * 1024;

/// A listing asked for lately: its newest rows.
#[derive(Debug)]
struct Kept {
    wanted: Selection,
    found: Arc<Found>,
}

/// The listings asked for last, newest at the end.
#[derive(Debug, Default)]
pub(super) struct RecentSelections(Mutex<VecDeque<Kept>>);

impl RecentSelections {
    /// A page of a listing; `find` counts it and gives its newest rows, as many as it is told.
    pub(super) fn page(
        &self,
        wanted: &Selection,
        offset: usize,
        limit: usize,
        find: impl FnOnce(usize) -> Found,
    ) -> Found {
        let end = offset + limit;
        let found = self.known(wanted, end).unwrap_or_else(|| {
            // Who goes on paging finds the next pages here; each time it does not, twice as many are kept.
            let found = Arc::new(find((2 * end).clamp(FEWEST_KEPT_ROWS, MOST_KEPT_ROWS.max(end))));
            if found.rows.len() <= MOST_KEPT_ROWS {
                self.keep(Kept { wanted: wanted.clone(), found: Arc::clone(&found) });
            }
            found
        });
        let have = found.rows.len();
        Found { total: found.total, rows: found.rows[offset.min(have)..end.min(have)].to_vec() }
    }

    fn known(&self, wanted: &Selection, end: usize) -> Option<Arc<Found>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|kept| kept.wanted == *wanted)?;
        let entry = kept.remove(place)?;
        let reaches = entry.found.rows.len() >= end || entry.found.rows.len() as u64 == entry.found.total;
        let found = reaches.then(|| Arc::clone(&entry.found));
        if reaches {
            kept.push_back(entry);
        }
        found
    }

    fn keep(&self, entry: Kept) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(entry);
        if kept.len() > KEPT_LISTINGS {
            kept.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::builder::IndexBuilder;
    use super::super::gathered::FilingRow;
    use super::*;
    use crate::contract::reference::{Sector, Segment};

    /// Draws that are the same every time.
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

    struct Plain {
        row: u32,
        cells: [&'static str; 7],
        day: i32,
        listed: bool,
        active: bool,
    }

    fn rows(draws: &mut Draws, count: i64) -> (Index, Vec<Plain>) {
        let mut builder = IndexBuilder::default();
        let mut plain = Vec::new();
        for id in 1..=count {
            let (sector, kind) = INDUSTRIES[draws.below(INDUSTRIES.len())];
            let cells = [
                draws.of(&NAMES),
                draws.of(&CITIES),
                draws.of(&ZIPS),
                draws.of(&COUNTIES),
                draws.of(&KINDS),
                sector,
                kind,
            ];
            let (day, listed) = (draws.below(100) as i32, draws.below(10) > 0);
            let status = draws.of(&["active", "active", "dissolved"]);
            let row = FilingRow {
                business_id: id,
                id: &id.to_string(),
                document_number: "L26000000001",
                name: cells[0],
                entity_type: cells[4],
                company_type: "",
                status,
                filed_day: day,
                dissolved_day: None,
                city: cells[1],
                zip: cells[2],
                county: cells[3],
                industry_sector: cells[5],
                industry_type: cells[6],
                url: "",
                listed,
            };
            builder.push(row);
            plain.push((
                day,
                id,
                Plain {
                    row: 0,
                    cells,
                    day,
                    listed: listed || status != "active",
                    active: status == "active",
                },
            ));
        }
        let segment = |key: &str, sectors: &[&str], types: &[&str]| Segment {
            key: key.to_owned(),
            sectors: sectors.iter().map(|text| (*text).to_owned()).collect(),
            types: types.iter().map(|text| (*text).to_owned()).collect(),
        };
        let sectors = ["food", "money", "trade"].map(|sector| Sector {
            sector: sector.to_owned(),
            types: INDUSTRIES
                .iter()
                .filter(|(of, _)| *of == sector)
                .map(|(_, kind)| (*kind).to_owned())
                .collect(),
        });
        builder.set_industries(Industries {
            sectors: sectors.to_vec(),
            segments: vec![segment("apart", &["trade"], &["food.bar"]), segment("nothing", &[], &[])],
        });
        plain.sort_by_key(|(day, id, _)| std::cmp::Reverse((*day, *id)));
        let plain = (0..).zip(plain).map(|(row, (_, _, plain))| Plain { row, ..plain }).collect();
        (builder.finish().expect("an index"), plain)
    }

    fn selection(draws: &mut Draws) -> Selection {
        let mut some = |texts: &[&str]| (draws.below(3) == 0).then(|| folded(draws.of(texts)));
        let (city, county) =
            (some(&["tampa", "MIAMI", "Nowhere"]), some(&["hillsborough", "Miami-Dade", "x"]));
        let name_prefix = some(&["su", "SUN", "ñ", "sun b", "zz"]);
        let industry = some(&["food", "food.bar", "apart", "nothing", "money"]);
        let zip = some(&["336", "3360", "33602", "33603", "331"]);
        let kinds =
            [None, None, Some(EntityType::Llc), Some(EntityType::Fictitious), Some(EntityType::Trust)];
        Selection {
            first_day: [None, Some(20), Some(50)][draws.below(3)],
            last_day: 40 + draws.below(60) as i32,
            name_prefix,
            city,
            zip: zip.as_deref().and_then(ZipPrefix::parse),
            county,
            kind: kinds[draws.below(kinds.len())],
            industry,
            with_dissolved: draws.below(2) == 0,
        }
    }

    fn passes(wanted: &Selection, lists: &Industries, row: &Plain) -> bool {
        let [name, city, zip, county, kind, sector, industry] = row.cells;
        let is = |want: &Option<String>, have: &str| want.as_ref().is_none_or(|want| *want == folded(have));
        let meaning = wanted.industry.as_ref().map(|key| IndustryMeaning::of(key, lists).expect("a key"));
        row.listed
            && (row.active || wanted.with_dissolved)
            && wanted.first_day.is_none_or(|first| row.day >= first)
            && row.day <= wanted.last_day
            && wanted.name_prefix.as_ref().is_none_or(|prefix| folded(name).starts_with(prefix))
            && is(&wanted.city, city)
            && is(&wanted.county, county)
            && wanted.zip.as_ref().is_none_or(|want| want.matches(zip))
            && wanted.kind.map_or(kind != "fictitious", |want| want.key() == kind)
            && meaning.is_none_or(|it| {
                it.sectors.iter().any(|have| have == sector) || it.types.iter().any(|have| have == industry)
            })
    }

    #[test]
    fn every_listing_is_what_a_look_at_each_row_gives() {
        let mut draws = Draws(7);
        let (index, rows) = rows(&mut draws, 2_000);
        let mut found_some = 0;
        for number in 0..600 {
            let wanted = selection(&mut draws);
            let expected: Vec<u32> = rows
                .iter()
                .filter(|row| passes(&wanted, index.industries(), row))
                .map(|row| row.row)
                .collect();
            for keep in [0, 1, 7, 100_000] {
                let found = wanted.find(&index, keep);
                assert_eq!(found.total, expected.len() as u64, "{number}: {wanted:?}");
                assert_eq!(found.rows, expected[..keep.min(expected.len())], "{number}: {wanted:?}");
            }
            let offset = draws.below(20);
            let page = index.page(&wanted, offset, 5);
            let start = offset.min(expected.len());
            assert_eq!(page.rows, expected[start..(start + 5).min(expected.len())], "{number}: {wanted:?}");
            found_some += usize::from(!expected.is_empty());
        }
        assert!(found_some > 150, "only {found_some} listings had rows");
    }

    #[test]
    fn pages_of_a_listing_are_found_once_for_twice_as_far() {
        let recent = RecentSelections::default();
        let wanted = Selection::default();
        let all: Vec<u32> = (0..10_000).collect();
        let mut searched = Vec::new();
        for offset in (0..10_000).step_by(100) {
            let page = recent.page(&wanted, offset, 100, |keep| {
                searched.push(keep);
                Found { total: 10_000, rows: all[..keep.min(all.len())].to_vec() }
            });
            assert_eq!((page.total, page.rows.as_slice()), (10_000, &all[offset..offset + 100]));
        }
        assert_eq!(searched, [512, 1_200, 2_600, 5_400, 11_000]);
        let beyond = recent.page(&wanted, 20_000, 100, |_| unreachable!("the whole listing is known"));
        assert_eq!((beyond.total, beyond.rows.len()), (10_000, 0));
    }
}
