//! `sunlake serve` under load, compared with ROAPI on the same files.
//!
//! ```text
//! cargo bench --bench serve -- [ROWS|LAKE]... [--seconds S] [--no-roapi] [--out FILE]
//! ```
//!
//! For each number of ROWS (default 3,000,000) a lake of about this number of businesses is made once and kept in the build's own folder;
//! the folder of a LAKE is taken as it is. Each is served by the built binary, over HTTP, on this machine, next to the driver. Requests
//! of a listing are sent at 1,000 a second whether or not answers come (open loop): a slow answer delays no later request, and its time
//! counts from the moment it was due. Look-ups and a search over MCP are also driven as fast as they go (closed loop). No two listings asked for
//! are the same unless the table says so. ROAPI comes from the Python index, into the same folder. `--out` writes the tables as a page.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]
#![expect(clippy::disallowed_methods, reason = "a bench looks whether a folder is there")]

mod driver;
mod florida;
#[path = "../common/grouped.rs"]
mod grouped;
mod page;
mod process;
mod roapi;
mod shapes;

use driver::{Measured, closed_loop, open_loop};
use florida::Florida;
use page::Page;
use process::{Server, folder};
use shapes::Shape;
use std::path::PathBuf;
use std::time::Duration;

/// Requests a second of the open loop.
const RATE: u64 = 1_000;
/// Connections of the open loop: enough that none waits for another's answer.
const OPEN_CONNECTIONS: usize = 32;
/// Connections of the closed loop.
const CLOSED_CONNECTIONS: usize = 16;
/// Connections of the comparison.
const SIDE_BY_SIDE_CONNECTIONS: usize = 4;

struct Arguments {
    /// Numbers of rows, and folders of lakes.
    lakes: Vec<String>,
    seconds: u64,
    with_roapi: bool,
    out: Option<PathBuf>,
}

fn arguments() -> Arguments {
    let mut read = Arguments { lakes: Vec::new(), seconds: 10, with_roapi: true, out: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            // Added by cargo.
            "--bench" => {}
            "--no-roapi" => read.with_roapi = false,
            "--seconds" => read.seconds = words.next().and_then(|text| text.parse().ok()).expect("seconds"),
            "--out" => read.out = words.next().map(PathBuf::from),
            _ => read.lakes.push(word),
        }
    }
    if read.lakes.is_empty() {
        read.lakes.push("3000000".to_owned());
    }
    read
}

fn main() {
    let arguments = arguments();
    let mut page = Page::default();
    for lake in &arguments.lakes {
        let florida = match lake.replace('_', "").parse() {
            Ok(rows) => Florida::of(rows, &folder()),
            Err(_) => Florida::of_lake(PathBuf::from(lake)),
        };
        bench(&florida, &arguments, &mut page);
    }
    println!("{}", page.text());
    if let Some(out) = &arguments.out {
        std::fs::write(out, page.document()).expect("the page");
    }
}

fn bench(florida: &Florida, arguments: &Arguments, page: &mut Page) {
    let server = Server::start(florida);
    page.begin(florida, &server.facts());
    for shape in Shape::ALL {
        let requests = |number| server.request(&shape.target(florida, number));
        // Each thread's first requests, and pages of memory that were never touched.
        open_loop(server.address, OPEN_CONNECTIONS, RATE, Duration::from_secs(1), &requests);
        let length = Duration::from_secs(arguments.seconds);
        let before = server.processor_time();
        let measured = open_loop(server.address, OPEN_CONNECTIONS, RATE, length, &requests);
        page.open(shape.words(), &measured, server.processor_time() - before);
    }
    let mut drive = |words: &str, requests: &(dyn Fn(u64) -> Vec<u8> + Sync)| {
        let before = server.processor_time();
        let length = Duration::from_secs(arguments.seconds);
        let measured = closed_loop(server.address, CLOSED_CONNECTIONS, length, requests);
        page.closed(words, CLOSED_CONNECTIONS, &measured, server.processor_time() - before);
    };
    for shape in [Shape::Document, Shape::Detail] {
        drive(shape.words(), &|number| server.request(&shape.target(florida, number)));
    }
    drive("search over MCP, 25 rows", &|number| {
        server.mcp_search(&florida.prefix.0, &florida.day_before(number % 1_000).to_string())
    });
    page.after(&server.facts());
    if arguments.with_roapi {
        compare(florida, &server, arguments, page);
    }
}

/// The same questions to both, one after the other, each as fast as it goes.
fn compare(florida: &Florida, server: &Server, arguments: &Arguments, page: &mut Page) {
    let length = Duration::from_secs(arguments.seconds);
    let drive = |address, requests: &(dyn Fn(u64) -> Vec<u8> + Sync)| -> Measured {
        closed_loop(address, SIDE_BY_SIDE_CONNECTIONS, length, requests)
    };
    let other = match roapi::Roapi::start(florida, &folder()) {
        Ok(other) => other,
        Err(reason) => return page.note(&format!("ROAPI was not measured: {reason}")),
    };
    page.begin_comparison(SIDE_BY_SIDE_CONNECTIONS);
    for shape in Shape::COMPARED {
        let ours = drive(server.address, &|number| server.request(&shape.target(florida, number)));
        let theirs = drive(other.address, &|number| other.request(&shape.sql(florida, number)));
        page.compared(shape.words(), &ours, &theirs);
    }
    page.end_comparison(server.facts().rss, other.rss());
}
