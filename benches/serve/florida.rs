//! A lake, one of the wanted size made from the sample once, and what is frequent in it.

use jiff::civil::{Date, date};
use jiff::{Timestamp, ToSpan};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use sunlake::pipeline::sample_lake::write_lake;
use sunlake::sample::{SampleSpec, businesses};
use sunlake::table::read_parquet;

/// The day it is seen on.
pub(crate) const TODAY: Date = date(2026, 11, 20);
/// Businesses that the sample files a day, nearly.
const ROWS_A_DAY: u64 = 2_540;
/// One name in this number gets a `THE` in front, so that the worst two letters are as bad as in the real register: 5.8%.
const ARTICLE_ONE_IN: usize = 32;
/// One business in this number has its detail and officers in the lake.
const DETAILED_ONE_IN: usize = 40;

/// A lake, and questions worth asking it.
pub(crate) struct Florida {
    /// Root of the lake.
    pub(crate) lake: PathBuf,
    /// Businesses in it.
    pub(crate) rows: u64,
    /// Bytes of its filings on disk.
    pub(crate) bytes: u64,
    /// The two letters that most names begin with, and how many do.
    pub(crate) prefix: (String, u64),
    /// The three characters that most names begin with, and how many do.
    pub(crate) longer_prefix: (String, u64),
    /// The sector of most businesses.
    pub(crate) sector: String,
    /// The city of most businesses, and how many.
    pub(crate) city: (String, u64),
    /// The county of most businesses.
    pub(crate) county: String,
    /// The first three digits of most ZIP codes.
    pub(crate) zip: String,
    /// Some document numbers that can be looked up.
    pub(crate) documents: Vec<String>,
    /// Ids of the same businesses.
    pub(crate) ids: Vec<String>,
}

impl Florida {
    /// The lake of about this number of rows in this folder; made when it is missing.
    pub(crate) fn of(rows: u64, folder: &Path) -> Self {
        let lake = folder.join(format!("serve-bench-{rows}"));
        if !lake.join("current").exists() {
            println!("making a lake of about {rows} businesses in {}", lake.display());
            // What a broken attempt left.
            let _ = std::fs::remove_dir_all(&lake);
            make(rows, &lake);
        }
        Self::of_lake(lake)
    }

    /// A day this number of days before the last.
    pub(crate) fn day_before(&self, days: u64) -> Date {
        TODAY.checked_sub(i64::try_from(days).expect("days").days()).expect("a day")
    }

    /// Folder of the filings' files.
    pub(crate) fn filings(&self) -> PathBuf {
        self.lake.join("current").canonicalize().expect("a snapshot").join("filings")
    }

    /// A lake as it is.
    pub(crate) fn of_lake(lake: PathBuf) -> Self {
        let mut florida = Self {
            lake,
            rows: 0,
            bytes: 0,
            prefix: (String::new(), 0),
            longer_prefix: (String::new(), 0),
            sector: String::new(),
            city: (String::new(), 0),
            county: String::new(),
            zip: String::new(),
            documents: Vec::new(),
            ids: Vec::new(),
        };
        let mut counts: [HashMap<String, u64>; 5] = Default::default();
        for path in files_below(&florida.filings()) {
            florida.bytes += path.metadata().expect("a file").len();
            let columns = ["name", "city", "county", "zip", "industry_sector"];
            let cells = texts(&path, &columns);
            florida.rows += cells[0].len() as u64;
            for (column, counts) in cells.into_iter().zip(&mut counts) {
                for text in column {
                    *counts.entry(text).or_default() += 1;
                }
            }
        }
        let [names, cities, counties, zips, sectors] = counts;
        florida.longer_prefix = most(beginnings(&names, 3));
        florida.prefix = most(beginnings(&names, 2));
        florida.sector = most(sectors).0;
        florida.city = most(cities);
        florida.county = most(counties).0;
        florida.zip = most(beginnings(&zips, 3)).0;
        let details = florida.lake.join("current").canonicalize().expect("a snapshot").join("details");
        let detailed: BTreeSet<String> =
            files_below(&details).iter().flat_map(|path| texts(path, &["business_id"]).remove(0)).collect();
        for path in files_below(&florida.filings()) {
            let cells = texts(&path, &["document_number", "business_id"]);
            let pairs = cells[0].iter().zip(&cells[1]).filter(|(_, id)| detailed.contains(*id));
            for (document, id) in pairs {
                florida.documents.push(document.clone());
                florida.ids.push(id.clone());
            }
        }
        florida
    }
}

fn most(counts: HashMap<String, u64>) -> (String, u64) {
    counts.into_iter().max_by_key(|(text, count)| (*count, text.clone())).expect("some text")
}

fn beginnings(counts: &HashMap<String, u64>, length: usize) -> HashMap<String, u64> {
    let mut beginnings = HashMap::new();
    for (text, count) in counts {
        let beginning: String = text.chars().take(length).collect::<String>().to_uppercase();
        if beginning.chars().all(char::is_alphanumeric) && beginning.chars().count() == length {
            *beginnings.entry(beginning).or_default() += count;
        }
    }
    beginnings
}

/// Columns of a file as texts.
fn texts(path: &Path, columns: &[&str]) -> Vec<Vec<String>> {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    let mut cells = vec![Vec::new(); columns.len()];
    for batch in read_parquet(path, Some(columns)).expect("a file") {
        let batch = batch.expect("a batch");
        for (name, cells) in columns.iter().zip(&mut cells) {
            let column = batch.column_by_name(name).expect("a column");
            match column.as_string_opt::<i32>() {
                Some(column) => cells.extend((0..column.len()).map(|row| column.value(row).to_owned())),
                None => {
                    cells.extend(column.as_primitive::<Int64Type>().values().iter().map(ToString::to_string))
                }
            }
        }
    }
    cells
}

/// Every Parquet file below a folder, newest month first.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort_unstable_by(|a, b| b.cmp(a));
    files
}

/// Writes the lake as a run does: spilled, merged by month, committed.
fn make(rows: u64, root: &Path) {
    let at: Timestamp = "2026-11-20T12:00:00Z".parse().expect("a time");
    let days = u32::try_from(rows.div_ceil(ROWS_A_DAY)).expect("days");
    let spec = SampleSpec { seed: 1, today: TODAY, days, scale: 1.0, shape: sunlake::sample::Shape::Plain };
    let all = businesses(&spec).enumerate().map(|(number, mut business)| {
        if number % ARTICLE_ONE_IN == 1 {
            business.detail.summary.name.insert_str(0, "THE ");
        }
        (business, number.is_multiple_of(DETAILED_ONE_IN))
    });
    write_lake(root, all, TODAY, at).expect("a lake");
}
