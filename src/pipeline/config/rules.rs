//! What the values of a pipeline file must keep to.

use super::spec::{A_YEAR, LARGEST_REGISTER, LONGEST_NAME, PipelineSpec, SampleSource, SourceSpec};
use crate::contract::param::{MAX_LIMIT, MAX_OFFSET};
use crate::contract::reference::EntityType;
use crate::extract::reference::MAX_WINDOW;

/// A dotted key, and what is wrong with its value.
type WrongKey = (&'static str, String);

/// Values that break a rule.
pub(super) fn wrong_values(spec: &PipelineSpec) -> Vec<WrongKey> {
    let mut wrong = Vec::new();
    check_name(&spec.name, &mut wrong);
    check_numbers(spec, &mut wrong);
    check_percents(spec, &mut wrong);
    check_types(&spec.extract.types, &mut wrong);
    if spec.source.embedded && spec.source.base_url.is_some() {
        let problem = "one file reads the embedded API or that at base_url, not both; drop one of the two";
        wrong.push(("source.base_url", problem.to_owned()));
    }
    check_sample(&spec.source.sample, &mut wrong);
    if spec.registry.is_some() && spec.enrich.is_some() {
        wrong.push(("enrich", "one file reads the register or looks businesses up, not both".to_owned()));
    }
    if spec.import.is_some() {
        let has_source = spec.source != SourceSpec::default();
        let others = [
            ("registry", spec.registry.is_some()),
            ("enrich", spec.enrich.is_some()),
            ("source", has_source),
        ];
        let given = others.into_iter().filter(|(_, is_given)| *is_given);
        let problem = "one file reads the API or imports files, not both; drop [import] or this section";
        wrong.extend(given.map(|(key, _)| (key, problem.to_owned())));
    }
    if let Some(enrich) = &spec.enrich
        && enrich.condition.is_some() == enrich.documents.is_some()
    {
        let problem = "where or documents says which businesses are looked up; give one of the two";
        wrong.push(("enrich", problem.to_owned()));
    }
    wrong
}

fn check_numbers(spec: &PipelineSpec, wrong: &mut Vec<WrongKey>) {
    let (given, sample) = (&spec.plan, &spec.source.sample);
    let bounds = [
        ("plan.rows_per_call", given.rows_per_call.map(u64::from), 1, u64::from(MAX_LIMIT)),
        ("plan.max_offset", given.max_offset.map(u64::from), 0, u64::from(MAX_OFFSET)),
        ("source.sample.max_offset", sample.max_offset.map(u64::from), 0, u64::from(MAX_OFFSET)),
        ("source.sample.per_minute", sample.per_minute.map(u64::from), 1, u64::MAX),
        ("source.sample.per_day", sample.per_day.map(u64::from), 1, u64::MAX),
        ("source.sample.per_month", sample.per_month.map(u64::from), 1, u64::MAX),
        ("plan.window_days", given.window_days.map(u64::from), 1, u64::from(MAX_WINDOW)),
        ("budget.max_requests", spec.budget.max_requests, 1, u64::MAX),
        ("budget.max_minutes", spec.budget.max_minutes, 1, A_YEAR),
        ("budget.attempts", spec.budget.attempts.map(u64::from), 1, u64::MAX),
        ("enrich.limit", spec.enrich.as_ref().and_then(|enrich| enrich.limit), 1, u64::MAX),
    ];
    for (key, value, least, most) in bounds {
        if value.is_some_and(|value| value < least || value > most) {
            let end = if most == u64::MAX { String::new() } else { format!(" to {most}") };
            wrong.push((key, format!("{} must be a whole number from {least}{end}", last_word(key))));
        }
    }
}

fn check_percents(spec: &PipelineSpec, wrong: &mut Vec<WrongKey>) {
    let of_import = spec.import.as_ref().map(|import| ("import.max_short_percent", import.max_short_percent));
    let given = [
        ("checks.max_vanished_percent", spec.checks.max_vanished_percent),
        ("checks.max_drop_percent", spec.checks.max_drop_percent),
    ];
    for (key, percent) in given.into_iter().chain(of_import) {
        if !(0.0..=100.0).contains(&percent) {
            let problem = format!("{} must be a number from 0 to 100, and is {percent}", last_word(key));
            wrong.push((key, problem));
        }
    }
}

fn last_word(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, word)| word)
}

fn check_name(name: &str, wrong: &mut Vec<WrongKey>) {
    let is_plain = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
    if !is_plain {
        wrong.push(("name", "name must be lower-case letters, digits, - and _".to_owned()));
    } else if name.len() > LONGEST_NAME {
        wrong.push(("name", format!("name has {LONGEST_NAME} characters at most")));
    }
}

fn check_sample(sample: &SampleSource, wrong: &mut Vec<WrongKey>) {
    if !(sample.scale > 0.0 && sample.scale <= 10.0) {
        wrong.push(("source.sample.scale", format!("scale {} is not between 0 and 10", sample.scale)));
    }
    if sample.days == 0 {
        wrong.push(("source.sample.days", "a sample has 1 day at least".to_owned()));
    }
    if sample.register > LARGEST_REGISTER {
        let problem = "a sample's register has 5,000,000 businesses at most";
        wrong.push(("source.sample.register", problem.to_owned()));
    }
}

fn check_types(types: &[EntityType], wrong: &mut Vec<WrongKey>) {
    let twice = types.iter().enumerate().find(|(place, entity_type)| types[..*place].contains(entity_type));
    if let Some((_, entity_type)) = twice {
        wrong.push(("extract.types", format!("types names {} twice", entity_type.key())));
    }
}
