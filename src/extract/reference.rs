//! The first stage: lists, statewide figures, and the limits of the plan.

use super::error::Result;
use super::fetch::PageFetcher;
use super::query::slice::{Filter, Slice};
use crate::client::{Allowance, Call};
use crate::contract::count::{County, Stats};
use crate::contract::eastern::window_start;
use crate::contract::param::{MAX_DAYS, MAX_LIMIT, MAX_OFFSET};
use crate::contract::plan::{Plan, PlanLimits};
use crate::contract::reference::{EntityTypeEntry, Industries};
use crate::contract::search::MAX_SPAN_DAYS;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) const REFERENCE: &str = "reference";
pub(crate) const COUNTS: &str = "counts";

/// Days of the longest window that a pipeline file may claim.
pub(crate) const MAX_WINDOW: u32 = 3_660;

/// Limits of the plan given in a pipeline file, for a plan that neither `/v1/me` nor the limits table describes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanOverride {
    /// Rows per call.
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    pub rows_per_call: Option<u32>,
    /// Largest offset that is not a 400.
    #[schemars(range(max = MAX_OFFSET))]
    pub max_offset: Option<u32>,
    /// Days that searches by date reach back.
    #[schemars(range(min = 1, max = MAX_WINDOW))]
    pub window_days: Option<u32>,
}

#[derive(Debug, Clone)]
pub(crate) struct Reference {
    pub(crate) entity_types: Vec<EntityTypeEntry>,
    pub(crate) industries: Industries,
    pub(crate) counties: Vec<County>,
    pub(crate) stats: Stats,
}

pub(crate) async fn extract_reference(fetcher: &mut PageFetcher<'_>) -> Result<Reference> {
    Ok(Reference {
        entity_types: fetcher.ask(REFERENCE, &Call::entity_types()).await?.value.data,
        industries: fetcher.ask(REFERENCE, &Call::industries()).await?.value.data,
        counties: fetcher.ask(REFERENCE, &Call::counties()).await?.value.data,
        stats: fetcher.ask(REFERENCE, &Call::stats()).await?.value.data,
    })
}

/// How the plan's limits are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanBasis {
    /// The pipeline gives them, or the limits table has these caps.
    Fixed,
    /// A run has measured them. The window may have changed since.
    Learned,
    /// They are measured before days are read.
    Assumed,
}

/// What the counts of days show of the plan's window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountedDays {
    /// Days whose counts were requested.
    pub(crate) asked: u32,
    /// Days that were counted.
    pub(crate) counted: u32,
    /// Days that the run reads at most.
    pub(crate) wanted: u32,
}

impl CountedDays {
    /// Whether the counts end where the window does. No counts show nothing.
    const fn end_with_window(self) -> bool {
        0 < self.counted && self.counted < self.asked
    }

    /// The window without another request: that of the counts, or else a likely one, which is as long as they are at least.
    pub(crate) fn window(self, likely: u32) -> u32 {
        if self.end_with_window() { self.counted } else { likely.max(self.counted.min(self.asked)) }
    }
}

/// The plan's limits, and how they are known. In order of preference: the pipeline's own, those that an earlier run
/// learned under the same caps, the row of the limits table with these caps, the row of Enterprise, which reading corrects downwards.
pub(crate) fn plan_limits(
    caps: Allowance,
    learned: Option<PlanLimits>,
    given: &PlanOverride,
) -> (PlanLimits, PlanBasis) {
    let Allowance { per_minute, per_day, per_month } = caps;
    let is_of = |plan: &PlanLimits| {
        (plan.per_minute, plan.per_day, plan.per_month) == (per_minute, per_day, per_month)
    };
    let known = learned.into_iter().chain(Plan::ALL.map(Plan::limits)).find(is_of);
    let likely = known.unwrap_or(Plan::Enterprise.limits());
    let limits = PlanLimits {
        rows_per_call: given.rows_per_call.unwrap_or(likely.rows_per_call),
        max_offset: given.max_offset.unwrap_or(likely.max_offset),
        window_days: given.window_days.unwrap_or(likely.window_days),
        per_minute,
        per_day,
        per_month,
    };
    let are_given = given.rows_per_call.and(given.max_offset).and(given.window_days).is_some();
    let basis = match known {
        _ if are_given || Plan::from_caps(per_minute, per_day, per_month).is_some() => PlanBasis::Fixed,
        Some(_) => PlanBasis::Learned,
        None => PlanBasis::Assumed,
    };
    (limits, basis)
}

