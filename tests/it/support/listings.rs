//! The API's listings over filings in memory, by the rules of its document and without any of the program's own code.

use super::server::Plan;
use jiff::ToSpan;
use jiff::civil::Date;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use sunlake::table::FilingRow;

/// Days that a search without `q` may span.
const LONGEST_SPAN: i32 = 92;

/// A filing; active until it is dissolved.
#[derive(Debug, Clone)]
pub(crate) struct Filing {
    pub(crate) id: u64,
    pub(crate) document_number: String,
    pub(crate) name: String,
    pub(crate) entity_type: String,
    pub(crate) company_type: String,
    pub(crate) filed: Date,
    pub(crate) dissolved: Option<Date>,
    pub(crate) city: String,
    pub(crate) zip: String,
    pub(crate) county: String,
    pub(crate) sector: String,
    /// `<sector>.<type_name>`.
    pub(crate) industry: String,
    pub(crate) url: String,
}

impl Filing {
    pub(crate) fn is_fictitious(&self) -> bool {
        self.entity_type == "fictitious"
    }

    fn summary(&self) -> Value {
        json!({
            "id": self.id.to_string(), "document_number": self.document_number, "name": self.name,
            "entity_type": self.entity_type, "company_type": self.company_type,
            "status": if self.dissolved.is_some() { "dissolved" } else { "active" },
            "filed_date": self.filed.to_string(), "dissolved_date": self.dissolved.map(|day| day.to_string()),
            "city": self.city, "zip": self.zip, "county": self.county,
            "industry": { "sector": self.sector, "type": self.industry }, "url": self.url,
        })
    }

    fn detail(&self) -> Value {
        let mut detail = self.summary();
        let address = json!({
            "street": "1 MAIN ST", "street2": "", "city": self.city, "state": "FL", "zip": self.zip, "country": "US",
        });
        detail["principal_address"] = address;
        detail["mailing_address"] = Value::Null;
        detail["registered_agent_name"] = "AGENT".into();
        detail["formation_state"] = "FL".into();
        for number in ["last_annual_report_year", "officer_count", "license_count"] {
            detail[number] = 0.into();
        }
        detail
    }
}

impl From<FilingRow> for Filing {
    fn from(row: FilingRow) -> Self {
        Self {
            id: row.business_id.unsigned_abs(),
            document_number: row.document_number,
            name: row.name,
            entity_type: row.entity_type,
            company_type: row.company_type,
            filed: row.filed_date,
            dissolved: None,
            city: row.city,
            zip: row.zip,
            county: row.county.unwrap_or_default(),
            sector: row.industry_sector,
            industry: row.industry_type,
            url: row.url,
        }
    }
}

/// Status and reason of a refusal.
pub(crate) type Refusal = (u16, &'static str);

/// Which filings a listing holds. Days are given; the rest is none where it was not asked for.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    from: Date,
    to: Date,
    name: Option<String>,
    city: Option<String>,
    zip: Option<String>,
    county: Option<String>,
    entity_type: Option<String>,
    industry: Option<String>,
    with_dissolved: bool,
}

impl Query {
    /// A day, or a range of days, without any other filter.
    pub(crate) fn of_days(from: Date, to: Date, entity_type: Option<String>) -> Self {
        let (name, city, zip, county, industry) = (None, None, None, None, None);
        Self { from, to, name, city, zip, county, entity_type, industry, with_dissolved: false }
    }

    /// Whether the listing holds the filing while it is active.
    pub(crate) fn covers(&self, filing: &Filing) -> bool {
        let is = |asked: &Option<String>, value: &str| {
            asked.as_ref().is_none_or(|asked| asked.eq_ignore_ascii_case(value))
        };
        let begins = |asked: &Option<String>, value: &str| {
            asked.as_ref().is_none_or(|asked| {
                value.get(..asked.len()).is_some_and(|start| start.eq_ignore_ascii_case(asked))
            })
        };
        let is_type = match &self.entity_type {
            None => !filing.is_fictitious(),
            Some(asked) => *asked == filing.entity_type,
        };
        let is_industry =
            self.industry.as_ref().is_none_or(|key| *key == filing.sector || *key == filing.industry);
        (self.from..=self.to).contains(&filing.filed)
            && is_type
            && is_industry
            && begins(&self.zip, &filing.zip)
            && is(&self.county, &filing.county)
            && is(&self.city, &filing.city)
            && begins(&self.name, &filing.name)
    }

