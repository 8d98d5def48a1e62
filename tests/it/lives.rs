//! Lakes live through accidents on a clock that the test moves: what happens to them is random, and every way out is a documented one.
//!
//! A life is a small invented Florida from a seed, as an API or as files of the state; a lake; and a second lake that never has an
//! accident. After each event `verify` names exactly what is wrong, a command of the pages corrects it, and within two mornings the lake
//! publishes without a person, is complete, and equals the second one. What is not compared is listed in `lives/compare.rs`.
//!
//! `cargo test many_lives -- --ignored --nocapture` runs `SUNLAKE_LIVES` lives from the seed `SUNLAKE_LIFE_SEED` on, and prints how
//! often each event happened. `SUNLAKE_LIFE_KEEP` is a folder for the lake of a life that fails.

mod aggregates;
mod compare;
mod damage;
mod events;
mod life;
mod pipelines;
mod world;

use life::{Kind, live};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// Events of a life, in the suite and in many lives. A store is slow: half of them there.
const FEW: usize = 4;
const MANY: usize = 20;

/// Of eight lives four are of the state's files, and one is in an object store.
fn kind(seed: u64) -> Kind {
    match seed % 8 {
        2 => Kind::Store,
        even if even % 2 == 0 => Kind::Api,
        _ => Kind::State,
    }
}

/// A life; the number of its events by name, or what went wrong.
fn tried(seed: u64, events: usize) -> Result<BTreeMap<&'static str, usize>, String> {
    catch_unwind(AssertUnwindSafe(|| live(seed, kind(seed), events)))
        .unwrap_or_else(|_| Err(format!("life {seed} ended in a panic; see above")))
}

fn assert_lives(seeds: &[u64]) {
    for seed in seeds {
        let events = if kind(*seed) == Kind::Store { FEW / 2 } else { FEW };
        if let Err(why) = tried(*seed, events) {
            panic!("{why}");
        }
    }
}

#[test]
fn lakes_of_the_api_live_through_accidents_by_the_pages_alone() {
    assert_lives(&[0]);
}

#[test]
fn lakes_in_a_store_live_through_accidents_by_the_pages_alone() {
    assert_lives(&[2]);
}

#[test]
fn lakes_of_the_state_s_files_live_through_accidents_by_the_pages_alone() {
    assert_lives(&[1]);
}

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}")))
}

#[test]
#[ignore = "20 lives, or SUNLAKE_LIVES of them: a minute each"]
fn many_lives() {
    let first = variable("SUNLAKE_LIFE_SEED").unwrap_or(0);
    let number = variable("SUNLAKE_LIVES").unwrap_or(20);
    let events = variable("SUNLAKE_LIFE_EVENTS").map_or(MANY, |events| events as usize);
    let step = variable("SUNLAKE_LIFE_STEP").unwrap_or(1);
    let (mut counts, mut failed): (BTreeMap<&str, usize>, Vec<u64>) = Default::default();
    for seed in (first..).step_by(step as usize).take(number as usize) {
        let begun = Instant::now();
        match tried(seed, events) {
            Ok(of_life) => {
                of_life.into_iter().for_each(|(name, times)| *counts.entry(name).or_default() += times)
            }
            Err(why) => {
                println!("{why}\n");
                failed.push(seed);
            }
        }
        println!("life {seed}: {:.0?}, {} failed; events: {counts:?}", begun.elapsed(), failed.len());
    }
    let total: usize = counts.values().sum();
    println!("{number} lives, {total} events: {counts:#?}");
    assert!(failed.is_empty(), "lives {failed:?} failed");
}