/// Probes the limits of a plan that no table has, with a dozen requests at most. Of a learned plan only the window, with 2 requests at
/// most while it is unchanged. Limits of the pipeline are not probed.
pub(crate) async fn find_plan(
    fetcher: &mut PageFetcher<'_>,
    plan: &mut PlanLimits,
    basis: PlanBasis,
    given: &PlanOverride,
    counts: CountedDays,
    today: Date,
) -> Result<()> {
    if basis != PlanBasis::Fixed && given.window_days.is_none() {
        let known = (basis == PlanBasis::Learned).then_some(plan.window_days);
        plan.window_days = find_window(fetcher, known, counts, today).await?;
    }
    if basis == PlanBasis::Assumed && given.max_offset.is_none() {
        plan.max_offset = find_max_offset(fetcher, plan, today).await?;
    }
    Ok(())
}

/// The plan's window: shorter than the daily counts, it ends where they do. A longer one is searched between theirs and the longest of
/// the table; 403 means no. One that is known is searched only as far as the run reads.
async fn find_window(
    fetcher: &mut PageFetcher<'_>,
    known: Option<u32>,
    counts: CountedDays,
    today: Date,
) -> Result<u32> {
    if counts.end_with_window() {
        return Ok(counts.counted);
    }
    let longest = Plan::ALL.map(|row| row.limits().window_days).into_iter().max().unwrap_or(MAX_DAYS);
    let longest = known.map_or(longest, |_| longest.min(counts.wanted));
    let (mut accepted, mut refused) = (counts.counted.min(counts.asked), longest + 1);
    // Most windows are unchanged, or of the table: few end in between.
    let longer = known.map(|days| days.saturating_add(1));
    let mut likely = [longer, Some(longest), known, Some(MAX_DAYS + 1)].into_iter().flatten();
    while accepted + 1 < refused {
        let is_open = |days: &u32| accepted < *days && *days < refused;
        let days = likely.find(is_open).unwrap_or(accepted.midpoint(refused));
        let from = window_start(today, days);
        match probe(fetcher, from, from, 1, 0, 403).await? {
            Some(_) => accepted = days,
            None => refused = days,
        }
    }
    let at_least = known.filter(|_| accepted == longest).unwrap_or(1);
    Ok(accepted.max(at_least))
}

/// The plan's max offset. Those of the table are tried, largest first; a 400 means no. The answers also show the rows per call.
async fn find_max_offset(fetcher: &mut PageFetcher<'_>, plan: &mut PlanLimits, today: Date) -> Result<u32> {
    let from = window_start(today, plan.window_days.min(MAX_SPAN_DAYS));
    let mut offsets = Plan::ALL.map(|row| row.limits().max_offset);
    offsets.sort_unstable_by(|a, b| b.cmp(a));
    for offset in offsets {
        if let Some(limit) = probe(fetcher, from, today, MAX_LIMIT, offset, 400).await? {
            plan.rows_per_call = plan.rows_per_call.min(limit.max(1));
            return Ok(offset);
        }
    }
    Ok(Plan::Starter.limits().max_offset)
}

