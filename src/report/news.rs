//! What is new and what is gone since the last runs, and the newest businesses.

use super::number::{county, integer, kind};
use super::table::{heads, row, tall};
use crate::aggregate::figures::values::NewBusiness;
use crate::aggregate::{Figures, NewsCounts};
use maud::{Markup, html};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn news(figures: &Figures) -> Markup {
    let news = &figures.news;
    html! {
        @if let Some(day) = news.observed_on {
            p.note { "What the runs of " (day) " saw for the first time, no longer, or again." }
            div.pair {
                (counts("New and gone by type", "type", &news.by_type, kind))
                (counts("New and gone by county", "county", &news.by_county, county))
            }
        } @else {
            p.note { "Nothing is new yet: what the first complete reading of a day finds is no news." }
        }
        @if !figures.newest.is_empty() { (newest(&figures.newest)) }
    }
}

fn counts(caption: &str, of: &str, counts: &BTreeMap<String, NewsCounts>, name: fn(&str) -> &str) -> Markup {
    let mut rows: Vec<(&String, &NewsCounts)> = counts.iter().collect();
    rows.sort_by_key(|(_, counts)| Reverse(counts.appeared + counts.vanished));
    let rows = html! { @for (key, counts) in rows {
        (row(name(key), &[counts.appeared, counts.vanished, counts.returned].map(integer)))
    } };
    tall(caption, None, caption, heads(&[of], &["new", "gone", "back"]), rows)
}

fn newest(businesses: &[NewBusiness]) -> Markup {
    let caption = "The newest businesses";
    html! { details {
        summary { "The " (businesses.len()) " newest businesses" }
        (tall(caption, Some("search list"), caption, heads(&["name", "type", "city", "county", "filed"], &[]), html! {
            @for business in businesses { tr {
                th.name scope="row" { (business.name) } td { (kind(&business.entity_type)) } td { (business.city) }
                td { (county(&business.county)) }
                td.day { @if let Some(day) = business.filed_date { (day) } }
            } }
        }))
    } }
}