    fn holds(&self, filing: &Filing) -> bool {
        (self.with_dissolved || filing.dissolved.is_none()) && self.covers(filing)
    }
}

/// A request that the filings answer.
#[derive(Debug, Clone)]
pub(crate) enum Question {
    Account,
    /// Daily counts since a day.
    Counts(Date),
    Listing {
        query: Query,
        limit: usize,
        offset: usize,
    },
    Business(u64),
    Statewide,
    /// Anything else.
    Other,
}

/// All filings, newest day first and then largest id first, as of a day, under the caps of a plan.
pub(crate) struct Listings {
    pub(crate) today: Date,
    pub(crate) plan: Plan,
    /// Number of fields of a row that its document does not name.
    pub(crate) new_fields: usize,
    filings: BTreeMap<(Reverse<Date>, Reverse<u64>), Filing>,
    day_of: HashMap<u64, Date>,
}

impl Listings {
    pub(crate) fn new(today: Date, plan: Plan) -> Self {
        Self { today, plan, new_fields: 0, filings: BTreeMap::new(), day_of: HashMap::new() }
    }

    pub(crate) fn add(&mut self, filing: Filing) {
        self.day_of.insert(filing.id, filing.filed);
        self.filings.insert((Reverse(filing.filed), Reverse(filing.id)), filing);
    }

    pub(crate) fn dissolve(&mut self, id: u64) {
        let day = self.day_of[&id];
        let filing = self.filings.get_mut(&(Reverse(day), Reverse(id))).expect("a filing");
        filing.dissolved = Some(self.today);
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Filing> {
        let day = *self.day_of.get(&id)?;
        self.filings.get(&(Reverse(day), Reverse(id)))
    }

    pub(crate) fn oldest_day(&self) -> Date {
        self.today - (self.plan.window_days - 1).days()
    }

    /// The rows of a listing, in order.
    pub(crate) fn rows(&self, query: &Query) -> impl Iterator<Item = &Filing> {
        let range = (Reverse(query.to), Reverse(u64::MAX))..=(Reverse(query.from), Reverse(0));
        self.filings.range(range).map(|(_, filing)| filing).filter(|filing| query.holds(filing))
    }

    /// Reads the target of a request.
    pub(crate) fn question(&self, target: &str) -> Result<Question, Refusal> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match parts.as_slice() {
            ["v1", "me"] => Ok(Question::Account),
            ["v1", "fl", "filings", "daily"] => self.counts(&Parameters::read(query, &["days"])?),
            ["v1", "fl", "filings", "daily", day] => {
                self.day(day, &Parameters::read(query, &["limit", "offset"])?)
            }
            ["v1", "fl", "businesses"] => self.search(&Parameters::read(query, &Parameters::OF_A_SEARCH)?),
            ["v1", "fl", "businesses", id] => {
                id.parse().map(Question::Business).map_err(|_| (400, "id is not a positive integer"))
            }
            ["v1", "fl", "stats"] => Ok(Question::Statewide),
            _ => Ok(Question::Other),
        }
    }

    fn counts(&self, parameters: &Parameters) -> Result<Question, Refusal> {
        let days = parameters.number("days", 1, 90)?.unwrap_or(30).min(self.plan.window_days);
        Ok(Question::Counts(self.today - (days - 1).days()))
    }

    fn day(&self, day: &str, parameters: &Parameters) -> Result<Question, Refusal> {
        let day: Date = day.parse().map_err(|_| (400, "not a real day"))?;
        let (limit, offset) = self.page(parameters)?;
        match day {
            _ if day > self.today => Err((400, "the day is in the future")),
            _ if day < self.oldest_day() => Err((403, "the day is before the plan's window")),
            _ => Ok(Question::Listing { query: Query::of_days(day, day, None), limit, offset }),
        }
    }

