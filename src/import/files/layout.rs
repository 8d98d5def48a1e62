//! The six kinds of files, and the columns of their records.

use serde::{Deserialize, Serialize};

/// What the records of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Corporations, LLCs, limited partnerships and trusts.
    Corporate,
    /// Fictitious names.
    Fictitious,
    /// General partnerships: one record a partner.
    Partnership,
    /// Events of [`Kind::Corporate`].
    CorporateEvent,
    /// Events of [`Kind::Fictitious`].
    FictitiousEvent,
    /// Events of [`Kind::Partnership`].
    PartnershipEvent,
}

impl Kind {
    /// All kinds: records before events, the order in which files of one date are read.
    pub const ALL: [Self; 6] = [
        Self::Corporate,
        Self::Fictitious,
        Self::Partnership,
        Self::CorporateEvent,
        Self::FictitiousEvent,
        Self::PartnershipEvent,
    ];

    /// Bytes of a record without its line end.
    pub const fn length(self) -> usize {
        match self {
            Self::Corporate => 1440,
            Self::Fictitious => 2098,
            Self::Partnership => 759,
            Self::CorporateEvent => 662,
            Self::FictitiousEvent => 762,
            Self::PartnershipEvent => 910,
        }
    }

    /// Its name in the table of imported files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Corporate => "corporate",
            Self::Fictitious => "fictitious",
            Self::Partnership => "partnership",
            Self::CorporateEvent => "corporate_event",
            Self::FictitiousEvent => "fictitious_event",
            Self::PartnershipEvent => "partnership_event",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether its records are events.
    pub const fn is_event(self) -> bool {
        matches!(self, Self::CorporateEvent | Self::FictitiousEvent | Self::PartnershipEvent)
    }

    /// The kind of the events of these records.
    pub const fn events(self) -> Self {
        match self {
            Self::Corporate | Self::CorporateEvent => Self::CorporateEvent,
            Self::Fictitious | Self::FictitiousEvent => Self::FictitiousEvent,
            Self::Partnership | Self::PartnershipEvent => Self::PartnershipEvent,
        }
    }
}

/// A field: its first column, counted from 1, and its width.
#[derive(Debug, Clone, Copy)]
pub struct Field(usize, usize);

impl Field {
    const fn at(first: usize, width: usize) -> Self {
        Self(first, width)
    }

    /// Its bytes in a record; what is beyond the record's end is missing.
    pub fn of(self, line: &[u8]) -> &[u8] {
        let start = (self.0 - 1).min(line.len());
        &line[start..(start + self.1).min(line.len())]
    }

    /// The same field of the record's n-th group, counted from 0, of this many bytes each.
    const fn nth(self, at: usize, stride: usize) -> Self {
        Self(self.0 + at * stride, self.1)
    }
}

/// The six fields of an address; a field of no width is not in the record.
#[derive(Debug, Clone, Copy)]
pub struct AddressFields(pub [Field; 6]);

const fn run(first: usize, widths: [usize; 6]) -> AddressFields {
    let mut fields = [Field(first, 0); 6];
    let (mut at, mut next) = (0, first);
    while at < 6 {
        fields[at] = Field(next, widths[at]);
        next += widths[at];
        at += 1;
    }
    AddressFields(fields)
}

/// Document number of a record, and of most events.
pub const NUMBER: Field = Field::at(1, 12);

/// A group of fields that name a person or company.
#[derive(Debug, Clone, Copy)]
pub struct PartyFields {
    /// Title; of no width where the record has none.
    pub title: Field,
    /// `P` person, `C` company.
    pub kind: Field,
    /// Name.
    pub name: Field,
}

/// Columns of [`Kind::Corporate`].
#[expect(missing_docs, reason = "the name of a field says what it is")]
pub mod corporate {
    use super::{AddressFields, Field, PartyFields, run};

    pub const NAME: Field = Field::at(13, 192);
    pub const STATUS: Field = Field::at(205, 1);
    pub const FILING_TYPE: Field = Field::at(206, 15);
    pub const PRINCIPAL: AddressFields = run(221, [42, 42, 28, 2, 10, 2]);
    pub const MAILING: AddressFields = run(347, [42, 42, 28, 2, 10, 2]);
    pub const FILE_DATE: Field = Field::at(473, 8);
    pub const MORE_THAN_SIX: Field = Field::at(495, 1);
    pub const LAST_TRANSACTION: Field = Field::at(496, 8);
    pub const FORMATION: Field = Field::at(504, 2);
    pub const REPORT_YEAR: [Field; 3] = [Field::at(506, 4), Field::at(519, 4), Field::at(532, 4)];
    pub const REPORT_DATE: [Field; 3] = [Field::at(511, 8), Field::at(524, 8), Field::at(537, 8)];
    pub const AGENT: PartyFields =
        PartyFields { title: Field::at(545, 0), kind: Field::at(587, 1), name: Field::at(545, 42) };

