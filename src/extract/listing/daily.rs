//! Whether a day of the untyped listing is read by the daily endpoint, or by a search (pure).
//!
//! The API document does not say that the two list the same rows. So the first page of the endpoint is compared with the API's count
//! of the day, which the check at the end of a run compares with the rows that searches read; or with the total of a search. Every later
//! page must hold only rows that a search without a type lists. What is found out is kept with the lake.

use crate::contract::business::ACTIVE;
use crate::contract::records::{ListedPage, Records};
use crate::contract::reference::EntityType;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is known of the daily endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DailyListing {
    #[default]
    Unknown,
    /// It lists the rows of a search for the day.
    Same,
    /// It lists other rows, or fewer on a page: days are read by searches.
    Differs,
}

/// The daily endpoint, for the reading of one listing.
pub(crate) struct DailyEndpoint<'d> {
    pub(crate) listing: &'d mut DailyListing,
    /// Rows of each day, by the API's daily counts.
    pub(crate) counted: BTreeMap<Date, u64>,
}

/// What a page of the daily endpoint shows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It holds rows of the listing.
    Fits,
    /// Only the total of a search shows whether it fits.
    AskSearch,
    /// It has rows that a search without a type does not list.
    OtherRows,
    /// Fewer rows were answered than requested: a search must show whether that is the plan's limit.
    FewerRows,
}

impl DailyEndpoint<'_> {
    pub(crate) fn judge(&self, page: &ListedPage, day: Date, requested: u32) -> Verdict {
        let pagination = page.pagination;
        let count = self.counted.get(&day).copied();
        match *self.listing {
            _ if pagination.limit < requested => Verdict::FewerRows,
            _ if !are_listed_untyped(&page.records) => Verdict::OtherRows,
            // A day without rows shows nothing.
            DailyListing::Unknown if pagination.total > 0 && count != Some(pagination.total) => {
                Verdict::AskSearch
            }
            _ => Verdict::Fits,
        }
    }

    /// Notes whether a page of a day with `total` rows fits.
    pub(crate) fn note(&mut self, fits: bool, total: u64) {
        if !fits {
            tracing::info!("the daily endpoint lists other rows than a search; days are read by searches");
            *self.listing = DailyListing::Differs;
        } else if total > 0 {
            *self.listing = DailyListing::Same;
        }
    }

    /// Has the next page compared again.
    pub(crate) fn doubt(&mut self) {
        if *self.listing == DailyListing::Same {
            *self.listing = DailyListing::Unknown;
        }
    }
}

/// Whether a search without a type would list the records. One that cannot be read goes to quarantine later.
fn are_listed_untyped(records: &Records) -> bool {
    let is_listed = |status: &str, kind: &str| status == ACTIVE && kind != EntityType::Fictitious.key();
    #[derive(Deserialize)]
    struct Record {
        status: String,
        entity_type: String,
    }
    match records {
        Records::Read(summaries) => summaries.iter().all(|row| is_listed(row.status, row.entity_type)),
        Records::AsSent(records) => records.iter().all(|record| {
            serde_json::from_str::<Record>(record.get())
                .map_or(true, |record| is_listed(&record.status, &record.entity_type))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use serde_json::json;

    const DAY: Date = date(2026, 7, 16);

    fn page(total: u64, limit: u32, status: &str, entity_type: &str) -> ListedPage {
        let record = json!({"status": status, "entity_type": entity_type});
        let pagination = json!({"limit": limit, "offset": 0, "has_more": false, "total": total});
        let body = json!({"data": [record], "pagination": pagination}).to_string();
        ListedPage::read(body.as_bytes()).expect("a page")
    }

    fn verdict(mut listing: DailyListing, page: &ListedPage) -> Verdict {
        let counted = BTreeMap::from([(DAY, 1)]);
        DailyEndpoint { listing: &mut listing, counted }.judge(page, DAY, 50)
    }

    #[test]
    fn a_page_with_the_days_count_fits_and_another_total_is_compared_with_a_search_until_the_endpoint_is_known()
     {
        let (as_counted, more) = (page(1, 50, "active", "llc"), page(2, 50, "active", "llc"));
        assert_eq!(verdict(DailyListing::Unknown, &as_counted), Verdict::Fits);
        assert_eq!(verdict(DailyListing::Unknown, &more), Verdict::AskSearch);
        assert_eq!(verdict(DailyListing::Same, &more), Verdict::Fits);
    }

    #[test]
    fn rows_that_no_untyped_search_lists_and_short_pages_never_fit() {
        for known in [DailyListing::Unknown, DailyListing::Same] {
            assert_eq!(verdict(known, &page(1, 50, "active", "fictitious")), Verdict::OtherRows);
            assert_eq!(verdict(known, &page(1, 50, "dissolved", "llc")), Verdict::OtherRows);
            assert_eq!(verdict(known, &page(1, 25, "active", "llc")), Verdict::FewerRows);
        }
    }

    #[test]
    fn a_day_without_rows_teaches_nothing() {
        let mut listing = DailyListing::Unknown;
        DailyEndpoint { listing: &mut listing, counted: BTreeMap::new() }.note(true, 0);
        assert_eq!(listing, DailyListing::Unknown);
    }
}
