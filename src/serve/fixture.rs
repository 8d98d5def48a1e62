//! A small Florida for the tests of this module.

use super::auth::{Accounts, Meter};
use super::http::app::Site;
use super::http::host_guard::{HostGuard, Origins};
use super::index::Index;
use super::load::load_snapshot;
use super::metrics::Metrics;
use super::service::{Clock, Service};
use crate::contract::business::{Address, Detail, Industry, Officer, Summary};
use crate::contract::eastern::parse_date;
use crate::contract::plan::{Plan, PlanLimits};
use crate::table::{Change, ChangeRow, DetailRow, FilingRow, OfficerRow, Row, Table, write_rows};
use jiff::Timestamp;
use jiff::civil::{Date, date};
use prometheus_client::metrics::counter::Counter;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// The current day of the tests.
pub(super) const TODAY: Date = date(2026, 7, 31);
/// When the rows of the tests were observed: 2026-07-31T16:00:00Z.
pub(super) const SEEN_AT: Timestamp = Timestamp::constant(1_785_513_600, 0);
/// The key of the tests.
pub(super) const KEY: &str = "flb_test";

/// Name, type, status, filing day, city, ZIP, county, industry type; ids count up from 1.
const ROWS: [&str; 9] = [
    "SUNSHINE BAKERY LLC|llc|active|2026-07-31|Tampa|33602|Hillsborough|food.bakery",
    "Sunset Roofing, Inc.|corporation|active|2026-07-31|TAMPA|33603|Hillsborough|trade.roof",
    "THE SUN LLC|llc|active|2026-07-30|Miami|33101|Miami-Dade|food.cafe",
    "SUNDIAL TRUST|trust|active|2026-07-01|Ocala|34470|Marion|other.general",
    "SUN & SEA|fictitious|active|2026-07-31|Tampa|33602|Hillsborough|food.bakery",
    "SUNKEN LLC|llc|dissolved|2026-07-31|Tampa|33602|Hillsborough|food.bakery",
    "ÑANDÚ PAINTING LLC|llc|active|2019-05-01|Ocala|34470|Marion|trade.paint",
    "TOMORROW LLC|llc|active|2026-08-01|Ocala|34471|Marion|trade.paint",
    "GONE \"QUIETLY\" LLC|llc|active|2026-07-31|Tampa|33602|Hillsborough|food.bakery",
];

pub(super) fn summary(number: usize) -> Summary {
    let cells: Vec<&str> = ROWS[number - 1].split('|').collect();
    let [name, kind, status, day, city, zip, county, industry] = cells[..] else { panic!("eight cells") };
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

/// Nine businesses: 1 to 3 with detail, 1 with 30 officers and three changes, 2 without any, 3 with officers never fetched. Of the changes of
/// 1 the first is its appearance, which is not served.
pub(super) fn snapshot() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let row = |number| FilingRow::from_summary(&summary(number), SEEN_AT).expect("a row");
    let filings: Vec<FilingRow> = (1..=ROWS.len()).map(row).collect();
    write_table(folder.path(), Table::Filings, "f.parquet", &filings);
    let looked_up = [detail(1, 30), detail(2, 0), detail(3, 2)];
    let details = looked_up.map(|detail| DetailRow::from_detail(&detail, SEEN_AT).expect("a row"));
    write_table(folder.path(), Table::Details, "d.parquet", &details);
    let officer = |n| Officer { name: format!("OFFICER {:02}", 29 - n), title: "MGR".to_owned() };
    let officers: Vec<_> = (0..30).map(|n| OfficerRow::new(1, n, &officer(n), SEEN_AT)).collect();
    write_table(folder.path(), Table::Officers, "o.parquet", &officers);
    let changes = [(Change::Appeared, "", 0), (Change::Returned, "", 0), (Change::Changed, "city", 3_600)];
    let changes = changes.map(|(kind, field, secs)| change(kind, field, secs));
    write_table(folder.path(), Table::Changes, "c.parquet", &changes);
    folder
}

/// A change of business 1, seen `secs` seconds after [`SEEN_AT`]; a city was Miami and is Tampa.
fn change(change: Change, field: &str, secs: i64) -> ChangeRow {
    let city = |name: &str| (field == "city").then(|| name.to_owned());
    ChangeRow {
        observed_at: SEEN_AT + jiff::SignedDuration::from_secs(secs),
        observed_on: TODAY,
        business_id: 1,
        change,
        field: field.to_owned(),
        old: city("Miami"),
        new: city("Tampa"),
        run_id: "run".to_owned(),
    }
}

pub(super) fn index() -> Index {
    load_snapshot(snapshot().path()).expect("an index")
}

pub(super) fn clock() -> Clock {
    Arc::new(|| SEEN_AT)
}

pub(super) fn site(limits: PlanLimits, scopes: &[&str]) -> Site {
    let accounts = Accounts::single(KEY, "acme", limits, scopes);
    let service = Service::new(Arc::new(index()), accounts, Meter::default(), clock(), Some(TODAY));
    let host_guard = HostGuard::new(([127, 0, 0, 1], 1).into(), None, Origins::default());
    Site::new(service, "http://127.0.0.1:1", host_guard, Metrics::new(Counter::default()), [1; 32])
}

pub(super) fn generous() -> PlanLimits {
    PlanLimits {
        per_minute: 1_000_000,
        per_day: 1_000_000,
        per_month: 1_000_000,
        ..Plan::Enterprise.limits()
    }
}

/// Writes rows as one file of a table.
pub(super) fn write_table<R: Row>(snapshot: &Path, table: Table, file: &str, rows: &[R]) {
    let path = snapshot.join(table.name()).join(file);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    write_rows(rows, &path, &[]).expect("written");
}

/// A row of the filings table.
pub(super) fn filing(id: &str, day: &str, listed: bool) -> FilingRow {
    let (id, document_number, filed_date) = (id.to_owned(), id.to_owned(), day.parse().expect("a day"));
    let summary = Summary { id, document_number, filed_date, ..summary(1) };
    let row = FilingRow::from_summary(&summary, SEEN_AT).expect("a row");
    FilingRow { listed, ..row }
}
