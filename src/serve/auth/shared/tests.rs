//! The counts with a real Redis.

use super::address::StoreAddress;
use super::counts::SharedCounts;
use super::redis_for_tests::Redis;
use super::uses::last_uses;
use crate::contract::plan::{Plan, PlanLimits};
use crate::contract::usage::Usage;
use crate::serve::auth::counted::{Admission, CountNotKept, UsageMetrics, Use};
use crate::serve::auth::last_use::LastUse;
use crate::serve::auth::usage_account::MAX_KEYS;
use jiff::{Timestamp, ToSpan};
use proptest::prelude::{Strategy, any, prop};
use proptest::test_runner::{Config, TestRunner};

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

fn limits(per_minute: u32, per_day: u32, per_month: u32) -> PlanLimits {
    PlanLimits { per_minute, per_day, per_month, ..Plan::Starter.limits() }
}

fn address(redis: &Redis) -> StoreAddress {
    StoreAddress::parse(&redis.url()).expect("an address").expect("a store")
}

/// The time of the store, in seconds.
fn now_of(redis: &Redis) -> Timestamp {
    let secs = redis.ask("TIME").lines().nth(2).and_then(|secs| secs.trim().parse().ok());
    Timestamp::from_second(secs.expect("seconds")).expect("an instant")
}

/// Counts at given times, connected at `now`.
async fn counts(redis: &Redis, now: Timestamp) -> SharedCounts {
    let mut counts = SharedCounts::new(address(redis), UsageMetrics::default()).expect("counts");
    counts.is_time_given = true;
    counts.begin(now).await.expect("connected");
    assert!(counts.is_usable());
    counts
}

#[tokio::test]
async fn windows_end_at_eastern_midnight_at_a_months_end_and_when_the_clocks_change() {
    let redis = Redis::start();
    // The last second of a window and the first of the next, in winter, summer, and on the days on which the clocks change.
    for (account, late, early, is_month) in [
        ("winter", "2027-01-31T04:59:59.999Z", "2027-01-31T05:00:00Z", false),
        ("summer", "2026-07-31T03:59:59.999Z", "2026-07-31T04:00:00Z", false),
        ("month", "2026-08-01T03:59:59.999Z", "2026-08-01T04:00:00Z", true),
        ("year", "2027-01-01T04:59:59.999Z", "2027-01-01T05:00:00Z", true),
        ("spring", "2027-03-15T03:59:59.999Z", "2027-03-15T04:00:00Z", false),
        ("autumn", "2026-11-02T04:59:59.999Z", "2026-11-02T05:00:00Z", false),
    ] {
        let (late, early) = (at(late), at(early));
        let counts = counts(&redis, late).await;
        let limits = if is_month { limits(9, 9, 1) } else { limits(9, 1, 9) };
        let count = async |now| {
            counts.count(Use { account, key: "key_1", now, limits: &limits }).await.expect("counted")
        };
        assert_eq!(count(late - 90.minutes()).await.refusal, None, "{account}");
        let refused = count(late).await;
        assert_eq!(refused.refusal.map(|refusal| refusal.retry_after_secs), Some(1), "{account}");
        let counted = count(early).await;
        assert_eq!(counted.refusal, None, "{account}");
        let left = if is_month { (8, 8, 0) } else { (8, 0, 7) };
        assert_eq!((counted.left.minute, counted.left.day, counted.left.month), left, "{account}");
    }
}

/// A request as the file counts it.
fn expected(usage: &mut Usage, now: Timestamp, limits: &PlanLimits) -> Admission {
    let refusal = usage.admit(now, limits).err();
    Admission { refusal, left: usage.remaining(now, limits) }
}

#[test]
fn the_store_counts_refuses_and_resets_as_the_file_does() {
    let redis = Redis::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    // Steps in milliseconds: within a minute, over hours and days, to the next month, and back.
    let step =
        prop::sample::select(vec![0, 1, 900, 20_000, 59_999, 60_000, 3_600_000, 43_200_000, 90_000_000])
            .prop_flat_map(|millis: i64| (millis..=millis + 1, any::<bool>(), 0..40_u32))
            .prop_map(|(millis, is_long, chance)| match (is_long, chance) {
                (_, 0) => -millis,
                (_, 1) => 31 * 86_400_000,
                (_, 2) => -5 * 86_400_000,
                (true, _) => millis,
                _ => millis % 10_000,
            });
    let cases = (1..6_u32, 1..12_u32, 1..30_u32, prop::collection::vec(step, 1..60));
    let number = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(60) });
    let ended = runner.run(&cases, |(per_minute, per_day, per_month, steps)| {
        number.set(number.get() + 1);
        let (account, limits) = (format!("account {}", number.get()), limits(per_minute, per_day, per_month));
        let (mut usage, mut now) = (Usage::default(), at("2026-10-30T12:00:00Z"));
        runtime.block_on(async {
            let counts = counts(&redis, now).await;
            for step in steps {
                now += jiff::SignedDuration::from_millis(step);
                let counted =
                    counts.count(Use { account: &account, key: "key_1", now, limits: &limits }).await;
                assert_eq!(counted, Ok(expected(&mut usage, now, &limits)), "{now}");
            }
        });
        Ok(())
    });
    ended.unwrap_or_else(|error| panic!("{error}"));
}

