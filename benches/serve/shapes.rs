//! The questions, in the words of each side.

use crate::florida::Florida;

/// A kind of question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The two letters that most names begin with; another last day each time, so that nothing is known from before.
    Prefix,
    /// The same, far into the listing.
    PrefixDeep,
    /// The prefix and the characters that most often follow it.
    PrefixLonger,
    /// The prefix, type and county.
    PrefixNarrowed,
    /// The prefix, three digits of a ZIP code, a sector, and dissolved businesses too.
    PrefixAll,
    /// 92 days and a type.
    Range,
    /// 92 days of the biggest city.
    City,
    /// 92 days of three digits of a ZIP code and a county.
    ZipCounty,
    /// One business by its document number.
    Document,
    /// One business by its id.
    Detail,
    /// Officers of a business.
    Officers,
    /// Statewide stats.
    Stats,
}

impl Shape {
    /// All, in the order of the table.
    pub(crate) const ALL: [Self; 12] = [
        Self::Prefix,
        Self::PrefixDeep,
        Self::PrefixLonger,
        Self::PrefixNarrowed,
        Self::PrefixAll,
        Self::Range,
        Self::City,
        Self::ZipCounty,
        Self::Document,
        Self::Detail,
        Self::Officers,
        Self::Stats,
    ];

    /// Those that ROAPI is asked too.
    pub(crate) const COMPARED: [Self; 4] = [Self::Prefix, Self::Range, Self::City, Self::Document];

    /// A name for the table.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Prefix => "name prefix, worst two letters",
            Self::PrefixDeep => "the same, offset 5,000",
            Self::PrefixLonger => "name prefix, three characters",
            Self::PrefixNarrowed => "name prefix, type and county",
            Self::PrefixAll => "name prefix, ZIP prefix, sector, all",
            Self::Range => "92 days and a type",
            Self::City => "biggest city, 92 days",
            Self::ZipCounty => "ZIP prefix and county, 92 days",
            Self::Document => "by document number",
            Self::Detail => "by id",
            Self::Officers => "officers",
            Self::Stats => "stats",
        }
    }

    /// Path and query of the question with a number.
    pub(crate) fn target(self, florida: &Florida, number: u64) -> String {
        let search = "/v1/fl/businesses";
        let (prefix, county) = (&florida.prefix.0, encoded(&florida.county));
        let before = |days| florida.day_before(days);
        // A business of its own for each number, none twice in a row.
        let one = |list: &[String]| list[(number.wrapping_mul(7_919) % list.len() as u64) as usize].clone();
        let window = number % 270;
        let span = format!("filed_from={}&filed_to={}", before(window + 91), before(window));
        match self {
            Self::Prefix => format!("{search}?q={prefix}&limit=100&filed_to={}", before(number % 1_000)),
            Self::PrefixDeep => {
                format!("{search}?q={prefix}&limit=100&offset=5000&filed_to={}", before(number % 1_000))
            }
            Self::PrefixLonger => {
                let longer = encoded(&florida.longer_prefix.0);
                format!("{search}?q={longer}&limit=100&filed_to={}", before(number % 1_000))
            }
            Self::PrefixNarrowed => format!(
                "{search}?q={prefix}&limit=100&type=llc&county={county}&filed_to={}",
                before(number % 1_000)
            ),
            Self::PrefixAll => format!(
                "{search}?q={prefix}&limit=100&zip={}&industry={}&status=all&filed_to={}",
                florida.zip,
                florida.sector,
                before(number % 1_000)
            ),
            Self::Range => format!("{search}?{span}&limit=100&type=llc"),
            Self::City => format!("{search}?{span}&limit=100&city={}", encoded(&florida.city.0)),
            Self::ZipCounty => format!("{search}?{span}&limit=100&zip={}&county={county}", florida.zip),
            Self::Document => format!("{search}/by-document/{}", one(&florida.documents)),
            Self::Detail => format!("{search}/{}", one(&florida.ids)),
            Self::Officers => format!("{search}/{}/officers", one(&florida.ids)),
            Self::Stats => "/v1/fl/stats".to_owned(),
        }
    }

    /// The same question as SQL: the page alone, without the total that the API must give.
    pub(crate) fn sql(self, florida: &Florida, number: u64) -> String {
        let columns = "business_id, document_number, name, entity_type, company_type, status, filed_date, dissolved_date, city, \
                       zip, county, industry_sector, industry_type, url";
        let before = |days| florida.day_before(days);
        let listed = "listed AND status = 'active' AND entity_type <> 'fictitious'";
        let page = "ORDER BY filed_date DESC, business_id DESC LIMIT 100";
        let window = number % 270;
        let span = format!("filed_date BETWEEN '{}' AND '{}'", before(window + 91), before(window));
        let filter = match self {
            Self::Range => format!("{listed} AND {span} AND entity_type = 'llc' {page}"),
            Self::City => format!("{listed} AND {span} AND city = '{}' {page}", florida.city.0),
            Self::Document => {
                let place = number.wrapping_mul(7_919) % florida.documents.len() as u64;
                format!("document_number = '{}'", florida.documents[place as usize])
            }
            _ => format!(
                "{listed} AND upper(name) LIKE '{}%' AND filed_date <= '{}' {page}",
                florida.prefix.0,
                before(number % 1_000)
            ),
        };
        format!("SELECT {columns} FROM filings WHERE {filter}")
    }
}

fn encoded(text: &str) -> String {
    text.replace(' ', "%20")
}