    fn search(&self, parameters: &Parameters) -> Result<Question, Refusal> {
        let text = |name: &str| parameters.text(name).map(str::to_owned);
        let (from, to) = (parameters.day("filed_from")?, parameters.day("filed_to")?);
        let name = parameters.of_length("q", 2, 80)?;
        let with_dissolved = match parameters.text("status") {
            None | Some("active") => false,
            Some("all") if name.is_some() => true,
            Some(_) => return Err((400, "status")),
        };
        let zip = parameters.of_length("zip", 3, 5)?;
        if zip.as_ref().is_some_and(|zip| !zip.bytes().all(|byte| byte.is_ascii_digit())) {
            return Err((400, "zip is not of digits"));
        }
        let (limit, offset) = self.page(parameters)?;
        let city = parameters.of_length("city", 1, 40)?;
        let narrows = name.is_some() || city.is_some() || zip.is_some() || from.is_some();
        let (from, to) = self.days_of_search(from, to, name.is_some(), narrows)?;
        let (county, entity_type) = (parameters.of_length("county", 1, 40)?, text("type"));
        let industry = text("industry");
        let query = Query { from, to, name, city, zip, county, entity_type, industry, with_dissolved };
        Ok(Question::Listing { query, limit, offset })
    }

    fn days_of_search(
        &self,
        from: Option<Date>,
        to: Option<Date>,
        is_by_name: bool,
        narrows: bool,
    ) -> Result<(Date, Date), Refusal> {
        let last = to.unwrap_or(self.today);
        match from {
            Some(from) if from > last => Err((400, "filed_from is after filed_to")),
            _ if is_by_name => Ok((from.unwrap_or(Date::MIN), last)),
            _ if !narrows => Err((400, "no narrowing filter")),
            None if to.is_some() => Err((400, "filed_to needs filed_from")),
            None => Ok((self.oldest_day().max(last - (LONGEST_SPAN - 1).days()), last)),
            Some(from) if (last - from).get_days() >= LONGEST_SPAN => Err((400, "the range is over 92 days")),
            Some(from) if from < self.oldest_day() => Err((403, "filed_from is before the plan's window")),
            Some(from) => Ok((from, last)),
        }
    }

    /// Limit, cut to the plan's rows per call, and offset.
    fn page(&self, parameters: &Parameters) -> Result<(usize, usize), Refusal> {
        let limit = parameters.number("limit", 1, 1_000)?.unwrap_or(25).min(self.plan.rows_per_call);
        let offset = parameters.number("offset", 0, self.plan.max_offset.min(100_000))?.unwrap_or(0);
        Ok((limit as usize, offset as usize))
    }

    /// The answer, and the ids of the rows of its page.
    pub(crate) fn answer(&self, question: &Question) -> Result<(Value, Vec<u64>), Refusal> {
        match question {
            Question::Account => Ok((account(), Vec::new())),
            Question::Counts(since) => Ok((self.daily_counts(*since), Vec::new())),
            Question::Listing { query, limit, offset } => Ok(self.list(query, *limit, *offset)),
            Question::Business(id) => match self.get(*id) {
                Some(filing) => Ok((json!({ "data": filing.detail() }), Vec::new())),
                None => Err((404, "no such business")),
            },
            Question::Statewide => Ok((json!({ "data": self.statewide() }), Vec::new())),
            Question::Other => Err((404, "no such route")),
        }
    }

