//! A page's records: its values, or its records as sent.

use super::layout::{Layout, first_record, without_space};
use super::record_text::{KEPT, RecordText, SENT};
use crate::contract::business::{business_id, dissolved_day};
use crate::contract::eastern::parse_date;
use crate::contract::id::DocumentNumber;
use crate::contract::page::{Page, Pagination};
use jiff::civil::Date;
use serde_json::value::RawValue;

/// A page of a listing.
#[derive(Debug)]
pub(crate) struct ListedPage {
    pub(crate) pagination: Pagination,
    pub(crate) records: Records,
}

#[derive(Debug)]
pub(crate) enum Records {
    /// All of the documented form.
    Read(Summaries),
    /// At least one has another form.
    AsSent(Vec<Box<RawValue>>),
}

impl ListedPage {
    pub(crate) fn read(body: &[u8]) -> serde_json::Result<Self> {
        if let Some((summaries, pagination)) = Summaries::of_page(body) {
            return Ok(Self { pagination, records: Records::Read(summaries) });
        }
        let Page { data, pagination } = serde_json::from_slice(body)?;
        Ok(Self { pagination, records: Records::AsSent(data) })
    }
}

impl Records {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Read(summaries) => summaries.rows.len(),
            Self::AsSent(records) => records.len(),
        }
    }
}

/// A record of the documented form: every field once, no other field, each value of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SummaryText<'a> {
    pub(crate) business_id: i64,
    pub(crate) id: &'a str,
    /// In upper case.
    pub(crate) document_number: &'a str,
    pub(crate) name: &'a str,
    pub(crate) entity_type: &'a str,
    pub(crate) company_type: &'a str,
    pub(crate) status: &'a str,
    pub(crate) filed_date: Date,
    pub(crate) dissolved_date: Option<Date>,
    pub(crate) city: &'a str,
    pub(crate) zip: &'a str,
    pub(crate) county: &'a str,
    pub(crate) sector: &'a str,
    pub(crate) industry_type: &'a str,
    pub(crate) url: &'a str,
}

#[derive(Debug)]
struct Row {
    business_id: i64,
    filed_date: Date,
    dissolved_date: Option<Date>,
    /// Where each of its texts ends; the first begins where the row before ends.
    ends: [u32; KEPT],
}

/// Records of the documented form; all their texts are in one.
#[derive(Debug, Default)]
pub(crate) struct Summaries {
    texts: String,
    rows: Vec<Row>,
}

impl Summaries {
    /// The records of a page; none when one has another form, or the body is no page.
    pub(crate) fn of_page(body: &[u8]) -> Option<(Self, Pagination)> {
        let text = std::str::from_utf8(body).ok()?;
        Self::of_alike(text).or_else(|| Self::of_parsed(text))
    }

    fn of_parsed(text: &str) -> Option<(Self, Pagination)> {
        let page: Page<RecordText<'_>> = serde_json::from_str(text).ok()?;
        let mut summaries = Self::default();
        page.data.iter().try_for_each(|record| summaries.push(record))?;
        Some((summaries, page.pagination))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = SummaryText<'_>> {
        let starts = std::iter::once(0).chain(self.rows.iter().map(|row| row.ends[KEPT - 1]));
        self.rows.iter().zip(starts).map(|(row, start)| self.summary(row, start))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.texts.len() + self.rows.len() * size_of::<Row>()
    }

