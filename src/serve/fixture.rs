//! A small Florida for the tests of this floor.

use super::auth::access::Accounts;
use super::auth::usage_meter::Meter;
use super::http::app::Site;
use super::http::host_guard::HostGuard;
use super::index::Index;
use super::index::builder::IndexBuilder;
use super::metrics::Metrics;
use super::service::{Clock, Service};
use crate::contract::business::{Address, Detail, Industry, Officer, Summary};
use crate::contract::eastern::{epoch_days, parse_date};
use crate::contract::plan::{Plan, PlanLimits};
use crate::table::{ColumnKind, Table, columns};
use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use jiff::civil::{Date, date};
use parquet::arrow::ArrowWriter;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// The day the tests believe in.
pub(super) const TODAY: Date = date(2026, 7, 31);
/// The key that opens the site of the tests.
pub(super) const KEY: &str = "flb_test";

/// Name, type, status, filing day, city, ZIP, county, industry type; ids count up from 1.
const ROWS: [[&str; 8]; 9] = [
    ["SUNSHINE BAKERY LLC", "llc", "active", "2026-07-31", "Tampa", "33602", "Hillsborough", "food.bakery"],
    [
        "Sunset Roofing, Inc.",
        "corporation",
        "active",
        "2026-07-31",
        "TAMPA",
        "33603",
        "Hillsborough",
        "trade.roof",
    ],
    ["THE SUN LLC", "llc", "active", "2026-07-30", "Miami", "33101", "Miami-Dade", "food.cafe"],
    ["SUNDIAL TRUST", "trust", "active", "2026-07-01", "Ocala", "34470", "Marion", "other.general"],
    ["SUN & SEA", "fictitious", "active", "2026-07-31", "Tampa", "33602", "Hillsborough", "food.bakery"],
    ["SUNKEN LLC", "llc", "dissolved", "2026-07-31", "Tampa", "33602", "Hillsborough", "food.bakery"],
    ["ÑANDÚ PAINTING LLC", "llc", "active", "2019-05-01", "Ocala", "34470", "Marion", "trade.paint"],
    ["TOMORROW LLC", "llc", "active", "2026-08-01", "Ocala", "34471", "Marion", "trade.paint"],
    ["GONE \"QUIETLY\" LLC", "llc", "active", "2026-07-31", "Tampa", "33602", "Hillsborough", "food.bakery"],
];

pub(super) fn summary(number: usize) -> Summary {
    let [name, kind, status, day, city, zip, county, industry] = ROWS[number - 1];
    Summary {
        id: number.to_string(),
        document_number: format!("L2600000000{number}"),
        name: name.to_owned(),
        entity_type: kind.to_owned(),
        company_type: kind.to_uppercase(),
        status: status.to_owned(),
        filed_date: parse_date(day).expect("a day"),
        dissolved_date: (status == "dissolved").then(|| "2026-07-31".to_owned()),
        city: city.to_owned(),
        zip: zip.to_owned(),
        county: county.to_owned(),
        industry: Industry {
            sector: industry.split('.').next().unwrap_or_default().to_owned(),
            kind: industry.to_owned(),
        },
        url: format!("https://filings.example/fl/L2600000000{number}"),
    }
}

pub(super) fn detail(number: usize, officer_count: i32) -> Detail {
    let word = |text: &str| text.to_owned();
    Detail {
        summary: summary(number),
        principal_address: Address {
            street: word("1 MAIN ST"),
            street2: String::new(),
            city: word("Tampa"),
            state: word("FL"),
            zip: word("33602"),
            country: word("US"),
        },
        mailing_address: None,
        registered_agent_name: word("AGENT"),
        formation_state: word("FL"),
        last_annual_report_year: 2026,
        officer_count,
        license_count: 0,
    }
}

