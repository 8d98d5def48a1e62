//! The page at `/`: a search over the register as a person types, and a business with its officers and changes.

use super::shell::{self, Page};
use crate::contract::count::with_commas;
use crate::contract::reference::EntityType;
use crate::lake::INVENTED;
use jiff::civil::Date;
use maud::html;

/// What the page says about the rows that are served.
pub(crate) struct Served {
    /// Number of businesses.
    pub(crate) rows: usize,
    /// Eastern day of the snapshot.
    pub(crate) day: Date,
    pub(crate) is_sample: bool,
    pub(crate) has_report: bool,
}

/// The page; `served` is none while the first snapshot is loaded.
pub(crate) fn page(served: Option<&Served>) -> Page {
    let content = html! {
        h1 { "Florida business filings" }
        @match served {
            Some(served) => {
                @if served.is_sample { p { strong { (INVENTED) } } }
                p.note { (with_commas(served.rows as u64)) " businesses, as of " (served.day) "." }
            }
            None => p.note { "The data is being loaded." }
        }
        nav {
            a href="/docs" { "API reference" }
            a href="/openapi.json" { "OpenAPI" }
            @if served.is_some_and(|served| served.has_report) { a href="/report" { "Report" } }
        }
        form id="search" {
            h2 { "Search" }
            noscript { p { "The search on this page needs JavaScript. The API does not: see the reference." } }
            (shell::key_field())
            div.row {
                label { "Name begins with" input id="q" type="search" maxlength="80" autocomplete="off" spellcheck="false"; }
                label { "Type" select id="type" {
                    option value="" { "all but fictitious names" }
                    @for kind in EntityType::ALL { option value=(kind.key()) { (kind.label()) } }
                } }
                label { "Status" select id="status" {
                    option value="active" { "active" }
                    option value="all" { "active and dissolved" }
                } }
            }
            p id="said" role="status" {}
            div.wide id="list" hidden tabindex="0" role="region" aria-label="Businesses found" {
                table {
                    thead { tr {
                        @for head in ["Name", "Type", "Status", "City", "County", "Filed"] { th scope="col" { (head) } }
                    } }
                    tbody id="found" {}
                }
            }
        }
        section id="business" hidden {
            h2 id="name" tabindex="-1" { "Business" }
            dl id="facts" {}
            h3 { "Officers" }
            ul id="officers" {}
            h3 { "Changes" }
            ul id="changes" {}
        }
    };
    shell::page("Florida business filings", &content, include_str!("home.js"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn the_page_says_what_is_served() {
        let mut served =
            Served { rows: 1_843_524, day: date(2026, 7, 31), is_sample: false, has_report: false };
        let html = page(Some(&served)).html;
        assert!(html.contains("1,843,524 businesses, as of 2026-07-31."), "{html}");
        assert!(!html.contains("/report") && !html.contains("invented"), "{html}");
        (served.is_sample, served.has_report) = (true, true);
        let html = page(Some(&served)).html;
        assert!(html.contains("href=\"/report\"") && html.contains(INVENTED), "{html}");
        assert!(page(None).html.contains("being loaded"));
        assert_eq!([0, 12, 123, 1_234].map(with_commas), ["0", "12", "123", "1,234"]);
    }
}
