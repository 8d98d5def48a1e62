//! Each fault of a network at each endpoint: a run asks again, or ends with a documented code and the next one continues.

use crate::reference_pages::page::{code, same, table};
use crate::support::command::{Sunlake, project, sunlake};
use crate::support::lake;
use crate::support::proxy::{Proxy, Reply, Request};
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::source;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A run with a fault may take so long, without optimisation and while other tests run.
const BOUND: Duration = Duration::from_secs(60);

/// More than an answer may have.
const BOMB_BYTES: u64 = 64 << 20;

struct Fault {
    name: &'static str,
    reply: fn(usize) -> Reply,
    /// How many of the first requests of an endpoint it meets.
    times: usize,
}

const fn fault(name: &'static str, reply: fn(usize) -> Reply) -> Fault {
    Fault { name, reply, times: 1 }
}

/// Where the redirects lead.
const ELSEWHERE: &str = "http://192.0.2.1/v1/me";

const FAULTS: [Fault; 19] = [
    fault("an answer delayed by 2 seconds", |_| {
        Reply::Instead(|answer| {
            std::thread::sleep(Duration::from_secs(2));
            answer
        })
    }),
    fault("an answer in drips", |_| Reply::Slow(Duration::from_secs(2))),
    fault("a reset before the answer", |_| Reply::Reset),
    fault("a connection that is closed without an answer", |_| Reply::Instead(|_| Vec::new())),
    fault("half a head", |_| Reply::Instead(|answer| answer[..20].to_vec())),
    fault("a body cut off", |_| Reply::BreakOff),
    fault("a `Content-Length` that is too long", |_| Reply::Instead(|answer| with_length(&answer, 7))),
    fault("a `Content-Length` that is too short", |_| Reply::Instead(|answer| with_length(&answer, -7))),
    fault("a byte that is no UTF-8", |_| Reply::Instead(with_a_wrong_byte)),
    fault("bytes that are no HTTP", |_| Reply::Instead(|_| b"SSH-2.0-OpenSSH_9.9\r\n".to_vec())),
    fault("a page of a gateway with 502", |_| html(502)),
    fault("a page of a gateway with 200", |_| html(200)),
    fault("gzip that is none", |_| Reply::Instead(|_| packed("gzip", b"no gzip"))),
    fault("a bomb in gzip", |_| Reply::Instead(|_| packed("gzip", bombs().0.as_slice()))),
    fault("a bomb in zstd", |_| Reply::Instead(|_| packed("zstd", bombs().1.as_slice()))),
    Fault { name: "three times 429, `Retry-After` 1, 0 and `soon`", reply: storm, times: 3 },
    fault("503, `Retry-After` a date that is over", |_| busy(503, "Sun, 06 Nov 1994 08:49:37 GMT")),
    fault("a redirect to another origin", |_| {
        Reply::Answer(307, vec![("Location", ELSEWHERE.to_owned())], String::new())
    }),
    fault("204 without a body", |_| Reply::Answer(204, Vec::new(), String::new())),
];

fn html(status: u16) -> Reply {
    let page = "<html><body><h1>Bad gateway</h1></body></html>".to_owned();
    Reply::Answer(status, vec![("Content-Type", "text/html".to_owned())], page)
}

fn busy(status: u16, retry_after: &str) -> Reply {
    Reply::error(status, vec![("Retry-After", retry_after.to_owned())])
}

fn storm(time: usize) -> Reply {
    busy(429, ["1", "0", "soon"][time])
}

/// The answer with a length that differs by `by` bytes.
fn with_length(answer: &[u8], by: isize) -> Vec<u8> {
    let text = String::from_utf8(answer.to_vec()).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let right = format!("Content-Length: {}", body.len());
    let wrong = format!("Content-Length: {}", body.len().saturating_add_signed(by));
    assert!(head.contains(&right), "{head}");
    format!("{}\r\n\r\n{body}", head.replace(&right, &wrong)).into_bytes()
}

fn with_a_wrong_byte(mut answer: Vec<u8>) -> Vec<u8> {
    let last = answer.len() - 4;
    answer[last] = 0xff;
    answer
}

fn packed(encoding: &str, bytes: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n", bytes.len());
    [head.as_bytes(), bytes].concat()
}

