//! One business as one file has it.

use super::event::address;
use crate::import::files::layout::{
    Field, Kind, NUMBER, PartyFields, corporate, corporate_event, fictitious, fictitious_event, partnership,
    partnership_event,
};
use crate::import::rules::effect::is_domestic;
use crate::import::rules::party::party;
use crate::import::rules::place::{Address, city, completed, county, county_named};
use crate::import::rules::text::{day, document_number, is_blank, letter, squeezed};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// A record of a business, before events change it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Corporate, fictitious or partnership.
    pub kind: Kind,
    /// Document number.
    pub number: String,
    /// Name.
    pub name: String,
    /// Filing type, of corporate records.
    pub filing_type: String,
    /// Status letter; a blank is one, too.
    pub status: char,
    /// Principal address, completed.
    pub principal: Address,
    /// Mailing address, completed.
    pub mailing: Address,
    /// Filing date.
    pub filed: Date,
    /// Last transaction date, of corporate records.
    pub last_transaction: Option<Date>,
    /// State or country of formation.
    pub formation: String,
    /// Year of the last annual report, or 0.
    pub report_year: i32,
    /// Name of the registered agent.
    pub agent: String,
    /// Names and titles of officers, owners or partners, sorted.
    pub officers: Vec<(String, String)>,
    /// Whether there are more officers than a record can hold.
    pub more_officers: bool,
    /// County, of fictitious names.
    pub county: String,
    /// When it was cancelled or expired, of fictitious names and partnerships.
    pub ended: Option<Date>,
}

/// The document number and the filing date of a record of the right length: the first look, which decides whether it counts. An error is
/// the reason in the quarantine.
pub fn check_record(kind: Kind, line: &[u8]) -> Result<(String, Date), &'static str> {
    let (name, filed) = match kind {
        Kind::Fictitious => (fictitious::NAME, fictitious::FILE_DATE),
        Kind::Partnership => (partnership::NAME, partnership::FILE_DATE),
        _ => (corporate::NAME, corporate::FILE_DATE),
    };
    let number = document_number(NUMBER.of(line)).ok_or("no number")?;
    if is_blank(name.of(line)) {
        return Err("no name");
    }
    Ok((number, day(filed.of(line)).ok_or("no filing date")?))
}

/// All of a record that [`check_record`] accepted.
pub fn parse_record(kind: Kind, line: &[u8]) -> Result<Record, &'static str> {
    let (number, filed) = check_record(kind, line)?;
    let mut record = match kind {
        Kind::Fictitious => of_fictitious(line, number, filed),
        Kind::Partnership => of_partnership(line, number, filed),
        _ => of_corporate(line, number, filed),
    };
    record.complete();
    Ok(record)
}

impl Record {
    /// Completes its addresses and sorts its officers, as rows have them: a record that is read back from its rows is equal.
    fn complete(&mut self) {
        self.principal = completed(&self.principal);
        if self.mailing.iter().any(|part| !part.is_empty()) {
            self.mailing = completed(&self.mailing);
        }
        if self.kind == Kind::Fictitious {
            let [_, _, city_filed, state, zip, _] = &self.principal;
            let of_place = || county(state, zip, &city(city_filed, state));
            self.county = county_named(&self.county).or_else(of_place).unwrap_or_default().to_owned();
        }
        self.officers.sort_unstable();
    }

    /// Adds the partner of another record of the same partnership.
    pub fn add_officers(&mut self, other: Self) {
        self.officers.extend(other.officers);
        self.officers.sort_unstable();
    }
}

fn of_corporate(line: &[u8], number: String, filed: Date) -> Record {
    use corporate as at;
    let filing_type = squeezed(at::FILING_TYPE.of(line)).to_uppercase();
    let formation = squeezed(at::FORMATION.of(line)).to_uppercase();
    let years = at::REPORT_YEAR.map(|field| report_year(field.of(line)));
    Record {
        name: squeezed(at::NAME.of(line)),
        principal: address(&at::PRINCIPAL, line),
        mailing: address(&at::MAILING, line),
        last_transaction: day(at::LAST_TRANSACTION.of(line)),
        formation: if formation.is_empty() && is_domestic(&filing_type) {
            "FL".to_owned()
        } else {
            formation
        },
        filing_type,
        report_year: years.into_iter().max().unwrap_or(0),
        agent: party(&at::AGENT, line),
        officers: parties((0..6).map(at::officer), line, None),
        more_officers: letter(at::MORE_THAN_SIX.of(line)) == Some('Y'),
        ..blank(Kind::Corporate, number, filed, letter(at::STATUS.of(line)).unwrap_or(' '))
    }
}

