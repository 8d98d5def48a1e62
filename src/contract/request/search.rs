//! The search of businesses: as sent, and as checked against a plan.
//!
//! Source: API document, "GET /v1/fl/businesses", rules 1 to 4.

use super::super::eastern::{minus_days, span_days, window_start};
use super::super::error::Violation;
use super::super::plan::PlanLimits;
use super::super::reference::EntityType;
use super::argument::{Arguments, CheckedPage};
use super::query::join;
use jiff::civil::Date;

/// Days a search without `q` spans at most, both ends included.
pub const MAX_SPAN_DAYS: u32 = 92;

/// Which businesses a search shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum StatusFilter {
    /// Active ones.
    #[default]
    Active,
    /// Dissolved ones too; needs `q`.
    All,
}

impl StatusFilter {
    /// The value of the `status` parameter.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::All => "all",
        }
    }

    fn from_key(key: &str) -> Option<Self> {
        [Self::Active, Self::All].into_iter().find(|status| status.key() == key)
    }
}

/// A search as sent, not checked.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the table of parameters describes each")]
pub struct BusinessSearch {
    pub q: Option<String>,
    pub city: Option<String>,
    /// ZIP code, or its first 3 or 4 digits.
    pub zip: Option<String>,
    pub county: Option<String>,
    pub filed_from: Option<Date>,
    pub filed_to: Option<Date>,
    /// Business type; the parameter is called `type`.
    pub kind: Option<EntityType>,
    pub industry: Option<String>,
    pub status: Option<StatusFilter>,
    pub limit: Option<u32>,
    pub offset: Option<u32>,
}

impl BusinessSearch {
    /// The query string: percent-encoded, parameters in the order of the API document, empty when nothing is set.
    pub fn to_query(&self) -> String {
        let fields = [
            ("q", self.q.clone()),
            ("city", self.city.clone()),
            ("zip", self.zip.clone()),
            ("county", self.county.clone()),
            ("filed_from", self.filed_from.map(|day| day.to_string())),
            ("filed_to", self.filed_to.map(|day| day.to_string())),
            ("type", self.kind.map(|kind| kind.key().to_owned())),
            ("industry", self.industry.clone()),
            ("status", self.status.map(|status| status.key().to_owned())),
            ("limit", self.limit.map(|limit| limit.to_string())),
            ("offset", self.offset.map(|offset| offset.to_string())),
        ];
        join(fields.into_iter().filter_map(|(name, value)| Some((name, value?))))
    }

    /// The valid parameters; rules on several of them, or on a plan, are not checked here.
    fn from_arguments(arguments: &Arguments) -> Self {
        let text = |name| arguments.text(name).map(str::to_owned);
        Self {
            q: text("q"),
            city: text("city"),
            zip: text("zip"),
            county: text("county"),
            filed_from: arguments.day("filed_from"),
            filed_to: arguments.day("filed_to"),
            kind: arguments.text("type").and_then(EntityType::from_key),
            industry: text("industry"),
            status: arguments.text("status").and_then(StatusFilter::from_key),
            limit: arguments.integer("limit"),
            offset: arguments.integer("offset"),
        }
    }
}

/// A search that the API accepts: it has a narrowing filter, its days are in the plan's window, its offset is within reach.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedSearch {
    search: BusinessSearch,
    from: Option<Date>,
    to: Date,
    page: CheckedPage,
}

impl CheckedSearch {
    /// Checks the parameters of a search against a plan on `today`, an Eastern day.
    ///
    /// The industry key is not checked: only the server has the industry lists.
    ///
    /// # Errors
    /// Every broken rule; a day before the window is reported only if no other rule is broken.
    pub fn from_arguments(
        mut arguments: Arguments,
        limits: &PlanLimits,
        today: Date,
    ) -> Result<Self, Vec<Violation>> {
        let search = BusinessSearch::from_arguments(&arguments);
        let page = CheckedPage::read(&mut arguments, limits);
        check_narrowing(&mut arguments);
        check_period(&mut arguments, limits, today);
        let undated = !arguments.is_given("q") && search.filed_from.is_none();
        let from = if undated { Some(undated_start(limits, today)) } else { search.filed_from };
        let to = search.filed_to.unwrap_or(today);
        arguments.finish(Some(Self { search, from, to, page }))
    }

