//! One event of a business.

use crate::import::files::layout::{
    AddressFields, Field, Kind, NUMBER, corporate_event, fictitious_event, partnership_event,
};
use crate::import::rules::place::Address;
use crate::import::rules::text::{day, document_number, squeezed};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// An event as filed.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StateEvent {
    /// Its code.
    pub code: String,
    /// Its description.
    pub description: String,
    /// Its place among the events of the business, as the state counts.
    pub sequence: i32,
    /// When it takes effect; mostly none.
    pub effective: Option<Date>,
    /// When it was filed.
    pub filed: Option<Date>,
    /// Free text; document numbers of merged businesses.
    pub notes: [String; 3],
    /// The new name, or the old one.
    pub name: String,
    /// Whether it changes the name.
    pub renames: bool,
    /// The new principal address; empty where it stays.
    pub address: Address,
    /// The new county, of fictitious names.
    pub county: String,
}

impl StateEvent {
    /// The day that counts: when it takes effect, else when it was filed.
    pub fn day(&self) -> Option<Date> {
        self.effective.or(self.filed)
    }

    /// The new principal address, if the event changes it.
    pub fn new_address(&self) -> Option<&Address> {
        self.address[..5].iter().any(|part| !part.is_empty()).then_some(&self.address)
    }

    /// The new name, if the event changes it. Some records have the old name there, and say so in a note.
    pub fn new_name(&self) -> Option<&str> {
        let start: String = self.name.chars().take(20).flat_map(char::to_uppercase).collect();
        let is_old = self.notes.iter().any(|note| {
            let note = note.to_uppercase();
            note.starts_with("OLD NAME") && note.contains(&start)
        });
        (self.renames && !self.name.is_empty() && !is_old).then_some(self.name.as_str())
    }
}

/// The document number and the event of a record; none without a number.
pub fn parse_event(kind: Kind, line: &[u8]) -> Option<(String, StateEvent)> {
    let event = match kind {
        Kind::CorporateEvent => corporate(line),
        Kind::FictitiousEvent => fictitious(line),
        _ => partnership(line),
    };
    let number = match kind {
        Kind::CorporateEvent => NUMBER,
        Kind::FictitiousEvent => fictitious_event::NUMBER,
        _ => partnership_event::NUMBER,
    };
    Some((document_number(number.of(line))?, event))
}

fn corporate(line: &[u8]) -> StateEvent {
    use corporate_event as at;
    StateEvent {
        code: code(at::CODE.of(line)),
        description: squeezed(at::DESCRIPTION.of(line)),
        sequence: sequence(at::SEQUENCE.of(line)),
        effective: day(at::EFFECTIVE.of(line)),
        filed: day(at::FILED.of(line)),
        notes: at::NOTES.map(|note: Field| squeezed(note.of(line))),
        name: squeezed(at::NAME.of(line)),
        renames: at::NAME_CHANGE.of(line) == b"Y",
        address: address(&at::ADDRESS, line),
        county: String::new(),
    }
}

fn fictitious(line: &[u8]) -> StateEvent {
    use fictitious_event as at;
    StateEvent {
        code: code(at::CODE.of(line)),
        description: squeezed(at::DESCRIPTION.of(line)),
        sequence: sequence(at::SEQUENCE.of(line)),
        filed: day(at::FILED.of(line)),
        name: squeezed(at::NAME.of(line)),
        address: address(&at::NEW_ADDRESS, line),
        county: squeezed(at::NEW_COUNTY.of(line)),
        ..StateEvent::default()
    }
}

fn partnership(line: &[u8]) -> StateEvent {
    use partnership_event as at;
    StateEvent {
        code: code(at::CODE.of(line)),
        description: squeezed(at::DESCRIPTION.of(line)),
        sequence: sequence(at::SEQUENCE.of(line)),
        effective: day(at::EFFECTIVE.of(line)),
        filed: day(at::FILED.of(line)),
        name: squeezed(at::NAME.of(line)),
        ..StateEvent::default()
    }
}

fn code(raw: &[u8]) -> String {
    squeezed(raw).to_uppercase()
}

/// The number of a sequence field; 0 for anything else.
fn sequence(raw: &[u8]) -> i32 {
    squeezed(raw).parse().unwrap_or(0)
}

/// The fields of an address as filed.
pub(in crate::import) fn address(fields: &AddressFields, line: &[u8]) -> Address {
    fields.0.map(|field| squeezed(field.of(line)))
}
