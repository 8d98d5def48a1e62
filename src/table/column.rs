//! The column dictionary: name, type, null and meaning of every column of every table.

use arrow::datatypes::{DataType, TimeUnit};

/// The types on disk. Spark, pandas and `DuckDB` read all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "`data_type` says what each is")]
pub enum ColumnKind {
    Int32,
    Int64,
    Text,
    Boolean,
    /// Float of 64 bits.
    Double,
    /// Calendar day.
    Date,
    /// Instant in UTC, microseconds.
    Timestamp,
}

impl ColumnKind {
    /// The Arrow type.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Text => DataType::Utf8,
            Self::Boolean => DataType::Boolean,
            Self::Double => DataType::Float64,
            Self::Date => DataType::Date32,
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        }
    }
}

/// One column of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Name on disk.
    pub name: &'static str,
    /// Type on disk.
    pub kind: ColumnKind,
    /// Whether it may be null.
    pub nullable: bool,
    /// What it says, with unit and source where needed.
    pub meaning: &'static str,
}

const fn req(name: &'static str, kind: ColumnKind, meaning: &'static str) -> Column {
    Column { name, kind, nullable: false, meaning }
}

const fn opt(name: &'static str, kind: ColumnKind, meaning: &'static str) -> Column {
    Column { name, kind, nullable: true, meaning }
}

use ColumnKind::{Boolean, Date, Double, Int32, Int64, Text, Timestamp};

const OBSERVED_ON: Column = req("observed_on", Date, "Eastern day on which the API said this");
const BUSINESS_ID: Column = req("business_id", Int64, "the digits of the service id");
const FETCHED_AT: Column = req("fetched_at", Timestamp, "when the API gave it");
const EXTRA: Column =
    opt("extra", Text, "JSON object of fields that no column can hold, as sent; null when there are none");

pub(super) const FILINGS: &[Column] = &[
    BUSINESS_ID,
    req("document_number", Text, "state document number, upper case"),
    req("name", Text, "business name as sent"),
    req("entity_type", Text, "llc, corporation, partnership, nonprofit, fictitious, trust"),
    req("company_type", Text, "short company type label; open set"),
    req("status", Text, "business status; open set"),
    req("filed_date", Date, "filing date"),
    opt("dissolved_date", Date, "day of dissolution; null while active"),
    req("city", Text, "city as filed; spellings vary"),
    req(
        "city_clean",
        Text,
        "city in one spelling: in capitals, without punctuation, state and ZIP code; a misspelt Florida city is the one of its ZIP code; empty where the record has none",
    ),
    req("zip", Text, "ZIP code as sent"),
    opt("county", Text, "county name, such as Miami-Dade; null outside Florida and where it is unknown"),
    opt("county_key", Text, "county key in capitals, as in counties; null with county"),
    req("industry_sector", Text, "industry sector key"),
    req("industry_type", Text, "industry type key, <sector>.<type_name>"),
    req("url", Text, "public page of the business"),
    req("source", Text, "where the record comes from: api or state"),
    req(
        "listed",
        Boolean,
        "false once a complete reading of its day no longer shows it, or it was read as dissolved",
    ),
    req("first_seen_at", Timestamp, "when a run first saw the business"),
    req("changed_at", Timestamp, "when a run first saw the record as it is now"),
    EXTRA,
];

pub(super) const DETAILS: &[Column] = &[
    BUSINESS_ID,
    req("principal_street", Text, "principal address"),
    req("principal_street2", Text, "principal address, second line"),
    req("principal_city", Text, "principal address, city"),
    req("principal_state", Text, "principal address, state"),
    req("principal_zip", Text, "principal address, ZIP code"),
    req("principal_country", Text, "principal address, country"),
    opt("mailing_street", Text, "mailing address; null when there is none"),
    opt("mailing_street2", Text, "mailing address, second line"),
    opt("mailing_city", Text, "mailing address, city"),
    opt("mailing_state", Text, "mailing address, state"),
    opt("mailing_zip", Text, "mailing address, ZIP code"),
    opt("mailing_country", Text, "mailing address, country"),
    req("registered_agent_name", Text, "name of the registered agent"),
    req("formation_state", Text, "two-letter code of the state of formation"),
    req("last_annual_report_year", Int32, "year of the last annual report"),
    req("officer_count", Int32, "number of officers"),
    req("license_count", Int32, "number of licenses"),
    FETCHED_AT,
    EXTRA,
];

pub(super) const OFFICERS: &[Column] = &[
    BUSINESS_ID,
    req("position", Int32, "place in the API's list, from 0; the list is sorted by name and ends at 25"),
    req("name", Text, "name of the officer"),
    req("title", Text, "title of the officer"),
    FETCHED_AT,
];