/// Requests a page and returns the limit applied; none when it is refused with `no`.
async fn probe(
    fetcher: &mut PageFetcher<'_>,
    from: Date,
    to: Date,
    limit: u32,
    offset: u32,
    no: u16,
) -> Result<Option<u32>> {
    let search = Slice { filter: Filter::default(), from, to }.search(limit, offset);
    let page = fetcher.ask_unless_refused(COUNTS, &Call::search(&search), no).await?;
    Ok(page.map(|page| page.value.pagination.limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::alongside::tests::client;
    use crate::extract::error::StoreError;
    use crate::extract::fetch::{PageKey, PageStore, StoredPage};
    use jiff::Timestamp;
    use jiff::civil::date;

    const TODAY: Date = date(2026, 7, 31);

    /// Answers of an API whose window has these days.
    struct Api {
        window: u32,
        requests: u32,
    }

    impl PageStore for Api {
        fn stored(&mut self, key: &PageKey) -> Result<Option<StoredPage>, StoreError> {
            self.requests += 1;
            let (_, from) = key.target.split_once("filed_from=").expect("a search by date");
            let from: Date = from[..10].parse().expect("a day");
            let status = if from < window_start(TODAY, self.window) { 403 } else { 200 };
            let body = r#"{"data":[],"pagination":{"limit":1,"offset":0,"has_more":false,"total":0}}"#;
            Ok(Some(StoredPage { status, received_at: Timestamp::UNIX_EPOCH, body: body.into() }))
        }

        fn keep(&mut self, _: &PageKey, _: u16, _: Timestamp, _: &[u8]) -> Result<(), StoreError> {
            Ok(())
        }
    }

    /// The window that a run finds, and its requests.
    async fn found(known: Option<u32>, window: u32, wanted: u32) -> (u32, u32) {
        let folder = tempfile::tempdir().expect("a folder");
        let client = client(folder.path());
        let mut api = Api { window, requests: 0 };
        let mut fetcher = PageFetcher::new(&client, &mut api, || Timestamp::UNIX_EPOCH, &|_, _| {});
        let asked = wanted.min(MAX_DAYS);
        let counts = CountedDays { asked, counted: window.min(asked), wanted };
        let days = find_window(&mut fetcher, known, counts, TODAY).await.expect("a window");
        drop(fetcher);
        (days, api.requests)
    }

    #[tokio::test]
    async fn an_unchanged_window_takes_no_request_up_to_90_days_and_two_at_most_beyond() {
        for (window, requests) in [(1, 0), (89, 0), (90, 1), (91, 2), (110, 2), (364, 2), (365, 1)] {
            assert_eq!(found(Some(window), window, u32::MAX).await, (window, requests), "{window}");
        }
    }

    #[tokio::test]
    async fn a_window_that_grew_or_shrank_is_found() {
        for known in [1, 30, 89, 90, 91, 110, 200, 364, 365] {
            for window in [1, 30, 89, 90, 91, 110, 200, 364, 365] {
                let (days, requests) = found(Some(known), window, u32::MAX).await;
                assert_eq!(days, window, "{known} days were known");
                assert!(requests <= 12, "{known} to {window}: {requests} requests");
            }
        }
    }

    #[tokio::test]
    async fn a_known_window_is_searched_only_as_far_as_the_run_reads() {
        assert_eq!(found(Some(110), 110, 31).await, (110, 0));
        assert_eq!(found(Some(110), 20, 31).await, (20, 0), "the counts end before");
        assert_eq!(found(Some(20), 110, 31).await, (31, 0), "at least what was counted");
        assert_eq!(found(Some(110), 200, 100).await, (110, 1));
        assert_eq!(found(Some(110), 95, 100).await.0, 95);
    }

    #[tokio::test]
    async fn an_unknown_window_of_the_table_takes_two_requests_at_most() {
        for (window, requests) in [(30, 0), (90, 2), (365, 1)] {
            assert_eq!(found(None, window, u32::MAX).await, (window, requests));
        }
        assert_eq!(found(None, 200, u32::MAX).await.0, 200);
    }

    #[test]
    fn counts_alone_show_a_window_that_ends_before_they_do() {
        let window = |counted, likely| CountedDays { asked: 90, counted, wanted: u32::MAX }.window(likely);
        assert_eq!((window(30, 110), window(90, 40), window(90, 110)), (30, 90, 110));
        assert_eq!(window(0, 110), 110, "no counts show nothing");
    }

    #[test]
    fn limits_of_the_table_or_of_the_pipeline_are_fixed() {
        let agency = Plan::Agency.limits();
        let other = PlanLimits { per_minute: 600, window_days: 40, ..agency };
        let basis = |plan: PlanLimits, learned, given: &PlanOverride| {
            let PlanLimits { per_minute, per_day, per_month, .. } = plan;
            let (limits, basis) = plan_limits(Allowance { per_minute, per_day, per_month }, learned, given);
            (limits.window_days, basis)
        };
        let given = PlanOverride { rows_per_call: Some(1), max_offset: Some(1), window_days: Some(7) };
        let none = PlanOverride::default();
        assert_eq!(basis(agency, None, &none), (90, PlanBasis::Fixed));
        assert_eq!(basis(agency, Some(agency), &none), (90, PlanBasis::Fixed));
        assert_eq!(basis(other, Some(other), &none), (40, PlanBasis::Learned));
        assert_eq!(basis(other, Some(agency), &none), (365, PlanBasis::Assumed));
        assert_eq!(basis(other, Some(other), &given), (7, PlanBasis::Fixed));
    }
}