    /// The search as sent.
    pub const fn as_sent(&self) -> &BusinessSearch {
        &self.search
    }

    /// The first filing day shown, or `None` for a name search without `filed_from`.
    ///
    /// A city or ZIP search without dates begins with the plan's window, at most 92 days back.
    pub const fn from(&self) -> Option<Date> {
        self.from
    }

    /// The last filing day shown; today when none was sent.
    pub const fn to(&self) -> Date {
        self.to
    }

    /// Whether dissolved businesses are shown too.
    pub fn includes_dissolved(&self) -> bool {
        self.search.status == Some(StatusFilter::All)
    }

    /// The page.
    pub const fn page(&self) -> CheckedPage {
        self.page
    }
}

/// The first day of a city or ZIP search without dates.
fn undated_start(limits: &PlanLimits, today: Date) -> Date {
    window_start(today, limits.window_days).max(minus_days(today, MAX_SPAN_DAYS - 1))
}

/// Rule 1, and the parameters that `filed_to` and `status=all` require.
fn check_narrowing(arguments: &mut Arguments) {
    let (named, dated) = (arguments.is_given("q"), arguments.is_given("filed_from"));
    if !(named || dated || arguments.is_given("city") || arguments.is_given("zip")) {
        let message = "a narrowing filter is needed: q, city, zip or filed_from";
        arguments.reject(Violation::invalid("", message));
    }
    if arguments.is_given("filed_to") && !named && !dated {
        let message = "filed_to needs filed_from when there is no q";
        arguments.reject(Violation::invalid("filed_to", message));
    }
    if arguments.text("status") == Some(StatusFilter::All.key()) && !named {
        let message = "status=all needs a q of 2 or more characters";
        arguments.reject(Violation::invalid("status", message));
    }
}

