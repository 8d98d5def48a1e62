use super::*;
use crate::contract::business::Detail;
use crate::contract::eastern::plus_days;
use jiff::civil::{Date, date};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

const TODAY: Date = date(2026, 7, 31);

fn spec(days: u32, scale: f64) -> SampleSpec {
    SampleSpec { seed: 1, today: TODAY, days, scale, shape: Shape::Plain }
}

fn text(business: &SampleBusiness) -> String {
    serde_json::to_string(&(&business.detail, &business.officers, business.posted)).expect("records are JSON")
}

/// A digest that a release of the standard library may not change: FNV-1a.
fn digest(spec: &SampleSpec) -> u64 {
    businesses(spec).fold(0xcbf2_9ce4_8422_2325, |digest, business| {
        text(&business)
            .bytes()
            .fold(digest, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    })
}

fn filed_counts(spec: &SampleSpec) -> BTreeMap<Date, BTreeMap<String, u32>> {
    let mut counts: BTreeMap<Date, BTreeMap<String, u32>> = BTreeMap::new();
    for SampleBusiness { detail, .. } in businesses(spec) {
        let day = counts.entry(detail.summary.filed_date).or_default();
        *day.entry(detail.summary.entity_type).or_default() += 1;
    }
    counts
}

#[test]
fn a_seed_gives_the_same_records_for_ever() {
    assert_eq!(digest(&spec(30, 0.02)), DIGEST);
    assert_ne!(digest(&SampleSpec { seed: 2, ..spec(30, 0.02) }), DIGEST);
}

/// Changes only when the sample is meant to change.
const DIGEST: u64 = 17_310_018_273_145_971_778;

#[test]
fn tomorrow_is_today_and_what_is_posted_tomorrow() {
    let today = spec(40, 0.2);
    let tomorrow = SampleSpec { today: plus_days(TODAY, 1), days: 41, ..today };
    let before: Vec<SampleBusiness> = businesses(&today).collect();
    let after: Vec<SampleBusiness> = businesses(&tomorrow).collect();
    assert!(after.len() > before.len());
    assert!(after[before.len()..].iter().all(|business| business.posted == tomorrow.today));
    let mut changed = 0;
    for (old, new) in before.iter().zip(&after) {
        let (old_summary, new_summary) = (&old.detail.summary, &new.detail.summary);
        assert_eq!(old_summary.id, new_summary.id);
        assert_eq!(old_summary.document_number, new_summary.document_number);
        assert_eq!((&old_summary.name, old_summary.filed_date), (&new_summary.name, new_summary.filed_date));
        changed += usize::from(old != new);
    }
    assert!((1..before.len() / 200).contains(&changed), "{changed} of {}", before.len());
}

#[test]
fn a_longer_window_numbers_the_same_businesses_alike() {
    let short: Vec<String> = businesses(&spec(5, 0.1)).map(|business| text(&business)).collect();
    let long: HashSet<String> = businesses(&spec(300, 0.1)).map(|business| text(&business)).collect();
    assert!(!short.is_empty());
    assert!(short.iter().all(|business| long.contains(business)));
}

#[test]
fn ids_and_document_numbers_grow_and_never_repeat() {
    let mut last_id = 0;
    let mut last_numbers: BTreeMap<String, u64> = BTreeMap::new();
    let mut documents = HashSet::new();
    let spec = SampleSpec { today: date(2026, 2, 15), days: 120, ..spec(0, 0.3) };
    for SampleBusiness { detail: Detail { summary, .. }, posted, .. } in businesses(&spec) {
        let id = summary.business_id().expect("an id");
        assert!(id > last_id);
        last_id = id;
        let number = &summary.document_number;
        assert!((6..=12).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert!(documents.insert(number.clone()), "{number} twice");
        let (prefix, count) = number.split_at(if number.starts_with("GP") { 4 } else { 3 });
        assert!(prefix.ends_with(&format!("{:02}", posted.year() % 100)));
        let count: u64 = count.parse().expect("a counter");
        let last = last_numbers.insert(prefix.to_owned(), count);
        assert!(last.is_none_or(|last| count > last), "{number} after {last:?}");
    }
    let year = |prefix: &str| last_numbers.get(prefix).copied();
    assert!(year("L25").is_some() && year("L26").is_some());
}

#[test]
fn a_posting_day_takes_every_number_of_a_prefix() {
    let numbers: Vec<u64> = businesses(&spec(200, 0.05))
        .filter(|business| business.posted > date(2026, 6, 1))
        .filter(|business| business.detail.summary.document_number.starts_with('L'))
        .filter_map(|business| business.detail.summary.document_number[3..].parse().ok())
        .collect();
    assert!(numbers.len() > 1_000);
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1));
}