    /// The officer at a place, from 0 to 5.
    pub const fn officer(at: usize) -> PartyFields {
        PartyFields {
            title: Field::at(669, 4).nth(at, 128),
            kind: Field::at(673, 1).nth(at, 128),
            name: Field::at(674, 42).nth(at, 128),
        }
    }
}

/// Columns of [`Kind::CorporateEvent`].
#[expect(missing_docs, reason = "the name of a field says what it is")]
pub mod corporate_event {
    use super::{AddressFields, Field, run};

    pub const SEQUENCE: Field = Field::at(13, 5);
    pub const CODE: Field = Field::at(18, 20);
    pub const DESCRIPTION: Field = Field::at(38, 40);
    pub const EFFECTIVE: Field = Field::at(78, 8);
    pub const FILED: Field = Field::at(86, 8);
    pub const NOTES: [Field; 3] = [Field::at(94, 35), Field::at(129, 35), Field::at(164, 35)];
    pub const NAME: Field = Field::at(211, 192);
    pub const NAME_CHANGE: Field = Field::at(413, 1);
    pub const ADDRESS: AddressFields = run(415, [42, 42, 28, 2, 10, 0]);
}

/// Columns of [`Kind::Fictitious`].
#[expect(missing_docs, reason = "the name of a field says what it is")]
pub mod fictitious {
    use super::{AddressFields, Field, PartyFields, run};

    pub const NAME: Field = Field::at(13, 192);
    pub const COUNTY: Field = Field::at(205, 12);
    pub const PRINCIPAL: AddressFields = run(217, [40, 40, 28, 2, 10, 2]);
    pub const FILE_DATE: Field = Field::at(339, 8);
    pub const STATUS: Field = Field::at(352, 1);
    pub const CANCELLED: Field = Field::at(353, 8);
    pub const EXPIRES: Field = Field::at(361, 8);
    pub const MORE_THAN_TEN: Field = Field::at(388, 1);

    /// The owner at a place, from 0 to 9.
    pub const fn owner(at: usize) -> PartyFields {
        PartyFields {
            title: Field::at(401, 0).nth(at, 171),
            kind: Field::at(456, 1).nth(at, 171),
            name: Field::at(401, 55).nth(at, 171),
        }
    }
}

/// Columns of [`Kind::FictitiousEvent`].
#[expect(missing_docs, reason = "the name of a field says what it is")]
pub mod fictitious_event {
    use super::{AddressFields, Field};

    pub const NUMBER: Field = Field::at(13, 12);
    pub const NAME: Field = Field::at(25, 192);
    pub const SEQUENCE: Field = Field::at(222, 5);
    pub const FILED: Field = Field::at(232, 8);
    pub const CODE: Field = Field::at(245, 3);
    pub const DESCRIPTION: Field = Field::at(248, 70);
    pub const NEW_COUNTY: Field = Field::at(469, 12);
    /// The ZIP code is two fields next to each other: 5 digits, then 4.
    pub const NEW_ADDRESS: AddressFields = AddressFields([
        Field::at(481, 40),
        Field::at(521, 40),
        Field::at(561, 28),
        Field::at(589, 2),
        Field::at(591, 9),
        Field::at(600, 2),
    ]);
}

/// Columns of [`Kind::Partnership`].
#[expect(missing_docs, reason = "the name of a field says what it is")]
pub mod partnership {
    use super::{AddressFields, Field, PartyFields, run};

    pub const STATUS: Field = Field::at(13, 1);
    pub const NAME: Field = Field::at(14, 192);
    pub const FILE_DATE: Field = Field::at(206, 8);
    pub const CANCELLED: Field = Field::at(222, 8);
    pub const PRINCIPAL: AddressFields = run(241, [44, 44, 28, 2, 9, 2]);
    pub const MAILING: AddressFields = run(371, [44, 44, 28, 2, 9, 2]);
    pub const PARTNER: PartyFields =
        PartyFields { title: Field::at(501, 0), kind: Field::at(502, 1), name: Field::at(515, 55) };
}

/// Columns of [`Kind::PartnershipEvent`].
#[expect(missing_docs, reason = "the name of a field says what it is")]
pub mod partnership_event {
    use super::Field;

    pub const NUMBER: Field = Field::at(13, 12);
    pub const SEQUENCE: Field = Field::at(25, 5);
    pub const CODE: Field = Field::at(30, 20);
    pub const DESCRIPTION: Field = Field::at(50, 40);
    pub const EFFECTIVE: Field = Field::at(95, 8);
    pub const FILED: Field = Field::at(103, 8);
    pub const NAME: Field = Field::at(249, 192);
}
