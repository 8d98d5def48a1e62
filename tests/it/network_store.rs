//! Faults of the network between the program and an object store: a command tries again or ends with 9, and no row is lost.

use crate::support::command::{Finished, Sunlake};
use crate::support::dice::Dice;
use crate::support::lake;
use crate::support::relay::{Relay, Way};
use crate::support::s3::Bucket;
use crate::support::scratch::Scratch;
use crate::support::source::sample_pipeline;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A command may take so long, without optimisation and while other tests run.
const BOUND: Duration = Duration::from_secs(150);

const DAYS: [&str; 3] = ["2026-03-18", "2026-03-19", "2026-03-20"];

const BUSY: &str =
    "HTTP/1.1 503 Slow Down\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const HTML: &str = "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 13\r\nConnection: close\r\n\r\n<h1>Bad</h1>\r";
const GARBAGE: &str = "SSH-2.0-OpenSSH_9.9\r\n";

/// A fault by the name of its bucket, the connections that meet it, in percent, and their way. What is not tried again within a
/// command meets few.
type Kind = (&'static str, u64, fn(&mut Dice) -> Way);

const KINDS: [Kind; 8] = [
    ("closed", 30, |_| Way::Closed),
    ("busy", 30, |_| Way::Answered(BUSY)),
    ("gateway", 30, |_| Way::Answered(HTML)),
    ("garbage", 1, |_| Way::Answered(GARBAGE)),
    ("done-and-not-said", 30, |_| Way::CutAfter(0)),
    ("cut", 30, |dice| Way::CutAfter(dice.below(9_000) as usize)),
    ("flipped", 2, |dice| Way::FlippedAt(dice.below(6_000) as usize)),
    ("dripping", 30, |_| Way::Dripping),
];

/// A bucket behind a relay, some of whose connections meet a fault.
struct Strait {
    bucket: Bucket,
    relay: Relay,
    scratch: Scratch,
    pipeline: PathBuf,
}

impl Strait {
    fn new((name, share, way): Kind) -> Self {
        let bucket = Bucket::new(name);
        let mut dice = Dice::new(7);
        let relay = Relay::start(bucket.store(), move || match dice.below(100) < share {
            true => way(&mut dice),
            false => Way::Clean,
        });
        let scratch = Scratch::new();
        let pipeline = scratch.file("sample.toml", &sample_pipeline(3, 0.01));
        Self { bucket, relay, scratch, pipeline }
    }

    fn through(&self, command: Sunlake) -> Finished {
        let command = self.bucket.opened_by(command, &self.scratch.path("work"));
        let begun = Instant::now();
        let done = command.env("AWS_ENDPOINT", &self.relay.url()).finish();
        assert!(begun.elapsed() < BOUND, "it took {:?}{}", begun.elapsed(), done.shown());
        done
    }

    fn command(&self, arguments: &[&str]) -> Finished {
        self.through(Sunlake::on(Path::new(&self.bucket.lake()), arguments))
    }

    /// Runs of the days, each until it publishes; then what is in the lake, as CSV.
    fn live(&self) -> (String, BTreeMap<i32, usize>) {
        let mut ends = BTreeMap::new();
        for day in DAYS {
            for run in 0.. {
                assert!(run < 12, "no run publishes {day}: {ends:?}");
                let lake = self.bucket.lake();
                let done =
                    self.through(Sunlake::run(&self.pipeline, Path::new(&lake)).args(["--today", day]));
                let code = done.code().expect("a code");
                *ends.entry(code).or_default() += 1;
                match code {
                    0 => break,
                    9 => (),
                    _ => panic!("a fault of the store is no reason for it{}", done.shown()),
                }
            }
        }
        for look in 0.. {
            assert!(look < 12, "no look at the lake ends: {ends:?}");
            let sql = "SELECT business_id, name, filed_date, status FROM filings ORDER BY business_id";
            let done = self.command(&["query", sql, "--format", "csv"]);
            match done.code() {
                Some(0) => return (done.stdout, ends),
                Some(9) => (),
                _ => panic!("a fault of the store is no reason for it{}", done.shown()),
            }
        }
        unreachable!("a look ends or there are too many")
    }
}

fn rows_of_a_calm_lake() -> String {
    let scratch = Scratch::new();
    let pipeline = scratch.file("sample.toml", &sample_pipeline(3, 0.01));
    for day in DAYS {
        Sunlake::run(&pipeline, &scratch.lake()).args(["--today", day]).finish().exits(0);
    }
    let mut text = "business_id,name,filed_date,status\n".to_owned();
    for (id, cells) in lake::filings(&scratch.lake()) {
        let cell = |name: &str| cells[name].clone().unwrap_or_default();
        let name = cell("name");
        let name =
            if name.contains(['"', ',']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name };
        text.push_str(&format!("{id},{name},{},{}\n", cell("filed_date"), cell("status")));
    }
    text
}

#[test]
#[ignore = "8 faults of a store, 3 days each: some minutes"]
fn runs_into_a_store_behind_a_bad_network_publish_every_row_once() {
    let calm = rows_of_a_calm_lake();
    for kind in KINDS {
        let strait = Strait::new(kind);
        let (rows, ends) = strait.live();
        println!("{}: {} faults, ends of runs by exit code: {ends:?}", kind.0, strait.relay.faults());
        assert!(strait.relay.faults() > 0 || kind.1 < 30, "{}: no connection met it", kind.0);
        assert_eq!(rows, calm, "{}", kind.0);
        let verified = strait.bucket.opened_by(
            Sunlake::on(Path::new(&strait.bucket.lake()), ["verify"]),
            &strait.scratch.path("another"),
        );
        verified.finish().exits(0);
    }
}