#[test]
fn days_have_the_volumes_of_their_kind() {
    let counts = filed_counts(&SampleSpec { today: date(2026, 8, 25), days: 60, ..spec(0, 1.0) });
    let llc =
        |month, day| counts.get(&date(2026, month, day)).and_then(|day| day.get("llc")).copied().unwrap_or(0);
    let known = [
        (7, 13, 2_800.0),
        (7, 14, 2_030.0),
        (7, 17, 1_710.0),
        (7, 18, 450.0),
        (7, 1, 3_800.0),
        (8, 1, 3_300.0),
        (7, 3, 270.0),
        (7, 7, 4_000.0),
    ];
    for (month, day, expected) in known {
        let found = f64::from(llc(month, day));
        assert!(
            (found / expected - 1.0_f64).abs() < 0.2,
            "2026-{month}-{day}: {found}, not about {expected}"
        );
    }
    let fictitious = counts[&date(2026, 7, 14)]["fictitious"];
    assert!((450..700).contains(&fictitious), "{fictitious}");
}

#[test]
fn the_first_of_january_is_the_largest_day() {
    let counts = filed_counts(&SampleSpec { today: date(2026, 1, 31), days: 40, ..spec(0, 1.0) });
    let llc = |day: &Date| counts[day].get("llc").copied().unwrap_or(0);
    let new_year = llc(&date(2026, 1, 1));
    assert!((9_300..10_700).contains(&new_year), "{new_year}");
    let largest = counts.keys().max_by_key(|day| llc(day)).copied();
    assert_eq!(largest, Some(date(2026, 1, 1)));
}

#[test]
fn types_and_outsiders_have_their_shares() {
    let mut shares: BTreeMap<String, f64> = BTreeMap::new();
    let (mut all, mut foreign, mut other) = (0.0, 0.0, 0.0);
    for SampleBusiness { detail: Detail { summary, .. }, .. } in businesses(&spec(60, 1.0)) {
        if summary.entity_type == "fictitious" {
            continue;
        }
        *shares.entry(summary.entity_type).or_default() += 1.0;
        all += 1.0;
        foreign += f64::from(u8::from(summary.county.is_empty()));
        other += f64::from(u8::from(summary.industry.sector == "other"));
    }
    let share = |kind: &str| shares[kind] / all;
    assert!((share("llc") - 0.897).abs() < 0.005, "{}", share("llc"));
    assert!((share("corporation") - 0.079).abs() < 0.005, "{}", share("corporation"));
    assert!((share("nonprofit") - 0.021).abs() < 0.003, "{}", share("nonprofit"));
    assert!((share("partnership") - 0.003).abs() < 0.001, "{}", share("partnership"));
    assert!(share("trust") > 0.0);
    assert!((foreign / all - 0.04).abs() < 0.005, "{}", foreign / all);
    assert!((other / all - 0.57).abs() < 0.03, "{}", other / all);
}

#[test]
fn one_sector_holds_three_in_four_where_the_sample_is_so_shaped() {
    let skewed = SampleSpec { shape: Shape::OneSector, ..spec(10, 0.3) };
    let (mut all, mut other) = (0.0, 0.0);
    for business in businesses(&skewed) {
        all += 1.0;
        other += f64::from(u8::from(business.detail.summary.industry.sector == "other"));
    }
    assert!((other / all - 0.75_f64).abs() < 0.03, "{}", other / all);
}