fn of_fictitious(line: &[u8], number: String, filed: Date) -> Record {
    use fictitious as at;
    let status = letter(at::STATUS.of(line)).unwrap_or(' ');
    Record {
        name: squeezed(at::NAME.of(line)),
        principal: address(&at::PRINCIPAL, line),
        formation: "FL".to_owned(),
        officers: parties((0..10).map(at::owner), line, Some("OWNER")),
        more_officers: letter(at::MORE_THAN_TEN.of(line)) == Some('Y'),
        county: squeezed(at::COUNTY.of(line)),
        ended: match status {
            'C' => day(at::CANCELLED.of(line)),
            'E' => day(at::EXPIRES.of(line)),
            _ => None,
        },
        ..blank(Kind::Fictitious, number, filed, status)
    }
}

fn of_partnership(line: &[u8], number: String, filed: Date) -> Record {
    use partnership as at;
    Record {
        name: squeezed(at::NAME.of(line)),
        principal: address(&at::PRINCIPAL, line),
        mailing: address(&at::MAILING, line),
        formation: "FL".to_owned(),
        officers: parties([at::PARTNER].into_iter(), line, Some("PARTNER")),
        ended: day(at::CANCELLED.of(line)),
        ..blank(Kind::Partnership, number, filed, letter(at::STATUS.of(line)).unwrap_or(' '))
    }
}

fn blank(kind: Kind, number: String, filed: Date, status: char) -> Record {
    Record {
        kind,
        number,
        name: String::new(),
        filing_type: String::new(),
        status,
        principal: Address::default(),
        mailing: Address::default(),
        filed,
        last_transaction: None,
        formation: String::new(),
        report_year: 0,
        agent: String::new(),
        officers: Vec::new(),
        more_officers: false,
        county: String::new(),
        ended: None,
    }
}

/// Names and titles of parties. `title` is that of all of them; none where each has its own.
fn parties(
    fields: impl Iterator<Item = PartyFields>,
    line: &[u8],
    title: Option<&str>,
) -> Vec<(String, String)> {
    let named = fields.filter_map(|fields| {
        let name = party(&fields, line);
        let own = || squeezed(fields.title.of(line));
        (!name.is_empty()).then(|| (name, title.map_or_else(own, str::to_owned)))
    });
    named.collect()
}

/// A year from 1900 to 2099; 0 for anything else.
fn report_year(raw: &[u8]) -> i32 {
    let is_year = raw.len() == 4 && raw.iter().all(u8::is_ascii_digit) && matches!(&raw[..2], b"19" | b"20");
    if !is_year {
        return 0;
    }
    raw.iter().fold(0, |year, digit| year * 10 + i32::from(digit - b'0'))
}

/// The newest day of a line that dates its file: of a transaction, an annual report or an event, up to `today`.
pub fn newest_day(kind: Kind, line: &[u8], today: Date) -> Option<Date> {
    let newest = |fields: &[Field]| {
        fields.iter().filter_map(|field| day(field.of(line))).filter(|day| *day <= today).max()
    };
    match kind {
        Kind::Corporate => {
            let [one, two, three] = corporate::REPORT_DATE;
            newest(&[corporate::LAST_TRANSACTION, one, two, three])
        }
        Kind::CorporateEvent => newest(&[corporate_event::FILED]),
        Kind::Fictitious => newest(&[fictitious::FILE_DATE, fictitious::CANCELLED]),
        Kind::FictitiousEvent => newest(&[fictitious_event::FILED]),
        Kind::Partnership => newest(&[partnership::FILE_DATE, partnership::CANCELLED]),
        Kind::PartnershipEvent => newest(&[partnership_event::FILED]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::try_changed;
    use crate::import::business::event::parse_event;
    use std::path::Path;

    #[test]
    fn fuzz_of_records_and_events() {
        let kinds = [
            (Kind::Corporate, "cor/20261014c.txt"),
            (Kind::Fictitious, "fic/20261014f.txt"),
            (Kind::Partnership, "gen/20261014g.txt"),
            (Kind::CorporateEvent, "cor/events/20261014ce.txt"),
            (Kind::FictitiousEvent, "fic/events/20261014fe.txt"),
        ];
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/state_files/files/doc");
        for (kind, name) in kinds {
            let text = std::fs::read(folder.join(name)).expect("a file of the state");
            let lines: Vec<&[u8]> =
                text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
            try_changed(&lines, |line| {
                let number = if kind.is_event() {
                    parse_event(kind, line).map(|(number, _)| number)
                } else {
                    parse_record(kind, line).ok().map(|record| record.number)
                };
                assert!(number.is_none_or(|number| !number.is_empty() && number.len() <= 12));
            });
        }
    }
}
