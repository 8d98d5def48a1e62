//! Filters of a listing → the rows that pass them, and the few listings asked for last.

use super::column::{CodedColumn, epoch_day};
use super::fold::{compare_start, equals_folded, folded};
use super::index::{Index, flag};
use crate::contract::id::ZipPrefix;
use crate::contract::reference::{EntityType, Industries};
use crate::contract::search::CheckedSearch;
use jiff::civil::Date;
use std::cmp::Ordering;
use std::collections::VecDeque;
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

    /// The rows that pass, newest first.
    pub(super) fn rows_of(&self, index: &Index) -> Vec<u32> {
        let passes = Filters::of(self, index);
        let period = index.columns.filed_between(self.first_day, self.last_day);
        let Some(prefix) = &self.name_prefix else {
            return period.filter(|row| passes.row(*row)).collect();
        };
        let order = |row: &u32| compare_start(index.columns.names.get(*row), prefix);
        let start = index.by_name.partition_point(|row| order(row) == Ordering::Less);
        let end = index.by_name.partition_point(|row| order(row) != Ordering::Greater);
        let named = index.by_name[start..end].iter().copied();
        let mut rows: Vec<u32> = named.filter(|row| period.contains(row) && passes.row(*row)).collect();
        rows.sort_unstable();
        rows
    }
}

/// A column of codes, and for each code whether it is wanted.
struct CodeFilter<'a> {
    codes: &'a [u32],
    wanted: Vec<bool>,
}

impl<'a> CodeFilter<'a> {
    fn new(column: &'a CodedColumn, is_wanted: impl Fn(&str) -> bool) -> Self {
        Self { codes: column.codes(), wanted: column.wanted(is_wanted) }
    }

    fn row(&self, row: u32) -> bool {
        self.wanted[self.codes[row as usize] as usize]
    }
}

/// All filters of a selection: flags, then columns, then the industry, which looks at two columns.
struct Filters<'a> {
    flags: &'a [u8],
    looked_at: u8,
    expected: u8,
    columns: Vec<CodeFilter<'a>>,
    industry: Option<[CodeFilter<'a>; 2]>,
}

impl<'a> Filters<'a> {
    fn of(wanted: &Selection, index: &'a Index) -> Self {
        let columns = &index.columns;
        let mut filters = Vec::new();
        if let Some(kind) = wanted.kind {
            filters.push(CodeFilter::new(&columns.entity_types, |text| text == kind.key()));
        }
        if let Some(county) = &wanted.county {
            filters.push(CodeFilter::new(&columns.counties, |text| equals_folded(text, county)));
        }
        if let Some(zip) = &wanted.zip {
            filters.push(CodeFilter::new(&columns.zips, |text| zip.matches(text)));
        }
        if let Some(city) = &wanted.city {
            filters.push(CodeFilter::new(&columns.cities, |text| equals_folded(text, city)));
        }
        let industry = wanted.industry.as_deref().map(|key| {
            let meaning = IndustryMeaning::of(key, &index.industries).unwrap_or_default();
            [
                CodeFilter::new(&columns.sectors, |text| meaning.sectors.iter().any(|sector| sector == text)),
                CodeFilter::new(&columns.industry_types, |text| {
                    meaning.types.iter().any(|kind| kind == text)
                }),
            ]
        });
        let (looked_at, expected) = flags_of(wanted);
        Self { flags: &columns.flags, looked_at, expected, columns: filters, industry }
    }

    fn row(&self, row: u32) -> bool {
        self.flags[row as usize] & self.looked_at == self.expected
            && self.columns.iter().all(|column| column.row(row))
            && self.industry.as_ref().is_none_or(|[sector, kind]| sector.row(row) || kind.row(row))
    }
}

/// The flags a listing looks at, and what they must be. Fictitious names are shown only when asked for by type.
fn flags_of(wanted: &Selection) -> (u8, u8) {
    let mut looked_at = flag::LISTED;
    let mut expected = flag::LISTED;
    if !wanted.with_dissolved {
        looked_at |= flag::ACTIVE;
        expected |= flag::ACTIVE;
    }
    if wanted.kind.is_none() {
        looked_at |= flag::FICTITIOUS;
    }
    (looked_at, expected)
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
}

/// Listings kept at most.
const KEPT_LISTINGS: usize = 64;
/// Rows of all kept listings together at most; the newest listing is kept whatever its size.
const KEPT_ROWS: usize = 4_000_000;

/// The listings asked for last, newest at the end.
#[derive(Debug, Default)]
pub(super) struct RecentSelections(Mutex<VecDeque<(Selection, Arc<[u32]>)>>);

impl RecentSelections {
    pub(super) fn get_or_compute(
        &self,
        wanted: &Selection,
        compute: impl FnOnce() -> Vec<u32>,
    ) -> Arc<[u32]> {
        if let Some(rows) = self.find(wanted) {
            return rows;
        }
        let rows: Arc<[u32]> = compute().into();
        self.keep(wanted.clone(), Arc::clone(&rows));
        rows
    }

    fn find(&self, wanted: &Selection) -> Option<Arc<[u32]>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|(selection, _)| selection == wanted)?;
        let entry = kept.remove(place)?;
        let rows = Arc::clone(&entry.1);
        kept.push_back(entry);
        Some(rows)
    }

    fn keep(&self, wanted: Selection, rows: Arc<[u32]>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((wanted, rows));
        let mut total: usize = kept.iter().map(|(_, rows)| rows.len()).sum();
        while kept.len() > 1 && (kept.len() > KEPT_LISTINGS || total > KEPT_ROWS) {
            total -= kept.pop_front().map_or(0, |(_, rows)| rows.len());
        }
    }
}
