//! Filing types, and what an event does to a business.
//!
//! `facts/event_codes.csv`: the state's codes and their effect.

use crate::import::business::event::StateEvent;
use crate::import::files::layout::Kind;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Filing types: code, entity type, label, and whether the business is of Florida.
const FILING_TYPES: [(&str, &str, &str, bool); 11] = [
    ("FLAL", "llc", "LLC", true),
    ("FORL", "llc", "LLC", false),
    ("DOMP", "corporation", "Corporation", true),
    ("FORP", "corporation", "Corporation", false),
    ("DOMNP", "nonprofit", "Nonprofit", true),
    ("FORNP", "nonprofit", "Nonprofit", false),
    ("NPREG", "nonprofit", "Nonprofit", true),
    ("DOMLP", "partnership", "LP", true),
    ("FORLP", "partnership", "LP", false),
    ("TRUST", "trust", "Trust", true),
    ("AGENT", "other", "Registered agent", true),
];

/// Entity type and label of a filing type. An unknown one is `other`, with its code as label.
pub fn entity_type(filing_type: &str) -> (&'static str, &str) {
    let known = FILING_TYPES.iter().find(|(code, ..)| *code == filing_type);
    known.map_or(("other", filing_type), |(_, entity, label, _)| (*entity, *label))
}

/// Whether a filing type is that of a business formed in Florida.
pub fn is_domestic(filing_type: &str) -> bool {
    FILING_TYPES.iter().any(|(code, .., domestic)| *code == filing_type && *domestic)
}

/// What an event does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The business is no longer active, for this reason.
    Ends(&'static str),
    /// It is active again.
    Revives,
    /// Its name changes.
    Renames,
    /// Neither.
    Nothing,
}

impl Effect {
    /// The meaning in the table of events.
    pub fn meaning(self) -> String {
        match self {
            Self::Ends(reason) => format!("inactive: {reason}"),
            Self::Revives => "active".to_owned(),
            Self::Renames => "name".to_owned(),
            Self::Nothing => "none".to_owned(),
        }
    }
}

/// What the events of a code do, and whether only to a business that is merged: the survivor has the same code, and only the merged business
/// names the other one.
static CODES: LazyLock<HashMap<&str, (Effect, bool)>> = LazyLock::new(|| {
    let lines = include_str!("facts/event_codes.csv").lines().skip(1);
    lines
        .filter_map(|line| {
            let (code, rest) = line.split_once(',')?;
            let effect = rest.split(',').next()?;
            let (word, reason) = effect.split_once(':').unwrap_or((effect, ""));
            let effect = match word {
                "inactive" | "merge" => Effect::Ends(reason),
                "active" => Effect::Revives,
                "name" => Effect::Renames,
                _ => Effect::Nothing,
            };
            Some((code, (effect, word == "merge")))
        })
        .collect()
});

/// What an event does to a business whose record is of this kind.
pub fn effect(kind: Kind, event: &StateEvent) -> Effect {
    match kind {
        Kind::Fictitious => match event.code.as_str() {
            "CAN" => Effect::Ends("cancelled"),
            "REN" => Effect::Revives,
            _ => Effect::Nothing,
        },
        Kind::Partnership => {
            let text = event.description.to_uppercase();
            let ends = ["CANCEL", "DISSOL"].iter().any(|word| text.contains(word));
            if ends { Effect::Ends("cancelled") } else { Effect::Nothing }
        }
        _ => match CODES.get(event.code.as_str()) {
            Some((_, true)) if !event.notes[1..].iter().any(|note| is_number(note)) => Effect::Nothing,
            Some((effect, _)) => *effect,
            None => by_description(&event.description),
        },
    }
}

/// Whether a note is nothing but a document number.
fn is_number(note: &str) -> bool {
    matches!(note.len(), 6 | 12) && note.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// What an event with an unknown code does.
fn by_description(description: &str) -> Effect {
    let text = description.to_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let cancels_dissolution =
        text.split_once("CANCELLATION OF ").is_some_and(|(_, rest)| rest.contains("DISSOLUTION"));
    if has(&["REINSTATE", "REVOCATION OF", "DISSOLUTION CANCELLED"]) || cancels_dissolution {
        return Effect::Revives;
    }
    if has(&["ABANDON", "INTENT", "NOTICE", "TRADEMARK", "AUTHORITY"]) {
        return Effect::Nothing;
    }
    if has(&["NAME CHANGE"]) {
        return Effect::Renames;
    }
    let reasons = [
        ("ADMIN", "administratively dissolved"),
        ("DISSOL", "dissolved"),
        ("REVOKE", "revoked"),
        ("WITHDRAW", "withdrawn"),
        ("EXPIRATION", "expired"),
    ];
    let found = reasons.iter().find(|(word, _)| text.contains(word));
    found.map_or(Effect::Nothing, |(_, reason)| Effect::Ends(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_follow_from_code_description_and_notes() {
        for (code, description, note, expected) in [
            ("CORAMADMAR", "", "", Effect::Ends("administratively dissolved")),
            ("CORAMREVAR", "", "", Effect::Ends("revoked")),
            ("CORAPREIN", "REINSTATEMENT", "", Effect::Revives),
            ("CORAPMER", "MERGER", "", Effect::Nothing),
            ("CORAPMER", "MERGER", "L26000000001", Effect::Ends("merged")),
            ("CORLCNC", "LC NAME CHANGE", "", Effect::Renames),
            ("NEVERSEEN", "NOTICE OF INTENT TO DISSOLVE", "", Effect::Nothing),
            ("NEVERSEEN", "LC WITHDRAWAL BY THE COMPANY", "", Effect::Ends("withdrawn")),
            ("NEVERSEEN", "CANCELLATION OF THE DISSOLUTION", "", Effect::Revives),
        ] {
            let event = StateEvent {
                code: code.to_owned(),
                description: description.to_owned(),
                notes: [String::new(), note.to_owned(), String::new()],
                ..StateEvent::default()
            };
            assert_eq!(effect(Kind::Corporate, &event), expected, "{code} {description}");
        }
        assert_eq!(entity_type("FORNP"), ("nonprofit", "Nonprofit"));
        assert_eq!(entity_type("NEW"), ("other", "NEW"));
    }
}
