//! Inputs that nobody wrote: examples with bytes changed by chance, for tests of what reads text from outside.
//!
//! A test tries a thousand, the same ones each time. By hand: `SUNLAKE_FUZZ_SECONDS=1800 cargo test fuzz`, with
//! `SUNLAKE_FUZZ_SEED` for others and `SUNLAKE_FUZZ_INPUT` for one of them alone. A panic is reported with the input; with a
//! time to spend, so is one that takes over a second of processor time, or does not end.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Inputs of a test that was given no time.
const INPUTS: u64 = 1_000;

/// Longest input, so that a chain of copies ends.
const LONGEST: usize = 1 << 16;

/// Pieces that parsers decide by.
const PIECES: [&[u8]; 24] = [
    b"\0",
    b"\xff",
    b"\n",
    b"\r\n",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b",",
    b"'",
    b"%",
    b"=",
    b"-1",
    b"1e999",
    b"99999999999999999999",
    b"null",
    b"\xed\xa0\x80",
    b"\xe2\x80\xae",
    b"--",
    b"\x1b[2J",
];

#[expect(clippy::disallowed_methods, reason = "a person sets these for a test; no program reads them")]
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Calls `run` with changed examples. It must return, whatever they are.
pub(crate) fn try_changed<E: AsRef<[u8]>>(examples: &[E], mut run: impl FnMut(&[u8])) {
    let (seconds, seed) = (number("SUNLAKE_FUZZ_SECONDS"), number("SUNLAKE_FUZZ_SEED").unwrap_or(1));
    let only = number("SUNLAKE_FUZZ_INPUT");
    let mut chance = Chance(seed);
    let begun = Instant::now();
    let current = Arc::new(Mutex::new(None));
    if seconds.is_some() {
        report_hangs(&current);
    }
    for count in 0.. {
        let is_over = match seconds {
            _ if only.is_some() => only < Some(count),
            Some(seconds) => begun.elapsed() >= Duration::from_secs(seconds),
            None => count >= INPUTS,
        };
        if is_over {
            println!("{count} inputs of seed {seed}");
            return;
        }
        let input = chance.changed(examples);
        if only.is_some_and(|only| only != count) {
            continue;
        }
        let before = spent();
        *current.lock().expect("a lock") =
            Some((Instant::now(), format!("input {count} of seed {seed}"), input.clone()));
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(&input))) {
            eprintln!("input {count} of seed {seed}: {:?}", String::from_utf8_lossy(&input));
            resume_unwind(panic);
        }
        if seconds.is_some() && spent() - before > Duration::from_secs(1) {
            panic!("input {count} of seed {seed} is slow: {:?}", String::from_utf8_lossy(&input));
        }
    }
}

/// Processor time of this thread; on a busy machine an input waits for long. Nothing where the system does not say it.
fn spent() -> Duration {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(spent.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default())
}

/// Ends the process with the input that is under way for more than a minute: nothing else would name it.
fn report_hangs(current: &Arc<Mutex<Current>>) {
    let current = Arc::downgrade(current);
    std::thread::spawn(move || {
        while let Some(current) = current.upgrade() {
            if let Some((started, number, input)) = &*current.lock().expect("a lock")
                && started.elapsed() > Duration::from_secs(60)
            {
                eprintln!("{number} does not end: {:?}", String::from_utf8_lossy(input));
                std::process::abort();
            }
            drop(current);
            std::thread::sleep(Duration::from_secs(1));
        }
    });
}

/// When the input under way began, its number, and the input.
type Current = Option<(Instant, String, Vec<u8>)>;

/// Numbers that look random, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    /// An example with up to eight changes.
    fn changed<E: AsRef<[u8]>>(&mut self, examples: &[E]) -> Vec<u8> {
        let mut input = examples[self.below(examples.len())].as_ref().to_vec();
        for _ in 0..=self.below(8) {
            self.change(&mut input, examples);
        }
        input.truncate(LONGEST);
        input
    }

    fn change<E: AsRef<[u8]>>(&mut self, input: &mut Vec<u8>, examples: &[E]) {
        let at = self.below(input.len() + 1);
        let end = (at + 1 + self.below(40)).min(input.len());
        match self.below(7) {
            0 => drop(input.drain(at.min(end)..end)),
            1 => input.truncate(at),
            2 => {
                let copy = input[at.min(end)..end].to_vec();
                (0..=self.below(200)).for_each(|_| drop(input.splice(at..at, copy.iter().copied())));
            }
            3 => {
                let piece = PIECES[self.below(PIECES.len())];
                drop(
                    input
                        .splice(at..end.min(at + self.below(2) * piece.len()).max(at), piece.iter().copied()),
                );
            }
            4 => {
                let other = examples[self.below(examples.len())].as_ref();
                let from = self.below(other.len() + 1);
                let to = (from + self.below(200)).min(other.len());
                drop(input.splice(at..at, other[from..to].iter().copied()));
            }
            5 => input.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << self.below(8)),
            _ => input.iter_mut().skip(at).take(1).for_each(|byte| *byte = self.below(256) as u8),
        }
    }
}
