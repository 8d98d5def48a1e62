//! The table of parameters; the validator, the `OpenAPI` document and the MCP input schemas are made from it.
//!
//! Source: API document, "Endpoints" and "Limits", parameter bounds.

use super::super::eastern::parse_date;
use super::super::id::{COUNTY_KEY_CHARS, DocumentNumber, is_county_key, is_positive_integer, is_zip_prefix};
use super::endpoint::Endpoint::{
    self, Business, BusinessByDocument, County, DailyCounts, DailyFilings, Officers, SearchBusinesses,
};

/// Largest `limit`.
pub const MAX_LIMIT: u32 = 1_000;
/// `limit` when none is given.
pub const DEFAULT_LIMIT: u32 = 25;
/// Largest `offset` of any plan.
pub const MAX_OFFSET: u32 = 100_000;
/// Largest `days`.
pub const MAX_DAYS: u32 = 90;
/// `days` when none are given.
pub const DEFAULT_DAYS: u32 = 30;

/// The part of a request that has the parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamLocation {
    /// In the path; it cannot be left out.
    Path,
    /// In the query; all of these are optional.
    Query,
}

/// The values that a parameter allows. Both bounds are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "`min` and `max` say it")]
pub enum ParamKind {
    /// Text of limited length, without control characters.
    Text { min: u32, max: u32 },
    /// One of these words, in exactly this case.
    Choice(&'static [&'static str]),
    /// An integer without sign and without leading zeros.
    Integer { min: u32, max: u32 },
    /// A day of the calendar, `YYYY-MM-DD`.
    Day,
    /// 3 to 5 digits.
    Zip,
    /// 6 to 12 letters or digits.
    DocumentNumber,
    /// A positive integer.
    BusinessId,
    /// A county key.
    CountyKey,
}

/// One parameter of one or more operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the types say it")]
pub struct Param {
    /// Name in the query, or in the braces of the path.
    pub name: &'static str,
    pub place: ParamLocation,
    pub kind: ParamKind,
    /// The value when it is left out, if that is fixed.
    pub default: Option<&'static str>,
    pub example: &'static str,
    pub description: &'static str,
    /// The operations that take it.
    pub endpoints: &'static [Endpoint],
}

const TYPES: &[&str] = &["llc", "corporation", "partnership", "nonprofit", "fictitious", "trust"];
const SEARCH: &[Endpoint] = &[SearchBusinesses];
const PAGES: &[Endpoint] = &[SearchBusinesses, DailyFilings];

const fn query(
    name: &'static str,
    kind: ParamKind,
    example: &'static str,
    endpoints: &'static [Endpoint],
    description: &'static str,
) -> Param {
    Param { name, place: ParamLocation::Query, kind, default: None, example, description, endpoints }
}

const fn path(
    name: &'static str,
    kind: ParamKind,
    example: &'static str,
    endpoints: &'static [Endpoint],
    description: &'static str,
) -> Param {
    Param { place: ParamLocation::Path, ..query(name, kind, example, endpoints, description) }
}

impl Param {
    const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }
}

/// Every parameter of every operation, path parameters first.
pub const PARAMETERS: &[Param] = &[
    path(
        "document_number",
        ParamKind::DocumentNumber,
        "L24000123456",
        &[BusinessByDocument],
        "State document number; case does not matter.",
    ),
    path("id", ParamKind::BusinessId, "5000001", &[Business, Officers], "Service id of the business."),
    path(
        "date",
        ParamKind::Day,
        "2026-07-16",
        &[DailyFilings],
        "Filing day; not in the future, and inside the plan's daily window.",
    ),
    path(
        "key",
        ParamKind::CountyKey,
        "MIAMI-DADE",
        &[County],
        "County key of the counties list; case does not matter.",
    ),
    query(
        "q",
        ParamKind::Text { min: 2, max: 80 },
        "SUNSHINE",
        SEARCH,
        "Prefix of the business name. With it, filed_from and filed_to are free.",
    ),
    query("city", ParamKind::Text { min: 1, max: 40 }, "Tampa", SEARCH, "City. Narrows on its own."),
    query(
        "zip",
        ParamKind::Zip,
        "33702",
        SEARCH,
        "ZIP code, or its first 3 or 4 digits. Narrows on its own.",
    ),
    query(
        "county",
        ParamKind::Text { min: 1, max: 40 },
        "Duval",
        SEARCH,
        "County name. Does not narrow on its own.",
    ),
    query(
        "filed_from",
        ParamKind::Day,
        "2026-07-01",
        SEARCH,
        "First filing day. Required when there is no q, city or zip.",
    ),
    query(
        "filed_to",
        ParamKind::Day,
        "2026-07-16",
        SEARCH,
        "Last filing day; today in Eastern time when left out. Needs filed_from when there is no q.",
    ),
    query(
        "type",
        ParamKind::Choice(TYPES),
        "llc",
        SEARCH,
        "Business type. Fictitious names are listed only with type=fictitious. Does not narrow on its own.",
    ),
    query(
        "industry",
        ParamKind::Text { min: 1, max: 200 },
        "construction",
        SEARCH,
        "A sector, type or segment key of the industries list. Does not narrow on its own.",
    ),
    query(
        "status",
        ParamKind::Choice(&["active", "all"]),
        "active",
        SEARCH,
        "all includes dissolved businesses and needs q. Does not narrow on its own.",
    )
    .or("active"),
    query(
        "days",
        ParamKind::Integer { min: 1, max: MAX_DAYS },
        "7",
        &[DailyCounts],
        "Days counted back from today, today included; the plan's daily window caps them.",
    )
    .or("30"),
    query(
        "limit",
        ParamKind::Integer { min: 1, max: MAX_LIMIT },
        "50",
        PAGES,
        "Rows of a page; reduced to the plan's rows per call.",
    )
    .or("25"),
    query(
        "offset",
        ParamKind::Integer { min: 0, max: MAX_OFFSET },
        "0",
        PAGES,
        "Rows before the page; at most the plan's max offset.",
    )
    .or("0"),
];