pub(super) const CHANGES: &[Column] = &[
    req("observed_at", Timestamp, "when the run saw it"),
    req("observed_on", Date, "Eastern day of the run: that of --today where it is given"),
    BUSINESS_ID,
    req(
        "change",
        Text,
        "appeared (not when its day is read completely for the first time, unless the day has come since the last run), changed, vanished from its listing, or returned to it",
    ),
    req(
        "field",
        Text,
        "column that changed, such as status when it was dissolved, or more_officers of the details' extra; empty unless change is changed",
    ),
    opt("old", Text, "value before"),
    opt("new", Text, "value after"),
    req("run_id", Text, "run that saw it"),
];

pub(super) const DAILY_COUNTS: &[Column] = &[
    OBSERVED_ON,
    req("filed_date", Date, "filing date"),
    req("filings", Int64, "businesses filed that day, as the API counts"),
];

pub(super) const COUNTIES: &[Column] = &[
    OBSERVED_ON,
    req("county", Text, "county name"),
    req("county_key", Text, "county key in capitals"),
    req("filings_last_7_days", Int64, "filings of the last 7 days"),
    req("filings_last_30_days", Int64, "filings of the last 30 days"),
    req("filings_previous_30_days", Int64, "filings of the 30 days before the last 30"),
    req("active_businesses", Int64, "active businesses"),
];

pub(super) const MONTHLY_COUNTS: &[Column] = &[
    OBSERVED_ON,
    req("filed_month", Text, "YYYY-MM"),
    req(
        "entity_type",
        Text,
        "business type, other, or unsplit: what the month's total has more than its types; it may be negative",
    ),
    req("filings", Int64, "filings; over all types, the API's total of the month"),
    req("partial", Boolean, "true for the current month while it lasts"),
];

pub(super) const STATEWIDE: &[Column] = &[
    OBSERVED_ON,
    req("businesses_total", Int64, "all businesses of the register"),
    req("latest_filing_date", Date, "newest filing date"),
    req("updated_at", Text, "the API's own timestamp, as sent"),
    req("filings_last_7_days", Int64, "filings of the last 7 days"),
    req("filings_last_30_days", Int64, "filings of the last 30 days"),
    req("filings_previous_30_days", Int64, "filings of the 30 days before the last 30"),
    req("filings_last_365_days", Int64, "filings of the last 365 days"),
];

pub(super) const TYPE_SPLIT: &[Column] = &[
    OBSERVED_ON,
    req("entity_type", Text, "business type"),
    req("filings", Int64, "filings of the last 30 days"),
];

pub(super) const INDUSTRY_TYPES: &[Column] = &[
    OBSERVED_ON,
    req("industry_sector", Text, "industry sector key"),
    req("industry_type", Text, "industry type key, <sector>.<type_name>; empty for a sector without types"),
];

pub(super) const INDUSTRY_SEGMENTS: &[Column] = &[
    OBSERVED_ON,
    req("segment", Text, "segment key"),
    req("kind", Text, "sector or type; empty for a segment that holds nothing"),
    req("member", Text, "key of the sector or type it holds; empty with kind"),
];

pub(super) const ENTITY_TYPES: &[Column] =
    &[OBSERVED_ON, req("entity_type", Text, "value of the type filter"), req("label", Text, "display label")];

pub(super) const COVERAGE: &[Column] = &[
    req("filed_date", Date, "filing date"),
    req(
        "entity_type",
        Text,
        "the listing: * for all types but fictitious, or the one type that was asked for",
    ),
    req("expected", Int64, "rows the API said the day has"),
    req("landed", Int64, "rows of the day that the lake shows as listed"),
    req("complete", Boolean, "true when the lake holds exactly the rows the API counts for the day"),
    req("settled", Boolean, "true when the day was read complete 30 days or more after it ended"),
    req("checked_at", Timestamp, "when completeness was last checked"),
];

pub(super) const COUNTY_FACTS: &[Column] = &[
    req("county", Text, "county display name"),
    req("county_key", Text, "county key of the API, in capitals"),
    req("fips", Text, "state and county code, 5 digits"),
    req("population", Int64, "residents on April 1, 2020, by the census; the 67 add up to 21,538,187"),
    req("land_area_sq_mi", Int64, "land in square miles, by the Census Bureau's gazetteer"),
    req("region", Text, "one of the state's 8 economic development regions"),
];

pub(super) const INDUSTRY_LABELS: &[Column] = &[
    req("industry_key", Text, "key of a sector or of an industry type"),
    req("label", Text, "label for people; the words of the key where the program has none"),
];