/// Rule 3: order of the days, their span, and the plan's window.
fn check_period(arguments: &mut Arguments, limits: &PlanLimits, today: Date) {
    let Some(from) = arguments.day("filed_from") else { return };
    let named = arguments.is_given("q");
    let to = if arguments.is_given("filed_to") { arguments.day("filed_to") } else { Some(today) };
    if let Some(to) = to {
        if from > to {
            let message = format!("filed_from {from} must not be after filed_to, which is {to}");
            arguments.reject(Violation::invalid("filed_from", message));
        } else if !named && span_days(from, to) > MAX_SPAN_DAYS {
            let message = format!(
                "filed_from {from} to filed_to {to} spans {} days; without q at most {MAX_SPAN_DAYS} are allowed",
                span_days(from, to)
            );
            arguments.reject(Violation::invalid("filed_to", message));
        }
    }
    let oldest = window_start(today, limits.window_days);
    if !named && from < oldest {
        let message = format!(
            "filed_from {from} is older than the plan's daily window, which reaches back to {oldest}"
        );
        arguments.reject(Violation::before_window("filed_from", message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;
    use crate::contract::request::endpoint::Endpoint;
    use jiff::civil::date;
    use proptest::prelude::*;

    const TODAY: Date = date(2026, 7, 31);

    fn ask(query: &str) -> Result<CheckedSearch, Vec<Violation>> {
        ask_on(Plan::Enterprise, query)
    }

    fn ask_on(plan: Plan, query: &str) -> Result<CheckedSearch, Vec<Violation>> {
        let arguments = Arguments::from_request(Endpoint::SearchBusinesses, None, query);
        CheckedSearch::from_arguments(arguments, &plan.limits(), TODAY)
    }

    /// Query, status (200 for none), and a part of its only message.
    const CASES: &[(&str, u16, &str)] = &[
        // Rule 1: a narrowing filter.
        ("", 400, "narrowing filter"),
        ("county=Duval", 400, "narrowing filter"),
        ("type=llc", 400, "narrowing filter"),
        ("industry=construction", 400, "narrowing filter"),
        ("status=active", 400, "narrowing filter"),
        ("limit=5&offset=5", 400, "narrowing filter"),
        ("q=SU", 200, ""),
        ("city=Tampa", 200, ""),
        ("zip=337", 200, ""),
        ("filed_from=2026-07-01", 200, ""),
        // filed_to and status=all.
        ("city=Tampa&filed_to=2026-07-01", 400, "filed_to needs filed_from"),
        ("q=SU&filed_to=1999-07-01", 200, ""),
        ("filed_from=2026-07-01&status=all", 400, "status=all needs"),
        ("city=Tampa&status=all", 400, "status=all needs"),
        ("q=SU&status=all", 200, ""),
        // Rule 3: window and span.
        ("filed_from=2025-08-01&filed_to=2025-08-02", 200, ""),
        ("filed_from=2025-07-31&filed_to=2025-08-02", 403, "reaches back to 2025-08-01"),
        ("city=Tampa&filed_from=2025-07-31&filed_to=2025-08-02", 403, "reaches back"),
        ("filed_from=2025-07-31", 400, "spans 366 days"),
        ("filed_from=2026-01-01&filed_to=2026-04-02", 200, ""),
        ("filed_from=2026-01-01&filed_to=2026-04-03", 400, "spans 93 days"),
        ("q=SU&filed_from=1980-01-01&filed_to=2026-04-03", 200, ""),
        ("filed_from=2026-07-02&filed_to=2026-07-01", 400, "must not be after"),
        ("filed_from=2026-08-01", 400, "must not be after"),
        ("q=SU&filed_from=2026-07-02&filed_to=2026-07-01", 400, "must not be after"),
        ("filed_from=2026-08-01&filed_to=2026-08-02", 200, ""),
        // Rule 4: unknown parameters and values out of bounds.
        ("q=SU&sort=name", 400, "unknown parameter \"sort\""),
        ("q=SU&Q=SU", 400, "unknown parameter \"Q\""),
        ("q=S", 400, "2 to 80 characters"),
        ("q=%C3%A9", 400, "2 to 80 characters"),
        ("q=", 400, "must not be empty"),
        ("q", 400, "must not be empty"),
        ("q=a%0Ab", 400, "control characters"),
        ("q=%E0%A4", 400, "UTF-8"),
        ("q=100%", 400, "percent-encoding"),
        ("q=SU&q=SU", 400, "only once"),
        ("city=abcdefghijabcdefghijabcdefghijabcdefghija", 400, "1 to 40 characters"),
        ("q=SU&county=abcdefghijabcdefghijabcdefghijabcdefghija", 400, "1 to 40 characters"),
        ("zip=33", 400, "zip must be 5 digits"),
        ("zip=337021", 400, "zip must be 5 digits"),
        ("zip=3370a", 400, "zip must be 5 digits"),
        ("filed_from=2026-7-1", 400, "a real day"),
        ("filed_from=2026-02-29", 400, "a real day"),
        ("filed_from=2026-07-01&filed_to=tomorrow", 400, "a real day"),
        ("q=SU&type=LLC", 400, "type must be one of"),
        ("q=SU&status=dissolved", 400, "status must be one of"),
        ("q=SU&limit=0", 400, "limit must be"),
        ("q=SU&limit=1001", 400, "limit must be"),
        ("q=SU&limit=1000", 200, ""),
        ("q=SU&limit=05", 400, "limit must be"),
        ("q=SU&limit=+5", 400, "limit must be"),
        ("q=SU&limit=%2B5", 400, "limit must be"),
        ("q=SU&limit=5.0", 400, "limit must be"),
        ("q=SU&offset=-1", 400, "offset must be"),
        ("q=SU&offset=100001", 400, "offset must be"),
        ("q=SU&offset=5001", 400, "above the plan's maximum of 5000"),
        ("q=SU&offset=5000", 200, ""),
    ];

    #[test]
    fn every_rule_of_the_document_is_applied() {
        for (query, status, says) in CASES {
            match ask(query) {
                Ok(_) => assert_eq!(*status, 200, "{query} was accepted"),
                Err(broken) => {
                    assert_eq!(broken.len(), 1, "{query}: {broken:?}");
                    assert_eq!(broken[0].status, *status, "{query}: {broken:?}");
                    assert!(broken[0].message.contains(says), "{query}: {broken:?}");
                }
            }
        }
    }

    #[test]
    fn every_broken_rule_is_reported_and_the_window_only_alone() {
        let broken =
            ask("filed_from=2020-01-01&filed_to=2020-01-02&status=all&limit=0&x=1").expect_err("broken");
        let statuses: Vec<u16> = broken.iter().map(|violation| violation.status).collect();
        assert_eq!(statuses, [400, 400, 400], "{broken:?}");
    }

    #[test]
    fn effective_values_follow_the_plan() {
        let checked = ask("city=Tampa&limit=1000").expect("a valid search");
        assert_eq!((checked.page().limit(), checked.page().offset()), (100, 0));
        assert_eq!((checked.from(), checked.to()), (Some(date(2026, 5, 1)), TODAY));
        let checked = ask_on(Plan::Starter, "zip=337").expect("a valid search");
        assert_eq!((checked.from(), checked.page().limit()), (Some(date(2026, 7, 2)), 25));
        assert_eq!(ask("q=SU").map(|checked| checked.from()), Ok(None));
    }

    #[test]
    fn a_query_has_its_parameters_in_a_fixed_order() {
        let search = BusinessSearch {
            q: Some("A & B".into()),
            kind: Some(EntityType::Llc),
            filed_from: Some(TODAY),
            limit: Some(50),
            ..BusinessSearch::default()
        };
        assert_eq!(search.to_query(), "q=A%20%26%20B&filed_from=2026-07-31&type=llc&limit=50");
    }

    fn a_day() -> impl Strategy<Value = Date> {
        (0_u32..200_000).prop_map(|back| minus_days(date(2400, 1, 1), back))
    }

    fn a_search() -> impl Strategy<Value = BusinessSearch> {
        let texts = (
            proptest::option::of("\\PC{2,80}"),
            proptest::option::of("\\PC{1,40}"),
            proptest::option::of("[0-9]{3,5}"),
            proptest::option::of("\\PC{1,40}"),
            proptest::option::of("\\PC{1,60}"),
        );
        let days = (proptest::option::of(a_day()), proptest::option::of(a_day()));
        let kinds = (
            proptest::option::of(proptest::sample::select(EntityType::ALL.to_vec())),
            proptest::option::of(proptest::sample::select(vec![StatusFilter::Active, StatusFilter::All])),
        );
        let page = (proptest::option::of(1_u32..=1_000), proptest::option::of(0_u32..=100_000));
        (texts, days, kinds, page).prop_map(|(texts, days, kinds, page)| BusinessSearch {
            q: texts.0,
            city: texts.1,
            zip: texts.2,
            county: texts.3,
            industry: texts.4,
            filed_from: days.0,
            filed_to: days.1,
            kind: kinds.0,
            status: kinds.1,
            limit: page.0,
            offset: page.1,
        })
    }

    proptest! {
        #[test]
        fn the_server_reads_every_query_that_the_client_writes(search in a_search()) {
            let arguments = Arguments::from_request(Endpoint::SearchBusinesses, None, &search.to_query());
            prop_assert!(arguments.violations().is_empty());
            prop_assert_eq!(BusinessSearch::from_arguments(&arguments), search);
        }

        #[test]
        fn no_query_string_makes_the_validator_fail(query in any::<String>()) {
            let _ = ask(&query);
        }
    }
}