impl Endpoint {
    /// Its parameters, in the order of the API document, the path parameter first.
    pub fn parameters(self) -> impl Iterator<Item = &'static Param> {
        PARAMETERS.iter().filter(move |param| param.endpoints.contains(&self))
    }

    /// Whether it has any parameter; one that has none ignores the query string.
    pub fn has_parameters(self) -> bool {
        self.parameters().next().is_some()
    }
}

impl ParamKind {
    /// The rule as the end of "it must be ...".
    pub fn rule(self) -> String {
        match self {
            Self::Text { min, max } => {
                format!("text of {min} to {max} characters without control characters")
            }
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Day => "a real day, YYYY-MM-DD".to_owned(),
            Self::Zip => "5 digits, or the first 3 or 4 of them".to_owned(),
            Self::DocumentNumber => "6 to 12 letters or digits".to_owned(),
            Self::BusinessId => "a positive integer".to_owned(),
            Self::CountyKey => {
                format!("a county key: letters, spaces, . ' or -, {COUNTY_KEY_CHARS} at most")
            }
        }
    }

    /// Whether a text is a value of the kind.
    pub fn allows(self, text: &str) -> bool {
        match self {
            Self::Text { min, max } => {
                let is_clean = !text.chars().any(char::is_control);
                is_clean && (min as usize..=max as usize).contains(&text.chars().count())
            }
            Self::Choice(words) => words.contains(&text),
            Self::Integer { min, max } => {
                plain_integer(text).is_some_and(|number| (min..=max).contains(&number))
            }
            Self::Day => parse_date(text).is_some(),
            Self::Zip => is_zip_prefix(text),
            Self::DocumentNumber => DocumentNumber::parse(text).is_some(),
            Self::BusinessId => is_positive_integer(text),
            Self::CountyKey => is_county_key(text),
        }
    }
}

fn plain_integer(text: &str) -> Option<u32> {
    let digits_only = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = text == "0" || !text.starts_with('0');
    if digits_only && plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_and_examples_of_the_table_are_allowed_by_it() {
        for param in PARAMETERS {
            assert!(param.kind.allows(param.example), "{}", param.name);
            assert!(param.default.is_none_or(|text| param.kind.allows(text)), "{}", param.name);
        }
        let default = |name: &str| PARAMETERS.iter().find(|param| param.name == name)?.default?.parse().ok();
        assert_eq!(
            [default("limit"), default("days"), default("offset")],
            [Some(DEFAULT_LIMIT), Some(DEFAULT_DAYS), Some(0)]
        );
    }

    #[test]
    fn the_type_choices_are_the_six_types() {
        let keys = crate::contract::reference::EntityType::ALL.map(|kind| kind.key());
        assert_eq!(TYPES, keys);
    }

    #[test]
    fn integers_have_one_form() {
        for (text, number) in [("0", Some(0)), ("5", Some(5)), ("100000", Some(100_000))] {
            assert_eq!(plain_integer(text), number, "{text}");
        }
        for text in ["", "05", "00", "+5", "-5", "5.0", "5e1", " 5", "0x5", "٥", "99999999999"] {
            assert_eq!(plain_integer(text), None, "{text}");
        }
    }

    #[test]
    fn lengths_count_characters() {
        let kind = ParamKind::Text { min: 2, max: 80 };
        assert!(kind.allows(&"é".repeat(80)));
        assert!(!kind.allows(&"é".repeat(81)));
        assert!(!kind.allows("é"));
    }

    #[test]
    fn each_path_parameter_of_the_table_is_in_its_template() {
        for endpoint in Endpoint::ALL {
            let braces = endpoint.template().matches('{').count();
            let named: Vec<_> =
                endpoint.parameters().filter(|param| param.place == ParamLocation::Path).collect();
            assert_eq!(named.len(), braces, "{endpoint}");
            for param in named {
                assert!(endpoint.template().contains(&format!("{{{}}}", param.name)), "{endpoint}");
            }
        }
    }
}