/// Bodies that are small in gzip and in zstd, and unpacked more than an answer may have.
fn bombs() -> &'static (Vec<u8>, Vec<u8>) {
    static BOMBS: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    BOMBS.get_or_init(|| {
        let blanks = || std::io::repeat(b' ').take(BOMB_BYTES);
        let mut gzip = Vec::new();
        let mut packer = flate2::read::GzEncoder::new(blanks(), flate2::Compression::fast());
        packer.read_to_end(&mut gzip).expect("gzip");
        (gzip, zstd::encode_all(blanks(), 1).expect("zstd"))
    })
}

/// The endpoint of a request: its path without ids.
fn endpoint(target: &str) -> String {
    let path = target.split('?').next().unwrap_or_default().trim_start_matches("/v1/");
    let part = |part: &str| match part.bytes().any(|byte| byte.is_ascii_digit()) {
        true => "{}".to_owned(),
        false => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// How each endpoint met a fault: none where the run asked again and continued, else its exit code.
type Met = BTreeMap<String, Option<i32>>;

/// A lake that is read, looked up and completed by a list, while each endpoint meets a fault once.
struct Rehearsal {
    proxy: Proxy,
    scratch: Scratch,
    /// Endpoints that met the fault, in order.
    met: Arc<Mutex<Vec<String>>>,
}

fn server() -> &'static ApiServer {
    static SERVER: OnceLock<ApiServer> = OnceLock::new();
    SERVER.get_or_init(|| ApiServer::detailed(AGENCY))
}

impl Rehearsal {
    fn of(fault: Option<&'static Fault>) -> Self {
        let met: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = Arc::clone(&met);
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        let proxy = Proxy::scripted(server().address, move |request: &Request| {
            let (endpoint, Some(fault)) = (endpoint(&request.target), fault) else { return Reply::Forward };
            let before = times.entry(endpoint.clone()).or_default();
            let time = *before;
            *before += 1;
            if time >= fault.times {
                return Reply::Forward;
            }
            if time == 0 {
                noted.lock().unwrap_or_else(PoisonError::into_inner).push(endpoint);
            }
            (fault.reply)(time)
        });
        Self { proxy, scratch: Scratch::new(), met }
    }

    fn pipelines(&self) -> [PathBuf; 3] {
        let file = |name: &str, lines: &str| {
            let text = format!("name = \"{name}\"\n{lines}\n[aggregates]\nenabled = false\n");
            self.scratch.file(&format!("{name}.toml"), &text)
        };
        let known = lake::filings(&source::small().lake).into_values().next().expect("a filing");
        self.scratch.file("numbers.txt", known["document_number"].as_deref().expect("a number"));
        [
            file("days", "[extract]\ndays = 5"),
            file("details", "[enrich]\nwhere = \"entity_type = 'llc'\"\nlimit = 3"),
            file("numbers", "[enrich]\ndocuments = \"numbers.txt\""),
        ]
    }

    /// Runs all pipelines to their ends. Returns how each endpoint met the fault.
    fn live(&self) -> Met {
        let mut met = Met::new();
        for pipeline in self.pipelines() {
            for run in 0.. {
                assert!(run < 12, "{} never ends: {met:?}", pipeline.display());
                let begun = Instant::now();
                let done = Sunlake::run(&pipeline, &self.scratch.lake())
                    .asking(&self.proxy.url(), source::small().today, &server().key)
                    .finish();
                assert!(begun.elapsed() < BOUND, "it took {:?}{}", begun.elapsed(), done.shown());
                let printed = [&done.stdout[..], &done.stderr[..]].concat();
                assert!(!printed.contains(&server().key), "the key: {printed}");
                let mut now = std::mem::take(&mut *self.met.lock().unwrap_or_else(PoisonError::into_inner));
                let code = done.code().filter(|code| *code != 0);
                let ended_by = code.map(|code| (now.pop(), code));
                met.extend(now.into_iter().map(|endpoint| (endpoint, None)));
                match ended_by {
                    None => break,
                    Some((Some(endpoint), code @ (3 | 6))) => drop(met.insert(endpoint, Some(code))),
                    _ => panic!("no fault explains it{}", done.shown()),
                }
            }
        }
        met
    }

    /// The rows of the tables, without what says when and by which run.
    fn rows(&self) -> Vec<Vec<lake::Cells>> {
        let left_out = ["first_seen_at", "changed_at", "fetched_at"];
        let rows = |table| lake::rows(&self.scratch.lake(), table, &left_out);
        ["filings", "details", "officers"].map(rows).to_vec()
    }

    /// Checks that no file holds the key.
    fn assert_key_is_nowhere(&self) {
        let key = server().key.as_bytes();
        for file in lake::files_below(&self.scratch.lake()).into_iter().filter(|file| file.is_file()) {
            let bytes = std::fs::read(&file).expect("a file");
            assert!(
                !bytes.windows(key.len()).any(|window| window == key),
                "the key is in {}",
                file.display()
            );
        }
    }

    /// Checks that no request came before the pause of a `Retry-After` of a second was over.
    fn assert_pauses_kept(&self, fault: &Fault) {
        if fault.times == 1 {
            return;
        }
        let log = self.proxy.log();
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for (at, request) in log.iter().enumerate() {
            let times = seen.entry(endpoint(&request.target)).or_default();
            *times += 1;
            if *times == 1
                && let Some(next) = log.get(at + 1)
            {
                let pause = next.at.duration_since(request.at);
                assert!(pause >= Duration::from_secs(1), "{pause:?} after {}", request.target);
            }
        }
    }
}

fn met_by(fault: &'static Fault) -> Met {
    static CALM: OnceLock<Vec<Vec<lake::Cells>>> = OnceLock::new();
    let calm = CALM.get_or_init(|| {
        let calm = Rehearsal::of(None);
        calm.live();
        let rows = calm.rows();
        assert!(rows.iter().all(|table| !table.is_empty()), "{rows:?}");
        rows
    });
    let rehearsal = Rehearsal::of(Some(fault));
    let met = rehearsal.live();
    assert!(rehearsal.rows() == *calm, "{}: rows are lost or doubled: {met:?}", fault.name);
    rehearsal.assert_pauses_kept(fault);
    rehearsal.assert_key_is_nowhere();
    sunlake(&rehearsal.scratch.lake(), &["verify"]).exits(0);
    met
}

/// The row of the table, with the endpoints in order.
fn row(fault: &Fault, met: &Met) -> Vec<String> {
    let cell = |met: &Option<i32>| met.map_or_else(|| "complete".to_owned(), |code| code.to_string());
    [fault.name.to_owned()].into_iter().chain(met.values().map(cell)).collect()
}

fn page() -> PathBuf {
    project().join("docs/reliability.md")
}

#[test]
fn a_storm_of_429_and_a_bomb_at_each_endpoint_lose_no_row() {
    let page = std::fs::read_to_string(page()).expect("the page");
    for name in ["three times 429, `Retry-After` 1, 0 and `soon`", "a bomb in zstd"] {
        let fault = FAULTS.iter().find(|fault| fault.name == name).expect("a fault");
        let row = row(fault, &met_by(fault)).join(" | ");
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
#[ignore = "19 faults at each endpoint, some 200 runs: several minutes; with SUNLAKE_BLESS set it writes docs/reliability.md"]
fn every_fault_of_a_network_at_each_endpoint_is_as_the_page_says() {
    let mut rows: Vec<(&Fault, Met)> = Vec::new();
    for fault in &FAULTS {
        let met = met_by(fault);
        println!("{}: {met:?}", fault.name);
        rows.push((fault, met));
    }
    let endpoints: Vec<&String> = rows[0].1.keys().collect();
    for (fault, met) in &rows {
        assert_eq!(met.keys().collect::<Vec<_>>(), endpoints, "{}", fault.name);
    }
    let columns: Vec<String> = endpoints.iter().map(|endpoint| code(endpoint)).collect();
    let columns: Vec<&str> = ["fault"].into_iter().chain(columns.iter().map(String::as_str)).collect();
    let cells: Vec<Vec<String>> = rows.iter().map(|(fault, met)| row(fault, met)).collect();
    same(&page(), &format!("{HEAD}{}{TAIL}", table(&columns, &cells)));
}

const HEAD: &str = "# Reliability: faults of the network

<!-- Generated: SUNLAKE_BLESS=1 cargo test network -- --ignored. Do not edit. -->

A proxy is between the program and the API. Each endpoint meets each fault once, while three pipelines read days, details with
officers, and a list of numbers. **complete**: the run waits or asks again, and is complete. A number: the run ends with this exit code at once,
nothing is published, and the next run continues where it ended. After each fault the lake is sound and has every row once.

";

const TAIL: &str = "- No request goes out before a `Retry-After` is over, and none goes to another origin.
- The key is in no message and in no file.
- A certificate that is expired, of an unknown authority or of another host ends a run with 3.
- Between the program and an object store, eight faults of connections (closed, busy, an error page, no HTTP, done without an answer, cut, one
  wrong bit, dripping): a command tries again or ends with 9, and every row is published once (`cargo test network_store -- --ignored`).
";