/// Nine businesses: 1 to 3 with detail, 1 with 30 officers, 2 without any, 3 with officers never fetched.
pub(super) fn index() -> Index {
    let mut builder = IndexBuilder::default();
    builder.push_detail(&detail(1, 30)).expect("a row");
    builder.push_detail(&detail(2, 0)).expect("a row");
    builder.push_detail(&detail(3, 2)).expect("a row");
    for number in 4..=ROWS.len() {
        builder.push_summary(&summary(number)).expect("a row");
    }
    let officers: Vec<Officer> =
        (0..30).rev().map(|n| Officer { name: format!("OFFICER {n:02}"), title: "MGR".to_owned() }).collect();
    builder.push_officers(1, &officers);
    builder.finish().expect("an index")
}

pub(super) fn clock() -> Clock {
    Arc::new(|| "2026-07-31T16:00:00Z".parse().unwrap_or_default())
}

pub(super) fn site(limits: PlanLimits, scopes: &[&str]) -> Site {
    let accounts = Accounts::single(KEY, "acme", limits, scopes);
    let service = Service::new(Arc::new(index()), accounts, Meter::default(), clock(), Some(TODAY));
    let host_guard = HostGuard::new(([127, 0, 0, 1], 1).into(), None);
    Site::new(service, "http://127.0.0.1:1", host_guard, Metrics::new(), [1; 32])
}

pub(super) fn generous() -> PlanLimits {
    PlanLimits {
        per_minute: 1_000_000,
        per_day: 1_000_000,
        per_month: 1_000_000,
        ..Plan::Enterprise.limits()
    }
}

/// A row of a table, by column; what it does not say is left at its default.
pub(super) type Row<'a> = HashMap<&'a str, &'a str>;

/// A column of the rows; what a row does not say is null where it may be, else empty, zero or true.
fn array(kind: ColumnKind, cells: &[Option<&str>], nullable: bool) -> ArrayRef {
    let numbers = || cells.iter().map(|cell| cell.map_or(Some(0), |text| text.parse().ok()));
    match kind {
        ColumnKind::Text if nullable => Arc::new(cells.iter().copied().collect::<StringArray>()),
        ColumnKind::Text => Arc::new(cells.iter().map(|cell| cell.or(Some(""))).collect::<StringArray>()),
        ColumnKind::Int64 => Arc::new(numbers().collect::<Int64Array>()),
        ColumnKind::Int32 => Arc::new(
            cells.iter().map(|cell| cell.map_or(Some(0), |text| text.parse().ok())).collect::<Int32Array>(),
        ),
        ColumnKind::Boolean => {
            Arc::new(cells.iter().map(|cell| Some(*cell != Some("false"))).collect::<BooleanArray>())
        }
        ColumnKind::Date => {
            let day = |text: &str| epoch_days(text.parse().expect("a day"));
            Arc::new(cells.iter().map(|cell| cell.map(day)).collect::<Date32Array>())
        }
        ColumnKind::Timestamp => {
            Arc::new(numbers().collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
        }
    }
}

/// Writes rows as one file of a table.
pub(super) fn write_table(snapshot: &Path, table: Table, file: &str, rows: &[Row<'_>]) {
    let arrays = columns(table).iter().map(|column| {
        let cells: Vec<Option<&str>> = rows.iter().map(|row| row.get(column.name).copied()).collect();
        array(column.kind, &cells, column.nullable)
    });
    let batch = RecordBatch::try_new(table.schema(), arrays.collect()).expect("a batch");
    let path = snapshot.join(table.name()).join(file);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    let mut writer =
        ArrowWriter::try_new(File::create(path).expect("a file"), table.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
}

/// A row of the filings table.
pub(super) fn filing<'a>(id: &'a str, day: &'a str, listed: &'a str) -> Row<'a> {
    Row::from([
        ("business_id", id),
        ("id", id),
        ("document_number", id),
        ("entity_type", "llc"),
        ("status", "active"),
        ("filed_date", day),
        ("county", "Bay"),
        ("industry_sector", "food"),
        ("industry_type", "food.bar"),
        ("listed", listed),
        ("last_seen_at", "1785513600000000"),
    ])
}