#[tokio::test]
async fn the_clock_is_the_stores_and_a_store_days_away_is_not_used() {
    let redis = Redis::start();
    let own = SharedCounts::new(address(&redis), UsageMetrics::default()).expect("counts");
    let (now, limits) = (now_of(&redis), Plan::Starter.limits());
    own.begin(now).await.expect("connected");
    // Two servers whose clocks are hours apart agree on the minute.
    for (ahead, left) in [(0, 19), (6, 18), (-6, 17)] {
        let counted = own
            .count(Use { account: "acme", key: "key_1", now: now + ahead.hours(), limits: &limits })
            .await
            .expect("counted");
        assert_eq!((counted.refusal, counted.left.minute), (None, left));
    }
    let since = redis.count("acme", "minute_since");
    assert!(since.abs_diff(u64::try_from(now.as_millisecond()).expect("a time")) < 60_000, "{since}");
    assert_eq!(
        own.count(Use { account: "acme", key: "key_1", now: now - 100.hours(), limits: &limits }).await,
        Err(CountNotKept)
    );
    assert!(!own.is_usable());
    assert_eq!(redis.count("acme", "minute"), 3);
}

#[tokio::test]
async fn the_last_uses_of_keys_are_kept_as_long_as_the_hash() {
    let redis = Redis::start();
    let now = at("2026-07-15T12:00:00Z");
    let counts = counts(&redis, now).await;
    let limits = PlanLimits { per_minute: 1_000, ..Plan::Agency.limits() };
    for number in 0..100 {
        let key = format!("key_{number}");
        counts
            .count(Use { account: "many", key: &key, now: now + number.seconds(), limits: &limits })
            .await
            .expect("counted");
    }
    counts.count(Use { account: "few", key: "key_1", now, limits: &limits }).await.expect("counted");
    let uses = last_uses(&address(&redis), &["many", "few", "none"]).await.expect("uses");
    assert_eq!(redis.ask("HLEN sunlake:usage:{many}").trim(), format!(":{}", MAX_KEYS + 6));
    for (account, key, last) in [
        ("many", "key_99", LastUse::At(now + 99.seconds())),
        ("many", "key_0", LastUse::Unknown),
        ("few", "key_1", LastUse::At(now)),
        ("few", "key_2", LastUse::NotThisMonth),
        ("none", "key_1", LastUse::NotThisMonth),
    ] {
        assert_eq!(uses.of_key(account, key), last, "{account} {key}");
    }
    // July 1 and 40 days, from July 15 12:00Z.
    let left = redis.ask("TTL sunlake:usage:{few}");
    let secs: i64 = left.trim().trim_start_matches(':').parse().expect("seconds");
    let end = at("2026-08-10T04:00:00Z").as_second() - now.as_second();
    assert!((end - 60..=end).contains(&secs), "{secs}");
}

#[tokio::test]
async fn a_damaged_hash_is_the_trouble_of_its_account_alone() {
    let redis = Redis::start();
    let now = at("2026-07-15T12:00:00Z");
    let counts = counts(&redis, now).await;
    redis.ask("SET sunlake:usage:{acme} x");
    let limits = Plan::Starter.limits();
    assert_eq!(
        counts.count(Use { account: "acme", key: "key_1", now, limits: &limits }).await,
        Err(CountNotKept)
    );
    assert!(counts.is_usable());
    assert_eq!(
        counts
            .count(Use { account: "other", key: "key_1", now, limits: &limits })
            .await
            .expect("counted")
            .left
            .minute,
        19
    );
}

#[tokio::test]
async fn a_store_that_cannot_be_written_is_not_used() {
    let redis = Redis::with(&["--min-replicas-to-write", "1"]);
    let counts = SharedCounts::new(address(&redis), UsageMetrics::default()).expect("counts");
    counts.begin(now_of(&redis)).await.expect("a warning");
    assert!(!counts.is_usable());
    redis.ask("CONFIG SET min-replicas-to-write 0");
    counts.begin(now_of(&redis)).await.expect("connected");
    assert!(counts.is_usable());
}