pub(super) const DAYS: &[Column] = &[
    req("filed_date", Date, "filing date"),
    req("filed_month", Text, "YYYY-MM"),
    req("filed_week", Date, "Monday of its week"),
    req(
        "days_ago",
        Int64,
        "days since, 0 today: the day of the newest statewide figures; below 0 for filings dated ahead",
    ),
    req("weekday", Int64, "1 Monday to 7 Sunday"),
    opt("holiday", Text, "Florida state holiday, on which the state's office is closed"),
    req(
        "ordinary",
        Boolean,
        "whether the day has the filings of its weekday: no holiday, no first open day after one, no 1st or 15th of a month",
    ),
    req("filings", Int64, "listed businesses"),
    opt(
        "filed",
        Int64,
        "businesses filed, listed or no more; null of a day that was not complete within 90 days: the API no longer shows all of them",
    ),
    opt("expected", Int64, "rows the API said the day has, when it was last read; null where it was not"),
    req("complete", Boolean, "whether coverage proves the day complete, fictitious names included"),
    req("settled", Boolean, "whether all of it was read complete 30 days or more after it ended"),
    opt(
        "usual_filings",
        Double,
        "of the last 114 days: mean of the same weekday over complete days from 30 to 113 days ago, without holidays and 1sts of a month",
    ),
    opt("fullness", Double, "filings / usual_filings; 1 is as full as usual"),
    opt(
        "four_weeks_before",
        Int64,
        "of an ordinary and complete day: mean filings, rounded, of the same weekday in the four weeks before, over at least two ordinary and complete days",
    ),
    opt(
        "growth_window",
        Text,
        "newer or older where growth counts the day: an ordinary and complete day of 15 to 42 days ago, and the one 28 days before it",
    ),
];

pub(super) const MONTHS: &[Column] = &[
    req("filed_month", Text, "YYYY-MM"),
    req(
        "month_number",
        Int64,
        "year * 12 + month: the month before has 1 less, the same month a year ago 12 less",
    ),
    req("filings", Int64, "listed businesses"),
    opt(
        "filed",
        Int64,
        "businesses filed, listed or no more; null where days has none: years can be compared by this alone",
    ),
    req("days_complete", Int64, "days up to today that coverage proves complete, fictitious names included"),
    req("complete", Boolean, "whether the month is over and every day of it is complete"),
    req("settled", Boolean, "whether the month is complete and every day of it is settled"),
];

const SOURCE_DATE: Column = req("source_date", Date, "date of the file that has it");
const SOURCE_RANK: Column =
    req("source_rank", Int32, "of files of one date: 0 quarterly set, 1 daily records, 2 daily events");

pub(super) const EVENTS: &[Column] = &[
    BUSINESS_ID,
    req("position", Int32, "place among the events of the business, from 0, by filing date and sequence"),
    req("document_number", Text, "state document number, upper case"),
    req("sequence", Int32, "the state's own number of the event"),
    req("code", Text, "the state's code"),
    req("description", Text, "the state's description"),
    req("meaning", Text, "what it does to the business: inactive and why, active, name, or none"),
    opt("filed_date", Date, "day on which it was filed"),
    opt("effective_date", Date, "day on which it takes effect, where that is another"),
    req("name", Text, "the new name, in older records the old one"),
    req("renames", Boolean, "whether the state marks it as a change of name"),
    req("note_1", Text, "free text"),
    req("note_2", Text, "free text; of a merged business the other's number"),
    req("note_3", Text, "free text"),
    req("street", Text, "new principal address; all fields are empty where it stays"),
    req("street2", Text, "new principal address, second line"),
    req("city", Text, "new principal address, city"),
    req("state", Text, "new principal address, state"),
    req("zip", Text, "new principal address, ZIP code"),
    req("country", Text, "new principal address, country"),
    req("county", Text, "new county as filed, of fictitious names"),
    SOURCE_DATE,
    SOURCE_RANK,
    opt("repeats", Text, "newer files with the same event: JSON list of their date and rank"),
];

pub(super) const UNMATCHED_EVENTS: &[Column] = &[
    BUSINESS_ID,
    req("position", Int32, "place among the events of the business, from 0"),
    req("document_number", Text, "state document number, upper case"),
    SOURCE_DATE,
    SOURCE_RANK,
    req("event", Text, "JSON object of the event"),
];

pub(super) const RECORDS: &[Column] = &[
    BUSINESS_ID,
    SOURCE_DATE,
    SOURCE_RANK,
    req("kind", Text, "corporate, fictitious or partnership"),
    req("filing_type", Text, "the state's filing type; empty where the kind has none"),
    req("status", Text, "the state's status letter"),
    opt("last_transaction_date", Date, "last transaction, of corporate records"),
    opt("ended_date", Date, "cancellation or expiration, of fictitious names and partnerships"),
    opt(
        "record",
        Text,
        "JSON object of the record, where newer events or a newer record changed the business since",
    ),
];

pub(super) const IMPORTS: &[Column] = &[
    req("digest", Text, "blake3 digest of the text, hex"),
    req("file", Text, "path in the folder of the import; of an archive's member: archive/member"),
    req("kind", Text, "what its records are"),
    SOURCE_DATE,
    req(
        "quarterly",
        Boolean,
        "whether it is part of a quarterly set; its date then is that of the set's content",
    ),
    req("bytes", Int64, "size of the text"),
    req("records", Int64, "records of its text, those in quarantine included"),
    req("quarantined", Int64, "records in quarantine"),
    opt(
        "fault",
        Text,
        "why the file of a day does not count, such as an error page; null for one that counts",
    ),
    req("stamp", Text, "size and checksum or time of change, by which a later run skips the file unread"),
    req("imported_at", Timestamp, "when a run read it"),
    req("run_id", Text, "run that read it"),
];
