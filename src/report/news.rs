//! What is new and what is gone since the last runs, and the newest businesses.

use super::number::{county, integer, kind};
use crate::aggregate::figures::values::NewBusiness;
use crate::aggregate::{Figures, News, NewsCounts};
use maud::{Markup, html};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn news(figures: &Figures) -> Markup {
    html! {
        @match figures.news.observed_on {
            None => p.note { "Nothing is new yet: what the first complete reading of a day finds is no news." },
            Some(day) => (of_day(&figures.news, &day.to_string())),
        }
        @if !figures.newest.is_empty() { (newest(&figures.newest)) }
    }
}

fn of_day(news: &News, day: &str) -> Markup {
    let of_county = |name: &String| county(name).to_owned();
    html! {
        p.note { "What the runs of " (day) " saw for the first time, no longer, or again." }
        div.pair {
            (counts("New and gone by type", "type", &news.by_type, |key| kind(key).to_owned()))
            (counts("New and gone by county", "county", &news.by_county, of_county))
        }
    }
}

fn counts(
    caption: &str,
    of: &str,
    counts: &BTreeMap<String, NewsCounts>,
    name: impl Fn(&String) -> String,
) -> Markup {
    let mut rows: Vec<(&String, &NewsCounts)> = counts.iter().collect();
    rows.sort_by_key(|(_, counts)| Reverse(counts.appeared + counts.vanished));
    html! { div.wide.tall tabindex="0" role="region" aria-label=(caption) { table {
        caption { (caption) }
        thead { tr { th { (of) } th.number { "new" } th.number { "gone" } th.number { "back" } } }
        tbody { @for (key, counts) in rows { tr {
            th scope="row" { (name(key)) }
            @for number in [counts.appeared, counts.vanished, counts.returned] { td.number { (integer(number)) } }
        } } }
    } } }
}

fn newest(businesses: &[NewBusiness]) -> Markup {
    html! { details {
        summary { "The " (businesses.len()) " newest businesses" }
        div.wide.tall tabindex="0" role="region" aria-label="The newest businesses" { table.search.list {
            caption { "The newest businesses" }
            thead { tr { th { "name" } th { "type" } th { "city" } th { "county" } th { "filed" } } }
            tbody { @for business in businesses { tr {
                th.name scope="row" { (business.name) } td { (kind(&business.entity_type)) } td { (business.city) }
                td { (county(&business.county)) }
                td.day { @if let Some(day) = business.filed_date { (day) } }
            } } }
        } }
    } }
}