    fn summary(&self, row: &Row, mut start: u32) -> SummaryText<'_> {
        let mut ends = row.ends.iter();
        let mut next = || {
            let end = ends.next().copied().unwrap_or(start);
            &self.texts[std::mem::replace(&mut start, end) as usize..end as usize]
        };
        SummaryText {
            business_id: row.business_id,
            filed_date: row.filed_date,
            dissolved_date: row.dissolved_date,
            id: next(),
            document_number: next(),
            name: next(),
            entity_type: next(),
            company_type: next(),
            status: next(),
            city: next(),
            zip: next(),
            county: next(),
            sector: next(),
            industry_type: next(),
            url: next(),
        }
    }

    /// Adds a record; none when a value breaks a rule of its field.
    fn push(&mut self, record: &RecordText<'_>) -> Option<()> {
        let dissolved_date = match &record.dissolved_date {
            Some(text) => Some(dissolved_day(text)?),
            None => None,
        };
        self.push_texts(record.texts().map(|text| text.as_ref()), dissolved_date)
    }

    /// Adds a record by its texts, in the order of [`RecordText::texts`].
    fn push_texts(&mut self, texts: [&str; SENT], dissolved_date: Option<Date>) -> Option<()> {
        let [filed_date, id, document_number, ..] = texts;
        let (business_id, filed_date) = (business_id(id)?, parse_date(filed_date)?);
        let mut ends = [0; KEPT];
        for (at, text) in texts[1..].iter().enumerate() {
            if at == 1 {
                self.texts.push_str(DocumentNumber::parse(document_number)?.as_str());
            } else {
                self.texts.push_str(text);
            }
            ends[at] = u32::try_from(self.texts.len()).ok()?;
        }
        self.rows.push(Row { business_id, filed_date, dissolved_date, ends });
        Some(())
    }

    /// The records of a page that differ in their texts alone; none for another page.
    fn of_alike(text: &str) -> Option<(Self, Pagination)> {
        let (start, record, end) = first_record(text)?;
        let layout = Layout::of(&text[start..end], &record)?;
        let mut summaries = Self { texts: String::with_capacity(text.len()), rows: Vec::new() };
        summaries.push(&record)?;
        let mut rest = without_space(&text[end..]);
        while let Some(next) = rest.strip_prefix(',') {
            let (texts, after) = layout.read(without_space(next))?;
            summaries.push_texts(texts, None)?;
            rest = without_space(after);
        }
        // What was skipped is equal to the first record, so the page is valid if it is valid with the first record alone.
        let short = [&text[..end], rest].concat();
        let page: Page<RecordText<'_>> = serde_json::from_str(&short).ok()?;
        (page.data.len() == 1).then_some((summaries, page.pagination))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::try_changed;
    use jiff::civil::date;
    use serde_json::{Value, json};

    fn record() -> Value {
        json!({
            "id": "fl_41", "document_number": "l26000000001", "name": " ÑANDÚ \"1\" LLC ", "entity_type": "llc",
            "company_type": "LLC", "status": "active", "filed_date": "2026-11-20",
            "dissolved_date": "2026-11-21T08:00:00Z", "city": "Miami", "zip": "33101", "county": "Miami-Dade",
            "industry": {"type": "retail.food", "sector": "retail"}, "url": "",
        })
    }

    fn page(records: &[&str]) -> ListedPage {
        let records = records.join(",");
        let pagination = r#"{"limit":50,"offset":0,"has_more":false,"total":2}"#;
        let body = format!(r#"{{"data":[{records}],"more":1,"pagination":{pagination}}}"#);
        ListedPage::read(body.as_bytes()).expect("a page")
    }

    #[test]
    fn records_of_the_documented_form_are_read_with_their_texts() {
        let second = record().to_string().replace("fl_41", "42").replace(r#""2026-11-21T08:00:00Z""#, "null");
        let page = page(&[&record().to_string(), &second]);
        let Records::Read(summaries) = &page.records else { panic!("{:?}", page.records) };
        let rows: Vec<SummaryText<'_>> = summaries.iter().collect();
        let first = SummaryText {
            business_id: 41,
            id: "fl_41",
            document_number: "L26000000001",
            name: " ÑANDÚ \"1\" LLC ",
            entity_type: "llc",
            company_type: "LLC",
            status: "active",
            filed_date: date(2026, 11, 20),
            dissolved_date: Some(date(2026, 11, 21)),
            city: "Miami",
            zip: "33101",
            county: "Miami-Dade",
            sector: "retail",
            industry_type: "retail.food",
            url: "",
        };
        let second = SummaryText { business_id: 42, id: "42", dissolved_date: None, ..first };
        assert_eq!(rows, [first, second]);
        assert_eq!((page.records.len(), page.pagination.total), (2, 2));
    }

    /// Claims that a page is read as if each record were parsed; returns whether it has the documented form.
    fn assert_read_as_parsed(body: &[u8]) -> bool {
        let rows = |(summaries, pagination): (Summaries, Pagination)| {
            (format!("{:?}", summaries.iter().collect::<Vec<_>>()), pagination)
        };
        let parsed = str::from_utf8(body).ok().and_then(Summaries::of_parsed).map(rows);
        let read = Summaries::of_page(body).map(rows);
        assert_eq!(read, parsed, "{}", String::from_utf8_lossy(body));
        read.is_some()
    }

    #[test]
    fn records_that_differ_in_their_texts_alone_are_read_as_if_each_were_parsed() {
        let mut first = record();
        (first["dissolved_date"], first["name"]) = (Value::Null, json!("ÑANDÚ"));
        let mut others = [first.clone(), first.clone()];
        (others[0]["id"], others[0]["industry"]["type"], others[0]["name"]) =
            (json!("7"), json!(""), json!(""));
        (others[1]["id"], others[1]["url"]) = (json!("8"), json!("{\u{7f}"));
        let data = json!([first, others[0], others[1]]);
        let pagination = json!({"limit": 50, "offset": 0, "has_more": false, "total": 3});
        let page = json!({"data": data, "pagination": pagination, "more": [1]});
        let wide = serde_json::to_string_pretty(&page).expect("JSON");
        let page = page.to_string();
        assert!(Summaries::of_alike(&page).is_some() && Summaries::of_alike(&wide).is_some());
        for body in [page.as_bytes(), wide.as_bytes()] {
            assert!(assert_read_as_parsed(body));
            for at in 0..body.len() {
                let mut other = body.to_vec();
                other.remove(at);
                assert_read_as_parsed(&other);
                for byte in *b"\"\\,:{}[] x1\n\x01\x80" {
                    other = body.to_vec();
                    other[at] = byte;
                    assert_read_as_parsed(&other);
                }
            }
        }
    }

    #[test]
    fn a_page_with_a_record_of_another_form_keeps_all_as_sent() {
        let good = record().to_string();
        let mut others: Vec<String> = Vec::new();
        for field in record().as_object().expect("an object").keys() {
            let mut without = record();
            without.as_object_mut().expect("an object").remove(field);
            let mut wrong = record();
            wrong[field] = json!(1);
            others.extend([without.to_string(), wrong.to_string()]);
        }
        let (mut inner, mut number, mut day) = (record(), record(), record());
        inner["industry"]["naics"] = json!(44);
        number["document_number"] = json!("L26-1");
        day["filed_date"] = json!("2026-02-30");
        others.extend([inner, number, day].map(|record| record.to_string()));
        others.push(good.replacen('{', r#"{"zip":"33102","#, 1));
        others.push(good.replacen('{', r#"{"more":null,"#, 1));
        others.push(good.replace("Miami\"", "\\ud800\""));
        for other in others {
            let page = page(&[&good, &other]);
            let Records::AsSent(records) = &page.records else { panic!("{other}") };
            assert_eq!(records.iter().map(|record| record.get()).collect::<Vec<_>>(), [&good, &other]);
        }
    }

    #[test]
    fn fuzz_of_pages() {
        let page = json!({
            "data": [record(), record()],
            "pagination": {"total": 2, "limit": 50, "offset": 0, "has_more": false},
        });
        assert!(ListedPage::read(page.to_string().as_bytes()).is_ok(), "the example is a page");
        try_changed(&[page.to_string(), json!({"data": [], "pagination": {}}).to_string()], |input| {
            if let Ok(page) = ListedPage::read(input) {
                let slow: Page<Box<RawValue>> =
                    serde_json::from_slice(input).expect("a page in both readings");
                assert_eq!(page.records.len(), slow.data.len(), "{}", String::from_utf8_lossy(input));
            }
        });
    }
}
