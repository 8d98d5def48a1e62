//! The twelve operations: path, tool name, purpose, and how a request path selects one.
//!
//! Source: API document, "Endpoints" and "MCP interface".

use std::fmt;

/// An operation of the API; all of them are reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "`purpose` has a sentence on each")]
pub enum Endpoint {
    Account,
    SearchBusinesses,
    BusinessByDocument,
    Business,
    Officers,
    DailyCounts,
    DailyFilings,
    Counties,
    County,
    Stats,
    Industries,
    EntityTypes,
}

/// The scope a key of this API carries.
pub const DATA_SCOPE: &str = "data";

impl Endpoint {
    /// All twelve, in the order of the API document.
    pub const ALL: [Self; 12] = [
        Self::Account,
        Self::SearchBusinesses,
        Self::BusinessByDocument,
        Self::Business,
        Self::Officers,
        Self::DailyCounts,
        Self::DailyFilings,
        Self::Counties,
        Self::County,
        Self::Stats,
        Self::Industries,
        Self::EntityTypes,
    ];

    /// The path with its parameter in braces.
    pub const fn template(self) -> &'static str {
        match self {
            Self::Account => "/v1/me",
            Self::SearchBusinesses => "/v1/fl/businesses",
            Self::BusinessByDocument => "/v1/fl/businesses/by-document/{document_number}",
            Self::Business => "/v1/fl/businesses/{id}",
            Self::Officers => "/v1/fl/businesses/{id}/officers",
            Self::DailyCounts => "/v1/fl/filings/daily",
            Self::DailyFilings => "/v1/fl/filings/daily/{date}",
            Self::Counties => "/v1/fl/counties",
            Self::County => "/v1/fl/counties/{key}",
            Self::Stats => "/v1/fl/stats",
            Self::Industries => "/v1/fl/industries",
            Self::EntityTypes => "/v1/fl/entity-types",
        }
    }

    /// The path with its parameter replaced by an argument, which must need no percent-encoding.
    pub fn path(self, argument: &str) -> String {
        match self.template().split_once('{') {
            Some((before, parameter)) => {
                let after = parameter.split_once('}').map_or("", |(_, after)| after);
                format!("{before}{argument}{after}")
            }
            None => self.template().to_owned(),
        }
    }

    /// The name of its MCP tool.
    pub const fn tool(self) -> &'static str {
        match self {
            Self::Account => "get_account",
            Self::SearchBusinesses => "search_businesses",
            Self::BusinessByDocument => "get_business_by_document",
            Self::Business => "get_business",
            Self::Officers => "list_business_officers",
            Self::DailyCounts => "get_daily_filing_counts",
            Self::DailyFilings => "list_daily_filings",
            Self::Counties => "list_counties",
            Self::County => "get_county",
            Self::Stats => "get_stats",
            Self::Industries => "list_industries",
            Self::EntityTypes => "list_entity_types",
        }
    }

    /// Its result, in one sentence.
    pub const fn purpose(self) -> &'static str {
        match self {
            Self::Account => "The key, its scopes, the account's caps and the requests that remain.",
            Self::SearchBusinesses => {
                "Searches businesses by the start of their name, or lists filings of a range of days, newest first."
            }
            Self::BusinessByDocument => "One business in detail, by its state document number.",
            Self::Business => "One business in detail, by its service id.",
            Self::Officers => "At most 25 officers of a business, name and title, sorted by name.",
            Self::DailyCounts => "How many businesses were filed on each recent day, newest day first.",
            Self::DailyFilings => "The businesses filed on one day, newest first.",
            Self::Counties => "Filing counts of every Florida county.",
            Self::County => "Filing counts of one county.",
            Self::Stats => "Statewide counts: totals, windows, months, types.",
            Self::Industries => "The values that the industry filter accepts: sectors, types, segments.",
            Self::EntityTypes => "The values that the type filter accepts, with labels.",
        }
    }

    /// The rules that concern several of its parameters; empty for most operations.
    pub const fn rules(self) -> &'static str {
        match self {
            Self::SearchBusinesses => {
                "A search needs a narrowing filter: q, city, zip or filed_from. Without q, filed_from must lie in the \
                 plan's daily window, filed_to needs filed_from, and the days span at most 92. status=all needs q. \
                 Fictitious names are listed only with type=fictitious."
            }
            _ => "",
        }
    }

    /// The operation of a tool name.
    pub fn from_tool(tool: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|endpoint| endpoint.tool() == tool)
    }

    /// Whether a key needs the `data` scope for it; only the account record is open to every key.
    pub const fn needs_data_scope(self) -> bool {
        !matches!(self, Self::Account)
    }

    /// The operation of a request path, and its path argument, still percent-encoded.
    ///
    /// Paths match exactly: case, trailing slash and doubled slash count.
    /// `by-document` without a number is read as an id, and fails the rule of an id.
    pub fn match_path(path: &str) -> Option<(Self, Option<&str>)> {
        Self::ALL.into_iter().find_map(|endpoint| Some((endpoint, endpoint.argument_of(path)?)))
    }

    fn argument_of(self, path: &str) -> Option<Option<&str>> {
        let mut argument = None;
        let (mut wanted, mut given) = (self.template().split('/'), path.split('/'));
        loop {
            match (wanted.next(), given.next()) {
                (None, None) => return Some(argument),
                (Some(want), Some(have)) if want.starts_with('{') && !have.is_empty() => {
                    argument = Some(have)
                }
                (Some(want), Some(have)) if want == have => {}
                _ => return None,
            }
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "GET {}", self.template())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_and_tool_selects_its_own_operation() {
        for endpoint in Endpoint::ALL {
            let argument = endpoint.template().contains('{').then_some("a%20b%2Fc");
            let parts = endpoint.template().split('/');
            let parts = parts.map(|part| argument.filter(|_| part.starts_with('{')).unwrap_or(part));
            let path = parts.collect::<Vec<_>>().join("/");
            assert_eq!(Endpoint::match_path(&path), Some((endpoint, argument)), "{path}");
            assert_eq!(Endpoint::from_tool(endpoint.tool()), Some(endpoint));
        }
    }

    #[test]
    fn only_the_exact_path_is_a_route() {
        for path in [
            "",
            "/",
            "/v1",
            "/v1/me/",
            "/V1/me",
            "//v1/me",
            "/v1/fl/businesses/",
            "/v1/fl/businesses/1/officers/",
            "/v1/fl/businesses//officers",
            "/v1/fl/filings",
            "/v1/fl/counties/DUVAL/filings",
            "/mcp",
        ] {
            assert_eq!(Endpoint::match_path(path), None, "{path}");
        }
    }

    #[test]
    fn by_document_without_a_number_is_read_as_an_id() {
        let read = Endpoint::match_path("/v1/fl/businesses/by-document");
        assert_eq!(read, Some((Endpoint::Business, Some("by-document"))));
    }
}