#[test]
fn every_required_field_is_filled() {
    let known: BTreeSet<&str> = crate::contract::county::FLORIDA_COUNTIES.into_iter().collect();
    let mut seen = BTreeSet::new();
    for SampleBusiness { detail, officers, posted } in businesses(&spec(90, 0.3)) {
        let Detail { summary, principal_address, .. } = &detail;
        let texts = [&summary.name, &summary.company_type, &summary.city, &summary.zip, &summary.url];
        assert!(texts.iter().all(|text| !text.trim().is_empty()), "{summary:?}");
        assert!(summary.county.is_empty() || known.contains(summary.county.as_str()));
        assert_eq!(summary.county.is_empty(), principal_address.state != "FL");
        assert!(summary.industry.kind.starts_with(&format!("{}.", summary.industry.sector)));
        assert_eq!(summary.status == "dissolved", summary.dissolved_date.is_some());
        assert!(posted <= TODAY);
        assert!(summary.dissolved_date.as_ref().is_none_or(|day| *day <= TODAY.to_string()));
        assert!(!principal_address.street.is_empty() && !principal_address.country.is_empty());
        assert!(!detail.registered_agent_name.is_empty());
        assert_eq!(detail.formation_state.len(), 2);
        assert_eq!(detail.officer_count as usize, officers.len());
        assert!((2000..=2026).contains(&detail.last_annual_report_year));
        seen.insert(summary.company_type.clone());
        seen.insert(summary.status.clone());
    }
    let all =
        ["Corporation", "Fictitious name", "GP", "LLC", "LP", "Nonprofit", "Trust", "active", "dissolved"];
    assert_eq!(seen.iter().map(String::as_str).collect::<Vec<_>>(), all);
}

#[test]
fn names_are_unique_within_a_day() {
    let mut seen = HashSet::new();
    for SampleBusiness { detail: Detail { summary, .. }, .. } in businesses(&spec(30, 1.0)) {
        let mut hasher = DefaultHasher::new();
        (summary.filed_date, &summary.name).hash(&mut hasher);
        assert!(seen.insert(hasher.finish()), "{} twice on {}", summary.name, summary.filed_date);
    }
}

#[test]
fn the_newest_days_are_thin_and_fill_up() {
    let day = date(2026, 7, 29);
    let count = |today| {
        let seen = filed_counts(&SampleSpec { today, days: 20, ..spec(0, 1.0) });
        seen.get(&day).map_or(0, |types| types.values().sum::<u32>())
    };
    let (same_day, after_four, after_ten, settled) =
        (count(day), count(date(2026, 8, 2)), count(date(2026, 8, 8)), count(date(2026, 8, 17)));
    assert!(same_day > 0 && same_day < settled / 10, "{same_day} of {settled}");
    assert!((settled * 2 / 10..settled * 7 / 10).contains(&after_four), "{after_four} of {settled}");
    assert!(after_ten > settled * 9 / 10, "{after_ten} of {settled}");
}

#[test]
fn a_small_scale_keeps_its_share() {
    let full = businesses(&spec(90, 1.0)).count() as f64;
    let small = businesses(&spec(90, 0.01)).count() as f64;
    assert!((small / full / 0.01 - 1.0).abs() < 0.05, "{small} of {full}");
    assert_eq!(businesses(&spec(90, 0.0)).count(), 0);
    assert_eq!(businesses(&spec(90, f64::NAN)).count(), 0);
}

#[test]
fn a_day_before_all_filings_has_none() {
    let before = SampleSpec { today: date(1999, 12, 31), ..spec(u32::MAX, 0.1) };
    assert_eq!(businesses(&before).count(), 0);
    let first = SampleSpec { today: date(2000, 1, 20), ..spec(u32::MAX, 0.1) };
    assert!(businesses(&first).count() > 0);
    assert!(businesses(&first).all(|business| business.posted >= date(2000, 1, 1)));
}