    /// The statewide figures. Every filing counts, a dissolved one as well.
    fn statewide(&self) -> Value {
        let since =
            |days: i64| self.filings.values().filter(|one| one.filed > self.today - days.days()).count();
        let mut months: BTreeMap<String, BTreeMap<&str, u64>> = BTreeMap::new();
        for filing in self.filings.values() {
            let of_month = months.entry(filing.filed.strftime("%Y-%m").to_string()).or_default();
            *of_month.entry(&filing.entity_type).or_default() += 1;
        }
        let monthly: Vec<Value> = months
            .iter()
            .map(|(month, by_type)| {
                let total: u64 = by_type.values().sum();
                json!({ "month": month, "total": total, "partial": false, "by_type": by_type })
            })
            .collect();
        json!({
            "businesses_total": self.filings.len(), "latest_filing_date": self.today, "monthly": monthly,
            "updated_at": format!("{}T16:00:00Z", self.today), "type_split_30d": [],
            "filings": {
                "last_7_days": since(7), "last_30_days": since(30), "last_365_days": since(365),
                "previous_30_days": since(60) - since(30),
            },
        })
    }

    fn list(&self, query: &Query, limit: usize, offset: usize) -> (Value, Vec<u64>) {
        let rows: Vec<&Filing> = self.rows(query).collect();
        let page = rows.get(offset..).unwrap_or_default();
        let page = &page[..page.len().min(limit)];
        let has_more = offset + page.len() < rows.len();
        let data: Vec<Value> = page.iter().map(|filing| self.row(filing)).collect();
        let pagination =
            json!({ "limit": limit, "offset": offset, "has_more": has_more, "total": rows.len() });
        (json!({ "data": data, "pagination": pagination }), page.iter().map(|filing| filing.id).collect())
    }

    fn row(&self, filing: &Filing) -> Value {
        let mut row = filing.summary();
        (0..self.new_fields).for_each(|field| row[format!("new_{field}")] = filing.id.into());
        row
    }

    fn daily_counts(&self, since: Date) -> Value {
        let days = since.series(1.day()).take_while(|day| *day <= self.today).collect::<Vec<_>>();
        let count = |day: &Date| {
            let listing = Query::of_days(*day, *day, None);
            json!({ "date": day.to_string(), "count": self.rows(&listing).count() })
        };
        let data: Vec<Value> = days.iter().rev().map(count).collect();
        let pagination = json!({ "limit": data.len(), "offset": 0, "has_more": false, "total": data.len() });
        json!({ "data": data, "pagination": pagination })
    }
}

/// An account with room for any number of requests.
fn account() -> Value {
    let [minute, day, month] = [1_000_000, 10_000_000, 100_000_000];
    json!({
        "kind": "client", "id": "key_1", "scopes": ["data"],
        "limits": { "perMinute": minute, "perDay": day, "perMonth": month },
        "remaining": { "minute": minute, "day": day, "month": month },
    })
}

/// The parameters of a request.
struct Parameters(BTreeMap<String, String>);

impl Parameters {
    const OF_A_SEARCH: [&str; 11] = [
        "q",
        "city",
        "zip",
        "county",
        "filed_from",
        "filed_to",
        "type",
        "industry",
        "status",
        "limit",
        "offset",
    ];

    fn read(query: &str, known: &[&str]) -> Result<Self, Refusal> {
        let mut read = BTreeMap::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').ok_or((400, "a parameter without a value"))?;
            let value = value.replace('+', " ");
            let value = percent_encoding::percent_decode_str(&value).decode_utf8();
            let value = value.map_err(|_| (400, "not UTF-8"))?.into_owned();
            if !known.contains(&name) || value.is_empty() || read.insert(name.to_owned(), value).is_some() {
                return Err((400, "an unknown, empty or repeated parameter"));
            }
        }
        Ok(Self(read))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn of_length(&self, name: &str, least: usize, most: usize) -> Result<Option<String>, Refusal> {
        match self.text(name) {
            Some(text) if !(least..=most).contains(&text.chars().count()) => {
                Err((400, "a value that is too short or too long"))
            }
            text => Ok(text.map(str::to_owned)),
        }
    }

    fn number(&self, name: &str, least: i64, most: i64) -> Result<Option<i64>, Refusal> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.map(Some).ok_or((400, "a number that is out of bounds"))
    }

    fn day(&self, name: &str) -> Result<Option<Date>, Refusal> {
        self.text(name).map(|text| text.parse().map_err(|_| (400, "not a real day"))).transpose()
    }
}
